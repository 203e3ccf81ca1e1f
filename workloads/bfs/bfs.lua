local ww = require "warpwright"
local graph = require "workloads.lib.graph"

local bfs = ww.workload "bfs" {
  doc = "Breadth-first search, one launch per level: irregular, with a host loop that reads a flag back",
  ptx = "bfs.ptx",
  sizes = { -- out-degrees as in csr.power_law_rows
    small = { nodes = 8192, shortest = 3, longest = 24, seed = 1 },
    medium = { nodes = 512 * 1024, shortest = 4, longest = 128, seed = 1 },
    large = { nodes = 2048 * 1024, shortest = 4, longest = 256, seed = 1 },
  },
}

local source = 0

function bfs:run(gpu, size)
  local g = graph.random(size)
  local row, col = gpu:upload(g.row), gpu:upload(g.col)
  local cost = gpu:upload(ww.array("i32", g.nodes):fill(-1):set(source, 0))
  local again = gpu:alloc(4)

  local level = 0
  repeat
    gpu:fill(again, 0, 4)
    gpu:launch(self.kernels.bfs_level, {
      grid = (g.nodes + 255) // 256,
      block = 256,
      args = { row, col, cost, again, level, g.nodes },
    })
    level = level + 1
  until gpu:read("i32", again) == 0

  self:check("cost", gpu:download("i32", cost, g.nodes), graph.distances(g, source))
end

return bfs
