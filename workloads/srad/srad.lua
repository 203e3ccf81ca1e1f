local ww = require "warpwright"
local rows = require "workloads.lib.rows"

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
local function speckle_of(image, columns, height)
  local high, wide = math.min(height, region), math.min(columns, region)
  local sum, squares = 0, 0
  for row = 0, high - 1 do
    for i = row * columns, row * columns + wide - 1 do
      local pixel = image[i]
      sum, squares = sum + pixel, squares + pixel * pixel
    end
  end
  local mean = sum / (high * wide)
  return ww.float32.round((squares / (high * wide) - mean * mean) / (mean * mean))
end

--- Differences of a row's pixels from those above them and on their left, times the coefficients of
-- the pixels, in double precision.
local function slopes(above, own, below, speckle, from_above, from_left)
  local scale, p, w = speckle * speckle + speckle, own[0], 0
  local rest = scale - speckle
  for x = 0, #own do
    local right = own[x + 1] or p
    local n, s, e = p - above[x], below[x] - p, right - p
    local quarter = 0.25 * (s - n + e - w)
    local mean = p + quarter -- of the four neighbours
    local variation = (0.5 * (n * n + s * s + w * w + e * e) - quarter * quarter) / (mean * mean)
    local c = scale / (rest + variation)
    if c < 0 then c = 0 elseif c > 1 then c = 1 end
    from_above[x], from_left[x] = c * n, c * w
    p, w = right, e
  end
end

--- All pixels of an iteration, from those before it. What a pixel gives to the one above it or on
-- its left, that one gets; nothing flows across the edges.
local function updated(image, height, columns, speckle)
  local row_of, want, share = rows.of(image, columns), ww.array("f32", height * columns), 0.25 * step
  local up, left, up_below, left_below, after = {}, {}, {}, {}, {}
  slopes(row_of(0), row_of(0), row_of(1), speckle, up, left)
  for row = 0, height - 1 do
    local own = row_of(row)
    slopes(own, row_of(row + 1), row_of(row + 2), speckle, up_below, left_below)
    for x = 0, columns - 1 do
      after[x] = own[x] + share * (up_below[x] - up[x] + (left[x + 1] or 0) - left[x])
    end
    rows.put(want, row * columns, after)
    up, left, up_below, left_below = up_below, left_below, up, left
  end
  return want
end

--- The five arrays of the first kernel (at `dev`) in one row, to the last bit.
local function check_row(self, gpu, image, size, row, speckle, dev)
  local round, fma, columns, row_of = ww.float32.round, ww.float32.fma, size.columns, rows.of(image, size.columns)
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
    self:check(("%s in row %d"):format(arrays[i], row), gpu:download("f32", dev[i] + 4 * row * columns, columns), want)
  end
end

function srad:run(gpu, size)
  local height, columns = size.rows, size.columns
  if height % tile ~= 0 or columns % tile ~= 0 then
    error(("srad: rows, columns: expected multiples of %d, got %d and %d"):format(tile, height, columns), 0)
  end
  local pixels = height * columns
  local image = ww.array("f32", pixels):random(size.seed, 1, 2.7)
  local dev_image, dev = gpu:upload(image), {}
  for i = 1, #arrays do dev[i] = gpu:alloc(4 * pixels) end
  local grid, block, rng = { columns // tile, height // tile, 1 }, { tile, tile, 1 }, ww.rng(size.seed + 1)

  for iteration = 1, size.iterations do
    local speckle = speckle_of(image, columns, height)
    gpu:launch(self.kernels.srad_coefficients, {
      grid = grid, block = block,
      args = { dev_image, dev[1], dev[2], dev[3], dev[4], dev[5], height, columns, speckle },
    })
    gpu:launch(self.kernels.srad_update, {
      grid = grid, block = block,
      args = { dev_image, dev[1], dev[2], dev[3], dev[4], dev[5], height, columns, 0.25 * step },
    })

    for _, row in ipairs { 0, height - 1, rng:int(0, height - 1), rng:int(0, height - 1) } do
      check_row(self, gpu, image, size, row, speckle, dev)
    end
    local after = gpu:download("f32", dev_image, pixels)
    self:check("image after iteration " .. iteration, after, updated(image, height, columns, speckle), { abs = 1e-5 })
    image = after
  end
end

return srad
