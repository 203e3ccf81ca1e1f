-- Sparse matrices in compressed rows: the entries of row r are col[p], val[p] for row[r] <= p < row[r + 1].
local ww = require "warpwright"
local float32 = require "workloads.lib.float32"

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

--- The product of the matrix with x, each row summed in the order of its entries, in single precision with fused
-- multiply-adds.
function csr.multiply(m, x)
  local y = ww.array("f32", m.rows)
  local row, col, val, fma = m.row, m.col, m.val, float32.fma
  for r = 0, m.rows - 1 do
    local sum = 0.0
    for p = row[r], row[r + 1] - 1 do sum = fma(val[p], x[col[p]], sum) end
    y[r] = sum
  end
  return y
end

return csr
