-- Threads put nodes into a hash table with a lock for each bucket: a few buckets, and many warps spin.
local ww = require "warpwright"

local locking = ww.workload "locking" {
  ptx = "locking_kernel.ptx",
  sizes = {
    small = { ctas = 16, threads = 128, nodes = 2, buckets = 64 },
    medium = { ctas = 90, threads = 256, nodes = 2, buckets = 256 },
  },
}

local none <const> = 0xffffffff

function locking:run(gpu, size)
  local nodes = size.ctas * size.threads * size.nodes
  local locks, heads = gpu:upload(ww.array("u32", size.buckets)), ww.array("u32", size.buckets)
  for bucket = 0, size.buckets - 1 do heads[bucket] = none end
  local first, next_of = gpu:upload(heads), gpu:alloc(4 * nodes)
  gpu:launch(self.kernels.insert, {
    grid = size.ctas, block = size.threads, args = { locks, first, next_of, size.buckets - 1, size.nodes },
  })
  local next_node, found = gpu:download("u32", next_of, nodes), 0
  heads = gpu:download("u32", first, size.buckets)
  for bucket = 0, size.buckets - 1 do
    local node = heads[bucket]
    while node ~= none and found <= nodes do
      node, found = next_node[node], found + 1
    end
  end
  self:check("nodes in the lists", found, nodes)
end

return locking
