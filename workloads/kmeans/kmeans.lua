local ww = require "warpwright"
local points = require "workloads.lib.points"

local kmeans = ww.workload "kmeans" {
  doc = "k-means, features stored point by point: uncoalesced, and as fast as the L1 keeps lines for reuse",
  ptx = "kmeans.ptx",
  sizes = {
    small = { points = 6144, features = 16, clusters = 3, iterations = 2, seed = 1 },
    medium = { points = 128 * 1024, features = 16, clusters = 4, iterations = 2, seed = 1 },
    large = { points = 512 * 1024, features = 16, clusters = 4, iterations = 2, seed = 1 },
    paper = { points = 64 * 1024, features = 34, clusters = 5, iterations = 1, seed = 1 },
  },
  expected = { class = "thrashing", size = "paper,points=3840", hit_rate = { 0, 0.15 }, mpki = { 80, 130 } },
}

function kmeans:run(gpu, size)
  local n, clusters, F = size.points, size.clusters, size.features
  local features = ww.array("f32", n * F):random(size.seed, 0, 1)
  local centroids = features:slice(0, clusters * F) -- the first points are the first guesses
  local dev_features, dev_centroids, dev_membership = gpu:upload(features), gpu:upload(centroids), gpu:alloc(4 * n)

  for iteration = 1, size.iterations do
    gpu:write(dev_centroids, centroids)
    gpu:launch(self.kernels.kmeans_assign, {
      grid = (n + 255) // 256,
      block = 256,
      args = { dev_features, dev_centroids, dev_membership, n, clusters, F },
    })

    local membership = gpu:download("i32", dev_membership, n)
    local want = points.nearest(features, centroids, clusters, F, membership)
    self:check("membership after iteration " .. iteration, membership, want)
    if iteration < size.iterations then
      centroids = points.means(features, membership, centroids, clusters, F)
    end
  end
end

return kmeans
