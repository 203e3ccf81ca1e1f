local ww = require "warpwright"

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

--- All scores, row by row.
local function scores_of(likeness, first, second, penalty)
  local n, want, above = #first, ww.array("i32", (#first + 1) * (#first + 1)), {}
  for j = 0, n do
    above[j] = -penalty * j
    want[j] = above[j]
  end
  for i = 1, n do
    local row, alike, at = { [0] = -penalty * i }, likeness[first[i]], i * (n + 1)
    local left = row[0]
    want[at] = left
    for j = 1, n do
      local best, other = above[j - 1] + alike[second[j]], above[j] - penalty
      if other > best then best = other end
      if left - penalty > best then best = left - penalty end
      row[j], want[at + j], left = best, best, best
    end
    above = row
  end
  return want
end

function needleman_wunsch:run(gpu, size)
  local n, penalty = size.length, size.penalty
  if n % tile ~= 0 then error(("needleman_wunsch: length: expected a multiple of %d, got %d"):format(tile, n), 0) end
  local stride, tiles = n + 1, n // tile
  local likeness = table_of_likeness(size.seed)
  local first, second = random_sequence(n, size.seed + 1), random_sequence(n, size.seed + 2)
  local alike, score = ww.array("i32", stride * stride), ww.array("i32", stride * stride)
  for i = 1, n do
    local row = likeness[first[i]]
    for j = 1, n do alike[i * stride + j] = row[second[j]] end
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
  self:check("scores", got, scores_of(likeness, first, second, penalty))
end

return needleman_wunsch
