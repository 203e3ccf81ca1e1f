local ww = require "warpwright"
local rows = require "workloads.lib.rows"

local walsh = ww.workload "walsh" {
  doc = "fast Walsh-Hadamard transform of rows of 1024 elements in shared memory; version plain or d2ma",
  ptx = "walsh.ptx",
  sizes = {
    small = { rows = 64, version = "plain", registers = 20, seed = 1 },
    medium = { rows = 1440, version = "plain", registers = 20, seed = 1 },
    large = { rows = 11520, version = "plain", registers = 20, seed = 1 },
  },
}

local row_length <const>, threads <const> = 1024, 256 -- a row: a power of 4

--- The transform of a row by quarters: H(a, b, c, d) = H(a + b + c + d), H(a - b + c - d), H(a + b
-- - c - d), H(a - b - c + d).
local function transform(values)
  local quarter = row_length // 4
  while quarter >= 1 do
    for first = 0, row_length - 1, 4 * quarter do
      for i = first, first + quarter - 1 do
        local j, k, l = i + quarter, i + 2 * quarter, i + 3 * quarter
        local a, b, c, d = values[i], values[j], values[k], values[l]
        a, b, c, d = a + c, b + d, a - c, b - d
        values[i], values[j], values[k], values[l] = a + b, a - b, c + d, c - d
      end
    end
    quarter = quarter // 4
  end
end

function walsh:run(gpu, size)
  local n = size.rows * row_length
  local whole = ww.array("i32", n):random(size.seed, -100, 100) -- whole numbers, so that every sum is exact
  local values, want, row_of = ww.array_from("f32", whole), ww.array("f32", n), rows.of(whole, row_length)
  for row = 0, size.rows - 1 do
    local own = row_of(row)
    transform(own)
    rows.put(want, row * row_length, own)
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
