local ww = require "warpwright"

local filter = ww.workload "filter" {
  doc = "3 x 3 filter of an image, tiles with a halo in shared memory: gauss, mean or sobel; version plain or d2ma",
  ptx = "filter.ptx",
  sizes = {
    small = { filter = "gauss", width = 256, height = 128, version = "plain", registers = 20, seed = 1 },
    medium = { filter = "gauss", width = 1024, height = 1024, version = "plain", registers = 20, seed = 1 },
    large = { filter = "gauss", width = 4096, height = 4096, version = "plain", registers = 20, seed = 1 },
  },
}

local tile_width, tile_height = 32, 8
local ninth = ww.float32.round(1 / 9)

--- What a pixel becomes, from the rows above, of and below it. Pixels are whole numbers, so that
-- sums are exact.
local filters = {
  gauss = function(a, b, c, x)
    local corners = a[x - 1] + a[x + 1] + c[x - 1] + c[x + 1]
    return (corners + 2 * (a[x] + b[x - 1] + b[x + 1] + c[x]) + 4 * b[x]) / 16
  end,
  mean = function(a, b, c, x)
    return (a[x - 1] + a[x] + a[x + 1] + b[x - 1] + b[x] + b[x + 1] + c[x - 1] + c[x] + c[x + 1]) * ninth
  end,
  sobel = function(a, b, c, x)
    local gx = a[x + 1] - a[x - 1] + 2 * (b[x + 1] - b[x - 1]) + c[x + 1] - c[x - 1]
    local gy = c[x - 1] - a[x - 1] + 2 * (c[x] - a[x]) + c[x + 1] - a[x + 1]
    return math.abs(gx) + math.abs(gy)
  end,
}

--- A row of the image with a zero at both ends; rows beyond the image are zeros.
local function padded_row(image, width, height, y)
  local inside = y >= 0 and y < height
  local row = (inside and image:slice(y * width, width) or ww.array("f32", width)):table()
  row[-1], row[width] = 0, 0
  return row
end

local function reference(image, width, height, pixel)
  local want, filtered = ww.array("f32", width * height), {}
  local above, here = padded_row(image, width, height, -1), padded_row(image, width, height, 0)
  for y = 0, height - 1 do
    local below = padded_row(image, width, height, y + 1)
    for x = 0, width - 1 do filtered[x + 1] = pixel(above, here, below, x) end
    want:put(y * width, ww.f32(filtered))
    above, here = here, below
  end
  return want
end

function filter:run(gpu, size)
  local width, height = size.width, size.height
  self:check_that("width is a multiple of 32 and height one of 8", width % tile_width == 0 and height % tile_height == 0)
  local kernel = self.kernels[("%s_%s"):format(size.filter, size.version)]
  local bytes = ww.array_from("u8", ww.rng(size.seed):bytes(width * height, 0, 255))
  local image = ww.array_from("f32", bytes)
  local dev_in, dev_out = gpu:upload(image), gpu:alloc(4 * width * height)

  gpu:launch(kernel, {
    grid = { width // tile_width, height // tile_height },
    block = { tile_width, tile_height },
    registers = size.registers,
    args = { dev_in, dev_out, width, height },
  })
  local got = gpu:download("f32", dev_out, width * height)
  self:check(size.filter, got, reference(image, width, height, filters[size.filter]))
end

return filter
