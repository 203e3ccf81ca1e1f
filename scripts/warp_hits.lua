-- The figures on which MeDiC rests (section 2): the warps of a kernel differ in their L2 hit ratios
-- (Figure 2), keep them over time (Figure 4), and queue long at the L2 (Figure 5).
local ww = require "warpwright"
local command_line = require "scripts.lib.command_line"
local inputs = require "warpwright.inputs"
local json = require "warpwright.json"
local parts = require "scripts.lib.parts"
local preparation = require "scripts.lib.preparation"
local svg = require "warpwright.svg"
local warp_curves = require "scripts.lib.warp_curves"

local help = [[
usage: scripts/warp_hits [options] CONFIG WORKLOAD

Prints, window of time by window of time, which part of the warps' samples had which L2 hit ratio; how many warps were found
of another type than before; and the distribution of the delays of requests that queue for the L2's tags. With --warps
also the hit ratio of single warps, window by window. CTAs come and go: a warp here is a place in an SM for one.

  --size SIZE          small, medium (default) or large
  --policy P           beside which this is measured; default: as the config says
  --set PATH=VALUE     a parameter of the machine; may be repeated
  --window N           cycles of a line of the table, default 200000
  --interval N         cycles between two samples of a warp, default 20000
  --warm-up N          requests to the L2 of a sample, default 100
  --warps N            the hit ratios of N warps, chosen evenly among those that were ever sampled
  --warps SM:WARP,...  of these
  --json FILE          all that is printed, in numbers
  --svg FILE           draws the curves of --warps
]]

local function usage_error(...) command_line.error("warp_hits", ...) end

--- How many warps, or list of { sm =, warp = }.
local function read_warps(text)
  local count = math.tointeger(tonumber(text))
  if count and count > 0 then return count end
  local list = {}
  for word in (text .. ","):gmatch "([^,]*)," do
    local sm, warp = word:match "^(%d+):(%d+)$"
    if not sm then command_line.expected("warp_hits", "--warps", "a whole number from 1 on or a list of SM:WARP", text) end
    list[#list + 1] = { sm = tonumber(sm), warp = tonumber(warp) }
  end
  return list
end

local function read_arguments(args)
  local options = { size = "medium", set = {}, window = 200000, interval = 20000, ["warm-up"] = 100 }
  local count <const>, text <const> = command_line.count(1), command_line.text
  local words = command_line.read("warp_hits", args, options, {
    size = text, policy = text, set = command_line.list, window = count, interval = count, ["warm-up"] = count,
    warps = read_warps, json = command_line.output, svg = command_line.output,
  })
  if #words ~= 2 then command_line.expected_arguments("warp_hits", "CONFIG and WORKLOAD", #words) end
  if options.svg and not options.warps then usage_error "--svg: expected --warps with it, got none" end
  options.config, options.workload = words[1], words[2]
  return options
end

if command_line.helped(arg, help) then return end
local options = read_arguments(arg)

-- What is read ------------------------------------------------------------------------------------

local ratios = { { "none", "0" } }
for tenth = 0, 9 do ratios[#ratios + 1] = { ("from_%d"):format(10 * tenth), ("%d%%"):format(10 * tenth) } end
ratios[#ratios + 1] = { "all", "all" }

local delays = { 0 }
for power = 0, 10 do delays[#delays + 1] = 1 << power end

--- The samples so far, by hit ratio; the last is their sum.
local function samples_of(r)
  local counts, sum = {}, 0
  for i, ratio in ipairs(ratios) do
    counts[i] = parts.sum(r, "sm", "warp_ratios." .. ratio[1])
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

-- Single warps ------------------------------------------------------------------------------------

--- All warps of the machine as list of { sm =, warp =, requests, hits = names of their rows }.
local function warps_of(sim)
  local warps = {}
  for i, sm in ipairs(sim:objects "SM") do
    for warp = 0, sm.warps - 1 do
      local rows = ("%s.warp_curves.%%s_%d"):format(sm.path, warp)
      warps[#warps + 1] = { sm = i - 1, warp = warp, requests = rows:format "requests", hits = rows:format "hits" }
    end
  end
  return warps
end

--- Those that --warps names, all if it says how many.
local function warps_to_watch(sim)
  if not options.warps then return {} end
  local all, named = warps_of(sim), {}
  if type(options.warps) == "number" then return all end
  for _, wanted in ipairs(options.warps) do
    for _, one in ipairs(all) do
      if one.sm == wanted.sm and one.warp == wanted.warp then named[#named + 1] = one end
    end
  end
  if #named < #options.warps then
    local last = all[#all]
    usage_error("--warps: expected SMs 0 to %d and warps 0 to %d, got others", last.sm, last.warp)
  end
  return named
end

--- Adds a window to the curve of each.
local function note_warps(r, watched)
  for _, one in ipairs(watched) do
    local sum = { r[one.requests], r[one.hits] }
    one.windows = one.windows or {}
    table.insert(one.windows, difference(sum, one.sum))
    one.sum = sum
  end
end

--- Of all warps that were sampled, so many that lie evenly in the order of SMs and warps.
local function chosen_among(watched)
  if type(options.warps) ~= "number" then return watched end
  local sampled, chosen = {}, {}
  for _, one in ipairs(watched) do
    if one.sum[1] > 0 then sampled[#sampled + 1] = one end
  end
  local count = math.min(options.warps, #sampled)
  for i = 1, count do chosen[i] = sampled[(2 * i - 1) * #sampled // (2 * count) + 1] end
  return chosen
end

--- Percent, nil where there is no sample.
local function hit_ratio(window) return window[1] > 0 and 100 * window[2] / window[1] or nil end

local function name_of(one) return ("%d:%d"):format(one.sm, one.warp) end

--- Hit ratios over the middles of the windows.
local function draw(windows, chosen)
  local series = {}
  for _, one in ipairs(chosen) do
    local points = {}
    for i, window in ipairs(one.windows) do
      local ratio, from = hit_ratio(window), i > 1 and windows[i - 1].cycle or 0
      if ratio then points[#points + 1] = { (from + windows[i].cycle) / 2, ratio } end
    end
    if points[1] then series[#series + 1] = { name = name_of(one), points = points } end
  end
  local canvas, box = svg.canvas(), { x = 0, y = 0, width = 900, height = 360 }
  local title = ("L2 hit ratio of warps of %s, %s"):format(options.workload, options.size)
  if series[1] then canvas:curves(box, { title = title, x = "core cycle", y = "percent", series = series }) end
  return canvas:document(box.width, box.height)
end

local function curves_for_json(chosen)
  local curves = {}
  for i, one in ipairs(chosen) do curves[i] = { sm = one.sm, warp = one.warp, windows = one.windows } end
  return curves
end

-- What is printed ---------------------------------------------------------------------------------

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

local function print_delays(r, sim)
  local function counted(name)
    local sum = 0
    for _, object in ipairs(sim:objects "QueueDelays") do sum = sum + r[object.path .. "." .. name] end
    return sum
  end
  local sum = counted "requests"
  print(("\nDelay of %d requests at the L2, %.2f cycles on average; percent from so many cycles on"):format(sum,
    sum > 0 and counted "cycles" / sum or 0))
  local heads, cells, counts = {}, {}, {}
  for i, delay in ipairs(delays) do
    counts[i] = counted(("delay_%d"):format(delay))
    heads[i] = ("%6d"):format(delay)
    cells[i] = ("%6s"):format(sum > 0 and ("%.2f"):format(100 * counts[i] / sum) or "-")
  end
  print(table.concat(heads, " ") .. "\n" .. table.concat(cells, " "))
  return counts
end

local function print_warps(windows, chosen)
  print "\nHit ratio of single warps, SM:WARP, in percent"
  local cells = {}
  for k, one in ipairs(chosen) do cells[k] = ("%6s"):format(name_of(one)) end
  print(("%12s %s"):format("until cycle", table.concat(cells, " ")))
  for i, window in ipairs(windows) do
    for k, one in ipairs(chosen) do
      local ratio = hit_ratio(one.windows[i])
      cells[k] = ("%6s"):format(ratio and ("%.1f"):format(ratio) or "-")
    end
    print(("%12d %s"):format(window.cycle, table.concat(cells, " ")))
  end
end

preparation.find("config", options.config)
preparation.check_workload(options.workload, options.size)
local measuring = ("warp_ratios:interval=%d,warm_up=%d+l2_delays"):format(options.interval, options["warm-up"])
local policies = { options.policy or {}, measuring, options.warps and warp_curves or {} }
local sim = ww.build(options.config, { policy = policies, set = options.set })
local watched = warps_to_watch(sim)
sim:start(options.workload, options.size)
print(("%s, %s %s, policy %s: percent of samples by L2 hit ratio"):format(sim.name, options.workload, options.size,
  options.policy or "of the config"))
print_head()

local windows, before, until_cycle = {}, nil, 0
repeat
  until_cycle = until_cycle + options.window
  local ended = sim:run { until_cycle = until_cycle }
  local r = sim:result()
  local now = samples_of(r)
  windows[#windows + 1] = { cycle = r.cycles, samples = difference(now, before) }
  print_samples(r.cycles, windows[#windows].samples)
  note_warps(r, watched)
  before = now
until ended
print_samples("in all", before)

local result, chosen = sim:result(), chosen_among(watched)
local changes = parts.sum(result, "sm", "warp_types.changes")
print(("\n%d of %d samples found a warp of another type than before"):format(changes,
  before[#before]))
local delay_counts = print_delays(result, sim)
if options.warps then print_warps(windows, chosen) end
if options.json then
  json.write(options.json, { windows = windows, all = before, changes = changes,
    delays = delay_counts, warps = options.warps and curves_for_json(chosen) or nil })
end
if options.svg then inputs.write_file(options.svg, draw(windows, chosen)) end
