-- Meshes of triangles: vertices 1 to 3 of triangle t at vertices[3 * t ...], counter-clockwise; the
-- neighbour across the edge from a vertex to the next at neighbors[3 * t ...], -1 where there is
-- nothing. Triangles and vertices count from 0.
local ww = require "warpwright"

local mesh = {}

local sqrt <const>, max <const>, min <const> = math.sqrt, math.max, math.min

--- Twice the area of the triangle a, b, c; less than 0 if it is clockwise.
function mesh.twice_area(m, a, b, c)
  local x, y = m.x, m.y
  return (x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a])
end

--- Greater than 0 if d is in the circle through a, b, c.
function mesh.in_circle(m, a, b, c, d)
  local x, y = m.x, m.y
  local ax, ay, bx, by, cx, cy = x[a] - x[d], y[a] - y[d], x[b] - x[d], y[b] - y[d], x[c] - x[d], y[c] - y[d]
  return (ax * ax + ay * ay) * (bx * cy - cx * by) - (bx * bx + by * by) * (ax * cy - cx * ay)
    + (cx * cx + cy * cy) * (ax * by - bx * ay)
end

--- The least angle of triangle t, in degrees, by its sides.
function mesh.least_angle(m, t)
  local x, y, v = m.x, m.y, m.vertices
  local a, b, c = v[3 * t], v[3 * t + 1], v[3 * t + 2]
  local ax, ay, bx, by, cx, cy = x[a], y[a], x[b], y[b], x[c], y[c]
  local ab, bc, ca = sqrt((ax - bx) ^ 2 + (ay - by) ^ 2), sqrt((bx - cx) ^ 2 + (by - cy) ^ 2),
    sqrt((cx - ax) ^ 2 + (cy - ay) ^ 2)
  local cosine = max((ab * ab + ca * ca - bc * bc) / (2 * ab * ca), (ab * ab + bc * bc - ca * ca) / (2 * ab * bc),
    (bc * bc + ca * ca - ab * ab) / (2 * bc * ca))
  return math.deg(math.acos(max(-1, min(1, cosine))))
end

--- In which place triangle t has neighbour u.
local function place_of(m, t, u)
  local n, first = m.neighbors, 3 * t
  return n[first] == u and 0 or n[first + 1] == u and 1 or n[first + 2] == u and 2 or nil
end

--- Turns the edge in place k of triangle t round if the vertex beyond is in t's circle. Returns
-- whether it did, and the triangles.
local function flip(m, t, k)
  local v, n = m.vertices, m.neighbors
  local u = n[3 * t + k]
  if u < 0 then return false end
  local j = place_of(m, u, t)
  local a, b, c = v[3 * t + k], v[3 * t + (k + 1) % 3], v[3 * t + (k + 2) % 3]
  local d = v[3 * u + (j + 2) % 3]
  if mesh.in_circle(m, a, b, c, d) <= 1e-18 then return false end
  -- a, b, c and b, a, d become c, a, d and d, b, c.
  local beyond_bc, beyond_ca = n[3 * t + (k + 1) % 3], n[3 * t + (k + 2) % 3]
  local beyond_ad, beyond_db = n[3 * u + (j + 1) % 3], n[3 * u + (j + 2) % 3]
  v[3 * t], v[3 * t + 1], v[3 * t + 2] = c, a, d
  n[3 * t], n[3 * t + 1], n[3 * t + 2] = beyond_ca, beyond_ad, u
  v[3 * u], v[3 * u + 1], v[3 * u + 2] = d, b, c
  n[3 * u], n[3 * u + 1], n[3 * u + 2] = beyond_db, beyond_bc, t
  if beyond_ad >= 0 then n[3 * beyond_ad + place_of(m, beyond_ad, u)] = t end
  if beyond_bc >= 0 then n[3 * beyond_bc + place_of(m, beyond_bc, t)] = u end
  return true, u
end

--- A Delaunay mesh of the unit square: vertices on a grid of side x side squares, each moved at
-- random by at most `jitter` of a square's side, but along the border only. Returns { x, y,
-- vertices, neighbors (tables), triangles, count = of vertices }.
function mesh.jittered(side, jitter, seed)
  local rng, m = ww.rng(seed), { x = {}, y = {}, vertices = {}, neighbors = {}, triangles = 2 * side * side }
  local function moved(i) return (i + (0 < i and i < side and jitter * (2 * rng:float() - 1) or 0)) / side end
  for row = 0, side do
    for column = 0, side do
      local v = row * (side + 1) + column
      m.x[v], m.y[v] = moved(column), moved(row)
    end
  end
  m.count = (side + 1) * (side + 1)
  -- A square is parted from its lower left to its upper right corner, or the other way where a
  -- corner is beyond that diagonal. Of its triangles 0 is the lower one and 1 the upper one;
  -- `falling` says of a square that its left side is the lower one's.
  local falling = {}
  for row = 0, side - 1 do
    for column = 0, side - 1 do
      local v = row * (side + 1) + column
      falling[row * side + column] = mesh.twice_area(m, v, v + 1, v + side + 2) <= 0
        or mesh.twice_area(m, v, v + side + 2, v + side + 1) <= 0
    end
  end
  local function triangle_at(row, column, edge)
    if row < 0 or row >= side or column < 0 or column >= side then return -1 end
    local square = row * side + column
    local is_upper = edge == "top" or edge == (falling[square] and "right" or "left")
    return 2 * square + (is_upper and 1 or 0)
  end
  for row = 0, side - 1 do
    for column = 0, side - 1 do
      local v, square = row * (side + 1) + column, row * side + column
      local below, above = triangle_at(row - 1, column, "top"), triangle_at(row + 1, column, "bottom")
      local left, right = triangle_at(row, column - 1, "right"), triangle_at(row, column + 1, "left")
      local lower, upper = 2 * square, 2 * square + 1
      local corners = { v, v + 1, v + side + 2, v, v + side + 2, v + side + 1 }
      local beyond = { below, right, upper, lower, above, left }
      if falling[square] then
        corners = { v, v + 1, v + side + 1, v + 1, v + side + 2, v + side + 1 }
        beyond = { below, upper, left, right, above, lower }
      end
      for k = 0, 5 do m.vertices[6 * square + k], m.neighbors[6 * square + k] = corners[k + 1], beyond[k + 1] end
    end
  end

  local work = {}
  for t = 0, m.triangles - 1 do work[#work + 1] = t end
  while #work > 0 do
    local t = table.remove(work)
    for k = 0, 2 do
      local flipped, other = flip(m, t, k)
      if flipped then
        work[#work + 1], work[#work + 2] = t, other
        break
      end
    end
  end
  return m
end

--- What is wrong with triangle t of a mesh and its neighbours, as a text, or nil. The two triangles
-- at an edge have both vertices beyond it in their circles, or none: the one of the lower number
-- looks.
local function complaint_of(m, t, gone)
  local v, n, first = m.vertices, m.neighbors, 3 * t
  for k = 0, 2 do
    local u = n[first + k]
    if u >= 0 then
      if u >= m.triangles or gone[u] then return ("triangle %d has neighbour %d, which does not live"):format(t, u) end
      local j, a, b = place_of(m, u, t), v[first + k], v[first + (k + 1) % 3]
      if not j or v[3 * u + j] ~= b or v[3 * u + (j + 1) % 3] ~= a then
        return ("triangles %d and %d: expected a common edge"):format(t, u)
      end
      if t < u and mesh.in_circle(m, v[first], v[first + 1], v[first + 2], v[3 * u + (j + 2) % 3]) > 1e-14 then
        return ("triangle %d has a vertex of triangle %d in its circle"):format(t, u)
      end
    end
  end
end

--- What is wrong with the triangles of a mesh of the unit square that are not gone (true in a table
-- from 0), as a text, or nil: they must be counter-clockwise, fill the square, be each other's
-- neighbours, and have no vertex beyond an edge in their circles. A mesh of which that is true is
-- the one Delaunay mesh of its vertices.
function mesh.complaint(m, gone)
  local v, n, x, area, live, border = m.vertices, m.neighbors, m.x, 0, 0, 0
  for t = 0, m.triangles - 1 do
    if not gone[t] then
      local a, b, c = v[3 * t], v[3 * t + 1], v[3 * t + 2]
      if not (x[a] and x[b] and x[c]) then return ("triangle %d has vertices that are not there"):format(t) end
      local twice = mesh.twice_area(m, a, b, c)
      if twice <= 0 or twice ~= twice then return ("triangle %d has an area of %g"):format(t, twice / 2) end
      local complaint = complaint_of(m, t, gone)
      if complaint then return complaint end
      area, live = area + twice / 2, live + 1
      for e = 3 * t, 3 * t + 2 do
        if n[e] < 0 then border = border + 1 end
      end
    end
  end
  if math.abs(area - 1) > 1e-9 then return ("expected an area of 1, got %.12f"):format(area) end
  if live ~= 2 * m.count - 2 - border then
    return ("expected %d triangles of %d vertices, got %d"):format(2 * m.count - 2 - border, m.count, live)
  end
end

return mesh
