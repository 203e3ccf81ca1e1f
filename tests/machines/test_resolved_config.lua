-- The config.lua that a run leaves builds the same machine again: the same stats byte for byte, and the same config.lua.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local lacks = require("tests.lib.policy_runs").lacks

local function run(config, out, ...)
  local status, output = harness.run("run", config, "spmv", "--size", "small,rows=2048", "--out", out, ...)
  harness.equal(status, 0, "exit status, output " .. output)
  return harness.read(out .. "/stats.txt"), harness.read(out .. "/config.lua")
end

harness.test("resolved config runs again", function()
  local folder = harness.folder()
  local stats, config = run("gtx480", folder .. "/first", "--policy", "lrr", "--set", "sm[*].l1d.size=32KiB",
    "--set", "sm[3].l1d.mshrs=8", "--set", "clock.core=750MHz", "--set", "sms=4")
  harness.contains(config, 'scheduler = "lrr"', "size = 32768", "mshrs = 8", 'core = "750MHz"', "sms = 4")
  local again_stats, again_config = run(folder .. "/first/config.lua", folder .. "/again")
  assert(again_stats == stats, "stats.txt differs")
  assert(again_config == config, "config.lua differs")
end)

harness.test("resolved config runs again under a policy with parts, and these have what the policy gives them", function()
  local folder = harness.folder()
  for i, policy in ipairs { "ccws", "medic", "victim_cache:lines=2", "lazy_cta" } do
    local first, again = ("%s/parts%d"):format(folder, i), ("%s/again%d"):format(folder, i)
    local stats, config = run("gtx480", first, "--policy", policy, "--set", "sms=2", "--set", "partitions=2")
    local again_stats, again_config = run(first .. "/config.lua", again, "--policy", policy)
    assert(again_stats == stats, policy .. ": stats.txt differs")
    assert(again_config == config, policy .. ": config.lua differs")
  end
  local _, config = run(folder .. "/parts3/config.lua", folder .. "/more", "--policy", "victim_cache:lines=3")
  harness.contains(config, "    lines = 3,\n")
  lacks(config, "    lines = 2,\n")
end)

harness.test("texts stand in it as Lua reads them", function()
  local text = 'a "quoted" \\ back\\slash,\n\r\t\0017 and \1 x'
  local sim = ww.build(ww.machine("odd \"name\"", function(m)
    m:clocks { core = "1400MHz", slow = "1500" }
    m:Crossbar "xbar" { up = 1, down = 1, clock = "slow" }
    m:L1Trace "trace" { folder = text }
  end))
  harness.contains(sim:config(), ("\n    folder = %q,\n"):format(text), 'ww.machine("odd \\"name\\"", function(m)\n',
    '\n  m:clocks { core = "1400MHz", slow = 1500 }\n  m:quantum(4)\n\n  m:Crossbar "xbar" {\n    clock = "slow",\n    up = 1,\n')
  local again = assert(load(sim:config()))()
  harness.equal(ww.build(again):config(), sim:config(), "what it builds")
end)

harness.test("an override counts", function()
  local folder = harness.folder()
  local stats = run("gtx480", folder .. "/base", "--set", "sms=4")
  local other = run("gtx480", folder .. "/small_cache", "--set", "sms=4", "--set", "sm[*].l1d.mshrs=1")
  assert(stats ~= other)
end)

harness.finish()
