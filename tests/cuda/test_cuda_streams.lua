-- Streams of CUDA programs: what may run side by side does, and each stream keeps its order. Programs of tests/cuda/programs
-- check what they compute; this looks at when their kernels ran.
local core = require "warpwright.core"
local cuda_programs = require "tests.lib.cuda_programs"
local harness = require "tests.lib.harness"

local function path(name) return harness.folder() .. "/" .. name end

--- Runs a part of the program; returns what was printed, and the launches, { start_cycle =, cycles =, together = } each.
local function good(part, ...)
  local program = cuda_programs.build "streams"
  local out = path(part .. "_out")
  local words = { "gtx480", "--out", out, ... }
  for _, word in ipairs { "--", program, part } do words[#words + 1] = word end
  local status, output = cuda_programs.run(table.unpack(words))
  harness.equal(status, 0, output)
  harness.contains(output, part .. ": good")
  local launches = {}
  for number, name, value in harness.read(out .. "/stats.txt"):gmatch "launch%[(%d+)%]%.([%w_]+)%s+(%d+)" do
    local i = math.tointeger(tonumber(number)) + 1
    launches[i] = launches[i] or {}
    launches[i][name] = math.tointeger(tonumber(value))
  end
  return output, launches
end

local function end_of(launch) return launch.start_cycle + launch.cycles end

harness.test("kernels of two streams run side by side, each stream in its order", function()
  local _, launches = good "side_by_side"
  harness.equal(#launches, 4, "launches")
  harness.equal(launches[1].start_cycle, launches[2].start_cycle, "the first ones begin together")
  harness.equal(launches[3].start_cycle, end_of(launches[1]), "the third begins when the first has ended")
  harness.equal(launches[4].start_cycle, end_of(launches[2]), "the fourth begins when the second has ended")
end)

harness.test("kernels of a stream of higher priority get SMs first", function()
  local _, launches = good "priorities"
  local grids = {}
  for i, launch in ipairs(launches) do grids[i] = launch.ctas end
  harness.equal(table.concat(grids, " "), "100 150 200 300", "CTAs, in the order of the launch")
  harness.equal(end_of(launches[2]) < end_of(launches[4]), true, "they end first")
end)

harness.test("copies between pinned memory and the device do not part kernels of other streams", function()
  local _, launches = good "copies"
  harness.equal(#launches, 2, "launches")
  harness.equal(launches[1].start_cycle, launches[2].start_cycle, "both begin together")
end)

harness.test("copies of other memory are done in the call", function() good "pageable" end)

harness.test("events make a stream wait for another", function()
  local _, launches = good "diamond"
  harness.equal(#launches, 4, "launches")
  harness.equal(launches[2].start_cycle, launches[3].start_cycle, "the branches begin together")
  harness.equal(launches[2].start_cycle >= end_of(launches[1]), true, "behind the first")
  harness.equal(launches[4].start_cycle >= math.max(end_of(launches[2]), end_of(launches[3])), true, "the last is behind both")
end)

harness.test("an event has the time of its stream", function() good "events" end)

harness.test("the legacy default stream waits for the others, and they for it", function()
  local _, launches = good "legacy"
  harness.equal(launches[2].start_cycle >= end_of(launches[1]), true, "the second")
  harness.equal(launches[3].start_cycle >= end_of(launches[2]), true, "the third")
end)

harness.test("programs compute the same where an SM has kernels of several streams", function()
  for _, part in ipairs { "side_by_side", "diamond", "copies", "legacy", "threads" } do
    good(part, "--set", "dispatcher.kernels_per_sm=4")
  end
end)

harness.test("threads with streams of their own compute what they should", function()
  local _, launches = good "threads"
  harness.equal(#launches, 16, "launches")
end)

harness.test("kernels that nobody waits for run at the program's end", function()
  local _, launches = good "unfinished"
  harness.equal(#launches, 2, "launches")
  harness.equal(launches[1].start_cycle, launches[2].start_cycle, "both begin together")
end)

harness.test("a launch that is not legal is an error of its call, and no other's", function()
  local _, launches = good "wrong_launches"
  harness.equal(#launches, 2, "launches")
end)

harness.test("a kernel that fails beside others is the error of the call that waits, and what others printed is not lost", function()
  harness.contains(good "fault", "kernel stray", "access out of bounds", "thread 3 7")
end)

harness.test("what kernels have printed by the end of a run that is stopped is not lost", function()
  local program = cuda_programs.build "streams"
  local status, output = cuda_programs.run("gtx480", "--max-cycles", "20000", "--out", path "endless_out", "--", program, "endless")
  harness.equal(status, 2, output)
  harness.contains(output, "kernels spins and 1 other have not ended by cycle 20000: max_cycles was reached; 1 of 3 CTAs are done")
  harness.equal(output:find("checkpoint", 1, true), nil, "a word of checkpoints, which nobody asked for")
  harness.contains(harness.read(path "endless_out/printed.txt"), "thread 3 7")
end)

harness.test("with memory that kernels and the program share, kernels run in the call", function() good "mapped" end)

harness.test("kernels of a graph that do not wait for each other run side by side", function()
  local _, launches = good "graph"
  harness.equal(#launches, 4, "launches")
  harness.equal(launches[1].start_cycle, launches[3].start_cycle, "the branches begin together")
  harness.equal(launches[4].start_cycle >= end_of(launches[1]), true, "the last is behind them")
end)

harness.test("a chain of kernels is launched one by one", function()
  local program = cuda_programs.build "streams"
  harness.equal((cuda_programs.run("gtx480", "--out", path "chain_out", "--", program, "pageable")), 0)
  assert(not harness.read(path "chain_out/stats.txt"):find("together", 1, true), "launches of one stream are not alone")
end)

harness.test("kernels run one after the other where some have no timing, and in sampled runs, which say so once", function()
  local function is_told(output) return select(2, output:gsub("kernels that could run side by side run one after the other", "")) == 1 end
  local output, launches = good("side_by_side", "--launches", "1-3")
  assert(is_told(output), output)
  harness.equal(launches[1].cycles, 0, "cycles of the first")
  harness.equal(launches[3].start_cycle >= end_of(launches[2]), true, "the third is behind the second")
  output, launches = good("side_by_side", "--sample", "error=5%")
  assert(is_told(output), output)
  harness.contains(harness.read(path "side_by_side_out/sampling.txt"), "kernels that run side by side without sampling ran one after the other")
  assert(not is_told(good "side_by_side"), "told of a run that has them side by side")
  harness.equal(launches[2].start_cycle >= end_of(launches[1]), true, "the second is behind the first")
end)

harness.test("a run resumes between the launches of kernels that run together", function()
  local program = cuda_programs.build "streams"
  local straight, saved, resumed = path "straight", path "saved", path "resumed"
  local status, output = cuda_programs.run("gtx480", "--out", straight, "--checkpoint-every", "1000000", "--", program, "side_by_side")
  harness.equal(status, 0, output)
  cuda_programs.run("gtx480", "--out", saved, "--checkpoint-at", "500", "--max-cycles", "600", "--", program, "side_by_side")
  local file
  for _, name in ipairs(core.list_folder(saved)) do file = name:match "^%d+%.ckpt$" and not file and saved .. "/" .. name or file end
  status, output = cuda_programs.run("--resume", file, "--out", resumed)
  harness.equal(status, 0, output)
  harness.contains(output, "side_by_side: good")
  harness.equal(harness.read(resumed .. "/stats.txt"), harness.read(straight .. "/stats.txt"), "stats.txt")
end)

harness.finish()
