-- Thread-aware dynamic insertion (Jaleel, Hasenplaugh, Qureshi, Sebot, Steely, Emer, "Adaptive Insertion Policies for Managing
-- Shared Caches", PACT 2008: TADIP-F; over `srrip` TA-DRRIP, ISCA 2010). dip decides for all lines at once; here each sharer of
-- the cache, an SM or a class of requests, duels by itself: those that reuse insert as usual beside others that stream.
-- A sharer has leader sets in which its own lines always enter as usual, and as many in which nearly all of them enter where they
-- go first; in both, lines of the others enter as these have found best (TADIP with feedback). A counter of the misses of both,
-- by whomever, says what the sharer's lines do elsewhere.
-- From the papers as we know them. Ours: leaders are the first places of each row of 2 * `sharers` sets, so a cache has as many as
-- it has whole rows, at most `leaders`; lines of numbers from `sharers` on enter as usual; a miss counts when its line enters.
local policy = require "warpwright.policy"

local ta_dip = policy "ta_dip" {
  doc = "For each SM or class alone, set duelling decides whether its lines enter as usual, or nearly all where they go first",
  scope = "cache",
  caches = "last",
  params = {
    by = { "sm", doc = "Who shares the cache: sm or class" },
    sharers = { 15, min = 1, max = 1024, doc = "How many, from 0 on; lines of others enter as usual" },
    replacement = { "lru", doc = "What inserts lines as usual: lru, or srrip for TA-DRRIP" },
    leaders = { 4, min = 1, doc = "Sets of each sharer that always do the one, and as many that do the other" },
    psel_bits = { 10, min = 1, max = 32, doc = "Of the counters that say which of the two misses less" },
    throttle = { 32, min = 1, doc = "Bimodal insertion: one in so many lines of a sharer enters as usual" },
  },
  counters = {
    usual_misses = "Lines that entered leader sets of the usual insertion",
    bimodal_misses = "Lines that entered leader sets of the bimodal insertion",
    turned = "Times that a sharer went over from one to the other",
    first_to_go = "Lines that entered where they go first",
  },
}

local function check_choice(name, value, first, second)
  if value == first or value == second then return end
  error(("%s: expected one of %s, %s, got '%s'"):format(name, first, second, value), 0)
end

function ta_dip:configure(_, path)
  check_choice("by", self.params.by, "sm", "class")
  check_choice("replacement", self.params.replacement, "lru", "srrip")
  if self:acts_on(path) then return { replacement = self.params.replacement } end
end

--- `psel` and `lines`, by sharer, where they are not what they were at first: its counter, and the lines that it has had enter
-- in the bimodal way, modulo `throttle`.
function ta_dip:start()
  local params = self.params
  local sets, row = self.cache:sets(), 2 * params.sharers
  if sets < row then error(("sharers: expected at most half of the %d sets of %s, got %d"):format(sets, self.cache.path, params.sharers), 0) end
  self.rows = math.min(params.leaders, sets // row)
  self.stride = sets // self.rows
  self.most = (1 << params.psel_bits) - 1
  self.state = { psel = {}, lines = {} }
end

function ta_dip:follows_bimodal(sharer) return (self.state.psel[sharer] or self.most // 2) > self.most // 2 end

--- A line enters a leader set: the sharer whose set it is, and whether its lines enter it in the bimodal way; nil: no leader.
function ta_dip:leader_of(set)
  local place = set % self.stride
  if set // self.stride >= self.rows or place >= 2 * self.params.sharers then return nil end
  return place // 2, place % 2 == 1
end

function ta_dip:learn(leader, bimodal)
  local psel, before = self.state.psel, self:follows_bimodal(leader)
  psel[leader] = math.max(0, math.min((psel[leader] or self.most // 2) + (bimodal and -1 or 1), self.most))
  self:count(bimodal and "bimodal_misses" or "usual_misses")
  if self:follows_bimodal(leader) ~= before then self:count "turned" end
end

function ta_dip:insertion(set, last, sm, _, _, _, _, class)
  local sharer = self.params.by == "sm" and sm or class
  local leader, bimodal = self:leader_of(set)
  if leader then self:learn(leader, bimodal) end
  if sharer >= self.params.sharers then return nil end
  if sharer ~= leader then bimodal = self:follows_bimodal(sharer) end
  if not bimodal then return nil end
  local lines = self.state.lines
  lines[sharer] = ((lines[sharer] or 0) + 1) % self.params.throttle
  if lines[sharer] == 0 then return nil end
  self:count "first_to_go"
  return last
end

return ta_dip
