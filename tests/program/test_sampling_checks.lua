-- --sample: what follows from what parts of a launch have counted, on measures made up for it.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local launch_profile = require "warpwright.launch_profile"
local measures = require "warpwright.measures"
local sampled_result = require "warpwright.sampled_result"
local window_checks = require "warpwright.window_checks"

--- Header of a measure.
local function took(cycles, instructions) return string.pack("<ddddd", cycles, instructions, 0, 0, 0) end

--- What was seen of a launch: the window that checks takes so many cycles beside 1000 in the head, as many instructions; windows vary so.
local function seen_with(cycles, windows)
  local seen = { check = { all = took(cycles, 500) }, head = { checked = took(1000, 500) }, windows = {} }
  for i, of_window in ipairs(windows) do seen.windows[i] = { all = took(of_window, 500) } end
  return seen
end

harness.test("a window that takes 3% more or less than the same part of the head, or 1% beyond chance, does not stand for the launch", function()
  local steady <const>, varied <const> = { 1000, 1001, 999, 1000 }, { 950, 1050, 1000, 1000 }
  for _, case in ipairs { { 1029, varied, false }, { 1031, varied, true }, { 971, varied, false }, { 969, varied, true }, { 1009, steady, false },
    { 1011, steady, true }, { 991, steady, false }, { 989, steady, true } } do
    harness.equal((window_checks.misses(seen_with(case[1], case[2]))), case[3], case[1])
  end
end)

harness.test("windows that take other than the head go on to longer warm-ups as long as these change what they take", function()
  local apart <const> = { 1030, 1031, 1029, 1030 }
  harness.equal(window_checks.may_settle(seen_with(1000, { 1003, 1004, 1002, 1003 })), false)
  harness.equal(window_checks.may_settle(seen_with(1000, { 1080, 980, 1040, 1020 })), false)
  harness.equal(window_checks.may_settle(seen_with(1000, apart)), true)
  harness.equal(window_checks.may_settle(seen_with(1000, apart), seen_with(1000, { 1031, 1032, 1030, 1031 }).windows), false)
  harness.equal(window_checks.may_settle(seen_with(1000, apart), seen_with(1000, { 1050, 1051, 1049, 1050 }).windows), true)
end)

harness.test("what a part asks for beyond what windows do widens the interval, by no more than it costs", function()
  local function look(instructions, loads, slice) return { instructions, 0, loads, 0, 0, 0, 0, 100 - slice, slice } end
  local looks <const> = { look(0, 0, 0), look(100, 10, 5), look(200, 40, 10), look(300, 50, 15) } -- 0.1, 0.3 and 0.1 loads per instruction
  local function factor(ranges, cycles) return launch_profile.factors(looks, 0, 300, launch_profile.ranges(ranges), cycles, 10) end
  local function near(value, wanted) assert(math.abs(value - wanted) < 1e-12, ("%g, not %g"):format(value, wanted)) end
  local few, many = launch_profile.rates(looks, 0, 100), launch_profile.rates(looks, 100, 200)
  near(launch_profile.rates(looks, 50, 150)[2], 0.2)
  near(factor({ few, many }, 1)[2], 1)
  near(factor({ few }, 100)[2], 1 + 0.2 * 400 / 10 / 100 / 3) -- 400 cycles a load, of ten SMs
  near(factor({ few }, 1)[2], 1 + 2 / 3) -- three times as much
end)

harness.test("a part whose requests meet at one slice of the L2 asks for more than one that spreads them", function()
  local looks <const> = {}
  for i, slices in ipairs { { 0, 0, 0 }, { 4, 4, 4 }, { 16, 4, 4 } } do looks[i] = { 1000 * (i - 1), 0, 0, 0, 0, 0, 0, table.unpack(slices) } end
  local spread <const> = launch_profile.ranges { launch_profile.rates(looks, 0, 1000) }
  local factors = launch_profile.factors(looks, 1000, 2000, spread, 1, 10)
  for k = 1, 7 do assert(math.abs(factors[k] - 1) < 1e-12, k) end -- as many requests in all
  assert(math.abs(factors[8] - (1 + 40 * 8 / 1000)) < 1e-12, factors[8]) -- 40 cycles each of the slice's 8 more
end)

harness.test("the interval is Student's, of the jackknife", function()
  harness.equal(measures.student(5), 2.571)
  assert(math.abs(measures.student(1000) - 1.9625) < 1e-3)
  local error_of_mean = measures.jackknife { (2 + 3) / 2, (1 + 3) / 2, (1 + 2) / 2 } -- means without 1, 2 and 3
  assert(math.abs(error_of_mean - 1 / math.sqrt(3)) < 1e-12, error_of_mean)
end)

harness.test("what longer warm-ups change of the estimate is part of the interval, where a policy learns", function()
  local part = took(10, 10)
  local launch = { head = part, tail = part, check = { timed = part, all = part, middle = 100 },
    windows = { { all = took(20, 10), second = took(21, 10), weight = 100 }, { all = took(20, 10), second = took(21, 10), weight = 100 } } }
  local cycles, _, bias = measures.interval_of_cycles(launch)
  harness.equal(cycles, 420.0)
  harness.equal(bias, 20.0)
  for _, window in ipairs(launch.windows) do window.early = took(17, 10) end
  harness.equal(select(3, measures.interval_of_cycles(launch)), 80.0)
end)

harness.test("ends of a launch that take other times widen the interval, and one end by what it takes beyond its instructions", function()
  local part, window = took(10, 10), { all = took(20, 10), second = took(20, 10), weight = 100 }
  local function chance(tails)
    local launch = { offer = { sms = 15 }, head = part, tail = measures.mean(tails), tails = tails, windows = { window, window },
      check = { timed = part, all = part, middle = 100 } }
    return (select(2, measures.interval_of_cycles(launch)))
  end
  local function near(width, wanted) assert(math.abs(width - wanted) < 1e-9, ("%g, not %g"):format(width, wanted)) end
  near(chance { took(20, 10) }, 0) -- as in the middle
  local of_last <const> = 2 * math.sqrt(15 / 17) / 14 -- SMs that end evenly between 0 and 1: the last one's deviation by its distance to the mean
  near(chance { took(120, 10) }, 1.96 * math.sqrt(2) * of_last * 100)
  -- Tails of 10, 20 and 30: their variance is 100, and a fourth one has none around its instructions.
  near(chance { took(10, 10), took(20, 10), took(30, 10) }, measures.student(2) * math.sqrt(100 * 2 / 3 * (1 + 1 / 3)))
  -- Three alike have been so by chance.
  near(chance { took(120, 10), took(120, 10), took(120, 10) }, measures.student(3) * of_last * 100 * math.sqrt((1 + 1 / 3) / 3))
end)

harness.test("a window that takes other than all windows, beyond chance and 1%, when it goes on for long widens the interval", function()
  local part = took(10, 10)
  local function bias(long, windows)
    local launch = { head = part, tail = part, check = { timed = part, all = part, middle = 100 }, long = long, windows = {} }
    for i, cycles in ipairs(windows) do
      launch.windows[i] = { all = took(cycles, 10), second = took(cycles, 10), weight = 100 / #windows }
    end
    return select(3, measures.interval_of_cycles(launch))
  end
  local steady <const>, varied <const> = { 20, 20, 20, 20 }, { 15, 25, 20, 20 }
  harness.equal(bias(nil, steady), 0.0)
  harness.equal(bias(took(808, 400), steady), 0.0) -- 2.02 cycles an instruction: not by more than 1%
  assert(math.abs(bias(took(1200, 400), steady) - 100) < 1e-9, bias(took(1200, 400), steady)) -- 3, of 100 instructions
  assert(math.abs(bias(took(600, 400), steady) - 50) < 1e-9)
  harness.equal(bias(took(1200, 400), varied), 0.0)
end)

--- What two SMs count: CTAs and a ratio.
local function of_two_sms(a, b)
  local rows = core.stats()
  for i, value in ipairs { a, b } do rows:add(("sm[%d].ctas"):format(i - 1), value, "CTAs", "") end
  for i, value in ipairs { a, b } do rows:add(("sm[%d].rate"):format(i - 1), value / 100, "1/cycle", "") end
  rows:add("run.ctas", a + b, "CTAs", "")
  return { rows = rows }
end

harness.test("for what an SM counts all SMs speak, for what all count together the windows alone", function()
  local group <const> = { { 101, 99 }, { 99, 101 }, { 100, 100 } } -- each with one window left out
  local function width_of(i) return sampled_result.chances({ group }, of_two_sms(100, 100), function(m) return of_two_sms(m[1], m[2]) end)[i] end
  -- Around the mean, which does not vary, each SM has a variance of 4/3 by the jackknife, and two replicas are free. Of two SMs one is.
  local wanted = measures.student(2) * math.sqrt(2 * 4 / 3)
  for i = 1, 2 do assert(math.abs(width_of(i) - wanted) < 1e-9, width_of(i)) end
  assert(math.abs(width_of(3) - wanted / 100) < 1e-9, width_of(3))
  harness.equal(width_of(5), 0.0)
end)

harness.test("an SM that counts more varies more", function()
  local group <const> = { { 303, 99 }, { 297, 101 }, { 300, 100 } }
  local widths = sampled_result.chances({ group }, of_two_sms(300, 100), function(m) return of_two_sms(m[1], m[2]) end)
  assert(widths[1] > 1.7 * widths[2] and widths[2] > 0, ("%g %g"):format(widths[1], widths[2]))
end)

harness.test("which SM counts what in a launch with timing behind one without is left to chance", function()
  local function make(m) return of_two_sms(m[1], m[2]) end
  local widths = sampled_result.chances({}, of_two_sms(100, 100), make, { measure = { 53, 47 }, part = 0.5 })
  -- The launch's SMs have a variance of 18 around their mean, and so have those of the truth.
  assert(math.abs(widths[1] - measures.student(1) * math.sqrt(2 * 18)) < 1e-9, widths[1])
  assert(math.abs(widths[3] - widths[1] / 100 / 2) < 1e-9, widths[3])
  harness.equal(widths[5], 0.0)
end)

harness.finish()
