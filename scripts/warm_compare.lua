-- Warms a machine up once and compares policies from there: each goes on from the same state, in a
-- process of its own.
local ww = require "warpwright"
local core = require "warpwright.core"
local command_line = require "scripts.lib.command_line"
local preparation = require "scripts.lib.preparation"

local script <const> = "warm_compare.lua"
local help = [[
usage: warpwright scripts/warm_compare.lua [--config C] [--workload W] [--size SIZE] [--cycles N] [--warm P]
                                           [--policies P,...] [--jobs N] [--out FOLDER]

Runs a workload for N core cycles, then to its end under each policy, and prints what each made of the rest.

  --config C       default gtx480
  --workload W     default kmeans
  --size SIZE      default medium
  --cycles N       length of the warm-up, default 500000
  --warm P         the policy until then, default lrr
  --policies P,... default: all in policies/ but equalizer and first_touch, whose machines have other clocks or
                   memory pages than the warm one, and trace_l1, which only records; perfect with memory=1
  --jobs N         how many run at a time, default 2
  --out FOLDER     a folder for each policy goes there; default: the next free ones in out/
]]

--- No warm machine can take over the first two: theirs have other clocks or other memory pages. The
-- third records into the current folder and changes nothing.
local left_out <const> = { equalizer = true, first_touch = true, trace_l1 = true }
--- A machine that goes on keeps its clocks.
local warm_form <const> = { perfect = "perfect:memory=1" }

local function all_policies()
  local found = {}
  for _, entry in ipairs(core.list_folder(core.home_path "policies")) do
    local name = entry:match "^(.*)%.lua$"
    if name and not left_out[name] then found[#found + 1] = warm_form[name] or name end
  end
  return found
end

local function read_arguments()
  local options = { config = "gtx480", workload = "kmeans", size = "medium", cycles = 500000, warm = "lrr", jobs = 2 }
  local text <const>, count <const> = command_line.text, command_line.count(1)
  local words = command_line.read(script, arg, options, {
    config = text, workload = text, size = text, cycles = count, warm = text, policies = command_line.policies,
    jobs = count, out = text,
  })
  if words[1] then command_line.expected_arguments(script, "options alone", #words) end
  return options
end

local columns = "%-16s %11s %11s %8s %8s %10s %9s %9s\n"

--- `all`: the whole run; `r`: what came since the warm-up.
local function row(policy, all, r, baseline)
  local dram_bytes = r["mc[*].read_bytes"] + r["mc[*].write_bytes"]
  return columns:format(policy, all.cycles, r.cycles, ("%.1f"):format(r.ipc),
    ("%.1f%%"):format(100 * (1 - r["sm[*].l1d.miss_or_merge_rate"])), ("%.2f"):format(dram_bytes / r.cycles),
    ("%.2fx"):format(baseline / r.cycles), r.checks > 0 and "yes" or "no")
end

if command_line.helped(arg, help) then return end
local options = read_arguments()
local names, variants = options.policies or all_policies(), { jobs = options.jobs, out = options.out }
for i, name in ipairs(names) do variants[i] = { policy = name } end

preparation.check {
  config = options.config, workloads = { options.workload }, size = options.size, policies = { options.warm, table.unpack(names) },
}
local sim = ww.build(options.config, { policy = options.warm })
sim:start(options.workload, options.size)
if sim:run { until_cycle = options.cycles } then
  command_line.error(script, "--cycles: expected fewer than the %d cycles of %s %s, got %d", sim:result().cycles,
    options.workload, options.size, options.cycles)
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
