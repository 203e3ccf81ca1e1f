-- A warm machine goes on as another one: which machines its state can be transferred to, and what is refused.
local core = require "warpwright.core"
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local warm = 40000

local function warm_machine()
  local sim = ww.build("gtx480", { policy = "gto" })
  sim:start("kmeans", "small")
  assert(not sim:run { until_cycle = warm })
  return sim
end

local function finish(sim)
  assert(sim:run {})
  local r = sim:result()
  sim:close()
  return r
end

local function changed(set)
  local sim = warm_machine()
  local notes = sim:change { set = set }
  return finish(sim), table.concat(notes, "\n")
end

local straight = finish(warm_machine())

harness.test("no change at all is no change", function()
  local r = changed {}
  for name, value in straight:stats() do
    assert(r[name] == value or value ~= value, name .. " differs")
  end
end)

harness.test("timing may change", function()
  local r, notes = changed { ["l2[*].rop_delay"] = 100, ["sm[*].shared_atomic_cycles"] = 4 }
  assert(r.cycles < straight.cycles, "a faster L2 is not faster")
  harness.contains(notes, "l2[0].rop_delay: 120 became 100", "sm[0].shared_atomic_cycles: 0 became 4")
end)

harness.test("a larger L1 keeps its lines and hits more", function()
  local r, notes = changed { ["sm[*].l1d.size"] = "32KiB" }
  assert(r["sm[*].l1d.misses"] < straight["sm[*].l1d.misses"], "a larger cache misses more")
  harness.contains(notes, "sm[3].l1d.size: 16384 became 32768", "sm[3].l1d: lines were moved to their new sets")
end)

harness.test("a smaller L1 drops what has no room", function()
  local r, notes = changed { ["sm[*].l1d.size"] = "8KiB" }
  assert(r["sm[*].l1d.misses"] > straight["sm[*].l1d.misses"], "a smaller cache misses less")
  harness.contains(notes, "clean ones that found no way there were dropped")
end)

harness.test("lines move to the sets of another index", function()
  local _, notes = changed {
    ["sm[*].l1d.index"] = "xor", ["sm[*].l1d.index_masks"] = "0x1080,0x2100,0x4200,0x8400,0x10800",
  }
  harness.contains(notes, "sm[0].l1d.index: linear became xor", "sm[0].l1d: lines were moved to their new sets")
end)

harness.test("an L2 of another size keeps its lines", function()
  local r = changed { ["l2[*].size"] = "64KiB" }
  assert(r["l2[*].misses"] >= straight["l2[*].misses"], "a smaller L2 misses less")
  r = changed { ["l2[*].ways"] = 8 }
  assert(r["l2[*].misses"] < 2 * straight["l2[*].misses"], "the lines were lost on the way")
end)

harness.test("the scheduler may change", function()
  local sim = warm_machine()
  sim:change { policy = "lrr" }
  local r = finish(sim)
  assert(r.policy == "lrr" and r.cycles > straight.cycles, "the order did not change")
end)

harness.test("what policies set stays under the same policy, and that is told", function()
  local r, notes = changed { ["sm[*].scheduler"] = "lrr" }
  assert(r.cycles == straight.cycles, "the order changed")
  harness.contains(notes, "sm[3].scheduler: stays gto and does not become lrr")
end)

harness.test("the policy that the machine has goes on with what it knows", function()
  local function cycles_of(change)
    local sim = ww.build("gallery/private_l1", { policy = "atlas:quantum=2000" })
    sim:start("spmv", "small")
    assert(not sim:run { until_cycle = 20000 })
    if change then harness.equal(table.concat(sim:change(change), "\n"), "", "notes") end
    return finish(sim).cycles
  end
  harness.equal(cycles_of { policy = "atlas:quantum=2000" }, cycles_of(), "cycles")
end)

harness.test("what state depends on is refused by path and name", function()
  for _, case in ipairs {
    { "sm[*].texture_cache.line", 64, "sm[0].texture_cache.line: expected 128 as in the checkpoint" }, { "sm[*].warps", 32, "sm[0].warps: expected 48 as in the checkpoint" },
    { "quantum", 8, "a quantum of 16 cycles as in the checkpoint" }, { "clock.core", "800MHz", "clock.core: expected 700000000 Hz as in the checkpoint, got 800000000 Hz" },
  } do
    local sim = warm_machine()
    local ok, problem = pcall(sim.change, sim, { set = { [case[1]] = case[2] } })
    assert(not ok, case[1] .. " was accepted")
    harness.contains(tostring(problem), case[3])
    sim:close()
  end
end)

--- Three kernels side by side, of which an SM has room for CTAs of each; what a change to so many in an SM gives, and the launches.
local together <const> = harness.write("together.lua", ([[
local ww = require "warpwright"
local w = ww.workload "together" { ptx = %q, sizes = { small = {} } }
function w:run(gpu)
  local list, counts = {}, gpu:alloc(4 * 150)
  for i, ctas in ipairs { 150, 150, 150 } do
    list[i] = { kernel = self.kernels.count_inside, grid = ctas, block = 128,
      args = { gpu:upload(ww.array("u32", 6 * 128 * ctas):random(i, 1, 0xffffffff)), counts, 4 } }
  end
  gpu:launch_together(list)
end
return w]]):format(harness.write("together.ptx", harness.read(core.home_path "workloads/monte_carlo_pi/monte_carlo_pi.ptx"))))

local function per_sm(before, after)
  local sim = ww.build("gtx480", { policy = "gto", set = { ["dispatcher.kernels_per_sm"] = before, ["dispatcher.sharing"] = "evenly" } })
  sim:start(together)
  assert(not sim:run { until_cycle = 2000 })
  local good, said = pcall(sim.change, sim, { set = { ["dispatcher.kernels_per_sm"] = after } })
  local r = good and finish(sim)
  sim:close()
  return r, good and table.concat(said, "\n") or tostring(said)
end

harness.test("kernels that an SM may have at once may become more or fewer within a launch, but not one, nor several from one", function()
  local as_it_was = per_sm(2, 2)
  for _, pair in ipairs { { 2, 3 }, { 3, 2 } } do
    local r, notes = per_sm(pair[1], pair[2])
    harness.contains(notes, ("dispatcher.kernels_per_sm: %d became %d"):format(pair[1], pair[2]))
    harness.equal(r.warp_instructions, as_it_was.warp_instructions, "instructions")
    if pair[1] < pair[2] then assert(r.cycles ~= as_it_was.cycles, "it changes nothing") end
  end
  local _, problem = per_sm(1, 2)
  harness.contains(problem, "dispatcher.kernels_per_sm: expected 1 from a launch of several kernels to the next launch, got 2")
  _, problem = per_sm(2, 1)
  harness.contains(problem, "dispatcher.kernels_per_sm: expected 2 or more from a launch of several kernels to the next launch, got 1")
end)

harness.test("warps of several kernels go on with their own code under a policy that sets knobs as it starts", function()
  local path = harness.write("side_by_side.lua", [=[
local ww = require "warpwright"
local w = ww.workload "side_by_side" { sizes = { small = {} }, ptx = [[
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 out)
{ .reg .b64 %d<4>; .reg .b32 %r<4>; .reg .pred %p;
  ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; mov.u32 %r2, 0;
L: add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 200; @%p bra L;
  st.global.u32 [%d3], %r2; ret; }
.visible .entry mix(.param .u64 out)
{ .reg .b64 %d<4>; .reg .b32 %r<4>; .reg .pred %p;
  ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; mov.u32 %r2, 0; mov.u32 %r3, 7;
L: add.u32 %r2, %r2, 1; xor.b32 %r3, %r3, %r2; setp.lt.u32 %p, %r2, 103; @%p bra L;
  st.global.u32 [%d3], %r3; ret; }
]] }
function w:run(gpu)
  local a, b = gpu:alloc(256), gpu:alloc(256)
  gpu:launch_together {
    { kernel = self.kernels.add, grid = 4, block = 64, args = { a } }, { kernel = self.kernels.mix, grid = 4, block = 64, args = { b } },
  }
  for i = 0, 63 do
    self:check("add", gpu:download("u32", a, 64)[i], 200)
    self:check("mix", gpu:download("u32", b, 64)[i], 7)
  end
end
return w
]=])
  local function cycles_of(change)
    local sim = ww.build("gallery/private_l1", { policy = "mascar", set = { ["dispatcher.kernels_per_sm"] = 2 } })
    sim:start(path, "small")
    assert(not sim:run { until_cycle = 1000 })
    if change then sim:change(change) end
    return finish(sim).cycles
  end
  harness.equal(cycles_of { policy = "mascar" }, cycles_of(), "cycles")
end)

-- The memory controllers' queues: one under gto, two under wms and medic -----------------------------------------------

local load_cycle, later_cycle = 4800, 65600 -- of gesummv, boundaries of quanta: DRAM is busy in both
local runs = 0

local function resumed(checkpoint, ...)
  runs = runs + 1
  local out = ("%s/run_%d"):format(harness.folder(), runs)
  local status, output = harness.run("run", "--resume", checkpoint, "--out", out, ...)
  harness.equal(status, 0, output)
  harness.contains(output, "verified")
  return harness.read(out .. "/stats.txt"), output, out
end

--- How many requests wait under gto in `load_cycle`, and under `policy`, which begins then, in `later_cycle`.
local function waiting(policy)
  local sim, sums = ww.build("gtx480", { policy = "gto" }), {}
  sim:start("gesummv", "small")
  for i, cycle in ipairs { load_cycle, later_cycle } do
    assert(not sim:run { until_cycle = cycle })
    local r, sum = sim:result(), 0
    for _, name in ipairs { "reads", "writes" } do sum = sum + r["mc[*]." .. name] end
    for _, name in ipairs { "row_hits", "row_misses", "row_conflicts" } do sum = sum - r["mc[*]." .. name] end
    sums[i] = sum
    if i == 1 then sim:change { policy = policy } end
  end
  sim:close()
  return table.unpack(sums)
end

for _, policy in ipairs { "medic:interval=1000,warm_up=5", "wms:interval=1000,warm_up=5" } do
  harness.test(policy .. " gets what waits at the memory controllers, and gives it back", function()
    local before, after = waiting(policy)
    assert(before > 20 and after > 5, ("%d and %d requests wait"):format(before, after))
    local folder = harness.folder() .. "/" .. policy:match "%w+"
    local status, output = harness.run("run", "gtx480", "gesummv", "--size", "small", "--policy", "gto", "--out", folder,
      "--checkpoint-at", load_cycle)
    harness.equal(status, 0, output)
    local saved, change = ("%s/%d.ckpt"):format(folder, load_cycle), { "--policy", policy, "--allow-changes" }
    local want, told, out = resumed(saved, "--checkpoint-at", later_cycle, table.unpack(change))
    harness.contains(told, "mc[*].queues: 1 became 2", "mc[*]: waiting requests were put into the queues of their classes")
    assert(not want:find "mc%[%d%]%.urgent +0 ", "no request has gone first")
    harness.same_text(resumed(saved, "--order", "reversed", "--threads", 2, table.unpack(change)), want, "another order")
    local later = ("%s/%d.ckpt"):format(out, later_cycle)
    harness.same_text(resumed(later), want, "resumed from a later checkpoint")
    local back, told_back = resumed(later, "--policy", "gto", "--allow-changes")
    harness.contains(told_back, "mc[*].queues: 2 became 1", "mc[*]: waiting requests were put into one queue")
    assert(back ~= want and back ~= harness.read(folder .. "/stats.txt"), "the queues made no difference")
  end)
end

harness.test("shorter queues drain before they take more", function()
  local sim = ww.build("gtx480", { policy = "gto" })
  sim:start("gesummv", "small")
  assert(not sim:run { until_cycle = load_cycle })
  local notes = sim:change { set = { ["mc[*].queue_entries"] = 2 } }
  harness.contains(table.concat(notes, "\n"), "mc[0].queue_entries: 64 became 2")
  assert(finish(sim)["mc[*].queue_full_cycles"] > 10000, "nothing waited for room")
end)

-- What stands in front of an L1's tags: nothing under gto, a queue under mascar, a buffer under mrpb ---------------------

for policy, proof in pairs { mascar = "sm[*].l1d.reexecution_pushes", mrpb = "sm[*].l1d.prioritization_overtakes" } do
  harness.test(policy .. " goes on from a machine that was warmed under gto", function()
    local folder = harness.folder() .. "/" .. policy
    local status, output = harness.run("run", "gtx480", "gesummv", "--size", "small", "--policy", "gto", "--out", folder,
      "--checkpoint-at", load_cycle)
    harness.equal(status, 0, output)
    local saved, change = ("%s/%d.ckpt"):format(folder, load_cycle), { "--policy", policy, "--allow-changes" }
    local want, _, out = resumed(saved, "--checkpoint-at", later_cycle, table.unpack(change))
    assert(tonumber(want:match("%f[%S]" .. proof:gsub("%p", "%%%0"):gsub("%%%*", "0") .. "%s+(%d+)")) > 0, proof .. " is 0")
    harness.same_text(resumed(saved, "--order", "reversed", "--threads", 2, table.unpack(change)), want, "another order")
    harness.same_text(resumed(("%s/%d.ckpt"):format(out, later_cycle)), want, "resumed from a later checkpoint")
  end)
end

local retries = "sm[*].l1d.reexecution_retries"

harness.test("accesses in a re-execution queue are served by a machine that has none, or a shorter one", function()
  for _, change in ipairs { { policy = "gto" }, { set = { ["sm[*].l1d.reexecution_entries"] = 1 } } } do
    local sim = ww.build("gtx480", { policy = "mascar" })
    sim:start("gesummv", "small")
    assert(not sim:run { until_cycle = load_cycle })
    local before, notes = sim:result()[retries], sim:change(change)
    harness.contains(table.concat(notes, "\n"), "l1d.reexecution_entries: 32 became")
    local rest = finish(sim)
    assert(rest[retries] > before, "nothing waited in the queues")
  end
end)

harness.finish()
