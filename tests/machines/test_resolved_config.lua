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

local narrow = harness.write("narrow.lua", [[
  local p = require("warpwright.policy") "narrow" { order = "lrr" }
  function p:start() self.sm.scheduler = "oldest" end
  function p:on_cta_start() self.sm.warp_limit, self.l1.enabled = 1, false end
  return p
]])

harness.test("a policy that sets parameters while the machine runs leaves them in it as they were at first", function()
  local folder = harness.folder()
  local stats, config = run("gtx480", folder .. "/lrr", "--policy", "lrr", "--set", "sms=2")
  local narrow_stats, narrow_config = run("gtx480", folder .. "/narrow", "--policy", narrow, "--set", "sms=2")
  assert(narrow_config == config, "config.lua differs")
  assert(run(folder .. "/narrow/config.lua", folder .. "/again", "--policy", narrow) == narrow_stats)
  assert(run(folder .. "/narrow/config.lua", folder .. "/without") == stats, "its machine is another")
end)

local function config_of(policy)
  local sim = ww.build("gtx480", { set = { sms = 2 }, policy = policy })
  sim:gpu()
  return sim:config()
end

harness.test("so does a machine of a script whose policy changes", function()
  local sim = ww.build("gtx480", { set = { sms = 2 }, policy = narrow })
  sim:start("vecadd", "small")
  sim:run { until_cycle = 1000 }
  assert(sim:config() == config_of "lrr", "the machine as text differs")
  sim:change { policy = "swl:limit=2" }
  sim:run {}
  assert(sim:config() == config_of "swl:limit=2", "it differs behind the change")
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
