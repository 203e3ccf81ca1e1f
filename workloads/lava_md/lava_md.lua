local ww = require "warpwright"

local lava_md = ww.workload "lava_md" {
  doc = "Forces between particles of neighbouring boxes, in double precision, a box at a time in shared memory",
  ptx = "lava_md.ptx",
  sizes = { -- width, height, depth: boxes along each axis. particles: of a box, at most 128
    small = { width = 2, height = 2, depth = 2, particles = 20, seed = 1 },
    medium = { width = 4, height = 4, depth = 4, particles = 100, seed = 1 },
    paper = { width = 10, height = 10, depth = 10, particles = 100, seed = 1 },
  },
  expected = { class = "compute-intensive", size = "small,particles=64", instructions_per_miss = { 30, 1000 } },
}

local threads <const>, record <const>, sharpness <const> = 128, 28, 0.5

local function place_of(box, width, height) return box % width, box // width % height, box // (width * height) end

--- For each box, its neighbours' numbers.
local function neighbours(width, height, depth)
  local list = {}
  for box = 0, width * height * depth - 1 do
    local x, y, z = place_of(box, width, height)
    local around = {}
    for dz = -1, 1 do
      for dy = -1, 1 do
        for dx = -1, 1 do
          local u, v, w = x + dx, y + dy, z + dz
          local inside = u >= 0 and v >= 0 and w >= 0 and u < width and v < height and w < depth
          local other = (w * height + v) * width + u
          if inside and other ~= box then around[#around + 1] = other end
        end
      end
    end
    list[box] = around
  end
  return list
end

--- How strongly the particles of two boxes, from numbers `a` and `b` on, act on each other by their
-- distances: a matrix (f64) with a row for each of the first box. `list` is to be overwritten.
local function strengths(x, y, z, a, b, in_box, list)
  local base, at = math.exp(-sharpness * sharpness), 0
  for i = a, a + in_box - 1 do
    local x_i, y_i, z_i = x[i], y[i], z[i]
    for j = b, b + in_box - 1 do
      local dx, dy, dz = x_i - x[j], y_i - y[j], z_i - z[j]
      at = at + 1
      list[at] = base ^ (dx * dx + dy * dy + dz * dz)
    end
  end
  return ww.f64(list)
end

--- Potential and force of each particle: sums over the others of strength times charge, and of that
-- times how far they are away along each axis. Each pair of boxes is met once.
local function reference(particles, charges, count, in_box, around)
  local place, moment, sums, list = {}, { [0] = charges }, {}, {}
  for axis = 0, 3 do sums[axis] = ww.array("f64", count) end
  for axis = 1, 3 do
    place[axis], moment[axis] = {}, ww.array("f64", count)
    for i = 0, count - 1 do
      place[axis][i] = particles[4 * i + axis]
      moment[axis][i] = charges[i] * place[axis][i]
    end
  end
  --- Adds to particle i what the box from `other` on does, by the strengths from `at` on, each
  -- `stride` from the next.
  local function add(i, other, strength, at, stride)
    for axis = 0, 3 do
      sums[axis][i] = sums[axis][i] + strength:dot(moment[axis], at, other, in_box, stride, 1)
    end
  end
  for box = 0, count // in_box - 1 do
    local a = box * in_box
    for k = 0, #around[box] do
      local b = (around[box][k] or box) * in_box
      if a <= b then
        local strength = strengths(place[1], place[2], place[3], a, b, in_box, list)
        for i = 0, in_box - 1 do
          add(a + i, b, strength, i * in_box, 1)
          if a < b then add(b + i, a, strength, i, in_box) end
        end
      end
    end
  end

  local want, scale = ww.array("f64", 4 * count), 2 * sharpness * sharpness
  for i = 0, count - 1 do
    local potential = sums[0][i]
    want[4 * i] = potential
    for axis = 1, 3 do want[4 * i + axis] = scale * (place[axis][i] * potential - sums[axis][i]) end
  end
  return want
end

function lava_md:run(gpu, size)
  local width, height, depth, in_box = size.width, size.height, size.depth, size.particles
  if in_box < 1 or in_box > threads then
    error(("lava_md: particles: expected 1 to %d, got %d"):format(threads, in_box), 0)
  end
  local boxes, around = width * height * depth, neighbours(width, height, depth)
  local count = boxes * in_box
  local records = ww.array("i32", boxes * record)
  for box = 0, boxes - 1 do
    records[box * record], records[box * record + 1] = box * in_box, #around[box]
    for k, other in ipairs(around[box]) do records[box * record + 1 + k] = other end
  end

  local rng, particles = ww.rng(size.seed), ww.array("f64", 4 * count)
  for i = 0, count - 1 do
    local x, y, z = place_of(i // in_box, width, height)
    x, y, z = x + rng:float(), y + rng:float(), z + rng:float()
    particles[4 * i], particles[4 * i + 1] = (x * x + y * y + z * z) / 2, x
    particles[4 * i + 2], particles[4 * i + 3] = y, z
  end
  local charges = ww.array("f64", count):random(size.seed + 1, 0.1, 1)
  local forces = gpu:upload(ww.array("f64", 4 * count))
  gpu:launch(self.kernels.lava_md, {
    grid = boxes, block = threads,
    args = { gpu:upload(records), gpu:upload(particles), gpu:upload(charges), forces, in_box, sharpness },
  })

  local want = reference(particles, charges, count, in_box, around)
  self:check("potentials and forces", gpu:download("f64", forces, 4 * count), want, { abs = 1e-8 })
end

return lava_md
