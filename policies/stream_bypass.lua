-- Bypassing of streaming applications (Khairy et al., section 4.1). Where more than 90% of a period's accesses miss, the
-- cache is switched off and all its accesses bypass it. Its tags are kept up to date as if it were in use, and it is switched
-- on again when their miss rate is below the threshold. Each L1 data cache and each L2 slice decides for itself.
-- The paper does not say which accesses count. Here L1 counts reads, and local writes: it evicts what global writes hit, so
-- these nearly always miss. L2 counts reads: section 3.2 bypasses kernels whose reads all miss there (fast Walsh transform),
-- but which write the lines that they have just read, so that half of all their accesses hit. l2_writes=true is the other
-- reading. A request for a line in flight is no miss, with the cache on as with it off.
local policy = require "warpwright.policy"

local stream_bypass = policy "stream_bypass" {
  doc = "Caches are switched off while more than 90% of their accesses miss",
  scope = "machine",
  params = {
    period = { 10000, min = 1, doc = "Cycles of a sampling period" },
    threshold = { 0.9, min = 0, max = 1, doc = "A higher miss rate switches a cache off, a lower one on" },
    l1 = { true, doc = "Watch the L1 data caches" },
    l2 = { true, doc = "Watch the L2 slices" },
    l2_writes = { false, doc = "Writes count in the L2, too" },
    least = { 1, min = 1, doc = "A period with fewer accesses changes nothing" },
  },
  caches = { "data", when = "l1" },
  period = "period",
  counters = {
    l1_off = "L1 data caches switched off", l1_on = "L1 data caches switched on again",
    l2_off = "L2 slices switched off", l2_on = "L2 slices switched on again",
    l1_off_periods = "Periods, summed over L1 data caches, at whose ends they were off",
    l2_off_periods = "Periods, summed over L2 slices, at whose ends they were off",
  },
}

-- What a cache has counted so far: hits and misses ----------------------------------------------------------------------

local function count_l1(l1)
  local hits = l1.read_hits + l1.read_merges + l1.local_read_hits + l1.local_read_merges + l1.local_write_hits
    + l1.local_write_merges
  return hits + l1.off_hits, l1.read_misses + l1.local_read_misses + l1.local_write_misses + l1.off_misses
end

local function count_l2(l2, writes)
  if writes then return l2.hits + l2.merges + l2.off_hits, l2.misses + l2.off_misses end
  local hits = l2.read_hits + l2.read_merges + l2.local_read_hits + l2.local_read_merges
  return hits + l2.off_read_hits, l2.read_misses + l2.local_read_misses + l2.off_read_misses
end

-- The end of a period ----------------------------------------------------------------------------------------------------

--- `before`: the counts at the end of the last period, by cache.
function stream_bypass:decide(cache, level, before, i, hits, misses)
  local last = before[i] or { 0, 0 }
  local new_hits, new_misses = hits - last[1], misses - last[2]
  before[i] = { hits, misses }
  local total = new_hits + new_misses
  local rate = total >= self.params.least and new_misses / total
  if rate and rate > self.params.threshold and cache.enabled then
    cache.enabled = false
    self:count(level .. "_off")
  elseif rate and rate < self.params.threshold and not cache.enabled then
    cache.enabled = true
    self:count(level .. "_on")
  end
  if not cache.enabled then self:count(level .. "_off_periods") end
end

function stream_bypass:on_period()
  local state, params = self.state, self.params
  state.l1, state.l2 = state.l1 or {}, state.l2 or {}
  for i, l1 in ipairs(params.l1 and self.caches or {}) do self:decide(l1, "l1", state.l1, i, count_l1(l1)) end
  for i, l2 in ipairs(params.l2 and self.l2s or {}) do self:decide(l2, "l2", state.l2, i, count_l2(l2, params.l2_writes)) end
end

return stream_bypass
