-- A global throttle, the simplest coordinator that hears events: while the caches of the whole machine stop many requests for
-- want of a line, an MSHR or room, all SMs run fewer warps; when they hardly stop any, more again. `cache` says which caches:
-- the L1s for data, or L2. Ours, an example of its kind.
local policy = require "warpwright.policy"

local global_throttle = policy "global_throttle" {
  doc = "All SMs run fewer warps while the caches of all of them stop many requests",
  scope = "machine",
  caches = "data",
  params = {
    period = { 2000, min = 16, doc = "Cycles from one decision to the next" },
    high = { 0.5, min = 0, doc = "Requests stopped for each one served above which the limit falls" },
    low = { 0.1, min = 0, doc = "Below which it rises" },
    least = { 4, min = 1, max = 64, doc = "Warps of each scheduler that run at least" },
  },
  period = "period",
  counters = { lowered = "Times that the limit fell", raised = "Times that it rose" },
}

local unlimited <const> = 64

function global_throttle:start() self.state.stopped, self.state.served, self.state.limit = 0, 0, unlimited end

function global_throttle:on_cache_reservation_fail() self.state.stopped = self.state.stopped + 1 end
function global_throttle:on_cache_hit() self.state.served = self.state.served + 1 end
function global_throttle:on_cache_miss() self.state.served = self.state.served + 1 end

function global_throttle:set(limit, counter)
  self.state.limit = limit
  for _, sm in ipairs(self.sms) do sm.warp_limit = limit end
  self:count(counter)
end

function global_throttle:on_period()
  local state, params = self.state, self.params
  local sm = self.sms[1]
  local most = (sm.warps + sm.schedulers - 1) // sm.schedulers -- of a scheduler
  local rate, limit = state.stopped / math.max(1, state.served), math.min(state.limit, most)
  if rate > params.high and limit > params.least then
    self:set(limit - 1, "lowered")
  elseif rate < params.low and state.limit < most then
    self:set(limit + 1, "raised")
  end
  state.stopped, state.served = 0, 0
end

return global_throttle
