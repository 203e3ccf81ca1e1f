local ww = require "warpwright"
local graph = require "workloads.lib.graph"
local random = require "workloads.lib.random"

local mst = ww.workload "mst" {
  doc = "Minimum spanning forest by Boruvka's algorithm: chains of pointers to roots, which are few and hot in the end",
  ptx = "mst.ptx",
  sizes = { -- graph: "rmat", "community" or "road", see lib/graph.lua; a road's edges follow from its nodes
    small = { graph = "road", nodes = 1024, edges = 0, seed = 1 },
    medium = { graph = "rmat", nodes = 128 * 1024, edges = 512 * 1024, seed = 1 },
    paper = { graph = "rmat", nodes = 128 * 1024, edges = 1024 * 1024, seed = 1 },
  },
  expected = {
    class = "chains of pointers, some of them hot", size = "small,graph=rmat,nodes=2048,edges=8192",
    hit_rate = { 0.3, 0.6 }, mpki = { 10, 30 },
  },
}

local threads <const>, no_edge <const> = 256, 0x7f

--- The weights of the edges of the minimum spanning forest: Kruskal's algorithm. All weights
-- differ, from 1 on.
local function kruskal(list, weight_of_edge)
  local from, to, ends, parent, tree = list.from, list.to, {}, {}, {}
  for weight = 1, #from do ends[weight] = 0 end -- in order: Lua keeps a list that was filled so as an array
  for e = 1, #from do ends[weight_of_edge[e]] = from[e] << 32 | to[e] end
  for v = 0, list.nodes - 1 do parent[v] = v end
  for weight = 1, #ends do
    local a, b = ends[weight] >> 32, ends[weight] & 0xffffffff
    local above_a, above_b = parent[a], parent[b]
    while a ~= above_a do -- up to the root, which the nodes on the way come nearer to
      parent[a] = parent[above_a]
      a, above_a = above_a, parent[above_a]
    end
    while b ~= above_b do
      parent[b] = parent[above_b]
      b, above_b = above_b, parent[above_b]
    end
    if a ~= b then
      parent[a] = b
      tree[#tree + 1] = weight
    end
  end
  return tree
end

function mst:run(gpu, size)
  local list = graph.edges(size)
  local g, edges = graph.compressed(list, true), #list.from
  local edge_of_weight, weight_of_edge = random.shuffled(ww.rng(size.seed + 10), edges), {}
  for e = 1, edges do weight_of_edge[e] = 0 end -- in order: Lua keeps a list that was filled so as an array
  for weight = 1, edges do weight_of_edge[edge_of_weight[weight]] = weight end
  local weights, parent = ww.i32(weight_of_edge):gather(g.number), {}
  for v = 1, g.nodes do parent[v] = v - 1 end

  local row, col, number = gpu:upload(g.row), gpu:upload(g.col), gpu:upload(g.number)
  local dev_weights, dev_parent, bytes = gpu:upload(weights), gpu:upload(ww.i32(parent)), 4 * g.nodes
  local node_edge, component_weight = gpu:alloc(bytes), gpu:alloc(bytes)
  local claim, tree = gpu:alloc(bytes), gpu:alloc(bytes)
  local tree_edges, again = gpu:upload(ww.i32(0)), gpu:alloc(4)
  local function launch(kernel, ...)
    gpu:launch(kernel, { grid = (g.nodes + threads - 1) // threads, block = threads, args = { ... } })
  end
  local found = 0
  repeat
    local before = found
    gpu:fill(component_weight, no_edge, bytes)
    gpu:fill(claim, 0xff, bytes)
    launch(self.kernels.mst_find, row, col, dev_weights, dev_parent, node_edge, component_weight, g.nodes)
    launch(self.kernels.mst_claim, dev_weights, dev_parent, node_edge, component_weight, claim, g.nodes)
    launch(self.kernels.mst_check, col, dev_parent, component_weight, claim, g.nodes)
    repeat
      gpu:fill(again, 0, 4)
      launch(self.kernels.mst_merge, col, dev_parent, claim, number, tree, tree_edges, again, g.nodes)
    until gpu:read("i32", again) == 0
    found = gpu:read("i32", tree_edges)
  until found == before

  local want = kruskal(list, weight_of_edge)
  self:check("number of the forest's edges", found, #want)
  local got, got_times, want_times = gpu:download("i32", tree, found), ww.array("i32", edges), ww.array("i32", edges)
  for i, weight in ipairs(want) do
    want_times[weight - 1] = 1
    local got_weight = weight_of_edge[got[i - 1] + 1]
    if got_weight then got_times[got_weight - 1] = got_times[got_weight - 1] + 1 end
  end
  self:check("how often the forest has the edge of each weight", got_times, want_times)
end

return mst
