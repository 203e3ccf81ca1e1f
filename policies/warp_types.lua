-- Warp type identification (MeDiC: Ausavarungnirun et al., PACT 2015, section 3.1). A warp's requests to the L2 are counted,
-- and those of them that hit; the hit ratio of a sample makes it one of five types. The type is the class number of all the
-- warp's requests from then on, which caches and memory controllers can act on.
-- The two counters of a warp are kept in its SM, by the part `sampler`: the L2's answers say whether they hit. They add up
-- what all slices answered. The text appends them to the metadata stored for each warp, and gives neither cut-offs nor intervals:
-- hit ratios that bound the types are "empirically chosen" (Figure 3). It calls warps of low utility those that "see most of their
-- requests miss", so mostly_miss is a half. Below a fifth are few warps of any application (figure medic/cut-offs of
-- scripts/reproduce).
-- Here this is the metadata of a warp's slot in the SM: counters and type outlive the CTA (over_ctas=false: each CTA's warps
-- begin anew, of no type). At the end of every interval all warps are sampled again, over `warm_up` requests; a warp that gets
-- no answer for longer than `gap` is as well. Meanwhile it keeps its type.
--
-- What counts as a hit: a request that finds its line, also one on its way (merges=false: not that one), and a request that
-- bypasses where it would have found either. The answer to a request that bypasses says so: its tag is looked up in any case, see
-- wbyp, beside its way to memory and not in front of it. So the type of a warp that bypasses can change back. With
-- probes=false nothing tells: warps that miss are of no known type, and go through the L2, while they are sampled again.
local policy = require "warpwright.policy"

local warp_types = policy "warp_types" {
  doc = "Finds out how often each warp hits in the L2: the class of its requests",
  params = {
    interval = { 100000, min = 1, doc = "Cycles between two samples" },
    warm_up = { 100, min = 0, doc = "Requests of a sample; 0: no warp is ever sampled" },
    gap = { 10000, min = 0, doc = "A warp that gets no answer for so many cycles is sampled from zero again; 0: it is not" },
    over_ctas = { true, doc = "A new CTA's warps go on with the counters and types of those before them; false: they are of no type" },
    merges = { true, doc = "A request for a line on its way to the L2 is a hit" },
    probes = { true, doc = "Requests that bypass the L2 count, as hits where they would have hit" },
    mostly_hit = { 0.7, min = 0, max = 1, doc = "A warp with this hit ratio or more is of type mostly-hit" },
    mostly_miss = { 0.5, min = 0, max = 1, doc = "A warp with less is of type mostly-miss" },
  },
  period = "interval",
  sets_classes = true,
  caches = "L2",
  parts = {
    { class = "WarpSampler", name = "sampler", of = "SM",
      caches = policy.caches_before, sm = policy.sm_number, warm_up = policy.param "warm_up", gap = policy.param "gap",
      merges = policy.param "merges", bypasses = policy.param "probes" },
  },
  counters = {
    all_hit = "Warps found of type all-hit", mostly_hit = "Warps found of type mostly-hit",
    balanced = "Warps found of type balanced", mostly_miss = "Warps found of type mostly-miss",
    all_miss = "Warps found of type all-miss", changes = "Warps of known type found of another",
  },
}

-- Types are class numbers ------------------------------------------------------------------------------------------------

local numbers = { unknown = 0, all_miss = 1, mostly_miss = 2, balanced = 3, mostly_hit = 4, all_hit = 5 }

--- The class number of a type.
function warp_types.number(name) return numbers[name] end

--- The set of these types, bit n for class n.
function warp_types.set(...)
  local set = 0
  for _, name in ipairs { ... } do set = set | 1 << numbers[name] end
  return set
end

--- "2,0,1": a value for each class, from { name = value }; 0 for those left out.
function warp_types.table(values)
  local list = { 0, 0, 0, 0, 0, 0 }
  for _, name in ipairs { "unknown", "all_miss", "mostly_miss", "balanced", "mostly_hit", "all_hit" } do
    list[numbers[name] + 1] = values[name] or 0
  end
  return table.concat(list, ",")
end

--- Figure 3.
function warp_types.name_of(hits, accesses, params)
  if hits == accesses then return "all_hit" end
  if hits == 0 then return "all_miss" end
  if hits >= params.mostly_hit * accesses then return "mostly_hit" end
  return hits < params.mostly_miss * accesses and "mostly_miss" or "balanced"
end

-- Sampling ---------------------------------------------------------------------------------------------------------------

function warp_types:on_sampler_sampled(warp, hits, accesses)
  local name = warp_types.name_of(hits, accesses, self.params)
  local before, number = self.sm:class_of(warp), numbers[name]
  self:count(name)
  if before ~= number and before ~= numbers.unknown then self:count "changes" end
  self.sm:set_class(1 << warp, number)
end

function warp_types:on_period()
  if not self.params.probes then
    local misses = self.sm:warps_in(numbers.all_miss) | self.sm:warps_in(numbers.mostly_miss)
    self.sm:set_class(misses, numbers.unknown)
  end
  self.sampler:restart(-1)
end

function warp_types:on_cta_start(_, warps)
  local anew = self.params.over_ctas and 0 or warps -- also of no warp: from now on no other policy may set classes
  self.sm:set_class(anew, numbers.unknown)
  self.sampler:restart(anew)
end

return warp_types
