local ww = require "warpwright"

local particle = ww.workload "particle" {
  doc = "Particle filter: each lane walks along a row of indices of its own, with long double-precision sums between",
  ptx = "particle.ptx",
  sizes = { -- kernel: "likelihood", "find" or "both"
    small = { particles = 192, radius = 2.5, kernel = "both", seed = 1 },
    medium = { particles = 15360, radius = 5.0, kernel = "likelihood", seed = 1 },
    paper = { particles = 46080, radius = 5.0, kernel = "likelihood", seed = 1 },
  },
  expected = {
    class = "memory-intensive: cache-sensitive", size = "small,particles=4096,kernel=likelihood", hit_rate = { 0.1, 0.9 },
    instructions_per_miss = { 2, 10 },
  },
}

local threads <const>, width <const>, height <const>, frames <const>, frame <const> = 512, 128, 128, 10, 3
local dark <const>, bright <const> = 100, 228

--- The pixels nearer than `radius` to the middle, as offsets.
local function disc_of(radius)
  local list = {}
  for dx = -math.ceil(radius), math.ceil(radius) do
    for dy = -math.ceil(radius), math.ceil(radius) do
      if dx * dx + dy * dy < radius * radius then
        list[#list + 1] = dx
        list[#list + 1] = dy
      end
    end
  end
  local disc = ww.array("i32", #list)
  for i, offset in ipairs(list) do disc[i - 1] = offset end
  return disc
end

--- A video of noise with a bright square in each frame, and particles scattered around it.
local function scene(size)
  local image = ww.array("u8", width * height * frames):random(size.seed, dark - 15, dark + 15)
  for dx = -6, 6 do
    for dy = -6, 6 do
      local at = (width // 2 + dx) * height * frames + (height // 2 + dy) * frames + frame
      image[at] = image[at] + bright - dark
    end
  end
  local rng = ww.rng(size.seed + 1)
  local function around(middle, spread)
    local sum = 0
    for _ = 1, 12 do sum = sum + rng:float() end -- nearly normal
    return middle + spread * (sum - 6)
  end
  local x, y = ww.array("f64", size.particles), ww.array("f64", size.particles)
  for i = 0, size.particles - 1 do x[i], y[i] = around(width / 2, 5), around(height / 2, 2) end
  return image, x, y
end

--- Weights, in whole numbers up to the exponential: (b - 100)^2 - (b - 228)^2 = 256 b - 41984.
local function weights_of(size, image, x, y, disc)
  local want, exp, points, pixels, last = {}, math.exp, #disc // 2, image:table(), #image - 1
  local offsets = {}
  for p = 1, points do offsets[p] = (disc[2 * p - 2] * height + disc[2 * p - 1]) * frames + frame end
  for i = 0, size.particles - 1 do
    local row, column, brightness = (x[i] + 0.5) // 1 | 0, (y[i] + 0.5) // 1 | 0, 0
    local middle = (row * height + column) * frames
    for p = 1, points do
      local at = middle + offsets[p]
      brightness = brightness + pixels[at >= 0 and at <= last and at or 0]
    end
    local sum = 2 * (bright - dark) * brightness + points * (dark * dark - bright * bright)
    want[i + 1] = exp(sum / 50 / points) / size.particles
  end
  return ww.array_from("f64", want)
end

local function check_partial(self, partial, weights)
  local want = ww.array("f64", #partial)
  for i = 0, #partial - 1 do
    want[i] = weights:slice(i * threads, math.min(threads, #weights - i * threads)):sum()
  end
  self:check("sums of weights", partial, want, { rel = 1e-9 })
end

--- The index of the first element that reaches `value`, the last one at most, by bisection.
local function first_reaching(cumulative, value)
  local low, high = 0, #cumulative - 1
  while low < high do
    local middle = (low + high) // 2
    if cumulative[middle] >= value then high = middle else low = middle + 1 end
  end
  return low
end

local function check_found(self, cumulative, draw, x, y, got)
  local n = #draw
  local found, new_x, new_y = ww.array("i32", n), ww.array("f64", n), ww.array("f64", n)
  for i = 0, n - 1 do
    local k = first_reaching(cumulative, draw[i])
    found[i], new_x[i], new_y[i] = k, x[k], y[k]
  end
  self:check("found particles", got.found, found)
  self:check("new x", got.x, new_x)
  self:check("new y", got.y, new_y)
end

function particle:run(gpu, size)
  local n = size.particles
  if size.kernel ~= "both" and size.kernel ~= "likelihood" and size.kernel ~= "find" then
    error(("particle: kernel: expected both, likelihood or find, got '%s'"):format(size.kernel), 0)
  end
  local image, x, y = scene(size)
  local disc = disc_of(size.radius)
  local grid, dev_x, dev_y = (n + threads - 1) // threads, gpu:upload(x), gpu:upload(y)
  local weights = weights_of(size, image, x, y, disc)

  if size.kernel ~= "find" then
    local index, dev_weight, dev_partial = gpu:alloc(4 * #disc // 2 * n), gpu:alloc(8 * n), gpu:alloc(8 * grid)
    gpu:launch(self.kernels.particle_likelihood, {
      grid = grid, block = threads,
      args = {
        dev_x, dev_y, gpu:upload(disc), #disc // 2, index, gpu:upload(image), height, frames, frame, #image, n, dev_weight,
        dev_partial,
      },
    })
    self:check("weights", gpu:download("f64", dev_weight, n), weights, { rel = 1e-9 })
    check_partial(self, gpu:download("f64", dev_partial, grid), weights)
  end

  if size.kernel ~= "likelihood" then
    local cumulative, draw, total, sum = ww.array("f64", n), ww.array("f64", n), weights:sum(), 0
    local first = ww.rng(size.seed + 2):float() / n
    for i = 0, n - 1 do
      sum = sum + weights[i] / total
      cumulative[i], draw[i] = sum, first + i / n
    end
    local found, new_x, new_y = gpu:alloc(4 * n), gpu:alloc(8 * n), gpu:alloc(8 * n)
    gpu:launch(self.kernels.particle_find, {
      grid = grid, block = threads,
      args = { gpu:upload(cumulative), gpu:upload(draw), dev_x, dev_y, found, new_x, new_y, n },
    })
    check_found(self, cumulative, draw, x, y, {
      found = gpu:download("i32", found, n), x = gpu:download("f64", new_x, n), y = gpu:download("f64", new_y, n),
    })
  end
end

return particle
