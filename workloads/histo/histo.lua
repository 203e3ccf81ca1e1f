local ww = require "warpwright"

local histo = ww.workload "histo" {
  doc = "A histogram of many bins: its range, where each input counts, counters in shared memory, and their sum",
  ptx = "histo.ptx",
  -- width: even. spread: the standard deviation of inputs around the middle, in bins. kernel: "all", or the only one
  -- that is launched: "prescan", "intermediates", "main", "final"; the host makes what the others would have made.
  -- registers: of a thread of the main kernel. With 20 its shared memory and threads let two CTAs into an SM.
  sizes = {
    small = {
      width = 128, height = 64, bins = 64 * 1024, spread = 4000.0, kernel = "all", registers = 20, passes = 1, seed = 1,
    },
    medium = {
      width = 996, height = 1040, bins = 1024 * 1024, spread = 16384.0, kernel = "all", registers = 20, passes = 4,
      seed = 1,
    },
  },
  expected = {
    class = "memory-intensive: streams", size = "small,width=512,height=128,kernel=intermediates",
    hit_rate = { 0, 0.2 }, instructions_per_miss = { 8, 30 },
  },
}

local kernels <const> = { all = true, prescan = true, intermediates = true, main = true, final = true }
local prescan_ctas <const>, prescan_threads <const>, rows <const> = 64, 512, 16
local copies <const>, threads <const>, words <const>, outside <const> = 14, 768, 6 * 1024, 255
local part_bins <const>, far <const> = 4 * words, 4

--- Bins around the middle: their distance from it is normal (Box and Muller).
local function random_inputs(size, count)
  local rng, inputs, middle = ww.rng(size.seed), ww.array("u32", count), size.bins // 2
  local log, sqrt, cos = math.log, math.sqrt, math.cos
  for i = 0, count - 1 do
    local distance = sqrt(-2 * log(1 - rng:float())) * cos(2 * math.pi * rng:float())
    inputs[i] = math.max(0, math.min(size.bins - 1, middle + size.spread * distance // 1 | 0))
  end
  return inputs
end

--- The range of bins that the prescan finds, up to rounding.
local function range_of(inputs)
  local piece, low, high = #inputs // prescan_ctas, math.huge, -math.huge
  local count = piece // 8
  for cta = 0, prescan_ctas - 1 do
    local own, deviation = inputs:slice(cta * piece, count), 0
    local average = own:sum() / count
    for i = 0, count - 1 do deviation = deviation + math.abs(own[i] - average) end
    low, high = math.min(low, average - far * deviation / count), math.max(high, average + far * deviation / count)
  end
  return low // 1 | 0, high // 1 | 0
end

--- Bytes: the byte of the counter in its word, two bytes of the word's number, the part of the range.
local function places_of(inputs, first_bin, parts)
  local places = ww.array("u32", #inputs)
  for i = 0, #inputs - 1 do
    local bin = inputs[i]
    local from_first = bin - first_bin
    if from_first >= 0 and from_first < parts * part_bins then
      local within = from_first % part_bins
      places[i] = (from_first // part_bins) << 24 | (within // 4) << 8 | within % 4
    else
      places[i] = outside << 24 | bin
    end
  end
  return places
end

--- What the main kernel could make of counts: counters of a byte, for each bin in one of the copies; what has gone
-- beyond them; and counts of 16 bits outside of the range.
local function tables_of(counts, first_bin, parts)
  local counters = ww.array("u8", copies * parts * part_bins)
  local carries, outliers = ww.array("i32", parts * part_bins), ww.array("u16", #counts)
  for bin = 0, #counts - 1 do
    local from_first, count = bin - first_bin, counts[bin]
    if from_first >= 0 and from_first < parts * part_bins then
      counters[bin % copies * parts * part_bins + from_first] = count % 256
      carries[from_first] = count - count % 256
    else
      outliers[bin] = count
    end
  end
  return counters, carries, outliers
end

--- Counts, from the tables of the main kernel.
local function counted(counters, carries, outliers, first_bin, bins)
  local counts, range = ww.array("i32", bins), #carries
  for bin = 0, bins - 1 do
    local from_first = bin - first_bin
    local count = outliers[bin]
    if from_first >= 0 and from_first < range then
      count = count + carries[from_first]
      for copy = 0, copies - 1 do count = count + counters[copy * range + from_first] end
    end
    counts[bin] = count
  end
  return counts
end

local function prescan(self, gpu, inputs, low, high)
  local range = gpu:upload(ww.array("i32", 2):set(0, 0x7fffffff):set(1, -0x80000000))
  gpu:launch(self.kernels.histo_prescan, {
    grid = prescan_ctas, block = prescan_threads, args = { inputs, self.count // prescan_ctas, range },
  })
  local got = gpu:download("i32", range, 2)
  self:check("first bin of the range", got[0], low, { abs = 4 }) -- averages are rounded
  self:check("last bin of the range", got[1], high, { abs = 4 })
  return got[0], got[1]
end

local function intermediates(self, gpu, size, inputs, first_bin, parts, want)
  local places = gpu:alloc(4 * self.count)
  gpu:launch(self.kernels.histo_intermediates, {
    grid = size.height // rows, block = size.width // 2, args = { inputs, places, first_bin, parts },
  })
  self:check("places of inputs", gpu:download("u32", places, self.count), want)
  return places
end

local function main(self, gpu, size, places, first_bin, parts, counts)
  local bins = #counts
  local counters = gpu:alloc(copies * parts * part_bins)
  local carries, outliers = gpu:upload(ww.array("i32", parts * part_bins)), gpu:upload(ww.array("u16", bins))
  gpu:launch(self.kernels.histo_main, {
    grid = { copies, parts, 1 }, block = threads, registers = size.registers,
    args = { places, self.count, counters, carries, outliers },
  })
  self:check("counts", counted(gpu:download("u8", counters, copies * parts * part_bins),
    gpu:download("i32", carries, parts * part_bins), gpu:download("u16", outliers, bins), first_bin, bins), counts)
  return counters, carries, outliers
end

local function final(self, gpu, counters, carries, outliers, first_bin, parts, counts)
  local bins, want = #counts, ww.array("u8", #counts)
  local histogram = gpu:alloc(bins)
  gpu:launch(self.kernels.histo_final, {
    grid = (bins // 4 + prescan_threads - 1) // prescan_threads,
    block = prescan_threads,
    args = { counters, copies, parts, carries, outliers, histogram, first_bin, bins // 4 },
  })
  for bin = 0, bins - 1 do want[bin] = math.min(255, counts[bin]) end
  self:check("histogram", gpu:download("u8", histogram, bins), want)
end

--- One pass through the kernels that are launched.
function histo:pass(gpu, size, inputs, dev_inputs, counts)
  local kernel, bins = size.kernel, size.bins
  local function launched(name) return kernel == "all" or kernel == name end
  local low, high = range_of(inputs)
  if launched "prescan" then low, high = prescan(self, gpu, dev_inputs, low, high) end
  local first_bin = math.max(0, low) // 4 * 4
  local parts = (math.min(high, bins - 1) - first_bin) // part_bins + 1

  local places, counters, carries, outliers = places_of(inputs, first_bin, parts), nil, nil, nil
  if launched "intermediates" then
    places = intermediates(self, gpu, size, dev_inputs, first_bin, parts, places)
  elseif launched "main" then
    places = gpu:upload(places)
  end

  if launched "main" then
    counters, carries, outliers = main(self, gpu, size, places, first_bin, parts, counts)
  elseif launched "final" then
    counters, carries, outliers = tables_of(counts, first_bin, parts)
    counters, carries, outliers = gpu:upload(counters), gpu:upload(carries), gpu:upload(outliers)
  end
  if launched "final" then final(self, gpu, counters, carries, outliers, first_bin, parts, counts) end
end

function histo:run(gpu, size)
  local width, height, bins = size.width, size.height, size.bins
  if width % 2 ~= 0 or height % rows ~= 0 or width * height < 8 * prescan_ctas then
    local wanted = ("an even one and a multiple of %d, %d inputs at least"):format(rows, 8 * prescan_ctas)
    error(("histo: width, height: expected %s, got %d and %d"):format(wanted, width, height), 0)
  end
  if bins % 4 ~= 0 or bins > 1 << 22 then
    error(("histo: bins: expected a multiple of 4, at most %d, got %d"):format(1 << 22, bins), 0)
  end
  if not kernels[size.kernel] then
    error(("histo: kernel: expected all, prescan, intermediates, main or final, got '%s'"):format(size.kernel), 0)
  end
  self.count = width * height
  local inputs, counts = random_inputs(size, self.count), ww.array("i32", bins)
  for i = 0, self.count - 1 do counts[inputs[i]] = counts[inputs[i]] + 1 end
  local dev_inputs = gpu:upload(inputs)
  for _ = 1, size.passes do self:pass(gpu, size, inputs, dev_inputs, counts) end
end

return histo
