local ww = require "warpwright"

local hotspot = ww.workload "hotspot" {
  doc = "Heat on a chip, two steps a launch in shared memory: a stream in overlapping tiles, so that SMs share lines",
  ptx = "hotspot.ptx",
  -- steps: of a launch, at most 7. With 1024 columns the rows of a tile fall into one set of the L1 of gtx480. With 512
  -- they fall into two, and it is a stream, as in the papers.
  sizes = {
    small = { rows = 64, columns = 64, steps = 2, launches = 1, seed = 1 },
    medium = { rows = 2048, columns = 512, steps = 2, launches = 4, seed = 1 },
    paper = { rows = 512, columns = 512, steps = 2, launches = 4, seed = 1 },
  },
  expected = {
    class = "streaming in L1", hit_rate = { 0, 0.05 }, instructions_per_miss = { 10, 60 }, mpki = { 0, 10 },
  },
}

local tile <const>, air <const> = 16, 353

--- A die of silicon, 16 mm wide and high and half a millimetre thick. The step is half of the longest stable one.
local function constants_of(size)
  local thickness, conductivity, capacity_of_volume = 0.0005, 100, 1.75e6
  local width, height = 0.016 / size.columns, 0.016 / size.rows
  local x_flow, y_flow = conductivity * thickness * height / width, conductivity * thickness * width / height
  local z_flow = conductivity * width * height / thickness
  local capacity = capacity_of_volume * thickness * width * height
  local step = 0.5 * capacity / (2 * x_flow + 2 * y_flow + z_flow)
  return { gain = step / capacity, x = x_flow, y = y_flow, z = z_flow }
end

--- All cells one step later, in double precision.
local function after_step(before, power, size, flow)
  local rows, columns = size.rows, size.columns
  local gain, fx, fy, fz = flow.gain, flow.x, flow.y, flow.z
  local after = ww.array("f64", rows * columns)
  before = before:table()
  for row = 0, rows - 1 do
    local first = row * columns
    local up, down = row > 0 and -columns or 0, row < rows - 1 and columns or 0
    local west, own = before[first], before[first]
    for at = first, first + columns - 1 do
      local east = at < first + columns - 1 and before[at + 1] or own
      local y_part, x_part = (before[at + up] + before[at + down] - 2 * own) * fy, (east + west - 2 * own) * fx
      after[at] = own + gain * (power[at] + y_part + x_part + (air - own) * fz)
      west, own = own, east
    end
  end
  return after
end

function hotspot:run(gpu, size)
  local rows, columns, steps = size.rows, size.columns, size.steps
  local inner = tile - 2 * steps
  if steps < 1 or inner < 1 then error(("hotspot: steps: expected 1 to %d, got %d"):format(tile // 2 - 1, steps), 0) end
  local cells, flow = rows * columns, constants_of(size)
  local heat = ww.array("f32", cells):random(size.seed, 323, 343)
  local power = ww.array("f32", cells):random(size.seed + 1, 0, 20 * flow.x)
  local before, after, dev_power = gpu:upload(heat), gpu:alloc(4 * cells), gpu:upload(power)

  for launch = 1, size.launches do
    gpu:launch(self.kernels.hotspot, {
      grid = { (columns + inner - 1) // inner, (rows + inner - 1) // inner, 1 },
      block = { tile, tile, 1 },
      args = { dev_power, before, after, rows, columns, steps, flow.gain, flow.x, flow.y, flow.z, air },
    })
    local got, want = gpu:download("f32", after, cells), heat
    for _ = 1, steps do want = after_step(want, power, size, flow) end
    self:check("temperatures after launch " .. launch, got, want, { abs = 1e-4 })
    heat, before, after = got, after, before
  end
end

return hotspot
