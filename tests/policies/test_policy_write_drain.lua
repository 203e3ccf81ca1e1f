-- Write drains: writes wait until `high` of them do, then reads wait until `low` writes are left.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local load = require "warpwright.load"
local runs = require "tests.lib.policy_runs"

local functions = load.get("policy", "write_drain").functions

--- An instance whose queues hold the set of writes `self.waiting`.
local function instance()
  local self = setmetatable({ params = { high = 4, low = 1 }, counters = {}, waiting = 0 }, { __index = functions })
  self.count = function(_, name) self.counters[name] = (self.counters[name] or 0) + 1 end
  self.mc = { writes = function() return self.waiting end }
  self:start()
  return self
end

--- The answer where these requests may be served, of which so many in the queue are writes.
local function pick(self, requests, waiting, queue)
  self.waiting = waiting
  return self:pick(queue or 0, requests, 0, requests & waiting)
end

harness.test("reads go before writes until `high` writes wait, then writes go until `low` are left", function()
  local self = instance()
  harness.equal(next(self.state.draining), nil, "before")
  harness.equal(pick(self, 0xff, 0x07), 0xf8, "three writes: the reads")
  harness.equal(pick(self, 0xff, 0x0f), 0x0f, "four: the writes")
  harness.equal(self.state.draining[0], true, "drains")
  harness.equal(pick(self, 0xff, 0x03), 0x03, "two: still the writes")
  harness.equal(pick(self, 0xff, 0x01), 0xfe, "one: the reads")
  harness.equal(self.state.draining[0], nil, "drains no longer")
  harness.equal(pick(self, 0xff, 0x07), 0xf8, "three again: the reads")
  harness.equal(self.counters.drains, 1, "drains")
  harness.equal(self.counters.reads_held, 2, "choices without reads")
  harness.equal(self.counters.writes_held, 3, "choices without writes")
end)

harness.test("writes go where no read may be served, and reads during a drain where no write may", function()
  local self = instance()
  harness.equal(pick(self, 0x01, 0x01), nil, "a write alone: all")
  harness.equal(pick(self, 0x30, 0x0f), nil, "a drain, reads alone: all")
  harness.equal(self.state.draining[0], true, "drains")
  harness.equal(self.counters.writes_held, nil, "choices without writes")
end)

harness.test("each queue has a drain of its own", function()
  local self = instance()
  harness.equal(pick(self, 0xff, 0x0f, 1), 0x0f, "queue 1 drains")
  harness.equal(pick(self, 0xff, 0x07, 0), 0xf8, "queue 0 does not")
end)

-- Data that a small L2 writes back.
local machine = { "sms=4", "partitions=2", "l2[*].size=16KiB" }

harness.test("a machine's controllers drain their writes", function()
  local r = runs.good { policy = "write_drain:high=16,low=4", workload = "kmeans_transpose", set = machine }
  for mc = 0, 1 do
    for _, name in ipairs { "drains", "reads_held", "writes_held" } do
      assert(runs.stat(r, ("mc[%d].write_drain.%s"):format(mc, name)) > 0, name)
    end
  end
end)

harness.test("the end of a drain lies below its beginning", function()
  local good, problem = pcall(checks.run, { workload = "vecadd", policy = "write_drain:high=8" })
  assert(not good)
  harness.contains(tostring(problem), "policy write_drain of mc[0], in start at cycle 0: low: expected less than high = 8, got 8")
end)

checks.equals("write_drain", "gto", "spmv") -- whose writes stay in the L2
checks.law("write_drain:high=16,low=4", "kmeans_transpose", machine)
checks.resumes("write_drain:high=16,low=4", "kmeans_transpose", 2, machine)

harness.finish()
