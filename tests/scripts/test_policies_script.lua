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

harness.finish()
