-- Pseudo-random interleaved cache (PRIC: Khairy et al., section 4.3). The line address is a polynomial over GF(2), A(x) =
-- V(x) * P(x) + R(x); the tag stands for V and the set is R = A mod P. Each bit of the remainder is the XOR of some address
-- bits, so the index is a list of masks, computed when the machine is built.
-- Poly(37) is x^5 + x^2 + 1, the paper's choice for 32 sets. Its Figure 7 has the address bits 7 to 26, the default here.
local core = require "warpwright.core"
local policy = require "warpwright.policy"

local pric = policy "pric" {
  doc = "Set index of the L1 data cache: the line address modulo a polynomial over GF(2)",
  params = {
    polynomial = { 0, min = 0, doc = "Irreducible, its degree that of the set index: 37 is x^5 + x^2 + 1; 0: the least there is. "
      .. "x^n is the linear index" },
    address_bits = { 27, min = 8, max = 48, doc = "Address bits from here on are left out of the index" },
  },
  caches = "data",
}

-- Polynomials over GF(2), bit i for x^i --------------------------------------------------------------------------------

function pric.degree(p)
  local degree = -1
  while p > 0 do degree, p = degree + 1, p >> 1 end
  return degree
end

--- a mod p
function pric.modulo(a, p)
  local degree = pric.degree(p)
  for i = pric.degree(a), degree, -1 do
    if a >> i & 1 == 1 then a = a ~ (p << (i - degree)) end
  end
  return a
end

--- Is p no product of polynomials of lower degrees?
function pric.is_irreducible(p)
  for divisor = 2, (1 << (pric.degree(p) // 2 + 1)) - 1 do
    if pric.modulo(p, divisor) == 0 then return false end
  end
  return p > 1
end

--- Of those with a constant term: x itself, which has none, is the linear index of two sets.
function pric.least_irreducible(degree)
  for p = (1 << degree) + 1, (2 << degree) - 1, 2 do
    if pric.is_irreducible(p) then return p end
  end
end

-- Rau's H matrix -------------------------------------------------------------------------------------------------------

--- A mask of address bits for each bit of the set index, bit 0 first. Address bits below `line_bits` are those within a
-- line; bit b of the address is x^(b - line_bits).
function pric.masks(p, line_bits, address_bits)
  local masks = {}
  for i = 1, pric.degree(p) do masks[i] = 0 end
  for b = line_bits, address_bits - 1 do
    local remainder = pric.modulo(1 << (b - line_bits), p)
    for i = 1, #masks do masks[i] = masks[i] | (remainder >> (i - 1) & 1) << b end
  end
  return masks
end

-- The caches -----------------------------------------------------------------------------------------------------------

--- log2 of a power of two, or nil.
local function log2(n)
  local degree = pric.degree(n)
  return n == 1 << degree and degree or nil
end

local function chosen_polynomial(self, path, index_bits)
  local p = self.params.polynomial
  if p == 0 then return pric.least_irreducible(index_bits) end
  if pric.degree(p) ~= index_bits or not (log2(p) or pric.is_irreducible(p)) then
    core.user_error(("policy pric: polynomial: expected an irreducible polynomial of degree %d for the 2^%d sets of %s, such as %d, got %d")
      :format(index_bits, index_bits, path, pric.least_irreducible(index_bits), p))
  end
  return p
end

local function quantity(value) return math.tointeger(tonumber(value)) or core.quantity(value, "bytes") end

function pric:configure(_, path, params)
  if not self:acts_on(path) then return end
  local line = quantity(params.line or 128)
  local sets = quantity(params.size) // (line * quantity(params.ways))
  local index_bits = log2(sets)
  if not index_bits or index_bits == 0 then
    core.user_error(("policy pric: expected a power of two from 2 on as sets of %s, got %d"):format(path, sets))
  end
  local masks = pric.masks(chosen_polynomial(self, path, index_bits), log2(line), self.params.address_bits)
  for i, mask in ipairs(masks) do masks[i] = ("0x%x"):format(mask) end
  return { index = "xor", index_masks = table.concat(masks, ",") }
end

return pric
