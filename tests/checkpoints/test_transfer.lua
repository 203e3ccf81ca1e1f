-- A machine that was warmed up under gto goes on with other sizes of what holds requests in flight: MSHRs, queues and
-- pipelines of caches, and room for responses at memory controllers.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local cycles = { 4800, 19200 } -- of spmv: caches and memory are busy in both

local larger = {
  ["sm[*].l1d.mshrs"] = 90, ["sm[*].l1d.merges"] = 33, ["sm[*].l1d.miss_queue"] = 90, ["sm[*].l1d.bypassed_limit"] = 3000,
  ["sm[*].l1d.latency"] = 77, ["l2[*].mshrs"] = 200, ["l2[*].merges"] = 20, ["l2[*].miss_queue"] = 77,
  ["l2[*].bypassed_limit"] = 555, ["l2[*].rop_delay"] = 300, ["l2[*].bypass_delay"] = 222, ["mc[*].return_entries"] = 500,
}
local own = {
  ["sm[*].l1d.mshrs"] = 32, ["sm[*].l1d.merges"] = 8, ["sm[*].l1d.miss_queue"] = 8, ["sm[*].l1d.bypassed_limit"] = 1024,
  ["sm[*].l1d.latency"] = 32, ["l2[*].mshrs"] = 32, ["l2[*].merges"] = 8, ["l2[*].miss_queue"] = 8,
  ["l2[*].bypassed_limit"] = 256, ["l2[*].rop_delay"] = 120, ["l2[*].bypass_delay"] = 120, ["mc[*].return_entries"] = 116,
}
local smaller = {
  ["sm[*].l1d.mshrs"] = 12, ["sm[*].l1d.merges"] = 2, ["sm[*].l1d.miss_queue"] = 3, ["sm[*].l1d.bypassed_limit"] = 5,
  ["sm[*].l1d.latency"] = 6, ["l2[*].mshrs"] = 8, ["l2[*].merges"] = 2, ["l2[*].miss_queue"] = 3,
  ["l2[*].bypassed_limit"] = 5, ["l2[*].rop_delay"] = 20, ["l2[*].bypass_delay"] = 20, ["mc[*].return_entries"] = 4,
}

local warm = harness.folder() .. "/warm"
local status, output = harness.run("run", "gtx480", "spmv", "--size", "small", "--policy", "gto", "--out", warm,
  "--checkpoint-every", cycles[1])
harness.equal(status, 0, output)
local straight = harness.read(warm .. "/stats.txt")

--- The stats of a run from the checkpoint of this cycle, what it said, and its folder.
local runs = 0
local function resumed(checkpoint, ...)
  runs = runs + 1
  local out = ("%s/run_%d"):format(harness.folder(), runs)
  local ok, told = harness.run("run", "--resume", checkpoint, "--out", out, ...)
  harness.equal(ok, 0, told)
  harness.contains(told, "verified")
  return harness.read(out .. "/stats.txt"), told, out
end

local function sets(values)
  local arguments = { "--allow-changes" }
  for name, value in pairs(values) do table.move({ "--set", ("%s=%s"):format(name, value) }, 1, 2, #arguments + 1, arguments) end
  return table.unpack(arguments)
end

local function saved(cycle) return ("%s/%d.ckpt"):format(warm, cycle // cycles[1] * cycles[1]) end

for i, values in ipairs { larger, smaller } do
  harness.test((i == 1 and "larger" or "smaller") .. " sizes get what is in flight", function()
    local cycle = cycles[i]
    local want, told, out = resumed(saved(cycle), "--checkpoint-at", 24000, sets(values))
    harness.contains(told, "sm[*].l1d.mshrs: 32 became", "l2[*].rop_delay: 120 became", "mc[*].return_entries: 116 became")
    assert(want ~= straight, "the sizes made no difference")
    harness.same_text(resumed(saved(cycle), sets(values)), want, "the same again")
    harness.same_text(resumed(saved(cycle), "--order", "reversed", "--threads", 2, sets(values)), want, "another order")
    harness.same_text(resumed(out .. "/24000.ckpt"), want, "resumed from a later checkpoint")
  end)
end

harness.test("each size alone may be larger or smaller", function()
  local sim, variants = ww.build("gtx480", { policy = "gto" }), { jobs = 2, out = false }
  sim:start("kmeans", "small")
  assert(not sim:run { until_cycle = 60000 })
  for name, value in pairs(larger) do
    for _, size in ipairs { value, smaller[name] } do
      variants[#variants + 1] = { name = ("%s=%d"):format(name, size), set = { [name] = size } }
    end
  end
  for i, r in ipairs(sim:fork(variants)) do assert(r.checks > 0, variants[i].name .. " was not verified") end
  sim:close()
end)

harness.test("sizes that were there for a moment leave nothing behind", function()
  local sim = ww.build("gtx480", { policy = "gto" })
  sim:start("spmv", "small")
  assert(not sim:run { until_cycle = cycles[1] })
  sim:change { set = larger }
  local fewer = {} -- but for responses: a DRAM command without a place for its response is planned again
  for name, size in pairs(smaller) do fewer[name] = name:find "^mc" and own[name] or size end
  sim:change { set = fewer }
  sim:change { set = own }
  sim:run {}
  local want, compared = {}, 0
  for name, value in straight:gmatch "(%S+) +(%S+)[^\n]*\n" do want[name] = value end
  for name, value in sim:result():stats() do
    if math.type(value) == "integer" and want[name] then
      harness.equal(("%d"):format(value), want[name], name)
      compared = compared + 1
    end
  end
  assert(compared > 1000, "few counters were compared")
  sim:close()
end)

harness.test("perfect and unbounded go on from a warm machine", function()
  local sim = ww.build("gtx480", { policy = "gto" })
  sim:start("kmeans", "small")
  assert(not sim:run { until_cycle = 40000 })
  assert(sim:result()["sm[*].l1d.evictions"] > 0, "the warm machine has replaced no line")
  local before = sim:result()["sm[*].l1d.mshr_entry_fails"]
  local results = sim:fork { { policy = "perfect:memory=1" }, { policy = "unbounded:l1_lines=8192,l2_lines=8192" },
    jobs = 2, out = false }
  sim:close()
  assert(before > 0, "MSHRs never ran out under gto")
  harness.equal(results[1]["sm[*].l1d.mshr_entry_fails"], before, "times that MSHRs ran out")
  assert(results[2].cycles < results[1].cycles, "lines that stay made no difference")
end)

harness.test("unbounded still ends a run whose caches become full", function()
  local sim = ww.build("gtx480", { policy = "gto" })
  sim:start("kmeans", "small")
  assert(not sim:run { until_cycle = 40000 })
  local ok, problem = pcall(sim.fork, sim, { { policy = "unbounded:l1_lines=128,l2_lines=8192" }, out = false })
  sim:close()
  assert(not ok, "it was accepted")
  harness.contains(tostring(problem), "sm[0].l1d: expected a kernel that touches up to 128 lines", "l1_lines")
end)

harness.test("equalizer follows in a run that had its range of clocks from the start", function()
  local ranges = {}
  for clock, megahertz in pairs { core = 700, icnt = 1400, dram = 924 } do
    ranges["clock." .. clock] = ("%dMHz, %dMHz to %.1fMHz"):format(megahertz, megahertz, 1.15 * megahertz)
  end
  local sim = ww.build("gtx480", { policy = "gto", set = ranges })
  sim:start("spmv", "small")
  assert(not sim:run { until_cycle = cycles[1] })
  sim:change { policy = "equalizer" }
  assert(sim:run {})
  sim:close()
end)

harness.test("what cannot be transferred is refused, and the legal values are listed", function()
  for _, case in ipairs {
    { { policy = "perfect" }, "clock.dram: expected 924000000 Hz as in the checkpoint, got 1108800000 Hz" },
    { { policy = "equalizer" }, "clock.core: expected 700000000 Hz to 700000000 Hz as in the checkpoint, got 700000000 Hz to 805000000 Hz",
      'a warm-up with --set "clock.core=700000000Hz, 700000000Hz to 805000000Hz" from its start' },
    { { set = { ["sm[*].l1d.size"] = "256B", ["sm[*].l1d.ways"] = 2 } },
      "l1d.ways: ", " lines of set 0 that are dirty or in flight, got 2 ways; larger sets or" },
  } do
    local sim = ww.build("gtx480", { policy = "gto" })
    sim:start("spmv", "small")
    assert(not sim:run { until_cycle = cycles[1] })
    local ok, problem = pcall(sim.change, sim, case[1])
    sim:close()
    assert(not ok, "it was accepted")
    harness.contains(tostring(problem), table.unpack(case, 2))
  end
end)

harness.finish()
