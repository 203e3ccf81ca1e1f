-- Policies on machines whose clocks have the names of objects.
local harness = require "tests.lib.harness"

--- stats.txt and config.lua of kmeans under a policy on a machine whose L2 has a clock of this name.
local function run(clock, policy)
  local config = harness.write("clocks.lua", ([[
local ww = require "warpwright"
return ww.machine("clocks", function(m)
  m:clocks { core = "700MHz", %s = "1GHz", dram = "924MHz" }
  m:Dispatcher "dispatcher" { sms = 1 }
  m:AddressMap "map" { channels = 1 }
  local sm = m:SM "sm" {}
  m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
  m:L2 "l2" { size = "128KiB", ways = 16, mshrs = 32, clock = "%s" }
  m:MemoryController "mc" { clock = "dram" }
  m:wire("dispatcher.sm[0]", "sm.dispatch", { latency = 8 })
  m:wire("sm.lsu.mem", "sm.l1d.cpu")
  m:wire("sm.l1d.mem", "l2.cpu", { latency = 16, depth = 32, back = { latency = 16, depth = 32 } })
  m:wire("l2.mem", "mc.cpu[0]")
end)
]]):format(clock, clock))
  local out = harness.folder() .. "/out"
  local status, output = harness.run("run", config, "kmeans", "--size", "small", "--policy", policy, "--out", out)
  harness.equal(status, 0, ("clock %s, policy %s: exit status, output %s"):format(clock, policy, output))
  return harness.read(out .. "/stats.txt"), harness.read(out .. "/config.lua")
end

for _, policy in ipairs { "wip", "medic", "perfect", "pric:cache=L2" } do
  harness.test(policy .. " takes no clock for the cache of that name", function()
    local stats, config = run("l2", policy)
    local other_stats, other_config = run("slow", policy)
    harness.same_text(stats, other_stats, "stats.txt")
    harness.same_text(config:gsub("%f[%w]slow%f[%W]", "l2"), (other_config:gsub("%f[%w]slow%f[%W]", "l2")), "config.lua")
  end)
end

harness.finish()
