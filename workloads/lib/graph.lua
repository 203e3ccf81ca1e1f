-- Directed graphs in compressed rows: the out-edges of node v lead to col[e] for row[v] <= e < row[v + 1].
local ww = require "warpwright"
local csr = require "workloads.lib.csr"

local graph = {}

--- A graph { nodes, shortest, longest, degrees, seed } whose out-degrees between shortest and longest are all equally likely
-- ("uniform") or follow a power law ("power", or nil: see csr.power_law_rows); each edge leads to a node chosen at random.
function graph.random(o)
  local make = o.degrees == "uniform" and csr.uniform_rows or csr.power_law_rows
  local row = make { rows = o.nodes, shortest = o.shortest, longest = o.longest, seed = o.seed }
  local edges = row[o.nodes]
  return { nodes = o.nodes, edges = edges, row = row, col = ww.array("i32", edges):random(o.seed + 1, 0, o.nodes - 1) }
end

--- A list of edges { nodes, from, to } whose ends are anywhere.
local function edge_list(nodes, edges)
  return { nodes = nodes, from = ww.array("i32", edges), to = ww.array("i32", edges) }
end

--- What two bytes of the random number choose, the lower one first: the half of the matrix at two levels, `from` in the
-- upper 32 bits of the result and `to` in the lower ones.
local function choices_of_two_bytes()
  local one, two = {}, {}
  for byte = 0, 255 do
    local from = byte >= 115 + 38 and 1 or 0
    local to = (byte >= 115 and byte < 115 + 38 or byte >= 115 + 38 + 38) and 1 or 0
    one[byte] = from << 32 | to
  end
  for bytes = 0, 65535 do two[bytes] = one[bytes & 255] << 1 | one[bytes >> 8] end
  return two
end

--- Edges { nodes, edges, seed } of an R-MAT graph with a, b, c, d = 0.45, 0.15, 0.15, 0.25, in 256ths. Nodes of low
-- numbers have the most edges. With Graph500's 0.57, 0.19, 0.19, 0.05 node 0 of 131,072 would have a hundredth of all
-- edges, and one thread would set the pace. `nodes` is a power of two. A random number chooses for up to seven levels, a byte
-- for each.
function graph.rmat(o)
  local levels = 0
  while 1 << levels < o.nodes do levels = levels + 1 end
  if 1 << levels ~= o.nodes then error(("graph: rmat: nodes: expected a power of two, got %d"):format(o.nodes), 0) end
  local choices, list, rng = choices_of_two_bytes(), edge_list(o.nodes, o.edges), ww.rng(o.seed)
  local list_from, list_to, last <const> = list.from, list.to, (1 << 56) - 1
  for e = 0, o.edges - 1 do
    local edge = 0
    for level = 1, levels, 7 do
      local bytes, more = rng:int(0, last), math.min(levels - level + 1, 7)
      for _ = 2, more, 2 do edge, bytes = edge << 2 | choices[bytes & 0xffff], bytes >> 16 end
      if more % 2 == 1 then edge = edge << 1 | choices[bytes & 0xff] >> 1 & 0x100000001 end
    end
    list_from[e], list_to[e] = edge >> 32, edge & 0xffffffff
  end
  return list
end

--- Edges { nodes, edges, seed } of a graph of 64 communities, numbered by community. The densest has 32 times the
-- edges of the sparsest, in random order; one edge of twenty leads to any other node.
function graph.community(o)
  local communities, rng = 64, ww.rng(o.seed)
  local shares, sum = {}, 0
  for c = 1, communities do
    shares[c] = 2 ^ (5 * rng:float())
    sum = sum + shares[c]
  end
  local list, e, passed = edge_list(o.nodes, o.edges), 0, 0
  for c = 1, communities do
    passed = passed + shares[c]
    local first, last = (c - 1) * o.nodes // communities, c * o.nodes // communities - 1
    local edges_end = c == communities and o.edges or math.floor(o.edges * passed / sum)
    while e < edges_end do
      list.from[e] = rng:int(first, last)
      list.to[e] = rng:int(1, 20) == 1 and rng:int(0, o.nodes - 1) or rng:int(first, last)
      e = e + 1
    end
  end
  return list
end

--- Edges { nodes, seed } of a square grid, as of roads: nodes in the order of rows, each connected with the next in
-- its row and the one below, of which one in ten is missing.
function graph.road(o)
  local side = math.floor(math.sqrt(o.nodes))
  if side * side ~= o.nodes then error(("graph: road: nodes: expected a square, got %d"):format(o.nodes), 0) end
  local from, to, rng = {}, {}, ww.rng(o.seed)
  local function connect(a, b)
    if rng:int(1, 10) > 1 then from[#from + 1], to[#to + 1] = a, b end
  end
  for v = 0, o.nodes - 1 do
    if (v + 1) % side ~= 0 then connect(v, v + 1) end
    if v + side < o.nodes then connect(v, v + side) end
  end
  local list = edge_list(o.nodes, #from)
  for e = 1, #from do list.from[e - 1], list.to[e - 1] = from[e], to[e] end
  return list
end

--- The list in compressed rows, with `both` each edge in both directions. number[e] is the edge's place in the list.
function graph.compressed(list, both)
  local edges, next_place = #list.from, {}
  for v = 0, list.nodes do next_place[v] = 0 end
  local slots = both and 2 * edges or edges
  local g = { nodes = list.nodes, edges = slots, col = ww.array("i32", slots), number = ww.array("i32", slots) }
  for e = 0, edges - 1 do
    local a, b = list.from[e], list.to[e]
    next_place[a] = next_place[a] + 1
    if both then next_place[b] = next_place[b] + 1 end
  end
  g.row = ww.array("i32", list.nodes + 1)
  local sum = 0
  for v = 0, list.nodes do
    g.row[v], next_place[v], sum = sum, sum, sum + next_place[v]
  end
  local col, number = g.col, g.number
  local function put(e, a, b)
    local place = next_place[a]
    col[place], number[place], next_place[a] = b, e, place + 1
  end
  for e = 0, edges - 1 do
    local a, b = list.from[e], list.to[e]
    put(e, a, b)
    if both then put(e, b, a) end
  end
  return g
end

--- The list of edges of a size: size.graph is "rmat", "community" or "road".
function graph.edges(size)
  local kinds = { rmat = graph.rmat, community = graph.community, road = graph.road }
  local make = kinds[size.graph]
  if not make then error(("graph: expected rmat, community or road, got '%s'"):format(size.graph), 0) end
  return make(size)
end

--- The graph of a size in compressed rows. Roads lead both ways.
function graph.make(size) return graph.compressed(graph.edges(size), size.graph == "road") end

--- Each node's distance from the source by edges of these weights (whole numbers from 1), `unknown` where there is
-- no path, and the least number of edges of a path that short (i32). Dijkstra's algorithm; a queue for each
-- distance.
function graph.shortest_paths(g, weights, source, unknown)
  local row, col = g.row, g.col
  local distance, hops = {}, {}
  for v = 0, g.nodes - 1 do distance[v], hops[v] = unknown, unknown end
  distance[source], hops[source] = 0, 0
  local queues, last, d = { [0] = { source } }, 0, 0
  while d <= last do
    for _, v in ipairs(queues[d] or {}) do
      if distance[v] == d then -- and not less: then it was in an earlier queue too
        local next_hops = hops[v] + 1
        for e = row[v], row[v + 1] - 1 do
          local u, alternative = col[e], d + weights[e]
          if alternative < distance[u] then
            distance[u], hops[u] = alternative, next_hops
            local queue = queues[alternative]
            if queue then queue[#queue + 1] = u else queues[alternative] = { u } end
            if alternative > last then last = alternative end
          elseif alternative == distance[u] and next_hops < hops[u] then
            hops[u] = next_hops
          end
        end
      end
    end
    queues[d] = nil
    d = d + 1
  end
  local distances, least_hops = ww.array("i32", g.nodes), ww.array("i32", g.nodes)
  for v = 0, g.nodes - 1 do distances[v], least_hops[v] = distance[v], hops[v] end
  return distances, least_hops
end

--- Each node's distance from the source in edges, -1 where there is no path (i32): a search with a queue.
function graph.distances(g, source)
  local row, col = g.row, g.col
  local distance = ww.array("i32", g.nodes):fill(-1):set(source, 0)
  local queue, head = { source }, 1
  while queue[head] do
    local v = queue[head]
    local next_distance = distance[v] + 1
    for e = row[v], row[v + 1] - 1 do
      local u = col[e]
      if distance[u] < 0 then
        distance[u] = next_distance
        queue[#queue + 1] = u
      end
    end
    head = head + 1
  end
  return distance
end

return graph
