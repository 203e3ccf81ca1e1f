-- DYNCTA: how many CTAs an SM runs follows what it waited for; the youngest are paused.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local runs = require "tests.lib.policy_runs"

local stat = runs.stat
local machine = { "sms=2", "partitions=2" }

--- dyncta with eyes: what it found, what it decided, and who may issue then.
local watched = runs.file("watched", [[
local load = require "warpwright.load"
local dyncta = load.get("policy", "dyncta").functions
local p = policy "watched" {
  order = "gto", period = 2048,
  params = { idle = { 16 }, low = { 128 }, high = { 384 } },
  counters = { more = "", fewer = "", idle = "", waits_little = "", waits_long = "", between = "", paused = "", halves = "" },
}
for _, name in ipairs { "start", "on_kernel_given", "measure" } do p[name] = dyncta[name] end
function p:on_kernel_given()
  dyncta.on_kernel_given(self)
  assert(self.state.ctas == math.max(1, self.sm:ctas_per_sm() // 2))
  self:count "halves"
end
function p:pause()
  dyncta.pause(self)
  local sm = self.sm
  local ctas, seen = 0, 0
  for warp in bits.each(sm.may_issue) do
    if not bits.has(seen, warp) then
      ctas, seen = ctas + 1, seen | sm:cta_warps(warp)
    end
  end
  local held = 0
  seen = 0
  for warp in bits.each(sm.live) do
    if not bits.has(seen, warp) then held, seen = held + 1, seen | sm:cta_warps(warp) end
  end
  assert(ctas == math.min(self.state.ctas, held), "other CTAs than so many run")
  local paused = sm.live & ~sm.may_issue
  if paused ~= 0 then
    local oldest_paused = sm:oldest(paused, 1)
    assert(sm:oldest(oldest_paused | sm.live & sm.may_issue, bits.count(sm.live & sm.may_issue)) & oldest_paused == 0, "an older one is paused")
    self:count "paused"
  end
end
function p:on_cta_start() self:pause() end
function p:on_cta_end() self:pause() end
function p:on_period()
  local s, sm = self.state, self.sm
  local before, idle, memory = s.ctas, sm.slots_idle - s.idle, sm.slots_memory + sm.slots_lsu - s.memory
  idle, memory = idle // sm.schedulers, memory // sm.schedulers
  assert(idle >= 0 and memory >= 0 and idle + memory <= 2048 + 16)
  dyncta.on_period(self)
  local most = sm:ctas_per_sm()
  if idle >= 16 then
    assert(s.ctas == math.min(before + 1, most))
    self:count "idle"
  elseif memory < 128 then
    assert(s.ctas == math.min(before + 1, most))
    self:count "waits_little"
  elseif memory >= 384 then
    assert(s.ctas == math.max(before - 1, 1))
    self:count "waits_long"
  else
    assert(s.ctas == before)
    self:count "between"
  end
end
return p]])

harness.test("waiting for memory takes a CTA away, idling and waiting little give one, and the youngest are paused", function()
  local all = {}
  for _, workload in ipairs { "kmeans", "sgemm", "spmv" } do
    local r = runs.good { policy = watched, workload = workload, set = machine }
    for _, name in ipairs { "idle", "waits_little", "waits_long", "between", "paused", "halves", "more", "fewer" } do
      all[name] = (all[name] or 0) + stat(r, "sm[0].watched." .. name)
    end
    local own = runs.good { policy = "dyncta", workload = workload, set = machine }
    for _, name in ipairs { "more", "fewer" } do
      harness.equal(stat(own, "sm[1].dyncta." .. name), stat(r, "sm[1].watched." .. name), workload .. " " .. name)
    end
  end
  for name, count in pairs(all) do assert(count > 0, name .. " never happened") end
end)

harness.test("fewer CTAs hit more often in the L1", function()
  local r, gto = checks.run { workload = "kmeans", policy = "dyncta" }, checks.run { workload = "kmeans", policy = "gto" }
  assert(r["sm[*].l1d.miss_rate"] < gto["sm[*].l1d.miss_rate"] and r["sm[*].slots_policy"] > 0)
end)

checks.law("dyncta", "kmeans", machine)
checks.resumes("dyncta", "bfs", 2)

harness.finish()
