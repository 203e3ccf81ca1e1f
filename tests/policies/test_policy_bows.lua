-- Back-off warp spinning: warps that spin go behind the others and wait between their turns, by a delay that follows the share
-- of turns among the instructions.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local runs = require "tests.lib.policy_runs"

local locking = "tests/kernels/locking_kernel.lua"

--- bows with eyes: what a turn does to the warp and to the knob, and a window to the delay.
local watched = runs.file("watched", [[
local load = require "warpwright.load"
local bows = load.get("policy", "bows").functions
local p = policy "watched" {
  order = "gto", period = 1000,
  params = { step = { 250 }, shortest = { 0 }, longest = { 1000 }, share = { 0.1 }, fall = { 0.8 }, window = { 1000 } },
  counters = { turns = "", delayed = "", longer = "", shorter = "", awoken = "", early = "", behind = "", ends = "" },
}
p.start = bows.start

function p:on_spin(warp)
  local state, sm = self.state, self.sm
  assert(bits.has(sm.spinning, warp) and not bits.has(sm.waiting, warp), "it spins, and can issue")
  local begun, delayed = state.begun[warp], self.counters.delayed
  bows.on_spin(self, warp)
  assert(sm.preferred == ~sm.spinning, "the others go first")
  local sleeps = begun and begun + state.delay > self:cycle()
  assert(bits.has(sm.waiting, warp) == (sleeps or false), "it sleeps where its last turn began too lately")
  assert(self.counters.delayed == delayed + (sleeps and 1 or 0))
  if sleeps then assert(state.begun[warp] == begun + state.delay) else assert(state.begun[warp] == self:cycle()) end
  if bits.count(sm.spinning) < bits.count(sm.live) then self:count "behind" end
end

function p:on_issue(warp)
  local begun = self.state.begun[warp]
  if begun and begun > self:cycle() then self:count "early" end
  if begun and begun == self:cycle() then self:count "awoken" end
end

function p:on_spin_end(warp)
  assert(not bits.has(self.sm.spinning, warp))
  bows.on_spin_end(self)
  assert(self.sm.preferred == ~self.sm.spinning)
  self:count "ends"
end

function p:on_period()
  local state = self.state
  local before, turns, all, useful = state.delay, state.turns, self.sm.warp_instructions - state.issued, state.useful
  bows.on_period(self)
  local want = before + (turns > 0.1 * all and 250 or -250)
  if turns > 0 and (all - turns) / turns < 0.8 * useful then want = want - 500 end
  assert(state.delay == math.max(0, math.min(1000, want)) and state.turns == 0)
end

return p
]])

harness.test("a turn puts its warp behind the others, and to sleep until the delay has passed; windows change the delay", function()
  local r = checks.run { workload = locking, policy = watched }
  for _, name in ipairs { "turns", "delayed", "longer", "shorter", "behind", "ends", "awoken" } do
    assert(checks.sum(r, "sm.watched." .. name) > 0, name)
  end
  harness.equal(checks.sum(r, "sm.watched.early"), 0, "issues before the delay had passed")
end)

harness.test("warps that spin on the locks of a hash table leave it to the others", function()
  local bows = checks.run { workload = locking, size = "medium", policy = "bows" }
  for _, other in ipairs { "gto", "lrr" } do
    local r = checks.run { workload = locking, size = "medium", policy = other }
    assert(r.cycles > 1.5 * bows.cycles, ("%d cycles, %d under %s"):format(bows.cycles, r.cycles, other))
    assert(r.warp_instructions > 1.5 * bows.warp_instructions)
  end
end)

harness.test("a limit of warps leaves places to those that others wait for", function()
  for _, limit in ipairs { 1, 2 } do
    checks.run { workload = locking, policy = ("swl:limit=%d"):format(limit), max_cycles = 1000000 }
  end
end)

--- Each warp that issues for the first time is to sleep for 500 cycles.
local sleepy = runs.file("sleepy", [[
local sleepy = policy "sleepy" { order = "gto", counters = { asleep = "", early = "", again = "" } }
function sleepy:on_issue(warp)
  local wakes = self.state[warp]
  if wakes and self:cycle() < wakes then self:count "early" end
  if wakes or bits.has(self.sm.waiting, warp) or not bits.has(self.sm.live, warp) then return end
  self.state[warp] = self:cycle() + 500
  assert(self.sm:sleep(warp, 500) and bits.has(self.sm.waiting, warp))
  self:count "asleep"
  if self.sm:sleep(warp, 1) then self:count "again" end
end
return sleepy
]])

harness.test("a warp that a hook lets sleep issues nothing until then", function()
  local r = checks.run { workload = "vecadd", policy = sleepy }
  assert(checks.sum(r, "sm.sleepy.asleep") > 0)
  harness.equal(checks.sum(r, "sm.sleepy.early") + checks.sum(r, "sm.sleepy.again"), 0, "issues in its sleep, second sleeps")
end)

harness.test("a question, and a sleep that is none, are refused", function()
  local asks = runs.file("asks", [[
local asks = policy "asks" { order = "gto" }
function asks:pick(_, ready) self.sm:sleep(bits.lowest(ready), 5) end
return asks
]])
  local status, output = runs.run { workload = "vecadd", policy = asks }
  harness.equal(status, 2, "exit status")
  harness.contains(output, "asks.lua:4: ", "sleep: expected a call from a hook, got one from a question")
  local none = runs.file("none", [[
local none = policy "none" { order = "gto" }
function none:on_issue(warp) self.sm:sleep(warp, 0) end
return none
]])
  status, output = runs.run { workload = "vecadd", policy = none }
  harness.equal(status, 2, "exit status")
  harness.contains(output, "none.lua:4: ", "1 to 1048576")
end)

checks.equals("bows", "gto", "kmeans")
checks.equals("bows:step=0", "gto", "sgemm")
checks.law("bows", locking)
checks.law("swl:limit=1", locking)
checks.resumes("bows", locking, 4)
checks.resumes("swl:limit=1", locking, 2)

harness.finish()
