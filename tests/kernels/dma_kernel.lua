-- The workload of tests of the DMA engine: transfers of every mode, compared element for element with plain copies.
local ww = require "warpwright"

local words <const> = 1024 -- of a buffer
local start <const>, step <const> = 4096, 320 -- the first tile's place, and bytes from tile to tile

local transfers = ww.workload "transfers" {
  ptx = "dma_kernel.ptx",
  -- `kind`: flat, strided, 2d, padded, padded 2d, halo; so many random ones, of so many tiles each for every CTA
  sizes = { small = { kind = "flat", transfers = 6, ctas = 3, rounds = 3, seed = 1 } },
}

--- Bytes of shared memory after a transfer, as a programmer would copy them: `tile` is a list of bytes.
local function copy_plainly(tile, data, from, t)
  local flat = t.mode ~= 2
  local rows, pitch, stride = flat and 1 or t.rows, t.pitch, t.mode == 1 and t.pitch or 1
  local to, done = 0, 0
  for row = -t.halo_rows, rows + t.halo_rows - 1 do
    for column = -t.halo_columns, t.columns + t.halo_columns - 1 do
      local beyond = (row < 0 and t.borders & 1 ~= 0) or (row >= rows and t.borders & 2 ~= 0)
        or (column < 0 and t.borders & 4 ~= 0) or (column >= t.columns and t.borders & 8 ~= 0)
      local at = from + ((flat and 0 or row * pitch) + column * stride) * t.bytes
      for i = 0, t.bytes - 1 do
        tile[to + i] = beyond and t.constant >> 8 * i & 255 or data[at + i]
      end
      to, done = to + t.bytes, done + 1
      if t.padded > 0 and done % t.padded == 0 then to = to + t.blank end
    end
  end
end

local function packed(t)
  local struct = ww.array("u32", 12)
  for i, name in ipairs { "mode", "bytes", "rows", "columns", "pitch", "padded", "blank", "halo_rows", "halo_columns",
    "borders" } do struct[i - 1] = t[name] end
  struct[10], struct[11] = t.constant & 0xffffffff, t.constant >> 32
  return struct
end

--- Launches the kernel and compares all that it leaves.
local function transfer(workload, gpu, t, ctas, rounds)
  local count = ctas * rounds
  local data = ww.array("u8", 65536 + step * count):random(t.seed, 0, 255)
  local from, to = gpu:upload(data), gpu:alloc(4 * words * count)
  gpu:launch(workload.kernels.transfer, { grid = ctas, block = 96, args = { from + start, to, rounds, step, packed(t) } })
  local got = gpu:download("u8", to, 4 * words * count)
  for cta = 0, ctas - 1 do
    local tiles = { {}, {} }
    for i = 0, rounds - 1 do
      local index, tile = cta * rounds + i, tiles[i % 2 + 1]
      copy_plainly(tile, data, start + index * step, t)
      for byte = 0, 4 * words - 1 do
        local want = tile[byte] or 0
        if got[index * 4 * words + byte] ~= want then
          workload:check_that(("tile %d, byte %d: %d, want %d"):format(index, byte,
            got[index * 4 * words + byte], want), false)
          return
        end
      end
    end
  end
  workload:check_that("tiles", true)
end

--- A random transfer of a kind.
local function any(kind, seed)
  local rng = ww.rng(seed)
  local t = { mode = 0, bytes = 1 << rng:int(0, 3), rows = 1, pitch = 0, padded = 0, blank = 0, halo_rows = 0,
    halo_columns = 0, borders = 0, constant = rng:int(0, 1 << 62), seed = seed }
  t.columns = rng:int(1, 256)
  if kind == "strided" then t.mode, t.pitch = 1, rng:int(0, 12) end
  if kind == "2d" or kind == "padded 2d" or kind == "halo" then
    t.mode, t.rows, t.columns = 2, rng:int(1, 9), rng:int(1, 20)
    t.pitch = t.columns + rng:int(0, 30)
  end
  if kind == "padded" or kind == "padded 2d" then t.padded, t.blank = rng:int(4, 40), t.bytes * rng:int(0, 4) end
  if kind == "halo" then
    t.halo_rows, t.halo_columns, t.borders = rng:int(0, 2), rng:int(0, 3), rng:int(0, 15)
    t.pitch = t.pitch + 6
  end
  return t
end

function transfers:run(gpu, size)
  for i = 0, size.transfers - 1 do transfer(self, gpu, any(size.kind, size.seed + i), size.ctas, size.rounds) end
end

return transfers
