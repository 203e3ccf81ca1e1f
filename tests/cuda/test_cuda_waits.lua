-- Waits of CUDA programs for one stream or event, behind which kernels of other streams are in flight. Programs of
-- tests/cuda/programs check what they compute; this looks at when their kernels ran, and stops and resumes them.
local core = require "warpwright.core"
local cuda_programs = require "tests.lib.cuda_programs"
local harness = require "tests.lib.harness"

local function path(name) return harness.folder() .. "/" .. name end

--- Runs a part of the program with these options, into the folder `out`; returns what was printed, and stats.txt.
local function run(part, out, ...)
  local program = cuda_programs.build "waits"
  local words = { "gtx480", "--out", path(out), ... }
  if ... ~= "--sample" then table.move({ "--max-cycles", "3000000" }, 1, 2, #words + 1, words) end
  for _, word in ipairs { "--", program, part } do words[#words + 1] = word end
  local status, output = cuda_programs.run(table.unpack(words))
  harness.equal(status, 0, output)
  harness.contains(output, part .. ": good")
  return output, harness.read(path(out) .. "/stats.txt")
end

--- The same; returns what was printed, and the launches, { start_cycle =, cycles =, together =, ends = } each.
local function good(part, ...)
  local output, stats = run(part, part .. "_out", ...)
  local launches = {}
  for number, name, value in stats:gmatch "launch%[(%d+)%]%.([%w_]+)%s+(%d+)" do
    local i = math.tointeger(tonumber(number)) + 1
    launches[i] = launches[i] or {}
    launches[i][name] = math.tointeger(tonumber(value))
  end
  for _, launch in ipairs(launches) do launch.ends = launch.start_cycle + launch.cycles end
  return output, launches
end

harness.test("a wait for a stream ends when its kernel has, and the kernel of another that waits for the program goes on", function()
  local _, launches = good "stream"
  harness.equal(#launches, 3, "launches")
  harness.equal(launches[1].start_cycle, launches[2].start_cycle, "the first two begin together")
  harness.equal(launches[3].start_cycle, launches[2].ends, "the third begins where the wait ended")
  assert(launches[1].ends > launches[3].ends, "the first ends last")
  for i, launch in ipairs(launches) do harness.equal(launch.together, 0, "together of " .. i) end
end)

harness.test("a wait for an event ends when its stream comes to it", function()
  local _, launches = good "event"
  harness.equal(launches[3].start_cycle, launches[2].ends, "the kernel behind the event begins then")
end)

harness.test("a program that asks again and again comes to the end", function() harness.contains(good "polls", " queries") end)

harness.test("two buffers in turn: each kernel begins where its stream was waited for, beside that of the other", function()
  local _, launches = good "pipeline"
  harness.equal(#launches, 9, "launches")
  for i = 4, 9 do harness.equal(launches[i].start_cycle, launches[i - 2].ends, "start of " .. i) end
  local beside = 0
  for i = 3, 9 do beside = beside + (launches[i].start_cycle < launches[i - 1].ends and 1 or 0) end
  assert(beside > 0, "no kernel runs beside another")
end)

harness.test("events have the cycles of their streams", function() good "times" end)

harness.test("kernels wait for those in flight, in their stream and by events", function()
  local _, launches = good "behind"
  local waiter = launches[1]
  harness.equal(#launches, 6, "launches")
  local behind = 0
  for i = 2, 6 do
    if launches[i].start_cycle >= waiter.ends then behind = behind + 1 end
  end
  harness.equal(behind, 3, "kernels behind the one that waits")
end)

harness.test("a kernel of a stream of higher priority goes before one in flight, as CTAs end", function()
  local _, launches = good("priorities", "--set", "dispatcher.kernels_per_sm=2")
  assert(launches[2].start_cycle > launches[1].start_cycle, "it is not launched behind the other")
  assert(launches[2].ends < launches[1].ends, "it does not end first")
end)

harness.test("what a kernel prints comes before what the program does behind the wait for it", function()
  local output = good "prints_early"
  harness.contains(output, "thread 0 9\nthread 1 9")
end)

harness.test("a kernel that fails ends those in flight, and the device is good after a reset", function()
  local output, launches = good "fault"
  harness.contains(output, "kernel stray", "access out of bounds")
  harness.equal(#launches, 4, "launches")
end)

harness.test("what a program leaves in flight is given up when it ends", function()
  local output, launches = good "leaves"
  harness.contains(output, "kernel waits was given up", "the program that launched it has ended")
  harness.equal(#launches, 2, "launches")
end)

harness.test("registered memory is that of kernels in flight, too", function()
  local _, launches = good "registered"
  harness.equal(#launches, 3, "launches")
  assert(launches[1].ends > launches[3].ends, "the one that waits ends last")
end)

harness.test("cudaFree() waits for all", function() good "frees" end)

harness.test("thousands of kernels run while another one is in flight", function()
  local _, launches = good "many"
  harness.equal(#launches, 3002, "launches")
end)

harness.test("more kernels than can be in flight wait for those that are", function() good "mixes" end)

harness.test("the legacy stream waits for blocking streams alone, and they for it", function()
  local _, launches = good "legacy"
  harness.equal(#launches, 6, "launches")
  for i = 3, 6 do assert(launches[i].start_cycle >= launches[i - 1].ends, "start of " .. i) end
  assert(launches[1].ends > launches[5].ends, "the one that waits ends behind the others")
  good "legacy_waits"
end)

harness.test("graphs run beside kernels in flight", function()
  local _, launches = good "graph"
  harness.equal(#launches, 10, "launches")
  harness.equal(launches[2].start_cycle, launches[3].start_cycle, "both branches begin together")
  assert(launches[1].ends > launches[10].ends, "the one that waits ends last")
  good "graph_waits"
end)

harness.test("graphs with events, memory, host functions and copies of any memory run beside kernels in flight", function()
  local _, launches = good "graph_nodes"
  harness.equal(#launches, 5, "launches")
  for i = 2, 5 do assert(launches[1].ends > launches[i].ends, "the one that waits ends last") end
end)

harness.test("streams wait for words that later calls, kernels in flight and the program write", function()
  local _, launches = good "words"
  harness.equal(#launches, 3, "launches")
  assert(launches[2].ends < launches[1].ends and launches[3].start_cycle >= launches[1].ends, "order")
  harness.contains(good "words_of_host", "a stream waits for a word (cuStreamWaitValue32() or its kin) that nobody has written yet")
end)

harness.test("cooperative launches run beside kernels in flight", function()
  local _, launches = good "cooperative"
  harness.equal(#launches, 4, "launches")
  for i = 3, 4 do harness.equal(launches[i].start_cycle, launches[i - 1].ends, "start of " .. i) end
  assert(launches[1].ends > launches[4].ends, "the one that waits ends last")
end)

harness.test("objects of textures are made and used beside kernels in flight", function() good "texture" end)

harness.test("threads, order of ticks and how SMs are shared change no result, the first two no statistic", function()
  for _, part in ipairs { "stream", "pipeline", "legacy", "graph", "words", "registered" } do
    local _, want = run(part, part .. "_want")
    for _, words in ipairs { { "--threads", "2" }, { "--order", "reversed" } } do
      local _, got = run(part, part .. "_got", table.unpack(words))
      harness.same_text(got, want, part .. " with " .. words[1])
    end
    run(part, part .. "_got", "--set", "dispatcher.sharing=evenly")
    run(part, part .. "_got", "--set", "dispatcher.kernels_per_sm=4")
    run(part, part .. "_got", "--set", "dispatcher.count_by_kernel=true", "--profile", "--histograms", "all")
  end
  run("pipeline", "checked", "--memcheck")
end)

harness.test("copies beside kernels in flight leave their lines in L2s that keep them", function()
  for _, part in ipairs { "pipeline", "polls" } do
    run(part, part .. "_keeps", "--set", "l2[*].host_copies=true", "--policy", "gto")
  end
end)

harness.test("with sample, fast_forward and launches without timing a wait is one for all", function()
  for i, words in ipairs { { "--launches", "0,2" }, { "--launches", "4-" }, { "--sample", "error=5%" }, { "--fast-forward", "launch=3" },
    { "--memcheck", "--set", "dispatcher.kernels_per_sm=4" }, {} } do
    run("pair", "pair_got" .. i, table.unpack(words))
  end
end)

harness.test("resumed in each phase, a program ends with the same statistics, and prints the same", function()
  for part, points in pairs { stream = "200,900,1500", pipeline = "100,700,1300,2500,4000", polls = "300,2500,5500", fault = "200,900",
    legacy = "200,900,2500,4000", cooperative = "200,700,1200", registered = "200,900,1500", graph_nodes = "200,900,1500", graph = "500,1500,3000,4500", texture = "700,1500",
    words = "200,900,1500,2100" } do
    local saved = path(part .. "_saved")
    local output, want = run(part, part .. "_saved", "--checkpoint-at", points)
    local files = {}
    for _, name in ipairs(core.list_folder(saved)) do files[#files + 1] = name:match "^%d+%.ckpt$" and saved .. "/" .. name or nil end
    assert(#files > 0, "no checkpoint of " .. part)
    for i, file in ipairs(files) do
      local out = path(part .. "_again" .. i)
      local status, again = cuda_programs.run("--resume", file, "--threads", tostring(i), "--out", out)
      harness.equal(status, 0, again)
      harness.contains(again, part .. ": good")
      harness.equal(again:match "%d+ and %d+ queries", output:match "%d+ and %d+ queries", "queries")
      harness.same_text(harness.read(out .. "/stats.txt"), want, "stats of " .. file)
    end
  end
end)

harness.test("a persistent kernel that the program ends through registered memory, beside kernels whose CTAs meet", function()
  local program, out = cuda_programs.compile("persistent", "sm_70"), path "persistent_out"
  local status, output = cuda_programs.run("gtx480", "--capability", "7.0", "--out", out, "--checkpoint-at", "15000,60000",
    "--max-cycles", "1000000", "--", program)
  harness.equal(status, 0, output)
  harness.contains(output, "persistent: 4 solutions", "good")
  local want, files = harness.read(out .. "/stats.txt"), 0
  for _, name in ipairs(core.list_folder(out)) do
    if name:find "%.ckpt$" then
      local again = path("persistent_again" .. name)
      status, output = cuda_programs.run("--resume", out .. "/" .. name, "--threads", "2", "--order", "reversed", "--out", again)
      harness.equal(status, 0, output)
      harness.same_text(harness.read(again .. "/stats.txt"), want, "stats of " .. name)
      files = files + 1
    end
  end
  harness.equal(files, 2, "checkpoints")
end)

harness.finish()
