local ww = require "warpwright"
local rows = require "workloads.lib.rows"

local backprop = ww.workload "backprop" {
  doc = "Back propagation, 16 hidden units: a forward pass with sums in shared memory, then weights adjusted in a stream",
  ptx = "backprop.ptx",
  sizes = { -- inputs: a multiple of 16. kernel: "both", "forward" or "adjust"
    small = { inputs = 1024, kernel = "both", seed = 1 },
    medium = { inputs = 128 * 1024, kernel = "both", seed = 1 },
    adjust = { inputs = 768 * 1024, kernel = "adjust", seed = 1 },
    paper = { inputs = 64 * 1024, kernel = "both", seed = 1 },
  },
  expected = {
    class = "adjust: memory-intensive", size = "small,inputs=8192,kernel=adjust", instructions_per_miss = { 8, 30 },
  },
}

local hidden <const>, row <const> = 16, 17
local rate = ww.float32.round(0.3)

--- The products of a tile of 16 rows of weights and their inputs, added up in pairs: row y ends
-- with the sum of as many rows from itself on as the lowest bit of y says, row 0 with all.
local function add_up(tile, input)
  for y = 0, hidden - 1 do
    local x = input[y]
    for at = y * row + 1, y * row + hidden do tile[at] = tile[at] * x end
  end
  local distance = 1
  while distance < hidden do
    for y = 0, hidden - 1, 2 * distance do
      for at = y * row + 1, y * row + hidden do tile[at] = tile[at] + tile[at + distance * row] end
    end
    distance = 2 * distance
  end
end

--- Kernel 1: every sum of products that stands in place of a weight, and every partial sum.
local function check_forward(self, size, input, weights, got_weights, partial)
  local want, want_partial = weights:copy(), ww.array("f32", size.inputs)
  for first = 1, size.inputs, hidden do
    local tile = weights:slice(first * row, hidden * row):table()
    add_up(tile, input:slice(first, hidden):table())
    rows.put(want, first * row, tile)
    want_partial:put(first - 1, want, first * row + 1, hidden)
  end
  self:check("sums in place of weights", got_weights, want, { abs = 1e-5 })
  self:check("partial sums", partial, want_partial, { abs = 1e-5 })
end

--- Changes and weights after kernel 2: a sample of inputs to the last bit (all of them when they
-- are few), and all in sums of 1024 inputs, each with a weight of its own: both are linear in what
-- they are computed from.
local function check_adjust(self, size, before, after)
  local fma, round, rng = ww.float32.fma, ww.float32.round, ww.rng(size.seed + 5)
  local few = size.inputs <= 2048
  local samples = few and size.inputs + 1 or 2048
  local got, want = { ww.array("f32", samples * row), ww.array("f32", samples * row) },
    { ww.array("f32", samples * row), ww.array("f32", samples * row) }
  for s = 0, samples - 1 do
    local i = few and s or s == 0 and size.inputs or s == 1 and 0 or rng:int(1, size.inputs)
    for column = 1, hidden do
      local at, to = i * row + column, s * row + column
      local d, x = round(rate * before.delta[column]), before.input[i]
      local momentum = round(rate * before.change[at])
      local change = i == 0 and fma(rate, before.delta[column], momentum) or fma(d, x, momentum)
      got[1][to], got[2][to] = after.change[at], after.weights[at]
      want[1][to], want[2][to] = change, round(before.weights[at] + change)
    end
  end
  self:check("sampled changes", got[1], want[1])
  self:check("sampled weights", got[2], want[2])

  local piece = 1024
  local r = ww.array("f32", piece):random(size.seed + 6, 0.5, 1)
  local pieces = (size.inputs + piece - 1) // piece
  local sums, wanted = ww.array("f64", 2 * pieces * hidden), ww.array("f64", 2 * pieces * hidden)
  for p = 0, pieces - 1 do
    local first = 1 + p * piece
    local count = math.min(piece, size.inputs + 1 - first)
    local inputs = before.input:dot(r, first, 0, count, 1, 1)
    for column = 1, hidden do
      local function sum(array) return array:dot(r, first * row + column, 0, count, row, 1) end
      local to = 2 * (p * hidden + column - 1)
      local change = rate * before.delta[column] * inputs + rate * sum(before.change)
      sums[to], wanted[to] = sum(after.change), change
      sums[to + 1], wanted[to + 1] = sum(after.weights), sum(before.weights) + change
    end
  end
  self:check("weighted sums of changes and weights", sums, wanted, { abs = piece * 2.0 ^ -23 })
end

function backprop:run(gpu, size)
  local n = size.inputs
  if n % hidden ~= 0 then error(("backprop: inputs: expected a multiple of %d, got %d"):format(hidden, n), 0) end
  local input = ww.array("f32", n + 1):random(size.seed, 0, 1):set(0, 1)
  local weights = ww.array("f32", (n + 1) * row):random(size.seed + 1, -0.5, 0.5)
  local change = ww.array("f32", (n + 1) * row):random(size.seed + 2, -0.5, 0.5)
  local delta = ww.array("f32", row):random(size.seed + 3, -0.5, 0.5)
  local dev_input, dev_weights = gpu:upload(input), gpu:upload(weights)
  local grid, block = { 1, n // hidden, 1 }, { hidden, hidden, 1 }
  if size.kernel ~= "both" and size.kernel ~= "forward" and size.kernel ~= "adjust" then
    error(("backprop: kernel: expected both, forward or adjust, got '%s'"):format(size.kernel), 0)
  end

  if size.kernel ~= "adjust" then
    local dev_partial = gpu:alloc(4 * n)
    gpu:launch(self.kernels.backprop_forward, { grid = grid, block = block, args = { dev_input, dev_weights, dev_partial } })
    check_forward(self, size, input, weights, gpu:download("f32", dev_weights, #weights), gpu:download("f32", dev_partial, n))
    gpu:write(dev_weights, weights)
  end

  if size.kernel ~= "forward" then
    local dev_change = gpu:upload(change)
    gpu:launch(self.kernels.backprop_adjust, {
      grid = grid, block = block, args = { gpu:upload(delta), dev_input, dev_weights, dev_change },
    })
    check_adjust(self, size, { delta = delta, input = input, weights = weights, change = change },
      { weights = gpu:download("f32", dev_weights, #weights), change = gpu:download("f32", dev_change, #change) })
  end
end

return backprop
