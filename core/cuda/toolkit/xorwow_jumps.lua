-- Writes include/warpwright/xorwow_jumps.h, by which XORWOW of curand_kernel.h skips ahead:
--
--   build/opt/warpwright core/cuda/toolkit/xorwow_jumps.lua
--
-- A step of the generator's five words is linear over the field of two elements. n steps are the same polynomial of a step
-- as x^n modulo the step's characteristic polynomial, which is what comes out here, for each value of each hexadecimal digit
-- of n.

local bits = 160 -- of the state, and so the degree of the characteristic polynomial

--- The lowest bit of the newest word, of as many steps from any state.
local function lowest_bits(count)
  local v, found = { 123456789, 362436069, 521288629, 88675123, 5783321 }, {}
  for i = 1, count do
    local t = v[1] ~ (v[1] >> 2)
    local newest = (v[5] ~ (v[5] << 4) ~ t ~ (t << 1)) & 0xffffffff
    v = { v[2], v[3], v[4], v[5], newest }
    found[i] = newest & 1
  end
  return found
end

-- A polynomial: { [power] = true } of the powers whose coefficient is one.

local function add_shifted(to, polynomial, shift)
  for power in pairs(polynomial) do to[power + shift] = not to[power + shift] or nil end
end

--- The shortest recurrence of a sequence of bits (Berlekamp and Massey): its connection polynomial and its length.
local function recurrence_of(sequence)
  local current, before, length, since = { [0] = true }, { [0] = true }, 0, 1
  for n = 1, #sequence do
    local wrong = 0
    for power in pairs(current) do
      if power < n then wrong = wrong ~ sequence[n - power] end
    end
    if wrong == 0 then
      since = since + 1
    else
      local copy = {}
      add_shifted(copy, current, 0)
      add_shifted(current, before, since)
      if 2 * length < n then
        before, length, since = copy, n - length, 1
      else
        since = since + 1
      end
    end
  end
  return current, length
end

local function characteristic_polynomial()
  local connection, length = recurrence_of(lowest_bits(4 * bits))
  assert(length == bits, length)
  local reversed = {}
  for power in pairs(connection) do reversed[bits - power] = true end
  return reversed
end

local function product(a, b, modulus)
  local result = {}
  for power in pairs(a) do add_shifted(result, b, power) end
  for power = 2 * bits - 2, bits, -1 do
    if result[power] then add_shifted(result, modulus, power - bits) end
  end
  return result
end

local function words_of(polynomial)
  local words = {}
  for word = 0, bits // 32 - 1 do
    local value = 0
    for bit = 0, 31 do
      if polynomial[32 * word + bit] then value = value | 1 << bit end
    end
    words[#words + 1] = ("0x%08x"):format(value)
  end
  return "    {" .. table.concat(words, ", ") .. "},\n"
end

--- Of a number of 16 digits, whose unit is so many steps.
local function jumps_by(unit, modulus)
  local lines = {}
  for _ = 1, 16 do
    local jump = { [0] = true }
    for _ = 0, 15 do
      lines[#lines + 1] = words_of(jump)
      jump = product(jump, unit, modulus)
    end
    unit = jump
  end
  return table.concat(lines)
end

local modulus = characteristic_polynomial()
local one = { [1] = true }
local sequence = one
for _ = 1, 67 do sequence = product(sequence, sequence, modulus) end
local file <close> = assert(io.open("core/cuda/toolkit/include/warpwright/xorwow_jumps.h", "w"))
file:write(([[
/* Written by core/cuda/toolkit/xorwow_jumps.lua. Of each hexadecimal digit of a number, from the lowest on, and each value of
 * it: the coefficients of the powers of a step that are as many steps, or sequences of 2^67, the lowest power first. */
static __device__ const unsigned __warpwright_xorwow_steps[16 * 16][5] = {
%s};

static __device__ const unsigned __warpwright_xorwow_sequences[16 * 16][5] = {
%s};
]]):format(jumps_by(one, modulus), jumps_by(sequence, modulus)))
