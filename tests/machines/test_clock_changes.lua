-- Clocks that change during a run: when the change counts, what it does to the machine, and that nothing else can show.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local runs = require "tests.lib.policy_runs"

local frequencies <const> = { core = "700MHz, 350MHz to 800MHz", icnt = "1400MHz, 700MHz to 1600MHz", dram = "924MHz, 462MHz to 1GHz" }

local function settings(clocks)
  local list = { "sms=2", "partitions=2", "quantum=4" }
  for _, clock in ipairs(clocks) do list[#list + 1] = ("clock.%s=%s"):format(clock, frequencies[clock]) end
  return list
end

--- Changes each of the clocks in turn, time and again.
local wanders = runs.file("wanders", [[
local p = policy "wanders" {
  scope = "machine", period = 333, params = { clocks = { "core dram icnt" } }, counters = { changes = "Changes" },
}
local steps = { l2 = { 500, 700, 411 }, core = { 600, 700, 750 }, icnt = { 1400, 1250, 1600 }, dram = { 700, 924, 811 } }
function p:on_period()
  local n = (self.state.n or 0) + 1
  self.state.n = n
  local names = {}
  for name in self.params.clocks:gmatch "%w+" do names[#names + 1] = name end
  local clock = names[n % #names + 1]
  local before = self:clock(clock)
  self:set_clock(clock, ("%dMHz"):format(steps[clock][n // #names % 3 + 1]))
  if self:clock(clock) ~= before then self:count "changes" end
end
return p]])

local all <const> = { "core", "icnt", "dram" }

local function wander(clocks, options)
  options.policy = ("%s:clocks='%s'"):format(wanders, table.concat(clocks, " "))
  options.workload, options.set = options.workload or "bfs", settings(clocks)
  return runs.good(options)
end

for _, clocks in ipairs { { "core" }, { "icnt" }, { "dram" }, all } do
  local name = table.concat(clocks, ", ")
  harness.test(("%s: no tick order and no number of threads changes a byte"):format(name), function()
    local want = wander(clocks, {})
    assert(runs.stat(want, "dispatcher.wanders.changes") > 50)
    for _, how in ipairs { { order = "reversed" }, { order = "shuffled:1", threads = 2 }, { order = "restless" }, { threads = 3 } } do
      harness.same_text(wander(clocks, how), want, ("order %s, %d threads"):format(how.order or "path", how.threads or 1))
    end
  end)
end

harness.test("a memory controller beside an L2 that is watched cycle by cycle does the same behind changes of its clock", function()
  local function run(more) return runs.without(wander({ "dram" }, { workload = "vecadd", more = more }), "trace") end
  harness.same_text(run { "--trace", "l2*", "--to", "5000" }, run {})
end)

harness.test("a run goes on from checkpoints around changes as if it had not been stopped", function()
  local want = wander(all, {})
  local cycles = "328,332,336,664,668,999,1000,1004,5000,9991,20000"
  local _, _, folder = wander(all, { ["checkpoint-at"] = cycles })
  local count = 0
  for cycle in cycles:gmatch "%d+" do
    local file = ("%s/%d.ckpt"):format(folder, (tonumber(cycle) + 3) // 4 * 4)
    harness.same_text(runs.good { resume = file }, want, file)
    count = count + 1
  end
  harness.equal(count, 11)
end)

--- Sums of times are in a unit of the machine, and mean latencies in cycles of the network as it was built; the rows of clocks are of
-- such as change alone.
local function comparable(sim)
  local lines, r = {}, sim:result()
  for name, value in r:stats() do
    if not (name:find "_ticks$" or name:find "^xbar%.%l+_latency$" or name:find "^run%.clock") then lines[#lines + 1] = name .. " " .. tostring(value) end
  end
  sim:close()
  return table.concat(lines, "\n"), r
end

local function run_at(set, changes)
  local sim = ww.build("gtx480", { set = { "sms=2", "partitions=2", "quantum=4", table.unpack(set) } })
  sim:start("spmv", "small,rows=2048,longest=12")
  for clock, frequency in pairs(changes) do sim:set_clock(clock, frequency) end
  sim:run {}
  return comparable(sim)
end

for clock, slow in pairs { core = "350MHz", icnt = "700MHz", dram = "462MHz" } do
  harness.test(("a machine whose %s is set to %s before the first cycle is one that was built so"):format(clock, slow), function()
    local changed = run_at({ ("clock.%s=%s"):format(clock, frequencies[clock]) }, { [clock] = slow })
    local built = run_at({ ("clock.%s=%s"):format(clock, slow) }, {})
    local unchanged = run_at({ ("clock.%s=%s"):format(clock, frequencies[clock]) }, {})
    harness.same_text(changed, built)
    assert(changed ~= unchanged)
  end)
end

--- gtx480 with a clock of its own for the L2, whose banks and data ports are busy for a while.
local with_l2 = harness.write("with_l2.lua", [[
local ww = require "warpwright"
return ww.variant("with_l2", "gtx480", function(m)
  m:clock("l2", "700MHz, 350MHz to 800MHz")
  m:change("l2[*]", { clock = "l2", data_port = 32, bank_busy = 2 })
end)
]])

harness.test("an L2 with a clock of its own is as one that was built so, in any order and from checkpoints", function()
  local function run(set, slow)
    local sim = ww.build(with_l2, { set = { "sms=2", "partitions=2", "quantum=4", table.unpack(set) } })
    sim:start("spmv", "small,rows=2048,longest=12")
    if slow then sim:set_clock("l2", "350MHz") end
    sim:run {}
    return (comparable(sim))
  end
  harness.same_text(run({}, true), run({ "clock.l2=350MHz" }, false))
  local policy = wanders .. ":clocks='l2 dram core'"
  local function wandering(options)
    options.config, options.policy, options.workload = with_l2, policy, "bfs"
    options.set = { "sms=2", "partitions=2", "quantum=4", "clock.core=" .. frequencies.core, "clock.dram=" .. frequencies.dram }
    return runs.good(options)
  end
  local want, _, folder = wandering { ["checkpoint-at"] = "664,668,2000,9991,20000" }
  for _, how in ipairs { { order = "reversed" }, { order = "shuffled:2", threads = 3 }, { order = "restless" } } do
    harness.same_text(wandering(how), want, how.order)
  end
  for _, cycle in ipairs { 664, 668, 2000, 9992, 20000 } do
    harness.same_text(runs.good { resume = ("%s/%d.ckpt"):format(folder, cycle) }, want, cycle .. "")
  end
end)

harness.test("cycles of each clock and the simulated time go on from what they were", function()
  local sim = ww.build("gtx480", { set = settings { "core", "dram" } })
  sim:start("bfs", "small")
  local function clocks()
    local by_name = {}
    for _, clock in ipairs(sim:clocks()) do by_name[clock.name] = clock end
    return by_name
  end
  sim:run { until_cycle = 7000 }
  local before, first = clocks(), sim:result()
  sim:set_clock("core", "350MHz")
  sim:set_clock("dram", 462000000)
  local between = clocks()
  assert(between.dram.cycles - before.dram.cycles <= 1 and between.core.cycles == before.core.cycles)
  harness.equal(between.core.frequency, 350000000)
  harness.equal(between.core.hertz, 700000000)
  sim:run { until_cycle = 14000 }
  local after = clocks()
  local fast, slow = before.core.cycles, after.core.cycles - before.core.cycles
  assert(math.abs(after.dram.cycles - between.dram.cycles - slow / 350 * 462) < 3)
  assert(math.abs(after.icnt.cycles - between.icnt.cycles - slow / 350 * 1400) < 0.001 * after.icnt.cycles)
  local r = sim:result()
  assert(math.abs(r["run.seconds"] - (fast / 700e6 + slow / 350e6)) < 1e-11)
  harness.equal(r["run.clock.core.changes"], 1)
  harness.equal(r["run.clock.dram.cycles"], after.dram.cycles)
  local since = r:since(first)
  assert(math.abs(since["run.seconds"] - slow / 350e6) < 1e-11)
  harness.equal(since["run.clock.core.changes"], 1)
  harness.equal(since["run.clock.dram.cycles"], after.dram.cycles - before.dram.cycles)
  assert(math.abs(since["run.clock.core.frequency"] - 350e6) < 1)
  sim:close()
end)

local function refused(text, work)
  local good, problem = pcall(work)
  assert(not good, "it went well")
  harness.contains(tostring(problem), text)
end

harness.test("what a clock may not become is refused", function()
  local sim = ww.build("gtx480", { set = settings { "dram" } })
  sim:start("bfs", "small")
  refused("clock dram: expected 462000000 Hz to 1000000000 Hz", function() sim:set_clock("dram", "2GHz") end)
  refused("clock core: expected one that may change, by --set \"clock.core=700000000Hz, SLOWEST to FASTEST\" or the like in the "
    .. "machine or configure(); machine gtx480 keeps it at 700000000 Hz", function() sim:set_clock("core", "600MHz") end)
  refused("no clock of machine gtx480 matches 'l2'", function() sim:set_clock("l2", "600MHz") end)
  refused("clock.dram: expected a frequency", function() sim:set_clock("dram", "fast") end)
  sim:run {}
  refused("between two sim:run {}", function() sim:set_clock("dram", "500MHz") end)
  sim:close()
  refused("sample: expected clocks that do not change, got clock.dram", function()
    ww.run { config = "gtx480", workload = "bfs", size = "small", set = settings { "dram" }, sample = "windows=3", out = false }
  end)
  for _, text in ipairs { "924MHz, 1GHz", "924MHz, fast to 1GHz", "924MHz, 1GHz to 2GHz", "924MHz, 500MHz to 1GHz to 2GHz" } do
    refused("clock.dram: expected", function() ww.build("gtx480", { set = { "clock.dram=" .. text } }) end)
  end
end)

harness.test("a clock must not change beside objects that keep its times, or so that a wire is shorter than the quantum", function()
  refused("clock.icnt: expected one frequency, as mesh[0] (Router) of clock icnt", function()
    ww.build("gtx480_mesh", { set = { "quantum=4", "clock.icnt=" .. frequencies.icnt } }):gpu()
  end)
  refused("quantum: expected 1 to 8 cycles of clock core", function()
    ww.build("gtx480", { set = { "quantum=9", "clock.core=" .. frequencies.core } }):gpu()
  end)
end)

harness.test("the quantum that a config gives is shorter where clocks change and a wire may be quicker", function()
  harness.contains(ww.build("gtx480", { set = { "clock.core=" .. frequencies.core } }):config(), "m:quantum(8)")
  harness.contains(ww.build("gtx480", { set = { "clock.dram=" .. frequencies.dram } }):config(), "m:quantum(16)")
end)

harness.test("only a policy of the whole machine sets clocks", function()
  local narrow = runs.file("narrow", [[
local p = policy "narrow" { scope = "sm", period = 100 }
function p:on_period() self:set_clock("dram", "500MHz") end
return p]])
  runs.fails({ policy = narrow, set = settings { "dram" } }, "set_clock: expected a policy of scope machine, got one of scope sm")
  local wrong = runs.file("wrong", [[
local p = policy "wrong" { scope = "machine", period = 100 }
function p:on_period() self:set_clock("dram", "5GHz") end
return p]])
  runs.fails({ policy = wrong, set = settings { "dram" } }, "wrong.lua:4: policy wrong of the machine, in on_period", "clock dram: expected 462000000 Hz to 1000000000 Hz")
end)

harness.test("config.lua builds a machine whose clocks may change as much", function()
  local _, _, folder = wander({ "dram" }, {})
  local again = runs.good { config = folder .. "/config.lua", workload = "bfs", set = {}, policy = wanders .. ":clocks=dram" }
  harness.contains(harness.read(folder .. "/config.lua"), 'dram = "924000000Hz, 462000000Hz to 1000000000Hz"')
  assert(runs.stat(again, "dispatcher.wanders.changes") > 50)
end)

harness.test("a frequency is met to a thousandth though the first clock is slow, or refused where that takes too many ticks", function()
  local function build(slowest, fastest)
    return ww.build("gtx480", { set = { sms = 2, quantum = 1, ["clock.core"] = "1GHz, " .. slowest .. " to 1GHz", ["clock.icnt"] = "1GHz",
      ["clock.dram"] = "1GHz, 500MHz to " .. fastest } })
  end
  local sim = build("500MHz", "3010MHz")
  sim:gpu()
  sim:set_clock("core", "500MHz")
  sim:set_clock("dram", "3010MHz")
  sim:run("vecadd", "small")
  local ratio = sim:result()["run.clock.dram.frequency"] / 3010e6
  assert(math.abs(ratio - 1) <= 1e-3, ratio)
  local good, problem = pcall(function() build("400MHz", "1000000GHz"):gpu() end)
  assert(not good, "it went well")
  harness.contains(tostring(problem), "clock.core: expected 433680869 Hz or more, so that clock dram is met to a thousandth")
end)

harness.test("a clock that is set before the machine is built is refused with what builds it", function()
  local good, problem = pcall(function() ww.build "gtx480":set_clock("core", "700MHz") end)
  assert(not good, "it went well")
  harness.contains(tostring(problem), "set_clock: expected a machine after sim:gpu() or sim:start(), got gtx480 before")
end)

harness.test("a range too wide for the slowest wire is refused with the frequencies at its ends", function()
  local good, problem = pcall(function() ww.build("gtx480", { set = { "clock.core=700MHz, 1MHz to 1GHz" } }):gpu() end)
  assert(not good, "it went well")
  harness.contains(tostring(problem), "got 32 of clock icnt, with clock core at 1000000 Hz and icnt at 1400000000 Hz")
end)

harness.finish()
