-- The config.lua that a run leaves builds the same machine again: the same stats byte for byte, and the same config.lua.
local harness = require "harness"

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

harness.test("an override counts", function()
  local folder = harness.folder()
  local stats = run("gtx480", folder .. "/base", "--set", "sms=4")
  local other = run("gtx480", folder .. "/small_cache", "--set", "sms=4", "--set", "sm[*].l1d.mshrs=1")
  assert(stats ~= other)
end)

harness.finish()
