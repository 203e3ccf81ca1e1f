-- Stride prefetching: a table by PC with the last address, the stride and how often it was seen again (the reference prediction
-- table of Baer and Chen, "An effective on-chip preloading scheme to reduce data access penalty", Supercomputing
-- 1991). Warps interleave, so each warp trains an entry of its own (Lee et al., "Many-thread aware prefetching mechanisms for
-- GPGPU applications", MICRO 2010). Where the papers have states, here is a counter: an access with the same stride
-- adds 1 to the confidence, another takes 1 away, and at 0 replaces the stride. At the threshold, the lines `distance` strides
-- ahead are fetched. The oldest entry makes room. An instruction that has several accesses trains with each of them.
local policy = require "warpwright.policy"

local stride = policy "stride" {
  doc = "Prefetches along the stride of each warp's loads",
  scope = "cache",
  caches = "data",
  params = {
    entries = { 256, min = 1, max = 65536, doc = "Pairs of PC and warp that are remembered" },
    confidence = { 2, min = 1, max = 16, doc = "Times that a stride must be seen again" },
    degree = { 1, min = 1, max = 16, doc = "Prefetches for an access" },
    distance = { 1, min = 1, max = 256, doc = "Strides from the access to the first of them" },
    queue = { 16, min = 0, max = 4096, doc = "Prefetches that may wait for the tags of a cache; 0: it takes none" },
  },
}

function stride:configure(_, path) return self:acts_on(path) and { prefetch_queue = self.params.queue } or nil end

function stride:start() self.state.entries, self.state.order, self.state.next = {}, {}, 1 end

--- A new entry takes the place of the oldest.
function stride:enter(key, address)
  local state = self.state
  local oldest = state.order[state.next]
  if oldest then state.entries[oldest] = nil end
  state.order[state.next] = key
  state.next = state.next % self.params.entries + 1
  state.entries[key] = { address = address, stride = 0, confidence = 0 }
end

function stride:train(entry, address)
  local step = address - entry.address
  entry.address = address
  if step == entry.stride then
    entry.confidence = math.min(entry.confidence + 1, self.params.confidence)
  elseif entry.confidence > 0 then
    entry.confidence = entry.confidence - 1
  else
    entry.stride = step
  end
  return step ~= 0 and step == entry.stride and entry.confidence >= self.params.confidence
end

function stride:access(sm, warp, address, pc, write)
  if write == 1 then return end
  local key = (pc << 16 | sm) << 6 | warp
  local entry = self.state.entries[key]
  if not entry then return self:enter(key, address) end
  if not self:train(entry, address) then return end
  local params = self.params
  for i = 0, params.degree - 1 do
    self.cache:prefetch(address + (params.distance + i) * entry.stride, warp, sm)
  end
end

stride.on_hit, stride.on_miss, stride.on_merge = stride.access, stride.access, stride.access

return stride
