-- m:wire and m:join with patterns: which ports they pair, and what they refuse.
local machine = require "warpwright.machine"
local ww = require "warpwright"
local harness = require "tests.lib.harness"

--- Four sources of requests, of which `wire(m)` leads to a memory each or to one.
local function wires_of(sinks, wire)
  local description = ww.machine("small", function(m)
    m:clocks { core = "700MHz" }
    for i = 3, 0, -1 do m:TrafficSource ("source", i) { footprint = 1 << 20 } end -- the order of indices counts
    for k = 0, sinks - 1 do m:TrafficSink ("sink", k) {} end
    wire(m)
  end)
  local list = {}
  for _, one in ipairs(machine.build(description, {}):wires()) do list[#list + 1] = ("%s > %s"):format(one.from, one.to) end
  return table.concat(list, "\n")
end

harness.test("ports are paired by their indices, whatever the order of the objects", function()
  harness.same_text(wires_of(4, function(m) m:wire("source[*].mem", "sink[*].cpu") end),
    "source[0].mem > sink[0].cpu\nsource[1].mem > sink[1].cpu\nsource[2].mem > sink[2].cpu\nsource[3].mem > sink[3].cpu")
  harness.same_text(wires_of(2, function(m)
    m:wire("source[2..3].mem", "sink[0..1].cpu")
    m:wire("source[0..0].mem", m:Mux "mux" { up = 1 }.up[0])
  end), "source[2].mem > sink[0].cpu\nsource[3].mem > sink[1].cpu\nsource[0].mem > mux.up[0]")
end)

harness.test("the first index counts most: arrays of ports are filled one after the other", function()
  harness.same_text(wires_of(2, function(m)
    for k = 0, 1 do m:Mux ("mux", k) { up = 2 } end
    m:wire("source[*].mem", "mux[*].up[*]", { latency = 3 })
  end), "source[0].mem > mux[0].up[0]\nsource[1].mem > mux[0].up[1]\nsource[2].mem > mux[1].up[0]\nsource[3].mem > mux[1].up[1]")
end)

harness.test("m:join makes a Mux of the object's own where several ports share one", function()
  harness.same_text(wires_of(2, function(m) m:join("source[*].mem", "sink[*].cpu") end),
    "source[0].mem > sink[0].cpu_mux.up[0]\nsource[1].mem > sink[0].cpu_mux.up[1]\nsink[0].cpu_mux.down > sink[0].cpu\n"
    .. "source[2].mem > sink[1].cpu_mux.up[0]\nsource[3].mem > sink[1].cpu_mux.up[1]\nsink[1].cpu_mux.down > sink[1].cpu")
  harness.same_text(wires_of(4, function(m) m:join("source[*].mem", "sink[*].cpu") end),
    wires_of(4, function(m) m:wire("source[*].mem", "sink[*].cpu") end))
  harness.contains(wires_of(1, function(m)
    m:Crossbar "xbar" { up = 2, down = 1 }
    m:join("source[0..2].mem", "xbar.up[1]")
  end), "source[2].mem > xbar.up_mux[1].up[2]\nxbar.up_mux[1].down > xbar.up[1]")
end)

harness.test("options are those of each wire, of m:join those to the Mux", function()
  local description = ww.machine("small", function(m)
    m:clocks { core = "700MHz" }
    for i = 0, 1 do m:TrafficSource ("source", i) { footprint = 1 << 20 } end
    m:TrafficSink ("sink", 0) {}
    m:join("source[*].mem", "sink[*].cpu", { latency = 5, back = { latency = 7 } })
  end)
  local seen = {}
  for _, one in ipairs(machine.build(description, {}):wires()) do
    seen[#seen + 1] = ("%d/%d"):format(one.forward.latency, one.back.latency)
  end
  harness.equal(table.concat(seen, " "), "5/7 5/7 1/1", "latencies")
end)

--- The error of a machine whose line 8 is `line`.
local function refused(line, ...)
  local config = harness.write("wrong.lua", ([[
local ww = require "warpwright"
return ww.machine("wrong", function(m)
  m:clocks { core = "700MHz" }
  m:Dispatcher "dispatcher" { sms = 4 }
  m:AddressMap "map" { channels = 2 }
  for i = 0, 3 do m:SM ("sm", i) {} end
  m:Crossbar "xbar" { up = 6, down = 2 }
  %s
end)
]]):format(line))
  local status, output = harness.run("run", config, "vecadd", "--out", harness.folder() .. "/out")
  harness.equal(status, 2, "exit status, output " .. output)
  harness.contains(output, "wrong.lua:8: ", ...)
end

harness.test("patterns that are wrong are refused in the line that has them", function()
  refused('m:wire("sm[*].lsu.mem", "xbar.up[*]")',
    "wire sm[*].lsu.mem -> xbar.up[*]: expected as many ports on both sides, got 4 and 6\n")
  refused('m:wire("sm[*].lsu.mem", "xbar.up[0..1]")',
    "wire sm[*].lsu.mem -> xbar.up[0..1]: expected as many ports on both sides, got 4 and 2; m:join joins several into one")
  refused('m:wire("sm[*].lsu.memo", "xbar.up[0..3]")', "wire: no port matches 'sm[*].lsu.memo'; did you mean sm[*].lsu.mem, ")
  refused('m:wire("ms[*].lsu.mem", "xbar.up[0..3]")', "wire: no port matches 'ms[*].lsu.mem'; did you mean sm[*].lsu.mem, ")
  refused('m:wire("sm[*].lsu.mem", "xbar.up[6..9]")', "wire: xbar.up[6..9]: expected xbar.up[0] to xbar.up[5], got xbar.up[9]")
  refused('m:wire("sm[*].lsu.mem", "xbar.up[3..0]")', "wire: xbar.up[3..0]: expected indices as [3], [*] or [0..3], got '[3..0]'")
  refused('m:wire("sm[*].lsu.mem", "xbar.up[0..x]")', "expected indices as [3], [*] or [0..3], got '[0..x]'")
  refused('m:join("sm[*].lsu.mem", "xbar.up[0..2]")',
    "join sm[*].lsu.mem -> xbar.up[0..2]: expected a multiple of 3 ports to be joined, got 4")
  refused('m:join("sm[0..1].lsu.mem", "xbar.up[*]")', "expected a multiple of 6 ports to be joined, got 2")
  refused('m:wire("sm[*].lsu.mem", "xbar.up[0..3]") m:wire("sm[0..1].lsu.mem", "xbar.up[4..5]")',
    "sm[0].lsu.mem: expected one wire, got a second")
end)

harness.test("an object in the place of a port is told as one", function()
  refused('m:wire("sm[0].lsu.mem", "xbar")', "wire: expected a port of xbar, got the object; available: up[], down[]\n")
  refused('m:L1 ("sm[0].l1d") { size = "16KiB", ways = 4, mshrs = 32 } m:wire("sm[0].l1d", "xbar.up[0]")',
    "wire: expected a port of sm[0].l1d, got the object; available: cpu, mem")
  refused('m:wire("sm[0].lsu.mem", m:Mux "mux" { up = 2 })', "wire: expected a port of mux, got the object; available: up[], down\n")
end)

harness.test("ports that share one are named by one m:join", function()
  refused('m:join("sm[0..1].lsu.mem", "xbar.up[5]") m:join("sm[2..3].lsu.mem", "xbar.up[5]")',
    "join sm[2..3].lsu.mem -> xbar.up[5]: expected one join to name all ports that share xbar.up[5], got a second\n")
end)

harness.test("a range that goes beyond what is there is refused, with what is there", function()
  refused('m:wire("sm[0..9].lsu.mem", "xbar.up[0..3]")', "wire: sm[0..9].lsu.mem: expected sm[0] to sm[3], got sm[9]")
  refused('m:wire("sm[0..3].lsu.mem", "xbar.up[0..99999999999999999999]")',
    "wire: xbar.up[0..99999999999999999999]: expected xbar.up[0] to xbar.up[5], got xbar.up[100000000000000000000]")
  refused('m:Mux ("mux", 0) { up = 2 } m:Mux ("mux", 2) { up = 1 } m:wire("sm[0..2].lsu.mem", "mux[0..2].up[0]")',
    "wire: mux[0..2].up[0]: expected mux[0], mux[2], got mux[1]")
  refused('m:Mux ("mux", 0) { up = 3 } m:Mux ("mux", 1) { up = 1 } m:wire("sm[*].lsu.mem", "mux[*].up[0..2]")',
    "wire: mux[*].up[0..2]: expected mux[1].up[0], got mux[1].up[2]")
  refused('m:wire("sm[7].lsu.mem", "xbar.up[0..0]") m:join("sm[*].lsu.mem", "xbar.down[5..6]")', "wire: no object matches 'sm[7].lsu.mem'")
  refused('m:join("sm[0..4].lsu.mem", "xbar.up[*]")', "wire: sm[0..4].lsu.mem: expected sm[0] to sm[3], got sm[4]")
end)

harness.test("a pattern without a bracket is told as one", function()
  for pattern, got in pairs { ["sm[*"] = "[*", ["sm[*.lsu.mem"] = "[*.lsu.mem", ["sm[0..1.lsu.mem"] = "[0..1.lsu.mem", ["sm*].lsu.mem"] = "*].lsu.mem",
    ["sm[*]].lsu.mem"] = "].lsu.mem", ["sm*.lsu.mem"] = "*.lsu.mem", ["sm[0x0..0x1].lsu.mem"] = "[0x0..0x1]" } do
    refused(('m:wire("%s", "xbar.up[0..3]")'):format(pattern),
      ("wire: %s: expected indices as [3], [*] or [0..3], got '%s'"):format(pattern, got))
  end
end)

harness.test("options of wires that are no table, or too large, are refused with the wire", function()
  local wire = "wire sm[0].lsu.mem -> xbar.up[0]: "
  local function with(options) return ('m:wire("sm[0].lsu.mem", "xbar.up[0]", %s)'):format(options) end
  local a_table = "expected a table of options, such as { latency = 4 }, got "
  refused(with "3", wire .. a_table .. "3")
  refused(with "'fast'", wire .. a_table .. "'fast'")
  refused('m:wire("sm[*].lsu.mem", "xbar.up[0..3]", true)', wire .. a_table .. "true")
  refused('m:join("sm[*].lsu.mem", "xbar.up[0..1]", 3)', "wire sm[0].lsu.mem -> xbar.up_mux[0].up[0]: " .. a_table .. "3")
  refused(with "{ back = 1 }", wire .. "back: " .. a_table .. "1")
  refused(with "{ latency = 1 << 32 }", wire .. "latency: expected a whole number up to 4294967295, got 4294967296")
  refused(with "{ depth = 1e30 }", wire .. "depth: expected a whole number up to 4294967295, got 1e+30")
  refused(with "{ width = 65536 }", wire .. "width: expected a whole number up to 65535, got 65536")
  refused(with "{ back = { width = '99999' } }", wire .. "back: width: expected a whole number up to 65535, got '99999'")
  refused(with "{ depth = 0 }", wire .. "depth: expected a whole number from 1 on, got 0")
  refused(with "{ depth = 'deep' }", wire .. "depth: expected a whole number from 1 on, got 'deep'")
  refused('m:wire(m:TrafficSource "source" { footprint = 1024 }.mem, "xbar.up[0]", { latency = 0 })',
    "wire source.mem -> xbar.up[0]: latency: expected a whole number from 1 on, got 0")
end)

harness.finish()
