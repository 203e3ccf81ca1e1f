local ww = require "warpwright"

local lud = ww.workload "lud" {
  doc = "LU decomposition by blocks of 16 x 16; kernel internal or diagonal is of version plain or d2ma",
  ptx = "lud.ptx",
  sizes = {
    small = { n = 96, kernel = "internal", version = "plain", registers = 20, seed = 1 },
    medium = { n = 320, kernel = "internal", version = "plain", registers = 20, seed = 1 },
    large = { n = 1024, kernel = "internal", version = "plain", registers = 20, seed = 1 },
  },
}

local block = 16

--- A matrix of the LU decomposition times a vector. L has ones on its diagonal.
local function times_lower(LU, v, n)
  local result = ww.array("f64", n)
  for i = 0, n - 1 do result[i] = LU:dot(v, i * n, 0, i, 1, 1) + v[i] end
  return result
end

local function times_upper(LU, v, n)
  local result = ww.array("f64", n)
  for i = 0, n - 1 do result[i] = LU:dot(v, i * n + i, i, n - i, 1, 1) end
  return result
end

--- Freivalds' check: L (U r) must be A r for random vectors r.
local function check(self, A, LU, size)
  local n = size.n
  for i = 1, 2 do
    local r, want = ww.array("f64", n):random(size.seed + i, 0.5, 1), ww.array("f64", n)
    for row = 0, n - 1 do want[row] = A:dot(r, row * n, 0, n, 1, 1) end
    self:check("L U r", times_lower(LU, times_upper(LU, r, n), n), want, { rel = 2e-6 })
  end
end

function lud:run(gpu, size)
  local n, blocks = size.n, size.n // block
  self:check_that("n is a multiple of " .. block, n % block == 0)
  local A = ww.array("f32", n * n):random(size.seed, 0, 1)
  for i = 0, n - 1 do A[i * n + i] = A[i * n + i] + n end -- so that it needs no pivoting
  local dev_a = gpu:upload(A)

  local kernels = { diagonal = "lud_diagonal", internal = "lud_internal" }
  self:check_that("kernel is internal or diagonal", kernels[size.kernel] ~= nil)
  kernels[size.kernel] = kernels[size.kernel] .. "_" .. size.version
  local diagonal, internal = self.kernels[kernels.diagonal], self.kernels[kernels.internal]
  for k = 0, blocks - 1 do
    local left, args = blocks - 1 - k, { dev_a, n, k }
    gpu:launch(diagonal, { grid = 1, block = block, registers = size.registers, args = args })
    if left > 0 then
      gpu:launch(self.kernels.lud_perimeter, { grid = { left, 2 }, block = block, registers = size.registers, args = args })
      gpu:launch(internal, { grid = { left, left }, block = { block, block }, registers = size.registers, args = args })
    end
  end
  check(self, A, gpu:download("f32", dev_a, n * n), size)
end

return lud
