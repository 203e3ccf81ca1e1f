local ww = require "warpwright"
local constants = require "workloads.lib.constants"

local tpacf = ww.workload "tpacf" {
  doc = "Angles between pairs of points on a sphere: bisection among bins, histograms in shared memory with atomics",
  ptx = "tpacf.ptx",
  sizes = { -- points: of a set, a multiple of 256. A CTA for the data, and two for each random set
    small = { points = 256, random_sets = 1, seed = 1 },
    medium = { points = 512, random_sets = 22, seed = 1 },
    paper = { points = 512, random_sets = 100, seed = 1 },
  },
  expected = { class = "compute-intensive", instructions_per_miss = { 30, 1e9 } },
}

local threads <const>, bins <const>, steps <const> = 256, 20, 1000

--- Where bins begin, as cosines: at no angle, then at equal steps of its logarithm from 10 to
-- 10,000 minutes of arc.
local function bin_edges()
  local edges = ww.array("f32", bins)
  edges[0] = 1
  for k = 1, bins - 1 do edges[k] = math.cos(math.rad(10 ^ (1 + 3 * (k - 1) / (bins - 2)) / 60)) end
  return edges
end

--- Points on a sphere, all places equally likely.
local function random_points(count, seed)
  local rng, x, y, z = ww.rng(seed), ww.array("f32", count), ww.array("f32", count), ww.array("f32", count)
  for i = 0, count - 1 do
    local height, turn = 2 * rng:float() - 1, 2 * math.pi * rng:float()
    local radius = math.sqrt(1 - height * height)
    x[i], y[i], z[i] = radius * math.cos(turn), radius * math.sin(turn), height
  end
  return x, y, z
end

--- The bin of a cosine, in double precision.
local function bin_at(cosine, edges)
  local bin = bins - 1
  while bin > 0 and cosine >= edges[bin] do bin = bin - 1 end
  return bin
end

--- The bins of equal steps of the cosine, from -1 on; false where a bin begins within a step or
-- next to it.
local function bins_of_steps(edges)
  local bin_of = {}
  for step = 0, 2 * steps - 1 do
    local bin = bin_at((step - 0.01) / steps - 1, edges)
    bin_of[step] = bin == bin_at((step + 1.01) / steps - 1, edges) and bin
  end
  return bin_of
end

--- Counts of pairs by bin, in double precision.
local function count_pairs(x, y, z, points, first, second, edges, bin_of)
  local counts = {}
  for bin = 0, bins - 1 do counts[bin] = 0 end
  for i = first * points, (first + 1) * points - 1 do
    local x_i, y_i, z_i = steps * x[i], steps * y[i], steps * z[i]
    for j = first == second and i + 1 or second * points, (second + 1) * points - 1 do
      local place = x_i * x[j] + y_i * y[j] + z_i * z[j] + steps
      local bin = bin_of[place // 1 | 0] or bin_at(place / steps - 1, edges)
      counts[bin] = counts[bin] + 1
    end
  end
  return counts
end

function tpacf:run(gpu, size)
  local points, random_sets = size.points, size.random_sets
  if points % threads ~= 0 then
    error(("tpacf: points: expected a multiple of %d, got %d"):format(threads, points), 0)
  end
  local x, y, z = random_points(points * (random_sets + 1), size.seed)
  local edges, ctas = bin_edges(), 2 * random_sets + 1
  constants.write(gpu, self.kernels.where_is_edges, edges)
  local histograms = gpu:alloc(4 * bins * ctas)
  gpu:launch(self.kernels.tpacf, {
    grid = ctas, block = threads,
    args = { gpu:upload(x), gpu:upload(y), gpu:upload(z), histograms, points, random_sets },
  })

  local want, limits, bin_of = ww.array("f64", bins * ctas), edges:table(), bins_of_steps(edges)
  x, y, z = x:table(), y:table(), z:table()
  for cta = 0, ctas - 1 do
    local first, second = 0, cta
    if cta > random_sets then first, second = cta - random_sets, cta - random_sets end
    local counts = count_pairs(x, y, z, points, first, second, limits, bin_of)
    for bin = 0, bins - 1 do want[cta * bins + bin] = counts[bin] end
  end
  -- A pair may be so near the edge of a bin that single precision puts it beyond.
  local got = ww.array_from("f64", gpu:download("u32", histograms, bins * ctas))
  self:check("histograms", got, want, { abs = 2 })
  self:check("pairs", got:sum(), want:sum())
end

return tpacf
