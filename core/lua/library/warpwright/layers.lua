-- Where boxes go in a picture: in layers from above, each as far down as the longest way to it, with few crossings.
local layers = {}

local row_gap <const>, narrow_gap <const>, box_gap <const>, way_width <const> = 46, 16, 22, 14
local sweeps <const> = 8

-- Layers ----------------------------------------------------------------------------------------------------------------

--- Turns the edges round that close loops, so that ways end.
local function turn_loops(nodes, edges)
  local out, state = {}, {}
  for _, edge in ipairs(edges) do
    out[edge.from] = out[edge.from] or {}
    table.insert(out[edge.from], edge)
  end
  local function visit(node)
    state[node] = "open"
    for _, edge in ipairs(out[node] or {}) do
      if state[edge.to] == "open" then
        edge.turned = true
      elseif not state[edge.to] then
        visit(edge.to)
      end
    end
    state[node] = "done"
  end
  for _, node in ipairs(nodes) do
    if not state[node] then visit(node) end
  end
  for _, edge in ipairs(edges) do
    if edge.turned then edge.from, edge.to = edge.to, edge.from end
  end
end

local function set_levels(nodes, edges)
  local into, last = {}, 0
  for _, edge in ipairs(edges) do
    into[edge.to] = into[edge.to] or {}
    table.insert(into[edge.to], edge.from)
  end
  local function level(node)
    if not node.level then
      node.level = node.least_level or 0
      for _, above in ipairs(into[node] or {}) do node.level = math.max(node.level, level(above) + 1) end
    end
    return node.level
  end
  for _, node in ipairs(nodes) do last = math.max(last, level(node)) end
  for _, node in ipairs(nodes) do
    if node.at_bottom then node.level = last end
  end
end

--- The rows of nodes; an edge over several rows gets a place in each, and is a list of such steps.
local function make_rows(nodes, edges)
  local rows, links = {}, {}
  local function place(node)
    rows[node.level + 1] = rows[node.level + 1] or {}
    table.insert(rows[node.level + 1], node)
  end
  for _, node in ipairs(nodes) do place(node) end
  for _, edge in ipairs(edges) do
    edge.steps = { edge.from }
    for level = edge.from.level + 1, edge.to.level - 1 do
      local way = { width = way_width, height = 0, level = level, passes = true }
      place(way)
      table.insert(edge.steps, way)
    end
    table.insert(edge.steps, edge.to)
    for i = 2, #edge.steps do table.insert(links, { edge.steps[i - 1], edge.steps[i] }) end
  end
  return rows, links
end

-- Places in a row -------------------------------------------------------------------------------------------------------

local function note_neighbours(links)
  local above, below = {}, {}
  for _, link in ipairs(links) do
    above[link[2]], below[link[1]] = above[link[2]] or {}, below[link[1]] or {}
    table.insert(above[link[2]], link[1])
    table.insert(below[link[1]], link[2])
  end
  return above, below
end

local function mean_x(neighbours, plain)
  if not neighbours then return plain end
  local sum = 0
  for _, node in ipairs(neighbours) do sum = sum + node.x end
  return sum / #neighbours
end

--- Sets them beside each other as near as can be to where each would like its middle, in this order.
local function pack(row, wanted)
  local error_sum, edge = 0, -math.huge
  for i, node in ipairs(row) do
    node.x = math.max(wanted[i], edge + node.width / 2)
    edge = node.x + node.width / 2 + box_gap
    error_sum = error_sum + node.x - wanted[i]
  end
  for _, node in ipairs(row) do node.x = node.x - error_sum / #row end
end

local function settle(row, neighbours, may_reorder)
  local wanted = {}
  for i, node in ipairs(row) do
    node.rank, node.wanted = i, mean_x(neighbours[node], node.x)
  end
  if may_reorder then
    table.sort(row, function(a, b)
      if a.wanted ~= b.wanted then return a.wanted < b.wanted end
      return a.rank < b.rank
    end)
  end
  for i, node in ipairs(row) do wanted[i] = node.wanted end
  pack(row, wanted)
end

local function set_x(rows, links)
  local above, below = note_neighbours(links)
  for _, row in ipairs(rows) do
    local wanted = {}
    for i in ipairs(row) do wanted[i] = 0 end
    pack(row, wanted)
  end
  for sweep = 1, sweeps do
    for i = 2, #rows do settle(rows[i], above, sweep <= sweeps / 2) end
    for i = #rows - 1, 1, -1 do settle(rows[i], below, sweep <= sweeps / 2) end
  end
end

local function set_y(rows)
  local y, height_before = 0, nil
  for _, row in ipairs(rows) do
    local height = 0
    for _, node in ipairs(row) do height = math.max(height, node.height) end
    if height_before then y = y + (height > 0 and height_before > 0 and row_gap or narrow_gap) end
    for _, node in ipairs(row) do
      if node.passes then node.height = height end
      node.y = y + (height - node.height) / 2
    end
    y, height_before = y + height, height
  end
  return y
end

--- Places nodes, { width =, height =, least_level = 1 for one below the first layer, at_bottom = true for the last }: sets x, that of their middle, and y, that of their
--- upper side. Edges, { from =, to = }, get `steps`: the nodes from above to below, ways through layers among them; `turned`:
--- they lead up. Returns the width and height of all.
function layers.place(nodes, edges)
  turn_loops(nodes, edges)
  set_levels(nodes, edges)
  local rows, links = make_rows(nodes, edges)
  set_x(rows, links)
  local height, left, right = set_y(rows), math.huge, -math.huge
  for _, row in ipairs(rows) do
    for _, node in ipairs(row) do
      left, right = math.min(left, node.x - node.width / 2), math.max(right, node.x + node.width / 2)
    end
  end
  for _, row in ipairs(rows) do
    for _, node in ipairs(row) do node.x = node.x - left end
  end
  return right - left, height
end

return layers
