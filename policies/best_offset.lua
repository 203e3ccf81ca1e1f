-- Best-Offset prefetching (Michaud, "Best-Offset Hardware Prefetching", HPCA 2016): a miss on line X, or the first access to a
-- prefetched line X, fetches line X + D, and learns: it tests one offset d of a list, whose score goes up if X - d is among the
-- recent requests. A prefetched line Y that comes makes Y - D one of these: so an offset scores if a prefetch with it would
-- have come in time. At the end of a round through the list in which a score has reached `score`, or after `rounds` rounds, the
-- offset with the best score becomes D; a best score of up to `bad` turns prefetching off, while lines that misses fetch are
-- entered as they are, and learning goes on. Prefetches stay in the page. The list are the numbers up to 256 without a prime
-- factor above 5. The table of recent requests is direct-mapped, with partial tags, as in the paper.
-- As we know it; the text was not at hand. The paper has it at an L2 of a CPU, with pages of 4 KiB and 4 MiB. Ours: the pages of
-- 64 KiB; that writes ask for nothing, since an L1 takes no lines for them; and that a fill without a PC is one of a prefetch.
local policy = require "warpwright.policy"

local best_offset = policy "best_offset" {
  doc = "Prefetches at the offset that would have come in time most often",
  scope = "cache",
  caches = "data",
  params = {
    recent = { 256, min = 1, max = 65536, doc = "Entries of the table of recent requests, a power of two" },
    most = { 256, min = 1, max = 4096, doc = "Offsets, in lines, up to this one are tried" },
    score = { 31, min = 1, max = 65536, doc = "Score that ends a learning phase" },
    rounds = { 100, min = 1, max = 65536, doc = "Rounds after which a phase ends" },
    bad = { 1, min = 0, max = 65536, doc = "Best score up to which nothing is prefetched" },
    page = { 65536, min = 128, max = 1 << 30, doc = "Bytes of a page, a power of two, which prefetches do not leave" },
    queue = { 8, min = 0, max = 4096, doc = "Prefetches that may wait for the tags of a cache; 0: it takes none" },
    priority = { "own_port", doc = "prefetch_priority of the caches: demand, oldest or own_port" },
    drop = { "oldest", doc = "prefetch_drop of the caches: newest or oldest" },
  },
  counters = { phases = "Learning phases that have ended", off = "Of them, those with a bad best score", offsets = "Sum of the other ones' offsets" },
}

function best_offset:configure(_, path)
  local params = self.params
  if not self:acts_on(path) then return end
  return { prefetch_queue = params.queue, prefetch_priority = params.priority, prefetch_drop = params.drop }
end

local function smooth(number)
  for _, prime in ipairs { 2, 3, 5 } do
    while number % prime == 0 do number = number // prime end
  end
  return number == 1
end

function best_offset:start()
  local state, params = self.state, self.params
  for _, name in ipairs { "recent", "page" } do
    if params[name] & params[name] - 1 ~= 0 then error(("%s: expected a power of two, got %d"):format(name, params[name]), 0) end
  end
  self.offsets = {}
  for number = 1, params.most do
    if smooth(number) then self.offsets[#self.offsets + 1] = number end
  end
  state.recent, state.offset, state.seen = {}, 1, 0 -- offset 0: prefetching is off
  self:begin_phase()
end

-- Recent requests -------------------------------------------------------------------------------------------------------

--- Place and tag of a line: 8 bits of its number are hashed with the next 8, and 12 bits above the first are kept.
function best_offset:entry_of(line)
  local entries, bits = self.params.recent, 0
  while 1 << bits < entries do bits = bits + 1 end
  return (line ~ line >> bits) & entries - 1, line >> bits & 0xfff
end

function best_offset:enter(line)
  local place, tag = self:entry_of(line)
  self.state.recent[place] = tag
end

function best_offset:is_recent(line)
  local place, tag = self:entry_of(line)
  return self.state.recent[place] == tag
end

function best_offset:same_page(one, other)
  local lines = self.params.page // self.cache.line
  return one // lines == other // lines
end

-- Learning --------------------------------------------------------------------------------------------------------------

function best_offset:begin_phase()
  local state = self.state
  state.scores, state.round, state.test = {}, 0, 1
  for i = 1, #self.offsets do state.scores[i] = 0 end
end

function best_offset:end_phase()
  local state, best = self.state, 1
  for i, score in ipairs(state.scores) do
    if score > state.scores[best] then best = i end
  end
  self:count "phases"
  if state.scores[best] > self.params.bad then
    state.offset = self.offsets[best]
    self:count("offsets", state.offset)
  else
    state.offset = 0
    self:count "off"
  end
  self:begin_phase()
end

function best_offset:learn(line)
  local state, params = self.state, self.params
  local test = state.test
  local base = line - self.offsets[test]
  if self:same_page(line, base) and self:is_recent(base) then
    state.scores[test] = state.scores[test] + 1
    if state.scores[test] >= params.score then state.reached = true end
  end
  state.test = test + 1
  if self.offsets[state.test] then return end
  state.test, state.round = 1, state.round + 1
  if state.reached or state.round >= params.rounds then
    state.reached = nil
    self:end_phase()
  end
end

-- Events ----------------------------------------------------------------------------------------------------------------

function best_offset:on_miss(sm, warp, address, _, write)
  if write == 1 then return end
  local bytes = self.cache.line
  local line = address // bytes
  self:learn(line)
  local offset = self.state.offset
  if offset ~= 0 and self:same_page(line, line + offset) then self.cache:prefetch(address + offset * bytes, warp, sm) end
end

--- Was it the first to find what a prefetch had fetched? The cache counts these.
function best_offset:found(sm, warp, address, pc, write)
  local found = self.cache.prefetches_useful + self.cache.prefetches_late
  local first = found ~= self.state.seen
  self.state.seen = found
  if first then self:on_miss(sm, warp, address, pc, write) end
end

best_offset.on_hit, best_offset.on_merge = best_offset.found, best_offset.found

function best_offset:on_fill(_, _, address, pc)
  local line, offset = address // self.cache.line, self.state.offset
  if offset == 0 then
    self:enter(line)
  elseif pc == 0 and self:same_page(line, line - offset) then
    self:enter(line - offset)
  end
end

return best_offset
