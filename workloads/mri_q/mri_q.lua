local ww = require "warpwright"
local constants = require "workloads.lib.constants"

local mri_q = ww.workload "mri_q" {
  doc = "Sums of sines and cosines per voxel, all threads over the same samples in constant memory: computation",
  ptx = "mri_q.ptx",
  sizes = { -- side: voxels of the image along each axis. per_launch: samples, at most 1024
    small = { side = 8, samples = 90, per_launch = 60, seed = 1 },
    medium = { side = 32, samples = 1024, per_launch = 1024, seed = 1 },
    paper = { side = 32, samples = 2048, per_launch = 1024, seed = 1 },
  },
  expected = { class = "compute-intensive", instructions_per_miss = { 100, 1e9 } },
}

local threads <const>, most_samples <const> = 256, 1024

--- Cosines and sines of all samples at each place on an axis (lists by place), in double precision.
local function waves(frequency, places)
  local cosines, sines, turn, cos, sin = {}, {}, 2 * math.pi, math.cos, math.sin
  for i = 0, #places - 1 do
    local c, s, place = {}, {}, turn * places[i]
    for k = 1, #frequency do
      local phase = frequency[k - 1] * place
      c[k], s[k] = cos(phase), sin(phase)
    end
    cosines[i], sines[i] = c, s
  end
  return cosines, sines
end

--- All voxels in double precision. A wave in space is the product of one along each axis.
local function reference(size, axis, kx, ky, kz, magnitude)
  local side, count = size.side, size.samples
  local cx, sx = waves(kx, axis)
  local cy, sy = waves(ky, axis)
  local cz, sz = waves(kz, axis)
  for x = 0, side - 1 do cx[x], sx[x] = ww.f64(cx[x]), ww.f64(sx[x]) end
  local real, imaginary = ww.array("f32", side ^ 3 // 1 | 0), ww.array("f32", side ^ 3 // 1 | 0)
  local of_yz_real, of_yz_imaginary = {}, {}
  magnitude = table.move(magnitude, 0, count - 1, 1, {})
  for z = 0, side - 1 do
    for y = 0, side - 1 do
      local cy_y, sy_y, cz_z, sz_z = cy[y], sy[y], cz[z], sz[z]
      for k = 1, count do
        local a, b, c, d, m = cy_y[k], sy_y[k], cz_z[k], sz_z[k], magnitude[k]
        of_yz_real[k], of_yz_imaginary[k] = m * (a * c - b * d), m * (a * d + b * c)
      end
      local row_real, row_imaginary = ww.f64(of_yz_real), ww.f64(of_yz_imaginary)
      local first = (z * side + y) * side
      for x = 0, side // 2 do -- at the opposite place, side - x, sines are the opposite
        local rc, rs = row_real:dot(cx[x]), row_real:dot(sx[x])
        local ic, is = row_imaginary:dot(cx[x]), row_imaginary:dot(sx[x])
        real[first + x], imaginary[first + x] = rc - is, ic + rs
        if x > 0 then real[first + side - x], imaginary[first + side - x] = rc + is, ic - rs end
      end
    end
  end
  return real, imaginary
end

function mri_q:run(gpu, size)
  local side, count, per_launch = size.side, size.samples, size.per_launch
  if per_launch < 1 or per_launch > most_samples then
    error(("mri_q: per_launch: expected 1 to %d, got %d"):format(most_samples, per_launch), 0)
  end
  local voxels, axis = side * side * side, ww.array("f32", side)
  for i = 0, side - 1 do axis[i] = i / side - 0.5 end
  local x, y, z = ww.array("f32", voxels), ww.array("f32", voxels), ww.array("f32", voxels)
  for i = 0, voxels - 1 do
    x[i], y[i], z[i] = axis[i % side], axis[i // side % side], axis[i // (side * side)]
  end
  local function frequencies(seed) return ww.array("f32", count):random(seed, -side / 2, side / 2) end
  local kx, ky, kz = frequencies(size.seed), frequencies(size.seed + 1), frequencies(size.seed + 2)
  local magnitude = ww.array("f32", count):random(size.seed + 3, 0, 1)

  local dev_x, dev_y, dev_z = gpu:upload(x), gpu:upload(y), gpu:upload(z)
  local zeros = ww.array("f32", voxels)
  local real, imaginary = gpu:upload(zeros), gpu:upload(zeros)
  for first = 0, count - 1, per_launch do
    local now = math.min(per_launch, count - first)
    local samples = ww.array("f32", 4 * now)
    for i = 0, now - 1 do
      local k = first + i
      samples[4 * i], samples[4 * i + 1], samples[4 * i + 2], samples[4 * i + 3] = kx[k], ky[k], kz[k], magnitude[k]
    end
    constants.write(gpu, self.kernels.where_is_samples, samples)
    gpu:launch(self.kernels.mri_q, {
      grid = (voxels + threads - 1) // threads, block = threads,
      args = { dev_x, dev_y, dev_z, real, imaginary, voxels, now },
    })
  end

  local want_real, want_imaginary = reference(size, axis, kx, ky, kz, magnitude)
  self:check("real parts", gpu:download("f32", real, voxels), want_real, { abs = 1e-3 })
  self:check("imaginary parts", gpu:download("f32", imaginary, voxels), want_imaginary, { abs = 1e-3 })
end

return mri_q
