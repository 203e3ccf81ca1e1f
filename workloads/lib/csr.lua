-- Sparse matrices in compressed rows: the entries of row r are col[p], val[p] for row[r] <= p <
-- row[r + 1].
local ww = require "warpwright"

local csr = {}

--- Row offsets (i32, rows + 1 of them) whose row lengths follow a power law: a row has at least l
-- entries with probability (shortest / l)^2, and never more than `longest`. The mean is a little
-- under 2 * shortest.
function csr.power_law_rows(o)
  local rng, row, shortest, longest, sqrt = ww.rng(o.seed), { 0 }, o.shortest, o.longest, math.sqrt
  local offset = 0
  for r = 2, o.rows + 1 do
    local length = shortest / sqrt(1 - rng:float())
    offset = offset + (length < longest and length // 1 | 0 or longest)
    row[r] = offset
  end
  return ww.i32(row)
end

--- Row offsets of rows { rows, shortest, longest, seed } whose lengths are all equally likely.
function csr.uniform_rows(o)
  local rng, row, shortest, longest, offset = ww.rng(o.seed), { 0 }, o.shortest, o.longest, 0
  for r = 2, o.rows + 1 do
    offset = offset + rng:int(shortest, longest)
    row[r] = offset
  end
  return ww.i32(row)
end

--- A matrix { rows, columns, shortest, longest, seed } with power-law rows, random columns and
-- values in [-1, 1). Each row is cut into as many equal spans of columns as it has entries, with
-- one entry at a random place in each, so that a row's columns are random, ascending and distinct.
function csr.random(o)
  assert(o.longest <= o.columns, "csr: expected rows of up to `columns` entries, got longer ones")
  local m = { rows = o.rows, columns = o.columns, row = csr.power_law_rows(o) }
  m.entries = m.row[m.rows]
  m.val = ww.array("f32", m.entries):random(o.seed + 1, -1, 1)
  m.col = ww.array("i32", m.entries)
  local rng, row, columns, col = ww.rng(o.seed + 2), m.row:table(), o.columns, m.col
  for r = 0, m.rows - 1 do
    local before, length, span = row[r] - 1, row[r + 1] - row[r], 0
    for i = 1, length do
      local next_span = columns * i // length
      col[before + i] = rng:int(span, next_span - 1)
      span = next_span
    end
  end
  return m
end

--- A square matrix { rows, shortest, longest, alike, band, jitter, far, seed } as meshes give them.
-- Row lengths are random, all equally likely; `alike` rows that follow each other are equally long.
-- The last `far` entries of a row are anywhere. The others lie at most `band` columns from the
-- diagonal, evenly, but for a random shift of at most `jitter`.
function csr.banded(o)
  local row, rng, length = { 0 }, ww.rng(o.seed), 0
  for r = 1, o.rows do
    if (r - 1) % o.alike == 0 then length = rng:int(o.shortest, o.longest) end
    row[r + 1] = row[r] + length
  end
  local m = { rows = o.rows, columns = o.rows, entries = row[o.rows + 1], row = ww.i32(row) }
  m.val = ww.array("f32", m.entries):random(o.seed + 1, -1, 1)
  m.col = ww.array("i32", m.entries)
  local col, last, band, jitter = m.col, o.rows - 1, o.band, o.jitter
  for r = 0, last do
    local first, near = row[r + 1], row[r + 2] - row[r + 1] - o.far
    for i = 0, near - 1 do
      local column = r - band + band * (2 * i + 1) // near + rng:int(-jitter, jitter)
      col[first + i] = column < 0 and 0 or column > last and last or column
    end
    for i = near, near + o.far - 1 do col[first + i] = rng:int(0, last) end
  end
  return m
end

--- The rows by descending length, those of the same length in their order: a list.
local function rows_by_length(row, rows)
  local by_length, longest, sorted = {}, 0, {}
  for r = 0, rows - 1 do
    local length = row[r + 1] - row[r]
    local alike = by_length[length]
    if alike then alike[#alike + 1] = r else by_length[length] = { r } end
    if length > longest then longest = length end
  end
  for length = longest, 0, -1 do
    local alike = by_length[length] or {}
    table.move(alike, 1, #alike, #sorted + 1, sorted)
  end
  return sorted, longest
end

--- The elements of an array at these places; those beyond its end are 0.
local function gather_padded(array, places)
  return ww.array(array:type(), #array + 1):put(0, array):gather(places)
end

--- The matrix in jagged diagonals: rows by descending length, 32 of them as long as the longest, so
-- that a warp's lanes leave a loop together. Element k of sorted row r is at first[k] + r. Rows
-- number a multiple of 32. Returns { perm = the row that sorted row r is, lengths = of each 32
-- rows, first, col, val }, padded with zeros.
function csr.jagged(m)
  local row = m.row:table()
  local perm, longest = rows_by_length(row, m.rows)
  local starts, stops, lengths = {}, {}, {}
  for s = 1, m.rows do
    starts[s], stops[s] = row[perm[s]], row[perm[s] + 1]
    if s % 32 == 1 then lengths[#lengths + 1] = stops[s] - starts[s] end
  end
  local first, places, warps, count, padding = { 0 }, {}, #lengths, 0, m.entries
  for k = 0, longest - 1 do
    while lengths[warps] <= k do warps = warps - 1 end
    for s = 1, 32 * warps do
      local place = starts[s] + k
      count = count + 1
      places[count] = place < stops[s] and place or padding
    end
    first[k + 2] = count
  end
  places = ww.i32(places)
  return {
    perm = ww.i32(perm), lengths = ww.i32(lengths), first = ww.i32(first),
    col = gather_padded(m.col, places), val = gather_padded(m.val, places),
  }
end

--- The product of the matrix with x, each row summed in the order of its entries, in single
-- precision with fused multiply-adds.
function csr.multiply(m, x)
  local y, row, factors = {}, m.row:table(), x:gather(m.col)
  for r = 0, m.rows - 1 do
    local first = row[r]
    y[r + 1] = m.val:fma_dot(factors, first, first, row[r + 1] - first, 1, 1)
  end
  return ww.f32(y)
end

return csr
