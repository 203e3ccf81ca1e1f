-- Limit studies: caches that replace nothing, and more of every memory resource.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local ww = require "warpwright"

local few = "l1_lines=8192,l2_lines=8192" -- checkpoints of the small workloads stay small
local unbounded = "gto+unbounded:" .. few

local function sum(r, name) return checks.sum(r, name) end

-- 16 warps read 32 lines each, 100 times: of each line, one miss in L1 and one in L2.
harness.test("only the first access to a line misses", function()
  local r = checks.run { workload = checks.thrashing, policy = unbounded, set = { sms = 1 } }
  harness.equal(sum(r, "sm.l1d.read_misses"), 16 * 32, "L1 misses")
  harness.equal(sum(r, "sm.l1d.read_hits") + sum(r, "sm.l1d.read_merges"), 16 * 32 * 99, "L1 hits and merges")
  harness.equal(sum(r, "sm.l1d.evictions") + sum(r, "l2.evictions"), 0, "evictions")
  local once = checks.run { workload = checks.thrashing, policy = unbounded, set = { sms = 1 }, size = "small,rounds=1" }
  harness.equal(sum(r, "l2.misses"), sum(once, "l2.misses"), "L2 misses, as if each line was read once")
end)

harness.test("either level alone", function()
  local function run(parameters)
    return checks.run { workload = checks.thrashing, policy = "gto+unbounded:" .. few .. parameters, set = { sms = 1 } }
  end
  local l1, l2 = run ",l2=false", run ",l1=false"
  harness.equal(sum(l1, "sm.l1d.evictions"), 0, "evictions of an unbounded L1")
  assert(sum(l2, "sm.l1d.evictions") > 1000, "a bounded L1 replaces lines")
  harness.equal(sum(l2, "l2.evictions"), 0, "evictions of an unbounded L2")
end)

harness.test("other resources stay limited", function()
  local r = checks.run { workload = "kmeans", policy = unbounded }
  assert(sum(r, "sm.l1d.mshr_entry_fails") > 0, "MSHRs never ran out")
  harness.equal(sum(r, "sm.l1d.line_fails"), 0, "lines ran out")
end)

harness.test("too few lines end the run with the parameter's name", function()
  local status, output = harness.run("run", "gtx480", "kmeans", "--size", "small", "--policy", "gto+unbounded:l1_lines=65",
    "--out", harness.folder() .. "/few")
  harness.equal(status, 2, "exit status")
  harness.contains(output, "sm[0].l1d: expected a kernel that touches up to 65 lines", "l1_lines")
end)

harness.test("a fully associative cache of the same size replaces the least recently used line", function()
  local r = checks.run { workload = checks.thrashing, policy = "gto+perfect:entries=0,memory=1", set = { sms = 1 } }
  assert(sum(r, "sm.l1d.read_misses") > 0.99 * 16 * 32 * 100, "a loop over more lines than there are hits")
  harness.equal(sum(r, "sm.l1d.line_fails"), 0, "line fails")
end)

harness.test("with 10240 entries no MSHR and no miss queue is full", function()
  local r = checks.run { workload = checks.thrashing, policy = "gto+perfect:associative=false,memory=1", set = { sms = 1 } }
  for _, cache in ipairs { "sm.l1d", "l2" } do
    harness.equal(sum(r, cache .. ".mshr_entry_fails"), 0, cache .. ": MSHR fails")
    harness.equal(sum(r, cache .. ".miss_queue_fails"), 0, cache .. ": miss queue fails")
  end
  assert(sum(checks.run { workload = checks.thrashing, policy = "gto", set = { sms = 1 } }, "sm.l1d.mshr_entry_fails") > 100)
end)

harness.test("what a policy sets on clocks and wires is in the resolved config, and --set comes last", function()
  local sim = ww.build("gtx480", { policy = "perfect:entries=2000", set = { sms = 1 } })
  harness.contains(sim:config(), "dram = 1108800000", "mshrs = 2000",
    'm:wire("sm[0].l1d.mem", "sm[0].mux.up[0]", { latency = 1, depth = 2000')
  sim:close()
  sim = ww.build("gtx480", { policy = "perfect", set = { ["clock.dram"] = "1GHz", sms = 1 } })
  harness.contains(sim:config(), 'dram = "1000MHz"')
  sim:close()
end)

harness.test("responses keep the latency of a wire that says nothing of them", function()
  local slow = ww.variant("slow", "gallery/private_l1", function(m)
    m:base()
    m:TrafficSource "source" { limit = 1 }
    m:TrafficSink "sink" {}
    m:wire("source.mem", "sink.cpu", { latency = 24 })
  end)
  local sim = ww.build(slow, { policy = "perfect:entries=2000" })
  harness.contains(sim:config(), 'm:wire("source.mem", "sink.cpu", { latency = 24, depth = 2000, width = 1, back = { latency = 24, depth = 2000')
  sim:close()
end)

checks.equals("perfect:entries=0,associative=false,memory=1", "gto", "bfs")
checks.equals("unbounded:l1=false,l2=false", "gto", "bfs")
checks.law(unbounded, "bfs")
checks.resumes(unbounded, "kmeans", 3)

harness.test("a state goes from a bounded machine to a fully associative one", function()
  local sim = ww.build("gtx480", { policy = "gto" })
  sim:start("kmeans", "small")
  harness.equal(sim:run { until_cycle = 20000 }, false, "ended")
  sim:change { policy = "gto+perfect:entries=0,memory=1" }
  local ended, verified = sim:run {}
  assert(ended and verified > 0)
  sim:close()
end)

harness.finish()
