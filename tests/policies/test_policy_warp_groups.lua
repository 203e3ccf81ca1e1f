-- Warp-aware memory scheduling: what is left of each warp, and whose request a bank serves.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local load = require "warpwright.load"
local runs = require "tests.lib.policy_runs"

local functions = load.get("policy", "warp_groups").functions

--- An instance in front of these waiting requests, the oldest first: { sm =, warp =, bank =, write =, waited = }.
local function instance(requests, params)
  local self = setmetatable({ params = params or { row_hits = true, threshold = 100 }, state = {}, counters = {} }, { __index = functions })
  self.count = function(_, name) self.counters[name] = (self.counters[name] or 0) + 1 end
  self.mc = {
    request = function(_, _, rank)
      local r = requests[rank + 1]
      return r.sm or 0, r.warp, 0, r.bank, 0, r.write or false, r.waited or 0, 0
    end,
  }
  self:start()
  for _, r in ipairs(requests) do self:on_arrived(r.sm or 0, r.warp, 0, r.write and 1 or 0) end
  return self
end

local function pick(self, requests, row_hits) return self:pick(0, requests, row_hits or 0) end

--- Of warps 5 and 6 two and one reads for bank 3, and of warp 5 one for bank 4.
local function two_warps() return { { warp = 5, bank = 3 }, { warp = 6, bank = 3 }, { warp = 5, bank = 4 } } end

harness.test("a read adds one to what is left of its warp, and one that is served takes it away", function()
  local self = instance {}
  local left = self.state.left
  harness.equal(next(left), nil, "before")
  self:on_arrived(2, 7, 0, 0)
  self:on_arrived(2, 7, 0, 0)
  self:on_arrived(3, 7, 0, 0)
  harness.equal(left[2 << 16 | 7], 2, "of sm 2 warp 7")
  harness.equal(left[3 << 16 | 7], 1, "of sm 3 warp 7")
  self:on_served(2, 7, 0, 0)
  harness.equal(left[2 << 16 | 7], 1, "of sm 2 warp 7")
  self:on_served(2, 7, 0, 0)
  self:on_served(3, 7, 0, 0)
  harness.equal(next(left), nil, "after the last")
end)

harness.test("writes are of no warp, and what is served of a warp that nobody knows leaves nothing", function()
  local self = instance {}
  self:on_arrived(2, 7, 0, 1)
  harness.equal(next(self.state.left), nil, "a write")
  self:on_arrived(2, 7, 0, 0)
  self:on_served(2, 7, 0, 1)
  harness.equal(self.state.left[2 << 16 | 7], 1, "when a write-back of its line is served")
  self:on_served(4, 1, 0, 0)
  harness.equal(self.state.left[4 << 16 | 1], nil, "of a read that came before the policy")
end)

harness.test("a bank serves the warp with the fewest left, the others what they have, and equals go by age", function()
  local self = instance(two_warps())
  harness.equal(pick(self, 7), 6, "warp 6 has one, warp 5 two")
  harness.equal(self.counters.reordered, 1, "reordered")
  self:on_served(0, 5, 0, 0)
  harness.equal(pick(self, 7), 5, "both have one: the oldest")
  harness.equal(self.counters.reordered, 1, "reordered")
end)

harness.test("only what may be served is chosen, and what may not still counts as left", function()
  local self = instance(two_warps())
  harness.equal(pick(self, 3), 2, "without bank 4")
  harness.equal(pick(self, 5), 5, "without warp 6")
end)

harness.test("row hits go before shorter warps, unless the parameter says otherwise", function()
  harness.equal(pick(instance(two_warps()), 7, 1), 5, "hit of the longer warp")
  harness.equal(pick(instance(two_warps()), 7, 3), 6, "two hits")
  harness.equal(pick(instance(two_warps(), { row_hits = false, threshold = 100 }), 7, 1), 6, "without row_hits")
end)

harness.test("a request that has waited too long goes before row hits and shorter warps", function()
  local requests = two_warps()
  requests[1].waited = 100
  harness.equal(pick(instance(requests), 3, 2), 2, "at the limit")
  requests[1].waited = 101
  local self = instance(requests)
  harness.equal(pick(self, 3, 2), 1, "beyond it")
  harness.equal(self.counters.aged, 1, "aged")
end)

harness.test("writes wait for the reads of their bank, and go when there are none", function()
  local self = instance { { warp = 6, bank = 3, write = true }, { warp = 5, bank = 3 }, { warp = 5, bank = 3 }, { warp = 1, bank = 4, write = true } }
  harness.equal(pick(self, 15), 10, "with reads")
  harness.equal(pick(self, 9), 9, "without")
end)

harness.test("what is left of a warp is what waits of it at the controller", function()
  -- requests come one by one, the last thing in a cycle
  local path = runs.file("watcher", [[
local load = require "warpwright.load"
local groups = load.get("policy", "warp_groups").functions
local p = policy "watcher" { scope = "mc", counters = { one = "", several = "", write_backs = "" } }
p.start, p.on_served = groups.start, groups.on_served
function p:on_arrived(...)
  groups.on_arrived(self, ...)
  local backs, of_warps = self.mc:write_backs(0), 0
  for rank = 0, 63 do
    local sm, warp, _, _, _, write = self.mc:request(0, rank)
    if not sm then break end
    local own, left = self.mc:of_warp(0, sm, warp), self.state.left[sm << 16 | warp] or 0
    assert(bits.has(backs, rank) == write and bits.has(own, rank) == not write)
    assert(bits.count(own) == left, left)
    of_warps = of_warps | own
    self:count(left > 1 and "several" or "one")
  end
  assert(of_warps & backs == 0)
  self:count("write_backs", bits.count(backs))
end
return p]])
  local r = runs.good { policy = path, workload = "kmeans", set = { "sms=2", "partitions=2", "l2[*].size=16KiB" } }
  for _, name in ipairs { "one", "several", "write_backs" } do assert(runs.stat(r, "mc[0].watcher." .. name) > 0, name) end
end)

harness.test("it changes the order in which a machine's requests are served", function()
  local r = runs.good { policy = "warp_groups:threshold=20", workload = "spmv", set = { "sms=4", "partitions=2" } }
  for mc = 0, 1 do
    for _, name in ipairs { "reordered", "aged" } do assert(runs.stat(r, ("mc[%d].warp_groups.%s"):format(mc, name)) > 0, name) end
  end
end)

checks.law("warp_groups", "spmv", { "sms=4", "partitions=2" })
checks.resumes("warp_groups", "bfs", 2)
checks.takes_over("warp_groups", "gto", "spmv", 3000)

harness.finish()
