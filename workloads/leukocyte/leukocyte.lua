local ww = require "warpwright"
local constants = require "workloads.lib.constants"

local leukocyte = ww.workload "leukocyte" {
  doc = "White blood cells in a video: circles and dilation through textures, then diffusion in shared memory",
  ptx = "leukocyte.ptx",
  sizes = {
    -- kernel: "score", "dilate", "field" or "all". columns: CTAs of `score`. first: what `score`
    -- fetches beside the gradient, its other part ("gradient") or cosines, the same for all
    -- ("uniform").
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

-- Scores of circles -------------------------------------------------------------------------------

local points <const>, most_circles <const>, rows <const>, margin <const> = 150, 7, 220, 22

--- Offsets of the points of the circles, with radii 8, 10 ... 20, and the cosines and sines of
-- their angles.
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

--- The score of the circle around place `at` of a picture: the square of the mean of x cos + y sin
-- over its variance.
local function score_of_circle(x, y, at, offset, cosine, sine)
  local sum, squares = 0, 0
  for n = 0, points - 1 do
    local place = at + offset[n]
    local outwards = x[place] * cosine[n] + y[place] * sine[n]
    sum, squares = sum + outwards, squares + outwards * outwards
  end
  local mean = sum / points
  return mean * mean / ((squares - sum * mean) / (points - 1))
end

--- All scores in double precision: the best of the circles around each pixel.
local function reference_scores(size, offsets, x, y, cosine, sine)
  local want = ww.array("f32", (size.columns + 2 * margin) * rows)
  for column = margin, size.columns + margin - 1 do
    for at = column * rows + margin, (column + 1) * rows - margin - 1 do
      local best = 0
      for k = 1, size.circles do
        local circle = score_of_circle(x, y, at, offsets[k], cosine, sine)
        if circle > best then best = circle end
      end
      want[at] = best
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

  local offsets = {}
  for k = 1, size.circles do
    offsets[k] = {}
    for n = 0, points - 1 do
      local point = (k - 1) * points + n
      offsets[k][n] = c.column[point] * rows + c.row[point]
    end
  end
  -- The uniform kernel has no other part of the gradient: it counts nothing.
  local sine = uniform and ww.array("f32", points) or c.sine
  local want = reference_scores(size, offsets, x:table(), y:table(), c.cosine:table(), sine:table())
  self:check("scores", gpu:download("f32", scores, pixels), want, { rel = 1e-4, abs = 1e-6 })
end

-- Dilation ----------------------------------------------------------------------------------------

local element_side <const>, element_radius <const> = 25, 10

--- All pixels, by columns: the largest values of the pixels up to h above and below, for h = 0, 1
-- ..., serve all columns of the element that are as high.
local function reference_dilation(image, width, height)
  local tall, first = { [0] = image:table() }, image:table()
  for h = 1, element_radius do
    local column, below = {}, tall[h - 1]
    for at = 0, width * height - 1 do
      local y, largest = at % height, below[at]
      if y >= h and first[at - h] > largest then largest = first[at - h] end
      if y + h < height and first[at + h] > largest then largest = first[at + h] end
      column[at] = largest
    end
    tall[h] = column
  end
  local want = image:table()
  for dx = -element_radius, element_radius do
    local column = tall[math.floor(math.sqrt(element_radius ^ 2 - dx * dx))]
    for at = math.max(0, -dx) * height, (width - math.max(0, dx)) * height - 1 do
      local largest = column[at + dx * height]
      if largest > want[at] then want[at] = largest end
    end
  end
  return ww.f32(table.move(want, 0, width * height - 1, 1))
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

-- Diffusion ---------------------------------------------------------------------------------------

local cell_rows <const>, cell_columns <const>, sharpness <const>, enough <const> = 41, 81, 20, 0.004

-- Fields of the reference are tables with a frame of one pixel, which is as the pixels at the edge.
local stride <const> = cell_columns + 2

local function set_frame(field)
  for row = 1, cell_rows do
    local left, right = row * stride, (row + 1) * stride - 1
    field[left], field[right] = field[left + 1], field[right - 1]
  end
  local last = (cell_rows + 1) * stride
  for column = 0, stride - 1 do
    field[column], field[last + column] = field[stride + column], field[last - stride + column]
  end
end

--- What flows to each pixel from its eight neighbours, in double precision: d * (atan(d *
-- sharpness) / pi + 0.5) for a difference d. Pairs of neighbours are visited once; the product d *
-- atan(d) is the same for both.
local function flows(field)
  local flow, atan, per_pi, forwards = {}, math.atan, 1 / math.pi, { 1, stride - 1, stride, stride + 1 }
  for i = 0, #field do flow[i] = 0 end
  for i = 0, (cell_rows + 1) * stride - 2 do
    local own, sum = field[i], flow[i]
    for k = 1, 4 do
      local j = i + forwards[k]
      local d = field[j] - own
      local both, half = d * atan(d * sharpness) * per_pi, 0.5 * d
      sum, flow[j] = sum + both + half, flow[j] + both - half
    end
    flow[i] = sum
  end
  return flow
end

--- A sweep in double precision: the field after it, and the mean change.
local function sweep_over(field, picture)
  local flow, after, change, abs = flows(field), {}, 0, math.abs
  for i = 0, #field do after[i] = 0 end -- in order: Lua keeps a table that was filled so as an array
  for row = 1, cell_rows do
    for i = row * stride + 1, row * stride + cell_columns do
      local own, given = field[i], picture[i]
      local spread = own + 0.1 * flow[i]
      local new = spread - 0.2 * given * (spread - given)
      after[i], change = new, change + abs(new - own)
    end
  end
  set_frame(after)
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

--- A field of the pixels of a cell (a table from 0).
local function framed(pixels)
  local field = {}
  for i = 0, (cell_rows + 2) * stride - 1 do field[i] = 0 end
  for row = 1, cell_rows do
    local first = (row - 1) * cell_columns
    table.move(pixels, first, first + cell_columns - 1, row * stride + 1, field)
  end
  set_frame(field)
  return field
end

--- Puts a field's pixels after those of the list.
local function append_pixels(list, field)
  for row = 1, cell_rows do
    table.move(field, row * stride + 1, row * stride + cell_columns, #list + 1, list)
  end
end

--- The field of a picture after so many sweeps, and the first sweep that changes less than enough,
-- if there is one up to the one that follows, or else `most_sweeps`.
local function reference_field(picture, sweeps, most_sweeps)
  local now, settled = picture, nil
  for sweep = 1, sweeps do
    local change
    now, change = sweep_over(now, picture)
    if not settled and change < enough then settled = sweep end
  end
  -- One that is about to settle may do so a sweep earlier or later in single precision.
  if not settled and sweeps < most_sweeps then
    local _, next_change = sweep_over(now, picture)
    if next_change < enough then settled = sweeps + 1 end
  end
  return now, settled or most_sweeps
end

local function field(self, gpu, size)
  local pixels, rng = cell_rows * cell_columns, ww.rng(size.seed + 3)
  local list = {}
  for _ = 1, size.cells do table.move(random_cell(rng), 0, pixels - 1, #list + 1, list) end
  local pictures = ww.f32(list)
  local fields, dev_sweeps = gpu:alloc(4 * #pictures), gpu:alloc(4 * size.cells)
  gpu:launch(self.kernels.spread_field, {
    grid = size.cells, block = 320,
    args = { gpu:upload(pictures), fields, dev_sweeps, size.sweeps, sharpness, enough },
  })

  local sweeps, want = gpu:download("i32", dev_sweeps, size.cells), {}
  for cell = 0, size.cells - 1 do
    local picture = framed(pictures:slice(cell * pixels, pixels):table())
    self:check_that(("cell %d: at most %d sweeps"):format(cell, size.sweeps), sweeps[cell] <= size.sweeps)
    local now, settled = reference_field(picture, sweeps[cell], size.sweeps)
    self:check_that(("cell %d settles when the reference does, one sweep more or less"):format(cell),
      math.abs(settled - sweeps[cell]) <= 1)
    append_pixels(want, now)
  end
  self:check("fields", gpu:download("f32", fields, #pictures), ww.f32(want), { abs = 1e-3 })
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
