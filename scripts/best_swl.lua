-- Best-SWL: static wavefront limiting with the best of all limits, found by trying each. `help` below says how it is
-- called.
local ww = require "warpwright"
local json = require "scripts.lib.json"

local help = [[
usage: scripts/best_swl [options] CONFIG WORKLOAD

Runs a workload under policy swl with every limit of active warps per scheduler, from 1 to what an SM holds, and prints
the cycles of each and the best limit. The first line is the run without a limit. A limit under which every counter is as
without one is never reached: it ends the sweep.

  --size SIZE          of the workload, default medium
  --set PATH=VALUE     changes the machine; may be repeated
  --limits A,B,...     only these
  --with POLICY        another policy beside it, such as pric; may be repeated
  --json FILE          writes the figures
]]

local function usage_error(text, ...) error("best_swl: " .. text:format(...) .. "; see scripts/best_swl --help", 0) end

-- Runs ------------------------------------------------------------------------------------------------------------------

--- Every counter.
local function text_of(r)
  local lines = {}
  for name, value in r:stats() do lines[#lines + 1] = name .. " " .. tostring(value) end
  return table.concat(lines, "\n")
end

local function run(options, limit)
  local policies = { limit and "swl:limit=" .. limit or "gto" }
  for _, policy in ipairs(options.with) do policies[#policies + 1] = policy end
  local r = ww.run {
    config = options.config, workload = options.workload, size = options.size, set = options.set,
    policy = table.concat(policies, "+"), out = false,
  }
  return {
    limit = limit, cycles = r.cycles, ipc = r.ipc, miss_rate = r["sm[*].l1d.read_miss_rate"],
  }, text_of(r)
end

--- Warps of a scheduler: 1, 2, ... up to the most that any SM has.
local function all_limits(options)
  local sim, most, limits = ww.build(options.config, { set = options.set }), 0, {}
  for _, object in ipairs(sim.machine:objects()) do
    if object.class == "SM" then most = math.max(most, math.ceil(object.warps / object.schedulers)) end
  end
  sim:close()
  for limit = 1, most do limits[limit] = limit end
  return limits
end

-- Table -----------------------------------------------------------------------------------------------------------------

local function print_row(name, row, base)
  print(("%-6s %10d %8.1f %14.3f %8.2fx"):format(name, row.cycles, row.ipc, row.miss_rate, base.cycles / row.cycles))
  io.stdout:flush()
end

--- Returns the row without a limit and those with one.
local function sweep(options)
  print(("%-6s %10s %8s %14s %9s"):format("limit", "cycles", "IPC", "L1 miss rate", "speed-up"))
  local base, base_text = run(options)
  local rows = {}
  print_row("none", base, base)
  for i, limit in ipairs(options.limits or all_limits(options)) do
    local row, text = run(options, limit)
    rows[i] = row
    print_row(tostring(limit), row, base)
    if text == base_text and not options.limits then break end
  end
  return base, rows
end

--- Of equally good limits the largest.
local function best_of(rows)
  local best
  for _, row in ipairs(rows) do
    if not best or row.cycles <= best.cycles then best = row end
  end
  return best
end

local function main(options)
  local base, rows = sweep(options)
  local best = best_of(rows)
  print(("best: %d warps per scheduler, %d cycles, %.2fx"):format(best.limit, best.cycles, base.cycles / best.cycles))
  if not options.json then return end
  local file, problem = io.open(options.json, "wb")
  if not file then error(problem, 0) end
  file:write(json.encode { base = base, rows = rows, best = best.limit })
  file:close()
end

-- Command line ----------------------------------------------------------------------------------------------------------

local readers = {
  ["--size"] = function(o, text) o.size = text end,
  ["--set"] = function(o, text) table.insert(o.set, text) end,
  ["--with"] = function(o, text) table.insert(o.with, text) end,
  ["--json"] = function(o, text) o.json = text end,
  ["--limits"] = function(o, text)
    o.limits = {}
    for word in (text .. ","):gmatch "([^,]*)," do
      local limit = math.tointeger(tonumber(word))
      if not limit or limit < 1 then usage_error("--limits: '%s' is not a number of warps", word) end
      table.insert(o.limits, limit)
    end
  end,
}

local function read_arguments(args)
  local options, words, i = { set = {}, with = {} }, {}, 1
  while args[i] do
    local reader = readers[args[i]]
    if reader then
      if not args[i + 1] then usage_error("%s: a value must follow", args[i]) end
      reader(options, args[i + 1])
      i = i + 2
    else
      if args[i]:sub(1, 1) == "-" then usage_error("unknown option '%s'", args[i]) end
      words[#words + 1] = args[i]
      i = i + 1
    end
  end
  if #words ~= 2 then usage_error("a config and a workload are wanted") end
  options.config, options.workload = words[1], words[2]
  return options
end

if arg[1] == "--help" or arg[1] == "-h" then
  io.write(help)
  return
end

main(read_arguments(arg))
