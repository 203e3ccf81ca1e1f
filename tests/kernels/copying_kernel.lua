-- The workload of tests of asynchronous copies: tiles that are copied two ahead of their products on tensor cores.
local ww = require "warpwright"

local copying = ww.workload "copying" { ptx = "copying_kernel.ptx", sizes = { small = { ctas = 40, tiles = 12 } } }

local halves <const> = { [0] = 0, 0x3c00, 0x4000, 0x4200, 0x4400 } -- 0 to 4

function copying:run(gpu, size)
  local count = size.ctas * size.tiles * 256
  local a, b = ww.array("u16", count):random(1, 0, 4), ww.array("u16", count):random(2, 0, 4)
  local want = ww.array("f32", size.ctas * 256)
  for cta = 0, size.ctas - 1 do
    for row = 0, 15 do
      for column = 0, 15 do
        local sum = 0
        for tile = cta * size.tiles, (cta + 1) * size.tiles - 1 do
          for k = 0, 15 do sum = sum + a[tile * 256 + row * 16 + k] * b[tile * 256 + k * 16 + column] end
        end
        want:set(cta * 256 + row * 16 + column, sum)
      end
    end
  end
  for i = 0, count - 1 do
    a:set(i, halves[a[i]])
    b:set(i, halves[b[i]])
  end
  local out = gpu:alloc(4 * size.ctas * 256)
  gpu:launch(self.kernels.copying, {
    grid = size.ctas, block = 32, args = { gpu:upload(a), gpu:upload(b), out, size.tiles },
  })
  self:check("products", gpu:download("f32", out, size.ctas * 256), want)
end

return copying
