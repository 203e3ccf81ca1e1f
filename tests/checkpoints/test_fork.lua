-- sim:fork {} and sim:change {}: every variant ends as a run of its own that was resumed from a checkpoint of the same
-- state under the same change; what fails is told by name and leaves the others alone.
local ww = require "warpwright"
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

local warm_cycles = 40000

--- k-means under lrr, `warm_cycles` into it.
local function warm(options)
  local sim = ww.build("gtx480", options or { policy = "lrr" })
  sim:start("kmeans", "small")
  assert(not sim:run { until_cycle = warm_cycles })
  return sim
end

local function stats_of(folder) return harness.read(folder .. "/stats.txt") end

local straight = harness.folder() .. "/straight"
ww.run { config = "gtx480", workload = "kmeans", size = "small", policy = "lrr", out = straight }
local want = stats_of(straight)

local saved = harness.folder() .. "/warm.ckpt"
do
  local sim = warm()
  sim:checkpoint(saved)
  sim:close()
end

--- What `warpwright run --resume` makes of the checkpoint with these arguments.
local function resumed_stats(...)
  local out = harness.folder() .. "/resumed"
  local status, output = harness.run("run", "--resume", saved, "--out", out, ...)
  harness.equal(status, 0, output)
  return stats_of(out)
end

local changes = {
  { name = "as it was", arguments = {} },
  { name = "gto", policy = "gto", arguments = { "--policy", "gto", "--allow-changes" } },
  { name = "in Lua", policy = "gto_in_lua", arguments = { "--policy", "gto_in_lua", "--allow-changes" } },
  { name = "slow network", set = { ["xbar.latency"] = 9 }, arguments = { "--set", "xbar.latency=9", "--allow-changes" } },
  { name = "both", policy = "gto", set = { "xbar.latency=9" },
    arguments = { "--policy", "gto", "--set", "xbar.latency=9", "--allow-changes" } },
}
for _, change in ipairs(changes) do change.want = resumed_stats(table.unpack(change.arguments)) end

harness.test("the changes make a difference", function()
  harness.equal(changes[1].want, want, "stats.txt of the unchanged variant")
  for i = 2, 5 do assert(changes[i].want ~= want, changes[i].name) end
  assert(changes[2].want ~= changes[5].want)
end)

local function variants_of(list)
  local variants = {}
  for i, change in ipairs(list) do variants[i] = { name = change.name, policy = change.policy, set = change.set } end
  return variants
end

for _, case in ipairs { { jobs = 1, threads = 1 }, { jobs = 3, threads = 2 } } do
  harness.test(("variants equal resumed runs, with %d jobs and %d threads"):format(case.jobs, case.threads), function()
    local out = ("%s/fork-%d"):format(harness.folder(), case.jobs)
    local sim = warm { policy = "lrr", threads = case.threads }
    local variants = variants_of(changes)
    variants.jobs, variants.out = case.jobs, out
    local results = sim:fork(variants)
    harness.equal(#results, #changes, "results")
    for i, change in ipairs(changes) do
      local folder = ("%s/%s"):format(out, change.name:gsub(" ", "_"))
      harness.equal(stats_of(folder), change.want, "stats.txt of " .. change.name)
      harness.equal(results[i].out, folder, "folder")
      harness.equal(results[i].policy, change.policy or "lrr", "policy")
      harness.equal(results[i]["run.cycles"], math.tointeger(change.want:match "run%.cycles +(%d+)"), "cycles")
      harness.equal(#results[i].launches, 2, "launches")
      assert(results[i].checks == 2, "it was not verified")
    end
    -- The warm machine itself is as it was.
    sim:run {}
    harness.equal(sim:result().cycles, results[1].cycles, "cycles of the machine that was forked")
    sim:close()
  end)
end

harness.test("a change in the same process equals a resume that allows it", function()
  for _, change in ipairs(changes) do
    local sim = warm()
    local notes = sim:change { policy = change.policy, set = change.set }
    local lines = table.concat(notes, "\n")
    if change.policy then harness.contains(lines, ("policy: lrr became %s"):format(change.policy)) end
    if change.set then harness.contains(lines, "xbar.latency: 1 became 9") end
    assert(change.policy or change.set or lines == "", lines)
    sim:run {}
    local out = harness.folder() .. "/changed.ckpt"
    sim:checkpoint(out)
    harness.equal(sim:result().cycles, math.tointeger(change.want:match "run%.cycles +(%d+)"), change.name)
    sim:close()
    -- The checkpoint says under which policy and parameters it was made.
    local status, output = harness.run("run", "--resume", out, "--out", harness.folder() .. "/after")
    harness.equal(status, 0, output)
    harness.equal(stats_of(harness.folder() .. "/after"), change.want, "stats.txt of " .. change.name)
  end
end)

harness.test("a change may follow a change", function()
  local sim = warm()
  sim:change { policy = "gto" }
  sim:change { set = { ["xbar.latency"] = 9 } }
  sim:run {}
  harness.equal(sim:result().cycles, math.tointeger(changes[5].want:match "run%.cycles +(%d+)"), "cycles")
  sim:close()
end)

local function counters_of(sim)
  local lines, r = {}, sim:result()
  for name, value in r:stats() do lines[#lines + 1] = ("%s %s"):format(name, value) end
  sim:close()
  return table.concat(lines, "\n")
end

--- The counters of k-means on a small machine, which in the midst of it goes on as itself, or does not; and its cycles.
local function small_run(policy, cycle)
  local sim = ww.build("gtx480", { policy = policy, set = { "sms=2", "partitions=2" } })
  sim:start("kmeans", "small,points=300")
  if cycle then
    assert(not sim:run { until_cycle = cycle })
    sim:change {}
  end
  assert(sim:run {})
  local cycles = sim:result().cycles
  return counters_of(sim), cycles
end

harness.test("what start() sets again is not set over what the policy has set since", function()
  local narrow = harness.write("narrow.lua", [[
local narrow = require "warpwright.policy" "narrow" { doc = "Few warps, from cycle 1000 on", period = 1000 }
function narrow:start() self.sm.warp_limit = 48 end
function narrow:on_period()
  if not self.state.is_set then self.sm.warp_limit, self.state.is_set = 2, true end
end
return narrow]])
  local without, cycles = small_run(narrow)
  harness.same_text(small_run(narrow, cycles // 2), without)
end)

harness.long_test("under every policy a change of nothing leaves the run as it is", function()
  for _, file in ipairs(core.list_folder(core.home_path "policies")) do
    local policy = file:match "^(.*)%.lua$"
    policy = policy == "trace_l1" and "trace_l1:folder=" .. harness.folder() or policy
    if policy then
      local without, cycles = small_run(policy)
      harness.same_text(small_run(policy, cycles // 2), without, policy)
    end
  end
end)

harness.test("a machine whose policy could not go on says so", function()
  local once = harness.write("once.lua", [[
local once = require "warpwright.policy" "once" { doc = "Begins while a file is there" }
function once:start() assert(io.open("FILE")):close() end
return once]])
  local there = harness.write("there", "")
  harness.write("once.lua", (harness.read(once):gsub("FILE", there)))
  local sim = warm { policy = once }
  os.remove(there)
  for _, call in ipairs { { "change", {} }, { "run", {} }, { "result" }, { "checkpoint", saved .. ".bad" } } do
    local ok, problem = pcall(sim[call[1]], sim, call[2])
    assert(not ok, call[1])
    harness.contains(tostring(problem), there)
  end
  sim:close()
end)

harness.test("a resumed machine can be changed and forked once it has caught up, and not before", function()
  local sim = ww.build("gtx480", { policy = "lrr" })
  sim:resume(saved)
  sim:start("kmeans", "small")
  for _, call in ipairs { { "change", { policy = "gto" } }, { "fork", { {}, out = false } }, { "checkpoint", saved .. ".2" } } do
    local ok, problem = pcall(sim[call[1]], sim, call[2])
    assert(not ok, call[1])
    harness.contains(tostring(problem), "expected a host program that has caught up with checkpoint " .. saved)
  end
  assert(not sim:run { until_cycle = 1 })
  harness.equal(sim:gpu():totals().cycles, warm_cycles, "cycle")
  local results = sim:fork { {}, { policy = "gto" }, out = false, jobs = 2 }
  harness.equal(results[1].cycles, math.tointeger(want:match "run%.cycles +(%d+)"), "cycles of the unchanged variant")
  harness.equal(results[2].cycles, math.tointeger(changes[2].want:match "run%.cycles +(%d+)"), "cycles under gto")
  sim:close()
end)

-- Children -----------------------------------------------------------------------------------------------------------

local kernel = [[
.version 6.0
.target sm_20
.address_size 64
.visible .entry store(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d3, %d1, %d2;
    st.global.u32 [%d3], %r1;
    ret;
}
]]
harness.write("store.ptx", kernel)

--- Forks a machine inside the first of two launches; in each child `between` then runs in the host program.
local function fork_with(between, variants)
  local w = ww.workload "store" { ptx = harness.folder() .. "/store.ptx", sizes = { small = {} } }
  function w:run(gpu)
    local out = gpu:alloc(4096)
    gpu:launch(self.kernels.store, { grid = 64, block = 128, args = { out } })
    between(self)
    gpu:launch(self.kernels.store, { grid = 1, block = 32, args = { out } })
    self:check_that("the first element", gpu:read("u32", out + 4) == 1)
  end
  local sim = ww.build("gtx480", { set = { "sms=2" } })
  sim:start(w, "small")
  assert(not sim:run { until_cycle = 100 })
  local ok, results = pcall(sim.fork, sim, variants)
  sim:close()
  return ok, results
end

harness.test("no more variants run at a time than there are jobs", function()
  for _, jobs in ipairs { 1, 2, 3 } do
    local folder = ("%s/alive-%d"):format(harness.folder(), jobs)
    core.make_folder(folder)
    local variants = { jobs = jobs, out = false }
    for i = 1, 5 do variants[i] = { name = "variant " .. i } end
    local ok, problem = fork_with(function()
      local name = os.tmpname()
      local mine = ("%s/%s"):format(folder, name:match "[^/]*$")
      io.open(mine, "w"):close()
      os.execute("sleep 0.2")
      local alive = #core.list_folder(folder)
      os.remove(mine)
      os.remove(name)
      local log = io.open(folder .. ".log", "a")
      log:write(alive, "\n")
      log:close()
    end, variants)
    assert(ok, problem)
    local most, count = 0, 0
    for alive in harness.read(folder .. ".log"):gmatch "%d+" do most, count = math.max(most, tonumber(alive)), count + 1 end
    harness.equal(count, 5, "children")
    assert(most <= jobs, ("%d were alive with %d jobs"):format(most, jobs))
  end
end)

harness.test("variants that fail are told by name, and the others are complete", function()
  local sim, out = warm(), harness.folder() .. "/failing"
  local ok, problem = pcall(sim.fork, sim, {
    { name = "first" },
    { policy = "no_such_policy" },
    { set = { ["sm[*].l1d.sise"] = "32KiB" } },
    { name = "too few", set = { ["sm[*].warps"] = 24 } },
    { policy = "gto" },
    jobs = 2, out = out,
  })
  sim:close()
  assert(not ok)
  harness.contains(tostring(problem), "no_such_policy: ", "policy: no policy matches 'no_such_policy'",
    "sm[*].l1d.sise=32KiB: ", "no object or parameter matches", "too few: ", "sm[0].warps: expected 48 as in the checkpoint")
  assert(not tostring(problem):find("first: ", 1, true) and not tostring(problem):find("gto: ", 1, true), problem)
  harness.equal(table.concat(core.list_folder(out), " "), "first gto", "folders")
  harness.equal(stats_of(out .. "/first"), want, "stats.txt")
  harness.equal(stats_of(out .. "/gto"), changes[2].want, "stats.txt")
end)

harness.test("a variant that is killed is told by name", function()
  local ok, problem = fork_with(function() os.execute "kill -9 $PPID" end, { { name = "doomed" }, out = false })
  assert(not ok)
  harness.contains(tostring(problem), "doomed: killed by signal 9")
end)

harness.test("a variant whose results are wrong is told by name", function()
  local ok, problem = fork_with(function(w) w:check_that("wrong", false) end, { { name = "wrong one" }, out = false })
  assert(not ok)
  harness.contains(tostring(problem), "wrong one: verification failed: store: wrong: expected true, got false")
end)

-- Errors -------------------------------------------------------------------------------------------------------------

local function refused(name, variants, text)
  harness.test(name, function()
    local ok, problem = fork_with(function() end, variants)
    assert(not ok, "it was not refused")
    harness.contains(tostring(problem), text)
  end)
end

refused("no jobs", { {}, jobs = 0 }, "sim:fork: jobs: expected a whole number from 1 on, got 0")
refused("half a job", { {}, jobs = 1.5 }, "jobs: expected a whole number from 1 on, got 1.5")
refused("an unknown option of a fork", { {}, job = 2 }, "sim:fork: no field matches 'job'; did you mean jobs? Available: jobs, out")
refused("an unknown key of a variant", { {}, { polcy = "gto" } }, "sim:fork, variant 2: no field matches 'polcy'")
refused("variants that would share a folder", { { policy = "gto" }, { policy = "gto" }, out = harness.folder() .. "/same" },
  "sim:fork: expected a folder for each variant")

harness.test("a fork wants a host program", function()
  local sim = ww.build("gtx480", { set = { "sms=2" } })
  local ok, problem = pcall(sim.fork, sim, { {} })
  sim:close()
  assert(not ok)
  harness.contains(tostring(problem), "sim:fork: expected sim:start(workload, size) before it")
end)

harness.test("a machine cannot go on after a change that failed, and says so", function()
  local sim = warm()
  local ok, problem = pcall(sim.change, sim, { set = { ["sm[*].warps"] = 24 } })
  assert(not ok)
  harness.contains(tostring(problem), "change: sm[0].warps: expected 48 as in the checkpoint")
  collectgarbage()
  for _, call in ipairs { { "run", {} }, { "result" }, { "checkpoint", saved .. ".bad" }, { "change", {} } } do
    ok, problem = pcall(sim[call[1]], sim, call[2])
    assert(not ok, call[1])
    harness.contains(tostring(problem), "was stopped by an error")
  end
  sim:close()
end)

harness.test("a machine with a profile or memcheck is refused, and goes on as it was", function()
  for _, option in ipairs { "profile", "memcheck" } do
    local sim = ww.build("gtx480", { set = { "sms=2" }, [option] = true })
    sim:start("vecadd", "small")
    assert(not sim:run { until_cycle = 100 })
    for _, call in ipairs { { "change", {} }, { "fork", { {}, out = false } } } do
      local ok, problem = pcall(sim[call[1]], sim, call[2])
      assert(not ok, call[1])
      harness.contains(tostring(problem), "change: expected a run without " .. option)
    end
    local ended, checks = sim:run {}
    assert(ended and checks > 0)
    sim:close()
  end
end)

harness.test("a change that names nothing leaves the machine as it was", function()
  local sim = warm()
  assert(not pcall(sim.change, sim, { set = { ["sm[*].l1d.sise"] = 1 } }))
  assert(not pcall(sim.change, sim, { policy = "no_such_policy" }))
  sim:run {}
  harness.equal(sim:result().cycles, math.tointeger(want:match "run%.cycles +(%d+)"), "cycles")
  sim:close()
end)

harness.test("a workload that loads its PTX itself, and tenants, are forked as well", function()
  local sim = ww.build("gtx480", { policy = "gto", set = { ["dispatcher.sharing"] = "evenly" } })
  sim:start("tenants", "small,of=kmeans+bfs")
  sim:run { until_launch = 3 }
  local results = sim:fork { { policy = "gto" }, { policy = "bliss" }, jobs = 2, out = false }
  sim:run {}
  harness.equal(results[1].cycles, sim:result().cycles, "cycles of the unchanged variant")
  assert(results[2]["mc[*].bliss.listed"] > 0, "bliss did nothing")
end)

harness.finish()
