local ww = require "warpwright"

local nearest_neighbour = ww.workload "nearest_neighbour" {
  doc = "Distances of places from one of them, a record of two coordinates per thread: a stream",
  ptx = "nearest_neighbour.ptx",
  sizes = {
    small = { records = 16 * 1024, seed = 1 },
    medium = { records = 8 * 1024 * 1024, seed = 1 },
  },
  expected = { class = "streaming", hit_rate = { 0, 0.02 }, instructions_per_miss = { 2, 30 }, mpki = { 0, 10 } },
}

local threads <const>, latitude <const>, longitude <const> = 256, 30, 90

function nearest_neighbour:run(gpu, size)
  local n = size.records
  local places = ww.array("f32", 2 * n):random(size.seed, 0, 180)
  local distance = gpu:alloc(4 * n)
  gpu:launch(self.kernels.find_distances, {
    grid = (n + threads - 1) // threads,
    block = threads,
    args = { gpu:upload(places), distance, n, latitude, longitude },
  })
  local want, sqrt = ww.array("f32", n), math.sqrt
  for i = 0, n - 1 do
    local up, right = places[2 * i] - latitude, places[2 * i + 1] - longitude
    want[i] = sqrt(up * up + right * right)
  end
  self:check("distances", gpu:download("f32", distance, n), want, { abs = 4e-5 })
end

return nearest_neighbour
