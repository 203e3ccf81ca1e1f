local ww = require "warpwright"

local neural_network = ww.workload "neural_network" {
  doc = "A network that reads digits, layer by layer: weights shared by a CTA, CTAs of a single thread in two layers",
  ptx = "neural_network.ptx",
  sizes = { -- layers: the first so many of the four
    small = { images = 1, layers = 2, seed = 1 },
    medium = { images = 28, layers = 4, seed = 1 },
  },
  expected = { class = "friendly", size = "small,layers=4", hit_rate = { 0.9, 1 }, mpki = { 0, 10 } },
}

local taps <const> = 5
-- Convolutions make `features` maps, of side x side values, from `depth` of width x width.
local shapes <const> = {
  { depth = 1, width = 29, features = 6, side = 13 },
  { depth = 6, width = 13, features = 50, side = 5 },
  { inputs = 1250, neurons = 100 },
  { inputs = 100, neurons = 10 },
}

local function activation(x) return 1.7159 * (1 - 2 / (math.exp(4 / 3 * x) + 1)) end

--- A layer of convolutions for all images, in double precision.
local function convolve(before, weights, shape, images)
  local depth, width, features, side = shape.depth, shape.width, shape.features, shape.side
  local after, own, to = ww.array("f64", images * features * side * side), depth * taps * taps + 1, 0
  for image = 0, images - 1 do
    for feature = 0, features - 1 do
      for y = 0, side - 1 do
        for x = 0, side - 1 do
          local weight, sum = feature * own + 1, weights[feature * own]
          for map = image * depth, (image + 1) * depth - 1 do
            for row = 2 * y, 2 * y + taps - 1 do
              sum = sum + before:dot(weights, (map * width + row) * width + 2 * x, weight, taps, 1, 1)
              weight = weight + taps
            end
          end
          after[to], to = activation(sum), to + 1
        end
      end
    end
  end
  return after
end

--- A layer of neurons, in double precision.
local function connect(before, weights, shape, images)
  local inputs, neurons = shape.inputs, shape.neurons
  local after = ww.array("f64", images * neurons)
  for image = 0, images - 1 do
    for neuron = 0, neurons - 1 do
      local own = neuron * (inputs + 1)
      local sum = weights[own] + before:dot(weights, image * inputs, own + 1, inputs, 1, 1)
      after[image * neurons + neuron] = activation(sum)
    end
  end
  return after
end

function neural_network:run(gpu, size)
  local images, layers = size.images, size.layers
  if layers < 1 or layers > #shapes then
    error(("neural_network: layers: expected 1 to %d, got %d"):format(#shapes, layers), 0)
  end
  local want = ww.array("f32", images * 29 * 29):random(size.seed, -1, 1)
  local from = gpu:upload(want)
  for layer = 1, layers do
    local shape = shapes[layer]
    local inputs = shape.inputs or shape.depth * taps * taps
    local count, width = shape.neurons or shape.features, shape.side or 1
    local spread = 1 / math.sqrt(inputs) -- keeps sums near the middle of the activation
    local weights = ww.array("f32", count * (inputs + 1)):random(size.seed + layer, -spread, spread)
    local to = gpu:alloc(4 * images * count * width * width)
    local launch = { grid = { count, images, 1 }, block = { width, width, 1 } }
    if shape.inputs then
      launch.args = { from, gpu:upload(weights), to, inputs }
      gpu:launch(self.kernels.connect, launch)
      want = connect(want, weights, shape, images)
    else
      launch.args = { from, gpu:upload(weights), to, shape.depth, shape.width }
      gpu:launch(self.kernels.convolve, launch)
      want = convolve(want, weights, shape, images)
    end
    self:check("layer " .. layer, gpu:download("f32", to, #want), want, { abs = 1e-5 })
    from = to
  end
end

return neural_network
