-- Checks of long results that are sums of long inputs, element by element.
local ww = require "warpwright"

local weighted = {}

local chunk = 1024

--- Checks `got`, which holds the sums of the terms { array, factor = 1 } from their element `first`
-- on. Every element counts in a weighted sum of its chunk, which must be that of the inputs up to
-- rounding: one that is off by 2e-4 or more is found. A sample of elements, the last one among
-- them, must be right to the last bit: exact(i) is the right element `first + i`.
function weighted.check(self, label, got, terms, first, exact, seed)
  local chunks = (#got + chunk - 1) // chunk
  local weight = ww.array("f32", chunk):random(seed, 0.5, 1)
  local sums, wanted = ww.array("f64", chunks), ww.array("f64", chunks)
  for i = 0, chunks - 1 do
    local at = i * chunk
    local count, want = math.min(chunk, #got - at), 0
    for _, term in ipairs(terms) do
      want = want + (term.factor or 1) * term[1]:dot(weight, first + at, 0, count, 1, 1)
    end
    sums[i], wanted[i] = got:dot(weight, at, 0, count, 1, 1), want
  end
  self:check(("weighted sums of %s from element %d"):format(label, first), sums, wanted, { abs = chunk * 2.0 ^ -24 })

  local rng, samples = ww.rng(seed + first), math.min(#got, 4096)
  local sample, wanted_sample = ww.array("f32", samples), ww.array("f32", samples)
  for s = 0, samples - 1 do
    local i = s == 0 and #got - 1 or rng:int(0, #got - 1)
    sample[s], wanted_sample[s] = got[i], exact(first + i)
  end
  self:check(("sampled elements of %s from element %d"):format(label, first), sample, wanted_sample)
end

return weighted
