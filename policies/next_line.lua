-- Prefetching of the next lines on a miss (one-block lookahead: Smith, "Cache Memories", ACM Computing Surveys 1982).
-- With `tagged` the first access that finds a prefetched line asks for the lines behind it, too, so that a stream that is
-- prefetched goes on being prefetched. The paper has one line ahead; `degree` and `distance` are ours, and that writes ask for
-- nothing, since an L1 takes no lines for them.
-- `cache` says which caches do so. An L2 slice has only lines of its own: those of others are dropped.
local policy = require "warpwright.policy"

local next_line = policy "next_line" {
  doc = "A read that misses fetches the next lines, too",
  scope = "cache",
  caches = "data",
  params = {
    degree = { 1, min = 1, max = 16, doc = "Lines that are prefetched" },
    distance = { 1, min = 1, max = 1024, doc = "Lines from the miss to the first of them" },
    tagged = { true, doc = "So does the first access to a prefetched line" },
    queue = { 16, min = 0, max = 4096, doc = "Prefetches that may wait for the tags of a cache; 0: it takes none" },
  },
}

function next_line:configure(_, path) return self:acts_on(path) and { prefetch_queue = self.params.queue } or nil end

function next_line:start() self.state.seen = 0 end

function next_line:ahead(sm, warp, address, _, write)
  if write == 1 then return end
  local cache, params = self.cache, self.params
  local line = cache.line
  for i = 0, params.degree - 1 do cache:prefetch(address + (params.distance + i) * line, warp, sm) end
end

next_line.on_miss = next_line.ahead

--- Was it the first to find what a prefetch had fetched? The cache counts these.
function next_line:found(sm, warp, address, pc, write)
  if not self.params.tagged then return end
  local found = self.cache.prefetches_useful + self.cache.prefetches_late
  if found ~= self.state.seen then self:ahead(sm, warp, address, pc, write) end
  self.state.seen = found
end

next_line.on_hit, next_line.on_merge = next_line.found, next_line.found

return next_line
