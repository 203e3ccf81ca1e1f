-- Directed graphs in compressed rows: the out-edges of node v lead to col[e] for row[v] <= e < row[v + 1].
local ww = require "warpwright"
local csr = require "workloads.lib.csr"

local graph = {}

--- A graph { nodes, shortest, longest, seed } whose out-degrees follow a power law between shortest and longest
-- (see csr.power_law_rows); each edge leads to a node chosen at random.
function graph.random(o)
  local row = csr.power_law_rows { rows = o.nodes, shortest = o.shortest, longest = o.longest, seed = o.seed }
  local edges = row[o.nodes]
  return { nodes = o.nodes, edges = edges, row = row, col = ww.array("i32", edges):random(o.seed + 1, 0, o.nodes - 1) }
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
