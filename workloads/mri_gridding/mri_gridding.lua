local ww = require "warpwright"

local mri_gridding = ww.workload "mri_gridding" {
  doc = "Samples of a space onto a grid: bins with counters, a gather in their order, sums around each cell",
  ptx = "mri_gridding.ptx",
  -- width and depth: multiples of 8; height: of 4. line: its samples. limit: of a bin. kernel: "all", or
  -- the only one that is launched: "binning", "reorder", "gridding"; the host makes what the others would have made.
  sizes = {
    small = { width = 16, height = 8, depth = 8, samples = 2048, line = 64, limit = 4, kernel = "all", seed = 1 },
    medium = {
      width = 128, height = 128, depth = 64, samples = 1024 * 1024, line = 2048, limit = 32, kernel = "binning",
      seed = 1,
    },
    reorder = {
      width = 128, height = 128, depth = 64, samples = 1024 * 1024, line = 2048, limit = 32, kernel = "reorder",
      seed = 1,
    },
    gridding = {
      width = 32, height = 32, depth = 32, samples = 30000, line = 64, limit = 8, kernel = "gridding", seed = 1,
    },
  },
  expected = {
    class = "memory-intensive: gathers and atomics", size = "medium,samples=16384", hit_rate = { 0.4, 0.7 },
    instructions_per_miss = { 3, 30 },
  },
}

local kernels <const> = { all = true, binning = true, reorder = true, gridding = true }
local threads <const>, fields <const>, cutoff <const> = 512, 6, 1.5
local far <const>, reach <const> = cutoff * cutoff, 2

--- The window of Kaiser and Bessel, not scaled: the Bessel function I0(8 sqrt(1 - square / far)) by its series.
local function window(square)
  local v, sum, term, n = 16 * (1 - square / far), 1, 1, 1
  while term > 1e-12 do
    term = term * v / (n * n)
    sum, n = sum + term, n + 1
  end
  return sum
end

--- Samples along lines through the middle, evenly from end to end: {real, imaginary, x, y, z, weight} of each. They are
-- dense in the middle, and weigh less there.
local function random_samples(size)
  local samples, rng = ww.array("f32", fields * size.samples), ww.rng(size.seed)
  local values = ww.array("f32", 2 * size.samples):random(size.seed + 1, -1, 1)
  local half = { size.width / 2, size.height / 2, size.depth / 2 }
  local direction, highest = {}, 1 / window(0)
  for i = 0, size.samples - 1 do
    if i % size.line == 0 then
      local z, angle = 2 * rng:float() - 1, 2 * math.pi * rng:float()
      local across = math.sqrt(1 - z * z)
      direction = { across * math.cos(angle), across * math.sin(angle), z }
    end
    local along = 2 * (i % size.line + 0.5) / size.line - 1
    local at = fields * i
    samples[at], samples[at + 1] = values[2 * i], values[2 * i + 1]
    for axis = 1, 3 do samples[at + 1 + axis] = half[axis] * (1 + 0.999 * along * direction[axis]) end
    samples[at + 5] = along * along * highest
  end
  return samples
end

local function bins_of(samples, size)
  local bins, floor = ww.array("u32", size.samples), math.floor
  for i = 0, size.samples - 1 do
    local at = fields * i
    bins[i] = (floor(samples[at + 4]) * size.height + floor(samples[at + 3])) * size.width + floor(samples[at + 2])
  end
  return bins
end

--- How many samples each bin takes.
local function room_of(bins, size)
  local counts = ww.array("u32", size.width * size.height * size.depth)
  for i = 0, #bins - 1 do
    if counts[bins[i]] < size.limit then counts[bins[i]] = counts[bins[i]] + 1 end
  end
  return counts
end

--- The keys when samples come in order: the first ones of a bin have room.
local function keys_in_order(bins, size)
  local keys, count, without = bins:copy(), {}, size.width * size.height * size.depth
  for i = 0, #bins - 1 do
    local bin = bins[i]
    count[bin] = (count[bin] or 0) + 1
    if count[bin] > size.limit then keys[i] = without end
  end
  return keys
end

--- The samples in the order of their keys, those with the same one as they were; and where each bin begins in that.
local function order_of(keys, counts)
  local first, order, next_place = ww.array("i32", #counts + 1), ww.array("u32", #keys), {}
  for bin = 0, #counts - 1 do
    next_place[bin] = first[bin]
    first[bin + 1] = first[bin] + counts[bin]
  end
  next_place[#counts] = first[#counts]
  for i = 0, #keys - 1 do
    local key = keys[i]
    local place = next_place[key]
    order[place], next_place[key] = i, place + 1
  end
  return order, first
end

--- What the samples are in a new order: values and places.
local function reordered(samples, order)
  local values, places = ww.array("f32", 2 * #order), ww.array("f32", 4 * #order)
  for i = 0, #order - 1 do
    local from = fields * order[i]
    values[2 * i], values[2 * i + 1] = samples[from], samples[from + 1]
    for field = 0, 3 do places[4 * i + field] = samples[from + 2 + field] end
  end
  return values, places
end

--- The square of a distance as the kernel rounds it, where that decides whether it is near enough.
local function square_of(dx, dy, dz)
  local square = dx * dx + dy * dy + dz * dz
  if math.abs(square - far) > 1e-4 then return square end
  local round, fma = ww.float32.round, ww.float32.fma
  dx, dy, dz = round(dx), round(dy), round(dz)
  return fma(dz, dz, fma(dx, dx, round(dy * dy)))
end

--- All cells, in double precision: each sample goes to the cells around it.
local function gridded(values, places, count, size)
  local cells = size.width * size.height * size.depth
  local grid, density, max, min = ww.array("f64", 2 * cells), ww.array("f64", cells), math.max, math.min
  for i = 0, count - 1 do
    local x, y, z, weight = places[4 * i], places[4 * i + 1], places[4 * i + 2], places[4 * i + 3]
    local x_cell, y_cell, z_cell = x // 1 | 0, y // 1 | 0, z // 1 | 0
    for cz = max(0, z_cell - 1), min(size.depth - 1, z_cell + reach) do
      for cy = max(0, y_cell - 1), min(size.height - 1, y_cell + reach) do
        for cx = max(0, x_cell - 1), min(size.width - 1, x_cell + reach) do
          local square = square_of(x - cx, y - cy, z - cz)
          if square < far then
            local at, w = (cz * size.height + cy) * size.width + cx, weight * window(square)
            grid[2 * at] = grid[2 * at] + w * values[2 * i]
            grid[2 * at + 1] = grid[2 * at + 1] + w * values[2 * i + 1]
            density[at] = density[at] + w
          end
        end
      end
    end
  end
  return grid, density
end

--- Launches the first kernel and checks what it makes. Which of a bin's samples have room is up to it. Returns keys.
local function binning(self, gpu, size, samples, bins, counts)
  local n, without = size.samples, #counts
  local counters, keys, values = gpu:upload(ww.array("u32", without)), gpu:alloc(4 * n), gpu:alloc(4 * n)
  gpu:launch(self.kernels.mri_bin, {
    grid = (n + threads - 1) // threads, block = threads,
    args = { samples, counters, keys, values, n, size.limit, size.width, size.height, size.depth },
  })
  local got, want = gpu:download("u32", keys, n), bins:copy()
  local with_room, numbers = ww.array("u32", without), ww.array("u32", n)
  for i = 0, n - 1 do
    numbers[i] = i
    if got[i] == without then want[i] = without else with_room[bins[i]] = with_room[bins[i]] + 1 end
  end
  self:check("counters", gpu:download("u32", counters, without), counts)
  self:check("keys", got, want)
  self:check("samples with room", with_room, counts)
  self:check("numbers of samples", gpu:download("u32", values, n), numbers)
  return got
end

local function reorder(self, gpu, size, samples, order, values, places)
  local n = size.samples
  local dev_values, dev_places = gpu:alloc(8 * n), gpu:alloc(16 * n)
  gpu:launch(self.kernels.mri_reorder, {
    grid = (n + threads - 1) // threads, block = threads,
    args = { samples, gpu:upload(order), dev_values, dev_places, n },
  })
  self:check("values in order", gpu:download("f32", dev_values, 2 * n), values)
  self:check("places in order", gpu:download("f32", dev_places, 4 * n), places)
end

local function gridding(self, gpu, size, values, places, first)
  local cells = size.width * size.height * size.depth
  local grid, density = gpu:alloc(8 * cells), gpu:alloc(4 * cells)
  gpu:launch(self.kernels.mri_grid, {
    grid = { size.width // 8, size.height // 4, size.depth // 8 }, block = { 8, 4, 2 },
    args = {
      gpu:upload(values), gpu:upload(places), gpu:upload(first), grid, density,
      size.width, size.height, size.depth, far, reach,
    },
  })
  local want_grid, want_density = gridded(values, places, first[cells], size)
  self:check("grid", gpu:download("f32", grid, 2 * cells), want_grid, { abs = 1e-5 })
  self:check("density", gpu:download("f32", density, cells), want_density, { abs = 1e-5 })
end

function mri_gridding:run(gpu, size)
  local kernel = size.kernel
  if size.width % 8 ~= 0 or size.height % 4 ~= 0 or size.depth % 8 ~= 0 then
    error(("mri_gridding: width, height, depth: expected multiples of 8, 4 and 8, got %d, %d and %d"):format(size.width,
      size.height, size.depth), 0)
  end
  if not kernels[kernel] then
    error(("mri_gridding: kernel: expected all, binning, reorder or gridding, got '%s'"):format(kernel), 0)
  end
  local function launched(name) return kernel == "all" or kernel == name end
  local samples = random_samples(size)
  local dev_samples, bins = gpu:upload(samples), bins_of(samples, size)
  local counts = room_of(bins, size)

  local keys
  if launched "binning" then keys = binning(self, gpu, size, dev_samples, bins, counts) end
  if kernel == "binning" then return end
  local order, first = order_of(keys or keys_in_order(bins, size), counts)
  local values, places = reordered(samples, order)
  if launched "reorder" then reorder(self, gpu, size, dev_samples, order, values, places) end
  if launched "gridding" then gridding(self, gpu, size, values, places, first) end
end

return mri_gridding
