local ww = require "warpwright"

local conv2d = ww.workload "conv2d" {
  doc = "3 x 3 filter from global memory, rows a power of two apart: the rows of a CTA compete for one or two sets of the L1",
  ptx = "conv2d.ptx",
  sizes = { -- lda: pixels from row to row
    small = { rows = 64, columns = 1024, lda = 4096, seed = 1 },
    medium = { rows = 2048, columns = 4096, lda = 4096, seed = 1 },
    paper = { rows = 4096, columns = 4096, lda = 4096, seed = 1 },
  },
  expected = { class = "conflict", hit_rate = { 0, 0.25 }, mpki = { 3, 10 } },
}

-- { rows down, columns right, weight }, in the order in which the kernel adds them up
local weights = {
  { -1, -1, 0.25 }, { 0, -1, -0.5 }, { 1, -1, 0.75 },
  { -1, 0, 0.375 }, { 0, 0, -0.625 }, { 1, 0, 0.875 },
  { -1, 1, -0.125 }, { 0, 1, 0.3125 }, { 1, 1, -0.4375 },
}

--- Every pixel, edges included, by sums of pieces of rows, each pixel with a weight of its own. The
-- filter is linear: the sum of a piece is that of nine pieces of the input.
local function check_all(self, size, input, output)
  local rows, columns, lda, piece = size.rows, size.columns, size.lda, 256
  local r = ww.array("f32", columns):random(size.seed + 1, 0.5, 1)
  local pieces = (columns - 2 + piece - 1) // piece
  local got, want = ww.array("f64", rows * pieces), ww.array("f64", rows * pieces)
  for row = 1, rows - 2 do
    for i = 0, pieces - 1 do
      local first = 1 + i * piece
      local count, at, sum = math.min(piece, columns - 1 - first), row * lda + first, 0
      for _, w in ipairs(weights) do sum = sum + w[3] * input:dot(r, at + w[1] * lda + w[2], first, count, 1, 1) end
      got[row * pieces + i], want[row * pieces + i] = output:dot(r, at, first, count, 1, 1), sum
    end
  end
  self:check("sums of pieces of rows", got, want, { abs = 1e-5 })
end

local function check_rows(self, size, input, output)
  local columns, lda, fma, round, rng = size.columns, size.lda, ww.float32.fma, ww.float32.round, ww.rng(size.seed + 2)
  for sample = 0, 3 do
    local row = sample == 0 and size.rows - 2 or rng:int(1, size.rows - 2)
    local want = output:slice(row * lda, columns):fill(0)
    for column = 1, columns - 2 do
      local at, sum = row * lda + column, nil
      for _, w in ipairs(weights) do
        local pixel = input[at + w[1] * lda + w[2]]
        sum = sum and fma(w[3], pixel, sum) or round(w[3] * pixel)
      end
      want[column] = sum
    end
    self:check(("row %d"):format(row), output:slice(row * lda, columns), want)
  end
end

function conv2d:run(gpu, size)
  local rows, columns, lda = size.rows, size.columns, size.lda
  if lda < columns then error(("conv2d: lda: expected at least columns (%d), got %d"):format(columns, lda), 0) end
  local input = ww.array("f32", rows * lda):random(size.seed, -1, 1)
  local dev_in, dev_out = gpu:upload(input), gpu:upload(ww.array("f32", rows * lda))

  gpu:launch(self.kernels.conv2d, {
    grid = { (columns + 31) // 32, (rows + 7) // 8, 1 },
    block = { 32, 8, 1 },
    args = { dev_in, dev_out, rows, columns, lda },
  })

  local output = gpu:download("f32", dev_out, rows * lda)
  check_all(self, size, input, output)
  check_rows(self, size, input, output)
  for _, row in ipairs { 0, rows - 1 } do
    self:check("edge row " .. row, output:slice(row * lda, lda), ww.array("f32", lda))
  end
end

return conv2d
