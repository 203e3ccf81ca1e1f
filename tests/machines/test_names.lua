-- Names of objects and clocks: which ones machines may have, so that statistics, overrides and config.lua can tell them apart.
local names = require "warpwright.names"
local ww = require "warpwright"
local harness = require "tests.lib.harness"

--- Refuses a machine whose line 4 is `line`, there.
local function refused(line, ...)
  local config = harness.write("names.lua", ([[
local ww = require "warpwright"
return ww.machine("names", function(m)
  m:clocks { core = "700MHz" } local sm = m:SM "sm" {}
  %s
end)
]]):format(line))
  local output = harness.refused("names.lua:4: ", "run", config, "vecadd", "--out", harness.folder() .. "/out")
  harness.contains(output, ...)
end

harness.test("an object has no name that statistics of the run have", function()
  for name, of in pairs { run = "the run", launch = "launches", energy = "energies", live = "a run that is watched" } do
    local wanted = ("expected a name that statistics of %s do not have, got '%s'"):format(of, name)
    refused(('m:TrafficSink "%s" {}'):format(name), "m:TrafficSink: " .. wanted)
    refused(('m:TrafficSink ("%s", 0) {}'):format(name), "m:TrafficSink: " .. wanted)
  end
  refused('m:TrafficSink "launch[2]" {}', "m:TrafficSink: expected a name that statistics of launches do not have, got 'launch[2]'")
end)

harness.test("an index is a whole number from 0 on", function()
  refused('m:SM ("sm", -1) {}', "m:SM: sm: expected a whole number from 0 on as index, got -1")
  refused('m:L1 (sm, "l1d", -1) {}', "m:L1: sm.l1d: expected a whole number from 0 on as index, got -1")
  refused('m:SM ("sm", 0.5) {}', "m:SM: sm: expected a whole number from 0 on as index, got 0.5")
  refused('m:SM ("sm", {}) {}', "m:SM: sm: expected a whole number from 0 on as index, got a table")
end)

harness.test("a name has letters, digits and _", function()
  for _, name in ipairs { "", "*", "x]", "x[", "x[*]", "x[-1]", "[0]", "x[0]y", "a->b", "a b", "a..b", ".a", "a.", "sm.a-b", 'a"b', "a\\b", "ä" } do
    refused(("m:TrafficSink (%q) {}"):format(name), ("m:TrafficSink: expected a name of letters, digits and _, got '%s'"):format(name))
    refused(("m:Mux (sm, %q) {}"):format(name), ("m:Mux: expected a name of letters, digits and _, got '%s'"):format(name))
  end
end)

harness.test("a part of a policy has such a name, too", function()
  local policy = harness.write("part.lua", [[
return require "warpwright.policy" "part" { parts = { { class = "VictimTags", name = "my tags", of = "L1" } } }
]])
  harness.refused("policy part: parts: expected a name of letters, digits and _, got 'my tags'", "run", "gtx480", "vecadd", "--policy", policy,
    "--out", harness.folder() .. "/out")
end)

harness.test("a clock has a name that config.lua can have as a field", function()
  for _, name in ipairs { "", "my clock", "2x", "end", "a-b", "*", 'a"b' } do
    local config = harness.write("clocks.lua", ([[
local ww = require "warpwright"
return ww.machine("names", function(m)
  m:clocks { core = "700MHz", [%q] = "1GHz" }
end)
]]):format(name))
    harness.refused(("clocks.lua:3: clocks: expected a name of letters, digits and _ that is no word of Lua, got '%s'"):format(name),
      "run", config, "vecadd", "--out", harness.folder() .. "/out")
  end
end)

harness.test("whole paths, digits and other cases are names: config.lua has them", function()
  local sim = ww.build(ww.machine("names", function(m)
    m:clocks { core = "700MHz", _Clock2 = "1GHz" }
    m:TrafficSink "Sink_2[3]" {}
    m:TrafficSink "Sink_2[3].below[10]" {}
    m:TrafficSink "2" {}
    m:TrafficSink "runs" {}
    m:TrafficSink (m:TrafficSink "other" {}, "run") {}
  end))
  harness.contains(sim:config(), '_Clock2 = "1000MHz"', '"Sink_2[3].below[10]"', 'm:TrafficSink "2"', 'm:TrafficSink "other.run"')
end)

harness.test("bounds in messages are whole numbers in full", function()
  harness.equal(names.wanted(1, 0, 1 << 53), "a whole number from 0 to 9007199254740992")
  harness.equal(names.wanted(1, 0, 2.0 ^ 53), "a whole number from 0 to 9007199254740992")
  harness.equal(names.wanted(0.5, 0, 1.5), "a number from 0 to 1.5")
end)

harness.test("a range of indices stands for these objects wherever a pattern is taken", function()
  local folder = harness.folder() .. "/ranges"
  local machine = ww.variant("v", "gtx480", function(m) m:change("sm[1..2].l1d", { size = "8KiB" }) end)
  local sim = ww.build(machine, { set = { ["sm[3..14].l1d.size"] = "32KiB" } })
  local counters = sim:counters { some = "sm[0..2].l1d.misses" }
  sim:run("vecadd", "small")
  local r = sim:result()
  for sm, size in pairs { [0] = 16384, [1] = 8192, [2] = 8192, [3] = 32768, [14] = 32768 } do
    harness.equal(sim:object(("sm[%d].l1d"):format(sm)).size, size, "size of the L1 of SM " .. sm)
  end
  local sum = 0
  for sm = 0, 2 do sum = sum + r[("sm[%d].l1d.misses"):format(sm)] end
  assert(sum > 0 and sum < r["sm[*].l1d.misses"])
  harness.equal(r["sm[0..2].l1d.misses"], sum)
  harness.equal(counters:read().some, sum)
  local status, output = harness.run("run", "gtx480", "vecadd", "--size", "small,n=5000", "--set", "sms=4", "--out", folder, "--trace", "sm[1..2]*",
    "--stats-every", "1000", "--stats-of", "sm[2..3].warp_instructions")
  harness.equal(status, 0, output)
  local traced = harness.read(folder .. "/trace.txt")
  for sm = 0, 3 do harness.equal(traced:find(("\n%%d+ sm%%[%d%%]"):format(sm)) ~= nil, sm == 1 or sm == 2, "SM in the trace: " .. sm) end
  harness.contains(harness.read(folder .. "/intervals.csv"):match "^[^\n]*", "sm[2..3].warp_instructions")
  harness.refused("set: sm[10..20].l1d.size: expected sm[0] to sm[14] on machine gtx480, got sm[20]", "run", "gtx480", "vecadd", "--set",
    "sm[10..20].l1d.size=8KiB", "--out", folder)
end)

local strays <const> = { ["sm[3.l1d.size"] = "[3.l1d.size", ["sm[*.l1d.size"] = "[*.l1d.size", ["sm[].l1d.size"] = "[]", ["sm[a].l1d.size"] = "[a]",
  ["sm[*]].l1d.size"] = "].l1d.size", ["sm[3..0].l1d.size"] = "[3..0]", ["sm[0..x].l1d.size"] = "[0..x]", ["sm[0...3].l1d.size"] = "[0...3]" }

harness.test("indices that are none are named wherever a path or pattern is taken", function()
  for pattern, stray in pairs(strays) do
    local wanted = ("%s: expected indices as [3], [*] or [0..3], got '%s'"):format(pattern, stray)
    local function refused_at(place, ...)
      harness.refused(("error: %s: %s"):format(place, wanted), "run", "gtx480", "vecadd", "--size", "small", "--out", harness.folder() .. "/out", ...)
    end
    refused_at("set", "--set", pattern .. "=1")
    refused_at("stats_of", "--stats-every", "1000", "--stats-of", pattern)
    refused_at("trace", "--trace", pattern)
    refused_at("histograms", "--histograms", pattern)
    local function of_script(text) return harness.write("stray.lua", ('local ww, pattern = require "warpwright", "%s"\n%s\n'):format(pattern, text)) end
    harness.refused("object: " .. wanted, of_script 'ww.build("gtx480"):object(pattern)')
    harness.refused("counters: " .. wanted, of_script 'ww.build("gtx480"):counters { x = pattern }')
    harness.refused("stray.lua:2: machine v: " .. wanted,
      of_script 'ww.build(ww.variant("v", "gtx480", function(m) m:change(pattern, { size = 1 }) end))')
    harness.refused(("wire: %s: expected indices as [3], [*] or [0..3], got '%s'"):format(pattern, stray),
      of_script 'ww.build(ww.machine("m", function(m) m:clocks { core = "1GHz" }; m:wire(pattern, "x.y") end))')
  end
end)

harness.finish()
