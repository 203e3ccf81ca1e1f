-- Adaptive bypassing by PC (Tian, Puthoor, Greathouse, Beckmann, Jiménez, "Adaptive GPU Cache Bypassing", GPGPU 2015): an
-- instruction whose lines leave a cache unused passes it by, so that lines of others stay.
-- A table of counters, by the PC of the instruction that brought a line: one up when such a line leaves without a use, one down
-- when one is used for the first time. Reads of a PC whose counter is at `threshold` or above pass by.
-- The paper's text was not at hand: 128 counters of 4 bits follow it as we know it. Ours: the threshold; the PC that brought a
-- line counts, where the paper has that of its last access; and one in `probe` of the reads that would pass by takes a line, by
-- which a PC comes back, where the paper has a bit in the lines of the L2 that finds bypasses that would have been hits.
-- Each cache has a table of its own. PCs of different kernels share counters. Lines that prefetches bring are of PC 0.
local policy = require "warpwright.policy"

local most <const> = 15 -- of a counter

local adaptive_bypass = policy "adaptive_bypass" {
  doc = "Loads whose lines leave the cache unused pass it by",
  scope = "cache",
  caches = "data",
  params = {
    entries = { 128, min = 1, max = 65536, doc = "Counters" },
    threshold = { 8, min = 1, max = most + 1, doc = "Reads of a PC with such a counter pass by; 16: none do" },
    probe = { 32, min = 2, doc = "One in so many of these takes a line" },
  },
  counters = { unused = "Lines that left without a use", used = "Lines used for the first time",
    passed = "Reads that passed by", probes = "Reads that took a line instead" },
}

function adaptive_bypass:configure(_, path)
  if self:acts_on(path) then return { line_history = true } end
end

--- `unused`: the counters that are not 0, by PC; `passing`: reads of PCs above the threshold since the last that took a line.
function adaptive_bypass:start()
  self.state = { unused = {}, passing = 0 }
  for _, hook in ipairs { "on_hit", "on_merge" } do self:only(hook, { way = { from = 0 } }) end
  self:only("on_evict", { uses = 0 })
end

--- Moves the counter of a PC.
function adaptive_bypass:train(pc, by)
  local unused, entry = self.state.unused, pc % self.params.entries
  local value = math.max(0, math.min((unused[entry] or 0) + by, most))
  unused[entry] = value > 0 and value or nil
  self:count(by > 0 and "unused" or "used")
end

function adaptive_bypass:on_hit(_, _, _, _, _, _, set, way)
  local cache = self.cache
  if cache:line_uses(set, way) == 1 then self:train(cache:line_pc(set, way), -1) end
end

adaptive_bypass.on_merge = adaptive_bypass.on_hit

function adaptive_bypass:on_evict(_, _, _, _, _, _, _, pc) self:train(pc, 1) end

function adaptive_bypass:bypass(_, _, _, pc)
  local state = self.state
  if (state.unused[pc % self.params.entries] or 0) < self.params.threshold then return nil end
  state.passing = (state.passing + 1) % self.params.probe
  self:count(state.passing > 0 and "passed" or "probes")
  return state.passing > 0
end

return adaptive_bypass
