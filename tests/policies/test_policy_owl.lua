-- CTA-aware scheduling: which group of CTAs goes first, when the next one does, and that it does go first; one group of all
-- CTAs is round robin, byte for byte.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"

local own_rows = { "%.owl%." }

-- 30 CTAs of four warps for each SM, which holds eight: groups are of two slots, 0 to 3.
local function many(policy)
  return checks.run { workload = checks.thrashing, size = "many", policy = policy, set = { sms = 4 } }
end

local observer = harness.write("observer.lua", [[
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"
local observer = policy "observer" {
  doc = "Watches owl",
  counters = { picks = "", wrong = "", first_group = "", turns = "", early = "", late = "", odd_turns = "" },
}

local function group_of(set) return bits.lowest(set) // 8 end
local function slots_of(group) return 3 << 2 * group end

--- The ready warps have been narrowed to the preferred ones, if any of them is ready.
function observer:pick(_, ready)
  local preferred = ready & self.sm.preferred
  if preferred == 0 then return end
  self:count "picks"
  if preferred ~= ready then self:count "wrong" end
end

function observer:on_kernel_given()
  local state = self.state
  state.resident, state.group, state.seen, state.left = 0, group_of(self.sm.preferred), 0, 0
  self:count("first_group", state.group - self.counters.first_group)
end

--- A group is done when the first CTA of each slot under its priority has ended.
function observer:on_cta_start(slot)
  local state, slot_bit = self.state, bits.of(slot)
  state.resident = state.resident | slot_bit
  if slots_of(state.group) & slot_bit & ~state.seen ~= 0 then
    state.seen, state.left = state.seen | slot_bit, state.left | slot_bit
  end
end

--- Handles it after owl, which has set the knob.
function observer:on_cta_end(slot)
  local state, group = self.state, group_of(self.sm.preferred)
  state.resident = state.resident & ~bits.of(slot)
  state.left = state.left & ~bits.of(slot)
  local next_group = state.group
  for i = 3, 1, -1 do
    local other = (state.group + i) % 4
    if state.resident & slots_of(other) ~= 0 then next_group = other end
  end
  if group == state.group then
    if state.left == 0 and next_group ~= group then self:count "late" end
    return
  end
  self:count "turns"
  if state.left ~= 0 then self:count "early" end
  if group ~= next_group then self:count "odd_turns" end
  state.group, state.seen = group, slots_of(group) & state.resident
  state.left = state.seen
end

return observer
]])

harness.test("the preferred group goes first until its CTAs have ended, and then the next", function()
  local r = many("owl+" .. observer)
  for i = 0, 3 do harness.equal(r[("sm[%d].observer.first_group"):format(i)], i, "first group of SM " .. i) end
  local function sum(name) return checks.sum(r, "sm.observer." .. name) end
  assert(sum "picks" > 1000, "too few picks to tell")
  harness.equal(sum "wrong", 0, "picks of others while a preferred warp was ready")
  assert(sum "turns" > 20, "too few turns to tell")
  harness.equal(sum "turns" + 4, checks.sum(r, "sm.owl.groups"), "groups")
  harness.equal(sum "early", 0, "turns before the group was done")
  harness.equal(sum "late", 0, "groups that were done and kept their priority")
  harness.equal(sum "odd_turns", 0, "turns to another group than the next with a CTA")
end)

harness.test("a shorter turn passes the priority on before the group is done", function()
  assert(checks.sum(many "owl:turn=500", "sm.owl.groups") > 2 * checks.sum(many "owl", "sm.owl.groups"))
end)

harness.test("a group has CTAs enough for so many warps", function()
  local one, two = many "owl:group_warps=4", many "owl:group_warps=5"
  harness.equal(checks.text_of(two, own_rows), checks.text_of(many "owl:group_warps=8", own_rows), "stats")
  assert(checks.sum(one, "sm.owl.groups") > checks.sum(two, "sm.owl.groups"))
end)

for _, workload in ipairs { "kmeans", "sgemm", "vecadd" } do
  checks.equals("owl:group_warps=64", "lrr", workload)
end
for _, workload in ipairs { "kmeans", "bfs" } do checks.law("owl", workload) end
checks.law("owl:turn=1000", "spmv")
checks.resumes("owl:turn=3000", "kmeans", 4)
checks.resumes("owl", "bfs", 3)
checks.takes_over("owl", "gto", "bfs", 20000)
checks.takes_over("gto", "owl", "bfs", 20000)

harness.finish()
