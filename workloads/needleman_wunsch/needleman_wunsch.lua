local ww = require "warpwright"
local rows = require "workloads.lib.rows"

local needleman_wunsch = ww.workload "needleman_wunsch" {
  doc = "Alignment of two sequences, tile by tile along diagonals: many short launches of CTAs of half a warp",
  ptx = "needleman_wunsch.ptx",
  sizes = { -- length: of both sequences, a multiple of 16
    small = { length = 128, penalty = 10, seed = 1 },
    medium = { length = 2048, penalty = 10, seed = 1 },
  },
  expected = { class = "reuse between kernels, in L2", hit_rate = { 0, 0.5 }, instructions_per_miss = { 5, 60 } },
}

local tile <const>, kinds <const> = 16, 24

--- How alike each two kinds of elements are: the same are worth most.
local function table_of_likeness(seed)
  local rng, likeness = ww.rng(seed), {}
  for a = 1, kinds do
    likeness[a] = likeness[a] or {}
    for b = 1, a do
      likeness[a][b] = a == b and rng:int(4, 11) or rng:int(-5, 3)
      likeness[b] = likeness[b] or {}
      likeness[b][a] = likeness[a][b]
    end
  end
  return likeness
end

local function random_sequence(length, seed)
  local rng, sequence = ww.rng(seed), {}
  for i = 1, length do sequence[i] = rng:int(1, kinds) end
  return sequence
end

--- For each kind, how alike it is to each element of a sequence: a list.
local function rows_of_likeness(likeness, sequence)
  local alike = {}
  for kind = 1, kinds do
    local row, of_kind = {}, likeness[kind]
    for j, other in ipairs(sequence) do row[j] = of_kind[other] end
    alike[kind] = row
  end
  return alike
end

--- All scores, row by row, each in the place of the one above.
local function scores_of(alike, first, penalty)
  local n, row = #first, {}
  local want = ww.array("i32", (n + 1) * (n + 1))
  for j = 0, n do row[j] = -penalty * j end
  rows.put(want, 0, row)
  for i = 1, n do
    local alike_row, diagonal, left = alike[first[i]], row[0], -penalty * i
    row[0] = left
    for j = 1, n do
      local above, best = row[j], diagonal + alike_row[j]
      local gap = (above > left and above or left) - penalty
      if gap > best then best = gap end
      row[j] = best
      diagonal, left = above, best
    end
    rows.put(want, i * (n + 1), row)
  end
  return want
end

function needleman_wunsch:run(gpu, size)
  local n, penalty = size.length, size.penalty
  if n % tile ~= 0 then error(("needleman_wunsch: length: expected a multiple of %d, got %d"):format(tile, n), 0) end
  local stride, tiles = n + 1, n // tile
  local likeness = table_of_likeness(size.seed)
  local first, second = random_sequence(n, size.seed + 1), random_sequence(n, size.seed + 2)
  local rows_of_kinds, arrays = rows_of_likeness(likeness, second), {}
  for kind = 1, kinds do arrays[kind] = ww.i32(rows_of_kinds[kind]) end
  local alike, score = ww.array("i32", stride * stride), ww.array("i32", stride * stride)
  for i = 1, n do
    alike:put(i * stride + 1, arrays[first[i]])
    score[i], score[i * stride] = -penalty * i, -penalty * i
  end
  local dev_alike, dev_score = gpu:upload(alike), gpu:upload(score)

  for diagonal = 1, tiles do
    gpu:launch(self.kernels.align_upper, {
      grid = diagonal, block = tile, args = { dev_alike, dev_score, stride, penalty, diagonal },
    })
  end
  for diagonal = tiles - 1, 1, -1 do
    gpu:launch(self.kernels.align_lower, {
      grid = diagonal, block = tile, args = { dev_alike, dev_score, stride, penalty, diagonal, tiles },
    })
  end
  local got = gpu:download("i32", dev_score, stride * stride)
  self:check("scores", got, scores_of(rows_of_kinds, first, penalty))
end

return needleman_wunsch
