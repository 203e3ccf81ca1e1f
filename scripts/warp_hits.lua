-- The figures on which MeDiC rests (section 2): the warps of a kernel differ in their L2 hit ratios (Figure 2), keep them
-- over time (Figure 4), and queue long at the L2 (Figure 5).
local ww = require "warpwright"
local json = require "scripts.lib.json"

local help = [[
usage: scripts/warp_hits [options] CONFIG WORKLOAD

Prints, window of time by window of time, which part of the warps' samples had which L2 hit ratio; how many warps were found
of another type than before; and the distribution of the delays of requests that queue for the L2's tags.

  --size SIZE          small, medium (default) or large
  --policy P           beside which this is measured; default: as the config says
  --set PATH=VALUE     a parameter of the machine; may be repeated
  --window N           cycles of a line of the table, default 200000
  --interval N         cycles between two samples of a warp, default 20000
  --warm-up N          requests to the L2 of a sample, default 100
  --json FILE          all that is printed, in numbers
]]

local numbers = { window = 200000, interval = 20000, ["warm-up"] = 100 }
local options, positional, settings = { size = "medium" }, {}, {}

local function usage_error(text, ...) error("warp_hits: " .. text:format(...) .. "; see scripts/warp_hits --help", 0) end

local function read_arguments()
  local i = 1
  while arg[i] do
    local name = arg[i]:match "^%-%-(.*)$"
    if name == "help" then
      io.write(help)
      os.exit(0)
    elseif not name then
      positional[#positional + 1] = arg[i]
      i = i + 1
    else
      local value = arg[i + 1] or usage_error("--%s: a value must follow", name)
      if numbers[name] then
        numbers[name] = math.tointeger(tonumber(value))
        if not numbers[name] or numbers[name] < 1 then usage_error("--%s: '%s' is not a whole number from 1 on", name, value) end
      elseif name == "set" then
        local path, setting = value:match "^([^=]+)=(.*)$"
        if not path then usage_error("--set: '%s' is not PATH=VALUE", value) end
        settings[path] = setting
      elseif name == "size" or name == "policy" or name == "json" then
        options[name] = value
      else
        usage_error("unknown argument '%s'", arg[i])
      end
      i = i + 2
    end
  end
  if #positional ~= 2 then usage_error("CONFIG and WORKLOAD are wanted") end
end

-- What is read ------------------------------------------------------------------------------------------------------

local ratios = { { "none", "0" } }
for tenth = 0, 9 do ratios[#ratios + 1] = { ("from_%d"):format(10 * tenth), ("%d%%"):format(10 * tenth) } end
ratios[#ratios + 1] = { "all", "all" }

local delays = { 0 }
for power = 0, 10 do delays[#delays + 1] = 1 << power end

--- The samples so far, by hit ratio; the last is their sum.
local function samples_of(r)
  local counts, sum = {}, 0
  for i, ratio in ipairs(ratios) do
    counts[i] = r["sm[*].warp_ratios." .. ratio[1]]
    sum = sum + counts[i]
  end
  counts[#counts + 1] = sum
  return counts
end

local function difference(now, before)
  local counts = {}
  for i = 1, #now do counts[i] = now[i] - (before and before[i] or 0) end
  return counts
end

-- What is printed ---------------------------------------------------------------------------------------------------

local function print_samples(title, counts)
  local cells, sum = {}, counts[#counts]
  for i = 1, #counts - 1 do cells[i] = ("%5s"):format(sum > 0 and ("%.1f"):format(100 * counts[i] / sum) or "-") end
  print(("%12s %9d  %s"):format(title, sum, table.concat(cells, " ")))
end

local function print_head()
  local cells = {}
  for i, ratio in ipairs(ratios) do cells[i] = ("%5s"):format(ratio[2]) end
  print(("%12s %9s  %s"):format("until cycle", "samples", table.concat(cells, " ")))
end

local function print_delays(r)
  local sum = r["l2[*].delays.requests"]
  print(("\nDelay of %d requests at the L2, %.2f cycles on average; percent from so many cycles on"):format(sum,
    sum > 0 and r["l2[*].delays.cycles"] / sum or 0))
  local heads, cells, counts = {}, {}, {}
  for i, delay in ipairs(delays) do
    counts[i] = r[("l2[*].delays.delay_%d"):format(delay)]
    heads[i] = ("%6d"):format(delay)
    cells[i] = ("%6s"):format(sum > 0 and ("%.2f"):format(100 * counts[i] / sum) or "-")
  end
  print(table.concat(heads, " ") .. "\n" .. table.concat(cells, " "))
  return counts
end

read_arguments()
local measuring = ("warp_ratios:interval=%d,warm_up=%d+l2_delays"):format(numbers.interval, numbers["warm-up"])
local policy = (options.policy and options.policy .. "+" or "") .. measuring
local sim = ww.build(positional[1], { policy = policy, set = settings })
sim:start(positional[2], options.size)
print(("%s, %s %s, policy %s: percent of samples by L2 hit ratio"):format(sim.name, positional[2], options.size,
  options.policy or "of the config"))
print_head()

local windows, before, ended, until_cycle = {}, nil, false, 0
repeat
  until_cycle = until_cycle + numbers.window
  ended = sim:run { until_cycle = until_cycle }
  local now, cycle = samples_of(sim:result()), sim:result().cycles
  windows[#windows + 1] = { cycle = cycle, samples = difference(now, before) }
  print_samples(cycle, windows[#windows].samples)
  before = now
until ended
print_samples("in all", before)

local result = sim:result()
print(("\n%d of %d samples found a warp of another type than before"):format(result["sm[*].warp_types.changes"],
  before[#before]))
local delay_counts = print_delays(result)
if options.json then
  local file, problem = io.open(options.json, "wb")
  if not file then error(problem, 0) end
  file:write(json.encode { windows = windows, all = before, changes = result["sm[*].warp_types.changes"],
    delays = delay_counts })
  file:close()
end
