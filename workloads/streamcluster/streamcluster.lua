local ww = require "warpwright"

local streamcluster = ww.workload "streamcluster" {
  doc = "Clustering of a stream, what a new centre gains: coordinates of a point a power of two apart, sums in rows of their own",
  ptx = "streamcluster.ptx",
  sizes = { -- launches: candidates for a centre, one launch for each
    small = { points = 1024, dimensions = 16, centers = 3, launches = 1, seed = 1 },
    medium = { points = 64 * 1024, dimensions = 64, centers = 15, launches = 2, seed = 1 },
    paper = { points = 64 * 1024, dimensions = 256, centers = 15, launches = 2, seed = 1 },
  },
  expected = { class = "conflict", size = "medium,points=16384,dimensions=16,launches=1", hit_rate = { 0, 0.4 }, mpki = { 2, 10 } },
}

local threads <const>, record <const> = 512, 8

--- A function of two points: the square of their distance, in double precision: |p|^2 - 2 p x +
-- |x|^2.
local function squared_distances(coordinates, n, dimensions)
  local squares = {}
  for p = 0, n - 1 do squares[p] = coordinates:dot(coordinates, p, p, dimensions, n, n) end
  return function(p, x) return squares[p] - 2 * coordinates:dot(coordinates, p, x, dimensions, n, n) + squares[x] end
end

function streamcluster:run(gpu, size)
  local n, dimensions, centers = size.points, size.dimensions, size.centers
  local coordinates = ww.array("f32", n * dimensions):random(size.seed, 0, 1)
  local rng, squared_distance = ww.rng(size.seed + 1), squared_distances(coordinates, n, dimensions)

  -- Centres are points drawn at random; a point belongs to any of them. Points weigh 1 to 4.
  local center, table_of_centers = {}, ww.array("i32", n)
  while #center < centers do
    local candidate = rng:int(0, n - 1)
    if table_of_centers[candidate] == 0 then
      center[#center + 1] = candidate
      table_of_centers[candidate] = #center
    end
  end
  for i, p in ipairs(center) do table_of_centers[p] = i - 1 end

  local words, costs = ww.array("f32", record * n), ww.array("f32", n)
  local numbers = ww.array("i32", n)
  for p = 0, n - 1 do
    local i = rng:int(1, centers)
    local weight = rng:int(1, 4)
    numbers[p] = i - 1
    costs[p] = weight * squared_distance(p, center[i])
    words[record * p], words[record * p + 2] = weight, costs[p]
  end
  -- The assignment is a whole number among floats.
  local dev_points = gpu:upload(words)
  local raw = gpu:download("i32", dev_points, record * n)
  for p = 0, n - 1 do raw[record * p + 1] = center[numbers[p] + 1] end
  gpu:write(dev_points, raw)

  local dev_coordinates, dev_table = gpu:upload(coordinates), gpu:upload(table_of_centers)
  local sums = ww.array("f32", n * (centers + 1)):random(size.seed + 2, 0, 1) -- to which the kernel adds
  local switches, work = gpu:alloc(4 * n), gpu:alloc(sums:bytes())
  local tolerance = 1e-6 * dimensions
  for launch = 1, size.launches do
    local x = rng:int(0, n - 1)
    gpu:fill(switches, 0, 4 * n)
    gpu:write(work, sums)
    gpu:launch(self.kernels.streamcluster_gain, {
      grid = (n + threads - 1) // threads,
      block = threads,
      args = { dev_coordinates, dev_points, dev_table, switches, work, n, dimensions, centers, x },
    })

    local got_switches = gpu:download("i32", switches, n)
    local want, want_switches = sums:copy(), ww.array("i32", n)
    for p = 0, n - 1 do
      local gain = costs[p] - words[record * p] * squared_distance(p, x)
      local switch = gain > 0
      if math.abs(gain) < tolerance then switch = got_switches[p] == 1 end -- single precision may see it either way
      want_switches[p] = switch and 1 or 0
      local to = p * (centers + 1) + (switch and centers or numbers[p])
      want[to] = want[to] + (switch and -gain or gain)
    end
    self:check("switches of launch " .. launch, got_switches, want_switches)
    self:check("work of launch " .. launch, gpu:download("f32", work, #want), want, { abs = tolerance })
  end
end

return streamcluster
