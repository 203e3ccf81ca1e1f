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
  ["ww.sweep(3)"] = "ww.sweep: expected { axes =, out = ... }, got 3",
  ["ww.sweep { axes = of_sweep }"] = "ww.sweep: out: expected a folder, got nil",
  ["ww.sweep { axes = of_sweep, out = 3 }"] = "ww.sweep: out: expected a folder, got 3",
  ['ww.sweep { axes = of_sweep, out = "x", say = 3 }'] = "ww.sweep: say: expected a function of a line, got 3",
  ['ww.sweep { axes = of_sweep, out = "x", jobs = "2" }'] = "ww.sweep: jobs: expected a whole number from 1 on, got '2'",
  ['sim:objects "Nope"'] = "objects: no class matches 'Nope'",
  ["sim:objects(3)"] = "objects: no class matches '3'",
  ['ww.machine("x", { n = {} }, print)'] =
    "ww.machine: options: expected a number, a text, true or false as n, got a table",
  ['ww.machine("x", { 1 }, print)'] = "ww.machine: options: expected NAME = default, got 1",
}

for call, message in pairs(wrong) do
  harness.test(call, function()
    local path = harness.write("wrong.lua", HEAD .. call .. "\n")
    harness.refused(("error: %s:4: %s"):format(path, message), path)
  end)
end

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
