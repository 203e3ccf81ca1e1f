-- scripts/energy: its percents are those of the runs, and its sensitivities those of their parts.
local checks = require "tests.lib.policy_checks"
local energy = require "warpwright.energy"
local harness = require "tests.lib.harness"

harness.test("parts and sensitivities are those of the runs", function()
  local status, output = harness.run("scripts/energy.lua", "--policies", "gto,lrr", "--set", "sms=2", "gtx480", "bfs")
  harness.equal(status, 0, output)
  local gto = checks.run { workload = "bfs", policy = "gto", set = { sms = 2 } }.energy
  local lrr = checks.run { workload = "bfs", policy = "lrr", set = { sms = 2 } }.energy
  local first, last = output:match "total%s+([%d.]+)%s+([%d.]+)\n"
  harness.equal(first, "100.00", output)
  harness.equal(last, ("%.2f"):format(100 * lrr.total / gto.total), output)
  local half = output:match "\ndram_bit%s+([%d.]+)"
  local factors = { dram_bit = 0.5 }
  harness.equal(half, ("%.3f"):format(energy.scaled(lrr, factors) / energy.scaled(gto, factors)), output)
end)

harness.test("classes of a machine that have no energies are named", function()
  local function printed(config)
    local status, output = harness.run("scripts/energy.lua", "--size", "small,n=1024", config, "vecadd")
    harness.equal(status, 0, output)
    return output
  end
  harness.contains(printed "gtx480_lua_classes", "without the energy of: LinkCompressor, TrafficShaper, VictimBuffer\n")
  assert(not printed "gtx480":find "without", "gtx480 has energies of all")
end)

harness.test("a comparison wants two policies", function()
  local status, output = harness.run("scripts/energy.lua", "--policies", "gto", "gtx480", "bfs")
  harness.equal(status, 2, output)
  assert(output:find("--policies: expected two policies or more, got 1", 1, true), output)
end)

harness.test("a name that is wrong is told before the first run", function()
  for wanted, words in pairs {
    ["no workload matches 'vecad'; did you mean vecadd?"] = { "gtx480", "vecadd,vecad" },
    ["no technology matches 'fermi'"] = { "--technology", "fermi", "gtx480", "vecadd" },
  } do
    local output = harness.refused(wanted, "scripts/energy.lua", table.unpack(words))
    assert(not output:find "percent", output)
  end
end)

harness.finish()
