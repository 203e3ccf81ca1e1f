-- scripts/network: its figures against theory, its options, its drawing; and machines without SMs, which it runs.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local json = require "warpwright.json"

local program = arg[-1]
local figures = harness.folder() .. "/figures.json"

local square = harness.write("square.lua", [[
local ww = require "warpwright"
return ww.machine("square", { ports = 4 }, function(m, o)
  m:clocks { core = "1GHz" }
  m:Crossbar "net" { up = o.ports, down = o.ports }
end)
]])

--- Runs the script; returns what it printed and the rows of its JSON file.
local function crossbar(...)
  local status, output = harness.run("scripts/network.lua", "--json", figures, ...)
  harness.equal(status, 0, output)
  return output, json.decode(harness.read(figures))
end

local function near(got, want, tolerance, what)
  assert(math.abs(got - want) <= tolerance, ("%s: got %g, want %g within %g"):format(what, got, want, tolerance))
end

-- Karol, Hluchyj and Morgan 1987, Table I.
for _, known in ipairs { { 2, 0.75 }, { 4, 0.6553 }, { 8, 0.6184 } } do
  local ports, want = known[1], known[2]
  harness.test(("%d ports saturate at %g"):format(ports, want), function()
    local output, rows = crossbar(square, "--set", "ports=" .. ports, "--only", "requests", "--pattern", "uniform",
      "--loads", "0.3,1", "--cycles", "40000")
    near(rows[2].passed, want, 0.004, "passed")
    near(tonumber(output:match "head%-of%-line blocking ([%d.]+)"), want, 0.004, "the script's own reckoning")
    harness.equal(rows[1].saturated, false, "saturated at 0.3")
    harness.equal(rows[2].saturated, true, "saturated at 1")
    harness.equal(rows[2].latency, nil, "latency when saturated")
  end)
end

harness.test("below saturation what comes passes, and waits the longer the more there is", function()
  local _, rows = crossbar(square, "--only", "requests", "--loads", "0.05,0.2,0.4", "--cycles", "40000")
  harness.equal(#rows, 9, "rows")
  for i, row in ipairs(rows) do
    if not row.saturated then
      near(row.passed, row.load, 0.01, "passed")
      assert(row.latency >= 3 and row.longest >= row.latency, "latency")
      assert(i % 3 == 1 or row.latency >= rows[i - 1].latency, "latency at a higher load")
    end
    assert(row.fairness > 0.99 and row.least_to_most > 0.8, "fairness")
  end
  harness.equal(rows[9].pattern, "permutation", "last pattern")
  near(rows[9].latency, 3, 0, "latency of a permutation") -- nobody meets anybody: links and crossbar
end)

harness.test("a hot spot passes what its output lets through, in equal shares", function()
  local output, rows = crossbar("--only", "requests", "--pattern", "hot_spot", "--hot", "0.5", "--loads", "1",
    "--cycles", "40000")
  local want = 1 / (0.5 + 0.5 / 6) / 6
  near(rows[1].passed, want, 0.01, "passed")
  near(tonumber(output:match "fullest output lets ([%d.]+)"), want, 0.0001, "bound")
  assert(rows[1].fairness > 0.999, "fairness")
end)

harness.test("requests and responses are measured in the shapes of gtx480, and --set changes it", function()
  local output = crossbar("--loads", "0.1", "--cycles", "1000")
  harness.contains(output, "requests of gtx480.xbar: 15 inputs, 6 outputs, 1400 MHz; packets of 1 flit of 32 B",
    "responses of gtx480.xbar: 6 inputs, 15 outputs, 1400 MHz; packets of 5 flits of 32 B; unloaded 7 cycles")
  output = crossbar("--loads", "0.1", "--cycles", "1000", "--set", "sms=4", "--set", "xbar.flit=64B", "--set",
    "xbar.latency=9")
  harness.contains(output, "4 inputs, 6 outputs", "packets of 3 flits of 64 B; unloaded 13 cycles")
  output = crossbar("--loads", "0.1", "--cycles", "1000", "--set", "xbar.response_part=2")
  harness.contains(output, "measured as whole packets; in the machine they cross in parts of 2")
end)

harness.test("a speed-up takes away what head-of-line blocking costs", function()
  local _, rows = crossbar(square, "--only", "requests", "--pattern", "uniform", "--loads", "1", "--cycles", "20000",
    "--set", "net.speedup=2")
  assert(rows[1].passed > 0.93, rows[1].passed)
end)

harness.test("the same command gives the same figures, another seed others", function()
  local options = { square, "--loads", "0.5", "--cycles", "2000" }
  local first, again = crossbar(table.unpack(options)), crossbar(table.unpack(options))
  harness.equal(first, again, "second run")
  options[#options + 1] = "--seed"
  options[#options + 1] = "2"
  assert(crossbar(table.unpack(options)) ~= first, "another seed")
end)

-- Topologies ----------------------------------------------------------------------------------------------------------

harness.test("every topology has the latency that theory says, and no more throughput than that", function()
  local output, rows = crossbar("--topologies", "16", "--loads", "0.1,0.2", "--cycles", "4000")
  local least = { crossbar = 0.55, series = 0.2, mesh = 0.5, ring = 0.25, torus = 0.7 }
  harness.equal(#rows, 5, "topologies")
  for _, row in ipairs(rows) do
    near(row.measured_latency, row.latency, 0.3, row.topology .. ": latency alone")
    assert(row.measured_throughput <= row.throughput + 0.01, row.topology .. ": more than theory permits")
    assert(row.measured_throughput > least[row.topology], row.topology .. ": throughput")
    near(row.curve[1].passed, 0.1, 0.01, row.topology .. ": passed at load 0.1")
    assert(row.curve[2].latency > row.curve[1].latency, row.topology .. ": latency at a higher load")
  end
  near(rows[3].hops, 2.5, 0, "mesh: mean channels") -- twice (k - 1/k) / 3
  near(rows[4].hops, 4, 0, "ring: a quarter of its routers")
  near(rows[5].hops, 2, 0, "torus: twice a quarter of a side")
  near(rows[4].throughput, 0.5, 0, "ring: 8 / nodes")
  harness.contains(output, "ring, 16 nodes: latency alone 16.00 (4.00 channels), measured")
end)

-- Drawing -------------------------------------------------------------------------------------------------------------

--- An error unless every tag is closed; returns how many of a kind there are.
local function count_tags(text, wanted)
  local open, count = {}, 0
  for closing, tag, rest in text:gmatch "<(/?)(%a+)([^>]*)>" do
    if tag == wanted and closing == "" then count = count + 1 end
    if closing == "/" then
      harness.equal(table.remove(open), tag, "closing tag")
    elseif rest:sub(-1) ~= "/" then
      open[#open + 1] = tag
    end
  end
  harness.equal(#open, 0, "open tags")
  return count
end

harness.test("the curves are drawn: two charts for each direction, a curve for each pattern", function()
  local path = harness.folder() .. "/curves.svg"
  crossbar("--loads", "0.2,0.4", "--cycles", "1000", "--svg", path)
  local text = harness.read(path)
  assert(text:find("^<svg "), "an SVG text")
  harness.equal(count_tags(text, "path"), 2 * 2 * 3, "curves")
  harness.equal(count_tags(text, "circle"), 2 * 2 * 3 * 2, "points")
  harness.contains(text, "Throughput, gtx480.xbar, requests, 15 to 6", "Latency, gtx480.xbar, responses, 6 to 15",
    "hot_spot")
end)

harness.test("a chart without a curve is left out", function()
  local path = harness.folder() .. "/curves.svg"
  crossbar("--loads", "1", "--cycles", "1000", "--pattern", "uniform", "--only", "requests", "--svg", path)
  harness.equal(count_tags(harness.read(path), "path"), 1, "curves")
end)

-- Machines without SMs ------------------------------------------------------------------------------------------------

local function slice_alone(parameters)
  return ww.build(ww.machine("slice_alone", function(m)
    m:clocks { core = "700MHz", dram = "924MHz" }
    m:AddressMap "map" { channels = 1 }
    local l2 = m:L2 "l2" { size = "128KiB", ways = 16, mshrs = 32 }
    m:wire(m:TrafficSource "source" (parameters).mem, l2.cpu)
    m:wire(l2.mem, m:MemoryController "mc" { clock = "dram" }.cpu[0])
  end))
end

harness.test("an L2 slice and its channel run alone, for so many cycles or until nothing is left to do", function()
  local sim = slice_alone { rate = 0.2, writes = 0.3, footprint = "1MiB", limit = 2000 }
  harness.equal(sim:advance(4000), "time", "stopped by")
  local r = sim:result()
  harness.equal(r.cycles, 4000, "cycles")
  assert(r["source.sent"] > 700 and r["source.sent"] < 900, "requests sent")
  harness.equal(sim:advance(1000000), "idle", "stopped by")
  r = sim:result()
  harness.equal(r["source.sent"], 2000, "requests sent")
  harness.equal(r["source.answered"], 2000, "requests answered")
  harness.equal(r["l2.accesses"], 2000, "accesses")
  harness.equal(r.launches[1], nil, "launches")
  sim:close()
end)

harness.test("advance is for machines without SMs, and wants a number of cycles", function()
  local function wrong(wanted, sim, cycles)
    local ok, problem = pcall(sim.advance, sim, cycles)
    harness.equal(ok, false, "ok")
    harness.contains(problem, wanted)
  end
  wrong("advance: expected a machine without SMs, got gtx480 with sm[0]", ww.build "gtx480", 100)
  wrong("advance: cycles: expected a whole number from 1 on, got -1", ww.build "gtx480", -1)
  wrong("cycles: expected a whole number from 1 on, got 0", slice_alone {}, 0)
  wrong("cycles: expected a whole number from 1 on, got 'many'", slice_alone {}, "many")
  wrong("source.destination: expected a slice of the address map (0 to 0), got 3",
    slice_alone { destination = 3, destination_share = 1 }, 9)
end)

-- Errors --------------------------------------------------------------------------------------------------------------

harness.test("of several crossbars the first is measured, which is said, or the one that is named", function()
  local short = { "--loads", "1", "--cycles", "100", "--only", "requests", "--pattern", "uniform" }
  local output = crossbar("gallery/two_crossbars", table.unpack(short))
  harness.contains(output, "xbar, one of 2 crossbars; --crossbar PATH measures another: xbar, read_only\n", "two_crossbars.xbar: 4 inputs")
  output = crossbar("gallery/two_crossbars", "--crossbar", "read_only", table.unpack(short))
  harness.contains(output, "two_crossbars.read_only: 4 inputs", "1 flit of 16 B")
  assert(not output:find("one of 2", 1, true), output)
  harness.refused("--crossbar: no crossbar matches 'read_onli'; did you mean read_only?", "scripts/network.lua", "--crossbar", "read_onli", "gallery/two_crossbars")
end)

harness.test("wrong options are refused, with what is legal", function()
  local function wrong(wanted, ...) harness.refused(wanted, "scripts/network.lua", ...) end
  wrong("unknown option '--nothing'", "--nothing", "1")
  wrong("--loads: expected a value, got nothing", "--loads")
  wrong("--topologies: expected 4, 16, 36 or 64, got '9'", "--topologies", "9")
  wrong("--loads: expected a number from 0.001 to 1, got '1.5'", "--loads", "0.1,1.5")
  wrong("--cycles: expected a whole number from 100", "--cycles", "x")
  wrong("--pattern: expected one of uniform, hot_spot, permutation, got 'hot'", "--pattern", "hot")
  wrong("config: no config matches 'gtx481'", "gtx481")
  wrong("expected one CONFIG, got 'gtx480' and 'second'", "gtx480", "second")
  wrong("expected a Crossbar, got none", harness.write("none.lua",
    'return require "warpwright".machine("none", function(m) m:clocks { core = "1GHz" } end)'))
  wrong("no/such/folder", "--loads", "0.1", "--cycles", "100", "--svg", "no/such/folder/a.svg")
  for _, option in ipairs { "--svg", "--json" } do
    local output = harness.refused(("network: %s: no/such/folder/a: No such"):format(option), "scripts/network.lua", option, "no/such/folder/a")
    assert(not output:find "pattern", output)
  end
end)

harness.test("scripts/network runs from any folder", function()
  local command = "here=$PWD program=$(realpath '%s') && cd '%s' && WARPWRIGHT=$program \"$here/scripts/network\" "
    .. "--loads 0.1 --cycles 100 --only responses --pattern uniform 2>&1"
  local pipe = assert(io.popen(command:format(program, harness.folder())))
  local output = pipe:read "a"
  assert(pipe:close(), output)
  harness.contains(output, "uniform       0.10")
end)

harness.test("figures that cannot be written whole are an error", function()
  local full = harness.folder() .. "/full"
  assert(os.execute(("ln -s /dev/full '%s'"):format(full)))
  for _, option in ipairs { "--json", "--svg" } do
    harness.refused(("%s: No space left on device"):format(full), "scripts/network.lua", option, full, square, "--set", "ports=2", "--only",
      "requests", "--pattern", "uniform", "--loads", "0.2", "--cycles", "1000")
  end
  assert(os.execute(("test -c '%s'"):format(full)), "the device was replaced")
end)

harness.finish()
