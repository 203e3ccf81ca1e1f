local ww = require "warpwright"
local graph = require "workloads.lib.graph"

local bfs = ww.workload "bfs" {
  doc = "Breadth-first search, one launch per level, or two: irregular, with a host loop that reads a flag back",
  ptx = "bfs.ptx",
  sizes = {
    -- version: "levels", one launch a level, or "masks", two. degrees: "power", as in
    -- csr.power_law_rows, or "uniform".
    small = { nodes = 8192, shortest = 3, longest = 24, degrees = "power", version = "levels", seed = 1 },
    medium = { nodes = 512 * 1024, shortest = 4, longest = 128, degrees = "power", version = "levels", seed = 1 },
    large = { nodes = 2048 * 1024, shortest = 4, longest = 256, degrees = "power", version = "levels", seed = 1 },
    masks = { nodes = 64 * 1024, shortest = 2, longest = 10, degrees = "uniform", version = "masks", seed = 1 },
  },
}

local source = 0

--- Launches levels until one adds no node; `launch` makes one.
local function levels(gpu, again, launch)
  local level = 0
  repeat
    gpu:fill(again, 0, 4)
    launch(level)
    level = level + 1
  until gpu:read("i32", again) == 0
end

local function search(self, gpu, g, row, col, cost, again)
  levels(gpu, again, function(level)
    gpu:launch(self.kernels.bfs_level, {
      grid = (g.nodes + 255) // 256,
      block = 256,
      args = { row, col, cost, again, level, g.nodes },
    })
  end)
end

local function search_with_masks(self, gpu, g, _, col, cost, again)
  local nodes = ww.array("i32", 2 * g.nodes)
  for v = 0, g.nodes - 1 do nodes[2 * v], nodes[2 * v + 1] = g.row[v], g.row[v + 1] - g.row[v] end
  nodes = gpu:upload(nodes)
  local masks = {}
  for i = 1, 3 do
    masks[i] = gpu:alloc(g.nodes)
    gpu:fill(masks[i], 0, g.nodes)
  end
  local frontier, marked, visited = table.unpack(masks)
  gpu:fill(frontier + source, 1, 1)
  gpu:fill(visited + source, 1, 1)
  gpu:fill(cost + 4 * source, 0, 4)
  local grid, block = (g.nodes + 511) // 512, 512
  levels(gpu, again, function()
    gpu:launch(self.kernels.bfs_visit, { grid = grid, block = block, args = { nodes, col, frontier, marked, visited, cost, g.nodes } })
    gpu:launch(self.kernels.bfs_advance, { grid = grid, block = block, args = { frontier, marked, visited, again, g.nodes } })
  end)
end

function bfs:run(gpu, size)
  local g = graph.random(size)
  local row = size.version == "levels" and gpu:upload(g.row)
  local col = gpu:upload(g.col)
  local cost = gpu:upload(ww.array("i32", g.nodes):fill(-1):set(source, 0))
  local search_by = { levels = search, masks = search_with_masks }
  self:check_that('version is "levels" or "masks"', search_by[size.version] ~= nil)
  search_by[size.version](self, gpu, g, row, col, cost, gpu:alloc(4))
  self:check("cost", gpu:download("i32", cost, g.nodes), graph.distances(g, source))
end

return bfs
