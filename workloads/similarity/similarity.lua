local ww = require "warpwright"

local similarity = ww.workload "similarity" {
  doc = "Cosines between documents, a pair per thread: one row for the warp and 32 others, a row's length apart",
  ptx = "similarity.ptx",
  sizes = { -- dimensions: a multiple of 4. Pairs: each of `first` documents with each of `second` others
    small = { first = 32, second = 32, dimensions = 128, seed = 1 },
    medium = { first = 512, second = 256, dimensions = 256, seed = 1 },
    paper = { first = 512, second = 256, dimensions = 256, seed = 1 },
  },
  expected = { class = "thrashing in L1", size = "medium,first=24", hit_rate = { 0, 0.3 }, mpki = { 30, 80 } },
}

local threads <const> = 256

function similarity:run(gpu, size)
  local first, second, dimensions = size.first, size.second, size.dimensions
  if dimensions % 4 ~= 0 then error(("similarity: dimensions: expected a multiple of 4, got %d"):format(dimensions), 0) end
  local pairs_count, documents = first * second, ww.array("f32", (first + second) * dimensions):random(size.seed, 0, 1)

  -- Scores are scattered: where each goes is a permutation.
  local directory, rng = ww.array("i32", pairs_count), ww.rng(size.seed + 1)
  for i = 0, pairs_count - 1 do directory[i] = i end
  for i = pairs_count - 1, 1, -1 do
    local j = rng:int(0, i)
    directory[i], directory[j] = directory[j], directory[i]
  end

  local scores = gpu:alloc(12 * pairs_count)
  gpu:launch(self.kernels.similarity_score, {
    grid = (pairs_count + threads - 1) // threads,
    block = threads,
    args = { gpu:upload(documents), gpu:upload(directory), scores, pairs_count, second, first, dimensions },
  })

  local length = {}
  for d = 0, first + second - 1 do
    length[d] = math.sqrt(documents:dot(documents, d * dimensions, d * dimensions, dimensions, 1, 1))
  end
  local numbers, cosines = gpu:download("i32", scores, 3 * pairs_count), gpu:download("f32", scores, 3 * pairs_count)
  local got, want = ww.array("f32", pairs_count), ww.array("f64", pairs_count)
  local want_numbers = numbers:copy()
  for i = 0, pairs_count - 1 do
    local a, b, to = i // second, first + i % second, directory[i]
    want_numbers[3 * to], want_numbers[3 * to + 1] = a, b
    got[i] = cosines[3 * to + 2]
    want[i] = documents:dot(documents, a * dimensions, b * dimensions, dimensions, 1, 1) / (length[a] * length[b])
  end
  self:check("documents of the scores", numbers, want_numbers)
  self:check("cosines", got, want, { abs = 1e-5 })
end

return similarity
