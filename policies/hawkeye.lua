-- Hawkeye (Jain, Lin, "Back to the Future: Leveraging Belady's Algorithm for Improved Cache Replacement", ISCA 2016). In some sets
-- OPTgen finds out for each access whether Belady's algorithm would have hit: a line used again would have stayed if, at all times
-- between the two uses, fewer lines than the set has ways are kept so. That trains a counter of the PC that had used the line
-- before. Lines of a PC whose counter is in its lower half are averse and go first; of the others the oldest goes, and its PC is
-- trained down where the set is sampled.
--
-- As we know it, from the paper and its code for the second cache replacement championship: a history of 8 times the ways;
-- counters of 3 bits that begin in the middle, unknown PCs are friendly; predictions of 3 bits, 7 for averse lines, 0 for
-- friendly ones, which age by one when another friendly line enters, but not while one of them has 6; a use that is further back
-- than the history trains down. Ours: each cache, or slice of an L2, has counters of its own, by PC without a hash; one set in
-- `sampled` is sampled; merges count as hits; what prefetches bring is of PC 0 and is no access; a cache that takes lines when
-- they come, `allocate = "fill"`, uses them first as they enter.
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"

local hawkeye = policy "hawkeye" {
  doc = "Lines stay whose instruction brings what Belady's algorithm would keep",
  scope = "cache",
  caches = "last",
  params = {
    sampled = { 4, min = 1, max = 65536, doc = "One set in so many is sampled" },
    history = { 8, min = 1, max = 64, doc = "Accesses that OPTgen looks back, in times the ways" },
    bits = { 3, min = 1, max = 16, doc = "Of each counter" },
    decide = { true, doc = "false: the cache replaces as it would, and only the counters are there" },
  },
  counters = {
    opt_hits = "Accesses to sampled sets that Belady's algorithm would hit", opt_misses = "Accesses that it would miss, first ones apart",
    averse = "Lines that entered or were used as averse", friendly = "Lines that entered or were used as friendly",
    detrained = "Friendly lines of sampled sets that were replaced",
  },
}

local distant <const> = 7

function hawkeye:start()
  self.middle, self.most = 1 << self.params.bits - 1, (1 << self.params.bits) - 1
  self.state = { counter = {}, sampled = {}, prediction = {}, pc = {}, address = {} }
end

--- Moves the counter of a PC.
function hawkeye:train(pc, by)
  local counter = self.state.counter
  counter[pc] = math.max(0, math.min((counter[pc] or self.middle) + by, self.most))
end

function hawkeye:is_averse(pc) return (self.state.counter[pc] or self.middle) < self.middle end

-- OPTgen ---------------------------------------------------------------------------------------------------------------

--- What has been used longer ago than the history is forgotten from time to time.
local function forget(sample, history)
  local old = {}
  for line, time in pairs(sample.time) do
    if sample.now - time > history then old[#old + 1] = line end
  end
  for _, line in ipairs(old) do sample.time[line], sample.pc[line] = nil, nil end -- in any order
end

--- Would the line, used at this time before, have stayed? Then its place counts from there to now.
local function stays(sample, from, ways, history)
  for time = from, sample.now - 1 do
    if sample.kept[time % history] >= ways then return false end
  end
  for time = from, sample.now - 1 do sample.kept[time % history] = sample.kept[time % history] + 1 end
  return true
end

--- An access of a sampled set.
function hawkeye:sample(set, line, pc)
  local samples, ways = self.state.sampled, self.cache.ways
  local history = ways * self.params.history
  local sample = samples[set]
  if not sample then
    sample = { now = 0, time = {}, pc = {}, kept = {} }
    for time = 0, history - 1 do sample.kept[time] = 0 end
    samples[set] = sample
  end
  local before = sample.time[line]
  if before then
    local is_hit = sample.now - before < history and stays(sample, before, ways, history)
    self:count(is_hit and "opt_hits" or "opt_misses")
    self:train(sample.pc[line], is_hit and 1 or -1)
  end
  sample.time[line], sample.pc[line], sample.kept[sample.now % history] = sample.now, pc, 0
  sample.now = sample.now + 1
  if sample.now % (4 * history) == 0 then forget(sample, history) end
end

-- Lines ----------------------------------------------------------------------------------------------------------------

--- Where a line stands, its prediction and the PC that used it last.
function hawkeye:index_of(set, way) return 1 + set * self.cache.ways + way end

--- A friendly line has entered: others are older than it, as long as none is the oldest.
function hawkeye:age(set)
  local prediction, ways = self.state.prediction, self.cache.ways
  for way = 0, ways - 1 do
    if prediction[self:index_of(set, way)] == distant - 1 then return end
  end
  for way = 0, ways - 1 do
    local place = self:index_of(set, way)
    if prediction[place] and prediction[place] < distant - 1 then prediction[place] = prediction[place] + 1 end
  end
end

function hawkeye:use(set, way, line, pc)
  local state, place = self.state, self:index_of(set, way)
  local enters, is_averse = state.address[place] ~= line, self:is_averse(pc)
  if enters and not is_averse then self:age(set) end
  state.address[place], state.pc[place], state.prediction[place] = line, pc, is_averse and distant or 0
  self:count(is_averse and "averse" or "friendly")
end

--- A request that the tags have taken. Global writes that an L1 passes on are in no line, and take none.
function hawkeye:on_hit(_, _, address, pc, write, _, set, way)
  local line = address & -self.cache.line
  if set >= 0 and (way >= 0 or write == 0) and set % self.params.sampled == 0 then self:sample(set, line, pc) end
  if way >= 0 then self:use(set, way, line, pc) end
end

hawkeye.on_merge, hawkeye.on_miss = hawkeye.on_hit, hawkeye.on_hit

--- A line has come for which no request has taken a place: a prefetch's, or one of a cache that allocates now.
function hawkeye:on_fill(_, _, address, _, set, way, pc)
  local line = address & -self.cache.line
  if way >= 0 and self.state.address[self:index_of(set, way)] ~= line then self:use(set, way, line, pc) end
end

--- An averse line, or else the oldest: the first of those with the largest prediction.
function hawkeye:victim(set, ways)
  if not self.params.decide then return nil end
  local state, largest, victim = self.state, -1, nil
  for way in bits.each(ways) do
    local of_way = state.prediction[self:index_of(set, way)] or distant
    if of_way > largest then largest, victim = of_way, way end
  end
  local pc = state.pc[self:index_of(set, victim)]
  if largest < distant and set % self.params.sampled == 0 and pc then
    self:train(pc, -1)
    self:count "detrained"
  end
  return victim
end

return hawkeye
