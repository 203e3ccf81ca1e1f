-- Counts the misses that prefetching has caused (pollution: Srinath et al., "Feedback Directed Prefetching", HPCA 2007): those of
-- lines that a prefetch, of this cache or of one above, has replaced, and that nothing has brought back since. The paper has a
-- filter of 4,096 bits, which forgets and confuses lines; here every line is remembered, the last `lines` of them.
-- Named behind the prefetcher: `stride+pollution`. Accuracy, coverage and lateness are counters of the caches.
local policy = require "warpwright.policy"

local pollution = policy "pollution" {
  doc = "Counts misses of lines that prefetches have replaced",
  scope = "cache",
  caches = "data",
  params = { lines = { 65536, min = 1, max = 1 << 20, doc = "Lines that are remembered" } },
  counters = { replaced = "Lines that prefetches replaced", misses = "Misses of such lines, the first of each" },
}

function pollution:start()
  local state = self.state
  state.place, state.order, state.next = {}, {}, 1
end

--- The line that was replaced longest ago makes room.
function pollution:remember(line)
  local state = self.state
  local oldest = state.order[state.next]
  if oldest and state.place[oldest] == state.next then state.place[oldest] = nil end
  state.place[line], state.order[state.next] = state.next, line
  state.next = state.next % self.params.lines + 1
end

function pollution:insertion(_, _, _, _, address, _, _, _, prefetch, gone)
  local place, line = self.state.place, address // self.cache.line
  if place[line] and prefetch == 0 then self:count "misses" end
  place[line] = nil
  if prefetch == 0 or gone < 0 then return end
  self:count "replaced"
  self:remember(gone // self.cache.line)
end

return pollution
