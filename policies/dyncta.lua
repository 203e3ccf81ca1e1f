-- DYNCTA (O. Kayiran, A. Jog, M. Kandemir, C. Das, "Neither More Nor Less: Optimizing Thread-level Parallelism for GPGPUs",
-- PACT 2013): each SM finds out, period by period, how many of its CTAs should run. It starts with half of those that fit; one
-- more where it was idle, or seldom waited for memory with all its warps; one less where it often did. The youngest of the
-- CTAs that it holds are paused: their warps do not issue until an older one ends, or the number rises.
--
-- The period and the three bounds are the paper's, in cycles of an SM; with several schedulers, a cycle in which one of them
-- has no warp, or waits, counts for its part. That a cycle in which the load/store unit takes nothing counts as one that waits
-- for memory, and that the number is found anew with each kernel that an SM gets, is our choice. A paused warp that is ready, beside others
-- that wait, makes the slot one that is lost to the policy: it is not counted as waiting.
local policy = require "warpwright.policy"

local dyncta = policy "dyncta" {
  doc = "Each SM runs as many of its CTAs as waiting for memory asks for, and pauses the youngest",
  order = "gto",
  params = {
    period = { 2048, min = 16, doc = "Cycles from one decision to the next" },
    idle = { 16, min = 0, doc = "Cycles of a period without a warp from which one CTA more runs" },
    low = { 128, min = 0, doc = "Cycles in which all warps wait for memory below which one more runs" },
    high = { 384, min = 0, doc = "From which one less runs" },
  },
  period = "period",
  counters = { more = "Decisions for one CTA more", fewer = "Decisions for one less" },
}

function dyncta:start() self.state = { ctas = 1, idle = 0, memory = 0 } end

function dyncta:on_kernel_given()
  self.state.ctas = math.max(1, self.sm:ctas_per_sm() // 2)
  self:pause()
end

--- All but the oldest CTAs, as many as may run.
function dyncta:pause() self.sm.may_issue = self.sm:oldest_ctas(self.state.ctas) end

dyncta.on_cta_start = dyncta.pause
dyncta.on_cta_end = dyncta.pause

--- Cycles of the period that is over: without a warp, and with all of them waiting for memory.
function dyncta:measure()
  local sm, state = self.sm, self.state
  local idle, memory = sm.slots_idle, sm.slots_memory + sm.slots_lsu
  local idle_cycles, memory_cycles = (idle - state.idle) // sm.schedulers, (memory - state.memory) // sm.schedulers
  state.idle, state.memory = idle, memory
  return idle_cycles, memory_cycles
end

function dyncta:on_period()
  local state, params = self.state, self.params
  local idle, memory = self:measure()
  if idle >= params.idle or memory < params.low then
    if state.ctas >= self.sm:ctas_per_sm() then return end
    state.ctas = state.ctas + 1
    self:count "more"
  elseif memory >= params.high and state.ctas > 1 then
    state.ctas = state.ctas - 1
    self:count "fewer"
  end
  self:pause()
end

return dyncta
