-- Sets of warps as whole numbers, bit w for warp w: the operators & | ~ << do most of it; this is the rest.
local core = require "warpwright.core"

local bits = {
  all = -1, -- every warp
  count = core.bits_count, -- bits.count(set): how many
  lowest = core.bits_lowest, -- bits.lowest(set): the smallest warp, or nil
}

--- bits.of(warp): the set of this warp alone.
function bits.of(warp) return 1 << warp end

--- bits.has(set, warp)
function bits.has(set, warp) return set >> warp & 1 == 1 end

--- for warp in bits.each(set) do: in ascending order.
function bits.each(set)
  return function()
    local warp = core.bits_lowest(set)
    if warp then set = set & (set - 1) end
    return warp
  end
end

return bits
