-- The workload of tests of textures: fetches from one that is bound to a .texref, and from one passed as a handle.
local ww = require "warpwright"

local zoom <const> = 2

local textures = ww.workload "textures" {
  ptx = "texture_kernel.ptx",
  sizes = { small = { elements = 5000, side = 48 } }, -- `side`: of an image, a multiple of 8
}

textures.zoom = zoom

--- What bilinear filtering makes of `image` at (x, y): clamped, weights in units of 1/256.
local function bilinear(image, side, x, y)
  local function at(i, j)
    i, j = math.max(0, math.min(side - 1, i)), math.max(0, math.min(side - 1, j))
    return image[j * side + i]
  end
  local i, j = math.floor(x - 0.5), math.floor(y - 0.5)
  local a = math.floor((x - 0.5 - i) * 256 + 0.5) / 256
  local b = math.floor((y - 0.5 - j) * 256 + 0.5) / 256
  return (1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) + (1 - a) * b * at(i, j + 1) + a * b * at(i + 1, j + 1)
end

function textures:gather(gpu, n)
  local values = ww.array("i32", n):random(1, -1000000, 1000000)
  local index = ww.array("i32", n):random(2, 0, n - 1)
  local out = gpu:alloc(4 * n)
  local texture = gpu:texture { buffer = gpu:upload(values), format = "s32", width = n }
  gpu:bind_texture(self.kernels, "table", texture)
  gpu:launch(self.kernels.gather, { grid = (n + 127) // 128, block = 128, args = { out, gpu:upload(index), n } })
  local want = ww.array("i32", n)
  for i = 0, n - 1 do want[i] = values[index[i]] end
  self:check("gathered elements", gpu:download("i32", out, n), want)
end

function textures:scale(gpu, side)
  local width = side * zoom
  local image = ww.array("f32", side * side):random(3, -1, 1)
  local out = gpu:alloc(4 * width * width)
  local texture = gpu:texture {
    buffer = gpu:upload(image), format = "f32", width = side, height = side, filter = "linear",
  }
  gpu:launch(self.kernels.scale, {
    grid = width * width // 128, block = 128, args = { out, texture, width, 1 / zoom, 0.1875 },
  })
  local want = ww.array("f32", width * width)
  for y = 0, width - 1 do
    for x = 0, width - 1 do want[y * width + x] = bilinear(image, side, x / zoom + 0.1875, y / zoom + 0.1875) end
  end
  self:check("scaled image", gpu:download("f32", out, width * width), want)
end

function textures:run(gpu, size)
  self:gather(gpu, size.elements)
  self:scale(gpu, size.side)
end

return textures
