local ww = require "warpwright"
local rows = require "workloads.lib.rows"

local hotspot = ww.workload "hotspot" {
  doc = "Heat on a chip, two steps a launch in shared memory: a stream in overlapping tiles, so that SMs share lines",
  ptx = "hotspot.ptx",
  -- steps: of a launch, at most 7. With 1024 columns the rows of a tile fall into one set of the L1
  -- of gtx480. With 512 they fall into two, and it is a stream, as in the papers.
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

--- A die of silicon, 16 mm wide and high and half a millimetre thick. The step is half of the
-- longest stable one.
local function constants_of(size)
  local thickness, conductivity, capacity_of_volume = 0.0005, 100, 1.75e6
  local width, height = 0.016 / size.columns, 0.016 / size.rows
  local x_flow, y_flow = conductivity * thickness * height / width, conductivity * thickness * width / height
  local z_flow = conductivity * width * height / thickness
  local capacity = capacity_of_volume * thickness * width * height
  local step = 0.5 * capacity / (2 * x_flow + 2 * y_flow + z_flow)
  return { gain = step / capacity, x = x_flow, y = y_flow, z = z_flow }
end

--- A row of cells one step later, in double precision.
local function after_step(above, here, below, power, flow, after)
  local gain, of_x, of_y, of_air = flow.gain, flow.gain * flow.x, flow.gain * flow.y, flow.gain * flow.z * air
  local of_own, west, own = 1 - 2 * of_x - 2 * of_y - flow.gain * flow.z, here[0], here[0]
  for x = 0, #here do
    local east = here[x + 1] or own
    after[x] = of_own * own + of_x * (west + east) + of_y * (above[x] + below[x]) + gain * power[x] + of_air
    west, own = own, east
  end
  return after
end

--- All cells after the steps of a launch.
local function after_launch(heat, power, size, flow)
  local row_of, power_of, want = rows.of(heat, size.columns), rows.of(power, size.columns), ww.array("f64", #heat)
  for _ = 1, size.steps do
    local before = row_of
    row_of = rows.kept(size.rows, function(row, after)
      return after_step(before(row - 1), before(row), before(row + 1), power_of(row), flow, after)
    end)
  end
  for row = 0, size.rows - 1 do rows.put(want, row * size.columns, row_of(row)) end
  return want
end

function hotspot:run(gpu, size)
  local height, columns, steps = size.rows, size.columns, size.steps
  local inner = tile - 2 * steps
  if steps < 1 or inner < 1 then error(("hotspot: steps: expected 1 to %d, got %d"):format(tile // 2 - 1, steps), 0) end
  local cells, flow = height * columns, constants_of(size)
  local heat = ww.array("f32", cells):random(size.seed, 323, 343)
  local power = ww.array("f32", cells):random(size.seed + 1, 0, 20 * flow.x)
  local before, after, dev_power = gpu:upload(heat), gpu:alloc(4 * cells), gpu:upload(power)

  for launch = 1, size.launches do
    gpu:launch(self.kernels.hotspot, {
      grid = { (columns + inner - 1) // inner, (height + inner - 1) // inner, 1 },
      block = { tile, tile, 1 },
      args = { dev_power, before, after, height, columns, steps, flow.gain, flow.x, flow.y, flow.z, air },
    })
    local got, want = gpu:download("f32", after, cells), after_launch(heat, power, size, flow)
    self:check("temperatures after launch " .. launch, got, want, { abs = 1e-4 })
    heat, before, after = got, after, before
  end
end

return hotspot
