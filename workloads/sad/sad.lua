local ww = require "warpwright"

local sad = ww.workload "sad" {
  doc = "Sums of absolute differences of larger blocks from those of 4 x 4 pixels: coalesced streams, read once",
  ptx = "sad.ptx",
  -- kernel: "8x8", "16x16" or "both" of these, from random sums; or "4x4", from pictures of columns
  -- x rows
  sizes = {
    small = { macroblocks = 6, kernel = "both", seed = 1 },
    medium = { macroblocks = 2040, kernel = "both", seed = 1 },
    search = { kernel = "4x4", columns = 352, rows = 288, seed = 1 },
    paper = { macroblocks = 4080, kernel = "8x8", seed = 1 },
  },
  -- A block is 17 lines and an eighth: most loads of a warp touch two lines, and its next load the
  -- second of them again.
  expected = { class = "memory-intensive: streaming", hit_rate = { 0.2, 0.5 }, instructions_per_miss = { 2, 20 } },
}

local positions <const>, padded <const>, reach <const>, span <const> = 1089, 1096, 16, 33

--- Sums of the `count` blocks of every macroblock: 16 bits each, none in the padding.
local function random_sums(macroblocks, count, seed)
  local sums = ww.array("u16", macroblocks * count * padded):random(seed, 0, 16 * 255)
  for block = 0, macroblocks * count - 1 do
    for i = positions, padded - 1 do sums[block * padded + i] = 0 end
  end
  return sums
end

--- The blocks of an array of sums, each as one whole number: the sum of its elements, each with a
-- weight of its own. That of the sum of two blocks is the sum of theirs, exactly.
local function fingerprints(sums, weights)
  local result = {}
  for block = 0, #sums // padded - 1 do result[block] = sums:dot(weights, block * padded, 0, padded, 1, 1) end
  return result
end

--- Checks blocks that are made of others: rows of { macroblock's first block, count of blocks,
-- which others }.
local function check_blocks(self, name, got, count, whole, whole_count, parts)
  local blocks = #got + 1
  local have, want = ww.array("f64", blocks), ww.array("f64", blocks)
  for block = 0, blocks - 1 do
    local macroblock, sum = block // count, 0
    for _, part in ipairs(parts[block % count + 1]) do sum = sum + whole[macroblock * whole_count + part] end
    have[block], want[block] = got[block], sum
  end
  self:check("sums of blocks of " .. name, have, want)
end

-- Of which blocks each block consists.
local of_4x4 = {
  ["8x4"] = { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 }, { 8, 9 }, { 10, 11 }, { 12, 13 }, { 14, 15 } },
  ["4x8"] = { { 0, 4 }, { 1, 5 }, { 2, 6 }, { 3, 7 }, { 8, 12 }, { 9, 13 }, { 10, 14 }, { 11, 15 } },
  ["8x8"] = { { 0, 1, 4, 5 }, { 2, 3, 6, 7 }, { 8, 9, 12, 13 }, { 10, 11, 14, 15 } },
}
local of_8x8 = { ["16x8"] = { { 0, 1 }, { 2, 3 } }, ["8x16"] = { { 0, 2 }, { 1, 3 } }, ["16x16"] = { { 0, 1, 2, 3 } } }

--- Checks all sums of all blocks of 4 x 4, pixel by pixel.
local function check_search(self, size, before, picture, got)
  local columns, rows = size.columns, size.rows
  local row = columns + 2 * reach -- of the earlier picture with its edges continued
  local around, own, min, max, abs = {}, {}, math.min, math.max, math.abs
  for y = -reach, rows + reach - 1 do
    for x = -reach, columns + reach - 1 do
      around[#around + 1] = before[max(0, min(rows - 1, y)) * columns + max(0, min(columns - 1, x))]
    end
  end
  for i = 0, #picture - 1 do own[i] = picture[i] end

  local want = ww.array("u16", #got)
  for block = 0, columns * rows // 16 - 1 do
    local macroblock, inner = block // 16, block % 16
    local left = 16 * (macroblock % (columns // 16)) + 4 * (inner % 4)
    local top = 16 * (macroblock // (columns // 16)) + 4 * (inner // 4)
    for position = 0, positions - 1 do
      local sum = 0
      for y = 0, 3 do
        local a = (top + y) * columns + left
        local b = (top + y + position // span) * row + left + position % span + 1
        sum = sum + abs(own[a] - around[b]) + abs(own[a + 1] - around[b + 1]) + abs(own[a + 2] - around[b + 2])
          + abs(own[a + 3] - around[b + 3])
      end
      want[block * padded + position] = sum
    end
  end
  self:check("sums of blocks of 4x4", got, want)
end

--- Two pictures, the second like the first one but moved, with noise.
local function pictures(columns, rows, seed)
  local before = ww.array("u16", columns * rows):random(seed, 0, 235)
  local noise = ww.array("u16", columns * rows):random(seed + 1, 0, 20)
  local picture, moved = noise:copy(), 3 * columns + 5
  for i = 0, #picture - 1 do picture[i] = before[(i + moved) % #before] + noise[i] end
  return before, picture
end

local function search(self, gpu, size)
  local columns, rows = size.columns, size.rows
  for _, name in ipairs { "columns", "rows" } do
    if size[name] % 16 ~= 0 then error(("sad: %s: expected a multiple of 16, got %d"):format(name, size[name]), 0) end
  end
  local before, picture = pictures(columns, rows, size.seed)
  local texture = gpu:texture { buffer = gpu:upload(before), format = "u16", width = columns, height = rows }
  local blocks = columns * rows // 16
  local sums = gpu:alloc(2 * padded * blocks)
  gpu:launch(self.kernels.sad_4x4, {
    grid = { columns // 4, rows // 4, 1 }, block = 61, args = { texture, gpu:upload(picture), sums },
  })
  check_search(self, size, before, picture, gpu:download("u16", sums, padded * blocks))
end

function sad:run(gpu, size)
  if size.kernel == "4x4" then return search(self, gpu, size) end
  local macroblocks = size.macroblocks
  local weights = ww.array("i32", padded):random(size.seed + 1, 1, 1000)
  if size.kernel ~= "both" and size.kernel ~= "8x8" and size.kernel ~= "16x16" then
    error(("sad: kernel: expected 4x4, 8x8, 16x16 or both, got '%s'"):format(size.kernel), 0)
  end
  local function room(count) return gpu:alloc(2 * padded * count * macroblocks) end
  local function check(name, address, parts, whole, whole_count)
    local count = #parts[name]
    local sums = gpu:download("u16", address, padded * count * macroblocks)
    check_blocks(self, name, fingerprints(sums, weights), count, whole, whole_count, parts[name])
  end

  local sums8x8, dev_8x8
  if size.kernel == "16x16" then
    sums8x8 = random_sums(macroblocks, 4, size.seed)
    dev_8x8 = gpu:upload(sums8x8)
  else
    local sums4x4 = random_sums(macroblocks, 16, size.seed)
    local dev_4x4, dev_8x4, dev_4x8 = gpu:upload(sums4x4), room(8), room(8)
    dev_8x8 = room(4)
    gpu:launch(self.kernels.sad_8x8, {
      grid = macroblocks, block = { 32, 4, 1 }, args = { dev_4x4, dev_8x4, dev_4x8, dev_8x8 },
    })
    local whole = fingerprints(sums4x4, weights)
    check("8x4", dev_8x4, of_4x4, whole, 16)
    check("4x8", dev_4x8, of_4x4, whole, 16)
    check("8x8", dev_8x8, of_4x4, whole, 16)
    sums8x8 = gpu:download("u16", dev_8x8, padded * 4 * macroblocks)
  end

  if size.kernel ~= "8x8" then
    local dev_16x8, dev_8x16, dev_16x16 = room(2), room(2), room(1)
    gpu:launch(self.kernels.sad_16x16, { grid = macroblocks, block = 32, args = { dev_8x8, dev_16x8, dev_8x16, dev_16x16 } })
    local whole = fingerprints(sums8x8, weights)
    check("16x8", dev_16x8, of_8x8, whole, 4)
    check("8x16", dev_8x16, of_8x8, whole, 4)
    check("16x16", dev_16x16, of_8x8, whole, 4)
  end
end

return sad
