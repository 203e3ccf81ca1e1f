-- Sparse matrices in compressed rows: the entries of row r are col[p], val[p] for row[r] <= p < row[r + 1].
local ww = require "warpwright"

local csr = {}

--- Row offsets (i32, rows + 1 of them) whose row lengths follow a power law: a row has at least l entries with
-- probability (shortest / l)^2, and never more than `longest`. The mean is a little under 2 * shortest.
function csr.power_law_rows(o)
  local rng = ww.rng(o.seed)
  local row = ww.array("i32", o.rows + 1)
  local shortest, longest, sqrt, floor, min = o.shortest, o.longest, math.sqrt, math.floor, math.min
  local offset = 0
  for r = 1, o.rows do
    offset = offset + min(longest, floor(shortest / sqrt(1 - rng:float())))
    row[r] = offset
  end
  return row
end

--- Row offsets of rows { rows, shortest, longest, seed } whose lengths are all equally likely.
function csr.uniform_rows(o)
  local rng, row, offset = ww.rng(o.seed), ww.array("i32", o.rows + 1), 0
  for r = 1, o.rows do
    offset = offset + rng:int(o.shortest, o.longest)
    row[r] = offset
  end
  return row
end

--- A matrix { rows, columns, shortest, longest, seed } with power-law rows, random columns and values in [-1, 1).
-- Each row is cut into as many equal spans of columns as it has entries, with one entry at a random place in each, so
-- that a row's columns are random, ascending and distinct.
function csr.random(o)
  assert(o.longest <= o.columns, "csr: expected rows of up to `columns` entries, got longer ones")
  local m = { rows = o.rows, columns = o.columns, row = csr.power_law_rows(o) }
  local row, columns = m.row, o.columns
  m.entries = row[m.rows]
  m.val = ww.array("f32", m.entries):random(o.seed + 1, -1, 1)
  m.col = ww.array("i32", m.entries)
  local rng, col = ww.rng(o.seed + 2), m.col
  for r = 0, m.rows - 1 do
    local first, length = row[r], row[r + 1] - row[r]
    for i = 0, length - 1 do
      col[first + i] = rng:int(columns * i // length, columns * (i + 1) // length - 1)
    end
  end
  return m
end

--- A square matrix { rows, shortest, longest, alike, band, jitter, far, seed } as meshes give them. Row lengths are random, all
-- equally likely; `alike` rows that follow each other are equally long. The last `far` entries of a row are anywhere. The
-- others lie at most `band` columns from the diagonal, evenly, but for a random shift of at most `jitter`.
function csr.banded(o)
  local m = { rows = o.rows, columns = o.rows, row = ww.array("i32", o.rows + 1) }
  local row, rng, length = m.row, ww.rng(o.seed), 0
  for r = 1, o.rows do
    if (r - 1) % o.alike == 0 then length = rng:int(o.shortest, o.longest) end
    row[r] = row[r - 1] + length
  end
  m.entries = row[o.rows]
  m.val = ww.array("f32", m.entries):random(o.seed + 1, -1, 1)
  m.col = ww.array("i32", m.entries)
  local col, last, min, max = m.col, o.rows - 1, math.min, math.max
  for r = 0, last do
    local first, near = row[r], row[r + 1] - row[r] - o.far
    for i = 0, near - 1 do
      local column = r - o.band + o.band * (2 * i + 1) // near + rng:int(-o.jitter, o.jitter)
      col[first + i] = max(0, min(last, column))
    end
    for i = near, near + o.far - 1 do col[first + i] = rng:int(0, last) end
  end
  return m
end

--- The matrix in jagged diagonals: rows by descending length, 32 of them as long as the longest, so that a warp's lanes leave a
-- loop together. Element k of sorted row r is at first[k] + r. Rows number a multiple of 32. Returns { perm = the row that
-- sorted row r is, lengths = of each 32 rows, first, col, val }, padded with zeros.
function csr.jagged(m)
  local row, by_length, longest = m.row, {}, 0
  for r = 0, m.rows - 1 do
    local length = row[r + 1] - row[r]
    longest = math.max(longest, length)
    by_length[length] = by_length[length] or {}
    by_length[length][#by_length[length] + 1] = r
  end
  local j, sorted = { perm = ww.array("i32", m.rows), lengths = ww.array("i32", m.rows // 32) }, 0
  for length = longest, 0, -1 do
    for _, r in ipairs(by_length[length] or {}) do
      j.perm[sorted] = r
      if sorted % 32 == 0 then j.lengths[sorted // 32] = length end
      sorted = sorted + 1
    end
  end

  j.first = ww.array("i32", longest + 1)
  local warps = m.rows // 32
  for k = 0, longest - 1 do
    while warps > 0 and j.lengths[warps - 1] <= k do warps = warps - 1 end
    j.first[k + 1] = j.first[k] + 32 * warps
  end
  j.col, j.val = ww.array("i32", j.first[longest]), ww.array("f32", j.first[longest])
  local first, to_col, to_val, from_col, from_val = j.first:table(), j.col, j.val, m.col, m.val
  for s = 0, m.rows - 1 do
    local from = row[j.perm[s]]
    for k = 0, row[j.perm[s] + 1] - from - 1 do
      local to = first[k] + s
      to_col[to], to_val[to] = from_col[from + k], from_val[from + k]
    end
  end
  return j
end

--- The product of the matrix with x, each row summed in the order of its entries, in single precision with fused
-- multiply-adds.
function csr.multiply(m, x)
  local y = ww.array("f32", m.rows)
  local row, factors, first = m.row, x:gather(m.col), 0
  for r = 0, m.rows - 1 do
    local next_first = row[r + 1]
    y[r] = m.val:fma_dot(factors, first, first, next_first - first, 1, 1)
    first = next_first
  end
  return y
end

return csr
