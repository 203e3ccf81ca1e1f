-- The kernels of job_kernels.cu as a workload: atomics whose results are used on some paths only, a fence and a last CTA,
-- votes, arrays in local memory and constant tables that registers index.
local ww = require "warpwright"

local job_kernels = ww.workload "job_kernels" {
  ptx = "job_kernels.ptx",
  sizes = { small = { kernel = "all", ctas = 8, seed = 1 } }, -- `kernel`: all, combine, reduce, radix_pass, shuffle
}

function job_kernels:combine(gpu, size, numbers, buffer)
  local n, results = #numbers - 3, gpu:upload(ww.array("u32", 3))
  gpu:launch(self.kernels.combine, { grid = size.ctas, block = 256, args = { results, buffer, n } })
  local maximum, xor, sum = 0, 0, 0
  for i = 0, n - 1 do
    maximum, xor, sum = math.max(maximum, numbers[i] >> 2), xor ~ numbers[i], sum + (numbers[i] >> 2)
  end
  local want = ww.array("u32", 3):set(0, maximum):set(1, xor):set(2, sum & 0xffffffff)
  self:check("maximum, xor and sum", gpu:download("u32", results, 3), want)
end

function job_kernels:reduce(gpu, size, numbers, buffer)
  local n = #numbers - 7
  local partial, done, sum = gpu:alloc(4 * size.ctas), gpu:upload(ww.array("u32", 1)), gpu:upload(ww.array("u32", 1))
  gpu:launch(self.kernels.reduce, { grid = size.ctas, block = 128, args = { buffer, partial, done, sum, n } })
  local want = 0
  for i = 0, n - 1 do want = want + (numbers[i] & 1023) end
  self:check("sum by the last CTA", gpu:download("u32", sum, 1), ww.u32(want))
end

function job_kernels:radix_pass(gpu, size, numbers, buffer)
  local to, want, at = gpu:alloc(4 * #numbers), ww.array("u32", #numbers), 0
  gpu:launch(self.kernels.radix_pass, { grid = size.ctas, block = 256, args = { buffer, to, 9 } })
  for cta = 0, size.ctas - 1 do
    for digit = 0, 15 do
      for i = 256 * cta, 256 * cta + 255 do
        if numbers[i] >> 9 & 15 == digit then
          want[at] = numbers[i]
          at = at + 1
        end
      end
    end
  end
  self:check("sorted by four bits", gpu:download("u32", to, #numbers), want)
end

function job_kernels:shuffle(gpu, size, numbers, buffer)
  local n, steps = #numbers - 5, { [0] = 3, 1, 4, 1, 5, 9, 2, 6 }
  local to, want = gpu:alloc(4 * n), ww.array("u32", n)
  gpu:launch(self.kernels.shuffle, { grid = 2 * size.ctas, block = 128, args = { buffer, to, n } })
  for i = 0, n - 1 do
    local own, sum = {}, 0
    for k = 0, 15 do own[k] = numbers[(i + k * 37) % n] end
    for k = 0, 15 do
      local number = own[k]
      own[k] = own[number & 15]
      own[number & 15] = (number * 3 + steps[number >> 5 & 7]) & 0xffffffff
    end
    for k = 0, 15 do sum = (sum * 31 + own[k]) & 0xffffffff end
    want[i] = sum
  end
  self:check("shuffled sums", gpu:download("u32", to, n), want)
end

function job_kernels:run(gpu, size)
  local numbers = ww.array("u32", 256 * size.ctas):random(size.seed, 0, 0x7fffffff)
  local buffer = gpu:upload(numbers)
  for _, kernel in ipairs { "combine", "reduce", "radix_pass", "shuffle" } do
    if size.kernel == "all" or size.kernel == kernel then self[kernel](self, gpu, size, numbers, buffer) end
  end
end

return job_kernels
