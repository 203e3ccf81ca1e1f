-- Host programs that pause, for sim:run { until_cycle = }: where they do, what the script that drives them may do with the
-- device meanwhile, and that none of it changes what comes after, nor what a checkpoint holds.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local machine = { set = { "sms=2", "partitions=2" } }
local path = harness.folder() .. "/paused.ckpt"

local function built(options)
  return ww.build("gtx480", { set = options and options.set or machine.set, policy = options and options.policy })
end

local function refused(wanted, call, ...)
  local ok, problem = pcall(call, ...)
  assert(not ok, "it was not refused: " .. wanted)
  harness.contains(tostring(problem), wanted)
end

--- Two kernels after each other; the second one adds to what the first one made.
local twice = dofile(harness.write("twice.lua", [==[
local w = require("warpwright").workload "twice" { sizes = { small = { n = 2048 } }, ptx = [[
.version 6.0
.target sm_20
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 k)
{
  .reg .u64 %rd<4>; .reg .u32 %r<6>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [k];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r5, [%rd3];
  add.u32 %r5, %r5, %r1;
  st.global.u32 [%rd3], %r5;
  ret;
}
]] }
function w:run(gpu, size)
  local n, ww = size.n, require "warpwright"
  self.out = gpu:upload(ww.array("u32", n):fill(7))
  for k = 1, 2 do gpu:launch(self.kernels.add, { grid = n // 128, block = 128, args = { self.out, k } }) end
  self:check("out", gpu:download("u32", self.out, n), ww.array("u32", n):fill(10))
end
return w]==]))

local base = 0xc0000000 -- where the first allocation is

local whole = ww.run { config = "gtx480", workload = twice, set = machine.set, out = false }
local first_end = whole.launches[1].cycles
local middle = first_end + whole.launches[2].cycles // 2
local digest
do
  local sim = built()
  sim:run(twice)
  digest = sim:gpu():digest()
  sim:close()
end

--- What a new machine makes of the checkpoint: cycles at the end, and the digest of its memory.
local function resumed(prepare)
  local sim = built()
  sim:resume(path)
  if prepare then prepare(sim) end
  sim:start(twice)
  local _, checks = sim:run {}
  local cycles, memory = sim:result().cycles, sim:gpu():digest()
  sim:close()
  harness.equal(checks, 1, "checks")
  return cycles, memory
end

local function expect_resume(prepare)
  local cycles, memory = resumed(prepare)
  harness.equal(cycles, whole.cycles, "cycles")
  harness.equal(memory, digest, "memory")
end

-- Reading ------------------------------------------------------------------------------------------------------------

--- All ways to read.
local function peek(sim)
  local gpu = sim:gpu()
  gpu:digest()
  assert(gpu:read("u32", base) >= 7)
  return #gpu:download("u32", base, 2048)
end

harness.test("a script reads the device while a launch is paused, and the checkpoint that it makes then resumes", function()
  for _, cycle in ipairs { first_end // 2, middle } do
    local sim = built()
    sim:start(twice)
    assert(not sim:run { until_cycle = cycle })
    peek(sim)
    sim:checkpoint(path)
    peek(sim)
    sim:run {}
    harness.equal(sim:result().cycles, whole.cycles, "cycles of the run that was looked at")
    sim:close()
    expect_resume()
  end
end)

harness.test("what was read while a launch was paused does not spoil later checkpoints", function()
  local sim = built()
  sim:start(twice)
  sim:run { until_cycle = first_end // 2 }
  peek(sim)
  sim:run { until_cycle = middle }
  sim:checkpoint(path)
  sim:close()
  expect_resume()
end)

harness.test("a resumed run is read while it is paused, and saved again", function()
  local sim = built()
  sim:start(twice)
  sim:run { until_cycle = first_end // 2 }
  sim:checkpoint(path)
  sim:close()
  sim = built()
  sim:resume(path)
  sim:start(twice)
  sim:run { until_cycle = 1 }
  peek(sim)
  sim:checkpoint(path)
  sim:close()
  expect_resume()
end)

harness.test("a script reads before the first launch, between two, and after the end", function()
  local sim = built()
  sim:start(twice)
  sim:gpu():digest()
  sim:run { until_cycle = 0 }
  peek(sim)
  sim:run { until_cycle = first_end }
  peek(sim)
  sim:checkpoint(path)
  expect_resume()
  sim:run {}
  harness.equal(peek(sim), 2048)
  sim:checkpoint(path)
  sim:close()
  expect_resume()
end)

harness.test("there is nothing to read before a resumed host program has caught up", function()
  local sim = built()
  sim:start(twice)
  sim:run { until_cycle = middle }
  sim:checkpoint(path)
  sim:close()
  sim = built()
  sim:resume(path)
  sim:start(twice)
  local gpu = sim:gpu()
  refused("digest: expected a host program that has caught up with checkpoint " .. path, gpu.digest, gpu)
  refused("result: expected a host program that has caught up with checkpoint " .. path, sim.result, sim)
  sim:run { until_cycle = 1 }
  peek(sim)
  sim:close()
end)

-- Changing -----------------------------------------------------------------------------------------------------------

--- Each call that changes the device is refused, with these words behind its name.
local function expect_unchangeable(sim, kernels, words)
  local gpu = sim:gpu()
  local before = gpu:digest()
  refused("alloc: " .. words, gpu.alloc, gpu, 64)
  refused("free: " .. words, gpu.free, gpu, base)
  refused("upload: " .. words, gpu.upload, gpu, ww.array("u32", 4))
  refused("write: " .. words, gpu.write, gpu, base, ww.array("u32", 4))
  refused("fill: " .. words, gpu.fill, gpu, base, 0, 4)
  refused("load: " .. words, gpu.load, gpu, "workloads/vecadd/vecadd.ptx")
  refused("texture: " .. words, gpu.texture, gpu, { buffer = base, format = "u32", width = 4 })
  refused("bind_texture: " .. words, gpu.bind_texture, gpu, kernels, "t", 1)
  refused("launch: " .. words, gpu.launch, gpu, kernels.add, { grid = 1, block = 1, args = { base, 1 } })
  harness.equal(gpu:digest(), before, "memory")
end

harness.test("what would change the device is refused while a host program has not ended, and nothing is noted of it", function()
  local sim, kernels = built()
  local w = dofile(harness.folder() .. "/twice.lua")
  local run = w.run
  function w:run(gpu, size) kernels = self.kernels return run(self, gpu, size) end
  sim:start(w)
  refused("alloc: the host program has not ended; until then the device is read-only for scripts", sim:gpu().alloc, sim:gpu(), 64)
  sim:run { until_cycle = 0 }
  expect_unchangeable(sim, kernels, "the host program has not ended; until then the device is read-only for scripts")
  sim:run { until_cycle = middle }
  expect_unchangeable(sim, kernels, "kernel add has not ended; until then the device is read-only")
  sim:checkpoint(path)
  sim:run {}
  harness.equal(sim:result().cycles, whole.cycles, "cycles")
  sim:close()
  expect_resume()
end)

harness.test("after the end of its host program a machine runs another one, and a script's own kernels, and resumes", function()
  local function run_all(sim, save)
    sim:run(twice)
    sim:run(twice)
    local gpu = sim:gpu()
    local kernels = gpu:load "workloads/vecadd/vecadd.ptx"
    local a = gpu:upload(ww.array("f32", 256):fill(1))
    gpu:launch(kernels.vecadd, { grid = 1, block = 256, args = { a, a, a, 256 } })
    if save then sim:checkpoint(path) end
    gpu:launch(kernels.vecadd, { grid = 1, block = 256, args = { a, a, a, 256 } })
    harness.equal(gpu:read("f32", a), 4.0, "a[0]")
    return sim:result().cycles
  end
  local sim = built()
  local cycles = run_all(sim, true)
  sim:close()
  sim = built()
  sim:resume(path)
  harness.equal(run_all(sim), cycles, "cycles")
  sim:close()
end)

harness.test("a host program that ends before the checkpoint says so", function()
  local sim = built()
  sim:run(twice)
  sim:checkpoint(path)
  sim:close()
  sim = built()
  sim:resume(path)
  local w = dofile(harness.folder() .. "/twice.lua")
  function w:run(gpu, size) gpu:upload(ww.array("u32", size.n):fill(7)) end
  refused("resume: call 3 of the host program: expected 'launch add", sim.run, sim, w)
  sim:close()
end)

-- Calls that fail ----------------------------------------------------------------------------------------------------

harness.test("a host program catches errors of its calls, and its checkpoints resume", function()
  local w = dofile(harness.folder() .. "/twice.lua")
  local run = w.run
  function w:run(gpu, size)
    assert(not pcall(gpu.alloc, gpu, 1 << 50))
    assert(not pcall(gpu.free, gpu, 5))
    assert(not pcall(gpu.launch, gpu, self.kernels.add, { grid = 1, block = 4096, args = { 0, 1 } }))
    run(self, gpu, size)
    assert(not pcall(gpu.free, gpu, 5))
  end
  local function to(cycle)
    local sim = built()
    sim:start(w)
    sim:run { until_cycle = cycle }
    sim:checkpoint(path)
    sim:close()
    sim = built()
    sim:resume(path)
    local checks = sim:run(w)
    harness.equal(checks, 1, "checks")
    harness.equal(sim:result().cycles, whole.cycles, "cycles")
    sim:close()
  end
  to(0)
  to(middle)
  to(nil)
end)

-- Where it pauses ----------------------------------------------------------------------------------------------------

harness.test("a cycle between two launches, or at the first one, is before the launch", function()
  local sim = built()
  sim:start(twice)
  for cycle, launches in pairs { [0] = 0, [first_end] = 1 } do
    sim:close()
    sim = built()
    sim:start(twice)
    for _ = 1, 2 do -- it stays there
      assert(not sim:run { until_cycle = cycle })
      local r = sim:result()
      harness.equal(r.cycles, cycle, "cycle")
      harness.equal(#r.launches, launches, "launches")
      harness.equal(r["sm[*].ctas_started"], launches * 16, "CTAs")
    end
  end
  sim:run {}
  harness.equal(sim:result().cycles, whole.cycles, "cycles")
  sim:close()
end)

harness.test("a run goes on to the beginning of a launch, and what comes from there on is a result of its own", function()
  local sim = built()
  sim:start(twice)
  for launch, cycle in ipairs { first_end } do
    for _ = 1, 2 do -- it stays there
      assert(not sim:run { until_launch = launch })
      harness.equal(sim:result().cycles, cycle, "cycle")
    end
  end
  local before = sim:result()
  harness.equal(#before.launches, 1, "launches")
  sim:checkpoint(path)
  expect_resume()
  local fork = sim:fork { { name = "same" }, out = false }[1]
  assert(sim:run { until_launch = 2 }, "a run without launch 2 ends")
  local phase = sim:result():since(before)
  harness.equal(#phase.launches, 1, "launches of the phase")
  harness.equal(phase.cycles, whole.cycles - first_end, "cycles of the phase")
  harness.equal(fork:since(before).cycles, phase.cycles, "cycles of the phase in a fork")
  sim:close()
end)

harness.test("a run goes on to a cycle or a launch, whichever comes first, and past what has been", function()
  local sim = built()
  sim:start(twice)
  assert(not sim:run { until_launch = 1, until_cycle = first_end // 2 })
  local cycles = sim:result().cycles
  assert(cycles >= first_end // 2 and cycles < first_end, "it is at cycle " .. cycles)
  sim:checkpoint(path)
  assert(not sim:run { until_launch = 0 })
  harness.equal(sim:result().cycles, first_end, "cycle before the launch behind launch 0")
  sim:close()
  sim = built()
  sim:resume(path)
  sim:start(twice)
  assert(not sim:run { until_launch = 1, until_cycle = middle })
  harness.equal(sim:result().cycles, first_end, "cycle in a run that was resumed")
  refused("sim:run: until_launch: expected the number of a launch, got 1.5", sim.run, sim, { until_launch = 1.5 })
  refused("until_launch: expected a launch from 0 on, got -2", sim.run, sim, { until_launch = -2 })
  sim:close()
end)

harness.test("kernels that are launched together begin together: a run goes on to the list of them", function()
  local w = dofile(harness.folder() .. "/twice.lua")
  function w:run(gpu, size)
    local n = size.n
    local add = { kernel = self.kernels.add, grid = n // 128, block = 128, args = { gpu:upload(ww.array("u32", n)), 1 } }
    gpu:launch_together { add }
    gpu:launch_together { add, add }
    gpu:launch_together { add }
  end
  local sim = built()
  sim:start(w)
  for launch, launches in ipairs { 1, 1, 3 } do
    assert(not sim:run { until_launch = launch })
    harness.equal(#sim:result().launches, launches, "launches that have ended")
  end
  sim:run {}
  harness.equal(#sim:result().launches, 4, "launches")
  sim:close()
end)

harness.test("a policy that begins before a launch is told of its start: as if it had been there from the beginning", function()
  local tells = harness.write("tells.lua", [[
local p = require("warpwright.policy") "tells" { counters = { starts = "" } }
function p:on_kernel_start() self:count "starts" self.sm.warp_limit = 1 end
return p]])
  local want = ww.run { config = "gtx480", workload = twice, set = machine.set, policy = tells, out = false }
  assert(want.cycles ~= whole.cycles, "the policy changes nothing")
  harness.equal(want["sm[*].tells.starts"], 4, "starts")
  local sim = built()
  sim:start(twice)
  sim:run { until_cycle = 0 }
  local r = sim:fork { { policy = tells }, out = false }[1]
  for name, value in want:stats() do
    if r[name] ~= nil and not name:match "seconds" then harness.equal(r[name], value, name) end
  end
  harness.equal(r["sm[*].tells.starts"], 4, "starts")
  sim:change { policy = tells }
  sim:run {}
  harness.equal(sim:result().cycles, want.cycles, "cycles after a change in place")
  sim:close()
end)

harness.test("core sampling that begins at cycle 0 is what it is from the beginning", function()
  local set = { "sm[*].l1d.size=8KiB" }
  local want = ww.run { config = "gtx480", workload = "kmeans", size = "small", policy = "dwt_cs", set = set, out = false }
  local sim = built { set = set }
  sim:start("kmeans", "small")
  sim:run { until_cycle = 0 }
  harness.equal(sim:fork { { policy = "dwt_cs" }, out = false }[1].cycles, want.cycles, "cycles")
  sim:close()
end)

-- Coroutines of the host program's own ---------------------------------------------------------------------------------

--- The same, with its launches in a coroutine; `ended` says what it went on with after the first one.
local function in_coroutine(ended)
  local w = dofile(harness.folder() .. "/twice.lua")
  local run = w.run
  function w:run(gpu, size)
    local co = coroutine.wrap(function() run(self, gpu, size) return "all is launched" end)
    ended.with = co()
  end
  return w
end

harness.test("a host program launches in a coroutine of its own", function()
  local ended = {}
  local r = ww.run { config = "gtx480", workload = in_coroutine(ended), set = machine.set, out = false }
  harness.equal(ended.with, "all is launched")
  harness.equal(r.cycles, whole.cycles, "cycles")
end)

harness.test("a host program that yields by itself is refused at its line", function()
  local text = harness.read(harness.folder() .. "/twice.lua"):gsub("self:check%b()", "coroutine.yield(3)\n  %0")
  local yielding = harness.write("yielding.lua", text)
  local _, before = text:match "^(.-)coroutine.yield":gsub("\n", "\n")
  local wanted <const> = ("%s:%d: coroutine.yield: expected a call in a coroutine that the host program has made"):format(yielding, before + 1)
  for _, cycle in ipairs { false, middle } do
    local sim = built()
    sim:start(dofile(yielding))
    if cycle then harness.equal(sim:run { until_cycle = cycle }, false, "paused first") end
    refused(wanted, sim.run, sim, {})
    sim:run(twice)
    sim:close()
  end
  local out = harness.folder() .. "/yielding"
  harness.refused(wanted, "run", "gtx480", yielding, "--out", out)
  harness.contains(harness.read(out .. "/stats.txt"), "run.cycles ")
end)

harness.test("a coroutine that the host program has made yields to it between launches, and across a checkpoint", function()
  local w = dofile(harness.folder() .. "/twice.lua")
  function w:run(gpu, size)
    local n = size.n
    self.out = gpu:upload(ww.array("u32", n):fill(7))
    local next_launch = coroutine.wrap(function()
      for k = 1, 2 do
        gpu:launch(self.kernels.add, { grid = n // 128, block = 128, args = { self.out, k } })
        coroutine.yield(k)
      end
    end)
    for k = 1, 2 do
      harness.equal(next_launch(), k)
      if k == 1 and not self.is_resumed then self.sim:checkpoint(path) end
    end
    self:check("out", gpu:download("u32", self.out, n), ww.array("u32", n):fill(10))
  end
  local sim = built()
  harness.equal(sim:run(w), 1, "checks")
  sim:close()
  w.is_resumed = true
  local other = built()
  other:resume(path)
  harness.equal(other:run(w), 1, "checks")
  harness.equal(other:result().cycles, whole.cycles, "cycles")
  other:close()
end)

harness.test("a pause in a coroutine of the host program's own is refused, and not taken for the end of the launch", function()
  for _, cycle in ipairs { 0, middle } do
    local ended, sim = {}, built()
    sim:start(in_coroutine(ended))
    refused("until_cycle was reached, and a host program cannot pause where it launches in a coroutine of its own",
      sim.run, sim, { until_cycle = cycle })
    harness.equal(ended.with, nil)
    assert(sim:result().cycles >= cycle)
    sim:close()
  end
  local ended, sim = {}, built()
  sim:start(in_coroutine(ended))
  refused("until_launch: expected launch 1 where the host program can pause, got one in a coroutine of its own", sim.run, sim,
    { until_launch = 1 })
  harness.equal(ended.with, nil)
  sim:close()
end)

harness.test("a pause in a function that C calls is refused", function()
  local w = dofile(harness.folder() .. "/twice.lua")
  local run = w.run
  function w:run(gpu, size) ("x"):gsub("x", function() run(self, gpu, size) end) end
  local sim = built()
  sim:start(w)
  refused("until_cycle was reached", sim.run, sim, { until_cycle = middle })
  sim:close()
end)

harness.test("a host program does not run itself", function()
  local sim, w = built(), dofile(harness.folder() .. "/twice.lua")
  local run = w.run
  function w:run(gpu, size)
    refused("sim:run {}: the host program is running", sim.run, sim, {})
    run(self, gpu, size)
  end
  harness.equal(sim:run(w), 1, "checks")
  sim:close()
end)

harness.finish()
