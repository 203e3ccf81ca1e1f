local ww = require "warpwright"

local dct8x8 = ww.workload "dct8x8" {
  doc = "cosine transform of blocks of 8 x 8 pixels, tiles of 32 x 32 in shared memory; version plain or d2ma",
  ptx = "dct8x8.ptx",
  sizes = {
    small = { width = 192, height = 192, launches = 1, version = "plain", registers = 20, seed = 1 },
    medium = { width = 256, height = 288, launches = 8, -- 590 KB: from the second launch on its tiles are in an L2 of 768 KB
      version = "plain", registers = 20, seed = 1 },
    large = { width = 4096, height = 4096, launches = 1, version = "plain", registers = 20, seed = 1 },
  },
}

local tile, threads = 32, 128

--- cosine[k][i]: what pixel i counts in coefficient k.
local cosine = {}
for k = 0, 7 do
  cosine[k] = {}
  for i = 0, 7 do cosine[k][i] = (k == 0 and math.sqrt(1 / 8) or 0.5) * math.cos((2 * i + 1) * k * math.pi / 16) end
end

--- The eight coefficients of the numbers at[0], at[step] ... in double precision, by the
-- definition, to the same places.
local function transform(v, first, step)
  local v0, v1, v2, v3 = v[first], v[first + step], v[first + 2 * step], v[first + 3 * step]
  local v4, v5, v6, v7 = v[first + 4 * step], v[first + 5 * step], v[first + 6 * step], v[first + 7 * step]
  for k = 0, 7 do
    local c = cosine[k]
    v[first + k * step] = c[0] * v0 + c[1] * v1 + c[2] * v2 + c[3] * v3 + c[4] * v4 + c[5] * v5 + c[6] * v6 + c[7] * v7
  end
end

--- The transform of every block: of eight rows of pixels at a time.
local function reference(image, width, height)
  local want, band = ww.array("f64", width * height), {}
  for top = 0, height * width - 1, 8 * width do
    for i = 0, 8 * width - 1 do band[i] = image[top + i] end
    for first = 0, 8 * width - 1, 8 do transform(band, first, 1) end
    for block = 0, width - 1, 8 do
      for column = block, block + 7 do transform(band, column, width) end
    end
    for i = 0, 8 * width - 1 do want[top + i] = band[i] end
  end
  return want
end

function dct8x8:run(gpu, size)
  local width, height = size.width, size.height
  self:check_that("width and height are multiples of " .. tile, width % tile == 0 and height % tile == 0)
  local image = ww.array("f32", width * height):random(size.seed, -128, 128)
  local dev_in, dev_out = gpu:upload(image), gpu:alloc(4 * width * height)

  for _ = 1, size.launches do
    gpu:launch(self.kernels["dct8x8_" .. size.version], {
      grid = { width // tile, height // tile },
      block = threads,
      registers = size.registers,
      args = { dev_in, dev_out, width },
    })
  end
  local got = gpu:download("f32", dev_out, width * height)
  self:check("coefficients", got, reference(image, width, height), { abs = 1e-3 })
end

return dct8x8
