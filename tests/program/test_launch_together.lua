-- gpu:launch_together: kernels side by side on SMs of their own. The SMs of each and their cycles are counted in
-- tests/unit/gpu/device/test_kernels.c.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local loaded_machine = require "tests.lib.loaded_machine"

-- spin: each thread writes what so many rounds of arithmetic give. touch: each thread loads a word of a line of the CTA's own.
-- peek: the first word. stop: traps.
local ptx = harness.write("together.ptx", [[
.version 4.2
.target sm_20
.address_size 64
.visible .entry spin(.param .u64 out, .param .u32 rounds)
{
    .reg .u32 %r<8>;
    .reg .u64 %rd<4>;
    .reg .pred %p;
    ld.param.u64 %rd0, [out];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    mov.u32 %r6, 0;
LOOP:
    mad.lo.u32 %r6, %r6, 3, %r5;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra LOOP;
    mul.wide.u32 %rd1, %r5, 4;
    add.u64 %rd2, %rd0, %rd1;
    st.global.u32 [%rd2], %r6;
    ret;
}
.visible .entry touch(.param .u64 in)
{
    .reg .u32 %r<4>;
    .reg .u64 %rd<4>;
    ld.param.u64 %rd0, [in];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd1, %r1, 128;
    add.u64 %rd2, %rd0, %rd1;
    ld.global.u32 %r2, [%rd2];
    add.u32 %r2, %r2, 1;
    ret;
}
.visible .entry peek(.param .u64 in)
{
    .reg .u32 %r<2>;
    .reg .u64 %rd<2>;
    ld.param.u64 %rd0, [in];
    ld.global.u32 %r0, [%rd0];
    ret;
}
.visible .entry stop()
{
    trap;
}
]])

local function build(options) return loaded_machine(ptx, options) end

--- A kernel `spin` of so many CTAs and rounds, whose output is at place `i`.
local function spin(gpu, kernels, grid, rounds, after)
  return { kernel = kernels.spin, grid = grid, block = 128, args = { gpu:alloc(4 * 128 * grid), rounds }, after = after }
end

harness.test("what kernels compute side by side is what they compute one by one", function()
  local digests = {}
  for _, way in ipairs { "together", "one by one" } do
    local sim, gpu, kernels = build()
    local list = { spin(gpu, kernels, 20, 50), spin(gpu, kernels, 33, 20), spin(gpu, kernels, 5, 200, 1) }
    if way == "together" then
      local results = gpu:launch_together(list)
      harness.equal(#results, 3, "results")
      harness.equal(#gpu:launches(), 3, "launches")
      harness.equal(results[3].start_cycle, results[1].cycles, "the third begins when the first has ended")
      harness.equal(sim:result().launches[2].ctas, 33, "CTAs of the second")
    else
      for _, launch in ipairs(list) do
        local kernel = launch.kernel
        launch.kernel, launch.after = nil, nil
        gpu:launch(kernel, launch)
      end
    end
    digests[#digests + 1] = gpu:digest()
  end
  harness.equal(digests[1], digests[2], "digest")
end)

harness.test("the result is the same with any number of threads and order of ticks, for each sharing", function()
  for _, sharing in ipairs { "in_order", "evenly", "in_order 3", "evenly 3" } do
    local texts = {}
    local rule, per_sm = sharing:match "^(%S+) ?(%d*)"
    for _, how in ipairs { {}, { threads = 2 }, { order = "reversed" } } do
      how.set = { ["dispatcher.sharing"] = rule, ["dispatcher.kernels_per_sm"] = tonumber(per_sm) or 1 }
      local sim, gpu, kernels = build(how)
      gpu:launch_together { spin(gpu, kernels, 100, 40), spin(gpu, kernels, 7, 10), spin(gpu, kernels, 90, 30, 2) }
      local lines = { gpu:digest() }
      for name, value in sim:result():stats() do
        if not name:find "^run%.s" and not name:find "per_second" then lines[#lines + 1] = name .. " " .. value end
      end
      texts[#texts + 1] = table.concat(lines, "\n")
    end
    harness.equal(texts[2], texts[1], sharing .. ", two threads")
    harness.equal(texts[3], texts[1], sharing .. ", reversed")
  end
end)

harness.test("evenly, a kernel gets the SMs that it fits, and others keep those that it does not", function()
  local sim = ww.build("gallery/heterogeneous", { set = { ["dispatcher.sharing"] = "evenly" } })
  local gpu = sim:gpu()
  local kernels = gpu:load(ptx)
  local last = spin(gpu, kernels, 8, 200, 1)
  last.block, last.args[1] = 1024, gpu:alloc(4 * 1024 * 8) -- which SMs 0 and 1 alone can hold
  gpu:launch_together { spin(gpu, kernels, 1, 1), spin(gpu, kernels, 300, 100), last }
  local r = sim:result()
  local first, second = r["sm[0].ctas_started"], r["sm[1].ctas_started"]
  assert(math.abs(first - second) < 10, ("%d CTAs in SM 0, %d in SM 1"):format(first, second))
end)

harness.test("evenly, an SM is kept when nobody waits for it any more", function()
  local function cycles(forks)
    local _, gpu, kernels = build { set = { ["dispatcher.sharing"] = "evenly" } }
    local list = { spin(gpu, kernels, 1, 1), spin(gpu, kernels, 200, 300) }
    local join = 1
    for _ = 1, forks do
      list[#list + 1] = spin(gpu, kernels, 1, 1, join)
      list[#list + 1] = spin(gpu, kernels, 1, 1, join)
      list[#list + 1] = spin(gpu, kernels, 1, 1, { #list - 1, #list })
      join = #list
    end
    return gpu:launch_together(list)[2].cycles
  end
  local alone, beside = cycles(0), cycles(12)
  assert(beside < alone * 1.1, ("%d cycles alone, %d beside short kernels"):format(alone, beside))
end)

harness.test("an SM that gets another kernel begins with an empty L1", function()
  local sim, gpu, kernels = build()
  local lines = gpu:upload(ww.array("u32", 32 * 1024))
  local function touch(after) return { kernel = kernels.touch, grid = 15, block = 32, args = { lines }, after = after } end
  gpu:launch_together { touch(), touch(1) } -- each CTA on the SM that had the line before
  harness.equal(sim:result()["sm[*].l1d.misses"], 30, "misses of the L1s")
  harness.equal(sim:result()["sm[*].l1d.hits"], 0, "hits")
end)

harness.test("policies hear of each kernel's beginning and end in order", function()
  local policy = harness.write("listener.lua", [[
local policy = require "warpwright.policy"
local p = policy "listener" { counters = { begins = "kernels begun", ends = "kernels ended", most = "most at once" } }
function p:start() self.state = { running = 0 } end
function p:on_kernel_start()
  self:count "begins"
  self.state.running = self.state.running + 1
  if self.state.running > 1 then self:count "most" end
end
function p:on_kernel_end()
  self:count "ends"
  self.state.running = self.state.running - 1
end
return p
]])
  local sim, gpu, kernels = build { policy = policy }
  gpu:launch_together { spin(gpu, kernels, 20, 50), spin(gpu, kernels, 20, 50), spin(gpu, kernels, 20, 50, { 1, 2 }) }
  local r = sim:result()
  local function count(name)
    local sum = 0
    for stat, value in r:stats() do if stat:find("listener." .. name, 1, true) then sum = sum + value end end
    return sum
  end
  harness.equal(count "ends", count "begins", "as many end as begin")
  harness.equal(count "begins" > 0 and count "begins" % 3, 0, "three begin")
  harness.equal(count "most" * 3, count "begins", "two at once, for each instance of the policy")
end)

--- The sum of a policy's counter after these kernels; `list`: of gpu and kernels.
local function counted(policy, counter, list)
  local sim, gpu, kernels = build { policy = policy }
  gpu:launch_together(list(gpu, kernels))
  local sum = 0
  for name, value in sim:result():stats() do if name:find("%." .. counter .. "$") then sum = sum + value end end
  return sum
end

harness.test("an SM tells which kernel it has, at the beginning of a launch and when it gets another one", function()
  local policy = harness.write("given.lua", [[
local policy = require "warpwright.policy"
local p = policy "given" { counters = { first = "", second = "", warps = "", emptied = "" } }
function p:on_l1_invalidated() self:count "emptied" end
function p:on_kernel_given(kernel)
  self:count(kernel == 0 and "first" or "second")
  self:count("warps", self.sm:warps_per_cta())
end
return p
]])
  local coordinator = harness.write("heard.lua", [[
local policy = require "warpwright.policy"
local p = policy "heard" { scope = "machine", counters = { first = "", second = "" } }
function p:on_sm_kernel_given(sm, kernel)
  assert(self.dispatchers[1]:kernel_of(sm:number()) == kernel)
  self:count(kernel == 0 and "first" or "second")
end
return p
]])
  local function list(gpu, kernels)
    local last = spin(gpu, kernels, 10, 5, 1)
    last.block = 64
    return { spin(gpu, kernels, 200, 5), last }
  end
  harness.equal(counted(policy, "given%.first", list), 15, "SMs of the launch")
  harness.equal(counted(policy, "given%.second", list), 15, "SMs that get the second kernel")
  harness.equal(counted(policy, "given%.warps", list), 15 * 4 + 15 * 2, "warps of their CTAs")
  harness.equal(counted(policy, "given%.emptied", list), 15 + 15, "L1s that were emptied")
  harness.equal(counted(coordinator, "heard%.first", list), 15, "SMs of the launch, heard by a coordinator")
  harness.equal(counted(coordinator, "heard%.second", list), 15, "SMs that get the second kernel, heard by a coordinator")
end)

harness.test("policies act on a long kernel when a short one beside it ends", function()
  local function long(gpu, kernels) return { spin(gpu, kernels, 300, 5) } end
  local function both(gpu, kernels) return { spin(gpu, kernels, 2, 5), spin(gpu, kernels, 300, 5) } end
  harness.equal(counted("owl", "owl%.groups", both) > counted("owl", "owl%.groups", long) // 2, true, "groups of owl")
  local function touches(gpu, kernels)
    local lines = gpu:alloc(128 * 3000)
    local function touch(grid) return { kernel = kernels.touch, grid = grid, block = 32, args = { lines } } end
    return { touch(2), touch(3000) }
  end
  harness.equal(counted("dwt_cs:period=400,mpki=0", "dwt_cs%.detections", touches) > 0, true, "detections of dwt_cs")
end)

harness.test("a policy finds the CTAs of an SM anew with each kernel that it gets", function()
  local function follow(gpu, kernels) return { spin(gpu, kernels, 120, 20), spin(gpu, kernels, 120, 20) } end
  harness.equal(counted("lazy_cta", "lazy_cta%.limited", follow) > 15, true, "limits of 15 SMs for two kernels")
end)

harness.test("policies give SMs to kernels", function()
  local policy = harness.write("giver.lua", [[
local policy = require "warpwright.policy"
local p = policy "giver" { scope = "dispatcher" }
function p:next_kernel(sm, choice)
  local waiting, _, name = self.dispatcher:kernel(1)
  assert(name == (waiting and "spin"))
  if sm < 5 and self.dispatcher:kernels() == 2 and waiting > 0 then return 1 end
  return choice
end
return p
]])
  local _, gpu, kernels = build { policy = policy }
  local results = gpu:launch_together { spin(gpu, kernels, 200, 50), spin(gpu, kernels, 100, 50) }
  harness.equal(results[2].cycles < results[1].cycles, true, "a third of the SMs finishes the smaller kernel first")
end)

harness.test("a policy hears of which kernel each CTA is that comes and goes", function()
  local policy = harness.write("kernels_of_ctas.lua", [[
local policy = require "warpwright.policy"
local p = policy "ctas" { scope = "dispatcher", counters = { start0 = "", start1 = "", end0 = "", end1 = "" } }
function p:on_cta_start(_, _, _, _, _, kernel) self:count("start" .. kernel) end
function p:on_cta_end(_, _, kernel) self:count("end" .. kernel) end
return p
]])
  for _, per_sm in ipairs { 1, 2 } do
    local sim, gpu, kernels = build { policy = policy, set = { ["dispatcher.kernels_per_sm"] = per_sm } }
    gpu:launch_together { spin(gpu, kernels, 200, 5), spin(gpu, kernels, 100, 5) }
    local r = sim:result()
    for name, want in pairs { start0 = 200, start1 = 100, end0 = 200, end1 = 100 } do harness.equal(r["dispatcher.ctas." .. name], want, name) end
  end
end)

harness.test("a fault of one of them is the fault of the launch", function()
  local _, gpu, kernels = build()
  local results, fault = gpu:try_launch_together { spin(gpu, kernels, 20, 50), { kernel = kernels.stop, grid = 1, block = 32 } }
  harness.equal(#results, 2, "results")
  harness.equal(fault.kernel, "stop", "kernel")
  harness.equal(fault.kind, "trap", "kind")
  local again, none = gpu:try_launch_together { spin(gpu, kernels, 2, 5), spin(gpu, kernels, 2, 5) }
  harness.equal(#again, 2, "results of the next launch")
  harness.equal(none, nil, "its fault")
end)

harness.test("the fault of a list that is refused names the kernel that is", function()
  local _, gpu, kernels = build()
  local _, fault = gpu:try_launch_together { spin(gpu, kernels, 1, 1), { kernel = kernels.stop, grid = 1, block = 32, shared = 1 << 20 } }
  harness.equal(fault.kernel, "stop", "kernel")
  _, fault = gpu:try_launch_together { spin(gpu, kernels, 1, 1), { kernel = kernels.stop, grid = 0, block = 32 } }
  harness.contains(fault.message, "kernel stop: expected grid and block of 1 or more in each dimension, got grid (0, 1, 1)")
end)

harness.test("distributed_ctas hands out all CTAs of kernels side by side", function()
  local _, gpu, kernels = build { policy = "distributed_ctas", set = { ["dispatcher.sharing"] = "evenly" } }
  local results = gpu:launch_together { spin(gpu, kernels, 200, 5), spin(gpu, kernels, 200, 5) }
  harness.equal(results[1].ctas + results[2].ctas, 400, "CTAs")
end)

harness.test("wrong lists are refused with the place in them", function()
  local _, gpu, kernels = build()
  local function refused(list, ...)
    local ok, problem = pcall(gpu.launch_together, gpu, list)
    harness.equal(ok, false, "launched")
    harness.contains(tostring(problem), ...)
  end
  refused({}, "launch_together: expected a list of 1 to 1024 { kernel =, grid =, block =, args =, after = }")
  local many = {}
  for i = 1, 1025 do many[i] = spin(gpu, kernels, 1, 1) end
  refused(many, "launch_together: expected a list of 1 to 1024 kernels, got 1025")
  refused({ spin(gpu, kernels, 1, 1), sharing = "evenly" }, "launch_together: expected a list of kernels and nothing beside them, got 'sharing'")
  refused({ spin(gpu, kernels, 1, 1), 3 }, "launch_together: kernel 2: expected { kernel =,")
  refused({ { grid = 1, block = 1 } }, "launch_together: kernel 1: expected a kernel")
  refused({ spin(gpu, kernels, 1, 1), spin(gpu, kernels, 1, 1, 2) }, "kernel spin, number 2: after: expected a place before it")
  refused({ { kernel = kernels.spin, grid = 1, block = 1, timed = false } }, "no field matches 'timed'")
  refused({ spin(gpu, kernels, 1, 1), { kernel = kernels.spin, grid = 1, block = 2000, args = { 0, 1 } } }, "up to 1024 threads")
  harness.equal(#gpu:launches(), 0, "launches")
end)

harness.test("a resumed run is told that a kernel of the list, or its module, is another one", function()
  local other = harness.write("other.ptx", (harness.read(ptx):gsub("add.u32 %%r2, %%r2, 1;", "add.u32 %%r2, %%r2, 2;")))
  local second
  local workload = ww.workload "list" { ptx = ptx, sizes = { small = {} } }
  function workload:run(gpu)
    local modules = { self.kernels, gpu:load(other) }
    local lines = gpu:alloc(4096)
    local kernel = second(modules)
    gpu:launch_together { spin(gpu, modules[1], 20, 500), { kernel = kernel, grid = 2, block = 32, args = { lines } } }
  end
  local function begin()
    local sim = ww.build("gtx480", { policy = "gto" })
    return sim, harness.folder() .. "/list.ckpt"
  end
  second = function(modules) return modules[1].touch end
  local sim, path = begin()
  sim:start(workload, "small")
  harness.equal(sim:run { until_cycle = 1000 }, false, "ended")
  sim:checkpoint(path)
  for _, case in ipairs {
    { function(modules) return modules[1].touch end },
    { function(modules) return modules[1].peek end, "expected 'launch together 2 kernels from spin, grid 20 1 1, block 128 1 1, touch' as in the checkpoint, got", "peek'" },
    { function(modules) return modules[2].touch end, "with the contents of the checkpoint, got others" },
  } do
    second = case[1]
    local again = begin()
    again:resume(path, { allow_changes = true })
    local ok, problem = pcall(again.run, again, workload, "small")
    harness.equal(ok, #case == 1, "resumes: " .. tostring(problem))
    if not ok then harness.contains(tostring(problem), table.unpack(case, 2)) end
  end
end)

harness.test("intervals and stacks take them as one", function()
  local workload = harness.write("together.lua", [[
local ww = require "warpwright"
local w = ww.workload "together" { ptx = "together.ptx", sizes = { small = {} } }
function w:run(gpu)
  local function spin(grid, rounds, after)
    return { kernel = self.kernels.spin, grid = grid, block = 128, args = { gpu:alloc(512 * grid), rounds }, after = after }
  end
  gpu:launch(self.kernels.spin, { grid = 3, block = 128, args = { gpu:alloc(2000), 9 } })
  gpu:launch_together { spin(20, 50), spin(33, 20), spin(5, 90, 2) }
  gpu:launch(self.kernels.spin, { grid = 3, block = 128, args = { gpu:alloc(2000), 9 } })
end
return w
]])
  local out = harness.folder() .. "/stacks"
  local status, text = harness.run("run", "gtx480", workload, "--stats-every", "1launch", "--out", out)
  harness.equal(status, 0, text)
  local _, intervals = harness.read(out .. "/intervals.csv"):gsub("\n", "")
  harness.equal(intervals, 4, "lines of intervals.csv")
  harness.contains(harness.read(out .. "/stats.txt"), "launch[2].together")
  status, text = harness.run("cpi", out, "--launches")
  harness.equal(status, 0, text)
  harness.contains(text, "launch 0", "launches 1 to 3", "launch 4")
  status, text = harness.run("report", out)
  harness.equal(status, 0, text)
  harness.contains(harness.read(out .. "/report.html"), "spin + spin + spin")
end)

harness.test("fast-forward ends before kernels that are launched together, or behind them", function()
  local function launch(fast_forward)
    local sim, gpu, kernels = build { fast_forward = fast_forward }
    gpu:launch(kernels.spin, { grid = 1, block = 128, args = { gpu:alloc(512), 5 } })
    gpu:launch_together { spin(gpu, kernels, 20, 50), spin(gpu, kernels, 20, 50) }
    return gpu:totals().cycles, sim
  end
  harness.equal(launch "launch=3", 0, "cycles when they are passed over")
  assert(launch "launch=1" > 0)
  for _, place in ipairs { "launch=2", "launch=1,cta=0.5" } do
    local ok, problem = pcall(launch, place)
    harness.equal(ok, false, "a place within them")
    harness.contains(tostring(problem), "expected fast_forward to end before launch 1, the first of 2 that are launched together, or behind the last, got "
      .. place)
    assert(tostring(problem):find(place .. "\n", 1, true) or tostring(problem):sub(-#place) == place, problem)
  end
end)

-- The words of a thread lie as far apart as the warps of all SMs.
harness.test("beside other kernels, no SM uses the local memory of another, however unlike they are", function()
  harness.write("local.ptx", [[
.version 4.2
.target sm_20
.address_size 64
.visible .entry keep(.param .u64 out)
{
    .local .align 4 .b8 words[64];
    .reg .u32 %r<4>;
    .reg .u64 %rd<4>;
    .reg .pred %p;
    ld.param.u64 %rd0, [out];
    mov.u64 %rd1, words;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
LOOP:
    st.local.u32 [%rd1], %r1;
    ld.volatile.local.u32 %r3, [%rd1];
    st.global.u32 [%rd0], %r3;
    add.u64 %rd1, %rd1, 4;
    add.u32 %r2, %r2, 1;
    setp.ne.u32 %p, %r2, 16;
    @%p bra LOOP;
    ret;
}
]])
  local observer = harness.write("observer.lua", [[
local observer = require "warpwright.policy" "observer" { scope = "l2", counters = { seen = "lines of local memory", of_two = "those of two SMs" } }
function observer:start() self.state = { first = {}, of_two = {} } end
local function look(self, sm, address)
  local line, state = address // 128, self.state
  if address < 1 << 40 then return end
  if not state.first[line] then
    state.first[line] = sm + 1
    self:count "seen"
  elseif state.first[line] ~= sm + 1 and not state.of_two[line] then
    state.of_two[line] = true
    self:count "of_two"
  end
end
function observer:on_hit(sm, _, address) look(self, sm, address) end
observer.on_miss, observer.on_merge = observer.on_hit, observer.on_hit
return observer
]])
  local sim = ww.build("gallery/heterogeneous", { policy = observer, set = { ["dispatcher.kernels_per_sm"] = 2, ["sm[*].local_layout"] = "word" } })
  local gpu = sim:gpu()
  local kernels, out = gpu:load(harness.folder() .. "/local.ptx"), gpu:alloc(4)
  local keep = { kernel = kernels.keep, grid = 60, block = 256, args = { out } }
  gpu:launch_together { keep, { kernel = kernels.keep, grid = 1, block = 32, args = { out } } }
  local r = sim:result()
  harness.equal(r["l2[*].observer.of_two"], 0)
  assert(r["l2[*].observer.seen"] > 1000, r["l2[*].observer.seen"])
end)

harness.finish()
