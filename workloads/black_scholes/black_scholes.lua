local ww = require "warpwright"
local rows = require "workloads.lib.rows"

local black_scholes = ww.workload "black_scholes" {
  doc = "Black-Scholes prices of options: three streams read, two written, some sixty instructions between",
  ptx = "black_scholes.ptx",
  sizes = {
    small = { options = 16 * 1024, ctas = 480, seed = 1 },
    medium = { options = 8 * 1024 * 1024, ctas = 480, seed = 1 },
  },
  expected = { class = "streaming", hit_rate = { 0, 0.02 }, mpki = { 0, 10 } },
}

local threads <const>, piece <const> = 128, 1024
local rate <const>, volatility <const> = 0.02, 0.3

--- The normal distribution by its power series around 0; |x| is below 10.
local function normal_distribution(x)
  local term, sum, n = x, x, 1
  while math.abs(term) > 1e-17 * math.abs(sum) do
    n = n + 2
    term = term * x * x / n
    sum = sum + term
  end
  return 0.5 + sum * math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
end

local function call_and_put(s, x, t)
  local deviation, discounted = volatility * math.sqrt(t), x * math.exp(-rate * t)
  local d1 = (math.log(s / x) + (rate + 0.5 * volatility * volatility) * t) / deviation
  local n1, n2 = normal_distribution(d1), normal_distribution(d1 - deviation)
  return s * n1 - discounted * n2, discounted * (1 - n2) - s * (1 - n1)
end

--- All options, piece by piece: a call is worth as much as the put and the share, less the strike
-- price, paid later.
local function check_parity(self, price, strike, years, call, put)
  local n, discount, want = #price, math.exp(-rate), {}
  local shares_of, strikes_of = rows.of(price, piece), rows.of(strike, piece)
  local times_of, puts_of = rows.of(years, piece), rows.of(put, piece)
  for first = 0, n - 1, piece do
    local number, count = first // piece, math.min(piece, n - first)
    local shares, strikes, times, puts = shares_of(number), strikes_of(number), times_of(number), puts_of(number)
    for i = 0, count - 1 do want[i + 1] = puts[i] + shares[i] - strikes[i] * discount ^ times[i] end
    local label = ("calls by puts, from option %d on"):format(first)
    self:check(label, call:slice(first, count), ww.f32(want):slice(0, count), { abs = 1e-4 })
  end
end

local function check_sample(self, size, price, strike, years, call, put)
  local rng, samples = ww.rng(size.seed + 3), math.min(size.options, 8192)
  local got, want = ww.array("f32", 2 * samples), ww.array("f32", 2 * samples)
  for s = 0, samples - 1 do
    local i = s == 0 and size.options - 1 or rng:int(0, size.options - 1)
    got[2 * s], got[2 * s + 1] = call[i], put[i]
    want[2 * s], want[2 * s + 1] = call_and_put(price[i], strike[i], years[i])
  end
  self:check("sampled calls and puts", got, want, { abs = 5e-5 })
end

function black_scholes:run(gpu, size)
  local n = size.options
  local price = ww.array("f32", n):random(size.seed, 5, 30)
  local strike = ww.array("f32", n):random(size.seed + 1, 1, 100)
  local years = ww.array("f32", n):random(size.seed + 2, 0.25, 10)
  local dev_call, dev_put = gpu:alloc(4 * n), gpu:alloc(4 * n)

  gpu:launch(self.kernels.black_scholes, {
    grid = size.ctas,
    block = threads,
    args = { gpu:upload(price), gpu:upload(strike), gpu:upload(years), dev_call, dev_put, rate, volatility, n },
  })

  local call, put = gpu:download("f32", dev_call, n), gpu:download("f32", dev_put, n)
  check_parity(self, price, strike, years, call, put)
  check_sample(self, size, price, strike, years, call, put)
end

return black_scholes
