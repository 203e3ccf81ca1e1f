-- Copies to shared memory that are in flight while a warp multiplies: right in any tick order, with threads, and from
-- checkpoints taken in between.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local path <const> = "tests/kernels/copying_kernel.lua"

local function run(name, ...)
  local out = harness.folder() .. "/" .. name
  local status, told = harness.run("run", "gtx480", path, "--size", "small", "--policy", "gto", "--out", out, ...)
  harness.equal(status, 0, told)
  harness.contains(told, "verified")
  return harness.read(out .. "/stats.txt"), out
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

harness.finish()
