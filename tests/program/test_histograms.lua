-- --histograms: what they count adds up to the statistics, lands in the right bucket, and changes nothing.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local ww = require "warpwright"

local home <const> = harness.folder()

local function run(options)
  local all = { config = "gtx480", workload = "spmv", size = "small", set = { sms = 3 }, out = false, histograms = "all" }
  for key, value in pairs(options) do all[key] = value end
  return ww.run(all)
end

--- By name; what has counted nothing has an empty one.
local function by_name(r)
  local found = setmetatable({}, { __index = function() return { count = 0, sum = 0, buckets = {} } end })
  for _, one in ipairs(r.histograms) do found[one.name] = one end
  return found
end

local levels <const> = { "l1", "l2", "dram" }

--- A field of a kind of load, over all levels.
local function of_loads(found, kind, field)
  local sum = 0
  for _, level in ipairs(levels) do sum = sum + found[("sm[*].lsu.%s_latency_%s"):format(kind, level)][field] end
  return sum
end

harness.test("loads, latencies, cycles and requests in queues add up to the statistics, under any policy", function()
  for _, workload in ipairs { "spmv", "sgemm", "bfs" } do
    for _, policy in ipairs { "gto", "mascar", "mrpb", "medic" } do
      local r = run { workload = workload, policy = policy }
      local found, what = by_name(r), ("%s %s "):format(workload, policy)
      local loads = of_loads(found, "load", "count")
      local all = loads + of_loads(found, "constant", "count") + of_loads(found, "texture", "count")
      harness.equal(loads, r["sm[*].lsu.global_loads"] + r["sm[*].lsu.local_loads"], what .. "loads")
      harness.equal(of_loads(found, "constant", "count"), r["sm[*].lsu.constant_loads"], what .. "constants")
      harness.equal(all, r["sm[*].lsu.loads_answered"], what .. "answered")
      local sum = of_loads(found, "load", "sum") + of_loads(found, "constant", "sum") + of_loads(found, "texture", "sum")
      assert(math.abs(sum - r["sm[*].lsu.average_load_latency"] * all) < 0.01, what .. "latencies")
      harness.equal(found["mc[*].queue"].sum, r["mc[*].queue_entry_cycles"], what .. "requests in front of DRAM")
      harness.equal(found["mc[*].queue"].count, r["mc[*].cycles"], what .. "cycles of controllers")
      for _, name in ipairs { "active_warps", "lsu.queue", "lsu.outstanding", "l1d.queue", "l1d.miss_queue", "l1d.mshrs_in_use" } do
        harness.equal(found["sm[*]." .. name].count, 3 * r.cycles, what .. name)
      end
      assert(found["sm[*].l1d.mshrs_in_use"].max <= 32 and found["sm[*].active_warps"].max <= 48, what)
      for _, one in ipairs(r.histograms) do
        local count = 0
        for i, bucket in ipairs(one.buckets) do
          assert(bucket.last >= bucket.from and (i == 1 or bucket.from > one.buckets[i - 1].last), one.name)
          count = count + bucket.count
        end
        harness.equal(one.count, count, one.name)
        assert(one.p50 <= one.p90 and one.p90 <= one.p99 and one.p99 <= one.max, one.name)
      end
    end
  end
end)

harness.test("latencies of SMs with other clocks are in cycles of the clock core, too", function()
  local config = harness.write("clocks.lua", [[
    local ww = require "warpwright"
    return ww.machine("clocks", function(m)
      m:clocks { core = "700MHz", slow = "350MHz" }
      m:quantum(4)
      m:Dispatcher "dispatcher" { sms = 2 }
      m:AddressMap "map" { channels = 1 }
      for i = 0, 1 do
        local sm = m:SM ("sm", i) { clock = i == 1 and "slow" or nil }
        m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
        m:wire(("dispatcher.sm[%d]"):format(i), sm.dispatch, { latency = 4 })
        m:wire(sm.lsu.mem, ("sm[%d].l1d.cpu"):format(i))
      end
      m:L2 "l2" { size = "64KiB", ways = 4, mshrs = 32 }
      m:MemoryController "mc" {}
      m:join("sm[*].l1d.mem", "l2.cpu", { latency = 4, depth = 16 })
      m:wire("l2.mem", "mc.cpu[0]")
    end)
  ]])
  local r = run { config = config, set = {}, histograms = "each:sm[*].lsu.*_latency_*" }
  local function average(sm) return r[("sm[%d].lsu.average_load_latency"):format(sm)] end
  local function ticks(sm) return r[("sm[%d].lsu.load_latency_ticks"):format(sm)] end
  local function loads(sm) return r[("sm[%d].lsu.loads_answered"):format(sm)] end
  local core_cycle = ticks(0) / (loads(0) * average(0)) -- SM 0 has that clock
  assert(math.abs(average(1) - ticks(1) / loads(1) / core_cycle) < 1e-6, "average of the SM with another clock")
  local sum = 0
  for _, one in ipairs(r.histograms) do
    if one.name:find("sm[1].", 1, true) then sum = sum + one.sum end
  end
  harness.equal(sum, ticks(1) // core_cycle, "sum of the latencies of that SM")
end)

local straight <const> = home .. "/straight"
run { out = straight }

harness.test("the statistics are those of a run without, and the file the same on two threads, in other orders, traced", function()
  local without = run { histograms = false, out = home .. "/without" }
  harness.equal(without.histograms, false)
  harness.same_text(harness.read(straight .. "/stats.txt"), harness.read(home .. "/without/stats.txt"))
  for name, options in pairs { threads = { threads = 2 }, order = { order = "shuffled:3" }, reversed = { order = "reversed" },
    restless = { order = "restless" }, trace = { trace = "*", from = 1000, to = 3000 } } do
    options.out = ("%s/%s"):format(home, name)
    run(options)
    harness.same_text(harness.read(options.out .. "/histograms.csv"), harness.read(straight .. "/histograms.csv"), name)
  end
end)

harness.test("a run that was stopped and goes on, with loads in flight, has the same file", function()
  for _, workload in ipairs { "spmv", "bfs" } do
    local whole = run { workload = workload, out = ("%s/whole-%s"):format(home, workload) }
    local text, folder = harness.read(whole.out .. "/histograms.csv"), ("%s/stopped-%s"):format(home, workload)
    run { workload = workload, out = folder, checkpoint_at = "1,3001,20000,50003" }
    local count = 0
    for _, name in ipairs(core.list_folder(folder)) do
      if name:find "%.ckpt$" then
        ww.run { resume = folder .. "/" .. name, out = home .. "/resumed" }
        harness.same_text(harness.read(home .. "/resumed/histograms.csv"), text, name)
        count = count + 1
      end
    end
    harness.equal(count, 4)
  end
end)

harness.test("of a run without they count from the checkpoint on", function()
  run { out = home .. "/plain", histograms = false, checkpoint_at = "20000" }
  local whole, path = by_name(run {}), home .. "/plain/20000.ckpt"
  local found = by_name(ww.run { resume = path, out = false, histograms = "all" })
  harness.equal(found["sm[*].active_warps"].count, whole["sm[*].active_warps"].count - 3 * 20000)
  local all, later = of_loads(whole, "load", "count"), of_loads(found, "load", "count")
  assert(later > 0 and later < all)
end)

-- A kernel whose latencies are known ------------------------------------------------------------------------------------

--- One warp for each CTA; each load waits for the one before it. Lines, of 128 B: 0 is loaded, and hits twice; it is found in the
-- L2 by a load that passes the L1 by, and 1 the other way round; half of the last load finds 0 in the L2, half of it needs 2.
local ptx <const> = harness.write("loads.ptx", [[
.version 7.0
.target sm_70
.address_size 64
.visible .entry loads(.param .u64 p) {
  .reg .u64 %rd<16>;
  .reg .u32 %r<16>;
  ld.param.u64 %rd0, [p];
  ld.global.u32 %r0, [%rd0];
  cvt.u64.u32 %rd1, %r0;
  add.u64 %rd2, %rd0, %rd1;
  ld.global.u32 %r1, [%rd2];
  cvt.u64.u32 %rd3, %r1;
  add.u64 %rd4, %rd2, %rd3;
  ld.global.u32 %r2, [%rd4];
  cvt.u64.u32 %rd5, %r2;
  add.u64 %rd6, %rd4, %rd5;
  ld.global.cg.u32 %r3, [%rd6];
  cvt.u64.u32 %rd7, %r3;
  add.u64 %rd8, %rd6, %rd7;
  ld.global.cg.u32 %r4, [%rd8+128];
  cvt.u64.u32 %rd9, %r4;
  add.u64 %rd10, %rd8, %rd9;
  ld.global.u32 %r5, [%rd10+128];
  mov.u32 %r6, %tid.x;
  shr.u32 %r7, %r6, 4;
  shl.b32 %r8, %r7, 8;
  add.u32 %r9, %r8, %r5;
  cvt.u64.u32 %rd11, %r9;
  add.u64 %rd12, %rd10, %rd11;
  ld.global.cg.u32 %r10, [%rd12];
  add.u32 %r11, %r10, 1;
  ret;
}
]])
harness.write("loads.lua", ([[
local ww = require "warpwright"
local w = ww.workload "loads" { ptx = %q, sizes = { small = { ctas = 1 } } }
function w:run(gpu, size)
  local buffer = gpu:alloc(512)
  gpu:fill(buffer, 0, 512)
  gpu:launch(gpu:load(w.ptx).loads, { grid = size.ctas, block = 32, args = { buffer } })
end
return w]]):format(ptx))

local function loads(set, ctas)
  return run { workload = home .. "/loads.lua", size = ("small,ctas=%d"):format(ctas or 1), set = { ("sms=%d"):format(ctas or 1), table.unpack(set or {}) } }
end

harness.test("a load goes to the level that its data came from, with its latency", function()
  local found = by_name(loads())
  local l1, l2, dram = found["sm[*].lsu.load_latency_l1"], found["sm[*].lsu.load_latency_l2"], found["sm[*].lsu.load_latency_dram"]
  harness.equal(l1.count, 2)
  harness.equal(l2.count, 2)
  harness.equal(dram.count, 3)
  harness.equal(l1.sum, 2 * (32 + 2), "the L1's latency and a cycle each way")
  assert(l1.max < l2.buckets[1].from and l2.max < dram.buckets[1].from)
  local l1_later = by_name(loads { "sm[*].l1d.latency=100" })
  local l2_later = by_name(loads { "l2[*].rop_delay=150" })
  harness.equal(l1_later["sm[*].lsu.load_latency_l1"].sum, 2 * (100 + 2))
  harness.equal(l2_later["sm[*].lsu.load_latency_l2"].sum - l2.sum, 2 * 30, "30 cycles more than the default's 120")
  assert(math.abs(l2_later["sm[*].lsu.load_latency_dram"].sum - dram.sum - 3 * 30) <= 6)
end)

harness.test("a load whose line another SM has asked the L2 for is not the L2's", function()
  local found = by_name(loads(nil, 2))
  harness.equal(found["sm[*].lsu.load_latency_l1"].count, 4)
  harness.equal(found["sm[*].lsu.load_latency_l2"].count, 4)
  harness.equal(found["sm[*].lsu.load_latency_dram"].count, 6)
end)

harness.test("of loads alone, the instructions that are outstanding in each cycle add up to their latencies", function()
  local r = loads()
  local found = by_name(r)
  local outstanding = found["sm[*].lsu.outstanding"]
  harness.equal(outstanding.sum, of_loads(found, "load", "sum") + of_loads(found, "constant", "sum"))
  harness.equal(outstanding.max, 1)
  harness.equal(found["sm[*].lsu.queue"].max, 1)
  harness.equal(found["mc[*].queue"].max, 1)
  local active = found["sm[*].active_warps"]
  harness.equal(#active.buckets, 2)
  harness.equal(active.buckets[2].from, 1)
  assert(active.buckets[2].count > outstanding.sum and active.buckets[2].count < r.cycles)
end)

harness.test("loads that pass the L1 by are told apart below it", function()
  local r = run { workload = "spmv", set = { sms = 2, ["sm[*].l1d.enabled"] = false } }
  local found = by_name(r)
  harness.equal(found["sm[*].lsu.load_latency_l1"].count, 0)
  assert(found["sm[*].lsu.load_latency_l2"].count > 0 and found["sm[*].lsu.load_latency_dram"].count > 0)
end)

-- Which of them ----------------------------------------------------------------------------------------------------------

harness.test("a * at the end of a path takes in all below, a histogram for each name", function()
  local function names_of(histograms)
    local list = {}
    for i, one in ipairs(run { histograms = histograms }.histograms) do list[i] = one.name end
    return table.concat(list, " ")
  end
  local of_all, wanted = run {}.histograms, {}
  for _, one in ipairs(of_all) do
    if one.name:find "^sm%[%*%]%.l1d%." then wanted[#wanted + 1] = one.name end
  end
  assert(#wanted >= 3, "too few histograms of the L1")
  harness.equal(names_of "sm[*].l1d*", table.concat(wanted, " "))
  harness.equal(names_of "sm[1].l1d*,sm[*].active_warps", table.concat(wanted, " "):gsub("sm%[%*%]", "sm[1]") .. " sm[*].active_warps")
  harness.equal(select(2, names_of("sm*"):gsub("%S+", "")), select(2, names_of("each:sm[1]*"):gsub("%S+", "")), "histograms of SMs")
  local folder = harness.folder() .. "/below"
  run { out = folder }
  local _, output = harness.run("histograms", folder, "mc*")
  harness.contains(output, "mc[*].queue\n")
  harness.refused("histograms: no histogram matches 'sm[*].l1e*'", "run", "gtx480", "spmv", "--histograms", "sm[*].l1e*")
end)

harness.test("a pattern is one histogram of all that match, each: one for each", function()
  local all = by_name(run {})
  local r = run { histograms = "sm[*].lsu.load_latency_*,each:sm[*].lsu.outstanding,sm[1].active_warps" }
  local names = {}
  for i, one in ipairs(r.histograms) do names[i] = one.name end
  harness.equal(table.concat(names, " "),
    "sm[*].lsu.load_latency_* sm[0].lsu.outstanding sm[1].lsu.outstanding sm[2].lsu.outstanding sm[1].active_warps")
  local some = by_name(r)
  harness.equal(some["sm[*].lsu.load_latency_*"].sum, of_loads(all, "load", "sum"))
  harness.equal(some["sm[*].lsu.load_latency_*"].count, of_loads(all, "load", "count"))
  local outstanding = 0
  for sm = 0, 2 do outstanding = outstanding + some[("sm[%d].lsu.outstanding"):format(sm)].sum end
  harness.equal(outstanding, all["sm[*].lsu.outstanding"].sum)
end)

local function histograms(...)
  local status, output = harness.run("histograms", ...)
  harness.equal(status, 0, output)
  return output
end

harness.test("warpwright histograms prints percentiles, and the buckets of one", function()
  local all = by_name(run {})
  local output = histograms(straight)
  for name, one in pairs(all) do
    local row = ("%d %d %d %d %d %s %s\n"):format(one.count, one.p50, one.p90, one.p99, one.max, one.unit, name)
    harness.contains(output:gsub(" +", " "), row)
  end
  local name = "sm[*].lsu.load_latency_l2"
  local buckets = histograms(straight, name)
  harness.contains(buckets, name .. "\n", ("%d"):format(all[name].buckets[1].from), "100.00%")
  harness.contains(histograms(straight, "mc[*].*"), "mc[*].queue\n")
end)

harness.test("a percentile is the least value that so many percent, rounded up, do not exceed", function()
  core.make_folder(home .. "/by_hand")
  harness.write("by_hand/histograms.csv",
    'name,unit,from,to,count\nthree,x,1,2,1\nthree,x,2,3,1\nthree,x,3,4,1\nhundred,x,0,1,90\nhundred,x,5,6,9\nhundred,x,96,101,1\n')
  local output = histograms(home .. "/by_hand"):gsub(" +", " ")
  harness.contains(output, "3 2 3 3 3 x three\n", "100 0 0 5 100 x hundred\n")
  harness.contains(histograms(home .. "/by_hand", "hundred"):gsub(" +", " "), "\n 5 5 9 99.00% ####\n", "\n 96 100 1 100.00% #\n")
end)

harness.test("what cannot be is refused", function()
  harness.refused("expected a run with --histograms, got no histograms.csv", "histograms", home .. "/without")
  harness.refused("histograms: expected the folder of a run, got nothing", "histograms")
  harness.refused("histograms: unknown option '--x'", "histograms", straight, "--x")
  harness.refused("histograms: no histogram matches 'x'", "histograms", straight, "x")
  local function refused(wanted, value)
    harness.refused(wanted, "run", "gtx480", "spmv", "--size", "small", "--out", home .. "/refused", "--histograms", value)
  end
  refused("no histogram matches 'sm[*].lsu.load_latency'; did you mean sm[*].lsu.load_latency_", "sm[*].lsu.load_latency")
  refused("expected histograms of one unit, got sm[0].lsu.load_latency_l1 (cycles) and sm[0].lsu.queue (instructions); each:sm[*].lsu.*",
    "sm[*].lsu.*")
  refused("histograms: expected all, or names and patterns of histograms, got ''", "")
  core.make_folder(home .. "/broken")
  local csv = harness.read(straight .. "/histograms.csv")
  for _, damaged in ipairs { csv:sub(1, -10), (csv:gsub(",", ";", 1)), (csv:gsub("\n", '\n"', 1)), (csv:gsub("%d+\n", "x\n", 1)) } do
    harness.write("broken/histograms.csv", damaged)
    harness.refused("expected what a run has written, got a damaged file", "histograms", home .. "/broken")
  end
end)

harness.finish()
