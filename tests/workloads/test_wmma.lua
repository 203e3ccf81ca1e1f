-- wmma.load, wmma.mma and wmma.store of every shape and type against sums of integers, in both layouts and with lines of
-- matrices apart; and that nothing of it depends on ticks' order or threads.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local shapes <const> = {
  m16n16k16 = { 16, 16, 16 }, m32n8k16 = { 32, 8, 16 }, m8n32k16 = { 8, 32, 16 }, m16n16k8 = { 16, 16, 8 },
  m8n8k4 = { 8, 8, 4 },
}

--- The bits of a small whole number as a float of so many exponent and fraction bits.
local function float_bits(value, exponent_bits, fraction_bits)
  if value == 0 then return 0 end
  local magnitude, exponent = math.abs(value), 0
  while magnitude >> (exponent + 1) > 0 do exponent = exponent + 1 end
  local fraction = (magnitude << fraction_bits >> exponent) & ((1 << fraction_bits) - 1)
  local bias = (1 << (exponent_bits - 1)) - 1
  local sign = value < 0 and 1 << (exponent_bits + fraction_bits) or 0
  return sign | (exponent + bias) << fraction_bits | fraction
end

local encodings <const> = {
  f16 = { "u16", function(value) return float_bits(value, 5, 10) end },
  bf16 = { "u16", function(value) return float_bits(value, 8, 7) end },
  tf32 = { "f32", function(value) return value end },
  f32 = { "f32", function(value) return value end },
  f64 = { "f64", function(value) return value end },
  s8 = { "i8", function(value) return value end },
  s32 = { "i32", function(value) return value end },
}

--- From line to line are as many elements as a line has, rounded up, and `gap`.
local function place(rows, columns, layout, gap)
  local stride = ((layout == "row" and columns or rows) + gap - 1) // gap * gap + gap
  return stride, function(row, column) return layout == "row" and row * stride + column or column * stride + row end
end

local function matrix(rows, columns, layout, type, seed, gap)
  local stride, index = place(rows, columns, layout, gap)
  local values, words = {}, ww.array(encodings[type][1], stride * (layout == "row" and rows or columns))
  for row = 0, rows - 1 do
    for column = 0, columns - 1 do
      seed = (seed * 1103515245 + 12345) % (1 << 31)
      local value = (seed >> 16) % 15 - 7
      values[row * columns + column] = value
      words:set(index(row, column), encodings[type][2](value))
    end
  end
  return values, words, stride, index
end

local function run_shape(self, gpu, name, seed)
  local shape, type, to, la, lb = name:match "^(m%w+)_(%w+)_(%w+)_(%w+)_(%w+)$"
  local m, n, k = table.unpack(shapes[shape])
  local lc = ((type == "f16" and la == "col") or type == "s8") and "col" or "row"
  local gap = type == "s8" and 16 or 8
  local a, a_words, a_stride = matrix(m, k, la, type, seed, gap)
  local b, b_words, b_stride = matrix(k, n, lb, type, seed + 1, gap)
  local c, c_words, c_stride, index = matrix(m, n, lc, to, seed + 2, gap)
  local want = ww.array(encodings[to][1], #c_words)
  for row = 0, m - 1 do
    for column = 0, n - 1 do
      local sum = c[row * n + column]
      for i = 0, k - 1 do sum = sum + a[row * k + i] * b[i * n + column] end
      want:set(index(row, column), encodings[to][2](sum))
    end
  end
  local out = gpu:upload(ww.array(encodings[to][1], #c_words))
  gpu:launch(self.kernels[name], {
    grid = 1, block = 32,
    args = { gpu:upload(a_words), gpu:upload(b_words), gpu:upload(c_words), out, a_stride, b_stride, c_stride },
  })
  self:check(name, gpu:download(encodings[to][1], out, #c_words), want)
end

local names <const> = {}
for _, shape in ipairs { "m16n16k16", "m32n8k16", "m8n32k16" } do
  for _, layouts in ipairs { "row_col", "col_row" } do
    for _, types in ipairs { "f16_f32", "f16_f16", "bf16_f32", "s8_s32" } do
      names[#names + 1] = ("%s_%s_%s"):format(shape, types, layouts)
    end
  end
end
for _, layouts in ipairs { "row_col", "col_row" } do
  names[#names + 1] = "m16n16k8_tf32_f32_" .. layouts
  names[#names + 1] = "m8n8k4_f64_f64_" .. layouts
end

local products = ww.workload "products" { ptx = "../kernels/wmma_kernel.ptx", sizes = { small = {} } }
function products:run(gpu)
  for i, name in ipairs(names) do run_shape(self, gpu, name, 17 * i) end
end

local function run(options)
  local all = { config = "gtx480", workload = products, size = "small", policy = "gto", out = false }
  for name, value in pairs(options or {}) do all[name] = value end
  return ww.run(all)
end

harness.test("wmma multiplies matrices of every shape, type and layout", function()
  local r = run()
  harness.equal(r.cycles, run({ order = "reversed" }).cycles, "cycles in another order")
  harness.equal(r.cycles, run({ threads = 2 }).cycles, "cycles with two threads")
end)

harness.finish()
