-- Networks of several crossbars and of routers: results are right, and the same under any tick order, any number of threads
-- and with a resume in between; wrong ones are refused.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

--- Writes a machine of four SMs and four L2 slices. `between` is Lua that makes the network: it has m, ww, network, `up`
-- (four ports of SMs) and `cut` (the options of a wire that is as slow as a quantum), and returns the four ports to the
-- slices.
local function machine_with(name, between)
  return harness.write(name .. ".lua", ([[
local ww = require "warpwright"
local network = require "configs.lib.network"
local cut = { latency = 8, depth = 16, back = { latency = 8, depth = 16 } }
return ww.machine("%s", function(m)
  m:clocks { core = "700MHz", slow = "350MHz" }
  m:quantum(4)
  local dispatcher = m:Dispatcher "dispatcher" { sms = 4 }
  m:AddressMap "map" { channels = 4 }
  local up = {}
  for i = 0, 3 do
    local sm = m:SM ("sm", i) {}
    local l1 = m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
    m:wire(dispatcher.sm[i], sm.dispatch, { latency = 4 })
    m:wire(sm.lsu.mem, l1.cpu)
    up[i] = l1.mem
  end
  local function between()
    %s
  end
  local down = between()
  for s = 0, 3 do
    local l2 = m:L2 ("l2", s) { size = "32KiB", ways = 4, mshrs = 32 }
    m:wire(down[s], l2.cpu, cut)
    m:wire(l2.mem, m:MemoryController ("mc", s) {}.cpu[0])
  end
end)
]]):format(name, between))
end

local machines = {
  -- A crossbar of each two SMs, with one port to a crossbar of all.
  series = [[
    local xbar = m:Crossbar "xbar" { up = 2, down = 4 }
    for c = 0, 1 do
      local near = m:Crossbar ("near", c) { up = 2, down = 1, flit = "64B" }
      m:wire(up[2 * c], near.up[0], cut)
      m:wire(up[2 * c + 1], near.up[1], cut)
      m:wire(near.down[0], xbar.up[c])
    end
    return xbar.down
  ]],
  -- Two stages of two each, and an L1.5 in front.
  butterfly = [[
    local down = {}
    for c = 0, 1 do
      m:Crossbar ("first", c) { up = 1, down = 2 }
      m:Crossbar ("second", c) { up = 2, down = 2 }
    end
    for c = 0, 1 do
      local mux = m:Mux ("mux", c) { up = 2 }
      local l15 = m:L1 ("l15", c) { size = "32KiB", ways = 4, mshrs = 32 }
      m:wire(up[2 * c], mux.up[0], cut)
      m:wire(up[2 * c + 1], mux.up[1], cut)
      m:wire(mux.down, l15.cpu)
      m:wire(l15.mem, ("first[%d].up[0]"):format(c))
      for k = 0, 1 do
        m:wire(("first[%d].down[%d]"):format(c, k), ("second[%d].up[%d]"):format(k, c))
        down[2 * c + k] = ("second[%d].down[%d]"):format(c, k)
      end
    end
    return down
  ]],
  -- L1.5s between a crossbar and a mesh, which has a slice at each corner.
  mixed = [[
    local near = m:Crossbar "near" { up = 4, down = 1 }
    local l15 = m:L1 "l15" { size = "64KiB", ways = 4, mshrs = 32 }
    local mesh = network.mesh(m, "mesh", { columns = 3, rows = 3, up = { [4] = 1 },
      down = { [0] = 1, [2] = 1, [6] = 1, [8] = 1 }, channel = { latency = 2 } })
    for i = 0, 3 do m:wire(up[i], near.up[i], cut) end
    m:wire(near.down[0], l15.cpu)
    m:wire(l15.mem, mesh:up(4))
    return { [0] = mesh:down(8), [1] = mesh:down(0), [2] = mesh:down(2), [3] = mesh:down(6) }
  ]],
  ring = [[
    local ring = network.ring(m, "ring", { routers = 4, up = 1, down = 1, buffer = 5, clock = "slow" })
    local down = {}
    for i = 0, 3 do
      m:wire(up[i], ring:up(i), cut)
      down[i] = ring:down((i + 2) % 4)
    end
    return down
  ]],
  torus = [[
    local torus = network.torus(m, "torus", { columns = 2, rows = 2, up = 1, down = 1, routing = "adaptive", vcs = 3,
      buffer = 5, channel = { latency = 8, depth = 2 } })
    local down = {}
    for i = 0, 3 do
      m:wire(up[i], torus:up(i), cut)
      down[i] = torus:down(3 - i)
    end
    return down
  ]],
}

local names <const> = { "series", "butterfly", "mixed", "ring", "torus" }

-- The machines have four SMs: less data keeps them busy.
local size_of <const> = { spmv = "small,rows=2048", kmeans = "small,points=2048", bfs = "small" }

local function stats_of(config, workload, options)
  options = options or {}
  local out = harness.folder() .. "/" .. (options.out or "out")
  local result = ww.run { config = config, workload = workload, size = size_of[workload], out = out, order = options.order,
    threads = options.threads, resume = options.resume, checkpoint_at = options.checkpoint_at }
  return harness.read(out .. "/stats.txt"), result
end

local function laws(name, config, workload)
  local want, result = stats_of(config, workload)
  for _, order in ipairs { "reversed", "shuffled:1", "restless" } do
    harness.test(("%s on %s ticked in order %s"):format(workload, name, order), function()
      assert(stats_of(config, workload, { order = order }) == want, "stats.txt differs")
    end)
  end
  harness.test(("%s on %s with 3 threads"):format(workload, name), function()
    assert(stats_of(config, workload, { threads = 3 }) == want, "stats.txt differs")
  end)
  harness.test(("%s on %s with a checkpoint in between"):format(workload, name), function()
    local half = ("%s/half-%s-%s"):format(harness.folder(), name, workload)
    harness.equal(harness.run("run", config, workload, "--size", size_of[workload], "--out", half, "--checkpoint-at",
      tostring(result.cycles // 2)), 0, "first half")
    local file = assert(io.popen(("ls '%s' | grep ckpt"):format(half))):read "l"
    local rest = harness.folder() .. "/rest"
    local status, output = harness.run("run", config, workload, "--size", size_of[workload], "--out", rest, "--resume",
      half .. "/" .. file)
    harness.equal(status, 0, output)
    assert(harness.read(rest .. "/stats.txt") == want, "stats.txt differs")
  end)
end

for _, name in ipairs(names) do
  local config = machine_with(name, machines[name])
  for _, workload in ipairs { "spmv", "kmeans" } do laws(name, config, workload) end
end
for _, workload in ipairs { "spmv", "bfs" } do laws("gtx480_mesh", "gtx480_mesh", workload) end

-- Slices find their ports ---------------------------------------------------------------------------------------------

harness.test("in a ring every request leaves at the slice that owns it: the others would refuse it", function()
  local _, result = stats_of(machine_with("ring", machines.ring), "spmv")
  for s = 0, 3 do assert(result[("l2[%d].accesses"):format(s)] > 0, "slice " .. s) end
  local packets, hops = 0, 0
  for i = 0, 3 do
    packets, hops = packets + result[("ring[%d].packets_out"):format(i)], hops + result[("ring[%d].hops"):format(i)]
  end
  assert(hops > packets / 2 and hops <= 2 * packets, "no way in a ring of four is longer than two channels")
end)

-- Refused -------------------------------------------------------------------------------------------------------------

local function refused(name, between, wanted)
  harness.test("refused: " .. name, function()
    local status, output = harness.run("run", machine_with("refused", between), "vecadd", "--size", "small,n=1024", "--out",
      harness.folder() .. "/out")
    harness.equal(status, 2, output)
    harness.contains(output, wanted)
  end)
end

local function change(text, ...)
  for _, pair in ipairs { ... } do
    local first, last = text:find(pair[1], 1, true)
    text = text:sub(1, first - 1) .. pair[2] .. text:sub(last + 1)
  end
  return text
end

refused("two wires between the same crossbars", change(machines.series, { "down = 1, flit", "down = 2, flit" },
  { "{ up = 2, down = 4 }", "{ up = 4, down = 4 }" },
  { "m:wire(near.down[0], xbar.up[c])", "m:wire(near.down[0], xbar.up[c]) m:wire(near.down[1], xbar.up[c + 2])" }),
  "near[0].down: expected one port that is nearest to each L2 slice, got slice 0 as near behind two, by the wires near[0].down[0] -> xbar.up[0] and near[0].down[1] -> xbar.up[2]")
refused("a cache of all addresses for each cluster of SMs behind one crossbar", [[
    local l2 = {}
    local near, far = m:Crossbar "near" { up = 4, down = 2 }, m:Crossbar "far" { up = 2, down = 4 }
    for c = 0, 1 do
      l2[c] = m:L2 ("cluster_l2", c) { size = "64KiB", ways = 16, mshrs = 32 }
      m:wire(near.down[c], l2[c].cpu, cut)
      m:wire(l2[c].mem, far.up[c], cut)
    end
    for i = 0, 3 do m:wire(up[i], near.up[i], cut) end
    return far.down
  ]], "by the wires near.down[0] -> cluster_l2[0].cpu and near.down[1] -> cluster_l2[1].cpu; networks send by address: "
    .. "SMs that share a cache of all addresses are joined by a Mux (m:join)")
refused("a slice that a crossbar cannot reach", [[
    local left, right = m:Crossbar "left" { up = 3, down = 2 }, m:Crossbar "right" { up = 1, down = 2 }
    for i = 0, 2 do m:wire(up[i], left.up[i], cut) end
    m:wire(up[3], right.up[0], cut)
    return { [0] = left.down[0], left.down[1], right.down[0], right.down[1] }
  ]], "left.down: expected each of the 4 L2 slices of the address map behind one port, got slice 2 (mc[2]) behind none")
refused("too few virtual channels for a ring", change(machines.ring, { "buffer = 5", "buffer = 5, vcs = 1" }),
  "ring[0].vcs: expected 2 or more (two for a torus' dateline), got 1")
refused("too few virtual channels to choose among", change(machines.torus, { "vcs = 3", "vcs = 2" }),
  "torus[0].vcs: expected 3 or more (two for a torus' dateline, one to be chosen freely), got 2")
refused("a buffer that is shorter than a packet", change(machines.ring, { "buffer = 5", "buffer = 4" }),
  "ring[0].buffer: expected 5 flits (the longest packet) or more, got 4")
refused("more wires than ports", change(machines.ring, { "ring:up(i)", "ring:up(0)" }),
  "refused.lua:21: ring[0].up: expected up to 1 wires, as many as it has ports, got more")
refused("a router that there is not", change(machines.ring, { "ring:up(i)", "ring:up(5)" }),
  "refused.lua:21: ring: expected a router number from 0 to 3, got 5")
refused("a parameter that routers do not have", change(machines.ring, { "buffer = 5", "bufer = 5" }),
  "refused.lua:18: ring[0]: no parameter of Router matches 'bufer'")
refused("a ring that does not say how many routers it has", change(machines.ring, { "routers = 4, ", "" }),
  "refused.lua:18: ring: routers: expected a whole number from 1 on, got nil")
refused("a channel to the wrong router", [[
    for i = 0, 2 do m:Router ("net", i) { up = i == 0 and 4 or 0, down = i == 2 and 4 or 0, x = i, columns = 3 } end
    for i = 0, 3 do m:wire(up[i], ("net[0].up[%d]"):format(i), cut) end
    m:wire("net[0].east", "net[2].from_west") m:wire("net[2].west", "net[0].from_east")
    m:wire("net[2].east", "net[1].from_west") m:wire("net[1].west", "net[2].from_east")
    return { [0] = "net[2].down[0]", "net[2].down[1]", "net[2].down[2]", "net[2].down[3]" }
  ]], "net[0].east: expected a wire to port from_west of the router at x = 1, y = 0, got one to net[2] (x = 2, y = 0): net[0].east -> net[2].from_west")
refused("a channel over the edge", [[
    for i = 0, 1 do m:Router ("net", i) { up = i == 0 and 4 or 0, down = i == 0 and 0 or 4, x = i, columns = 2 } end
    for i = 0, 3 do m:wire(up[i], ("net[0].up[%d]"):format(i), cut) end
    for _, i in ipairs { 0, 1 } do
      m:wire(("net[%d].east"):format(i), ("net[%d].from_west"):format(1 - i))
      m:wire(("net[%d].west"):format(i), ("net[%d].from_east"):format(1 - i))
    end
    return { [0] = "net[1].down[0]", "net[1].down[1]", "net[1].down[2]", "net[1].down[3]" }
  ]], "net[0].west: expected no wire, as router x = 0, y = 0 of 2 columns and 1 rows has no neighbour there, got one")
refused("a channel that is missing", [[
    for i = 0, 1 do m:Router ("net", i) { up = i == 0 and 4 or 0, down = i == 0 and 0 or 4, x = i, columns = 2 } end
    for i = 0, 3 do m:wire(up[i], ("net[0].up[%d]"):format(i), cut) end
    m:wire("net[0].east", "net[1].from_west")
    return { [0] = "net[1].down[0]", "net[1].down[1]", "net[1].down[2]", "net[1].down[3]" }
  ]], "net[0].from_east: expected a wire from the router at x = 1, y = 0, got none")
refused("more networks in a row than a request has room for", change(machines.mixed,
  { "m:wire(up[i], near.up[i], cut)", [[
    local port = up[i]
    for k = 1, 4 do
      local mux = m:Mux ("mux", 4 * i + k) { up = 1 }
      m:wire(port, mux.up[0])
      port = mux.down
    end
    m:wire(port, near.up[i], cut)]] }),
  "expected at most 4 networks (Mux, Crossbar, Router) on the way of a request, got 5")
refused("requests that come back to their mesh", change(machines.mixed, { "up = { [4] = 1 }", "up = { [4] = 2 }" },
  { "down = { [0] = 1", "down = { [0] = 1, [1] = 1" },
  { "return {", 'local again = m:L1 "again" { size = "64KiB", ways = 4, mshrs = 32 } m:wire(mesh:down(1), again.cpu) m:wire(again.mem, mesh:up(4)) return {' }),
  "mesh[0].down: expected each port to be nearest to an L2 slice, got none nearest by the wire mesh[1].down[0] -> again.cpu")

-- Which L2 gets an address ------------------------------------------------------------------------------------------------

--- Two slices of an L2; port 0 of the crossbar leads to slice `first`. Returns the results of a run.
local function run_with_first_slice(first, options)
  local path = harness.write("slices.lua", ([[
local ww = require "warpwright"
return ww.machine("slices", function(m)
  m:clocks { core = "700MHz" }
  m:Dispatcher "dispatcher" { sms = 1 }
  m:AddressMap "map" { channels = 2 }
  m:Crossbar "xbar" { up = 1, down = 2 }
  local sm = m:SM "sm" {}
  m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
  for c = 0, 1 do
    m:L2 ("l2", c) { size = "128KiB", ways = 16, mshrs = 64 }
    m:MemoryController ("mc", c) {}
  end
  m:wire("dispatcher.sm[0]", "sm.dispatch")
  m:wire("sm.lsu.mem", "sm.l1d.cpu")
  m:wire("sm.l1d.mem", "xbar.up[0]", { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
  for c = 0, 1 do m:wire("xbar.down[" .. c .. "]", "l2[" .. (c ~ %d) .. "].cpu") end
  m:wire("l2[*].mem", "mc[*].cpu[*]")
end)
]]):format(first))
  options.config, options.workload, options.size, options.out = path, "vecadd", "small,n=4096", false
  return ww.run(options)
end

harness.test("copies from the host leave their lines in the slice behind the port for their address, if it keeps them", function()
  for first = 0, 1 do
    local r = run_with_first_slice(first, { set = { "l2[*].host_copies=true" } })
    harness.equal(r["l2[*].read_misses"], 0, "reads that miss, port 0 leads to slice " .. first)
    for keeper = 0, 1 do
      r = run_with_first_slice(first, { set = { ("l2[%d].host_copies=true"):format(keeper) } })
      harness.equal(r[("l2[%d].read_misses"):format(keeper)], 0, "reads that miss in the slice that keeps lines")
      harness.equal(r[("l2[%d].read_hits"):format(1 - keeper)], 0, "reads that hit in the other")
    end
  end
end)

harness.test("a slice prefetches the addresses that come to it, wherever it lies", function()
  for first = 0, 1 do
    local r = run_with_first_slice(first, { policy = "next_line:cache=L2" })
    for slice = 0, 1 do assert(r[("l2[%d].prefetches_useful"):format(slice)] > 0, "no prefetch of slice " .. slice) end
  end
  local before = ww.run { config = "gallery/l3", workload = "spmv", size = "small", out = false, policy = "next_line:cache=L2" }
  for _, cache in ipairs { "l2[0]", "l2[1]", "l3[0]", "l3[1]" } do
    assert(before[cache .. ".prefetches"] > 0, "no prefetch of " .. cache)
  end
end)

harness.test("parts of an L2 in front of the crossbar know the sets of lines whose pages lie nowhere yet", function()
  for _, policy in ipairs { "gto+locality", "ucp:sharers=2", "gto+eaf", "wbyp", "ship", "hawkeye", "pc_byp" } do
    local r = ww.run { config = "gallery/cluster_l2", workload = "kmeans", size = "small", out = false, policy = policy,
      set = { "map.page_size=4096" } }
    assert(r["mc[0].reads"] > 0 and r["mc[1].reads"] > 0, policy .. ": pages of both channels are read")
  end
end)

harness.test("pages work with an L2 in front of the crossbar, whatever threads and orders there are", function()
  local function stats(how)
    local lines = {}
    local r = ww.run { config = "gallery/cluster_l2", workload = "mst", size = "small", out = false,
      set = { "map.page_size=4096", "l2[*].host_copies=true" }, order = how.order, threads = how.threads, fast_forward = how.fast_forward }
    assert(r.checks > 0 and r["mc[0].reads"] > 0 and r["mc[1].reads"] > 0, "pages of both channels are read")
    for name, value in r:stats() do lines[#lines + 1] = name .. " " .. tostring(value) end
    return table.concat(lines, "\n")
  end
  local want = stats {}
  for _, how in ipairs { { order = "reversed", threads = 2 }, { order = "shuffled:3" }, { order = "restless", threads = 3 } } do
    harness.same_text(stats(how), want, how.order)
  end
  stats { fast_forward = "launch=9,cta=0.5" }
end)

harness.finish()
