local ww = require "warpwright"
local constants = require "workloads.lib.constants"
local points = require "workloads.lib.points"
local transpose = require "workloads.lib.transpose"

local kmeans_texture = ww.workload "kmeans_texture" {
  doc = "k-means, features stored feature by feature and read through a texture, centroids in constant memory",
  ptx = "kmeans_texture.ptx",
  sizes = {
    small = { points = 2048, features = 16, clusters = 3, iterations = 2, seed = 1 },
    medium = { points = 128 * 1024, features = 34, clusters = 5, iterations = 1, seed = 1 },
    paper = { points = 480 * 1024, features = 34, clusters = 5, iterations = 1, seed = 1 },
  },
  expected = {
    class = "a stream beside the L1", instructions_per_miss = { 30, 1e9 }, instructions_per_texture_miss = { 8, 88 },
  },
}

local threads <const>, most_centroids <const> = 256, 4096

function kmeans_texture:run(gpu, size)
  local n, clusters, F = size.points, size.clusters, size.features
  if clusters * F > most_centroids then
    error(("kmeans_texture: clusters * features: expected at most %d, got %d"):format(most_centroids, clusters * F), 0)
  end
  local features = ww.array("f32", n * F):random(size.seed, 0, 1)
  local centroids = features:slice(0, clusters * F) -- the first points are the first guesses
  local by_feature = transpose.by_columns(features, n, F)
  local texture = gpu:texture { buffer = gpu:upload(by_feature), format = "f32", width = n * F }
  local dev_membership = gpu:alloc(4 * n)
  local ctas = (n + threads - 1) // threads
  local across = math.ceil(math.sqrt(ctas))

  for iteration = 1, size.iterations do
    constants.write(gpu, self.kernels.where_is_centroids, centroids)
    gpu:launch(self.kernels.kmeans_texture, {
      grid = { across, (ctas + across - 1) // across, 1 }, block = threads,
      args = { texture, dev_membership, n, clusters, F },
    })

    local membership = gpu:download("i32", dev_membership, n)
    local want = points.nearest(features, centroids, clusters, F, membership)
    self:check("membership after iteration " .. iteration, membership, want)
    if iteration < size.iterations then
      centroids = points.means(features, membership, centroids, clusters, F)
    end
  end
end

return kmeans_texture
