-- Arguments of the wrong type in a script: the error names the script's line and what is legal, no file of the library.
local harness = require "tests.lib.harness"

local HEAD <const> = [[
local ww = require "warpwright"
local sim, of_sweep = ww.build("gtx480", { set = { "sms=1" } }), { config = "gtx480", workload = "vecadd", size = "small,n=1024" }
sim:start("vecadd", "small,n=1024")
]]

local wrong <const> = {
  ["sim:object(true)"] = "object: expected a path, got true",
  ["sim:checkpoint {}"] = "checkpoint: expected a file, got a table",
  ["sim:resume(nil)"] = "sim:resume: expected a checkpoint, got nil",
  ["sim:run { until_cycle = 1.5 }"] = "sim:run: until_cycle: expected a core cycle, got 1.5",
  ['sim:run { until_cycle = "x" }'] = "sim:run: until_cycle: expected a core cycle, got 'x'",
  ["sim:fork { { policy = true } }"] = "sim:fork: policy: expected a name, a path, a policy or a list of these, got true",
  ["sim:fork { { name = {} } }"] = "sim:fork: name: expected a text, got a table",
  ["sim:fork()"] = "sim:fork: expected { { policy =, set =, name = } ..., jobs =, out = }, got nil",
  ["sim.result()"] = "sim:result: expected a machine of ww.build in front of the colon, got nil",
  ['sim:result().energy_by "fermi_40nm"'] = "r:energy_by: expected a result in front of the colon, got 'fermi_40nm'",
  ['sim:resume("x", { allow_changes = "no" })'] = "sim:resume: allow_changes: expected true or false, got 'no'",
  ['ww.run { config = "gtx480", workload = "vecadd", allow_changes = true }'] = "allow_changes: expected resume with it, got none",
  ['ww.run { config = "gtx480", workload = "vecadd", keep = 2, out = false }'] = "out: expected a folder for checkpoints, got false",
  ['ww.run { config = "gtx480", workload = "vecadd", size = "small,n=1024", stats_every = 1000, out = false }'] =
    "out: expected a folder for the intervals of stats_every, got false",
  ["ww.run { pin = 1 }"] = "pin: expected true or false, got 1",
  ['ww.build("gtx480", { memcheck = "no" })'] = "memcheck: expected true or false, got 'no'",
  ['ww.build("gtx480", { profile = 0 })'] = "profile: expected true or false, got 0",
  ['ww.run { config = "gtx480", workload = "vecadd", size = "small,medium" }'] =
    "size: expected one size of workload vecadd, got small and medium",
  ['ww.workload "w" { sizes = { small = {} } }'] =
    "workload w: ptx: expected a PTX file, PTX text, or false where the host program loads all that it runs, got nil",
  ['ww.workload "w" { ptx = false, sizes = { small = 5 } }'] = "workload w: sizes: small: expected a table of parameters, got 5",
  ['ww.rng "x"'] = "ww.rng: seed: expected a whole number, got 'x'",
  ["ww.rng(1):int(1.5, 2)"] = "rng:int: lo: expected a whole number, got 1.5",
  ["ww.rng(1):bytes(4)"] = "rng:bytes: lo: expected a whole number, got nothing",
  ['ww.array(5, 4)'] = "type: expected i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, f16 or bf16, got 5",
  ['ww.array("i32", 4):random(0.5, 0, 1)'] = "random: seed: expected a whole number, got 0.5",
  ["ww.sweep(3)"] = "ww.sweep: expected { axes =, out = ... }, got 3",
  ["ww.sweep { axes = of_sweep }"] = "ww.sweep: out: expected a folder, got nil",
  ["ww.sweep { axes = of_sweep, out = 3 }"] = "ww.sweep: out: expected a folder, got 3",
  ['ww.sweep { axes = of_sweep, out = "x", say = 3 }'] = "ww.sweep: say: expected a function of a line, got 3",
  ['ww.sweep { axes = of_sweep, out = "x", jobs = "2" }'] = "ww.sweep: jobs: expected a whole number from 1 on, got '2'",
  ['ww.workload "w" { ptx = false, sizes = { small = {} } }:check_that("right", true)'] =
    "check_that: expected self:check_that(...) in the workload's run, got another value in front of the colon",
  ['sim:objects "Nope"'] = "objects: no class matches 'Nope'",
  ["sim:objects(3)"] = "objects: no class matches '3'",
  ['ww.machine("x", { n = {} }, print)'] =
    "ww.machine: options: expected a number, a text, true or false, or a list of one of these as n, got a table",
  ['ww.machine("x", { n = { "a", 2 } }, print)'] =
    "ww.machine: options: expected a number, a text, true or false, or a list of one of these as n, got a table",
  ['ww.variant("x", "gtx480_mesh", { routing = "adaptiv" }, print)'] =
    "ww.variant: options: routing: expected dimension_order or adaptive, got 'adaptiv'",
  ['ww.machine("x", { 1 }, print)'] = "ww.machine: options: expected NAME = default, got 1",
}

for call, message in pairs(wrong) do
  harness.test(call, function()
    local path = harness.write("wrong.lua", HEAD .. call .. "\n")
    harness.refused(("error: %s:4: %s"):format(path, message), path)
  end)
end

local OF_A_SCRIPT <const> = [[
local ww = require "warpwright"
local gpu = ww.build("gtx480", { set = { "sms=1" } }):gpu()
local kernels = gpu:load "workloads/vecadd/vecadd.ptx"
local data = gpu:alloc(4096) local function launch(how) how.grid, how.block, how.args = 1, 32, { data, data, data, 32 } gpu:launch(kernels.vecadd, how) end
]]

local wrong_of_device <const> = {
  ['gpu:alloc(16, "x")'] = "alloc: align: expected a whole number, got 'x'",
  ["gpu:fill(data, 0.5, 1)"] = "fill: byte: expected a whole number, got 0.5",
  ['gpu:recorded_copy(256, "x")'] = "recorded_copy: bytes: expected a whole number, got 'x'",
  ["gpu:recorded_copy(256, -1)"] = "recorded_copy: bytes: expected 0 to 1099511627520 behind 0x100, got -1",
  ['gpu:set_heap "x"'] = "set_heap: expected a number of bytes up to 1099511627776, got 'x'",
  ["gpu:bind_texture(kernels)"] = "bind_texture: expected the name of a .texref or .surfref, got nil",
  ["gpu:launch(kernels.vecadd)"] = "launch: expected { grid =, block =, args = }, got nothing",
  ["gpu:launch(kernels.vecadd, { grid = 1, block = 32, args = { data, data, data, 32, zeta = 1, beta = 2 } })"] =
    "kernel vecadd: args: expected a list of 4, got the key 'beta' beside it",
  ["gpu:launch(kernels.vecadd, { grid = 1, block = 32, args = { data, data, data, 32, n = 3 } })"] =
    "kernel vecadd: args: expected a list of 4, got the key 'n' beside it",
  ["gpu:launch(kernels.vecadd, { grid = 1, block = 32, args = { [0] = 1, data, data, data, 32 } })"] =
    "kernel vecadd: args: expected a list of 4, got the key '0' beside it",
  ["launch { timed = 0 }"] = "kernel vecadd: timed: expected true or false, got 0",
  ["launch { cooperative = 1 }"] = "kernel vecadd: cooperative: expected true or false, got 1",
  ["pcall(launch, {}) gpu:set_cycle_limit(1) pcall(launch, {}) gpu:alloc(4)"] =
    "alloc: kernel vecadd was stopped (max_cycles was reached): the machine cannot go on, the device can be read",
  ["data = 0 pcall(launch, {}) gpu:alloc(4)"] =
    "alloc: machine gtx480 was stopped by an error and cannot go on; until sim:close() the device can be read",
}

for call, message in pairs(wrong_of_device) do
  harness.test(call, function()
    local path = harness.write("wrong_of_device.lua", OF_A_SCRIPT .. call .. "\n")
    local line = call:find "^launch" and 4 or 5
    harness.refused(("error: %s:%d: %s"):format(path, line, message), path)
  end)
end

harness.test("the arguments of a kernel may be those of table.pack()", function()
  local path = harness.write("packed.lua", OF_A_SCRIPT:gsub("data, data, data, 32 }", "data, data, data, 32, n = 4 }") .. "launch {}\n")
  local status, output = harness.run(path)
  harness.equal(status, 0, output)
end)

harness.test("tolerances of checks are numbers from 0 on", function()
  local ww = require "warpwright"
  for _, value in ipairs { -1, 0 / 0, "x", true } do
    local w = ww.workload "w" { ptx = false, sizes = { small = {} } }
    function w:run() self:check("one", 1, 1, { rel = value }) end
    local good, message = pcall(function() return ww.build("gtx480"):run(w, "small") end)
    assert(not good)
    harness.contains(tostring(message), "check: tolerance: rel: expected 0 or more, got ")
  end
end)

harness.test("a variant of a fork may have a policy, or a list of them, in place of names", function()
  local path = harness.write("fork.lua", HEAD .. [[
    local lrr = dofile "policies/lrr.lua"
    sim:run { until_cycle = 100 }
    for _, r in ipairs(sim:fork { { policy = lrr }, { policy = { lrr, "pric" } }, { policy = "lrr" }, out = false }) do print(r.policy, r.cycles) end
  ]])
  local status, output = harness.run(path)
  harness.equal(status, 0, output)
  local cycles = output:match "^lrr\t(%d+)\n"
  harness.contains(output, "\nlrr+pric\t", ("\nlrr\t%s\n"):format(cycles))
end)

harness.finish()
