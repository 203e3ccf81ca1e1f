-- Divergence-aware warp scheduling: which loop a warp is in and with how many lanes, footprints and the cut-off, and what that
-- does for warps that have an L1's lines together.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local load = require "warpwright.load"

local daws = load.get("policy", "daws").functions

-- Branches: 20 goes back to 5; within that loop 12 goes back to 10, 14 goes on at 18, 15 leaves the loop to 30.
local targets <const> = { [20] = 5, [12] = 10, [14] = 18, [15] = 30 }

--- An instance for itself, on an SM whose older warps have lower numbers.
local function instance(room)
  local sm = { live = 0xff, waiting = 0, spinning = 0, may_load = -1 }
  function sm.instruction(_, pc) return "bra", 0, 0, nil, targets[pc] or -1 end
  function sm.oldest(_, set) return set & -set end
  local counted = {}
  local self = setmetatable({ sm = sm, room = room, params = { hits = 2 }, counted = counted }, { __index = daws })
  function self.count(_, name, n) counted[name] = (counted[name] or 0) + (n or 1) end
  self:begin()
  return self
end

local function is_in(self, warp, loop, lanes)
  harness.equal(self.state.inside[warp], loop, "loop")
  harness.equal(self.state.entered >> warp & 1, loop and 1 or 0, "it is among those that are in loops")
  if loop then harness.equal(self.state.lanes[warp], lanes, "lanes") end
end

harness.test("a warp is in the loop whose branch it took back, with the lanes that took it", function()
  local self = instance(100)
  is_in(self, 3, nil)
  self:on_branch(3, 20, 0xffffffff, 0)
  is_in(self, 3, 20, 32)
  self:on_branch(3, 20, 0xff, 0xffffff00)
  is_in(self, 3, 20, 8)
  self:on_branch(3, 20, 0, 0xff)
  is_in(self, 3, nil)
  harness.equal(self.counted.entered .. " " .. self.counted.left, "1 1", "entered and left")
end)

harness.test("behind an inner loop it is in the outer one", function()
  local self = instance(100)
  self:on_branch(3, 12, 0xffff, 0)
  is_in(self, 3, 12, 16)
  self:on_branch(3, 12, 0, 0xffff)
  is_in(self, 3, nil)
  self:on_branch(3, 20, 0xffff, 0)
  self:on_branch(3, 12, 0xff, 0xff00)
  is_in(self, 3, 12, 8)
  self:on_branch(3, 12, 0, 0xffff)
  is_in(self, 3, 20, 16)
end)

harness.test("branches ahead lead out of a loop when all lanes take them beyond its end", function()
  local self = instance(100)
  self:on_branch(3, 20, 0xffff, 0)
  self:on_branch(3, 14, 0xffff, 0)
  self:on_branch(3, 15, 0xff, 0xff00)
  is_in(self, 3, 20, 16)
  self:on_branch(3, 15, 0xff00, 0)
  is_in(self, 3, nil)
end)

harness.test("a load in a loop that is known brings the warp into it, one outside leads out", function()
  local self = instance(100)
  self:on_lsu_coalesced(3, 7, 0, 1)
  is_in(self, 3, nil)
  self:on_branch(1, 20, 0xff, 0)
  self:on_lsu_coalesced(3, 7, 0, 1)
  is_in(self, 3, 20, 32)
  self:on_lsu_coalesced(3, 25, 0, 1)
  is_in(self, 3, nil)
  self:on_lsu_coalesced(3, 7, 1, 1)
  is_in(self, 3, nil) -- a store
  self:on_warp_end(1)
  is_in(self, 1, nil)
end)

--- Warps 0 to 3 are in the loop; its load 7 takes six accesses on average, and has locality.
local function crowded(room)
  local self = instance(room)
  for warp = 0, 3 do
    self:on_branch(warp, 20, 0xffffffff, 0)
    self:on_lsu_coalesced(warp, 7, 0, 4)
    self:on_lsu_coalesced(warp, 7, 0, 8)
    self:on_lsu_coalesced(warp, 8, 0, 32)
  end
  self:on_vta_hit(0, 0, 7)
  harness.equal(self.sm.may_load, -1, "may load before the load has its hits")
  self:on_vta_hit(0, 0, 7)
  return self
end

harness.test("footprints are added up from the oldest warp; those above the cut-off may not load", function()
  harness.equal(crowded(12).sm.may_load, ~0xc, "may load with room for two")
  harness.equal(crowded(23).sm.may_load, ~0x8, "with room for three")
  harness.equal(crowded(24).sm.may_load, -1, "with room for all")
  harness.equal(crowded(0).sm.may_load, ~0xe, "with room for none: the oldest")
end)

harness.test("fewer lanes need fewer lines; who leaves, waits or spins none", function()
  local self = crowded(12)
  self:on_branch(1, 20, 0x7, 0xfffffff8)
  harness.equal(self:footprint(1), 3, "lines of three lanes")
  harness.equal(self.sm.may_load, ~0xc, "may load, 6 + 3 + 6")
  self:on_branch(0, 20, 0x7, 0xfffffff8)
  harness.equal(self.sm.may_load, ~0x8, "may load, 3 + 3 + 6")
  self.sm.waiting = 0x1
  self.sm.spinning = 0x2
  self:on_warps_changed()
  harness.equal(self.sm.may_load, -1, "while two wait or spin")
  self.sm.waiting, self.sm.spinning = 0, 0
  self:on_branch(2, 20, 0, 0xffffffff)
  harness.equal(self.sm.may_load, -1, "without warp 2")
  self:on_kernel_given()
  harness.equal(self.state.entered, 0, "in loops in the next launch")
end)

harness.test("warps that have the L1's lines together hit where they lost all", function()
  local daws_run = checks.run { workload = checks.thrashing, policy = "daws", set = { sms = 1 } }
  local gto = checks.run { workload = checks.thrashing, policy = "gto", set = { sms = 1 } }
  for _, name in ipairs { "entered", "left", "local_loads", "held" } do assert(checks.sum(daws_run, "sm.daws." .. name) > 0, name) end
  harness.equal(checks.sum(daws_run, "sm.daws.local_loads"), 1, "loads with locality")
  assert(daws_run["sm[*].l1d.miss_rate"] < 0.5 * gto["sm[*].l1d.miss_rate"], "miss rate")
  assert(daws_run.cycles < gto.cycles)
end)

checks.equals("daws:hits=1000000000", "gto", "kmeans")
checks.law("daws", "kmeans")
checks.law("daws:hits=1,share=0", "bfs") -- one warp at a time
checks.resumes("daws", "kmeans", 3)
checks.takes_over("daws", "gto", "kmeans", 20000)

harness.finish()
