local ww = require "warpwright"
local graph = require "workloads.lib.graph"

local bfs_masks = ww.workload "bfs_masks" {
  doc = "Breadth-first search with masks of bytes, two launches per level: irregular, with scattered byte stores",
  ptx = "bfs_masks.ptx",
  sizes = { -- out-degrees are random, all from shortest to longest equally likely
    small = { nodes = 8192, shortest = 2, longest = 10, seed = 1 },
    medium = { nodes = 256 * 1024, shortest = 2, longest = 10, seed = 1 },
    paper = { nodes = 1024 * 1024, shortest = 2, longest = 10, seed = 1 },
  },
  expected = {
    class = "memory-intensive: irregular", size = "small,nodes=65536", hit_rate = { 0.05, 0.3 }, instructions_per_miss = { 2, 6 },
  },
}

local threads <const>, source <const> = 512, 0

--- In compressed rows, as graph.random() makes them; each edge leads to a node chosen at random.
local function random_graph(size)
  local row, rng = ww.array("i32", size.nodes + 1), ww.rng(size.seed)
  for v = 1, size.nodes do row[v] = row[v - 1] + rng:int(size.shortest, size.longest) end
  local edges = row[size.nodes]
  return { nodes = size.nodes, edges = edges, row = row, col = ww.array("i32", edges):random(size.seed + 1, 0, size.nodes - 1) }
end

function bfs_masks:run(gpu, size)
  local g = random_graph(size)
  local nodes, frontier = ww.array("i32", 2 * g.nodes), ww.array("u8", g.nodes):set(source, 1)
  for v = 0, g.nodes - 1 do nodes[2 * v], nodes[2 * v + 1] = g.row[v], g.row[v + 1] - g.row[v] end
  local dev_nodes, edges = gpu:upload(nodes), gpu:upload(g.col)
  local on_frontier, visited = gpu:upload(frontier), gpu:upload(frontier)
  local found = gpu:upload(ww.array("u8", g.nodes))
  local cost = gpu:upload(ww.array("i32", g.nodes):fill(-1):set(source, 0))
  local again = gpu:alloc(4)

  local grid = (g.nodes + threads - 1) // threads
  repeat
    gpu:fill(again, 0, 4)
    gpu:launch(self.kernels.bfs_expand, {
      grid = grid, block = threads, args = { dev_nodes, edges, on_frontier, found, visited, cost, g.nodes },
    })
    gpu:launch(self.kernels.bfs_advance, {
      grid = grid, block = threads, args = { on_frontier, found, visited, again, g.nodes },
    })
  until gpu:read("i32", again) == 0

  self:check("cost", gpu:download("i32", cost, g.nodes), graph.distances(g, source))
end

return bfs_masks
