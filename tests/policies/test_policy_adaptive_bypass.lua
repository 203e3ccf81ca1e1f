-- Adaptive bypassing: counters move with lines that leave unused and with first uses, and say which reads pass the cache by.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local load = require "warpwright.load"

local functions = load.get("policy", "adaptive_bypass").functions

--- An instance for itself, whose cache has a line of PC 9 everywhere, used so often.
local function instance(params)
  local counted, cache = {}, { uses = 1 }
  function cache.line_uses() return cache.uses end
  function cache.line_pc() return 9 end
  local self = setmetatable({ cache = cache, params = { entries = 16, threshold = 2, probe = 4 }, counted = counted }, { __index = functions })
  for name, value in pairs(params or {}) do self.params[name] = value end
  function self.only() end
  function self.count(_, name) counted[name] = (counted[name] or 0) + 1 end
  self:start()
  return self
end

local function hit(self, uses)
  self.cache.uses = uses
  self:on_hit(0, 0, 0, 5, 0, 0, 3, 1)
end

local function leaves(self, times)
  for _ = 1, times or 1 do self:on_evict(0, 0, 0, 0, 3, 1, 0, 9, 0) end
end

local function bypass(self, pc) return self:bypass(0, 0, 0, pc) end

harness.test("lines that leave unused raise the counter of the PC that brought them, a line's first use lowers it", function()
  local self = instance()
  harness.equal(next(self.state.unused), nil, "before")
  leaves(self, 3)
  harness.equal(self.state.unused[9], 3, "after three")
  hit(self, 2)
  harness.equal(self.state.unused[9], 3, "after a second use")
  hit(self, 1)
  harness.equal(self.state.unused[9], 2, "after a first use")
  harness.equal(self.state.unused[5], nil, "of the PC that hit")
  harness.equal(self.counted.unused, 3, "counted unused")
  harness.equal(self.counted.used, 1, "counted used")
end)

harness.test("counters stay between 0 and 15, and one of 0 is no longer kept", function()
  local self = instance()
  hit(self, 1)
  harness.equal(next(self.state.unused), nil, "below 0")
  leaves(self, 20)
  harness.equal(self.state.unused[9], 15, "at its most")
  for _ = 1, 15 do hit(self, 1) end
  harness.equal(next(self.state.unused), nil, "at 0")
end)

harness.test("reads of a PC at the threshold pass by, but for one in `probe`", function()
  local self = instance()
  leaves(self)
  harness.equal(bypass(self, 9), nil, "below the threshold")
  harness.equal(self.state.passing, 0, "reads that passed")
  leaves(self)
  local answers = {}
  for i = 1, 8 do answers[i] = bypass(self, 9) and "by" or "in" end
  harness.equal(table.concat(answers, " "), "by by by in by by by in", "at it")
  harness.equal(bypass(self, 25), true, "the PC that shares the counter")
  harness.equal(bypass(self, 8), nil, "another PC")
  harness.equal(self.counted.passed, 7, "passed")
  harness.equal(self.counted.probes, 2, "probes")
  hit(self, 1)
  harness.equal(bypass(self, 9), nil, "used again")
end)

harness.test("a stream passes the L1 by, and what it would have replaced stays", function()
  local r = checks.run { workload = "spmv", policy = "adaptive_bypass" }
  local without = checks.run { workload = "spmv", policy = "gto" }
  for _, name in ipairs { "unused", "used", "passed", "probes" } do assert(checks.sum(r, "sm.l1d.adaptive_bypass." .. name) > 0, name) end
  harness.equal(checks.sum(r, "sm.l1d.read_bypasses"), checks.sum(r, "sm.l1d.adaptive_bypass.passed"), "reads that passed by")
  local function rate(of) return (checks.sum(of, "sm.l1d.hits") + checks.sum(of, "sm.l1d.merges")) / checks.sum(of, "sm.l1d.misses") end
  assert(rate(r) > 2 * rate(without), ("hits for each miss: %.2f, without the policy %.2f"):format(rate(r), rate(without)))
end)

harness.test("it acts on any cache", function()
  local r = checks.run { workload = "spmv", policy = "adaptive_bypass:cache=L2,threshold=1", set = { "l2[*].size=16KiB" } }
  assert(checks.sum(r, "l2.adaptive_bypass.passed") > 0)
  harness.equal(checks.sum(r, "l2.read_bypasses"), checks.sum(r, "l2.adaptive_bypass.passed"), "reads that passed by")
end)

checks.equals("adaptive_bypass:threshold=16", "gto", "kmeans")
checks.law("adaptive_bypass", "spmv")
checks.resumes("adaptive_bypass", "bfs", 2)

harness.finish()
