-- Warms a machine up once and compares policies from there: each goes on from the same state, in a process of its own.
local ww = require "warpwright"
local core = require "warpwright.core"
local preparation = require "scripts.lib.preparation"

local help = [[
usage: warpwright scripts/warm_compare.lua [--config C] [--workload W] [--size SIZE] [--cycles N] [--warm P]
                                           [--policies P,...] [--jobs N] [--out FOLDER]

Runs a workload for N core cycles, then to its end under each policy, and prints what each made of the rest.

  --config C       default gtx480
  --workload W     default kmeans
  --size SIZE      default medium
  --cycles N       length of the warm-up, default 500000
  --warm P         the policy until then, default lrr
  --policies P,... default: all in policies/, perfect with memory=1
  --jobs N         how many run at a time, default 2
  --out FOLDER     a folder for each policy goes there; default: the next free ones in out/
]]

local options = { config = "gtx480", workload = "kmeans", size = "medium", cycles = "500000", warm = "lrr", jobs = "2" }

local function usage_error(text, ...)
  error("warm_compare: " .. text:format(...) .. "; see warpwright scripts/warm_compare.lua --help", 0)
end

local function read_arguments()
  local i = 1
  while arg[i] do
    local name = arg[i]:match "^%-%-(.*)$"
    if name == "help" then
      io.write(help)
      os.exit(0)
    end
    if not options[name] and name ~= "policies" and name ~= "out" then usage_error("unknown option '%s'", arg[i]) end
    options[name] = arg[i + 1] or usage_error("--%s: expected a value, got nothing", name)
    i = i + 2
  end
  for _, name in ipairs { "cycles", "jobs" } do
    local number = math.tointeger(tonumber(options[name]))
    if not number or number < 1 then usage_error("--%s: expected a whole number from 1 on, got '%s'", name, options[name]) end
    options[name] = number
  end
end

--- A machine that goes on keeps its clocks.
local warm_form <const> = { perfect = "perfect:memory=1" }

local function policies()
  local found = {}
  if options.policies then
    for name in options.policies:gmatch "[^,]+" do found[#found + 1] = name end
    return found
  end
  for _, entry in ipairs(core.list_folder(core.home_path "policies")) do
    local name = entry:match "^(.*)%.lua$"
    found[#found + 1] = warm_form[name] or name
  end
  return found
end

local columns = "%-16s %11s %11s %8s %8s %10s %9s %9s\n"

--- `all`: the whole run; `r`: what came since the warm-up.
local function row(policy, all, r, baseline)
  local dram_bytes = r["mc[*].read_bytes"] + r["mc[*].write_bytes"]
  return columns:format(policy, all.cycles, r.cycles, ("%.1f"):format(r.ipc),
    ("%.1f%%"):format(100 * (1 - r["sm[*].l1d.miss_or_merge_rate"])), ("%.2f"):format(dram_bytes / r.cycles),
    ("%.2fx"):format(baseline / r.cycles), r.checks > 0 and "yes" or "no")
end

read_arguments()
local names, variants = policies(), { jobs = options.jobs, out = options.out }
for i, name in ipairs(names) do variants[i] = { policy = name } end

preparation.check { config = options.config, workloads = { options.workload }, size = options.size, policies = { options.warm, table.unpack(names) } }
local sim = ww.build(options.config, { policy = options.warm })
sim:start(options.workload, options.size)
if sim:run { until_cycle = options.cycles } then
  error(("warm_compare: --cycles: expected fewer than the %d cycles of %s %s, got %d"):format(sim:result().cycles, options.workload, options.size, options.cycles), 0)
end
local warm = sim:result()
print(("%s, %s %s: %d cycles under %s, and from there"):format(sim.name, options.workload, options.size, warm.cycles,
  options.warm))

local results = sim:fork(variants)
io.write(columns:format("policy", "cycles", "since then", "IPC", "L1 hits", "DRAM B/cyc", "speed-up", "verified"))
local base = 1 -- the policy of the warm-up, if it is one of them
for i, name in ipairs(names) do
  if name == options.warm then base = i end
end
local baseline = results[base].cycles - warm.cycles
for i, r in ipairs(results) do io.write(row(names[i], r, r:since(warm), baseline)) end
print(("\nIPC, L1 hits and DRAM bytes are those since the warm-up; speed-up is over %s."):format(names[base]))
