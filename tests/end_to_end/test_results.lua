-- What r["pattern"] of a result gives: sums of counters, ratios of all parts to all wholes; also of variants.
local ww = require "warpwright"
local harness = require "harness"

-- The two SMs get other numbers of accesses, and other shares of them miss.
local function run() return ww.run { config = "gtx480", workload = "bfs", size = "small", set = { sms = 2, partitions = 2 } } end

local function rate(r, sm)
  local l1d = sm .. ".l1d."
  return r[l1d .. "misses"] / (r[l1d .. "hits"] + r[l1d .. "misses"] + r[l1d .. "merges"])
end

harness.test("a pattern of counters gives their sum, of rates that of all accesses", function()
  local r = run()
  harness.equal(r["sm[*].l1d.misses"], r["sm[0].l1d.misses"] + r["sm[1].l1d.misses"], "misses")
  harness.equal(r["sm[0].l1d.miss_rate"], rate(r, "sm[0]"), "one rate")
  local whole, mean = rate(r, "sm[*]"), (rate(r, "sm[0]") + rate(r, "sm[1]")) / 2
  assert(math.abs(whole - mean) > 1e-6, "the SMs are too much alike to tell")
  assert(math.abs(r["sm[*].l1d.miss_rate"] - whole) < 1e-12, ("%.9f, not %.9f"):format(r["sm[*].l1d.miss_rate"], whole))
  local instructions, cycles = r.thread_instructions, r["sm[*].slots_*"] / 2 -- of two schedulers each
  assert(math.abs(r["sm[*].ipc"] - instructions / cycles) < 1e-9, ("%.9f, %.9f"):format(r["sm[*].ipc"], instructions / cycles))
end)

harness.test("of objects that have seen nothing a rate is 0", function()
  harness.equal(run()["sm[*].texture_cache.miss_rate"], 0.0)
end)

harness.test("counters and rates under one pattern are refused", function()
  local good, message = pcall(function() return run()["sm[0].l1d.*"] end)
  assert(not good)
  harness.contains(tostring(message), "'sm[0].l1d.*' matches counters and ratios")
end)

harness.test("a variant's rates are those of a run", function()
  local sim = ww.build("gtx480", { set = { sms = 2, partitions = 2 } })
  sim:start("bfs", "small")
  assert(not sim:run { until_cycle = 5000 })
  local variants = sim:fork { { name = "same" } }
  local r = variants[1] or variants.same
  harness.equal(r["sm[*].l1d.miss_rate"], run()["sm[*].l1d.miss_rate"], "miss rate")
  sim:close()
end)

harness.finish()
