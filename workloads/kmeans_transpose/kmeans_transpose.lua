local ww = require "warpwright"
local transpose = require "workloads.lib.transpose"

local kmeans_transpose = ww.workload "kmeans_transpose" {
  doc = "k-means, first kernel: transposes the features; each lane comes back to a line of its own, if it is kept",
  ptx = "kmeans_transpose.ptx",
  sizes = {
    small = { points = 4096, features = 34, seed = 1 },
    medium = { points = 128 * 1024, features = 34, seed = 1 },
    paper = { points = 494020, features = 34, seed = 1 },
  },
  expected = { class = "cache-sensitive: thrashing", hit_rate = { 0, 0.1 }, instructions_per_miss = { 0.2, 0.4 } },
}

function kmeans_transpose:run(gpu, size)
  local n, F = size.points, size.features
  local features = ww.array("f32", n * F):random(size.seed, 0, 1)
  local dev_in, dev_out = gpu:upload(features), gpu:alloc(4 * n * F)

  gpu:launch(self.kernels.kmeans_transpose, {
    grid = (n + 255) // 256,
    block = 256,
    args = { dev_in, dev_out, n, F },
  })

  self:check("features, one by one", gpu:download("f32", dev_out, n * F), transpose.by_columns(features, n, F))
end

return kmeans_transpose
