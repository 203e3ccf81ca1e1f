-- scripts/policies: its arithmetic, the counters that it sums, and that a run that fails stops no other.
local ww = require "warpwright"
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local json = require "warpwright.json"

local counting = harness.write("counting.lua", [[
local policy = require "warpwright.policy"
local counting = policy "counting" { order = "lrr", params = { by = { 1 } }, counters = { ctas = "CTAs", never = "Nothing" } }
function counting:on_cta_start() self:count("ctas", self.params.by) end
return counting]])

local failing = harness.write("failing.lua", [[
local policy = require "warpwright.policy"
local failing = policy "failing" {}
function failing:on_kernel_start(name) if name:match "vec" then error "no" end end
return failing]])

local function compare(...)
  local path = harness.folder() .. "/results.json"
  local status, output = harness.run("scripts/policies.lua", "--size", "small", "--json", path, ...)
  return status, output, json.decode(harness.read(path))
end

local function run_of(results, name, workload)
  for _, run in ipairs(results.runs) do
    if run.policy == name and run.workload == workload then return run end
  end
  error(("no run of %s under %s"):format(workload, name), 2)
end

local function close(got, want, what) assert(math.abs(got / want - 1) < 1e-6, ("%s: got %s, want %s"):format(what, got, want)) end

harness.test("two policies are compared with lrr and gto", function()
  local by_2 = counting .. ":by=2"
  local status, output, results = compare("--workloads", "vecadd,spmv", "--policies", by_2 .. ",swl:limit=4")
  harness.equal(status, 0, output)
  harness.equal(#results.runs, 8, "runs")
  local lrr = ww.run { config = "gtx480", workload = "spmv", size = "small", policy = "lrr", out = false }
  local gto = ww.run { config = "gtx480", workload = "spmv", size = "small", policy = "gto", out = false }
  harness.equal(run_of(results, "lrr", "spmv").cycles, lrr.cycles, "lrr's cycles")
  harness.equal(run_of(results, by_2, "spmv").cycles, lrr.cycles, "cycles of a policy that only counts")
  close(run_of(results, by_2, "spmv").speedup_over_gto, gto.cycles / lrr.cycles, "speed-up over gto")
  close(run_of(results, "gto", "spmv").speedup_over_lrr, lrr.cycles / gto.cycles, "speed-up over lrr")
  close(run_of(results, "gto", "spmv").relative_speed, 1, "gto's own speed")
  assert(run_of(results, "lrr", "spmv").relative_speed > 0 and run_of(results, "lrr", "spmv").verified)
  for _, mean in ipairs(results.geometric_means) do
    local product = 1
    for _, workload in ipairs { "vecadd", "spmv" } do product = product * run_of(results, mean.policy, workload).speedup_over_gto end
    close(mean.speedup_over_gto, product ^ 0.5, "geometric mean")
  end
  local triggers = run_of(results, by_2, "spmv").triggers
  harness.equal(#triggers, 2, "counters")
  harness.equal(triggers[1].name, "counting.ctas")
  harness.equal(triggers[1].value, 2 * lrr["sm[*].ctas_started"])
  harness.equal(triggers[2].value, 0, "a counter that stayed at zero")
  harness.contains(output, "Speed-up over lrr\n", "Speed-up over gto\n", "geo. mean", "counting.ctas",
    "Simulated cycles per second, relative to gto")
end)

harness.test("counters of policies and parts at caches are summed up", function()
  local of_l1 = "dip:cache=data"
  local _, output, results = compare("--workloads", "kmeans", "--policies", "victim_cache," .. of_l1)
  local function triggers(name)
    local by_name = {}
    for _, trigger in ipairs(run_of(results, name, "kmeans").triggers) do by_name[trigger.name] = trigger.value end
    return by_name
  end
  local r = ww.run { config = "gtx480", workload = "kmeans", size = "small", policy = "victim_cache", out = false }
  harness.equal(triggers "victim_cache"["victims.insertions"], r["sm[*].l1d.victims.insertions"], output)
  assert(triggers(of_l1)["dip.first_to_go"] > 0, output)
end)

harness.test("a policy that changes the core clock is compared by simulated time", function()
  local slow = harness.write("slow.lua", [[
local slow = require "warpwright.policy" "slow" { order = "gto", scope = "machine" }
function slow:configure(class, path)
  if class == "clock" and path == "core" then return { frequency = "700MHz, 350MHz to 700MHz" } end
end
function slow:start() self:set_clock("core", "350MHz") end
return slow]])
  local _, output, results = compare("--workloads", "vecadd", "--policies", slow)
  local run, gto = run_of(results, slow, "vecadd"), run_of(results, "gto", "vecadd")
  local r = ww.run { config = "gtx480", workload = "vecadd", size = "small", policy = slow, out = false }
  close(run.speedup_over_gto, gto.cycles / 700e6 / r["run.seconds"], output)
  assert(run.speedup_over_gto < 0.9 * gto.cycles / run.cycles, output)
end)

harness.test("a run that fails is shown and does not stop the others", function()
  local status, output, results = compare("--workloads", "vecadd,spmv", "--policies", failing, "--jobs", "2")
  harness.equal(status, 1, output)
  harness.contains(output, "Failed\nvecadd under " .. failing .. ": ", "policy failing of sm[0], in on_kernel_start", "no")
  harness.equal(run_of(results, failing, "vecadd").cycles, nil, "cycles of the run that failed")
  local gto, other = run_of(results, "gto", "spmv"), run_of(results, failing, "spmv")
  close(other.speedup_over_gto, gto.cycles / other.cycles, "speed-up")
  for _, mean in ipairs(results.geometric_means) do
    if mean.policy == failing then close(mean.speedup_over_gto, other.speedup_over_gto, "mean of the run that did not fail") end
  end
end)

harness.test("without --policies, all that are there run", function()
  local status, output = harness.run("scripts/policies.lua", "--size", "small,n=4096", "--workloads", "vecadd", "--set", "sms=2")
  assert(status == 0 or status == 1, output)
  for _, entry in ipairs(core.list_folder(core.home_path "policies")) do
    local name = entry:match "^(.*)%.lua$"
    local runs = output:find(("running vecadd, small,n=4096, on gtx480 under %s\n"):format(name), 1, true)
    if name then harness.equal(runs ~= nil, name ~= "trace_l1", "runs under " .. name) end
  end
  harness.equal(#core.list_folder "trace", 0, "traces that it leaves")
end)

harness.test("wrong options are refused", function()
  for _, case in ipairs { { "--polices", "gto" }, { "--size" }, { "--jobs", "0" }, { "--workloads", "vecad" } } do
    local status, output = harness.run("scripts/policies.lua", table.unpack(case))
    harness.equal(status, 2, output)
    harness.contains(output, "warpwright: error: ")
  end
end)

harness.test("wrong names are found before the first run, without a line of the script", function()
  harness.refused("error: policy: no policy matches 'gtoo'; did you mean gto?", "scripts/policies.lua", "--policies", "gtoo")
  harness.refused("error: policy swl: no parameter matches 'limt'", "scripts/policies.lua", "--policies", "swl:limt=3")
  harness.refused("error: size: no size of workload kmeans matches 'smal'", "scripts/policies.lua", "--size", "smal")
  harness.refused("error: config: no config matches 'gtx48'", "scripts/policies.lua", "--config", "gtx48")
  harness.refused("error: size: no size of workload dct8x8 matches 'smal'", "scripts/d2ma.lua", "--size", "smal")
  harness.refused("error: policy: no policy matches 'gtoo'", "scripts/warm_compare.lua", "--policies", "gtoo")
  harness.refused("error: workload: no workload matches 'vecad'", "scripts/stalls.lua", "gtx480", "vecad")
end)

harness.finish()
