---@meta
-- Written by scripts/annotations.lua from the rows of the classes: `warpwright scripts/annotations.lua` writes it anew.

---Sets as whole numbers, bit w for warp w.
local bits = { all = -1 }

---@param set integer
---@return integer how many
function bits.count(set) end

---@param set integer
---@return integer? the smallest member
function bits.lowest(set) end

---@param warp integer
---@return integer set of this warp alone
function bits.of(warp) end

---@param set integer
---@param warp integer
---@return boolean
function bits.has(set, warp) end

---@param set integer
---@return fun(): integer? in ascending order
function bits.each(set) end

return bits
