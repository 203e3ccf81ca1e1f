-- What the program says of a mistake: what is legal, whom it is about, and no more lines than one reads.
local harness = require "tests.lib.harness"
local runs = require "tests.lib.policy_runs"

local policy_file, with_function, fails, lacks = runs.file, runs.with_function, runs.fails, runs.lacks

local function lines_of(text) return select(2, text:gsub("\n", "\n")) end

-- Hangs --------------------------------------------------------------------------------------------------------------

local stopped = policy_file("stopped", with_function("on_cta_start()", "self.sm.may_issue = 0"))

harness.test("a mistake that stops all SMs is a line, with the policy's name, and hang.txt has all of them", function()
  local status, output, _, folder = runs.run { workload = "kmeans", policy = stopped, set = {} }
  harness.equal(status, 2, "exit status")
  assert(lines_of(output) <= 6, output)
  harness.contains(output, "sm[0]: warp 0 of CTA (0, 0, 0), lanes 0xffffffff at PTX line 25, is not allowed to issue by policy ",
    "stopped.lua: may_issue; 0 instructions in flight\n  and 191 more lines like this, up to sm[14]\n",
    "kernel kmeans_assign hangs", folder .. "/hang.txt has each warp")
  local report = harness.read(folder .. "/hang.txt")
  harness.equal(select(2, report:gsub("sm%[%d+%]: warp", "")), 192, "warps in hang.txt")
  harness.contains(report, "\nsm[14]: warp 7 of CTA (14, 0, 0), lanes 0xffffffff at PTX line 25, is not allowed")
end)

local two_barriers <const> = [[
.version 6.0
.target sm_70
.address_size 64
.visible .entry k()
{
  .reg .pred %p<2>;
  .reg .u32 %r<2>;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra FIRST;
  bar.sync 1, 64;
  ret;
FIRST:
  bar.sync 0;
  ret;
}
]]

harness.test("warps that wait at different lines are told apart, however many there are, with who has come to the barrier", function()
  local file, out = harness.write("two_barriers.ptx", two_barriers), harness.folder() .. "/two_barriers"
  local output = harness.refused("kernel k hangs", "run", "gtx480", file, "--grid", "8", "--block", "64", "--out", out)
  harness.contains(output,
    "at PTX line 15, waits at barrier 0, to which 1 of 2 warps have come; 0 instructions in flight\n  and 7 more lines like this",
    "at PTX line 12, waits at barrier 1, to which 32 of 64 threads have come; 0 instructions in flight\n  and 7 more lines like this")
end)

harness.test("where they wait at more lines than one reads, they are told together, and hang.txt has all", function()
  local lines = { ".version 6.0", ".target sm_70", ".address_size 64", ".visible .entry k()", "{", ".reg .pred %p<2>;", ".reg .u32 %r<3>;",
    "mov.u32 %r1, %tid.x;", "shr.u32 %r2, %r1, 5;" }
  for warp = 0, 13 do
    table.move({ ("setp.ne.u32 %%p1, %%r2, %d;"):format(warp), ("@%%p1 bra NOT%d;"):format(warp), ("bar.sync %d, 64;"):format(warp), "ret;",
      ("NOT%d:"):format(warp) }, 1, 5, #lines + 1, lines)
  end
  table.move({ "ret;", "}" }, 1, 2, #lines + 1, lines)
  local file, out = harness.write("many_barriers.ptx", table.concat(lines, "\n") .. "\n"), harness.folder() .. "/many_barriers"
  local output = harness.refused("kernel k hangs", "run", "gtx480", file, "--grid", "1", "--block", "448", "--out", out)
  harness.contains(output, "waits at barrier 0, to which 32 of 64 threads have come; 0 instructions in flight\n  and 13 more lines like this")
  harness.contains(harness.read(out .. "/hang.txt"), "waits at barrier 13, to which 32 of 64 threads have come")
end)

harness.test("a machine whose queues are full: each class of wires in a line, and the object that takes nothing", function()
  harness.write("valve.lua", [[
return require "warpwright.class" "Valve" {
  doc = "Takes so many requests and no more", passes_on = true,
  ports = { up = { "responder", doc = "From above" }, down = { "requester", doc = "To below" } },
  params = { most = { 50, unit = "messages", min = 1, max = 1000, doc = "So many" } },
  state = { passed = 0 },
  tick = function(self)
    self.down:forward()
    local m = self.state.passed < self.params.most and self.down:can_send() and self.up:pop()
    if not m then return end
    self.down:send(m)
    self.state.passed = self.state.passed + 1
    return true
  end,
}]])
  local machine = harness.write("stuck.lua", [[
return require "warpwright".variant("stuck", "gtx480", {}, function(m)
  m:use "valve.lua"
  m:insert("l2[*].mem -> mc[*].cpu[*]", function(b, i)
    local valve = b:Valve ("valve", i) {}
    return valve.up, valve.down
  end)
end)]])
  local output = harness.refused("kernel spmv_csr hangs", "run", machine, "spmv", "--size", "small", "--out", harness.folder() .. "/stuck")
  harness.contains(output, "\nvalve[0].up: the read of 0x", " waits to be taken by tick (",
    "\n  and 14 more lines like this, up to link sm[14].lsu.mem -> sm[14].l1d.cpu\n")
  local now, told = tonumber(output:match "no progress since cycle %d+ %(now (%d+)%)"), 0
  for cycle in output:gmatch "core cycle (%d+)" do
    assert(tonumber(cycle) <= now, output)
    told = told + 1
  end
  assert(told >= 4 and not output:find " tick %d", output)
end)

harness.test("the hang report of a run before does not stay in its folder", function()
  local _, _, _, folder = runs.run { policy = stopped }
  harness.read(folder .. "/hang.txt")
  runs.good { policy = "gto", out = folder }
  assert(not io.open(folder .. "/hang.txt"), "it is still there")
end)

harness.test("a run without a folder reports a hang in full", function()
  local script = harness.write("no_folder.lua", ([[
    local ww = require "warpwright"
    ww.run { config = "gtx480", workload = "kmeans", size = "small", policy = %q, out = false }]]):format(stopped))
  local output = harness.refused("the report above says what each warp waits for", script)
  harness.equal(select(2, output:gsub("sm%[%d+%]: warp", "")), 192, "warps")
end)

harness.test("the hang report names the knob that holds warps back", function()
  local function held_by(body, knob)
    fails({ policy = policy_file("held", with_function("on_period()", body, "period = 100")) },
      "is not allowed to issue by policy ", ("held.lua: %s;"):format(knob))
  end
  held_by("self.sm.may_issue_memory = 0", "may_issue_memory")
  held_by("self.sm.may_load = 0", "may_load")
end)

harness.test("a name without the front of its path: the paths that end so come first", function()
  fails({ set = { "l1d.size=32KiB" } }, "no object or parameter matches 'l1d.size' on machine gtx480; did you mean sm[*].l1d.size, ")
  harness.refused("stats_of: no statistic matches 'l1d.miss_rate'; did you mean sm[*].l1d.miss_rate, ", "run", "gtx480", "kmeans", "--size",
    "small", "--stats-every", "1launch", "--stats-of", "l1d.miss_rate", "--out", harness.folder() .. "/no_front")
  harness.refused("trace: no object matches 'l1d' on machine gtx480; did you mean sm[0].l1d, sm[1].l1d, ", "run", "gtx480", "kmeans", "--size",
    "small", "--trace", "l1d", "--out", harness.folder() .. "/no_front")
end)

-- What is legal ------------------------------------------------------------------------------------------------------

harness.test("bounds are whole where the value is whole, and those of the parameter", function()
  runs.hook_fails("start()", "self.sm.warp_limit = -1", nil, "sm[0].warp_limit: expected a whole number from 1 to 64, got -1")
  fails({ set = { "sm[*].warp_limit=-1" } }, "sm[0].warp_limit: expected a whole number from 1 to 64 (warps), got -1")
  fails({ set = { "sm[*].warp_limit=2.5" } }, "sm[0].warp_limit: expected a whole number from 1 to 64 (warps), got 2.5")
  fails({ set = { "mc[*].age_cap=-1" } }, "mc[0].age_cap: expected a whole number from 0 to 1000000000 (cycles), got -1")
  fails({ set = { "sm[*].l1d.size=1e300" } }, "sm[0].l1d.size: expected a whole number from 0 to 9007199254740992 (bytes), got 1e+300")
  fails({ set = { "sms=many" } }, "sms: expected a whole number, got 'many'")
  fails({ set = { "sms=2", "partitions=2" }, policy = "dwt_cs:period=0" }, "policy dwt_cs: period: expected a whole number from ")
end)

harness.test("a bound that there is not is not named", function()
  local path = policy_file("bounds", 'return policy "bounds" { params = { n = { 400, min = 100 }, f = { 0.5, max = 2 } } }')
  fails({ policy = path .. ":n=1" }, "policy bounds: n: expected a whole number from 100 on, got '1'\n")
  fails({ policy = path .. ":f=3" }, "policy bounds: f: expected a number up to 2, got '3'\n")
end)

-- Names --------------------------------------------------------------------------------------------------------------

harness.test("a misspelt name is answered with the one that was meant, if one is near", function()
  fails({ policy = "gto,ccws" }, "no policy matches 'gto,ccws'; several policies are joined by +, 'gto+ccws'")
  fails({ policy = "gto,./mine.lua" }, "no file matches 'gto,./mine.lua'; several policies are joined by +, 'gto+./mine.lua'")
  fails({ policy = "gtoo" }, "no policy matches 'gtoo'; did you mean gto? Available: ", "bypass_all, ")
  fails({ workload = "kmean" }, "no workload matches 'kmean'; did you mean kmeans? Available: ")
  local _, output = fails({ policy = "something_else" }, "no policy matches 'something_else'; available: ", "bypass_all, ")
  lacks(output, "did you mean")
end)

harness.test("a setting of a policy's knob, and of an object beyond the last, is named as that", function()
  fails({ set = { "sm[*].may_issue=3" } }, "set: sm[*].may_issue: expected a parameter, got a knob")
  fails({ set = { "sm[0].l1d.may_miss=3" } }, "set: sm[0].l1d.may_miss: expected a parameter, got a knob")
  fails({ set = { "sms=3", "sm[3].l1d.size=8KiB" } }, "set: sm[3].l1d.size: expected sm[0] to sm[2] on machine gtx480, got sm[3]")
  fails({ set = { "mc[6].banks=8" } }, "set: mc[6].banks: expected mc[0] to mc[5] on machine gtx480, got mc[6]")
  fails({ set = { "sm[2].l1d.sise=8KiB" } }, "set: no object or parameter matches 'sm[2].l1d.sise' on machine gtx480; did you mean sm[*].l1d.size")
  runs.good { set = { "sms=3", "partitions=2", "sm[2].l1d.size=8KiB" } }
end)

harness.test("a module that there is not is named in two lines", function()
  local path = harness.write("wanting.lua", 'local x = require "no.such.module"\n')
  local _, output = fails({ policy = path }, "wanting.lua:1: module 'no.such.module' not found", "no file 'no/such/module.lua' in ")
  harness.equal(lines_of(output), 2, "lines of " .. output)
  output = harness.refused("module 'no.such.module' not found", path)
  harness.equal(lines_of(output), 2, "lines of " .. output)
end)

harness.test("a part of a class that there is not is named with near ones", function()
  local function part(class, of)
    return policy_file("part", ('return policy "part" { parts = { { class = %q, name = "vta", of = %q } } }'):format(class, of))
  end
  fails({ policy = part("VictimTags", "SN") }, "policy part: parts[1]: no class matches 'SN'; did you mean SM, ")
  fails({ policy = part("VictimTag", "SM") }, "policy part: parts[1]: no class matches 'VictimTag'; did you mean VictimTags, ")
end)

-- Places -------------------------------------------------------------------------------------------------------------

harness.test("an error that Lua finds within ipairs or table.sort is told with its file and line, wherever the Lua is", function()
  local nothing, mixed = 'for _ in ipairs(nil) do end', 'table.sort { 1, "a" }'
  local no_value, no_order = ": attempt to index a nil value", ": attempt to compare string with number"
  harness.refused("script.lua:2" .. no_value, harness.write("script.lua", "\n" .. nothing))
  harness.refused("script.lua:2" .. no_order, harness.write("script.lua", "\n" .. mixed))
  local config = harness.write("config.lua", ('return require("warpwright").variant("x", "gtx480", function()\n%s\nend)'):format(nothing))
  harness.refused("config.lua:2" .. no_value, "run", config, "vecadd", "--size", "small")
  local axes = 'axes = { config = "gtx480", workload = "vecadd", size = "small" }'
  harness.refused("axes.lua:2" .. no_value, "sweep", harness.write("axes.lua", ("\n%s\nreturn { %s }"):format(nothing, axes)))
  harness.refused("keep.lua:2" .. no_order, "sweep", harness.write("keep.lua", ("return { %s, keep = function()\n%s end }"):format(axes, mixed)))
  harness.refused("config.lua:2" .. no_value, "sweep",
    harness.write("axis.lua", ('return { axes = { config = %q, workload = "vecadd", size = "small" } }'):format(config)))
  harness.refused("workload.lua:4" .. no_order, "run", "gtx480", harness.write("workload.lua", ([[
local w = require("warpwright").workload "w" { ptx = %q, sizes = { small = {} } }
function w:run()
local list = { 1, "a" }
table.sort(list)
end
return w]]):format(harness.write("nothing.ptx", ".version 6.0\n.target sm_20\n.address_size 64\n"))), "--size", "small")
  for hook, told in pairs { ["on_period()"] = "in on_period at cycle 1008", ["start()"] = "in start at cycle 0", ["configure()"] = "in configure of core" } do
    local settings = hook == "on_period()" and "period = 1000" or nil
    local _, output = fails({ policy = policy_file("hook", with_function(hook, "local x = 1\n" .. nothing, settings)) }, told .. no_value)
    assert(output:match "hook%.lua:4: policy x", output)
  end
end)

-- Lists of objects ---------------------------------------------------------------------------------------------------

local function coordinator_fails(body, ...)
  return fails({ policy = policy_file("coordinator", with_function("on_period()", body, 'scope = "machine", period = 1000')) }, ...)
end

harness.test("a handle beyond a coordinator's list is named with the range, which begins at 1", function()
  coordinator_fails("self.sms[99].warp_limit = 3",
    "coordinator.lua:3: policy x of the machine, in on_period at cycle 1008: ", ": self.sms: expected an index from 1 to 2, got 99;")
  coordinator_fails("self.sms[0].warp_limit = 3", ": self.sms: expected an index from 1 to 2, got 0;")
  coordinator_fails("self.l2s[3].enabled = false", "self.l2s: expected an index from 1 to 2, got 3;")
  coordinator_fails("self.mcs.pick()", "self.mcs: expected an index from 1 to 2, got 'pick';")
end)

harness.test("a coordinator's list can be gone through and counted", function()
  local path = policy_file("lists", with_function("on_period()", [[
    local seen = 0
    for i, sm in ipairs(self.sms) do seen = seen + 1 assert(sm == self.sms[i]) end
    assert(seen == 2 and #self.sms == 2 and select("#", table.unpack(self.sms)) == 2)]], 'scope = "machine", period = 1000'))
  runs.good { policy = path }
end)

harness.test("an object that a script asks for and there is not is named with near ones", function()
  local script = harness.write("object.lua", [[
    local sim = require("warpwright").build("gtx480", { set = { sms = 3 } })
    assert(sim:object("sm[2]").path == "sm[2]" and #sim:objects "SM" == 3 and sim:objects()[1].path == "dispatcher")
    assert(sim:objects("L1")[1].path == sim:object("sm[0].l1d").path)
    sim:object "sm[3]" ]])
  harness.refused("object.lua:4: object: no object matches 'sm[3]' on machine gtx480; did you mean sm[0], ", script)
end)

-- Classes ------------------------------------------------------------------------------------------------------------

local namer = policy_file("namer", 'local p = policy "namer" {} function p:on_cta_start() self.sm:set_class(bits.all, 1) end return p')
local at_boundaries = policy_file("at_boundaries", [[
  local p = policy "at_boundaries" { scope = "machine", period = 3000 }
  function p:on_period() self.sms[2]:set_class(1, 2) end
  return p]])
local says_so = policy_file("says_so", [[
  local p = policy "says_so" { sets_classes = true }
  function p:on_cta_start() self.sm:set_class(bits.all, 2) end
  return p]])

harness.test("of two policies that set classes of the same warps' requests the second is an error", function()
  fails({ policy = namer .. "+medic" }, "policy warp_types of sm[0], in on_cta_start at cycle 16",
    ": sm[0]:set_class: policy namer sets the classes of its warps; another policy cannot set them as well;")
  fails({ policy = namer .. "+" .. at_boundaries }, "policy at_boundaries of the machine, in on_period at cycle 3008",
    "sm[1]:set_class: policy namer sets the classes of its warps")
  fails({ policy = namer .. "+pcal:epoch=1000" }, "policy namer sets the classes of its warps")
  for _, one in ipairs { namer, at_boundaries, says_so, "medic", "wip+wbyp+wms", "pcal" } do
    runs.good { policy = one }
  end
end)

harness.test("a name that is a file of the current folder without its ending is told of it", function()
  harness.write("mine.lua", "return nil")
  local program = require("warpwright.core").real_path(arg[-1])
  for kind, words in pairs { config = "mine vecadd", workload = "gtx480 mine", policy = "gtx480 vecadd --policy mine" } do
    local pipe = assert(io.popen(("cd '%s' && '%s' run %s 2>&1"):format(harness.folder(), program, words)))
    harness.contains(pipe:read "a", ("%s: no %s matches 'mine'; did you mean ./mine.lua?"):format(kind, kind))
    pipe:close()
  end
end)

harness.test("two policies that say that they set classes are refused before the run, with both names", function()
  for other, name in pairs { medic = "warp_types", ["pcal:epoch=1000"] = "pcal", tenant_classes = "tenant_classes" } do
    fails({ policy = ("%s+gto+%s"):format(says_so, other) },
      ("error: policies says_so and %s: expected one policy that sets classes (sm:set_class), got two\n"):format(name))
  end
  runs.good { policy = says_so .. "+pcal:level=l1" }
  fails({ policy = policy_file("says_what", 'return policy "says_what" { sets_classes = "l2" }') },
    "policy says_what: sets_classes: expected true, false, or a function of the parameters, got 'l2'")
end)

harness.finish()
