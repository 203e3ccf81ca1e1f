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

-- Since ---------------------------------------------------------------------------------------------------------------

local counting = harness.write("counting.lua", [[
local policy = require "warpwright.policy"
local p = policy "counting" { period = 100, counters = { periods = "Periods" } }
function p:on_period() self:count "periods" end
return p]])

local function warm_machine(policy)
  local sim = ww.build("gtx480", { policy = policy, set = { sms = 2, partitions = 2 } })
  sim:start("bfs", "small")
  assert(not sim:run { until_cycle = 20000 })
  return sim, sim:result()
end

--- `since` has the differences of all counters of the objects, and the ratios that follow from them.
local function check_difference(since, now, before)
  local counters, ratios = 0, 0
  for name, value in since:stats() do
    if math.type(value) == "integer" and name:find "^[^rl][^.]*%[" then
      counters = counters + 1
      harness.equal(value, now[name] - before[name], name)
    elseif name:find "miss_rate$" and not name:find "read_" then
      ratios = ratios + 1
      local at = name:gsub("miss_rate$", "")
      local lookups = since[at .. "hits"] + since[at .. "misses"] + since[at .. "merges"]
      harness.equal(value, lookups > 0 and since[at .. "misses"] / lookups or 0.0, name)
    end
  end
  assert(counters > 500 and ratios >= 8, ("%d counters, %d ratios"):format(counters, ratios))
end

harness.test("what came since an earlier result is the difference of counters, and the ratios of the difference", function()
  local sim, before = warm_machine(counting)
  sim:run {}
  local now = sim:result()
  local since = now:since(before)
  check_difference(since, now, before)
  harness.equal(since.cycles, now.cycles - 20000, "cycles")
  harness.equal(since["run.cycles"], since.cycles, "the row of cycles")
  harness.equal(since.ipc, (now.thread_instructions - before.thread_instructions) / since.cycles, "ipc")
  harness.equal(since["run.ipc"], since.ipc, "the row of ipc")
  harness.equal(#since.launches, #now.launches - #before.launches, "launches")
  assert(#before.launches > 0 and since["launch[0].start_cycle"] == now.launches[#before.launches + 1].start_cycle)
  harness.equal(since["sm[0].counting.periods"], now["sm[0].counting.periods"] - before["sm[0].counting.periods"], "the policy's")
  assert(before["sm[0].counting.periods"] == 200, before["sm[0].counting.periods"])
  harness.equal(since.memory_peak, now.memory_peak, "peak")
  harness.equal(now:since(now)["sm[*].l1d.*s"], 0, "since itself")
  harness.equal(since:since(now:since(now)).cycles, since.cycles, "since nothing")
end)

harness.test("of a variant it is what it made of the rest, and a policy that began there is whole", function()
  local sim, before = warm_machine(counting)
  local same, anew = table.unpack(sim:fork { { name = "same" }, { name = "anew", policy = counting }, out = false })
  for _, r in ipairs { same, anew } do
    harness.equal(r:since(before).cycles, r.cycles - 20000, "cycles")
    harness.equal(r:since(before)["sm[0].l1d.misses"], r["sm[0].l1d.misses"] - before["sm[0].l1d.misses"], "misses")
  end
  harness.equal(same:since(before)["sm[0].counting.periods"], same["sm[0].counting.periods"] - 200, "the policy that went on")
  harness.equal(anew:since(before)["sm[0].counting.periods"], anew["sm[0].counting.periods"], "the policy that began")
  harness.equal(anew["sm[0].counting.periods"], same["sm[0].counting.periods"] - 200, "its periods")
end)

harness.test("since a result that is none of this run before is refused", function()
  local sim, before = warm_machine(nil)
  sim:run {}
  local function refused(r, earlier, why)
    local good, message = pcall(r.since, r, earlier)
    assert(not good)
    harness.contains(tostring(message), why)
  end
  refused(before, sim:result(), "since(earlier): the one of gtx480 at cycle")
  refused(before, 20000, "since(earlier): a result is wanted")
end)

harness.finish()
