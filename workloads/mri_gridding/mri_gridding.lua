local ww = require "warpwright"
local rows = require "workloads.lib.rows"

local mri_gridding = ww.workload "mri_gridding" {
  doc = "Samples of a space onto a grid: bins with counters, a gather in their order, sums around each cell",
  ptx = "mri_gridding.ptx",
  -- width and depth: multiples of 8; height: of 4. line: its samples. limit: of a bin. kernel:
  -- "all", or the only one that is launched: "binning", "reorder", "gridding"; the host makes what
  -- the others would have made.
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
local threads <const>, fields <const>, cutoff <const>, piece <const> = 512, 6, 1.5, 1024
local far <const>, reach <const> = cutoff * cutoff, 2

--- The window of Kaiser and Bessel, not scaled: the Bessel function I0(8 sqrt(1 - square / far)) by
-- its series.
local function window(square)
  local v, sum, term, n = 16 * (1 - square / far), 1, 1, 1
  while term > 1e-12 do
    term = term * v / (n * n)
    sum, n = sum + term, n + 1
  end
  return sum
end

--- Samples along lines through the middle, evenly from end to end: {real, imaginary, x, y, z,
-- weight} of each. They are dense in the middle, and weigh less there.
local function random_samples(size)
  local samples, rng, line = ww.array("f32", fields * size.samples), ww.rng(size.seed), size.line
  local values_of = rows.of(ww.array("f32", 2 * size.samples):random(size.seed + 1, -1, 1), 2 * line)
  local half_x, half_y, half_z, highest = size.width / 2, size.height / 2, size.depth / 2, 1 / window(0)
  local own = {}
  for first = 0, size.samples - 1, line do
    local z, angle = 2 * rng:float() - 1, 2 * math.pi * rng:float()
    local across = math.sqrt(1 - z * z)
    local x, y = across * math.cos(angle), across * math.sin(angle)
    local values, count = values_of(first // line), math.min(line, size.samples - first)
    for i = 0, count - 1 do
      local at, along = fields * i, 2 * (i + 0.5) / line - 1
      local way = 0.999 * along
      own[at], own[at + 1] = values[2 * i], values[2 * i + 1]
      own[at + 2], own[at + 3], own[at + 4] = half_x * (1 + way * x), half_y * (1 + way * y), half_z * (1 + way * z)
      own[at + 5] = along * along * highest
    end
    rows.put(samples, fields * first, own, fields * count)
  end
  return samples
end

--- The bin of each sample, and how many samples each bin takes.
local function bins_of(samples, size)
  local width, height, limit = size.width, size.height, size.limit
  local bins, counts = ww.array("u32", size.samples), ww.array("u32", width * height * size.depth)
  local samples_of, own = rows.of(samples, fields * piece), {}
  for first = 0, size.samples - 1, piece do
    local places, count = samples_of(first // piece), math.min(piece, size.samples - first)
    for i = 0, count - 1 do
      local at = fields * i
      local bin = ((places[at + 4] // 1) * height + places[at + 3] // 1) * width + places[at + 2] // 1 | 0
      local taken = counts[bin]
      if taken < limit then counts[bin] = taken + 1 end
      own[i] = bin
    end
    rows.put(bins, first, own, count)
  end
  return bins, counts
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

--- The samples in the order of their keys, those with the same one as they were; and where each bin
-- begins in that.
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

--- Launches the first kernel and checks what it makes. Which of a bin's samples have room is up to
-- it. Returns keys.
local function binning(self, gpu, size, samples, bins, counts)
  local n, without = size.samples, #counts
  local counters, keys, values = gpu:upload(ww.array("u32", without)), gpu:alloc(4 * n), gpu:alloc(4 * n)
  gpu:launch(self.kernels.mri_bin, {
    grid = (n + threads - 1) // threads, block = threads,
    args = { samples, counters, keys, values, n, size.limit, size.width, size.height, size.depth },
  })
  local got, want = gpu:download("u32", keys, n), bins:copy()
  local with_room, numbers = ww.array("u32", without), ww.array("u32", n)
  local keys_of, bins_by_piece = rows.of(got, piece), rows.of(bins, piece)
  for first = 0, n - 1, piece do
    local own_keys, own_bins = keys_of(first // piece), bins_by_piece(first // piece)
    for i = 0, #own_keys do
      local bin = own_bins[i]
      numbers[first + i] = first + i
      if own_keys[i] == without then want[first + i] = without else with_room[bin] = with_room[bin] + 1 end
    end
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
  local dev_samples = gpu:upload(samples)
  local bins, counts = bins_of(samples, size)

  local keys
  if launched "binning" then keys = binning(self, gpu, size, dev_samples, bins, counts) end
  if kernel == "binning" then return end
  local order, first = order_of(keys or keys_in_order(bins, size), counts)
  local values, places = reordered(samples, order)
  if launched "reorder" then reorder(self, gpu, size, dev_samples, order, values, places) end
  if launched "gridding" then gridding(self, gpu, size, values, places, first) end
end

return mri_gridding
