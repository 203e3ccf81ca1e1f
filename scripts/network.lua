-- Measures networks alone, under random traffic: throughput, latency and fairness over load, of a
-- machine's crossbar, or of several topologies beside theory. `help` below says how it is called.
local ww = require "warpwright"
local core = require "warpwright.core"
local command_line = require "scripts.lib.command_line"
local json = require "warpwright.json"
local svg = require "warpwright.svg"
local topologies = require "scripts.lib.topologies"
local write_file = require("warpwright.inputs").write_file

local help = [[
usage: scripts/network [options] [CONFIG]
       scripts/network --topologies NODES [--loads A,B,...] [--cycles N] [--seed N] [--json FILE]

Takes the crossbar out of a machine, default gtx480, and drives it with random traffic: requests from the SMs' ports to
the L2 slices', with packets of one flit, as reads are, and responses the other way, with lines of 128 B. Prints, for
each pattern and load, what passes, how long it takes, and how evenly the inputs are served.

  --set PATH=VALUE     changes the machine, such as xbar.speedup=2; may be repeated
  --crossbar PATH      which crossbar, where the machine has several; default: the first
  --only DIRECTION     requests or responses
  --pattern NAME       uniform, hot_spot or permutation; default all three
  --hot SHARE          hot_spot: of the packets that go to output 0, default 0.25; the others go anywhere
  --loads A,B,...      default 0.1 to 1 in steps of 0.1
  --cycles N           measured for each load, default 100000, after a tenth of it to warm up
  --seed N             default 1
  --svg FILE           draws the curves
  --json FILE          writes the figures

The load is what the inputs offer, and `passed` what comes out, in flits per cycle, as fractions of what the channels of
the narrower side carry. The latency is in cycles of the crossbar, from a packet's coming into being to its being taken
at the other end, `unloaded` of them for a packet alone; where less passes than comes, queues grow without end and it
has no meaning. `fairness` is Jain's index over what each input sent, 1 when all sent equally many; `least/most`
compares the input that sent least with the one that sent most.

With --topologies it drives networks of so many sources and sinks (4, 16, 36, 64): a crossbar, a crossbar behind crossbars
of four sources each, and routers of two cycles in a mesh, a ring and a torus; uniform traffic, packets of one flit. Of each
it prints the latency of a packet alone and the highest throughput of a node, as theory has them and as measured, and a
curve: what passes, in flits per cycle and node, and how long it takes. Theory: the mean number of channels on the way,
and the fullest channel under dimension order, or the sinks. What routers and switches lose to each other's conflicts
comes off it.
]]

local function usage_error(...) command_line.error("network", ...) end

-- The crossbar of a machine -----------------------------------------------------------------------

--- The depths of the wire at a port, "xbar.up[0]": towards the slices, and back.
local function depths_at(machine, port)
  for _, wire in ipairs(machine:wires()) do
    if wire.from == port or wire.to == port then return wire.forward.depth, (wire.back or wire.forward).depth end
  end
  return 8, 8
end

--- What must be known of the crossbar to build it again, and of the wires around it.
local function read_crossbar(options)
  local sim = ww.build(options.config, { set = options.set })
  local crossbar, paths = nil, {}
  for _, object in ipairs(sim.machine:objects()) do
    if object.class == "Crossbar" then
      paths[#paths + 1] = object.path
      if not crossbar and (options.crossbar or object.path) == object.path then crossbar = object end
    end
  end
  if not paths[1] then usage_error("machine %s: expected a Crossbar, got none", sim.name) end
  if not crossbar then command_line.no_match("network", "--crossbar", "crossbar", options.crossbar, paths) end
  if paths[2] and not options.crossbar then
    print(("%s, one of %d crossbars; --crossbar PATH measures another: %s"):format(crossbar.path, #paths, table.concat(paths, ", ")))
  end
  local found = { machine = sim.name, path = crossbar.path, clock = core.clock_of(crossbar), up = #crossbar.up,
    down = #crossbar.down, parameters = {} }
  for _, name in ipairs { "flit", "latency", "speedup", "output_buffer" } do found.parameters[name] = crossbar[name] end
  found.response_part = crossbar.response_part
  for _, clock in ipairs((sim.machine:clocks())) do
    if clock.name == found.clock then found.hertz = clock.hertz end
  end
  local from_sm, to_sm = depths_at(sim.machine, crossbar.path .. ".up[0]")
  local to_slice, from_slice = depths_at(sim.machine, crossbar.path .. ".down[0]")
  found.depths = { requests = { from_sm, to_slice }, responses = { from_slice, to_sm } }
  sim:close()
  return found
end

--- One direction of it: a switch from `inputs` to `outputs` with packets of `flits`. Both subnets
-- are the same switch, so responses are measured as the requests of the crossbar turned round: as
-- whole packets, whatever response_part is.
local function direction_of(crossbar, name)
  local payload = name == "requests" and 1 or 128 -- bytes behind a header of 8
  return {
    name = name,
    inputs = name == "requests" and crossbar.up or crossbar.down,
    outputs = name == "requests" and crossbar.down or crossbar.up,
    payload = payload,
    flits = math.ceil((8 + payload) / crossbar.parameters.flit),
    depths = crossbar.depths[name],
    crossbar = crossbar,
  }
end

-- Traffic -----------------------------------------------------------------------------------------

local pattern_names = { "uniform", "hot_spot", "permutation" }

--- Where input i sends: all to `destination`, or a share of its packets, the others anywhere.
local patterns = {
  uniform = function() return { share = 0, destination = 0 } end,
  hot_spot = function(_, options) return { share = options.hot, destination = 0 } end,
  permutation = function(direction, _, i) return { share = 1, destination = i % direction.outputs } end,
}

--- What the fullest output lets pass at load 1, as a fraction of what the narrower side carries.
local function bound(direction, pattern, options)
  local inputs, outputs = direction.inputs, direction.outputs
  local narrow = math.min(inputs, outputs)
  if pattern == "uniform" then return 1 end
  if pattern == "hot_spot" then return math.min(1, 1 / (options.hot + (1 - options.hot) / outputs) / narrow) end
  local per_input, passes = narrow / inputs, 0
  for j = 0, outputs - 1 do passes = passes + math.min(1, (inputs - 1 - j) // outputs * per_input + per_input) end
  return passes / narrow
end

--- What head-of-line blocking alone lets pass of uniform traffic when every input always has a
-- packet: each output takes one of the heads that want it, and the input that it took it from draws
-- the next output. Which one is taken does not matter (Karol, Hluchyj and Morgan 1987).
local function head_of_line_limit(direction, slots)
  local random, outputs, wanted, passed = ww.rng(1), direction.outputs, {}, 0
  for j = 0, outputs - 1 do wanted[j] = 0 end
  local function draw(count)
    for _ = 1, count do
      local j = random:int(0, outputs - 1)
      wanted[j] = wanted[j] + 1
    end
  end
  draw(direction.inputs)
  for _ = 1, slots do
    local free = 0
    for j = 0, outputs - 1 do
      if wanted[j] > 0 then wanted[j], free = wanted[j] - 1, free + 1 end
    end
    draw(free)
    passed = passed + free
  end
  return passed / slots / math.min(direction.inputs, outputs)
end

--- What theory says of load 1.
local function limit_text(direction, pattern, options)
  local text = ("%s: at load 1 the fullest output lets %.4f pass"):format(pattern, bound(direction, pattern, options))
  if pattern == "uniform" and direction.crossbar.parameters.speedup == 1 then
    text = text .. (", head-of-line blocking %.4f"):format(head_of_line_limit(direction, options.cycles))
  end
  return text
end

--- Packets per input and cycle.
local function rate_of(direction, load)
  return load * math.min(direction.inputs, direction.outputs) / direction.inputs / direction.flits
end

local function traffic_machine(direction, pattern, load, options)
  local crossbar, inputs, outputs = direction.crossbar, direction.inputs, direction.outputs
  local slice_bytes <const> = 128
  return ww.machine("crossbar", function(m)
    m:clocks { core = crossbar.hertz }
    m:quantum(256)
    m:AddressMap "map" { channels = outputs, interleave = slice_bytes }
    local parameters = { up = inputs, down = outputs }
    for _, name in ipairs { "flit", "latency", "speedup", "output_buffer" } do
      parameters[name] = crossbar.parameters[name]
    end
    local xbar = m:Crossbar "xbar" (parameters)
    for i = 0, inputs - 1 do
      local to = patterns[pattern](direction, options, i)
      local source = m:TrafficSource ("source", i) {
        rate = rate_of(direction, load),
        bytes = direction.payload, footprint = 16 * outputs * slice_bytes, writes = 1, posted = true,
        destination = to.destination, destination_share = to.share, seed = options.seed,
      }
      m:wire(source.mem, xbar.up[i], { depth = direction.depths[1] })
    end
    for j = 0, outputs - 1 do
      m:wire(m:TrafficSink ("sink", j) {}.cpu, xbar.down[j], { depth = direction.depths[2] })
    end
  end)
end

-- Measuring ---------------------------------------------------------------------------------------

--- What the sinks and sources have counted so far.
local function counters(sim, direction)
  local r = sim:result()
  local so_far = { cycles = r.cycles, received = 0, waited = 0.0, longest = 0.0, sent = {} }
  for j = 0, direction.outputs - 1 do
    local sink = ("sink[%d]."):format(j)
    local received, cycles = r[sink .. "received"], r[sink .. "latency"] * r[sink .. "received"]
    so_far.received, so_far.waited = so_far.received + received, so_far.waited + cycles
    if received > 0 then
      so_far.longest = math.max(so_far.longest,
        r[sink .. "longest_latency_ticks"] * cycles / r[sink .. "latency_ticks"])
    end
  end
  for i = 0, direction.inputs - 1 do so_far.sent[i] = r[("source[%d].sent"):format(i)] end
  return so_far
end

--- Jain's index of what was sent in between, and the least as a part of the most.
local function fairness(before, after, inputs)
  local sum, squares, least, most = 0, 0, math.huge, 0
  for i = 0, inputs - 1 do
    local sent = after.sent[i] - before.sent[i]
    sum, squares, least, most = sum + sent, squares + sent * sent, math.min(least, sent), math.max(most, sent)
  end
  if most == 0 then return 1.0, 1.0 end
  return sum * sum / (inputs * squares), least / most
end

--- Cycles of a packet that meets no other: the links, the crossbar, and its other flits.
local function unloaded(direction) return 2 + direction.crossbar.parameters.latency + direction.flits - 1 end

--- Whether queues grow: less passes than comes, by more than chance, or random arrivals fill an
-- output altogether.
local function is_saturated(direction, pattern, load, passed, options)
  local rate, narrow = rate_of(direction, load), math.min(direction.inputs, direction.outputs)
  local chance = math.sqrt(rate * (1 - rate) * direction.inputs / options.cycles) * direction.flits / narrow
  return passed < load - 4 * chance - 0.002 or rate < 1 and load >= bound(direction, pattern, options)
end

local function measure(direction, pattern, load, options)
  local sim = ww.build(traffic_machine(direction, pattern, load, options))
  sim:advance(options.cycles // 10 + 1)
  local before = counters(sim, direction)
  sim:advance(options.cycles)
  local after = counters(sim, direction)
  sim:close()
  local packets, cycles = after.received - before.received, after.cycles - before.cycles
  local passed = packets * direction.flits / cycles / math.min(direction.inputs, direction.outputs)
  local jain, least_to_most = fairness(before, after, direction.inputs)
  local saturated = is_saturated(direction, pattern, load, passed, options)
  return {
    direction = direction.name, pattern = pattern, load = load, passed = passed, saturated = saturated,
    latency = not saturated and packets > 0 and (after.waited - before.waited) / packets or nil,
    longest = not saturated and after.longest or nil,
    fairness = jain, least_to_most = least_to_most,
  }
end

-- Printing and drawing ----------------------------------------------------------------------------

local function print_head(direction)
  local crossbar = direction.crossbar
  local p = crossbar.parameters
  print(("\n%s of %s.%s: %d inputs, %d outputs, %g MHz; packets of %d %s of %d B; unloaded %d cycles"):format(
    direction.name, crossbar.machine, crossbar.path, direction.inputs, direction.outputs, crossbar.hertz / 1e6,
    direction.flits, direction.flits == 1 and "flit" or "flits", p.flit, unloaded(direction)))
  if direction.name == "responses" and crossbar.response_part > 0 then
    print(("measured as whole packets; in the machine they cross in parts of %d"):format(crossbar.response_part))
  end
  print("pattern       load  passed   latency   longest  fairness  least/most")
end

local function print_row(row)
  local function cycles(value, form) return value and form:format(value) or "-" end
  print(("%-12s %5.2f  %6.4f  %8s  %8s  %8.4f  %10.3f"):format(row.pattern, row.load, row.passed,
    cycles(row.latency, "%.2f"), cycles(row.longest, "%.0f"), row.fairness, row.least_to_most))
end

--- The curves of a figure, one for each pattern, and whether there are any points; those above
-- `most` are left out.
local function curves(rows, direction, options, figure, most)
  local series, any = {}, false
  for i, pattern in ipairs(options.pattern) do
    local points = {}
    for _, row in ipairs(rows) do
      local shown = row[figure] and row[figure] <= most
      if row.direction == direction.name and row.pattern == pattern and shown then
        points[#points + 1] = { row.load, row[figure] }
      end
    end
    series[i], any = { name = pattern, points = points }, any or points[1] ~= nil
  end
  return series, any
end

--- A row of two charts for each direction: what passes, and how long it takes.
local function draw(rows, directions, options)
  local canvas, width <const>, height <const> = svg.canvas(), 420, 300
  for i, direction in ipairs(directions) do
    local of = ("%s.%s, %s, %d to %d"):format(direction.crossbar.machine, direction.crossbar.path, direction.name,
      direction.inputs, direction.outputs)
    local figures = { { "Throughput", "passed", "passed", math.huge }, { "Latency", "latency", "cycles",
      10 * unloaded(direction) } }
    for k, figure in ipairs(figures) do
      local series, any = curves(rows, direction, options, figure[2], figure[4])
      local box = { x = (k - 1) * width, y = (i - 1) * height, width = width, height = height }
      local chart = { title = ("%s, %s"):format(figure[1], of), x = "load", y = figure[3], series = series }
      if any then canvas:curves(box, chart) end
    end
  end
  return canvas:document(2 * width, #directions * height)
end

-- Command line ------------------------------------------------------------------------------------

--- For numbers within these bounds.
local function number(min, max, whole)
  return function(text, _, option)
    local value = whole and math.tointeger(tonumber(text)) or not whole and tonumber(text)
    if not value or value < min or value > max then
      command_line.expected("network", option, ("a %snumber from %g to %g"):format(whole and "whole " or "", min, max), text)
    end
    return value
  end
end

local function one_of(legal)
  return function(text, _, option)
    for _, word in ipairs(legal) do
      if word == text then return { text } end
    end
    command_line.expected("network", option, "one of " .. table.concat(legal, ", "), text)
  end
end

local function read_topologies(text, _, option)
  local nodes = math.tointeger(tonumber(text))
  if not nodes or not topologies.is_legal(nodes) then
    command_line.expected("network", option, "4, 16, 36 or 64", text)
  end
  return nodes
end

local function read_loads(text, _, option)
  local loads, read = {}, number(0.001, 1)
  for load in (text .. ","):gmatch "([^,]*)," do loads[#loads + 1] = read(load, nil, option) end
  return loads
end

local function read_arguments(args)
  local options = { set = {}, only = { "requests", "responses" }, pattern = pattern_names, hot = 0.25,
    cycles = 100000, seed = 1, loads = {} }
  for i = 1, 10 do options.loads[i] = i / 10 end
  local words = command_line.read("network", args, options, {
    set = command_line.list, only = one_of { "requests", "responses" }, pattern = one_of(pattern_names), hot = number(0, 1),
    cycles = number(100, 1e9, true), seed = number(0, 2 ^ 53, true), topologies = read_topologies,
    crossbar = command_line.text, svg = command_line.output, json = command_line.output, loads = read_loads,
  })
  if words[2] then usage_error("expected one CONFIG, got '%s' and '%s'", words[1], words[2]) end
  options.config = words[1] or "gtx480"
  return options
end

-- Topologies --------------------------------------------------------------------------------------

--- What passes per node and cycle, and the mean latency, at a load.
local function measure_topology(name, load, options)
  local nodes = options.topologies
  local ends = { inputs = nodes, outputs = nodes }
  local sim = ww.build(topologies.machine(name, nodes, load, options.seed))
  sim:advance(options.cycles // 10 + 1)
  local before = counters(sim, ends)
  sim:advance(options.cycles)
  local after = counters(sim, ends)
  sim:close()
  local packets = after.received - before.received
  return packets / (after.cycles - before.cycles) / nodes, packets > 0 and (after.waited - before.waited) / packets or nil
end

--- Whether less passes than comes, by more than chance.
local function falls_behind(load, passed, options)
  return passed < load - 4 * math.sqrt(load * (1 - load) / options.cycles / options.topologies) - 0.002
end

local function measure_topologies(options)
  local rows = {}
  for _, name in ipairs(topologies.names) do
    local theory = topologies.theory(name, options.topologies)
    local lightest <const> = 0.005
    local _, alone = measure_topology(name, lightest, options)
    local most = measure_topology(name, 1, options)
    local hops = theory.hops and (" (%.2f channels)"):format(theory.hops) or ""
    print(("%s, %d nodes: latency alone %.2f%s, measured %.2f; throughput at most %.3f, measured %.3f"):format(name,
      options.topologies, theory.latency, hops, alone, theory.throughput, most))
    print("   load  passed   latency")
    local summary = { topology = name, nodes = options.topologies, hops = theory.hops, latency = theory.latency,
      measured_latency = alone, throughput = theory.throughput, measured_throughput = most, curve = {} }
    for i, load in ipairs(options.loads) do
      local passed, latency = measure_topology(name, load, options)
      if falls_behind(load, passed, options) then latency = nil end
      print(("  %5.2f  %6.4f  %8s"):format(load, passed, latency and ("%.2f"):format(latency) or "-"))
      summary.curve[i] = { load = load, passed = passed, latency = latency }
    end
    rows[#rows + 1] = summary
    io.stdout:flush()
  end
  if options.json then json.write(options.json, rows) end
end

local function main(options)
  if options.topologies then return measure_topologies(options) end
  local crossbar, rows, directions = read_crossbar(options), {}, {}
  for d, name in ipairs(options.only) do
    local direction = direction_of(crossbar, name)
    directions[d] = direction
    print_head(direction)
    for _, pattern in ipairs(options.pattern) do
      for _, load in ipairs(options.loads) do
        rows[#rows + 1] = measure(direction, pattern, load, options)
        print_row(rows[#rows])
        io.stdout:flush()
      end
      print(limit_text(direction, pattern, options))
    end
  end
  if options.svg then write_file(options.svg, draw(rows, directions, options)) end
  if options.json then json.write(options.json, rows) end
end

if arg[1] == "--help" or arg[1] == "-h" then
  io.write(help)
  return
end

main(read_arguments(arg))
