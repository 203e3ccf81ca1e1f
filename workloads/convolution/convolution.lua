local ww = require "warpwright"
local constants = require "workloads.lib.constants"

local convolution = ww.workload "convolution" {
  doc = "Separable filter of 17 taps: a pass along rows, and one along columns, whose CTAs share lines in pairs",
  ptx = "convolution.ptx",
  sizes = { -- columns: a multiple of 128; rows: of 64. pass: "both", "rows" or "columns"
    small = { rows = 64, columns = 128, pass = "both", seed = 1 },
    medium = { rows = 2048, columns = 2048, pass = "both", seed = 1 },
    paper = { rows = 3072, columns = 3072, pass = "both", seed = 1 },
  },
  expected = { class = "streaming, its rows in halves of lines", hit_rate = { 0.1, 0.4 }, mpki = { 0, 10 } },
}

local radius <const> = 8

--- Checks a pass over `lines` lines of `length` pixels: pixel p of line l is at l * down + p *
-- across, and the filter goes along the line. Sums of lines, each pixel with a weight of its own,
-- are those of the input with filtered weights; sampled pixels are right to the last bit.
local function check_pass(self, name, before, after, taps, shape, seed)
  local lines, length, down, across = shape.lines, shape.length, shape.down, shape.across
  local weight = ww.array("f64", length):random(seed, 0.5, 1)
  local filtered = ww.array("f64", length)
  for p = 0, length - 1 do
    local sum = 0
    for q = math.max(0, p - radius), math.min(length - 1, p + radius) do
      sum = sum + taps[p - q + radius] * weight[q]
    end
    filtered[p] = sum
  end
  local got, want = ww.array("f64", lines), ww.array("f64", lines)
  for l = 0, lines - 1 do
    got[l] = after:dot(weight, l * down, 0, length, across, 1)
    want[l] = before:dot(filtered, l * down, 0, length, across, 1)
  end
  self:check("weighted sums after the pass along " .. name, got, want, { abs = length * 2.0 ^ -24 })

  local rng, samples, fma = ww.rng(seed + 1), math.min(4096, lines * length), ww.float32.fma
  local sample, wanted = ww.array("f32", samples), ww.array("f32", samples)
  for s = 0, samples - 1 do
    local l, p = rng:int(0, lines - 1), rng:int(0, length - 1)
    if s == 0 then l, p = lines - 1, length - 1 end
    local sum = 0.0
    for q = p - radius, p + radius do
      sum = fma(taps[q - p + radius], q >= 0 and q < length and before[l * down + q * across] or 0, sum)
    end
    sample[s], wanted[s] = after[l * down + p * across], sum
  end
  self:check("sampled pixels after the pass along " .. name, sample, wanted)
end

function convolution:run(gpu, size)
  local rows, columns, pass = size.rows, size.columns, size.pass
  if columns % 128 ~= 0 or rows % 64 ~= 0 then
    error(("convolution: columns, rows: expected multiples of 128 and 64, got %d and %d"):format(columns, rows), 0)
  end
  if pass ~= "both" and pass ~= "rows" and pass ~= "columns" then
    error(("convolution: pass: expected both, rows or columns, got '%s'"):format(pass), 0)
  end
  local pixels = rows * columns
  local image = ww.array("f32", pixels):random(size.seed, 0, 1)
  local taps = ww.array("f32", 2 * radius + 1):random(size.seed + 1, 0, 0.1)
  constants.write(gpu, self.kernels.where_is_taps, taps)
  local from, to = gpu:upload(image), gpu:alloc(4 * pixels)

  if pass ~= "columns" then
    gpu:launch(self.kernels.convolve_rows, {
      grid = { columns // 128, rows // 4, 1 }, block = { 16, 4, 1 }, args = { from, to, columns },
    })
    local after = gpu:download("f32", to, pixels)
    check_pass(self, "rows", image, after, taps,
      { lines = rows, length = columns, down = columns, across = 1 }, size.seed + 2)
    image, from, to = after, to, from
  end
  if pass ~= "rows" then
    gpu:launch(self.kernels.convolve_columns, {
      grid = { columns // 16, rows // 64, 1 }, block = { 16, 8, 1 }, args = { from, to, columns, rows },
    })
    check_pass(self, "columns", image, gpu:download("f32", to, pixels), taps,
      { lines = columns, length = rows, down = 1, across = columns }, size.seed + 4)
  end
end

return convolution
