-- Many-thread aware hardware prefetching with throttling (Lee et al., "Many-thread aware prefetching mechanisms for GPGPU
-- applications", MICRO 2010). Three tables predict what a load fetches next:
--   per warp    the stride of a PC in a warp (PWS)
--   global      the stride of a PC that three warps have found: the other warps need no training (GS)
--   inter-warp  the stride of a PC from warp to warp: it fetches for a warp that will come to the load (IP)
-- A global stride goes before one per warp; the inter-warp one is looked up beside them. Throttling counts over a
-- period which part of the prefetched lines left unused before (early evictions, against those that were useful) and which part
-- of the accesses merged: it raises the degree from 0, all prefetches go, to 5, none does, or lowers it. The limits of
-- 0.02, 0.01 and 0.15, the period and the first degree follow the paper as we know it; its text was not at hand.
-- Ours: sizes of tables, the first-in first-out replacement, that a stride counts when it was seen twice running, and that a
-- prefetch which an access finds in flight is not useful. An SM's number is part of the key where SMs share the cache.
local policy = require "warpwright.policy"

local mt_hwp = policy "mt_hwp" {
  doc = "Prefetches along strides of warps, of all warps, and from warp to warp; throttled by their use",
  scope = "cache",
  caches = "data",
  params = {
    entries = { 64, min = 1, max = 65536, doc = "Entries of each table" },
    promote = { 3, min = 1, max = 64, doc = "Warps that make a stride global" },
    throttle = { true, doc = "Send fewer prefetches when they leave unused" },
    first = { 2, min = 0, max = 5, doc = "First degree of throttling: so many fifths of the prefetches are not sent" },
    period = { 100000, min = 16, doc = "Cycles from one change of the degree to the next" },
    high = { 0.02, min = 0, doc = "Early evictions for each useful prefetch above which none is sent" },
    low = { 0.01, min = 0, doc = "Below which the merges decide" },
    merges = { 0.15, min = 0, max = 1, doc = "Part of the accesses that merge above which more are sent" },
    queue = { 16, min = 0, max = 4096, doc = "Prefetches that may wait for the tags of a cache; 0: it takes none" },
  },
  period = "period",
  counters = { per_warp = "Prefetches by the table of warps", global = "By the table of all warps",
    inter_warp = "By the table from warp to warp", throttled = "That were not sent" },
}

local none <const> = 5

function mt_hwp:configure(_, path) return self:acts_on(path) and { prefetch_queue = self.params.queue } or nil end

local function new_table() return { entries = {}, order = {}, next = 1 } end

function mt_hwp:start()
  local state = self.state
  state.per_warp, state.global, state.inter_warp = new_table(), new_table(), new_table()
  state.degree = self.params.throttle and self.params.first or 0
  state.asked, state.before = 0, { useless = 0, useful = 0, merges = 0, accesses = 0 }
end

--- The entry of the key; a new one takes the place of the oldest.
function mt_hwp:entry(of, key)
  local entry = of.entries[key]
  if entry then return entry end
  local oldest = of.order[of.next]
  if oldest then of.entries[oldest] = nil end
  entry = {}
  of.entries[key], of.order[of.next] = entry, key
  of.next = of.next % self.params.entries + 1
  return entry
end

function mt_hwp:send(address, warp, sm, counter)
  local state = self.state
  state.asked = (state.asked + 1) % none
  if state.asked < state.degree then return self:count "throttled" end
  self.cache:prefetch(address, warp, sm)
  self:count(counter)
end

--- Returns the stride of the warp when it has been seen twice running.
function mt_hwp:train_warp(pc, sm, warp, address)
  local entry = self:entry(self.state.per_warp, (pc << 16 | sm) << 6 | warp)
  local step = entry.address and address - entry.address
  local known = step and step ~= 0 and step == entry.stride and step
  entry.address, entry.stride = address, step
  return known or nil
end

--- Enough warps in a row with the same stride make it global.
function mt_hwp:promote(pc, warp, step)
  local entry = self:entry(self.state.global, pc)
  if entry.stride ~= step then
    entry.stride, entry.warps = step, 0
  end
  entry.warps = entry.warps | 1 << warp
end

local function warps_in(set)
  local count = 0
  while set ~= 0 do set, count = set & set - 1, count + 1 end
  return count
end

function mt_hwp:global_stride(pc)
  local entry = self.state.global.entries[pc]
  return entry and warps_in(entry.warps) >= self.params.promote and entry.stride or nil
end

--- Returns the stride from a warp to the next when it has been seen twice running.
function mt_hwp:train_inter_warp(pc, sm, warp, address)
  local entry = self:entry(self.state.inter_warp, pc << 16 | sm)
  local apart = entry.warp and warp - entry.warp or 0
  local step = apart ~= 0 and (address - entry.address) % apart == 0 and (address - entry.address) // apart or nil
  local known = step and step ~= 0 and step == entry.step and step or nil
  if apart ~= 0 or not entry.warp then entry.warp, entry.address, entry.step = warp, address, step end
  return known
end

function mt_hwp:access(sm, warp, address, pc, write)
  if write == 1 then return end
  local own, across = self:train_warp(pc, sm, warp, address), self:train_inter_warp(pc, sm, warp, address)
  if own then self:promote(pc, warp, own) end
  local global = self:global_stride(pc)
  if global then
    self:send(address + global, warp, sm, "global")
  elseif own then
    self:send(address + own, warp, sm, "per_warp")
  end
  if across and warp < 63 then self:send(address + across, warp + 1, sm, "inter_warp") end
end

mt_hwp.on_hit, mt_hwp.on_miss, mt_hwp.on_merge = mt_hwp.access, mt_hwp.access, mt_hwp.access

--- The degree by the rates of early evictions and of merges.
function mt_hwp:on_period()
  local cache, state, params = self.cache, self.state, self.params
  local now = { useless = cache.prefetches_useless, useful = cache.prefetches_useful, merges = cache.merges, accesses = cache.accesses }
  local before = state.before
  state.before = now
  if not params.throttle then return end
  local early = (now.useless - before.useless) / math.max(1, now.useful - before.useful)
  local merged = (now.merges - before.merges) / math.max(1, now.accesses - before.accesses)
  if early > params.high then
    state.degree = none
  elseif early >= params.low or merged <= params.merges then
    state.degree = math.min(state.degree + 1, none)
  else
    state.degree = math.max(state.degree - 1, 0)
  end
end

return mt_hwp
