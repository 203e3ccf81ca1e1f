local ww = require "warpwright"

local monte_carlo_pi = ww.workload "monte_carlo_pi" {
  doc = "Pi from random points: the states of the generators in local memory, loaded and stored with every number",
  ptx = "monte_carlo_pi.ptx",
  -- draws: points of each thread. registers: of a thread, 0 for as many as it needs. With 48 an SM
  -- of gtx480 holds five CTAs, whose states fit its L1; with fewer it holds eight, and they do not.
  sizes = {
    small = { ctas = 15, draws = 8, registers = 48, seed = 1 },
    medium = { ctas = 195, draws = 256, registers = 48, seed = 1 },
  },
  expected = { class = "friendly: private data in L1", hit_rate = { 0.9, 1 }, mpki = { 0, 10 } },
}

local threads <const>, words <const> = 128, 6
local radius <const>, doubtful <const> = 1 << 24, 1 << 28 -- in steps of the coordinates, and in squares of steps

--- Whether a point near the edge is in the circle for the kernel: how it rounds decides.
local function is_inside(x, y)
  x, y = x / radius, y / radius
  return ww.float32.fma(x, x, ww.float32.round(y * y)) < 1
end

--- How many of a thread's points are in the circle. The state is given as six numbers.
local function count_inside(draws, a, b, c, d, e, f)
  local inside, surely_inside, maybe_inside = 0, radius * radius - doubtful, radius * radius + doubtful
  for _ = 1, draws do
    local t = a ~ a >> 2
    local x = (e ~ e << 4 ~ t ~ t << 1) & 0xffffffff
    t = b ~ b >> 2
    local y = (x ~ x << 4 ~ t ~ t << 1) & 0xffffffff
    a, b, c, d, e = c, d, e, x, y
    f = f + 2 * 362437
    x, y = (x + f - 362437 & 0xffffffff) >> 8, (y + f & 0xffffffff) >> 8
    local square = x * x + y * y
    if square < surely_inside or square < maybe_inside and is_inside(x, y) then inside = inside + 1 end
  end
  return inside
end

function monte_carlo_pi:run(gpu, size)
  local ctas, draws = size.ctas, size.draws
  local states = ww.array("u32", words * threads * ctas):random(size.seed, 1, 0xffffffff)
  local dev_counts, dev_total = gpu:alloc(4 * ctas), gpu:alloc(4)

  gpu:launch(self.kernels.count_inside, {
    grid = ctas, block = threads, registers = size.registers, args = { gpu:upload(states), dev_counts, draws },
  })
  gpu:launch(self.kernels.add_counts, { grid = 1, block = threads, args = { dev_counts, ctas, dev_total } })

  local want, total = ww.array("i32", ctas), 0
  for cta = 0, ctas - 1 do
    local sum = 0
    for thread = cta * threads, (cta + 1) * threads - 1 do
      local s = states:slice(words * thread, words)
      sum = sum + count_inside(draws, s[0], s[1], s[2], s[3], s[4], s[5])
    end
    want[cta], total = sum, total + sum
  end
  self:check("points in the circle", gpu:download("i32", dev_counts, ctas), want)
  self:check("all points in the circle", gpu:read("i32", dev_total), total)
end

return monte_carlo_pi
