local ww = require "warpwright"

local walsh = ww.workload "walsh" {
  doc = "fast Walsh-Hadamard transform of rows of 1024 elements in shared memory; version plain or d2ma",
  ptx = "walsh.ptx",
  sizes = {
    small = { rows = 64, version = "plain", registers = 20, seed = 1 },
    medium = { rows = 1440, version = "plain", registers = 20, seed = 1 },
    large = { rows = 11520, version = "plain", registers = 20, seed = 1 },
  },
}

local row_length, threads = 1024, 256

--- The transform of a list of numbers by halves: H(a, b) = H(a + b), H(a - b).
local function transform(values, first, count)
  if count == 1 then return end
  local half = count // 2
  for i = first, first + half - 1 do
    local a, b = values[i], values[i + half]
    values[i], values[i + half] = a + b, a - b
  end
  transform(values, first, half)
  transform(values, first + half, half)
end

function walsh:run(gpu, size)
  local n = size.rows * row_length
  local whole = ww.array("i32", n):random(size.seed, -100, 100) -- whole numbers, so that every sum is exact
  local values, want = ww.array("f32", n), ww.array("f32", n)
  local row = {}
  for first = 0, n - 1, row_length do
    for i = 0, row_length - 1 do
      row[i] = whole[first + i]
      values[first + i] = row[i]
    end
    transform(row, 0, row_length)
    for i = 0, row_length - 1 do want[first + i] = row[i] end
  end
  local dev_in, dev_out = gpu:upload(values), gpu:alloc(4 * n)

  gpu:launch(self.kernels["walsh_" .. size.version], {
    grid = size.rows,
    block = threads,
    registers = size.registers,
    args = { dev_in, dev_out },
  })

  self:check("transform", gpu:download("f32", dev_out, n), want)
end

return walsh
