-- Machines made from others: the facts of fx5800_l1's paper, and what a variant may change.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

--- Exit status, output and config.lua of a run of `config`.
local function run(config)
  local out = harness.folder() .. "/out"
  local status, output = harness.run("run", config, "vecadd", "--size", "small", "--out", out)
  return status, output, status == 0 and harness.read(out .. "/config.lua")
end

--- The parameters of an object in a config.lua, as text.
local function object(config, class, path)
  local first = assert(config:find(('m:%s "%s" {'):format(class, path), 1, true), path .. " is missing")
  return config:sub(first, config:find("}", first, true))
end

harness.test("fx5800_l1 is the machine of the CCWS paper", function()
  local status, output, config = run "fx5800_l1"
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(config, 'core = "325MHz"', 'icnt = "650MHz"', 'dram = "800MHz"')
  harness.contains(object(config, "SM", "sm[29]"), "warps = 32,", "schedulers = 1,", "fp_mad_interval = 1,", "sfu_interval = 4,")
  harness.contains(object(config, "L1", "sm[29].l1d"), "size = 32768,", "ways = 8,", "line = 128,")
  harness.contains(object(config, "L2", "l2[7]"), 'clock = "icnt"', "size = 131072,", "ways = 8,", "line = 128,")
  for _, none in ipairs { "sm[30]", "l2[8]" } do assert(not config:find(none, 1, true), none .. " is there") end
end)

local function variant(changes)
  return run(harness.write("variant.lua", ([[
    return require "configs.lib.variant" ("mine", require "configs.gtx480", { %s })]]):format(changes)))
end

harness.test("a variant has other parameters, wires, clocks, options and another quantum", function()
  local status, output, config = variant [[ { "options", { sms = 2 } }, { "clocks", { core = "650MHz" } }, { "quantum", 14 },
    { "sm[*].l1d", { mshrs = 7 } }, { "sm[1].l1d", { mshrs = 5 } }, { "sm[*].lsu.mem -> sm[*].l1d.cpu", { depth = 3 } } ]]
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(config, 'core = "650MHz"', "m:quantum(14)", 'icnt = "1400MHz"', "depth = 3")
  harness.contains(object(config, "L1", "sm[0].l1d"), "mshrs = 7,", "size = 16384,")
  harness.contains(object(config, "L1", "sm[1].l1d"), "mshrs = 5,")
  assert(not config:find("sm[2]", 1, true), "a third SM is there")
end)

harness.test("changes of what is not there are refused by name", function()
  for _, case in ipairs {
    { '{ "options", { smss = 2 } }', "smss" }, { '{ "clocks", { cor = "650MHz" } }', "cor" },
    { '{ "sm[*].l1", { mshrs = 7 } }', "machine mine: no clock, object, wire or option of gtx480 matches 'sm[*].l1'" },
  } do
    local status, output = variant(case[1])
    harness.equal(status, 2, "exit status, output " .. output)
    harness.contains(output, "warpwright: error", case[2])
  end
end)

--- Misses of all constant caches in a run of two equal launches, after each.
local function constant_misses(config)
  local ptx = harness.write("two.ptx", [[
.version 3.2
.target sm_20
.address_size 64
.visible .entry two(.param .u32 a)
{
	.reg .b32 %r<2>;
	ld.param.u32 %r1, [a];
	exit;
}
]])
  local sim = ww.build(config)
  local kernel, misses = sim:gpu():load(ptx).two, {}
  for i = 1, 2 do
    sim:gpu():launch(kernel, { grid = 15, block = 32, args = { i } })
    misses[i] = sim:result()["sm[*].constant_cache.misses"]
  end
  sim:close()
  return misses
end

harness.test("a kernel finds its parameters in the constant caches where these keep their lines", function()
  local emptied, kept = constant_misses "gtx480", constant_misses "gtx480_gpgpusim4"
  harness.equal(emptied[1], 15, "misses of a kernel on gtx480")
  harness.equal(emptied[2], 30, "misses of two kernels on gtx480")
  harness.equal(kept[1], 15, "misses of a kernel on gtx480_gpgpusim4")
  harness.equal(kept[2], 15, "misses of two kernels on gtx480_gpgpusim4")
end)

harness.test("a machine is built without much of Lua: the start of every run waits for it", function()
  ww.build "gtx480"
  local hundreds = 0
  collectgarbage()
  collectgarbage "stop"
  local before = collectgarbage "count"
  debug.sethook(function() hundreds = hundreds + 1 end, "", 100)
  ww.build "gtx480"
  debug.sethook()
  local allocated = collectgarbage "count" - before
  collectgarbage "restart"
  assert(allocated < 500, ("%.0f KiB"):format(allocated))
  assert(hundreds < 700, hundreds .. " hundreds of steps")
end)

harness.finish()
