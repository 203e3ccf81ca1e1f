-- Machines that could be described and not mean anything: each is refused before it runs, with the object, parameter or wire
-- that is at fault and what would be legal.
local harness = require "tests.lib.harness"

local program = arg[-1]

--- Writes a machine of one SM, of which `changes` replaces texts; returns its path.
local function machine_with(changes)
  local text = [[
local ww = require "warpwright"
return ww.machine("small", function(m)
  m:clocks { core = "700MHz", slow = "350MHz", fast = "1400MHz" }
  m:quantum(4)
  local dispatcher = m:Dispatcher "dispatcher" { sms = 1 }
  m:AddressMap "map" { channels = 1 }
  local sm = m:SM "sm" {}
  local l1 = m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
  local l2 = m:L2 "l2" { size = "64KiB", ways = 4, mshrs = 32 }
  local mc = m:MemoryController "mc" {}
  m:wire(dispatcher.sm[0], sm.dispatch)
  m:wire(sm.lsu.mem, l1.cpu)
  m:wire(l1.mem, l2.cpu, { latency = 4, depth = 16, back = { latency = 6, depth = 16 } })
  m:wire(l2.mem, mc.cpu[0])
end)
]]
  for _, change in ipairs(changes) do
    local first, last = text:find(change[1], 1, true)
    text = text:sub(1, first - 1) .. change[2] .. text:sub(last + 1)
  end
  return harness.write("small.lua", text)
end

--- Runs vecadd on it, with these options.
local function run(changes, ...)
  return harness.run("run", machine_with(changes), "vecadd", "--size", "small,n=1024", "--out", harness.folder() .. "/out", ...)
end

local function runs(name, changes, ...)
  local options = { ... }
  harness.test(name, function()
    local status, output = run(changes, table.unpack(options))
    harness.equal(status, 0, "exit status, output " .. output)
    harness.contains(output, ": verified")
  end)
end

local function refused(name, changes, text, ...)
  local options = { ... }
  harness.test(name, function()
    local status, output = run(changes, table.unpack(options))
    harness.equal(status, 2, "exit status, output " .. output)
    harness.contains(output, "warpwright: error: ", text)
    harness.equal(select(2, output:gsub("\n", "\n")), 1, "lines of " .. output)
  end)
end

-- Lines --------------------------------------------------------------------------------------------------------------

runs("the machine itself is legal", {})
refused("a clock that is set and that no object has", {},
  'clock.slow: expected the clock of an object, got one that none has; an object has it by clock = "slow" among its parameters',
  "--set", "clock.slow=300MHz")
runs("a clock that is set and that an object has", { { 'MemoryController "mc" {}', 'MemoryController "mc" { clock = "slow" }' } },
  "--set", "clock.slow=300MHz")
refused("a line of an L1 that is shorter than what the load/store unit asks for", {},
  "sm.l1d.line: expected 128 B or more for the requests of sm.lsu.mem, got 32 B; 'sectors' ", "--set", "sm.l1d.line=32")
refused("a line of an L2 that is shorter than that of its L1", {},
  "l2.line: expected 128 B or more for the requests of sm.lsu.mem, got 64 B; 'sectors' ", "--set", "l2.line=64")
runs("lines that are fetched in sectors of 32 B", {}, "--set", "sm.l1d.sectors=4", "--set", "l2.sectors=4")

refused("index masks of which one is the XOR of others, so that half of the sets have no addresses", {},
  "sm.l1d.index_masks: expected masks that reach every set, none the XOR of others, got 0x880, which is that of "
    .. "0x480, 0xc00", "--set", "sm.l1d.index=xor", "--set", "sm.l1d.index_masks=0x480,0x100,0xc00,0x880,0x200")
refused("an index mask of more than 64 bits", {},
  "sm.l1d.index_masks: expected a mask of address bits for each index bit, bit 0 first (\"0x80,0x100\"), got '0x10000000000000080,",
  "--set", "sm.l1d.index=xor", "--set", "sm.l1d.index_masks=0x10000000000000080,0x100,0x200,0x400,0x800")
refused("an index mask that stands there twice", {},
  "l2.index_masks: expected masks that reach every set, none the XOR of others, got 0x80, which is that of 0x80",
  "--set", "l2.index=xor", "--set", "l2.index_masks=0x80,0x100,0x200,0x400,0x800,0x1000,0x80")

-- Translations ------------------------------------------------------------------------------------------------------

local to_l1 = "m:wire(sm.lsu.mem, l1.cpu)"
refused("data for a TLB that has no way down", { { to_l1, [[
  local tlb, walker = m:TLB (sm, "tlb") {}, m:PageWalker "walker" {}
  m:wire(sm.lsu.mem, tlb.up)
  m:wire(tlb.walk, walker.up)
  m:wire(walker.mem, l1.cpu)]] } },
  "sm.tlb.down: expected a wire, for the requests of sm.lsu.mem, got none; only a TLB that is asked for translations alone has none")
refused("data for a page walker", { { to_l1, [[
  local walker = m:PageWalker "walker" {}
  m:wire(sm.lsu.mem, walker.up)
  m:wire(walker.mem, l1.cpu)]] } },
  "walker.up: expected requests for translations, as a TLB's walk sends them, got those of sm.lsu.mem")
refused("data for a second TLB, by the mux that brings it requests for translations", { { to_l1, [[
  local tlb, walker = m:TLB (sm, "tlb") {}, m:PageWalker "walker" {}
  local both, second = m:Mux (sm, "both") { up = 2 }, m:TLB "second" {}
  m:wire(sm.lsu.mem, tlb.up)
  m:wire(tlb.down, both.up[0])
  m:wire(tlb.walk, both.up[1])
  m:wire(both.down, second.up)
  m:wire(second.walk, walker.up)
  m:wire(walker.mem, l1.cpu)]] } },
  "second.down: expected a wire, for the requests of sm.lsu.mem, got none")

refused("sub-cores without as many schedulers each", { { "m:SM \"sm\" {}", "m:SM \"sm\" { schedulers = 3, sub_cores = 2 }" } },
  "sm.sub_cores: expected a divisor of `schedulers`, 3, got 2")

harness.test("lines may be as short as the requests that come to them", function()
  local function of_line(line)
    return harness.run("run", "gtx480", "vecadd", "--size", "small,n=1024", "--set", "sms=1",
      "--set", "sm[*].constant_cache.line=" .. line, "--set", "sm[*].texture_cache.line=" .. line, "--out", harness.folder() .. "/out")
  end
  local status, output = of_line(32)
  harness.equal(status, 0, output)
  status, output = of_line(16)
  harness.equal(status, 2, output)
  harness.contains(output, "sm[0].constant_cache.line: expected 32 B or more for the requests of sm[0].lsu.constant, got 16 B")
end)

harness.test("a source of traffic has lines that fit, too", function()
  local script = harness.write("traffic.lua", [[
local ww = require "warpwright"
local sim = ww.build(ww.machine("traffic", function(m)
  m:clocks { core = "1GHz" }
  local cache = m:L1 "cache" { size = "16KiB", ways = 4, mshrs = 32, line = 32 }
  m:wire(m:TrafficSource "source" { bytes = arg[1] }.mem, cache.cpu)
  m:wire(cache.mem, m:TrafficSink "sink" {}.cpu)
end))
sim:advance(1000)
]])
  harness.equal(harness.run(script, "32"), 0, "exit status")
  harness.refused("traffic.lua:8: cache.line: expected 64 B or more for the requests of source.mem, got 32 B", script, "64")
end)

-- Loops --------------------------------------------------------------------------------------------------------------

local extra = { "local mc =", 'local other = m:L1 (sm, "other") { size = "16KiB", ways = 4, mshrs = 32 }\n  local mc =' }

refused("an L1 that is wired to itself and that no SM reaches", { extra, { "m:wire(l2.mem", "m:wire(other.mem, other.cpu)\n  m:wire(l2.mem" } },
  "wire sm.other.mem -> sm.other.cpu: expected requests to go on to where they are answered, a MemoryController, say, "
  .. "got a loop of sm.other\n")
refused("two caches that send their requests to each other", {
  extra, { 'local mc =', 'local third = m:L1 (sm, "third") { size = "16KiB", ways = 4, mshrs = 32 }\n  local mc =' },
  { "m:wire(l2.mem", "m:wire(other.mem, third.cpu) m:wire(third.mem, other.cpu)\n  m:wire(l2.mem" } },
  "wire sm.third.mem -> sm.other.cpu: expected requests to go on to where they are answered, a MemoryController, say, got a loop of sm.third, sm.other\n")
refused("a loop that requests of an SM reach", {
  { "local mc =", 'local mux = m:Mux "mux" { up = 2 }\n  local mc =' },
  { "m:wire(l1.mem, l2.cpu", "m:wire(l1.mem, mux.up[0]) m:wire(mux.down, l2.cpu" }, { "m:wire(l2.mem, mc.cpu[0])", "m:wire(l2.mem, mux.up[1])" },
  { 'local mc = m:MemoryController "mc" {}', "" } },
  "wire l2.mem -> mux.up[1]: expected requests to go on to where they are answered, a MemoryController, say, got a loop of l2, mux\n")

-- Networks -----------------------------------------------------------------------------------------------------------

--- So many networks between the L1 and the L2, the first of them mux[1].
local function networks(count)
  return { { "m:wire(l1.mem, l2.cpu, {", ([[
local port = l1.mem
  for i = 1, %d do
    local mux = m:Mux ("mux", i) { up = 1 }
    m:wire(port, mux.up[0])
    port = mux.down
  end
  m:wire(port, l2.cpu, {]]):format(count) } }
end

--- The same, with a TLB behind the second one, and one network more, which joins the page walker's reads.
local function networks_around_tlb(count)
  return { { "m:wire(l1.mem, l2.cpu, {", ([[
local port, walker, last = l1.mem, m:PageWalker "walker" {}, m:Mux "last" { up = 2 }
  for i = 1, %d do
    local mux = m:Mux ("mux", i) { up = 1 }
    m:wire(port, mux.up[0])
    port = mux.down
    if i == 2 then
      local tlb = m:TLB (sm, "tlb") {}
      m:wire(port, tlb.up)
      m:wire(tlb.walk, walker.up)
      port = tlb.down
    end
  end
  m:wire(port, last.up[0])
  m:wire(walker.mem, last.up[1])
  m:wire(last.down, l2.cpu, {]]):format(count) } }
end

runs("four networks one after the other", networks(4))
runs("a TLB behind two of four networks", networks_around_tlb(3))
refused("a fifth network, of which one has a TLB behind it", networks_around_tlb(4),
  "mux[1]: expected at most 4 networks (Mux, Crossbar, Router) on the way of a request, got 5\n")
refused("a fifth, for which a request has no room to note the way back", networks(5),
  "mux[1]: expected at most 4 networks (Mux, Crossbar, Router) on the way of a request, got 5\n")

-- The quantum --------------------------------------------------------------------------------------------------------

runs("a quantum as long as the quicker way of the wire between SM and L2", {}, "--set", "quantum=4")
refused("a longer quantum", {},
  "quantum: expected 1 to 4 cycles of clock core (the latency of wire sm.l1d.mem -> l2.cpu, between sm and l2), got 5; m:quantum(4) or --set quantum=4 sets it\n",
  "--set", "quantum=5")
refused("a quantum that is longer than all that happens", {}, "got 100000;", "--set", "quantum=100000")
refused("a quantum that is longer than the way back", { { "latency = 6", "latency = 3" } },
  "quantum: expected 1 to 3 cycles of clock core (the latency of wire l2.cpu -> sm.l1d.mem, between sm and l2), got 4;")
refused("latencies are in cycles of the sender, of which the core has half as many", { { 'm:L2 "l2" {', 'm:L2 "l2" { clock = "fast",' } },
  "quantum: expected 1 to 3 cycles of clock core (the latency of wire l2.cpu -> sm.l1d.mem, between sm and l2), got 4;")
runs("and twice as many", { { 'm:L2 "l2" {', 'm:L2 "l2" { clock = "slow",' }, { "latency = 6", "latency = 2" } })
refused("a machine that no quantum cuts", { { 'm:L2 "l2" {', 'm:L2 "l2" { clock = "fast",' }, { "latency = 6", "latency = 1" } },
  "wire l2.cpu -> sm.l1d.mem: expected a latency of 1 cycle of clock core or more, as it is the slowest wire between sm and l2, got 1 of clock fast, with clock core at")

harness.test("a machine that names no quantum has one that its wires allow, 4 at the most", function()
  for latency, quantum in pairs { [1] = 1, [3] = 3, [4] = 4, [9] = 4 } do
    local status, output = run { { "m:quantum(4)", "" }, { "latency = 4, depth", ("latency = %d, depth"):format(latency) },
      { "latency = 6", "latency = 9" } }
    harness.equal(status, 0, output)
    harness.contains(harness.read(harness.folder() .. "/out/config.lua"), ("m:quantum(%d)"):format(quantum))
  end
end)

harness.test("the longest legal quantum of gtx480 is that of its network, whatever else is quick", function()
  local function with(...)
    return harness.run("run", "gtx480", "kmeans", "--size", "small", "--set", "sms=2", "--set", "partitions=2", "--out", harness.folder() .. "/out", ...)
  end
  local status, output = with("--set", "quantum=16")
  harness.equal(status, 0, output)
  status, output = with("--set", "quantum=17")
  harness.equal(status, 2, output)
  harness.contains(output, "quantum: expected 1 to 16 cycles of clock core (the latency of wire sm[0].mux.down -> xbar.up[0], between sm[0] and l2[0]), got 17;")
end)

-- Objects ------------------------------------------------------------------------------------------------------------

refused("an LSU that is part of no SM", { { 'local mc =', 'm:LSU "q" {}\n  local mc =' } },
  "q: expected an LSU below an SM, which has one as it is made, got one by itself\n")
refused("an LSU that is part of a cache", { { 'local mc =', 'm:LSU (l2, "q") {}\n  local mc =' } },
  "l2.q: expected an LSU below an SM, which has one as it is made, got one below l2\n")
refused("a second AddressMap", { { 'local sm =', 'm:AddressMap "other" { channels = 2 }\n  local sm =' } },
  "other: expected one AddressMap in machine small, got a second beside map\n")

-- The address map -----------------------------------------------------------------------------------------------------

refused("more channels than one, of which all come to one memory controller", {},
  "map.channels: expected 1, because requests for every address come to mc, got 6\n", "--set", "map.channels=6")
refused("the default number of channels without a network", { { '"map" { channels = 1 }', '"map" {}' } },
  "map.channels: expected 1, because requests for every address come to mc, got 6\n")
refused("more channels than memory controllers behind a crossbar", {
  { "{ channels = 1 }", "{ channels = 2 }" },
  { 'local mc = m:MemoryController "mc" {}', [[
local mc = m:MemoryController "mc" { ports = 2 }
  local other, xbar = m:L2 "other" { size = "64KiB", ways = 4, mshrs = 32 }, m:Crossbar "xbar" { up = 1, down = 2 }
  m:wire(xbar.down[0], l2.cpu)
  m:wire(xbar.down[1], other.cpu)
  m:wire(other.mem, mc.cpu[1])]] },
  { "m:wire(l1.mem, l2.cpu,", "m:wire(l1.mem, xbar.up[0]," },
}, "map.channels: expected up to 1, as many as there are memory controllers, got 2\n")
refused("fewer banks than the address map chooses among", {},
  "mc.banks: expected 16 or more, among which map.bank_mask chooses, got 8\n", "--set", "mc.banks=8")
runs("fewer banks with a mask that chooses among so many", {}, "--set", "mc.banks=8", "--set", "map.bank_mask=0xe000")

harness.test("atomics that no L2 performs", function()
  local machine = machine_with { { 'm:L2 "l2" { size = "64KiB", ways = 4, mshrs = 32 }', 'm:TrafficSink "l2" {}' },
    { '  local mc = m:MemoryController "mc" {}\n', "" }, { "  m:wire(l2.mem, mc.cpu[0])\n", "" } }
  local output = harness.refused(": l2: expected reads and writes, got an atomic on 0x", "run", machine, "histo", "--size", "small", "--out",
    harness.folder() .. "/out")
  harness.contains(output, "an L2 between it and the SMs, or a MemoryController in its place, performs atomics")
end)

-- Memory of this computer --------------------------------------------------------------------------------------------

--- The same in a process that gets 512 MiB of addresses, whatever this computer has. `what` it runs on the machine. Sanitizers want
-- more for themselves.
local function refused_in_512_mib(name, changes, what, ...)
  local texts = { ... }
  harness.test(name, function()
    if program:find "san/" then return harness.skip "sanitizers need more addresses" end
    local pipe = assert(io.popen(("ulimit -v 524288; '%s' run '%s' %s --memory 1MiB --out '%s/out' 2>&1")
      :format(program, machine_with(changes), what, harness.folder())))
    local output = pipe:read "a"
    local _, _, status = pipe:close()
    harness.equal(status, 2, "exit status, output " .. output)
    harness.contains(output, "warpwright: error: ", table.unpack(texts))
  end)
end

local small_vecadd <const> = "vecadd --size small,n=1024"

refused_in_512_mib("a wire whose messages no computer could hold", { { "{ latency = 4, depth = 16,", "{ latency = 4, depth = 1000000000," } }, small_vecadd,
  "small.lua:13: wire sm.l1d.mem -> l2.cpu: expected a depth that fits this computer's memory of ", ", got 1000000000, which takes 72.0 GiB\n")
refused_in_512_mib("an object whose state does not fit", { { "mshrs = 32 }", "mshrs = 32, size = \"2GiB\" }" } }, small_vecadd,
  "sm.l1d: expected parameters of which the state fits this computer's memory of ", " elements of '", " GiB\n")
refused_in_512_mib("local memory of all warps of an SM that does not fit", {}, ("'%s' --grid 1 --block 1024"):format(harness.write("deep.ptx", [[
.version 7.0
.target sm_70
.address_size 64
.visible .entry deep() { .local .b8 own[524288]; .reg .b32 %r1; mov.u32 %r1, %tid.x; st.local.u32 [own], %r1; ret; }
]])), "kernel deep: expected 524288 B of local memory a thread for which the host has room, ", " B of sm, got none")

refused("a device memory of a byte", {}, "memory: expected a device memory of 256 B or more, got 1 B\n", "--memory", "1")
refused("a device memory of no byte", {}, "memory: expected a device memory of 256 B or more, got 0 B\n", "--memory", "0")
refused("a device memory beyond all addresses", {}, "memory: expected a device memory for which this process gets the addresses, got 4294967296000000 B; --memory 64MiB asks for fewer", "--memory", "4000000GiB")

harness.finish()
