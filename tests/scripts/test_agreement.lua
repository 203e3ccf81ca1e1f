-- scripts/agreement: the comparison's arithmetic, and that the quick reference jobs stay near GPGPU-Sim 4.2.
local harness = require "tests.lib.harness"
local gpgpusim = require "workloads.reference.gpgpusim"
local job = require "scripts.lib.job"
local json = require "warpwright.json"

local program = arg[-1]
local reference = "workloads/reference"
local figures = harness.folder() .. "/figures.json"

--- Runs the comparison; returns what it printed, its comparisons as read from there, and those of its JSON file.
local function agreement(...)
  local status, output = harness.run("scripts/agreement.lua", "--json", figures, ...)
  harness.equal(status, 0, output)
  local printed = {}
  for line in output:gmatch "[^\n]+" do
    local figure, ours, theirs, difference, percent, mark =
      line:match "^%S+  +%d+ %S.-  +([%w_]+) +([%d.]+) +([%d.]+) +([-+][%d.]+)( ?%%?) ?(%*?)$"
    if figure then
      printed[#printed + 1] = { figure = figure, ours = tonumber(ours), theirs = tonumber(theirs),
        difference = tonumber(difference), relative = percent == " %", outside = mark == "*" }
    end
  end
  return output, printed, json.decode(harness.read(figures))
end

local function run_job(config, name)
  local status, output = harness.run("scripts/run_job.lua", "--root", reference, "--regs", reference .. "/regs.txt",
    "--json", figures, config, ("%s/jobs/%s.job"):format(reference, name))
  harness.equal(status, 0, output)
  return json.decode(harness.read(figures))[1]
end

local function last_line(output) return output:match "([^\n]*)\n$" end

harness.test("chase_l1 and own_bank are within tolerance of GPGPU-Sim 4.2", function()
  local output, printed = agreement("--only", "chase_l1,own_bank")
  harness.equal(last_line(output), "8 compared, 0 outside", output)
  harness.equal(#printed, 8, "comparisons printed")
  harness.equal(printed[8].figure, "load_latency", "figure of chase_l1")
end)

harness.test("launches are compared one by one with what run_job measures, and distant ones marked", function()
  local output, printed, list = agreement("--config", "gtx480", "--only", "own_bank")
  local launches, outside = run_job("gtx480", "own_bank").launches, 0
  harness.equal(#launches, 7, "launches")
  harness.equal(#printed, #launches, "comparisons printed")
  harness.equal(#list, #launches, "comparisons in JSON")
  for i, launch in ipairs(launches) do
    local theirs, row, what = gpgpusim.launch_cycles.own_bank[i], printed[i], "launch " .. i
    local difference = launch.cycles / theirs - 1
    harness.equal(row.ours, launch.cycles, what)
    harness.equal(row.theirs, theirs, what)
    harness.equal(row.relative, true, what)
    assert(math.abs(row.difference - 100 * difference) < 0.0501, what)
    harness.equal(row.outside, math.abs(difference) > 0.15, what)
    harness.equal(list[i].outside, row.outside, what)
    assert(math.abs(list[i].difference - difference) < 1e-8, what)
    if row.outside then outside = outside + 1 end
  end
  harness.equal(last_line(output), ("7 compared, %d outside"):format(outside), output)
  assert(printed[1].outside, "gtx480 has no instruction cache to warm: its first launch is far from GPGPU-Sim's")
end)

harness.test("a job is compared in five figures, rates by their distance", function()
  local _, printed, list = agreement("--only", "vecadd")
  local r, names = run_job("gtx480_gpgpusim4", "vecadd"), { "cycles", "warp_instructions", "l1d_miss_rate",
    "l2_miss_rate", "dram_busy" }
  harness.equal(#printed, #names, "comparisons printed")
  for i, name in ipairs(names) do
    harness.equal(list[i].figure, name, "figure")
    harness.equal(list[i].ours, r[name], name)
    harness.equal(list[i].theirs, gpgpusim.jobs.vecadd[name], name)
    harness.equal(printed[i].relative, i <= 2, name)
  end
  assert(math.abs(list[5].difference - (r.dram_busy - 0.951)) < 1e-8, "difference of dram_busy")
  assert(math.abs(printed[5].difference - (r.dram_busy - 0.951)) < 0.0000501, "printed difference of dram_busy")
end)

harness.test("a latency is what the longer chase takes more, per load", function()
  local _, _, list = agreement("--only", "chase_l2")
  local cycles = run_job("gtx480_gpgpusim4", "chase_l2_128").cycles - run_job("gtx480_gpgpusim4", "chase_l2_64").cycles
  harness.equal(list[1].ours, cycles / 1024, "cycles per load")
  harness.equal(list[1].theirs, 182, "cycles per load there")
end)

harness.test("every launch of a stressor has a figure to be compared with", function()
  for name, cycles in pairs(gpgpusim.launch_cycles) do
    local launches = 0
    for _, step in ipairs(job.read(("%s/jobs/%s.job"):format(reference, name)).steps) do
      if step.directive == "launch" then launches = launches + 1 end
    end
    harness.equal(#cycles, launches, name)
  end
end)

harness.test("scripts/agreement runs from any folder", function()
  local command = "here=$PWD program=$(realpath '%s') && cd '%s' && "
    .. "WARPWRIGHT=$program \"$here/scripts/agreement\" --only chase_l1 2>&1"
  local pipe = assert(io.popen(command:format(program, harness.folder())))
  local output = pipe:read "a"
  assert(pipe:close(), output)
  harness.equal(last_line(output), "1 compared, 0 outside", output)
end)

harness.test("wrong options are refused, and a run that fails is an error", function()
  local function wrong(wanted, ...) harness.refused(wanted, "scripts/agreement.lua", ...) end
  wrong("'--nothing'", "--nothing", "1")
  wrong("expected a value, got nothing", "--only")
  wrong("--only: no job matches 'vecad'; did you mean vecadd? Available: vecadd, sgemm", "--only", "vecadd,vecad")
  wrong("config: no config matches 'gtx481'", "--config", "gtx481", "--only", "chase_l1")
  wrong("agreement: --json: no/such/folder/figures.json: No such file", "--only", "chase_l1", "--json", "no/such/folder/figures.json")
end)

harness.finish()
