-- Single-precision arithmetic for reference results that must agree with a kernel to the last bit.
local ww = require "warpwright"

local float32 = {}

local cell = ww.array("f32", 1) -- what is stored here comes back rounded to single precision

function float32.round(x)
  cell[0] = x
  return cell[0]
end

--- a * b + c for single-precision a, b and c, rounded once.
-- In double precision the product is exact and only the sum is rounded. Rounding that sum again is wrong in one case:
-- when it lies midway between two singles, and the part that the first rounding dropped says which one is nearer.
function float32.fma(a, b, c)
  local product = a * b
  local sum = product + c
  cell[0] = sum
  local nearest = cell[0]
  if nearest ~= sum then
    local mirrored = sum + (sum - nearest)
    cell[0] = mirrored
    if cell[0] == mirrored then
      local c_part = sum - product
      local dropped = (product - (sum - c_part)) + (c - c_part)
      if dropped ~= 0 and (dropped > 0) == (mirrored > nearest) then return mirrored end
    end
  end
  return nearest
end

return float32
