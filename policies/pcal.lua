-- Priority-based cache allocation (PCAL: Li et al., HPCA 2015), as far as the texts at hand describe it: a few warps of
-- each SM hold tokens. They may take lines; the others run, too, and bypass the cache.
-- level l1 is the original: the oldest warps of an SM hold the tokens of its L1 data cache; the others may use what is in it,
-- and bypass it where they miss. level l2 is the comparison point of MeDiC (sections 5 and 6): tokens are for the L2, and limit
-- "the number of threads that get to access the cache". Who has none goes past it as in wbyp: neither its queue nor its lookup
-- delays him, and he does not find what is there (uses_lines=true: as at L1, he may, and so queues for the tags). At the end of
-- each epoch those warps of an SM get the tokens that were served last, by the L2 or past it.
-- The number of tokens, which the original finds by sampling, is a parameter here, to be swept.
--
-- At the L2, stores without a token go to memory at once, where the L2 would have gathered them until it evicts: vecadd, medium,
-- on the machine medic has 2.1 times the row conflicts and 1.4 times the bus turnarounds, for 1.6 % of the time; with tokens for
-- all none of it.
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"

--- The L1s behind which the caches of level l2 are.
local function caches_before(...)
  local found, paths = pcall(policy.caches_before, ...)
  if not found then error(("%s; level=l1 is for tokens of the L1"):format(paths), 0) end
  return paths
end

local pcal = policy "pcal" {
  doc = "Only warps that hold a token take lines; others run without",
  params = {
    level = { "l2", doc = "l1 or l2: the cache that the tokens are for" },
    tokens = { 8, min = 0, max = 64, doc = "Tokens of each SM" },
    uses_lines = { false, doc = "l2: warps without a token bypass the L2 only where they miss" },
    epoch = { 10000, min = 1, doc = "l2: cycles between two distributions of tokens" },
  },
  period = "epoch",
  sets_classes = function(params) return params.level == "l2" end,
  caches = "L2",
  parts = {
    { class = "WarpSampler", name = "sampler", of = "SM", warm_up = 0,
      caches = caches_before, sm = policy.sm_number },
  },
  counters = { granted = "Tokens given to warps that held none before" },
}

local without_token = 1 -- the class of their requests; requests that are of no warp are of class 0

function pcal:configure(_, path)
  local level = self.params.level
  if level ~= "l1" and level ~= "l2" then error("level: expected one of l1, l2, got '" .. level .. "'", 0) end
  if level ~= "l2" or not self:acts_on(path) then return end
  if self.params.uses_lines then return { allocate_classes = 0xffffffff & ~(1 << without_token) } end
  return { bypass = true, bypass_classes = 1 << without_token }
end

function pcal:start()
  if self.params.level == "l1" then self:own_l1() end
end

-- Tokens -----------------------------------------------------------------------------------------------------------------

function pcal:give(holders)
  self:count("granted", bits.count(holders & ~(self.state.holders or 0)))
  self.state.holders = holders
  if self.params.level == "l1" then
    self.l1.may_allocate = holders
  else
    -- A warp that has ended keeps its class: stores of its may still be on their way.
    self.sm:set_class(self.sm.live & ~holders, without_token)
    self.sm:set_class(holders, 0)
  end
end

--- l1: the oldest warps.
function pcal:on_warps_changed()
  if self.params.level ~= "l1" then return end
  local holders = self.sm:oldest(self.sm.live, self.params.tokens)
  if holders ~= self.state.holders then self:give(holders) end
end

--- l2: new warps hold tokens from the start while there are any left.
function pcal:on_cta_start(_, warps)
  if self.params.level ~= "l2" then return end
  local holders = (self.state.holders or 0) & self.sm.live & ~warps
  self.state.holders = holders
  self:give(holders | self.sm:oldest(warps, self.params.tokens - bits.count(holders)))
end

--- l2: the warps that were served last; of those served in the same cycle, the lower one.
function pcal:on_period()
  if self.params.level ~= "l2" then return end
  local warps = {}
  for warp in bits.each(self.sm.live) do warps[#warps + 1] = { warp, self.sampler:served(warp) } end
  table.sort(warps, function(a, b) return a[2] > b[2] or a[2] == b[2] and a[1] < b[1] end)
  local holders = 0
  for i = 1, math.min(self.params.tokens, #warps) do holders = holders | bits.of(warps[i][1]) end
  self:give(holders)
end

return pcal
