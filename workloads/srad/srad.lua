local ww = require "warpwright"

local srad = ww.workload "srad" {
  doc = "Speckle-reducing diffusion of an image, two kernels an iteration: tiles whose rows fall into one or two sets of the L1",
  ptx = "srad.ptx",
  sizes = { -- rows and columns are multiples of 16
    small = { rows = 32, columns = 1024, iterations = 1, seed = 1 },
    medium = { rows = 2048, columns = 2048, iterations = 1, seed = 1 },
    paper = { rows = 2048, columns = 2048, iterations = 2, seed = 1 },
  },
  expected = { class = "conflict; memory-intensive", hit_rate = { 0, 0.25 }, instructions_per_miss = { 8, 30 } },
}

local arrays <const> = { "north", "south", "west", "east", "coefficient" } -- in the order of the kernels' arguments
local tile <const>, step <const>, region <const> = 16, 0.5, 64

--- What the program takes for the noise: variance over squared mean of a corner of the image.
local function speckle_of(image, columns, rows)
  local height, width = math.min(rows, region), math.min(columns, region)
  local sum, squares = 0, 0
  for row = 0, height - 1 do
    for i = row * columns, row * columns + width - 1 do
      local pixel = image[i]
      sum, squares = sum + pixel, squares + pixel * pixel
    end
  end
  local mean = sum / (height * width)
  return ww.float32.round((squares / (height * width) - mean * mean) / (mean * mean))
end

--- Rows of an image as Lua tables, by number; those beyond the first and last row are these.
local function reader(image, rows, columns)
  local kept = {}
  return function(row)
    row = math.max(0, math.min(rows - 1, row))
    if not kept[row] then
      local values, first = {}, row * columns
      for x = 0, columns - 1 do values[x] = image[first + x] end
      kept[row], kept[row - 4] = values, nil
    end
    return kept[row]
  end
end

--- Differences and coefficients of a row, in double precision.
local function coefficients(above, own, below, columns, speckle)
  local c, scale = {}, speckle * speckle + speckle
  for x = 0, columns - 1 do
    local p = own[x]
    local n, s, w, e = above[x] - p, below[x] - p, own[x > 0 and x - 1 or 0] - p, own[x < columns - 1 and x + 1 or x] - p
    local l = (n + s + w + e) / p
    local d = 1 + 0.25 * l
    local q = (0.5 * (n * n + s * s + w * w + e * e) / (p * p) - 0.0625 * l * l) / (d * d)
    local v = 1 / (1 + (q - speckle) / scale)
    c[x] = v < 0 and 0 or v > 1 and 1 or v
  end
  return c
end

--- All pixels of an iteration, from those before it, in double precision.
local function updated(image, rows, columns, speckle)
  local row_of, want = reader(image, rows, columns), ww.array("f32", rows * columns)
  local c_below = coefficients(row_of(0), row_of(0), row_of(1), columns, speckle)
  for row = 0, rows - 1 do
    local c = c_below
    if row < rows - 1 then c_below = coefficients(row_of(row), row_of(row + 1), row_of(row + 2), columns, speckle) end
    local above, own, below, first = row_of(row - 1), row_of(row), row_of(row + 1), row * columns
    for x = 0, columns - 1 do
      local p, right = own[x], x < columns - 1 and x + 1 or x
      local flow = c[x] * (above[x] - p + own[x > 0 and x - 1 or 0] - p) + c_below[x] * (below[x] - p) + c[right] * (own[right] - p)
      want[first + x] = p + 0.25 * step * flow
    end
  end
  return want
end

--- The five arrays of the first kernel in one row, to the last bit.
local function check_row(self, image, size, row, speckle, got)
  local round, fma, columns, row_of = ww.float32.round, ww.float32.fma, size.columns, reader(image, size.rows, size.columns)
  local above, own, below = row_of(row - 1), row_of(row), row_of(row + 1)
  local north, south, west, east, c = ww.array("f32", columns), ww.array("f32", columns), ww.array("f32", columns),
    ww.array("f32", columns), ww.array("f32", columns)
  for x = 0, columns - 1 do
    local p = own[x]
    local n, s = round(above[x] - p), round(below[x] - p)
    local w, e = round(own[x > 0 and x - 1 or 0] - p), round(own[x < columns - 1 and x + 1 or x] - p)
    local gradient = round(fma(e, e, fma(w, w, fma(s, s, round(n * n)))) / round(p * p))
    local l = round(round(round(round(n + s) + w) + e) / p)
    local d = fma(0.25, l, 1.0)
    local variation = round(fma(round(-0.0625 * l), l, round(0.5 * gradient)) / round(d * d))
    local excess = round(round(variation - speckle) / fma(speckle, speckle, speckle))
    local v = round(1 / round(1 + excess))
    north[x], south[x], west[x], east[x], c[x] = n, s, w, e, v < 0 and 0 or v > 1 and 1 or v
  end
  for i, want in ipairs { north, south, west, east, c } do
    self:check(("%s in row %d"):format(arrays[i], row), got[i]:slice(row * columns, columns), want)
  end
end

function srad:run(gpu, size)
  local rows, columns = size.rows, size.columns
  if rows % tile ~= 0 or columns % tile ~= 0 then
    error(("srad: rows, columns: expected multiples of %d, got %d and %d"):format(tile, rows, columns), 0)
  end
  local pixels = rows * columns
  local image = ww.array("f32", pixels):random(size.seed, 1, 2.7)
  local dev_image, dev = gpu:upload(image), {}
  for i = 1, #arrays do dev[i] = gpu:alloc(4 * pixels) end
  local grid, block, rng = { columns // tile, rows // tile, 1 }, { tile, tile, 1 }, ww.rng(size.seed + 1)

  for iteration = 1, size.iterations do
    local speckle = speckle_of(image, columns, rows)
    gpu:launch(self.kernels.srad_coefficients, {
      grid = grid, block = block, args = { dev_image, dev[1], dev[2], dev[3], dev[4], dev[5], rows, columns, speckle },
    })
    gpu:launch(self.kernels.srad_update, {
      grid = grid, block = block, args = { dev_image, dev[1], dev[2], dev[3], dev[4], dev[5], rows, columns, 0.25 * step },
    })

    local got = {}
    for i = 1, #arrays do got[i] = gpu:download("f32", dev[i], pixels) end
    for _, row in ipairs { 0, rows - 1, rng:int(0, rows - 1), rng:int(0, rows - 1) } do
      check_row(self, image, size, row, speckle, got)
    end
    local after = gpu:download("f32", dev_image, pixels)
    self:check("image after iteration " .. iteration, after, updated(image, rows, columns, speckle), { abs = 1e-5 })
    image = after
  end
end

return srad
