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

--- The numbers, from 1, of the edges of the minimum spanning forest, by weight: Kruskal's algorithm.
local function kruskal(list, edge_of_weight)
  local parent, tree = {}, {}
  for v = 0, list.nodes - 1 do parent[v] = v end
  local function root_of(v)
    while parent[v] ~= v do
      parent[v] = parent[parent[v]]
      v = parent[v]
    end
    return v
  end
  for _, e in ipairs(edge_of_weight) do
    local a, b = root_of(list.from[e - 1]), root_of(list.to[e - 1])
    if a ~= b then
      parent[a] = b
      tree[#tree + 1] = e
    end
  end
  return tree
end

function mst:run(gpu, size)
  local list = graph.edges(size)
  local g, edges = graph.compressed(list, true), #list.from
  local edge_of_weight, weight_of_edge = random.shuffled(ww.rng(size.seed + 10), edges), {}
  for weight, e in ipairs(edge_of_weight) do weight_of_edge[e - 1] = weight end
  local weights, parent = ww.array("i32", g.edges), ww.array("i32", g.nodes)
  for slot = 0, g.edges - 1 do weights[slot] = weight_of_edge[g.number[slot]] end
  for v = 0, g.nodes - 1 do parent[v] = v end

  local row, col, number = gpu:upload(g.row), gpu:upload(g.col), gpu:upload(g.number)
  local dev_weights, dev_parent, bytes = gpu:upload(weights), gpu:upload(parent), 4 * g.nodes
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

  local want = kruskal(list, edge_of_weight)
  self:check("number of the forest's edges", found, #want)
  local got, got_weights, want_weights = gpu:download("i32", tree, found), {}, ww.array("i32", found)
  for i, e in ipairs(want) do
    got_weights[i], want_weights[i - 1] = weight_of_edge[got[i - 1]] or -1, weight_of_edge[e - 1]
  end
  table.sort(got_weights)
  local sorted = ww.array("i32", found)
  for i, weight in ipairs(got_weights) do sorted[i - 1] = weight end
  self:check("weights of the forest's edges", sorted, want_weights)
end

return mst
