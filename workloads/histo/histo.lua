local ww = require "warpwright"
local rows = require "workloads.lib.rows"

local histo = ww.workload "histo" {
  doc = "A histogram of many bins: its range, where each input counts, counters in shared memory, and their sum",
  ptx = "histo.ptx",
  -- width: even. spread: the standard deviation of inputs around the middle, in bins. kernel:
  -- "all", or the only one that is launched: "prescan", "intermediates", "main", "final"; the host
  -- makes what the others would have made. registers: of a thread of the main kernel. With 20 its
  -- shared memory and threads let two CTAs into an SM.
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
local prescan_ctas <const>, prescan_threads <const>, cta_rows <const> = 64, 512, 16
local copies <const>, threads <const>, words <const>, outside <const> = 14, 768, 6 * 1024, 255
local part_bins <const>, far <const> = 4 * words, 4

--- Bins around the middle: their distance from it is normal (Box and Muller). And how many inputs
-- each bin has.
local function random_inputs(size)
  local width, middle, spread, last = size.width, size.bins // 2, size.spread, size.bins - 1
  local log, sqrt, cos, turn = math.log, math.sqrt, math.cos, 2 * math.pi
  local inputs, counts = ww.array("u32", width * size.height), ww.array("i32", size.bins)
  local uniform_of = rows.of(ww.array("f64", 2 * #inputs):random(size.seed, 0, 1), 2 * width)
  local bins = {}
  for row = 0, size.height - 1 do
    local uniform = uniform_of(row)
    for x = 0, width - 1 do
      local distance = sqrt(-2 * log(1 - uniform[2 * x])) * cos(turn * uniform[2 * x + 1])
      local bin = middle + spread * distance // 1 | 0
      bin = bin < 0 and 0 or bin > last and last or bin
      bins[x], counts[bin] = bin, counts[bin] + 1
    end
    rows.put(inputs, row * width, bins)
  end
  return inputs, counts
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

--- Bytes: the byte of the counter in its word, two bytes of the word's number, the part of the
-- range.
local function places_of(inputs, width, first_bin, parts)
  local places, inputs_of, row_places = ww.array("u32", #inputs), rows.of(inputs, width), {}
  for first = 0, #inputs - 1, width do
    local bins = inputs_of(first // width)
    for x = 0, width - 1 do
      local bin = bins[x]
      local from_first = bin - first_bin
      if from_first >= 0 and from_first < parts * part_bins then
        local within = from_first % part_bins
        row_places[x] = (from_first // part_bins) << 24 | (within // 4) << 8 | within % 4
      else
        row_places[x] = outside << 24 | bin
      end
    end
    rows.put(places, first, row_places)
  end
  return places
end

--- What the main kernel could make of counts: counters of a byte, for each bin in one of the
-- copies; what has gone beyond them; and counts of 16 bits outside of the range.
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
local function counted(counters, carries, outliers, first_bin)
  local counts, range, ones = ww.array_from("i32", outliers), #carries, ww.array("u8", copies):fill(1)
  for from_first = 0, math.min(range, #counts - first_bin) - 1 do
    local bin, in_copies = first_bin + from_first, counters:dot(ones, from_first, 0, copies, range, 1)
    counts[bin] = counts[bin] + carries[from_first] + (in_copies // 1 | 0)
  end
  return counts
end

--- Counts as bytes, 255 where they are more.
local function saturated(counts)
  local bytes = ww.array("u8", #counts)
  for bin = 0, #counts - 1 do
    local count = counts[bin]
    if count > 0 then bytes[bin] = count < 255 and count or 255 end
  end
  return bytes
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
    grid = size.height // cta_rows, block = size.width // 2, args = { inputs, places, first_bin, parts },
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
    gpu:download("i32", carries, parts * part_bins), gpu:download("u16", outliers, bins), first_bin), counts)
  return counters, carries, outliers
end

local function final(self, gpu, counters, carries, outliers, first_bin, parts, want)
  local bins = #want
  local histogram = gpu:alloc(bins)
  gpu:launch(self.kernels.histo_final, {
    grid = (bins // 4 + prescan_threads - 1) // prescan_threads,
    block = prescan_threads,
    args = { counters, copies, parts, carries, outliers, histogram, first_bin, bins // 4 },
  })
  self:check("histogram", gpu:download("u8", histogram, bins), want)
end

--- One pass through the kernels that are launched. `known` is what the host knows: inputs, their
-- range, counts.
function histo:pass(gpu, size, dev_inputs, known)
  local kernel, bins, low, high = size.kernel, size.bins, known.low, known.high
  local function launched(name) return kernel == "all" or kernel == name end
  if launched "prescan" then low, high = prescan(self, gpu, dev_inputs, low, high) end
  local first_bin = math.max(0, low) // 4 * 4
  local parts = (math.min(high, bins - 1) - first_bin) // part_bins + 1
  if known.first_bin ~= first_bin or known.parts ~= parts then -- in the first pass; the others find the same range
    known.first_bin, known.parts = first_bin, parts
    known.places = places_of(known.inputs, size.width, first_bin, parts)
  end

  local places, counters, carries, outliers
  if launched "intermediates" then
    places = intermediates(self, gpu, size, dev_inputs, first_bin, parts, known.places)
  elseif launched "main" then
    places = gpu:upload(known.places)
  end

  if launched "main" then
    counters, carries, outliers = main(self, gpu, size, places, first_bin, parts, known.counts)
  elseif launched "final" then
    counters, carries, outliers = tables_of(known.counts, first_bin, parts)
    counters, carries, outliers = gpu:upload(counters), gpu:upload(carries), gpu:upload(outliers)
  end
  if launched "final" then final(self, gpu, counters, carries, outliers, first_bin, parts, known.histogram) end
end

function histo:run(gpu, size)
  local width, height, bins = size.width, size.height, size.bins
  if width % 2 ~= 0 or height % cta_rows ~= 0 or width * height < 8 * prescan_ctas then
    local wanted = ("an even one and a multiple of %d, %d inputs at least"):format(cta_rows, 8 * prescan_ctas)
    error(("histo: width, height: expected %s, got %d and %d"):format(wanted, width, height), 0)
  end
  if bins % 4 ~= 0 or bins > 1 << 22 then
    error(("histo: bins: expected a multiple of 4, at most %d, got %d"):format(1 << 22, bins), 0)
  end
  if not kernels[size.kernel] then
    error(("histo: kernel: expected all, prescan, intermediates, main or final, got '%s'"):format(size.kernel), 0)
  end
  self.count = width * height
  local inputs, counts = random_inputs(size)
  local low, high = range_of(inputs)
  local known = { inputs = inputs, counts = counts, histogram = saturated(counts), low = low, high = high }
  local dev_inputs = gpu:upload(inputs)
  for _ = 1, size.passes do self:pass(gpu, size, dev_inputs, known) end
end

return histo
