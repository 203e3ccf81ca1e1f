local ww = require "warpwright"
local constants = require "workloads.lib.constants"

local leukocyte = ww.workload "leukocyte" {
  doc = "White blood cells in a video: circles and dilation through textures, then diffusion in shared memory",
  ptx = "leukocyte.ptx",
  sizes = {
    -- kernel: "score", "dilate", "field" or "all". columns: CTAs of `score`. first: what `score` fetches beside the
    -- gradient, its other part ("gradient") or cosines, the same for all ("uniform").
    small = {
      kernel = "all", columns = 4, circles = 1, first = "gradient", width = 10, height = 30,
      cells = 1, sweeps = 2, seed = 1,
    },
    score = { kernel = "score", columns = 240, circles = 3, first = "gradient", seed = 1 },
    dilate = { kernel = "dilate", width = 200, height = 219, seed = 1 },
    field = { kernel = "field", cells = 36, sweeps = 20, seed = 1 },
    medium = {
      kernel = "all", columns = 120, circles = 3, first = "gradient", width = 160, height = 219,
      cells = 15, sweeps = 20, seed = 1,
    },
    paper = {
      kernel = "all", columns = 480, circles = 7, first = "gradient", width = 640, height = 219,
      cells = 36, sweeps = 20, seed = 1,
    },
  },
  expected = {
    class = "score: from textures, at the limit of compute-intensive", size = "score,columns=15,circles=1",
    instructions_per_miss = { 30, 1e9 }, instructions_per_texture_miss = { 15, 100 },
  },
}

-- Scores of circles -------------------------------------------------------------------------------------------------

local points <const>, most_circles <const>, rows <const>, margin <const> = 150, 7, 220, 22

--- Offsets of the points of the circles, with radii 8, 10 ... 20, and the cosines and sines of their angles.
local function circle_points()
  local c = {
    column = ww.array("i32", most_circles * points), row = ww.array("i32", most_circles * points),
    cosine = ww.array("f32", points), sine = ww.array("f32", points),
  }
  for n = 0, points - 1 do
    local angle = 2 * math.pi * n / points
    c.cosine[n], c.sine[n] = math.cos(angle), math.sin(angle)
    for k = 0, most_circles - 1 do
      local radius = 8 + 2 * k
      c.column[k * points + n] = math.floor(radius * math.cos(angle) + 0.5)
      c.row[k * points + n] = math.floor(radius * math.sin(angle) + 0.5)
    end
  end
  return c
end

local function as_table(array)
  local t = {}
  for i = 0, #array - 1 do t[i] = array[i] end
  return t
end

--- All scores in double precision, by sums of deviations from the mean.
local function reference_scores(size, c, x, y)
  local want, outwards = ww.array("f32", (size.columns + 2 * margin) * rows), {}
  for column = margin, size.columns + margin - 1 do
    for row = margin, rows - margin - 1 do
      local best = 0
      for k = 0, size.circles - 1 do
        local sum, offset, at = 0, c.offset[k], column * rows + row
        for n = 0, points - 1 do
          local place = at + offset[n]
          local value = x[place] * c.cosine[n] + (y and y[place] * c.sine[n] or 0)
          outwards[n], sum = value, sum + value
        end
        local mean, deviations = sum / points, 0
        for n = 0, points - 1 do
          local deviation = outwards[n] - mean
          deviations = deviations + deviation * deviation
        end
        best = math.max(best, mean * mean / (deviations / (points - 1)))
      end
      want[column * rows + row] = best
    end
  end
  return want
end

local function score(self, gpu, size)
  if size.circles < 1 or size.circles > most_circles then
    error(("leukocyte: circles: expected 1 to %d, got %d"):format(most_circles, size.circles), 0)
  end
  if size.first ~= "gradient" and size.first ~= "uniform" then
    error(("leukocyte: first: expected gradient or uniform, got '%s'"):format(size.first), 0)
  end
  local pixels, c, uniform = (size.columns + 2 * margin) * rows, circle_points(), size.first == "uniform"
  for _, name in ipairs { "column", "row", "cosine", "sine" } do
    constants.write(gpu, self.kernels["where_is_point_" .. name], c[name])
  end
  local function texture(array) return gpu:texture { buffer = gpu:upload(array), format = "f32", width = #array } end
  local x, y = ww.array("f32", pixels):random(size.seed, -1, 1), ww.array("f32", pixels):random(size.seed + 1, -1, 1)
  local scores = gpu:upload(ww.array("f32", pixels))
  local launch = { grid = size.columns, block = rows - 2 * margin }
  if uniform then
    launch.args = { texture(c.cosine), texture(x), scores, rows, margin, size.circles }
    gpu:launch(self.kernels.score_circles_uniform, launch)
  else
    launch.args = { texture(x), texture(y), scores, rows, margin, size.circles }
    gpu:launch(self.kernels.score_circles, launch)
  end

  c.offset = {}
  for k = 0, size.circles - 1 do
    c.offset[k] = {}
    for n = 0, points - 1 do c.offset[k][n] = c.column[k * points + n] * rows + c.row[k * points + n] end
  end
  c.cosine, c.sine = as_table(c.cosine), as_table(c.sine)
  local want = reference_scores(size, c, as_table(x), not uniform and as_table(y) or nil)
  self:check("scores", gpu:download("f32", scores, pixels), want, { rel = 1e-4, abs = 1e-6 })
end

-- Dilation ----------------------------------------------------------------------------------------------------------

local element_side <const>, element_radius <const> = 25, 10

--- All pixels, by columns: the largest values of the pixels up to h above and below, for h = 0, 1 ..., serve all
-- columns of the element that are as high.
local function reference_dilation(image, width, height)
  local tall, max = { [0] = as_table(image) }, math.max
  for h = 1, element_radius do
    local column, below, first = {}, tall[h - 1], tall[0]
    for at = 0, width * height - 1 do
      local y, largest = at % height, below[at]
      if y - h >= 0 then largest = max(largest, first[at - h]) end
      if y + h < height then largest = max(largest, first[at + h]) end
      column[at] = largest
    end
    tall[h] = column
  end
  local want = ww.array("f32", width * height)
  for dx = -element_radius, element_radius do
    local column = tall[math.floor(math.sqrt(element_radius ^ 2 - dx * dx))]
    for at = max(0, -dx) * height, (width - max(0, dx)) * height - 1 do
      want[at] = max(want[at], column[at + dx * height])
    end
  end
  return want
end

local function dilate(self, gpu, size)
  local width, height = size.width, size.height
  local element = ww.array("i32", element_side * element_side)
  for i = 0, #element - 1 do
    local x, y = i // element_side - element_side // 2, i % element_side - element_side // 2
    element[i] = x * x + y * y <= element_radius ^ 2 and 1 or 0
  end
  constants.write(gpu, self.kernels.where_is_element, element)
  local image, dilated = ww.array("f32", width * height):random(size.seed + 2, 0, 1), gpu:alloc(4 * width * height)
  local texture = gpu:texture { buffer = gpu:upload(image), format = "f32", width = width * height }
  gpu:launch(self.kernels.dilate, {
    grid = (width * height + 175) // 176, block = 176, args = { texture, dilated, width, height },
  })
  self:check("dilated image", gpu:download("f32", dilated, width * height), reference_dilation(image, width, height))
end

-- Diffusion ---------------------------------------------------------------------------------------------------------

local cell_rows <const>, cell_columns <const>, sharpness <const>, enough <const> = 41, 81, 20, 0.004

--- A sweep in double precision: the field after it, and the mean change.
local function sweep_over(field, picture)
  local after, change, atan, pi = {}, 0, math.atan, math.pi
  for row = 0, cell_rows - 1 do
    local above = row > 0 and -cell_columns or 0
    local below = row < cell_rows - 1 and cell_columns or 0
    for column = 0, cell_columns - 1 do
      local left, right = column > 0 and -1 or 0, column < cell_columns - 1 and 1 or 0
      local i = row * cell_columns + column
      local own, sum = field[i], 0
      for _, line in ipairs { above, 0, below } do
        for _, side in ipairs { left, 0, right } do
          local d = field[i + line + side] - own
          sum = sum + d * (atan(d * sharpness) / pi + 0.5)
        end
      end
      local spread, given = own + 0.1 * sum, picture[i]
      after[i] = spread - 0.2 * given * (spread - given)
      change = change + math.abs(after[i] - own)
    end
  end
  return after, change / (cell_rows * cell_columns)
end

--- A cell: a bright ring in noise.
local function random_cell(rng)
  local radius, cell = 8 + 8 * rng:float(), {}
  for i = 0, cell_rows * cell_columns - 1 do
    local distance = math.sqrt((i // cell_columns - 20) ^ 2 + (i % cell_columns - 40) ^ 2)
    cell[i] = 0.7 * math.exp(-(distance - radius) ^ 2 / 4) + 0.3 * rng:float()
  end
  return cell
end

local function field(self, gpu, size)
  local pixels, rng = cell_rows * cell_columns, ww.rng(size.seed + 3)
  local pictures = ww.array("f32", size.cells * pixels)
  for cell = 0, size.cells - 1 do
    local picture = random_cell(rng)
    for i = 0, pixels - 1 do pictures[cell * pixels + i] = picture[i] end
  end
  local fields, dev_sweeps = gpu:alloc(4 * #pictures), gpu:alloc(4 * size.cells)
  gpu:launch(self.kernels.spread_field, {
    grid = size.cells, block = 320,
    args = { gpu:upload(pictures), fields, dev_sweeps, size.sweeps, sharpness, enough },
  })

  local sweeps = gpu:download("i32", dev_sweeps, size.cells)
  local want = ww.array("f32", #pictures)
  for cell = 0, size.cells - 1 do
    local picture = as_table(pictures:slice(cell * pixels, pixels))
    local now, settled = picture, nil
    for sweep = 1, sweeps[cell] do
      local change
      now, change = sweep_over(now, picture)
      if not settled and change < enough then settled = sweep end
    end
    -- One that is about to settle may do so a sweep earlier or later in single precision.
    if not settled and sweeps[cell] < size.sweeps then
      local _, next_change = sweep_over(now, picture)
      if next_change < enough then settled = sweeps[cell] + 1 end
    end
    self:check_that(("cell %d: at most %d sweeps"):format(cell, size.sweeps), sweeps[cell] <= size.sweeps)
    self:check_that(("cell %d settles when the reference does, one sweep more or less"):format(cell),
      math.abs((settled or size.sweeps) - sweeps[cell]) <= 1)
    for i = 0, pixels - 1 do want[cell * pixels + i] = now[i] end
  end
  self:check("fields", gpu:download("f32", fields, #pictures), want, { abs = 1e-3 })
end

local parts = { score = { score }, dilate = { dilate }, field = { field }, all = { score, dilate, field } }

function leukocyte:run(gpu, size)
  local chosen = parts[size.kernel]
  if not chosen then
    error(("leukocyte: kernel: expected score, dilate, field or all, got '%s'"):format(size.kernel), 0)
  end
  for _, part in ipairs(chosen) do part(self, gpu, size) end
end

return leukocyte
