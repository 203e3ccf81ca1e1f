-- DWT-PRIC: its three policies with the parameters of Table 4, and what they do to each other.
local ww = require "warpwright"
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"

--- Rows of stats as text.
local function stats(policy, workload) return checks.text_of(checks.run { workload = workload, policy = policy }) end

harness.test("it is its three parts with its parameters", function()
  for _, case in ipairs {
    { "dwt_pric", "stream_bypass+dwt_cs:caches_on=true+pric" },
    { "dwt_pric:period=2000,threshold=0.7,mpki=20,consecutive=2,samples=1,polynomial=41",
      "stream_bypass:period=2000,threshold=0.7+dwt_cs:period=2000,mpki=20,consecutive=2,samples=1,caches_on=true"
        .. "+pric:polynomial=41" },
  } do
    harness.equal(stats(case[1], "kmeans") == stats(case[2], "kmeans"), true, "the same stats: " .. case[1])
  end
end)

harness.test("each part can be left out", function()
  for _, case in ipairs {
    { "dwt_pric:bypassing=false,interleaving=false,period=2000", "dwt_cs:period=2000" },
    { "dwt_pric:bypassing=false,throttling=false", "pric" },
    { "dwt_pric:throttling=false,interleaving=false,period=2000", "stream_bypass:period=2000" },
  } do
    harness.equal(stats(case[1], "spmv") == stats(case[2], "spmv"), true, "the same stats: " .. case[1])
  end
end)

harness.test("Table 4", function()
  for _, row in ipairs {
    { "stream_bypass", "period", 10000 }, { "stream_bypass", "threshold", 0.9 }, { "dwt_cs", "period", 10000 },
    { "dwt_cs", "mpki", 10.0 },
  } do
    harness.equal(require("policies." .. row[1]).params[row[2]][1], row[3], row[1] .. "." .. row[2])
  end
  harness.equal(require("policies.pric").least_irreducible(5), 37, "I-Poly of the 32 sets of Table 1")
end)

-- Four CTAs on one SM walk along rows again and again, more than the L1 has room for: every access misses, so the L1 is
-- switched off before N periods are over. Its tags go on missing, which starts the sampling all the same; with fewer warps
-- they hit, and the L1 comes back.
local sampling = harness.write("sampling.lua", [[
local policy = require "warpwright.policy"
local sampling = policy "sampling" { scope = "machine", period = "period", params = { period = { 2000 } },
  counters = { on = "", off = "" } }
--- L1s that are on, and off, while the first SM is sampled with one warp and the second with two.
function sampling:on_period()
  if self.sms[1].warp_limit ~= 1 or self.sms[2].warp_limit ~= 2 then return end
  for _, l1 in ipairs(self.l1s) do self:count(l1.enabled and "on" or "off") end
end
return sampling
]])

for _, caches_on in ipairs { "true", "false" } do
  harness.test("thrashing is detected by the tags of a cache that is off, caches_on=" .. caches_on, function()
    local thrashing = ww.workload "thrashing" { ptx = "../kernels/thrashing_kernel.ptx", sizes = { small = {} } }
    function thrashing:run(gpu)
      gpu:launch(self.kernels.thrash, { grid = 8, block = 128, args = { gpu:alloc(1024 * 128), gpu:alloc(4096), 400 } })
    end
    local r = checks.run {
      workload = thrashing, set = { sms = 2 }, policy = ("dwt_pric:period=2000,caches_on=%s+%s"):format(caches_on, sampling),
    }
    local function own(name) return r["dispatcher." .. name] end
    assert(own "stream_bypass.l1_off" >= 2, "no L1 was switched off")
    harness.equal(own "dwt_cs.throttled", 1, "kernels throttled")
    assert(own "stream_bypass.l1_on" >= 2 or caches_on == "true", "no L1 came back")
    local on, off = own "sampling.on", own "sampling.off"
    assert(on + off >= 6, "three periods of sampling with two SMs")
    assert((off == 0) == (caches_on == "true"), ("%d on, %d off while warp counts are sampled"):format(on, off))
  end)
end

harness.test("k-means is throttled, vector addition bypasses", function()
  local r = checks.run { workload = "kmeans", policy = "dwt_pric:period=2000" }
  harness.equal(r["dispatcher.dwt_cs.throttled"], 2, "kernels throttled")
  harness.equal(r["dispatcher.stream_bypass.l1_off"], 0, "L1s switched off")
  r = checks.run { workload = "vecadd", policy = "dwt_pric:period=2000" }
  harness.equal(r["dispatcher.dwt_cs.detections"], 0, "detections")
  harness.equal(r["dispatcher.stream_bypass.l1_off"], 15, "L1s switched off")
end)

checks.equals("dwt_pric:threshold=1,mpki=1e9,polynomial=32", "gto", "kmeans")
checks.law("dwt_pric:period=2000", "kmeans")
checks.resumes("dwt_pric:period=2000", "kmeans", 3)
checks.resumes("dwt_pric:period=1000", "spmv", 3)
checks.takes_over("dwt_pric:period=2000", "gto", "kmeans", 20000)
checks.takes_over("gto", "dwt_pric:period=2000", "kmeans", 20000)

harness.finish()
