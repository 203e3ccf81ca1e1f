-- Dynamic insertion by set duelling (DIP: Qureshi et al., "Adaptive Insertion Policies for High Performance Caching", ISCA 2007,
-- section 5). Some sets always insert lines as the replacement itself does, as many others insert nearly all lines where they
-- go first (bimodal insertion), and a counter of the misses of both says what all other sets do.
-- Over `lru` this is DIP: LRU against BIP. Over `srrip` it is DRRIP (Jaleel et al., ISCA 2010): SRRIP against BRRIP, as
-- replacement = "drrip" has it in C, but for the lines that bimodal insertion spares: here one in `throttle` by count.
-- Leaders of the insertion that misses more cost what they miss. The papers have 32 in 1024 sets; caches of GPUs have 32 to 64
-- sets, of which 4 are as large a part as is worth it.
-- Each cache has a counter of its own. A miss counts when its line enters, so accesses that take no line do not count.
local policy = require "warpwright.policy"

local dip = policy "dip" {
  doc = "Set duelling decides whether lines enter as usual, or nearly all where they go first",
  scope = "cache",
  caches = "last",
  params = {
    replacement = { "lru", doc = "What inserts lines as usual: lru, or srrip for DRRIP" },
    leaders = { 4, min = 1, doc = "Sets that always do the one, and as many that do the other; at most a quarter of all each" },
    psel_bits = { 10, min = 1, max = 32, doc = "Of the counter that says which of the two misses less" },
    throttle = { 32, min = 1, doc = "Bimodal insertion: one in so many lines enters as usual" },
  },
  counters = {
    usual_misses = "Lines that entered leader sets of the usual insertion",
    bimodal_misses = "Lines that entered leader sets of the bimodal insertion",
    bimodal_follows = "Lines that entered other sets while these followed the bimodal insertion",
    usual_follows = "Lines that entered other sets while these followed the usual one",
    first_to_go = "Lines that entered where they go first",
  },
}

function dip:configure(_, path)
  local replacement = self.params.replacement
  if replacement ~= "lru" and replacement ~= "srrip" then
    error("replacement: expected one of lru, srrip, got '" .. replacement .. "'", 0)
  end
  if self:acts_on(path) then return { replacement = replacement } end
end

function dip:start()
  local cache, params = self.cache, self.params
  local sets = cache.size // (cache.ways * cache.line)
  if sets < 4 then error(("expected 4 or more sets in %s, got %d"):format(cache.path, sets), 0) end
  self.leaders = math.min(params.leaders, sets // 4)
  self.stride = sets // self.leaders
  self.most = (1 << params.psel_bits) - 1
  self.state = { psel = self.most // 2, bimodal = 0 }
end

--- Does a line that enters this set follow the bimodal insertion? Leaders are spread evenly over the sets.
function dip:is_bimodal(set)
  local state, place = self.state, set % self.stride
  if set // self.stride < self.leaders then
    if place == 0 then
      state.psel = math.min(state.psel + 1, self.most)
      self:count "usual_misses"
      return false
    elseif place == self.stride // 2 then
      state.psel = math.max(state.psel - 1, 0)
      self:count "bimodal_misses"
      return true
    end
  end
  local bimodal = state.psel > self.most // 2
  self:count(bimodal and "bimodal_follows" or "usual_follows")
  return bimodal
end

function dip:insertion(set, last)
  if not self:is_bimodal(set) then return nil end
  local state = self.state
  state.bimodal = (state.bimodal + 1) % self.params.throttle
  if state.bimodal == 0 then return nil end
  self:count "first_to_go"
  return last
end

return dip
