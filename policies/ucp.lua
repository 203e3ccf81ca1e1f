-- Utility-based cache partitioning (UCP: Qureshi & Patt, MICRO 2006). Each SM, or each class of requests, gets as many ways
-- of the L2 as bring it the most hits. A monitor finds out how many hits each would have with any number of ways, from
-- auxiliary tag directories of some sampled sets (section 3); every period the lookahead algorithm (section 4, algorithm 1)
-- hands the ways out, and the counts are halved.
-- The paper partitions one L2 between two or four cores. Here each slice is partitioned by itself, as its own monitor says. Each
-- sharer has one way at least. Ways that bring nobody a hit, which the text leaves open, are dealt out in turn. The paper
-- counts the lines that a core has in a set; here its ways are fixed ones: what others have in them stays until it is replaced.
local policy = require "warpwright.policy"

local ucp = policy "ucp" {
  doc = "Utility-based cache partitioning: each SM or class gets the ways that bring it the most hits",
  scope = "cache",
  caches = "last",
  period = "period",
  params = {
    period = { 5000000, min = 1000, doc = "Cycles from one partitioning to the next" },
    by = { "sm", doc = "Who shares the cache: sm or class" },
    sharers = { 2, min = 1, max = 64, doc = "How many, from 0 on; others may use all ways" },
    sampled_sets = { 32, min = 1, max = 4096, doc = "Sets of each cache that are sampled" },
  },
  parts = {
    { class = "UtilityMonitor", name = "utility", of = "cache",
      by = policy.param "by", sharers = policy.param "sharers", sampled_sets = policy.param "sampled_sets" },
  },
  counters = { partitionings = "Times that ways were handed out anew", moved = "Ways that another sharer got" },
}

function ucp:configure(_, path)
  if self:acts_on(path) then return { partition_by = self.params.by } end
end

function ucp:start()
  local ways, sharers = self.cache.ways, self.params.sharers
  if ways < sharers then
    error(("sharers: expected at most the %d ways of %s, got %d"):format(ways, self.cache.path, sharers), 0)
  end
  self.state.ways = {}
end

--- The most hits for each way more, from `ways` on, that up to `left` of them bring; and how many ways that takes.
function ucp.best_utility(hits, ways, left)
  local best, take, sum = 0, 0, 0
  for more = 1, left do
    sum = sum + hits[ways + more]
    if sum / more > best then best, take = sum / more, more end
  end
  return best, take
end

--- Lookahead: a number of ways for each sharer, from their hits by place.
function ucp.lookahead(hits, ways)
  local given, left = {}, ways - #hits
  for i = 1, #hits do given[i] = 1 end
  while left > 0 do
    local winner, most, take = nil, 0, 0
    for i = 1, #hits do
      local utility, more = ucp.best_utility(hits[i], given[i], left)
      if utility > most then winner, most, take = i, utility, more end
    end
    if not winner then break end
    given[winner], left = given[winner] + take, left - take
  end
  for i = 0, left - 1 do given[i % #hits + 1] = given[i % #hits + 1] + 1 end
  return given
end

--- The hits of each sharer, by place.
function ucp:monitored()
  local hits = {}
  for sharer = 1, self.params.sharers do
    hits[sharer] = {}
    for place = 1, self.cache.ways do hits[sharer][place] = self.utility:hits(sharer - 1, place - 1) end
  end
  return hits
end

function ucp:on_period()
  local first, before = 0, self.state.ways
  local given = ucp.lookahead(self:monitored(), self.cache.ways)
  for sharer, ways in ipairs(given) do
    local mask = ways == 64 and -1 or (1 << ways) - 1
    self.cache:set_ways(sharer - 1, mask << first)
    first = first + ways
    if before[sharer] then self:count("moved", math.max(0, ways - before[sharer])) end
  end
  self.state.ways = given
  self.utility:halve()
  self:count "partitionings"
end

return ucp
