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

--- What a pixel becomes, from the rows above, of and below it. Pixels are whole numbers, so that sums are exact.
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
  local row = { [-1] = 0, [width] = 0 }
  local inside = y >= 0 and y < height
  for x = 0, width - 1 do row[x] = inside and image[y * width + x] or 0 end
  return row
end

local function reference(image, width, height, pixel)
  local want = ww.array("f32", width * height)
  local above, here = padded_row(image, width, height, -1), padded_row(image, width, height, 0)
  for y = 0, height - 1 do
    local below = padded_row(image, width, height, y + 1)
    for x = 0, width - 1 do want[y * width + x] = pixel(above, here, below, x) end
    above, here = here, below
  end
  return want
end

function filter:run(gpu, size)
  local width, height = size.width, size.height
  self:check_that("width is a multiple of 32 and height one of 8", width % tile_width == 0 and height % tile_height == 0)
  local kernel = self.kernels[("%s_%s"):format(size.filter, size.version)]
  local image = ww.array("f32", width * height)
  local rng = ww.rng(size.seed)
  for i = 0, width * height - 1 do image[i] = rng:int(0, 255) end
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
