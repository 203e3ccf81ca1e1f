-- scripts/warp_hits: its figures are those of the run.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local json = require "warpwright.json"
local kernel = require "tests.kernels.warp_types_kernel"
local warp_curves = require "scripts.lib.warp_curves"

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

harness.test("each warp has the requests and the hits of its own samples", function()
  local r = kernel.run { "warp_types:interval=10000000,warm_up=320,over_ctas=false", warp_curves }
  for warp, misses in pairs { [0] = 0, 3, 16, 29, 32, 0, 3, 16 } do -- of 32 lanes, in ten rounds
    harness.equal(r["sm[0].warp_curves.requests_" .. warp], 320, "requests of warp " .. warp)
    local parameters = warp == 7 and 1 or 0 -- it asks for the kernel's parameters, which are in the L2
    harness.equal(r["sm[0].warp_curves.hits_" .. warp], 320 - 10 * misses + parameters, "hits of warp " .. warp)
  end
  harness.equal(r["sm[*].warp_curves.requests_*"], 8 * 320, "requests of all")
end)

local function warp_hits(...)
  local status, output = harness.run("scripts/warp_hits.lua", "--json", figures, "--size", "small", "--policy", "lrr", "--window",
    "20000", "--interval", "3000", "--warm-up", "20", "--set", "sms=5", ...)
  harness.equal(status, 0, output)
  return output, json.decode(harness.read(figures))
end

harness.test("the delays at an L2 of one slice are shown, and what cannot be written is told before the run", function()
  local status, output = harness.run("scripts/warp_hits.lua", "--json", figures, "--size", "small,n=1024", "gallery/bus", "vecadd")
  harness.equal(status, 0, output)
  assert(json.decode(harness.read(figures)).delays[1] > 0, output)
  harness.contains(output, "\nDelay of ")
  for _, option in ipairs { "--json", "--svg" } do
    output = harness.refused(("warp_hits: %s: /no/such/file: No such file or directory"):format(option), "scripts/warp_hits.lua", option,
      "/no/such/file", "--warps", "2", "medic", "vecadd")
    assert(not output:find "until cycle", output)
  end
end)

local function sum_of(one)
  local requests, hits = 0, 0
  for _, window in ipairs(one.windows) do requests, hits = requests + window[1], hits + window[2] end
  return requests, hits
end

harness.test("curves of single warps add up to what each counted, window by window, with gaps where it was not sampled", function()
  local chart = harness.folder() .. "/chart.svg"
  local output, got = warp_hits("--warps", "2:38,0:14", "--svg", chart, "gtx480", "bfs")
  local r = checks.run { workload = "bfs", policy = { "lrr+" .. measuring, warp_curves }, set = { sms = 5 } }
  harness.equal(#got.warps, 2)
  harness.contains(output, "until cycle   2:38   0:14\n       20000      -      -\n       40000   90.0      -\n       60000  100.0  100.0\n")
  for i, want in ipairs { { 2, 38 }, { 0, 14 } } do
    local one, rows = got.warps[i], ("sm[%d].warp_curves.%%s_%d"):format(want[1], want[2])
    harness.equal(one.sm, want[1])
    harness.equal(one.warp, want[2])
    harness.equal(#one.windows, #got.windows, "windows")
    local requests, hits = sum_of(one)
    assert(requests >= 40, "few samples")
    harness.equal(requests, r[rows:format "requests"], "requests")
    harness.equal(hits, r[rows:format "hits"], "hits")
    for k, window in ipairs(one.windows) do
      assert(window[1] % 20 == 0 and window[2] <= window[1], ("warp %d, window %d: %d of %d"):format(i, k, window[2], window[1]))
    end
  end
  harness.contains(harness.read(chart), ">2:38</text>", ">0:14</text>", "L2 hit ratio of warps of bfs, small")
end)

harness.test("warps are chosen evenly among those that were sampled", function()
  local _, all = warp_hits("--warps", "1000", "gtx480", "bfs")
  local sampled, requests = #all.warps, 0
  for _, one in ipairs(all.warps) do
    local own = sum_of(one)
    assert(own > 0, ("sm %d warp %d has no sample"):format(one.sm, one.warp))
    requests = requests + own
  end
  harness.equal(requests, 20 * all.all[#all.all], "requests of all samples")
  local _, three = warp_hits("--warps", "3", "gtx480", "bfs")
  for i, place in ipairs { sampled // 6, sampled // 2, 5 * sampled // 6 } do
    local got, want = three.warps[i], all.warps[place + 1]
    harness.equal(("%d:%d"):format(got.sm, got.warp), ("%d:%d"):format(want.sm, want.warp), "choice " .. i)
  end
  harness.equal(#three.warps, 3)
end)

harness.test("bad arguments are named", function()
  for _, case in ipairs {
    { { "gtx480", "bfs", "--warps", "0" }, "--warps: expected a whole number from 1 on or a list of SM:WARP, got '0'" },
    { { "gtx480", "bfs", "--warps", "0:3,5" }, "--warps: expected a whole number from 1 on or a list of SM:WARP, got '0:3,5'" },
    { { "gtx480", "bfs", "--warps", "15:0" }, "--warps: expected SMs 0 to 14 and warps 0 to 47, got others" },
    { { "gtx480", "bfs", "--svg", "chart.svg" }, "--svg: expected --warps with it, got none" },
    { { "gtx480" }, "expected CONFIG and WORKLOAD, got 1 argument" },
    { { "--limit", "2", "gtx480", "bfs" }, "unknown option '--limit'" },
    { { "gtx480", "bfs", "--window", "0" }, "--window: expected a whole number from 1 on, got '0'" },
    { { "gtx480", "bfs", "--size" }, "--size: expected a value, got nothing" },
  } do
    local status, output = harness.run("scripts/warp_hits.lua", table.unpack(case[1]))
    harness.equal(status, 2, output)
    harness.contains(output, case[2], "scripts/warp_hits --help")
  end
  harness.refused("set: expected PATH=VALUE, got 'sms'", "scripts/warp_hits.lua", "--set", "sms", "gtx480", "bfs")
end)

harness.finish()
