-- Suffix trees by Ukkonen's algorithm: from the root, the labels of the edges to a leaf spell a
-- suffix of a text.
local ww = require "warpwright"

local suffix_tree = {}

--- Nodes in the order in which they were made: where their edges' labels start and stop, links, and
-- children by 5 * node + symbol. The root is 0.
local function ukkonen(text, n)
  local start, stop, link, child, count = { [0] = 0 }, { [0] = 0 }, { [0] = 0 }, {}, 1
  local min = math.min
  local function new(from, to)
    start[count], stop[count], link[count] = from, to, 0
    count = count + 1
    return count - 1
  end
  -- Where in the tree the next suffix begins: a node, the first symbol and the length of a part of
  -- an edge.
  local node, edge, length = 0, 0, 0
  local remaining = 0 -- suffixes that end here and are not in the tree by themselves
  for i = 0, n do
    remaining = remaining + 1
    local split_before -- a node that still wants its link
    while remaining > 0 do
      if length == 0 then edge = i end
      local at = 5 * node + text[edge]
      local below = child[at]
      local whole = below and min(stop[below], i + 1) - start[below]
      if below and length >= whole then
        edge, length, node = edge + whole, length - whole, below
      else
        if not below then
          child[at] = new(i, n + 1)
          if split_before then link[split_before], split_before = node, nil end
        elseif text[start[below] + length] == text[i] then
          if split_before then link[split_before] = node end
          length = length + 1
          break
        else
          local split = new(start[below], start[below] + length)
          child[at] = split
          child[5 * split + text[i]] = new(i, n + 1)
          start[below] = start[below] + length
          child[5 * split + text[start[below]]] = below
          if split_before then link[split_before] = split end
          split_before = split
        end
        remaining = remaining - 1
        if node == 0 and length > 0 then
          length, edge = length - 1, i - remaining + 1
        elseif node ~= 0 then
          node = link[node]
        end
      end
    end
  end
  return { start = start, stop = stop, link = link, child = child, count = count }
end

--- The tree of a text of symbols 0 to 3 (a table from 0), which gets a 4 at its end. Nodes are
-- numbered level by level from the root, 0. Returns
--   count     of nodes
--   nodes     (i32, 4 a node) where the label of the edge to the node starts and stops in the text; the node whose path
--             lacks the first symbol; 0. Edges to leaves end with the 4.
--   children  (i32, 4 a node) the nodes below by the first symbol on the way, 0 for none
--   parent, depth, place  (tables) the node above; how many symbols lead to the node from the root; a place in the
--             text where they are
function suffix_tree.build(text, n)
  text[n] = 4
  local made = ukkonen(text, n)
  local start, stop, link, child = made.start, made.stop, made.link, made.child
  local order, number, parent, depth = { [0] = 0 }, { [0] = 0 }, { [0] = 0 }, { [0] = 0 }
  local last, children = 0, ww.array("i32", 4 * made.count)
  for i = 0, made.count - 1 do
    local node = order[i]
    if stop[node] <= n then -- leaves have no children
      for symbol = 0, 4 do
        local below = child[5 * node + symbol]
        if below then
          last = last + 1
          order[last], number[below], parent[last] = below, last, i
          depth[last] = depth[i] + stop[below] - start[below]
          if symbol < 4 then children[4 * i + symbol] = last end
        end
      end
    end
  end
  local nodes, place = {}, {}
  for i = 0, made.count - 1 do
    local node, at = order[i], 4 * i
    nodes[at + 1], nodes[at + 2], nodes[at + 3], nodes[at + 4] = start[node], stop[node], number[link[node]], 0
    place[i] = stop[node] - depth[i]
  end
  return {
    count = made.count, nodes = ww.i32(nodes), children = children, parent = parent, depth = depth, place = place,
  }
end

return suffix_tree
