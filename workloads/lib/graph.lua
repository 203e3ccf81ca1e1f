-- Directed graphs in compressed rows: the out-edges of node v lead to col[e] for row[v] <= e <
-- row[v + 1].
local ww = require "warpwright"
local csr = require "workloads.lib.csr"

local graph = {}

--- A graph { nodes, shortest, longest, degrees, seed } whose out-degrees between shortest and
-- longest are all equally likely ("uniform") or follow a power law ("power", or nil: see
-- csr.power_law_rows); each edge leads to a node chosen at random.
function graph.random(o)
  local make = o.degrees == "uniform" and csr.uniform_rows or csr.power_law_rows
  local row = make { rows = o.nodes, shortest = o.shortest, longest = o.longest, seed = o.seed }
  local edges = row[o.nodes]
  return { nodes = o.nodes, edges = edges, row = row, col = ww.array("i32", edges):random(o.seed + 1, 0, o.nodes - 1) }
end

--- What two bytes of the random number choose, the lower one first: the half of the matrix at two
-- levels, `from` in the upper 32 bits of the result and `to` in the lower ones.
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

--- Edges { nodes, edges, seed } of an R-MAT graph with a, b, c, d = 0.45, 0.15, 0.15, 0.25, in
-- 256ths, as { nodes, from, to }: lists of their ends. Nodes of low numbers have the most edges.
-- With Graph500's 0.57, 0.19, 0.19, 0.05 node 0 of 131,072 would have a hundredth of all edges, and
-- one thread would set the pace. `nodes` is a power of two. A random number chooses for seven
-- levels, a byte for each; what the last chooses beyond the levels is dropped.
function graph.rmat(o)
  local levels = 0
  while 1 << levels < o.nodes do levels = levels + 1 end
  if 1 << levels ~= o.nodes then
    error(("graph: rmat: nodes: expected a power of two, got %d"):format(o.nodes), 0)
  end
  local choices, from, to, draws = choices_of_two_bytes(), {}, {}, (levels + 6) // 7
  local drawn = ww.array("i64", draws * o.edges):random(o.seed, 0, (1 << 56) - 1):table()
  local surplus, at = 7 * draws - levels, 0
  for e = 1, o.edges do
    local edge = 0
    for i = at, at + draws - 1 do
      local bytes = drawn[i]
      edge = edge << 7 | choices[bytes & 0xffff] << 5 | choices[bytes >> 16 & 0xffff] << 3
        | choices[bytes >> 32 & 0xffff] << 1 | choices[bytes >> 48] >> 1 -- of a byte and a 0, which chooses nothing
    end
    from[e], to[e] = edge >> 32 + surplus, (edge & 0xffffffff) >> surplus
    at = at + draws
  end
  return { nodes = o.nodes, from = from, to = to }
end

--- Edges { nodes, edges, seed } of a graph of 64 communities, numbered by community. The densest
-- has 32 times the edges of the sparsest, in random order; one edge of twenty leads to any other
-- node.
function graph.community(o)
  local communities, rng = 64, ww.rng(o.seed)
  local shares, sum = {}, 0
  for c = 1, communities do
    shares[c] = 2 ^ (5 * rng:float())
    sum = sum + shares[c]
  end
  local from, to, e, passed = {}, {}, 0, 0
  for c = 1, communities do
    passed = passed + shares[c]
    local first, last = (c - 1) * o.nodes // communities, c * o.nodes // communities - 1
    local edges_end = c == communities and o.edges or math.floor(o.edges * passed / sum)
    while e < edges_end do
      e = e + 1
      from[e] = rng:int(first, last)
      to[e] = rng:int(1, 20) == 1 and rng:int(0, o.nodes - 1) or rng:int(first, last)
    end
  end
  return { nodes = o.nodes, from = from, to = to }
end

--- Edges { nodes, seed } of a square grid, as of roads: nodes in the order of rows, each connected
-- with the next in its row and the one below, of which one in ten is missing.
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
  return { nodes = o.nodes, from = from, to = to }
end

--- The ends of directed edges, twice as many: each edge, and the same backwards.
local function in_both_directions(from, to)
  local sources, targets = {}, {}
  for e = 1, #from do
    local a, b, forth, back = from[e], to[e], 2 * e - 1, 2 * e
    sources[forth], targets[forth], sources[back], targets[back] = a, b, b, a
  end
  return sources, targets
end

--- The list in compressed rows, with `both` each edge in both directions. number[e] is the edge's
-- place in the list, from 0.
function graph.compressed(list, both)
  local sources, targets = list.from, list.to
  if both then sources, targets = in_both_directions(sources, targets) end
  local slots, next_place, row, sum = #sources, {}, {}, 1
  for v = 0, list.nodes do next_place[v] = 0 end
  for e = 1, slots do
    local v = sources[e]
    next_place[v] = next_place[v] + 1
  end
  for v = 0, list.nodes do
    row[v + 1], next_place[v], sum = sum - 1, sum, sum + next_place[v]
  end
  local order = {}
  for slot = 1, slots do order[slot] = 0 end -- in order: Lua keeps a list that was filled so as an array
  for e = 1, slots do
    local v = sources[e]
    local place = next_place[v]
    order[place], next_place[v] = e - 1, place + 1
  end
  local number = ww.i32(order)
  local col = ww.i32(targets):gather(number)
  if both then
    for slot = 1, slots do order[slot] = order[slot] // 2 end
    number = ww.i32(order)
  end
  return { nodes = list.nodes, edges = slots, row = ww.i32(row), col = col, number = number }
end

--- The edges of a size, { nodes, from, to }: size.graph is "rmat", "community" or "road".
function graph.edges(size)
  local kinds = { rmat = graph.rmat, community = graph.community, road = graph.road }
  local make = kinds[size.graph]
  if not make then error(("graph: expected rmat, community or road, got '%s'"):format(size.graph), 0) end
  return make(size)
end

--- The graph of a size in compressed rows. Roads lead both ways.
function graph.make(size) return graph.compressed(graph.edges(size), size.graph == "road") end

--- Each node's distance from the source by edges of these weights (whole numbers from 1), `unknown`
-- where there is no path, and the least number of edges of a path that short (tables). Dijkstra's
-- algorithm; a queue for each distance.
function graph.shortest_paths(g, weights, source, unknown)
  local row, col, weight = g.row:table(), g.col:table(), weights:table()
  local distance, hops = {}, {}
  for v = 0, g.nodes - 1 do distance[v], hops[v] = unknown, unknown end
  distance[source], hops[source] = 0, 0
  local queues, last, d = { [0] = { source } }, 0, 0
  while d <= last do
    for _, v in ipairs(queues[d] or {}) do
      if distance[v] == d then -- and not less: then it was in an earlier queue too
        local next_hops = hops[v] + 1
        for e = row[v], row[v + 1] - 1 do
          local u, alternative = col[e], d + weight[e]
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
  return distance, hops
end

--- Each node's distance from the source in edges, -1 where there is no path (i32): level by level,
-- in the order of the nodes, which reads the edges in the order in which they lie in memory.
function graph.distances(g, source)
  local row, col, nodes, distance = g.row:table(), g.col, g.nodes, {}
  local seen = {} -- sets of 64 nodes as bits, which stay in the processor's caches
  for v = 0, nodes - 1 do distance[v] = -1 end
  for set = 0, nodes >> 6 do seen[set] = 0 end
  distance[source], seen[source >> 6] = 0, 1 << (source & 63)
  local level, found = 0, 1
  while found > 0 do
    level, found = level + 1, 0
    for v = 0, nodes - 1 do
      if distance[v] == level - 1 then
        for e = row[v], row[v + 1] - 1 do
          local u = col[e]
          local set, bit = seen[u >> 6], 1 << (u & 63)
          if set & bit == 0 then
            distance[u], seen[u >> 6], found = level, set | bit, found + 1
          end
        end
      end
    end
  end
  return ww.i32(table.move(distance, 0, nodes - 1, 1))
end

return graph
