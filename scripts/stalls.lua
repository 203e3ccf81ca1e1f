-- What the memory system makes SMs wait for, workload by policy. `help` below says how it is
-- called.
local ww = require "warpwright"
local command_line = require "scripts.lib.command_line"
local json = require "warpwright.json"
local parts = require "scripts.lib.parts"
local preparation = require "scripts.lib.preparation"

local help = [[
usage: scripts/stalls [options] CONFIG WORKLOAD[,WORKLOAD...]

Runs workloads under policies and prints, as means over the SMs and of the cycles in kernels:

  line, MSHR, merge, queue   reservation fails of the L1 data cache per 1000 cycles, by cause: every way of the set
                             reserved, no MSHR, the line's MSHR full, the miss queue full. A request that is stopped fails
                             in each cycle
  LSU stall     cycles in which the load/store unit had an access that the L1 did not take
  blocked hit   cycles in which the request at the tags of L1 failed, and one behind it, of another warp, would have hit
  memory, LSU   slots of the schedulers in which all warps waited for loads, or the memory pipeline took nothing
  L1, L2 MPKI   misses of reads per 1000 thread instructions

A - stands for what needs an L1 data cache (l1d) or an L2 (l2) where the machine has none.

  --policies A,B,...   default lrr,gto
  --size SIZE          of the workloads, default small
  --set PATH=VALUE     changes the machine; may be repeated
  --json FILE          writes the figures
]]

-- Figures -----------------------------------------------------------------------------------------

--- nil where there is nothing to be counted.
local function ratio(a, b) return a and (b ~= 0 and a / b or 0.0) end

local function slots_of(r)
  local is_sm, sum = {}, 0
  for _, path in ipairs(parts.paths(r.structure, "sm")) do is_sm[path] = true end
  for name, value in r:stats() do
    if is_sm[name:match "^(.*)%.slots_"] then sum = sum + value end
  end
  return sum
end

local causes = { { "line", "line_fail" }, { "mshr", "mshr_entry_fail" }, { "merge", "mshr_merge_fail" },
  { "queue", "miss_queue_fail" } }

local function figures_of(r)
  local cycles = 0
  for _, launch in ipairs(r.launches) do cycles = cycles + launch.cycles end
  local sm_cycles, slots = cycles * #parts.paths(r.structure, "sm"), slots_of(r)
  local kilo_instructions = r.thread_instructions / 1000
  local row = {
    cycles = cycles,
    lsu_stall = ratio(parts.sum(r, "lsu", "stall_cycles"), sm_cycles),
    blocked_hit = ratio(parts.sum(r, "l1d", "blocked_hit_cycles"), sm_cycles),
    memory_slots = ratio(parts.sum(r, "sm", "slots_memory"), slots),
    lsu_slots = ratio(parts.sum(r, "sm", "slots_lsu"), slots),
    l1_mpki = ratio(parts.read_sum(r, "l1d", "misses"), kilo_instructions),
    l2_mpki = ratio(parts.read_sum(r, "l2", "misses"), kilo_instructions),
    fails = {},
  }
  for _, cause in ipairs(causes) do
    local name, counter = cause[1], cause[2]
    row.fails[name] = ratio(parts.sum(r, "l1d", counter .. "_cycles"), sm_cycles / 1000)
  end
  return row
end

--- What is to be set for it to be counted how often a hit is blocked.
local function settings_of(options)
  local sim, set = ww.build(options.config, { set = options.set }), {}
  for i, path in ipairs(parts.paths(sim:objects(), "l1d")) do set[i] = path .. ".watch_blocked_hits=true" end
  sim:close()
  return table.move(options.set, 1, #options.set, #set + 1, set)
end

local function run(options, set, workload, policy)
  local r = ww.run { config = options.config, workload = workload, size = options.size, policy = policy, set = set, out = false }
  local row = figures_of(r)
  row.workload, row.policy = workload, policy
  return row
end

-- Printing ----------------------------------------------------------------------------------------

local function print_row(widths, row)
  local f = row.fails
  local function text(form, value) return value and form:format(value) or "-" end
  local function percent(value) return text("%.1f%%", value and 100 * value) end
  print((widths .. " %10d %7s %7s %7s %7s %10s %11s %7s %7s %9s %9s"):format(row.workload, row.policy, row.cycles,
    text("%.1f", f.line), text("%.1f", f.mshr), text("%.1f", f.merge), text("%.1f", f.queue), percent(row.lsu_stall),
    percent(row.blocked_hit), percent(row.memory_slots), percent(row.lsu_slots), text("%.2f", row.l1_mpki), text("%.2f", row.l2_mpki)))
  io.stdout:flush()
end

local function longest(words, least)
  for _, word in ipairs(words) do least = math.max(least, #word) end
  return least
end

local function main(options)
  preparation.check(options)
  local rows, set = {}, settings_of(options)
  local widths = ("%%-%ds %%-%ds"):format(longest(options.workloads, 8), longest(options.policies, 6))
  print((widths .. " %10s %7s %7s %7s %7s %10s %11s %7s %7s %9s %9s"):format("workload", "policy", "cycles", "line", "MSHR",
    "merge", "queue", "LSU stall", "blocked hit", "memory", "LSU", "L1 MPKI", "L2 MPKI"))
  for _, workload in ipairs(options.workloads) do
    for _, policy in ipairs(options.policies) do
      rows[#rows + 1] = run(options, set, workload, policy)
      print_row(widths, rows[#rows])
    end
  end
  if options.json then json.write(options.json, rows) end
end

-- Command line ------------------------------------------------------------------------------------

local function read_arguments(args)
  local options = { set = {}, size = "small", policies = { "lrr", "gto" } }
  local words = command_line.read("stalls", args, options, { policies = command_line.policies, size = command_line.text,
    set = command_line.list, json = command_line.output })
  if #words ~= 2 then command_line.expected_arguments("stalls", "CONFIG and WORKLOAD,...", #words) end
  options.config, options.workloads = words[1], command_line.words(words[2])
  return options
end

if command_line.helped(arg, help) then return end
main(read_arguments(arg))
