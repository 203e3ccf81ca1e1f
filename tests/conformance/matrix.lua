-- mma on random matrices, by the layout of fragments that the PTX ISA gives for m16n8 and m8n8. Integers are exact; sums of
-- floats are within the rounding of their accumulator.
local ww = require "warpwright"

local matrix = {}

local LANES <const> = 32
local SLOTS <const> = 16 -- of 8 bytes for each lane: A from 0, B from 8, C from 12

local KERNEL <const> = [[
.version 8.0
.target sm_90
.address_size 64
.visible .entry multiply(.param .u64 records, .param .u64 results)
{
.reg .b64 %%at, %%to, %%d<16>;
.reg .b32 %%index, %%size, %%cta, %%r<16>;
mov.u32 %%index, %%tid.x;
mov.u32 %%size, %%ntid.x;
mov.u32 %%cta, %%ctaid.x;
mad.lo.u32 %%index, %%cta, %%size, %%index;
ld.param.u64 %%at, [records];
mad.wide.u32 %%at, %%index, 128, %%at;
ld.param.u64 %%to, [results];
mad.wide.u32 %%to, %%index, 32, %%to;
%s
ret;
}
]]

local function field(bits, low, count) return bits >> low & (1 << count) - 1 end

local function float_of(fraction, bias, infinite)
  local exponent_bits = infinite
  return function(bits)
    local sign = field(bits, fraction + exponent_bits, 1) == 1 and -1 or 1
    local exponent = field(bits, fraction, exponent_bits)
    local one = exponent == 0 and 0 or 1 -- of subnormal numbers it is left out
    return sign * (one + field(bits, 0, fraction) / (1 << fraction)) * 2.0 ^ (math.max(exponent, 1) - bias)
  end
end

local function integer_of(bits, is_signed)
  return function(value) return is_signed and value >> bits - 1 & 1 == 1 and value - (1 << bits) or value end
end

-- Types of elements: bits, the value of some bits, and bits at random.
local types = {
  e4m3 = { bits = 8, value = float_of(3, 7, 4), draw = function(rng) return rng:int(0, 1) << 7 | rng:int(4, 10) << 3 | rng:int(0, 7) end },
  e5m2 = { bits = 8, value = float_of(2, 15, 5), draw = function(rng) return rng:int(0, 1) << 7 | rng:int(12, 18) << 2 | rng:int(0, 3) end },
  f16 = { bits = 16, value = float_of(10, 15, 5), draw = function(rng) return rng:int(0, 1) << 15 | rng:int(11, 18) << 10 | rng:int(0, 1023) end },
  bf16 = { bits = 16, value = float_of(7, 127, 8), draw = function(rng) return rng:int(0, 1) << 15 | rng:int(122, 131) << 7 | rng:int(0, 127) end },
  -- the lower 13 bits are ignored
  tf32 = {
    bits = 32, value = function(bits) return float_of(23, 127, 8)(bits & ~0x1fff) end,
    draw = function(rng) return rng:int(0, 1) << 31 | rng:int(122, 131) << 23 | rng:int(0, 0x7fffff) end,
  },
  f32 = { bits = 32, value = float_of(23, 127, 8), draw = function(rng) return rng:int(0, 1) << 31 | rng:int(120, 133) << 23 | rng:int(0, 0x7fffff) end },
  f64 = { bits = 64, value = function(bits) return (("<d"):unpack(("<i8"):pack(bits))) end, draw = function(rng) return (("<i8"):unpack(("<d"):pack(rng:float() * 64 - 32))) end },
  s32 = { bits = 32, value = integer_of(32, true), draw = function(rng)
    local near = rng:int(0, 2)
    return (near == 0 and rng:int(0, 0xffffffff) or near == 1 and 0x7fffffff - rng:int(0, 5000) or 0x80000000 + rng:int(0, 5000)) & 0xffffffff
  end },
}
for _, bits in ipairs { 8, 4 } do
  local function draw(rng) return rng:int(0, (1 << bits) - 1) end
  types["s" .. bits] = { bits = bits, value = integer_of(bits, true), draw = draw }
  types["u" .. bits] = { bits = bits, value = integer_of(bits, false), draw = draw }
end
types.b1 = { bits = 1, value = function(bit) return bit end, draw = function(rng) return rng:int(0, 1) end }

--- The forms: rows, depth, types of D and C, A, B, and modifiers.
local function forms()
  local list = {}
  local function add(m, k, d, a, b, extra)
    list[#list + 1] = { m = m, k = k, d = d, a = a, b = b, extra = extra or "" }
  end
  for _, d in ipairs { "f16", "f32" } do
    add(16, 8, d, "f16", "f16")
    add(16, 16, d, "f16", "f16")
    for _, a in ipairs { "e4m3", "e5m2" } do
      for _, b in ipairs { "e4m3", "e5m2" } do
        add(16, 16, d, a, b)
        add(16, 32, d, a, b)
      end
    end
  end
  add(16, 8, "f32", "bf16", "bf16")
  add(16, 16, "f32", "bf16", "bf16")
  add(16, 4, "f32", "tf32", "tf32")
  add(16, 8, "f32", "tf32", "tf32")
  add(8, 4, "f64", "f64", "f64")
  for _, k in ipairs { 4, 8, 16 } do add(16, k, "f64", "f64", "f64") end
  for _, bits in ipairs { 8, 4 } do
    for _, a in ipairs { "s", "u" } do
      for _, b in ipairs { "s", "u" } do
        for _, extra in ipairs { "", ".satfinite" } do
          add(8, 128 // bits, "s32", a .. bits, b .. bits, extra)
          add(16, 128 // bits, "s32", a .. bits, b .. bits, extra)
          add(16, 256 // bits, "s32", a .. bits, b .. bits, extra)
        end
      end
    end
  end
  for _, extra in ipairs { ".xor.popc", ".and.popc" } do
    add(8, 128, "s32", "b1", "b1", extra)
    add(16, 128, "s32", "b1", "b1", extra)
    add(16, 256, "s32", "b1", "b1", extra)
  end
  return list
end

local function text_of(f)
  local middle = f.extra == ".satfinite" and f.extra or ""
  local last = f.a == "b1" and f.extra or ""
  return ("mma.sync.aligned.m%dn8k%d.row.col%s.%s.%s.%s.%s%s"):format(f.m, f.k, middle, f.d, f.a, f.b, f.d, last)
end

--- How many registers hold the fragments of A, B and C, and the elements in one.
local function shape_of(f)
  local bits = types[f.a].bits
  local each = bits == 64 and 1 or 32 // bits
  local c_each = f.d == "f16" and 2 or 1
  return {
    each = each, c_each = c_each, a = f.m * f.k // each // LANES, b = f.k * 8 // each // LANES, c = f.m * 8 // c_each // LANES,
  }
end

-- Row and column of element e in register r of a lane.
local function place_a(shape, m, lane, r, e)
  local rows = m // 8
  return lane // 4 + 8 * (r % rows), lane % 4 * shape.each + e + r // rows * 4 * shape.each
end
local function place_b(shape, lane, r, e) return lane % 4 * shape.each + e + r * 4 * shape.each, lane // 4 end
local function place_c(shape, lane, r, e)
  local i = r * shape.c_each + e
  return lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2
end

local function new_matrix(rows)
  local m = {}
  for row = 0, rows - 1 do m[row] = {} end
  return m
end

--- Random fragments of a warp: their bits by lane and slot, and the matrices.
local function draw(rng, f, shape)
  local slots, a, b, c = {}, new_matrix(f.m), new_matrix(f.k), new_matrix(f.m)
  local function fill(type, count, each, first, put)
    for lane = 0, LANES - 1 do
      for r = 0, count - 1 do
        local word = 0
        for e = 0, each - 1 do
          local bits = type.draw(rng)
          word = word | bits << e * (type.bits % 64)
          put(lane, r, e, type.value(bits))
        end
        slots[lane * SLOTS + first + r + 1] = word
      end
    end
  end
  for i = 1, LANES * SLOTS do slots[i] = 0 end
  fill(types[f.a], shape.a, shape.each, 0, function(lane, r, e, value)
    local row, column = place_a(shape, f.m, lane, r, e)
    a[row][column] = value
  end)
  fill(types[f.b], shape.b, shape.each, 8, function(lane, r, e, value)
    local row, column = place_b(shape, lane, r, e)
    b[row][column] = value
  end)
  fill(types[f.d], shape.c, shape.c_each, 12, function(lane, r, e, value)
    local row, column = place_c(shape, lane, r, e)
    c[row][column] = value
  end)
  return slots, a, b, c
end

--- The element of D, and the sum of the magnitudes of what was added.
local function element(f, a, b, c, row, column)
  local sum, magnitude = c[row][column], math.abs(c[row][column])
  for k = 0, f.k - 1 do
    local x, y = a[row][k], b[k][column]
    local product = f.extra == ".xor.popc" and x ~ y or x * y
    sum, magnitude = sum + product, magnitude + math.abs(product)
  end
  return sum, magnitude
end

--- The ISA asks for sums of at least the accumulator's precision, in any order and rounding: silicon may cut off digits.
local function fits(f, bits, want, magnitude, is_silicon)
  if f.d == "s32" then
    if f.extra == ".satfinite" then want = math.max(-0x80000000, math.min(0x7fffffff, want)) end
    return bits == want & 0xffffffff
  end
  local relative = f.d == "f16" and 2.0 ^ -11 or f.d == "f32" and 2.0 ^ -23 or 2.0 ^ -50
  if is_silicon and f.d ~= "f64" then return math.abs(types[f.d].value(bits) - want) <= 2 * relative * magnitude end
  local scale = f.d == "f16" and math.max(math.abs(want), 2.0 ^ -14) or magnitude
  return math.abs(types[f.d].value(bits) - want) <= scale * relative * 1.0001
end

local function list_of(prefix, first, count)
  local names = {}
  for i = 1, count do names[i] = ("%%%s%d"):format(prefix, first + i - 1) end
  return "{" .. table.concat(names, ", ") .. "}"
end

local function kernel_text(f, shape)
  local lines, wide = {}, f.a == "f64"
  local prefix, bits = wide and "d" or "r", wide and 64 or 32
  for _, part in ipairs { { 0, shape.a }, { 8, shape.b }, { 12, shape.c } } do
    for r = part[1], part[1] + part[2] - 1 do lines[#lines + 1] = ("ld.global.b%d %%%s%d, [%%at+%d];"):format(bits, prefix, r, 8 * r) end
  end
  local c = list_of(prefix, 12, shape.c)
  lines[#lines + 1] = ("%s %s, %s, %s, %s;"):format(text_of(f), c, list_of(prefix, 0, shape.a), list_of(prefix, 8, shape.b), c)
  for r = 0, shape.c - 1 do lines[#lines + 1] = ("st.global.b%d [%%to+%d], %%%s%d;"):format(bits, 8 * r, prefix, 12 + r) end
  return KERNEL:format(table.concat(lines, "\n"))
end

--- What a GPU leaves; nil and why it does not execute the kernel.
local function execute(gpu, f, shape, records, warps)
  local kernels, _, refusals = gpu:load { text = kernel_text(f, shape), name = text_of(f) .. ".ptx" }
  if refusals.multiply then return nil, refusals.multiply end
  local input, output = gpu:upload(ww.array_from("i64", records)), gpu:alloc(warps * LANES * 32)
  gpu:launch(kernels.multiply, { grid = warps, block = LANES, args = { input, output } })
  local got = gpu:download("i64", output, warps * LANES * 4)
  gpu:free(input)
  gpu:free(output)
  return got
end

local function compare(gpu, simulated, f, warps, seed, found)
  local shape, rng, name = shape_of(f), ww.rng(seed), text_of(f)
  local records, drawn = {}, {}
  for w = 1, warps do
    local slots, a, b, c = draw(rng, f, shape)
    table.move(slots, 1, #slots, #records + 1, records)
    drawn[w] = { a, b, c }
  end
  local got, refusal = execute(gpu, f, shape, records, warps)
  if not got then
    if not simulated then error(refusal, 0) end
    found(name, 0, 0, nil, { refusal = refusal })
    return
  end
  local others = simulated and assert(execute(simulated, f, shape, records, warps)) or got
  local differ, first, cases, apart, apart_text = 0, nil, 0, 0, nil
  for w = 1, warps do
    for lane = 0, LANES - 1 do
      for r = 0, shape.c - 1 do
        for e = 0, shape.c_each - 1 do
          local row, column = place_c(shape, lane, r, e)
          local want, magnitude = element(f, drawn[w][1], drawn[w][2], drawn[w][3], row, column)
          local function bits_of(words)
            local word, bits = words[((w - 1) * LANES + lane) * 4 + r], types[f.d].bits
            return bits < 64 and field(word, e * bits, bits) or word
          end
          local bits, other = bits_of(got), bits_of(others)
          cases = cases + 1
          if not fits(f, bits, want, magnitude, simulated) then
            differ = differ + 1
            first = first or ("row %d, column %d: expected %s, got 0x%x"):format(row, column, want, bits)
          end
          if bits ~= other then
            apart = apart + 1
            apart_text = apart_text or ("%s: 0x%x, simulated 0x%x"):format(want, bits, other)
          end
        end
      end
    end
  end
  found(name, cases, differ, first, { apart = simulated and apart, apart_text = apart_text })
end

--- At least so many elements of each form that is this part's.
function matrix.run(gpu, options, elements, found)
  for i, f in ipairs(forms()) do
    if i % options.parts == options.part % options.parts then
      compare(gpu, options.simulated, f, (elements + f.m * 8 - 1) // (f.m * 8), options.seed, found)
    end
  end
end

return matrix
