-- Copies to shared memory that are in flight while a warp multiplies, and bulk copies through stages: right in any tick order,
-- with threads, and from checkpoints taken in between.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local path <const> = "tests/kernels/copying_kernel.lua"

local bulk <const> = "tests/kernels/bulk_kernel.lua"

local function run_on(config, workload, name, ...)
  local out = harness.folder() .. "/" .. name
  local status, told = harness.run("run", config, workload, "--size", "small", "--out", out, ...)
  harness.equal(status, 0, told)
  harness.contains(told, "verified")
  return harness.read(out .. "/stats.txt"), out
end

local function run(name, ...)
  return run_on("gtx480", path, name, "--policy", "gto", ...)
end

local straight = run "straight"

harness.test("asynchronous copies do not depend on the order of ticks or on threads", function()
  local workload = dofile(path)
  local function cycles(options)
    local all = { config = "gtx480", workload = workload, size = "small", policy = "gto", out = false }
    for name, value in pairs(options) do all[name] = value end
    local r = ww.run(all)
    return r.cycles
  end
  local first = cycles {}
  harness.equal(cycles { order = "reversed" }, first, "cycles in reversed order")
  harness.equal(cycles { order = "shuffled:1", threads = 2 }, first, "cycles shuffled, with two threads")
end)

harness.test("copies in flight are in a checkpoint", function()
  local saved, folder = run("saved", "--checkpoint-every", "500")
  harness.equal(saved, straight, "stats with checkpoints")
  for _, cycle in ipairs { 512, 1008, 2000, 3504 } do -- the ends of quanta
    local out = ("%s/resumed_%d"):format(harness.folder(), cycle)
    local status, told = harness.run("run", "--resume", ("%s/%d.ckpt"):format(folder, cycle), "--out", out)
    harness.equal(status, 0, told)
    harness.equal(harness.read(out .. "/stats.txt"), straight, "stats from cycle " .. cycle)
  end
end)

for _, config in ipairs { "gtx480", "v100" } do
  local alone = run_on(config, bulk, "bulk_" .. config)

  harness.test("bulk copies through stages of shared memory do not depend on the order of ticks or on threads, on " .. config, function()
    harness.equal(run_on(config, bulk, "threads_" .. config, "--threads", "2"), alone, "stats with two threads")
    harness.equal(run_on(config, bulk, "order_" .. config, "--order", "shuffled:1"), alone, "stats in another order")
  end)

  harness.test("bulk copies without timing, and checked, bring the same on " .. config, function()
    run_on(config, bulk, "forward_" .. config, "--fast-forward", "launch=0,cta=0.5")
    run_on(config, bulk, "checked_" .. config, "--memcheck")
  end)

  harness.test("bulk copies in flight are in a checkpoint, on " .. config, function()
    local _, folder = run_on(config, bulk, "saved_" .. config, "--checkpoint-every", "1000")
    for _, cycle in ipairs { 1008, 3008, 5008 } do
      local out = ("%s/bulk_%s_%d"):format(harness.folder(), config, cycle)
      local status, told = harness.run("run", "--resume", ("%s/%d.ckpt"):format(folder, cycle), "--out", out)
      harness.equal(status, 0, told)
      harness.equal(harness.read(out .. "/stats.txt"), alone, "stats from cycle " .. cycle)
    end
  end)
end

harness.finish()
