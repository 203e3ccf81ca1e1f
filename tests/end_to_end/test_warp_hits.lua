-- scripts/warp_hits: its figures are those of the run.
local checks = require "policy_checks"
local harness = require "harness"
local json = require "scripts.lib.json"

local figures = harness.folder() .. "/figures.json"
local measuring = "warp_ratios:interval=3000,warm_up=20+l2_delays"

harness.test("windows add up to the counters of the run", function()
  local status, output = harness.run("scripts/warp_hits.lua", "--json", figures, "--size", "small", "--policy", "lrr", "--window",
    "20000", "--interval", "3000", "--warm-up", "20", "--set", "sms=5", "gtx480", "bfs")
  harness.equal(status, 0, output)
  local got = json.decode(harness.read(figures))
  local r = checks.run { workload = "bfs", policy = "lrr+" .. measuring, set = { sms = 5 } }
  local names = { "none" }
  for tenth = 0, 9 do names[#names + 1] = ("from_%d"):format(10 * tenth) end
  names[#names + 1] = "all"
  local sum = 0
  for i, name in ipairs(names) do
    local want, in_windows = checks.sum(r, "sm.warp_ratios." .. name), 0
    for _, window in ipairs(got.windows) do in_windows = in_windows + window.samples[i] end
    harness.equal(got.all[i], want, name)
    harness.equal(in_windows, want, name .. " in the windows")
    sum = sum + want
  end
  assert(sum > 100, "few samples")
  harness.equal(got.all[#names + 1], sum, "samples")
  harness.equal(#got.windows, r.cycles // 20000 + 1, "windows")
  harness.equal(got.windows[#got.windows].cycle, r.cycles, "last cycle")
  harness.equal(got.delays[1], checks.sum(r, "l2.delays.delay_0"), "requests that waited for nothing")
  harness.equal(got.delays[#got.delays], checks.sum(r, "l2.delays.delay_1024"), "the longest delays")
end)

harness.test("bad arguments are named", function()
  for _, case in ipairs {
    { { "gtx480" }, "CONFIG and WORKLOAD are wanted" },
    { { "--limit", "2", "gtx480", "bfs" }, "unknown argument '--limit'" },
    { { "gtx480", "bfs", "--window", "0" }, "--window: '0' is not a whole number from 1 on" },
    { { "gtx480", "bfs", "--set", "sms" }, "--set: 'sms' is not PATH=VALUE" },
    { { "gtx480", "bfs", "--size" }, "--size: a value must follow" },
  } do
    local status, output = harness.run("scripts/warp_hits.lua", table.unpack(case[1]))
    harness.equal(status, 2, output)
    harness.contains(output, case[2], "scripts/warp_hits --help")
  end
end)

harness.finish()
