-- scripts/characterise: its arithmetic, and measurements whose result can be worked out by hand.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local json = require "warpwright.json"
local machine = require "scripts.lib.characterise_machine"
local measure = require "scripts.lib.characterise_measure"
local hits_beside = require "workloads.micro.hits_beside"

local rows_file, plot_file = harness.folder() .. "/rows.json", harness.folder() .. "/plot.svg"

--- Runs the script; returns its rows by id, what it printed, and the plot.
local function characterise(...)
  local status, output = harness.run("scripts/characterise.lua", "--json", rows_file, "--svg", plot_file, ...)
  harness.equal(status, 0, output)
  local by_id = {}
  for _, row in ipairs(json.decode(harness.read(rows_file))) do by_id[row.id] = row end
  return by_id, output, harness.read(plot_file)
end

local function near(got, want, distance, what)
  if math.abs(got - want) <= distance then return end
  error(("%s: %.9g is not within %g of %g"):format(what, got, distance, want), 2)
end

local function facts_of(config, set)
  local sim = ww.build(config, { set = set })
  local facts = machine.facts(sim.machine)
  sim:close()
  return facts
end

-- Arithmetic ----------------------------------------------------------------------------------------------------------

harness.test("an error is a part of the reference, and a reference with two ends is met between them", function()
  near(measure.relative_error(44, 40), 0.1, 1e-12, "above")
  near(measure.relative_error(30, 40), -0.25, 1e-12, "below")
  harness.equal(measure.relative_error(2.1, { 2.1, 2.6 }), 0.0, "at the lower end")
  harness.equal(measure.relative_error(2.6, { 2.1, 2.6 }), 0.0, "at the upper end")
  near(measure.relative_error(2.0, { 2.1, 2.6 }), 2.0 / 2.1 - 1, 1e-12, "below both")
  near(measure.relative_error(3.9, { 2.1, 2.6 }), 0.5, 1e-12, "above both")
end)

harness.test("theoretical bandwidths follow from parameters, clocks and how many parts there are", function()
  local function bandwidths(config, set)
    local facts, list = facts_of(config, set), {}
    for name, bandwidth in pairs(machine.theoretical) do list[name] = bandwidth(facts) end
    return list
  end
  local gtx480 = bandwidths "gtx480"
  near(gtx480.shared, 15 * 32 * 4 * 700e6, 1, "shared: 32 banks of 4 B in 15 SMs")
  near(gtx480.l1, 15 * 128 * 700e6, 1, "L1: a line in 15 SMs")
  near(gtx480.l2, 6 * 128 * 700e6, 1, "L2: a line in 6 slices")
  near(gtx480.crossbar, 6 * 32 * 1400e6, 1, "crossbar: 6 channels of 32 B")
  near(gtx480.dram, 6 * 32 * 924e6, 1, "DRAM: 6 channels of 32 B")
  local changed = bandwidths("gtx480_gpgpusim4", { "sms=2", "sm[*].shared_banks=16", "clock.dram=1GHz",
    "l2[*].data_port=64", "mc[*].bus_bytes=16" })
  near(changed.shared, 2 * 16 * 4 * 700e6, 1, "shared: half the banks")
  near(changed.l1, 2 * 128 * 700e6, 1, "L1 of 2 SMs")
  near(changed.l2, 12 * 64 * 700e6, 1, "L2: half a line in 12 slices")
  near(changed.crossbar, 2 * 40 * 700e6, 1, "crossbar: the SMs' side is narrower")
  near(changed.dram, 6 * 16 * 1e9, 1, "DRAM: half the bus, another clock")
end)

harness.test("computed occupancy is what the scarcest resource allows", function()
  local sm = facts_of("gtx480").parts.sm.parameters
  harness.equal(machine.occupancy(sm, 32, 8, 0), 8, "CTA slots")
  harness.equal(machine.occupancy(sm, 512, 8, 0), 3, "warps: 48 / 16")
  harness.equal(machine.occupancy(sm, 256, 21, 0), 5, "registers: 32768 / (24 * 256)")
  harness.equal(machine.occupancy(sm, 64, 8, 12 * 1024 + 1), 3, "shared memory: 49152 / 12416")
end)

-- Latencies -----------------------------------------------------------------------------------------------------------

harness.test("loads of gtx480_gpgpusim4 take what they take in GPGPU-Sim 4.2, and the table says so", function()
  local rows, output, plot = characterise("--only", "latency", "gtx480_gpgpusim4")
  harness.equal(rows["latency.l1"].value, 40, "L1 hit")
  harness.equal(rows["latency.l1"].error, 0, "its error")
  harness.equal(rows["latency.shared"].value, 32, "shared memory")
  for _, id in ipairs { "l1", "l2", "dram_sequential", "dram_random", "shared", "atomic" } do
    local row = rows["latency." .. id]
    near(row.error, row.value / row.reference - 1, 1e-8, id)
    near(row.error, 0, 0.05, id)
  end
  assert(output:find "\nlatency +load, L1 hit +40%.00 cycles +40 +%+0%.0 %%\n", output)
  harness.contains(plot, "<svg ", "Latency of dependent loads", "load, L1 hit", "</svg>")
  assert(not plot:find "nan" and not plot:find "Bank conflicts", "the plot has what was not measured")
end)

harness.test("a hit in L1 waits for other warps' requests, and for the answers that a fill wakes", function()
  for _, config in ipairs { "gtx480", "gtx480_gpgpusim4" } do
    local cycles = {}
    for _, size in ipairs { "alone", "hits", "fills" } do
      ww.run { config = config, workload = hits_beside, size = size, set = { sms = 1 }, out = false }
      cycles[size] = hits_beside.cycles
    end
    near(cycles.alone, 40, 0.2, config .. ", alone")
    assert(cycles.alone + 0.5 < cycles.hits and cycles.hits + 0.5 < cycles.fills, config .. ": " .. cycles.fills)
  end
end)

harness.test("local arrays that fit L2 are not read from DRAM, however they are laid out", function()
  for _, layout in ipairs { "warp", "word" } do
    local r = ww.run { config = "gtx480_gpgpusim4", workload = "workloads/micro/local_arrays.lua", size = "medium,ctas=15",
      set = { ["sm[*].local_layout"] = layout }, out = false }
    harness.equal(r["sm[*].lsu.local_loads"], 15 * 8 * 8 * 4, "loads: CTAs, warps, words, turns")
    assert(r["l2[*].accesses"] > 1000 and r["mc[*].reads"] < 50, layout .. ": " .. r["mc[*].reads"])
  end
end)

harness.test("loads of v100 and a100 take what was measured on the chips", function()
  local measured = {
    v100 = { l1 = 28, l2 = 193, dram_sequential = 375, shared = 19 },
    a100 = { l1 = 33, l2 = 200, dram_sequential = 290, shared = 23 },
  }
  for config, latencies in pairs(measured) do
    local rows = characterise("--only", "latency.l1,latency.l2,latency.dram_sequential,latency.shared", "--set", "sms=2", config)
    for id, want in pairs(latencies) do
      local row = rows["latency." .. id]
      harness.equal(row.reference, want, config .. ", " .. id .. ", reference")
      near(row.value, want, want * 0.01, config .. ", " .. id)
    end
  end
end)

--- Of 16 operations that follow each other, the loop's branch adds some cycles.
harness.test("v100 computes at the latencies that were measured on the chip, 64 lanes a cycle, 32 in double precision", function()
  local dependent <const> = { int_add = 4, int_mad = 5, fp_fma = 4, dp_fma = 8 }
  local many_warps <const> = { int_mad = 64, fp_fma = 64, dp_fma = 32 }
  local only = {}
  for id in pairs(dependent) do only[#only + 1] = ("operations.%s.dependent"):format(id) end
  for id in pairs(many_warps) do only[#only + 1] = ("operations.%s.many_warps"):format(id) end
  local rows = characterise("--only", table.concat(only, ","), "--set", "sms=1", "v100")
  for id, want in pairs(dependent) do
    local row = rows["operations." .. id .. ".dependent"]
    harness.equal(row.reference, want, id .. ", reference")
    near(row.value, want + 0.15, 0.2, id)
  end
  for id, lanes in pairs(many_warps) do
    local row = rows["operations." .. id .. ".many_warps"]
    harness.equal(row.theoretical, lanes, id .. ", theoretical")
    near(row.value, lanes, lanes * 0.02, id)
  end
end)

harness.test("loads of gtx480_mascar take what the table of its paper says, and hits of the L1 what they do where it has no latency", function()
  local rows = characterise("--only", "latency", "gtx480_mascar")
  for id, want in pairs { l2 = 200, dram_sequential = 440 } do
    local row = rows["latency." .. id]
    harness.equal(row.reference, want, id .. ", reference")
    near(row.value, want, want * 0.02, id)
  end
  assert(rows["latency.l1"].value < 10, "hits of the L1")
end)

harness.test("a longer latency is measured to the cycle; a row conflict costs a precharge and an activate", function()
  local rows = characterise("--only", "latency", "--set", "sm[*].lsu.shared_latency=36", "--set",
    "sm[*].l1d.latency=39", "gtx480_gpgpusim4")
  harness.equal(rows["latency.shared"].value, 42, "shared memory, 10 cycles more")
  near(rows["latency.shared"].error, 42 / 32 - 1, 1e-8, "its error")
  harness.equal(rows["latency.l1"].value, 47, "L1 hit, 7 cycles more")
  local difference = rows["latency.row_conflict"].value - rows["latency.row_hit"].value
  near(difference, (12 + 12) * 700 / 924, 0.2, "tRP + tRCD in core cycles")
end)

harness.test("what a machine lacks is said in place of a value", function()
  local path = harness.folder() .. "/no_l1.lua"
  local text = harness.read "configs/gtx480.lua"
  for _, cache in ipairs { "l1d", "texture" } do
    text = text:gsub("    local " .. cache .. " = m:L1.-\n    }\n", "")
    text = text:gsub("    m:wire%(" .. cache .. "%.[^\n]*\n", "")
  end
  text = text:gsub("sm.lsu.mem, l1d.cpu", "sm.lsu.mem, mux.up[0]"):gsub("    m:wire%(sm.lsu.texture[^\n]*\n", "")
  harness.write("no_l1.lua", (text:gsub("up = 3", "up = 2")))
  local rows, output = characterise("--only", "latency", path)
  for _, id in ipairs { "latency.l1", "latency.texture" } do
    harness.equal(rows[id].value, nil, id)
    assert(rows[id].reason, id .. " has no reason")
  end
  harness.contains(output, "no L1 is wired to the load/store units", "no texture cache is wired")
  harness.equal(rows["latency.l2"].value, rows["latency.past_l1"].value, "loads that have no L1 to miss or to bypass")
  rows = characterise("--only", "latency", "--set", "sm[*].l1d.enabled=false", "gtx480")
  harness.equal(rows["latency.l1"].reason, "sm[0].l1d is switched off", "reason")
end)

harness.long_test("a machine without an L2 is measured up to its DRAM, whose row hits are a part of its requests", function()
  local path = harness.write("no_l2.lua", [[
    local ww = require "warpwright"
    return ww.machine("no_l2", function(m)
      m:clocks { core = "700MHz", dram = "924MHz" }
      m:Dispatcher "dispatcher" { sms = 1 }
      m:AddressMap "map" { channels = 1 }
      local sm = m:SM "sm" {}
      m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
      m:MemoryController "mc" { clock = "dram" }
      m:wire("dispatcher.sm[0]", "sm.dispatch", { latency = 8 })
      m:wire("sm.lsu.mem", "sm.l1d.cpu")
      m:wire("sm.l1d.mem", "mc.cpu[0]", { latency = 20, depth = 32 })
    end)
  ]])
  local rows = characterise("--only", "latency,bandwidth,dram", path)
  for _, id in ipairs { "latency.l2", "latency.past_l1", "bandwidth.l2_read" } do
    harness.equal(rows[id].reason, "the machine has no L2", id)
  end
  for _, id in ipairs { "latency.dram_random", "latency.row_hit", "latency.row_conflict", "bandwidth.dram_read" } do
    assert(rows[id].value, id .. " was not measured: " .. tostring(rows[id].reason))
  end
  for id, row in pairs(rows) do
    if row.section == "dram" then assert(row.x >= 0 and row.x <= 1, ("%s: %g of the requests hit"):format(id, row.x)) end
  end
end)

harness.test("several crossbars carry what all of them can, and the L1s what hits, though not every SM has one", function()
  local path = harness.write("apart.lua", [[
    local ww = require "warpwright"
    return ww.machine("apart", function(m)
      m:clocks { core = "700MHz", icnt = "1400MHz" }
      m:Dispatcher "dispatcher" { sms = 2 }
      m:AddressMap "map" { channels = 1 }
      for i = 0, 1 do
        local sm, net = m:SM ("sm", i) {}, m:Crossbar ("net", i) { up = 1, down = 1, flit = (1 + i) * 16, clock = "icnt" }
        m:wire(("dispatcher.sm[%d]"):format(i), sm.dispatch, { latency = 8 })
        local port = sm.lsu.mem
        if i == 0 then
          local l1d = m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
          m:wire(port, l1d.cpu)
          port = l1d.mem
        end
        m:wire(port, net.up[0], { latency = 8, depth = 32 })
        m:wire(net.down[0], m:TrafficSink ("ram", i) { latency = 20 }.cpu, { latency = 4, depth = 32 })
      end
    end)
  ]])
  near(machine.theoretical.crossbar(facts_of(path)), (16 + 32) * 1400e6, 1, "channels of 16 and of 32 B")
  local rows = characterise("--only", "bandwidth", path)
  for _, id in ipairs { "requests", "replies" } do
    local row = rows["bandwidth." .. id]
    assert(row.percent > 65 and row.percent <= 100, ("%s: %.1f %%"):format(id, row.percent))
    assert(row.limiters[1].busy <= 1, ("%s: busy for %g of the time"):format(id, row.limiters[1].busy))
  end
  -- Each SM loads as much; what comes through the second crossbar is 4 of 5 flits.
  near(rows["bandwidth.l1"].value, 4 / 5 * 32 * 1.4, 0.5, "hits, without the loads of the other SM")
end)

-- Inside an SM --------------------------------------------------------------------------------------------------------

harness.test("the operations of a warp: a loop of 32 and its end", function()
  local script = harness.write("operations.lua", [[
    local ww = require "warpwright"
    local operations = require "workloads.micro.operations"
    local function cycles(turns)
      local set = { arg[2] }
      local size = { "dependent", operation = arg[1], turns = turns }
      local r = ww.run { config = "gtx480", workload = operations, size = size, set = set, out = false }
      return r.cycles
    end
    print((cycles(20) - cycles(4)) // 16)
  ]])
  local function cycles(...)
    local status, output = harness.run(script, ...)
    harness.equal(status, 0, output)
    return tonumber(output)
  end
  -- The counter, its compare and the branch wait for one another: 1 + 10 + 7 cycles from the last operation to the
  -- branch, and 4 to the next instruction.
  harness.equal(cycles "int_add", 31 * 10 + 22, "additions, latency 4 + 6")
  harness.equal(cycles("int_add", "sm[*].int_add_latency=5"), 31 * 11 + 23, "one cycle more, in the counter too")
  harness.equal(cycles "int_div", 32 * 151, "divisions, behind which the loop's end hides")
end)

harness.test("degrees of bank conflicts are cycles, strides are accesses", function()
  local rows, output = characterise("--only", "conflicts,coalescing", "--set", "sm[*].scheduler=lrr", "gtx480")
  for _, degree in ipairs { 1, 2, 3, 4, 8, 16, 32 } do
    harness.equal(rows["conflicts." .. degree].value, degree, "degree " .. degree)
    harness.equal(rows["coalescing.accesses." .. degree].value, degree, "stride " .. degree)
  end
  harness.equal(rows["conflicts.32"].limiters[1].name, "shared-memory banks", "limiter")
  near(rows["conflicts.32"].limiters[1].busy, 1, 1e-8, "how busy it was")
  near(rows["coalescing.cycles.32"].value, 32, 0.05, "cycles at a stride of 32")
  harness.contains(output, "gtx480 with sm[*].scheduler=lrr\n", "LSU port 100 %")
end)

harness.test("measured occupancy is the computed one, also where shared memory and warps are few", function()
  for _, set in ipairs { "sm[*].ctas=8", "sm[*].shared=20KiB" } do
    local rows = characterise("--only", "occupancy", "--set", "sms=2", "--set", set, "gtx480")
    local compared = 0
    for _, row in pairs(rows) do
      if row.value then
        harness.equal(row.value, row.theoretical, row.name .. " with " .. set)
        compared = compared + 1
      end
    end
    harness.equal(compared, set:find "20KiB" and 22 or 24, "CTAs that fit")
  end
end)

harness.test("every path of a warp costs the same, and every warp at a barrier costs more", function()
  local rows = characterise("--only", "divergence,barriers", "gtx480")
  local per_path = (rows["divergence.4"].value - rows["divergence.2"].value) / 2
  harness.equal(per_path, 181, "16 additions of 10 cycles, compares and branches")
  harness.equal(rows["divergence.32"].value - rows["divergence.4"].value, 28 * per_path, "28 paths more")
  local last = 0
  for _, warps in ipairs { 1, 2, 4, 8, 16, 24, 32 } do
    assert(rows["barriers." .. warps].value > last, "a barrier of more warps takes longer")
    last = rows["barriers." .. warps].value
  end
end)

-- Memory --------------------------------------------------------------------------------------------------------------

harness.test("the bandwidth of L1 is that behind the first misses, whatever these take", function()
  local load = require "warpwright.load"
  local set = { "sms=1" }
  local target = { description = load.get("config", "gtx480_gpgpusim4"), set = set, facts = facts_of("gtx480_gpgpusim4", set) }
  for _, row in ipairs(require "scripts.lib.characterise_bandwidth"[1].rows) do
    if row.id == "l1" then
      local result = row.measure(target)
      local percent = 100 * result.value / result.theoretical
      assert(percent > 85 and percent <= 100, ("%.1f %%"):format(percent))
    end
  end
end)

harness.test("each Mux is a port of its own, wherever it stands", function()
  local facts = facts_of "gallery/modules"
  local counters = setmetatable({ ["l2_mux[0].requests"] = 900, ["l2_mux[1].requests"] = 950, ["mux.requests"] = 1900 },
    { __index = function() return 0 end })
  local limiters = measure.limiters(facts, { cycles = 1000, counters = counters }, 2)
  harness.equal(limiters[1].name, "l2_mux[*]", "the busiest")
  near(limiters[1].busy, 0.95, 1e-9, "busy")
end)

harness.test("bandwidths stay below what parameters allow, and the port that is full is named", function()
  local rows = characterise("--only", "bandwidth", "--set", "partitions=2", "--set", "sms=4", "gtx480")
  for id, row in pairs(rows) do
    near(row.percent, 100 * row.value / row.theoretical, 1e-6, id)
    assert(row.percent > 25 and row.percent < 100.5, ("%s: %.1f %%"):format(id, row.percent))
  end
  local limiters = {
    shared = "shared-memory banks", l1 = "LSU port", l2_read = "crossbar replies", replies = "crossbar replies",
    requests = "crossbar requests", dram_read_past_l1 = "DRAM bus", dram_write = "DRAM bus",
  }
  for id, want in pairs(limiters) do harness.equal(rows["bandwidth." .. id].limiters[1].name, want, id) end
  -- A reply of 128 B takes 5 flits of 32 B, of which 128 B are data.
  near(rows["bandwidth.l2_read"].value / rows["bandwidth.replies"].value, 4 / 5, 0.01, "data in the flits of replies")
end)

harness.long_test("DRAM moves no more than its bus can, and its buses are full, though L2 keeps some of what is stored", function()
  local ids <const> = { "dram_read", "dram_read_past_l1", "dram_write", "dram_copy", "dram_random" }
  -- Slices as small as on the chip: fewer channels have larger ones, which take longer to fill.
  local rows = characterise("--only", "bandwidth." .. table.concat(ids, ",bandwidth."), "--set", "sms=4", "--set", "channels=4", "--set",
    "l2[*].size=96KiB", "v100")
  for _, id in ipairs(ids) do
    local percent = rows["bandwidth." .. id].percent
    assert(percent > 85 and percent < 100 + 1e-9, ("%s: %.3f %%"):format(id, percent))
  end
  near(rows["bandwidth.dram_write"].percent, 100, 0.5, "stores")
end)

harness.long_test("DRAM delivers what its timings allow, and FR-FCFS beats FCFS on a mixed stream", function()
  local rows, output = characterise("--only", "dram", "--set", "partitions=1", "--set", "sms=4", "gtx480")
  local bus, line = 32 * 0.924, 128 * 0.924 -- GB/s; of one line per cycle
  local allowed = { ["banks.1"] = line / 40, ["banks.4"] = 4 * line / 40, ["banks.16"] = line / 6,
    ["visit.1"] = line / 6, ["visit.2"] = bus, ["mixed.fcfs"] = bus }
  for id, want in pairs(allowed) do near(rows["dram." .. id].theoretical, want, 1e-6, id) end
  for id, row in pairs(rows) do
    near(row.percent, 100 * row.value / row.theoretical, 1e-6, id)
    assert(row.percent < 103, id .. " is faster than the timings allow")
  end
  near(rows["dram.banks.1"].percent, 100, 1, "one bank, a line per tRC")
  near(rows["dram.banks.2"].percent, 100, 2, "two banks")
  assert(rows["dram.visit.2"].percent > 95 and rows["dram.visit.4"].percent > 95, "a few hits fill the bus")
  for _, visit in ipairs { 1, 2, 4, 8 } do
    near(rows["dram.visit." .. visit].x, 1 - 1 / visit, 0.03, "row hits of " .. visit)
  end
  assert(rows["dram.mixed.frfcfs"].value > 1.1 * rows["dram.mixed.fcfs"].value, output)
end)

harness.long_test("rows of one bank are found where channels and banks are hashed, too", function()
  local rows = characterise("--only", "dram", "--set", "partitions=2", "--set", "sms=4", "--set", "map.channel_hash=true",
    "--set", "map.bank_hash=true", "gtx480")
  near(rows["dram.banks.1"].percent, 100, 2, "one bank, a line per tRC")
  near(rows["dram.banks.2"].percent, 100, 5, "two banks")
end)

-- Runs by hand, and the command line ----------------------------------------------------------------------------------

harness.test("micro workloads run by hand, check what they computed, and leave no file behind", function()
  local runs = {
    { "chase", "l1" }, { "operations", "independent,operation=rcp" }, { "bandwidth", "l2_write" },
    { "bandwidth", "dram_copy,turns=2" }, { "bank_conflicts", "large" }, { "coalescing", "large" },
    { "divergence", "small" }, { "barrier", "small" }, { "occupancy", "small" },
    { "rows", "mixed,bytes=8388608,listed=32,used=32" },
  }
  for _, run in ipairs(runs) do
    local path, out = ("workloads/micro/%s.lua"):format(run[1]), harness.folder() .. "/" .. run[1]
    local status, output = harness.run("run", "gtx480", path, "--size", run[2], "--out", out)
    harness.equal(status, 0, output)
    harness.contains(output, ": verified")
  end
  local script = harness.write("ptx.lua", [[
    local ww = require "warpwright"
    os.tmpname = function() error "a generated kernel needs no file" end
    ww.run { config = "gtx480", workload = require "workloads.micro.barrier", size = "small", out = false }
    print "without a file"
  ]])
  local _, output = harness.run(script)
  harness.contains(output, "without a file")
end)

harness.test("the same machine gives the same rows, from any folder", function()
  characterise("--only", "conflicts", "gtx480")
  local first = harness.read(rows_file)
  local command = "here=$PWD program=$(realpath '%s') && cd '%s' && WARPWRIGHT=$program \"$here/scripts/characterise\" "
    .. "--only conflicts --json again.json gtx480 2>&1 && ls out/characterise-gtx480-1"
  local pipe = assert(io.popen(command:format(arg[-1], harness.folder())))
  local output = pipe:read "a"
  assert(pipe:close(), output)
  harness.equal(harness.read(harness.folder() .. "/again.json"), first, "rows")
  harness.contains(output, "written to out/characterise-gtx480-1\nconfig.lua\nplot.svg\ntable.txt\n")
end)

harness.test("--only takes sections, and measurements of others, in their order", function()
  local _, output = characterise("--only", "coalescing.accesses.2,latency.shared,latency.atomic,conflicts", "--set", "sms=1", "gtx480")
  local found = {}
  for section in output:gmatch "\n(%l+) +%l[^\n]*%-?[%d.]+ +%l" do found[#found + 1] = section end
  harness.equal(table.concat(found, " "), "latency latency" .. (" conflicts"):rep(10) .. " coalescing")
end)

harness.test("bad arguments are refused before anything runs", function()
  local function wrong(wanted, ...)
    local output = harness.refused(wanted, "scripts/characterise.lua", ...)
    assert(not output:find "measurement", "something ran")
  end
  wrong("unknown option '--nothing'", "--nothing", "gtx480")
  wrong("expected a value, got nothing", "gtx480", "--only")
  wrong("expected CONFIG, got 0 arguments", "--only", "latency")
  wrong("expected CONFIG, got 2 arguments", "gtx480", "gtx480_gpgpusim4")
  wrong("--only: no section matches 'latencies'; did you mean latency? Available: latency, operations", "--only", "latency,latencies", "gtx480")
  wrong("--only: no part matches 'latency.l3'; did you mean latency.l1? Available: latency.l1, ", "--only", "latency.l1,latency.l3", "gtx480")
  wrong("config: no config matches 'gtx481'", "gtx481")
  wrong("no object or parameter matches 'sm[*].l1d.sise'", "--set", "sm[*].l1d.sise=1KiB", "gtx480")
  wrong("no/such/folder", "--json", "no/such/folder/rows.json", "gtx480")
  wrong("no/such/folder", "--svg", "no/such/folder/plot.svg", "gtx480")
end)

harness.finish()
