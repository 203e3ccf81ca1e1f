local ww = require "warpwright"
local weighted = require "workloads.lib.weighted"

local saxpy = ww.workload "saxpy" {
  doc = "y = a x + y through tiles in shared memory: streaming; version plain or d2ma",
  ptx = "saxpy.ptx",
  sizes = { -- indexed = 1: the plain version computes the addresses of each tile anew
    small = { n = 192 * 1024, tiles = 2, version = "plain", indexed = 0, registers = 20, seed = 1 },
    medium = { n = 2160 * 1024, tiles = 6, version = "plain", indexed = 0, registers = 20, seed = 1 },
    large = { n = 17280 * 1024, tiles = 6, version = "plain", indexed = 0, registers = 20, seed = 1 },
  },
}

local tile, threads = 1024, 256
local a = 1.5

function saxpy:run(gpu, size)
  local n, per_cta = size.n, size.tiles * tile
  self:check_that(("n is a multiple of %d tiles of %d"):format(size.tiles, tile), n % per_cta == 0)
  local x = ww.array("f32", n):random(size.seed, -1, 1)
  local y0 = ww.array("f32", n):random(size.seed + 1, -1, 1)
  local dev_x, dev_y = gpu:upload(x), gpu:upload(y0)

  local indexed = size.version == "plain" and size.indexed == 1
  gpu:launch(self.kernels[(indexed and "saxpy_indexed_" or "saxpy_") .. size.version], {
    grid = n // per_cta,
    block = threads,
    registers = size.registers,
    args = { dev_x, dev_y, a, size.tiles },
  })

  local y, fma = gpu:download("f32", dev_y, n), ww.float32.fma
  weighted.check(self, "y", y, { { x, factor = a }, { y0 } }, 0, function(i) return fma(a, x[i], y0[i]) end, size.seed + 2)
end

return saxpy
