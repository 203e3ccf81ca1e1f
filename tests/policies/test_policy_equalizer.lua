-- Equalizer: what an SM finds itself limited by, the CTAs that it runs, and the clocks that most SMs vote for.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local load = require "warpwright.load"
local runs = require "tests.lib.policy_runs"

local stat = runs.stat
local machine = { "sms=3", "partitions=2" }
local equalizer = load.get("policy", "equalizer").functions

harness.test("the means of the warps' states say what limits an SM, and whether a CTA more or less is right", function()
  local function decided(active, waiting, alu, memory)
    local limit, change = equalizer:decide({ active = active, waiting = waiting, alu = alu, memory = memory }, 8)
    return ("%s %d"):format(limit, change)
  end
  harness.equal(decided(48, 10, 20, 8.1), "memory -1")
  harness.equal(decided(48, 10, 8.1, 8), "compute 0")
  harness.equal(decided(48, 40, 8, 2.1), "memory 0")
  harness.equal(decided(48, 24.1, 2, 1), "compute 1")
  harness.equal(decided(48, 24.1, 1, 1), "memory 1")
  harness.equal(decided(48, 24, 8, 2), "balanced 0")
  harness.equal(decided(0, 0, 0, 0), "compute 0")
end)

--- An instance with SMs that each decide what `limits` says, and clocks that only note what is set.
local function fake(mode, limits)
  local set = {}
  local self = setmetatable({
    params = { mode = mode, agree = 3, step = 0.15 }, sms = {}, counted = {}, set = set, paused = {},
    clocks = {
      core = { { name = "core", hertz = 1000, slowest = 500, fastest = 1500 } },
      memory = { { name = "icnt", hertz = 2000, slowest = 1000, fastest = 3000 }, { name = "dram", hertz = 3000, slowest = 2000, fastest = 4000 } },
    },
    state = { levels = { core = 0, memory = 0 }, samples = 4, sms = {} },
  }, { __index = equalizer })
  for i in ipairs(limits) do
    self.sms[i] = { warps_per_cta = function() return 8 end, index = i }
    self.state.sms[i] = { ctas = 4, most = 4, asked = 0, epochs = 0, sums = { active = 0, waiting = 0, alu = 0, memory = 0 } }
  end
  function self.vote(_, list)
    for i, limit in ipairs(list) do
      local sums = self.state.sms[i].sums
      sums.active = 4 * 40
      if limit == "memory" then sums.memory = 4 * 3 elseif limit == "thrashes" then sums.memory = 4 * 9 elseif limit == "compute" then
        sums.alu = 4 * 9 elseif limit == "waits" then sums.waiting = 4 * 30 end
    end
    self.state.samples = 4
    self:end_epoch()
  end
  function self.set_clock(_, name, hertz) set[name] = hertz end
  function self.count(_, name) self.counted[name] = (self.counted[name] or 0) + 1 end
  function self.pause(_, sm) self.paused[sm.index] = self.state.sms[sm.index].ctas end
  return self
end

harness.test("performance: what limits most SMs is a step faster, and goes back when it no longer does", function()
  local self = fake("performance", { "", "", "" })
  self:vote { "memory", "memory", "compute" }
  harness.equal(("%d %d %s"):format(self.set.icnt, self.set.dram, self.set.core), "2300 3450 nil")
  self:vote { "memory", "thrashes", "memory" }
  harness.equal(self.counted.faster, 1)
  self:vote { "compute", "balanced", "compute" }
  harness.equal(("%d %d %d"):format(self.set.icnt, self.set.dram, self.set.core), "2000 3000 1150")
  self:vote { "compute", "balanced", "memory" }
  harness.equal(("%d %d %d"):format(self.set.icnt, self.set.dram, self.set.core), "2000 3000 1000")
  harness.equal(("%d %d %d"):format(self.counted.memory, self.counted.compute, self.counted.balanced), "2 1 1")
  harness.equal(("%d %d"):format(self.counted.faster, self.counted.slower), "2 2")
end)

harness.test("energy: what does not limit most SMs is a step slower", function()
  local self = fake("energy", { "", "", "" })
  self:vote { "memory", "memory", "compute" }
  harness.equal(("%d %s %s"):format(self.set.core, self.set.dram, self.set.icnt), "850 nil nil")
  self:vote { "compute", "compute", "compute" }
  harness.equal(("%d %d %d"):format(self.set.core, self.set.dram, self.set.icnt), "1000 2550 1700")
end)

harness.test("an SM runs one CTA fewer when three epochs in a row ask for it, and one more likewise, within what it holds", function()
  local self = fake("performance", { "", "" })
  local function ctas() return ("%d %d"):format(self.state.sms[1].ctas, self.state.sms[2].ctas) end
  self:vote { "thrashes", "thrashes" }
  self:vote { "thrashes", "memory" }
  harness.equal(ctas(), "4 4")
  self:vote { "thrashes", "thrashes" }
  harness.equal(ctas(), "3 4")
  harness.equal(self.paused[1], 3)
  harness.equal(self.paused[2], nil)
  for _ = 1, 3 do self:vote { "waits", "waits" } end
  harness.equal(ctas(), "4 4")
  harness.equal(("%d %d"):format(self.counted.fewer, self.counted.more), "1 1")
  for _ = 1, 30 do self:vote { "thrashes", "balanced" } end
  harness.equal(ctas(), "1 4")
end)

--- equalizer with eyes.
local watched = runs.file("watched", [[
local load = require "warpwright.load"
local equalizer = load.get("policy", "equalizer")
local p = policy "watched" {
  scope = "machine", order = "gto", period = 128,
  params = { mode = { "performance" }, samples = { 32 }, agree = { 3 }, step = { 0.15 }, core = { "core" }, memory = { "icnt|l2|dram" } },
  counters = { compute = "", memory = "", balanced = "", faster = "", slower = "", more = "", fewer = "", paused = "", looks = "" },
}
for name, f in pairs(equalizer.functions) do p[name] = f end
function p:look(sm, sums)
  local before = { active = sums.active, waiting = sums.waiting, alu = sums.alu, memory = sums.memory }
  equalizer.functions.look(self, sm, sums)
  local active, waiting = sums.active - before.active, sums.waiting - before.waiting
  local alu, memory = sums.alu - before.alu, sums.memory - before.memory
  assert(active <= bits.count(sm.live) and waiting + alu + memory <= active and math.min(waiting, alu, memory) >= 0)
  local own = self.state.sms[sm:number() + 1]
  if own.ctas < own.most then
    local ctas, seen = 0, 0
    for warp in bits.each(sm.may_issue & sm.live) do
      if not bits.has(seen, warp) then ctas, seen = ctas + 1, seen | sm:cta_warps(warp) end
    end
    assert(ctas <= own.ctas, "more CTAs than may run")
    if sm.live & ~sm.may_issue ~= 0 then self:count "paused" end
  end
  self:count "looks"
end
return p]])

harness.test("a run that thrashes its L1 pauses CTAs and has faster memory", function()
  local r = runs.good { policy = watched, workload = "kmeans", set = machine }
  for _, name in ipairs { "memory", "faster", "fewer", "paused", "looks" } do
    assert(stat(r, "dispatcher.watched." .. name) > 0, name .. " never happened")
  end
  local own = runs.good { policy = "equalizer", workload = "kmeans", set = machine }
  for _, name in ipairs { "memory", "compute", "balanced", "faster", "slower", "more", "fewer" } do
    harness.equal(stat(own, "dispatcher.equalizer." .. name), stat(r, "dispatcher.watched." .. name), name)
  end
  assert(stat(own, "run.clock.dram.frequency") > 1.01 * 924e6 and stat(own, "run.clock.dram.frequency") < 1.15 * 924e6)
end)

harness.test("a step ends at the range that the config gives", function()
  local self = fake("performance", { "", "" })
  self.clocks.memory[2].fastest = 3100
  self:vote { "memory", "memory" }
  harness.equal(("%d %d"):format(self.set.icnt, self.set.dram), "2300 3100")
end)

harness.test("CTAs of several kernels in an SM are refused before the first cycle", function()
  runs.fails({ policy = "equalizer", set = { "dispatcher.kernels_per_sm=2" } }, "dispatcher.kernels_per_sm: expected 1 with this policy, got 2")
  runs.fails({ policy = "owl", set = { "dispatcher.kernels_per_sm=2" } }, "dispatcher.kernels_per_sm: expected 1 with this policy, got 2")
  runs.fails({ policy = "daws", set = { "dispatcher.kernels_per_sm=2" } }, "dispatcher.kernels_per_sm: expected 1 with this policy, got 2")
end)

harness.test("modes and clocks that there are not are refused", function()
  runs.fails({ policy = "equalizer:mode=fast", set = machine }, "mode: expected performance or energy, got 'fast'")
  runs.fails({ policy = "equalizer:memory=hbm", set = machine }, "memory: expected clocks of the machine, got 'hbm'")
end)

local ranges = { "sms=2", "quantum=11", "clock.core=700MHz, 700MHz to 805MHz", "clock.icnt=1400MHz, 1400MHz to 1610MHz" }
checks.equals("equalizer:samples=1000000,memory=icnt", "gto", "bfs", ranges)
checks.law("equalizer:samples=4,agree=1", "spmv", machine)
checks.law("equalizer:samples=4,agree=1,mode=energy", "kmeans", machine)
checks.resumes("equalizer:samples=4,agree=1", "spmv", 3)

harness.finish()
