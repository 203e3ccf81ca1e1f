-- Signature-based hit prediction by PC (SHiP-PC: Wu et al., "SHiP: Signature-based Hit Predictor for High Performance Caching",
-- MICRO 2011). A table of counters, by the PC of the instruction that brought a line, knows whether lines of that PC are used
-- again. A line's first hit raises the counter, a line that leaves without one lowers it. Lines whose counter is 0 enter with
-- the distant prediction of SRRIP, and go first; others as under SRRIP.
-- From the paper as we know it: 16384 counters of 3 bits, SRRIP beneath. Ours: counters begin with 1; each cache, or slice of an
-- L2, has a table of its own; a hit on a line in flight (a merge) counts, too; the PCs of different kernels share counters;
-- prefetched lines and write-backs are of PC 0.
-- With `sampled` one set in so many trains the counters, which is SHiP-PC-S of the paper (64 of 1024 sets); hooks come for these.
local policy = require "warpwright.policy"

local ship = policy "ship" {
  doc = "Lines enter a cache by whether those that the same instruction brought before were used again",
  scope = "cache",
  caches = "last",
  params = {
    entries = { 16384, min = 1, max = 65536, doc = "Counters" },
    bits = { 3, min = 1, max = 16, doc = "Of each counter" },
    sampled = { 1, min = 1, max = 65536, doc = "One set in so many trains the counters" },
    learn = { true, doc = "false: counters stay as they are, and all lines enter as under srrip" },
  },
  counters = { raised = "Lines used for the first time", lowered = "Lines that left without a use",
    distant = "Lines that entered with the distant prediction", usual = "Lines that entered as under srrip" },
}

local first <const> = 1

function ship:configure(_, path)
  if self:acts_on(path) then return { replacement = "srrip", line_history = true } end
end

--- The state is the table: by signature the counter, where it is not the first value.
function ship:start()
  self.most = (1 << self.params.bits) - 1
  self.state = {}
  local is_sampled = { every = self.params.sampled }
  for _, hook in ipairs { "on_hit", "on_merge" } do self:only(hook, { set = is_sampled, way = { from = 0 } }) end
  self:only("on_evict", { set = is_sampled, uses = 0 })
end

--- Moves the counter of a PC.
function ship:train(pc, by)
  if not self.params.learn then return end
  local table, signature = self.state, pc % self.params.entries
  table[signature] = math.max(0, math.min((table[signature] or first) + by, self.most))
  self:count(by > 0 and "raised" or "lowered")
end

--- A use of a line.
function ship:on_hit(_, _, _, _, _, _, set, way)
  local cache = self.cache
  if cache:line_uses(set, way) == 1 then self:train(cache:line_pc(set, way), 1) end
end

ship.on_merge = ship.on_hit

--- A line leaves unused.
function ship:on_evict(_, _, _, _, _, _, _, pc) self:train(pc, -1) end

function ship:insertion(_, last, _, _, _, pc)
  local is_dead = self.state[pc % self.params.entries] == 0
  self:count(is_dead and "distant" or "usual")
  return is_dead and last or nil
end

return ship
