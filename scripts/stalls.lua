-- What the memory system makes SMs wait for, workload by policy. `help` below says how it is called.
local ww = require "warpwright"
local command_line = require "scripts.lib.command_line"
local json = require "warpwright.json"

local help = [[
usage: scripts/stalls [options] CONFIG WORKLOAD[,WORKLOAD...]

Runs workloads under policies and prints, as means over the SMs and of the cycles in kernels:

  line, MSHR, merge, queue   reservation fails of the L1 data cache per 1000 cycles, by cause: every way of the set
                             reserved, no MSHR, the line's MSHR full, the miss queue full. A request that is stopped fails
                             in each cycle
  LSU stall     cycles in which the load/store unit had an access that the L1 did not take
  blocked hit   cycles in which the request at the tags of L1 failed, and one behind it, of another warp, would have hit
  memory, LSU   slots of the schedulers in which all warps waited for loads, or the memory pipeline took nothing
  L1, L2 MPKI   misses per 1000 thread instructions

  --policies A,B,...   default lrr,gto
  --size SIZE          of the workloads, default small
  --set PATH=VALUE     changes the machine; may be repeated
  --json FILE          writes the figures
]]

-- Figures ---------------------------------------------------------------------------------------------------------------

local function ratio(a, b) return b ~= 0 and a / b or 0.0 end

local function slots_of(r)
  local sum = 0
  for name, value in r:stats() do
    if name:match "^sm%[%d+%]%.slots_" then sum = sum + value end
  end
  return sum
end

local causes = { { "line", "line_fail" }, { "mshr", "mshr_entry_fail" }, { "merge", "mshr_merge_fail" },
  { "queue", "miss_queue_fail" } }

local function figures_of(r, sms)
  local cycles = 0
  for _, launch in ipairs(r.launches) do cycles = cycles + launch.cycles end
  local sm_cycles, slots = cycles * sms, slots_of(r)
  local kilo_instructions = r.thread_instructions / 1000
  local row = {
    cycles = cycles,
    lsu_stall = ratio(r["sm[*].lsu.stall_cycles"], sm_cycles),
    blocked_hit = ratio(r["sm[*].l1d.blocked_hit_cycles"], sm_cycles),
    memory_slots = ratio(r["sm[*].slots_memory"], slots),
    lsu_slots = ratio(r["sm[*].slots_lsu"], slots),
    l1_mpki = ratio(r["sm[*].l1d.misses"], kilo_instructions),
    l2_mpki = ratio(r["l2[*].misses"], kilo_instructions),
    fails = {},
  }
  for _, cause in ipairs(causes) do
    local name, counter = cause[1], cause[2]
    row.fails[name] = 1000 * ratio(r[("sm[*].l1d.%s_cycles"):format(counter)], sm_cycles)
  end
  return row
end

local function run(options, workload, policy)
  local set = { "sm[*].l1d.watch_blocked_hits=true", table.unpack(options.set) }
  local r = ww.run { config = options.config, workload = workload, size = options.size, policy = policy, set = set, out = false }
  local sms = 0
  for name in r:stats() do sms = sms + (name:match "^sm%[%d+%]%.slots_issued$" and 1 or 0) end
  local row = figures_of(r, sms)
  row.workload, row.policy = workload, policy
  return row
end

-- Printing --------------------------------------------------------------------------------------------------------------

local function print_row(widths, row)
  local f = row.fails
  print((widths .. " %10d %7.1f %7.1f %7.1f %7.1f %9.1f%% %10.1f%% %6.1f%% %6.1f%% %9.2f %9.2f"):format(row.workload, row.policy,
    row.cycles, f.line, f.mshr, f.merge, f.queue, 100 * row.lsu_stall, 100 * row.blocked_hit, 100 * row.memory_slots,
    100 * row.lsu_slots, row.l1_mpki, row.l2_mpki))
  io.stdout:flush()
end

local function longest(words, least)
  for _, word in ipairs(words) do least = math.max(least, #word) end
  return least
end

local function main(options)
  local rows = {}
  local widths = ("%%-%ds %%-%ds"):format(longest(options.workloads, 8), longest(options.policies, 6))
  print((widths .. " %10s %7s %7s %7s %7s %10s %11s %7s %7s %9s %9s"):format("workload", "policy", "cycles", "line", "MSHR",
    "merge", "queue", "LSU stall", "blocked hit", "memory", "LSU", "L1 MPKI", "L2 MPKI"))
  for _, workload in ipairs(options.workloads) do
    for _, policy in ipairs(options.policies) do
      rows[#rows + 1] = run(options, workload, policy)
      print_row(widths, rows[#rows])
    end
  end
  if options.json then json.write(options.json, rows) end
end

-- Command line ----------------------------------------------------------------------------------------------------------

local function read_arguments(args)
  local options = { set = {}, size = "small", policies = { "lrr", "gto" } }
  local words = command_line.read("stalls", args, options, { policies = command_line.policies, size = command_line.text,
    set = command_line.list, json = command_line.text })
  if #words ~= 2 then command_line.expected_arguments("stalls", "CONFIG and WORKLOAD,...", #words) end
  options.config, options.workloads = words[1], command_line.words(words[2])
  return options
end

if command_line.helped(arg, help) then return end
main(read_arguments(arg))
