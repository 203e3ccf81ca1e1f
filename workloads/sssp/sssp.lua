local ww = require "warpwright"
local graph = require "workloads.lib.graph"

local sssp = ww.workload "sssp" {
  doc = "Shortest paths: each thread relaxes all edges of its nodes in every launch; warps differ for long",
  ptx = "sssp.ptx",
  -- graph: "rmat", "community" or "road", see lib/graph.lua. weights: the largest; with 1 it is a
  -- breadth-first search. run: nodes of a thread, which follow each other. launches: at most; 0 is
  -- until nothing changes.
  sizes = {
    small = { graph = "rmat", nodes = 2048, edges = 8192, weights = 100, run = 2, launches = 0, seed = 1 },
    medium = { graph = "rmat", nodes = 131072, edges = 1048576, weights = 100, run = 8, launches = 4, seed = 1 },
    paper = { graph = "rmat", nodes = 131072, edges = 2097152, weights = 100, run = 8, launches = 8, seed = 1 },
  },
  expected = {
    class = "thrashing", size = "small,nodes=4096,edges=32768,launches=1", hit_rate = { 0.1, 0.45 }, mpki = { 60, 160 },
  },
}

local threads <const>, source <const>, unknown <const> = 256, 0, 1 << 30

function sssp:run(gpu, size)
  local g = graph.make(size)
  local degree, row = {}, g.row:table()
  for v = 0, g.nodes - 1 do degree[v + 1] = row[v + 1] - row[v] end
  local weights = ww.array("i32", g.edges):random(size.seed + 10, 1, size.weights)

  local distance = gpu:upload(ww.array("i32", g.nodes):fill(unknown):set(source, 0))
  local changed = gpu:alloc(4)
  local args = {
    gpu:upload(g.row), gpu:upload(ww.i32(degree)), gpu:upload(g.col), gpu:upload(weights), distance, changed, g.nodes,
    size.run,
  }
  local kernel = self.kernels.sssp_relax
  if size.weights == 1 then
    kernel = self.kernels.sssp_relax_hops
    table.remove(args, 4)
  end

  local launches, owners = 0, (g.nodes + size.run - 1) // size.run
  repeat
    gpu:fill(changed, 0, 4)
    gpu:launch(kernel, { grid = (owners + threads - 1) // threads, block = threads, args = args })
    launches = launches + 1
    local done = gpu:read("i32", changed) == 0
  until done or launches == size.launches

  -- A shortest path of k edges is found in k launches. Longer ones may be too long yet, but never
  -- too short.
  local got = gpu:download("i32", distance, g.nodes)
  local paths, hops = graph.shortest_paths(g, weights, source, unknown)
  local want, found = {}, got:table()
  for v = 0, g.nodes - 1 do
    local is_open = launches == size.launches and hops[v] > launches and found[v] > paths[v]
    want[v + 1] = is_open and found[v] or paths[v]
  end
  self:check("distances", got, ww.i32(want))
end

return sssp
