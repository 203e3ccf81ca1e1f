-- The energy of a run: made of counted events, adds up, and is the same however a run was made.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local energy = require "warpwright.energy"
local fermi = require "configs.energy.fermi_40nm"

local function run(options)
  local o = { config = "gtx480", workload = "vecadd", size = "small", policy = "gto", out = false }
  for name, value in pairs(options or {}) do o[name] = value end
  return ww.run(o)
end

local function near(got, want, part) assert(math.abs(got - want) <= (part or 1e-9) * math.abs(want), ("%.12g, not %.12g"):format(got, want)) end

--- The technology with some numbers of its own.
local function with(numbers)
  local t = { doc = "of a test" }
  for name, number in pairs(fermi) do
    if type(number) == "table" then t[name] = { 0, number[2], number[3], number[4] } end
  end
  for name, value in pairs(numbers) do t[name][1] = value end
  return ww.technology "test" (t)
end

harness.test("the parts add up to the total, and rows to parts", function()
  local e = run().energy
  local parts, rows = 0, 0
  for _, name in ipairs(e.order) do parts = parts + e.parts[name] end
  for _, row in ipairs(e.rows) do rows = rows + row.joules end
  near(parts, e.total)
  near(rows, e.total)
  assert(e.total > 0)
end)

harness.test("an event costs what the technology says: ACTIVATE, flits, registers, read bits", function()
  local r = run()
  local e = r:energy_by(with { dram_activate = 1000 })
  near(e.total, 1e-9 * r["mc[*].activates"])
  e = r:energy_by(with { crossbar_bit = 2 })
  near(e.total, 2e-12 * 8 * 32 * (r["xbar.request_flits_in"] + r["xbar.response_flits_in"]))
  e = r:energy_by(with { operand = 5 })
  near(e.total, 5e-12 * 3 * r.thread_instructions)
  e = r:energy_by(with { dram_bit = 3 })
  near(e.parts["dram.read"], 3e-12 * 8 * 64 * r["mc[*].read_commands"])
  near(e.parts["dram.write"], 3e-12 * 8 * 64 * r["mc[*].write_commands"])
end)

harness.test("a REFRESH costs an ACTIVATE of each bank that it is of", function()
  for refresh, banks in pairs { all = 16, bank = 1 } do
    local r = run { set = { "mc[*].tREFI=2000", "mc[*].refresh=" .. refresh } }
    assert(r["mc[*].refreshes"] >= 6 * 10 * 16 / banks, refresh)
    near(r:energy_by(with { dram_activate = 1000 }).parts["dram.refresh"], 1e-9 * banks * r["mc[*].refreshes"])
  end
end)

--- A warp that does this so many times, and nothing else that takes energy by lane.
local function run_body(config, instruction, times)
  local sim = ww.build(config, { set = { sms = 1 } })
  local gpu = sim:gpu()
  local kernel = gpu:load { name = "k.ptx", text = [[
    .version 7.0
    .target sm_80
    .address_size 64
    .visible .entry k(.param .u64 buffer) { .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b64 %at; ld.param.u64 %at, [buffer];
    ]] .. instruction:rep(times) .. " ret; }" }.k
  gpu:launch(kernel, { grid = 1, block = 32, args = { gpu:alloc(128) } })
  local r = sim:result()
  sim:close()
  return r
end

harness.test("instructions of every arithmetic pipeline take the energy of their lanes", function()
  local matrix = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%f1, %f2, %f3, %f4};"
  local bodies = { sp = "fma.rn.f32 %f1, %f2, %f3, %f4;", int = "add.u32 %r1, %r1, %r2;", dp = "fma.rn.f64 %d1, %d2, %d3, %d4;", matrix = matrix }
  for pipeline, instruction in pairs(bodies) do
    local parts = run_body("v100", instruction, 100):energy_by(with { sp_lane = 2 }).parts
    local others = pipeline == "int" and 0 or parts["sm.int"] -- `ret` and the like
    near(parts["sm." .. pipeline], 100 * 32 * 2e-12, 0.03)
    assert(others < 0.03 * 100 * 32 * 2e-12, pipeline)
  end
end)

harness.test("a fill of a sector takes the energy of a sector, and a write that drops its line none", function()
  local load, store = "ld.global.u32 %r1, [%at];", "st.global.u32 [%at], %r1;"
  local function bits(r) return r:energy_by(with { sram_bit = 1 }).parts["l1d.data"] / 1e-12 end
  near(bits(run_body("v100", load, 1)), 8 * 32 * math.sqrt(32 / 8))
  near(bits(run_body("gtx480", load, 1)), 8 * 128 * math.sqrt(16 / 8))
  near(bits(run_body("gtx480", load .. "add.u32 %r1, %r1, 1;" .. store, 1)), 8 * 128 * math.sqrt(16 / 8))
end)

--- What a router's buffer of so many flits of 32 bytes takes, by bit, at 1 pJ of 8 KiB.
local function buffer_bit(flits) return math.sqrt(32 * flits / 8192) end

harness.test("routers take the energy of flits by channel and by buffer, and one crossbar's leakage together", function()
  local r = run { config = "gtx480_mesh" }
  local along = r["mesh[*].east_flits"] + r["mesh[*].west_flits"]
  local across = r["mesh[*].south_flits"] + r["mesh[*].north_flits"]
  assert(along > 0 and across > 0 and r["mesh[*].hops"] > 0)
  assert(along + across >= r["mesh[*].hops"], "a packet has a flit or more on each channel that it crosses")
  near(r:energy_by(with { crossbar_bit = 3 }).total, 3e-12 * 2 * 256 * (along / 7 + across / 3))
  local parts = r:energy_by(with { sram_bit = 1 }).parts
  near(parts["router.buffers"], 1e-12 * 2 * 256 * ((along + across) * buffer_bit(2 * 2 * 8) + r["mesh[*].local_flits"] * buffer_bit(16)))
  near(r:energy_by(with { crossbar_leakage = 2 }).total, 2 * r.cycles / 700e6)
  local e = run({ config = "gtx480_mesh", energy = "fermi_40nm", stats_every = "1launch", out = harness.folder() .. "/mesh" }).energy
  near(e.intervals[1].parts["router.channels"], e.parts["router.channels"], 0.01) -- of the one launch; some flits are still on their way
end)

--- Two rows of two routers, and a source and a sink at opposite corners; what its channels take.
local function energy_of_network(make)
  local network = require "configs.lib.network"
  local sim = ww.build(ww.machine("four", function(m)
    m:clocks { core = "700MHz" }
    m:AddressMap "map" { channels = 1 }
    local source, sink = m:TrafficSource "source" { rate = 0.2 }, m:TrafficSink "sink" {}
    local net = network[make](m, "net", { columns = 2, rows = 2, up = { [0] = 1 }, down = { [3] = 1 }, flit = "32B" })
    m:wire(source.mem, net:up(0))
    m:wire(net:down(3), sink.cpu)
  end))
  sim:advance(10000)
  local r = sim:result()
  local flits = r["net[*].east_flits"] + r["net[*].west_flits"] + r["net[*].south_flits"] + r["net[*].north_flits"]
  return r:energy_by(with { crossbar_bit = 1 }).total / flits, r
end

harness.test("the channels of a torus are twice as long as those of a mesh", function()
  local of_mesh = energy_of_network "mesh"
  near(of_mesh, 2e-12 * 256 / 2)
  near(energy_of_network "torus", 2 * of_mesh)
end)

harness.test("power counts for all the time of the run", function()
  local r = run()
  near(r:energy_by(with { sm_leakage = 2 }).total, 2 * 15 * r.cycles / 700e6)
  near(r:energy_by(with { dram_background = 0.25 }).total, 0.25 * 6 * r.cycles / 700e6)
end)

--- Without a change the technology with voltages is the same machine's with other numbers.
local voltages <const> = { core = { ["350MHz"] = 0.6, ["700MHz"] = 1, ["1GHz"] = 1.3 }, dram = { [462000000] = 0.5, ["924MHz"] = 1 } }

local function with_voltages(numbers)
  local t = with(numbers)
  local copy = { doc = "of a test", voltages = voltages }
  for name, number in pairs(t) do
    if type(number) == "table" and number[2] then copy[name] = number end
  end
  return ww.technology "test" (copy)
end

harness.test("events take the square of the clock's voltage, and leakage the voltage, linear between its points", function()
  local r = run { set = { ["clock.core"] = "525MHz", quantum = 8 } }
  local v = 0.8 -- between 350 and 700 MHz
  near(r:energy_by(with_voltages { operand = 5 }).total, v ^ 2 * r:energy_by(with { operand = 5 }).total)
  near(r:energy_by(with_voltages { sm_leakage = 2 }).total, v * r:energy_by(with { sm_leakage = 2 }).total)
  near(r:energy_by(with_voltages { dram_bit = 2 }).total, r:energy_by(with { dram_bit = 2 }).total)
  near(r:energy_by(with_voltages { crossbar_bit = 2 }).total, r:energy_by(with { crossbar_bit = 2 }).total)
end)

harness.test("what a clock's objects did at each frequency takes the voltage of that frequency", function()
  local set = { ["clock.core"] = "700MHz, 350MHz to 700MHz", ["clock.dram"] = "924MHz, 462MHz to 924MHz" }
  local sim = ww.build("gtx480", { policy = "gto", set = set })
  sim:start("vecadd", "small")
  sim:run { until_cycle = 3000 }
  local first = sim:result()
  sim:set_clock("core", "350MHz")
  sim:set_clock("dram", "462MHz")
  sim:run { until_cycle = 6000 }
  local second = sim:result():since(first)
  sim:set_clock("core", "700MHz")
  sim:run {}
  local all = sim:result()
  local third = all:since(first)
  local picoseconds = 1e-6 -- of microseconds
  for number, power in pairs { operand = 2, dram_bit = 2, sm_leakage = 1, dram_background = 1 } do
    local slow = (number:find "dram" and 0.5 or 0.6) ^ power
    local function joules(r) return r:energy_by(with { [number] = 3 }).total end
    near(second:energy_by(with_voltages { [number] = 3 }).total, slow * joules(second), picoseconds)
    near(first:energy_by(with_voltages { [number] = 3 }).total, joules(first), picoseconds)
    local rest = joules(all) - joules(first) - joules(second)
    if number:find "dram" then rest = slow * rest end
    near(all:energy_by(with_voltages { [number] = 3 }).total, joules(first) + slow * joules(second) + rest, picoseconds)
    near(third:energy_by(with_voltages { [number] = 3 }).total, slow * joules(second) + rest, picoseconds)
  end
  sim:close()
end)

harness.test("a run with clocks that change has the same energies after a resume", function()
  local sim = ww.build("gtx480", { policy = "gto", set = { ["clock.core"] = "700MHz, 350MHz to 700MHz" } })
  local function second_half(built)
    built:run {}
    local joules = built:result():energy_by(with_voltages { operand = 3, sm_leakage = 1 }).total
    built:close()
    return joules
  end
  sim:start("vecadd", "small")
  sim:run { until_cycle = 2000 }
  sim:set_clock("core", "350MHz")
  sim:run { until_cycle = 4000 }
  sim:set_clock("core", "600MHz")
  sim:run { until_cycle = 5000 }
  local file = harness.folder() .. "/voltages.ckpt"
  sim:checkpoint(file)
  local want = second_half(sim)
  local again = ww.build("gtx480", { policy = "gto", set = { ["clock.core"] = "700MHz, 350MHz to 700MHz" } })
  again:resume(file)
  again:start("vecadd", "small")
  harness.equal(second_half(again), want)
end)

harness.test("voltages set on a technology that was made before count, and are checked at use", function()
  local r, t = run(), with { operand = 5 }
  local before = r:energy_by(t).total
  t.voltages = { core = { ["700MHz"] = 0.5 } }
  near(r:energy_by(t).total, before / 4)
  t.voltages = { core = { ["700MHz"] = "high" } }
  local good, problem = pcall(r.energy_by, r, t)
  assert(not good, "it went well")
  harness.contains(tostring(problem), "technology test: voltages.core: 700MHz: expected a number above 0, got 'high'")
end)

harness.test("voltages that are none, or do not hold a frequency of the run, are refused", function()
  local function refused(text, work)
    local good, problem = pcall(work)
    assert(not good, "it went well")
    harness.contains(tostring(problem), text)
  end
  local r = run { set = { ["clock.core"] = "1200MHz", quantum = 8 } }
  refused("voltages.core: expected points below and above 1200000000 Hz, which the run had, got 350000000 Hz to 1000000000 Hz",
    function() r:energy_by(with_voltages { operand = 1 }) end)
  local t = with {}
  for _, wrong in ipairs { { core = 1 }, { core = {} }, { core = { ["700MHz"] = 0 } }, { core = { fast = 1 } } } do
    local copy = { doc = "", voltages = wrong }
    for name, number in pairs(t) do
      if type(number) == "table" and number[2] then copy[name] = number end
    end
    refused("technology test: voltages.core", function() ww.technology "test" (copy) end)
  end
end)

harness.test("an SRAM four times as large costs twice as much a bit", function()
  local r = run { set = { ["sm[*].l1d.size"] = "16KiB" } }
  local larger = run { set = { ["sm[*].l1d.size"] = "64KiB" } }
  assert(r["sm[*].l1d.fills"] == larger["sm[*].l1d.fills"], "vecadd fetches every line once")
  near(larger.energy.parts["l1d.data"], 2 * r.energy.parts["l1d.data"])
end)

harness.test("energies are of that part of a run which a result is of", function()
  local sim = ww.build("gtx480", { policy = "gto" })
  sim:run("kmeans", "small,iterations=2")
  local r = sim:result()
  local none = r:since(r)
  near(none.energy.total + 1, 1)
  sim:close()
end)

harness.test("a variant of a fork has the energy of its run", function()
  local sim = ww.build("gtx480", { policy = "gto" })
  sim:start("vecadd", "small")
  sim:run { until_cycle = 2000 }
  local forked = sim:fork { { policy = "gto" }, out = false }
  assert(forked[1].energy.total == run().energy.total)
  sim:close()
end)

harness.test("an L2 counts by the last word of its path", function()
  local parts = run({ config = "gallery/l3" }).energy.parts
  assert(parts["l2.data"] > 0 and parts["l3.data"] > 0)
end)

harness.test("order and threads change no energy", function()
  local base = run { workload = "spmv" }.energy
  for _, how in ipairs { { order = "reversed" }, { threads = 2 } } do
    how.workload = "spmv"
    assert(run(how).energy.total == base.total)
  end
end)

harness.test("half as much again of a number changes the total by half of its part", function()
  local e = run().energy
  near(energy.scaled(e, { dram_bit = 1.5 }), e.total + 0.5 * (e.parts["dram.read"] + e.parts["dram.write"]))
  near(energy.scaled(e, {}), e.total)
end)

harness.test("a run with a technology has energies among its statistics; another run does not", function()
  local r = run { energy = "fermi_40nm" }
  assert(r["energy.total"] == r.energy.total and r["energy.dram.read"] == r.energy.parts["dram.read"])
  for name in run():stats() do assert(not name:find "^energy") end
end)

harness.test("simulated seconds are cycles at the core clock, and products of energy and time follow", function()
  local r = run { energy = "fermi_40nm", set = { ["clock.core"] = "350MHz", quantum = 8 } }
  near(r["run.seconds"], r.cycles / 350e6)
  near(r["energy.edp"], r["energy.total"] * r["run.seconds"])
  near(r["energy.ed2p"], r["energy.edp"] * r["run.seconds"])
  assert(r.energy.edp == r["energy.edp"] and r.energy.ed2p == r["energy.ed2p"])
end)

harness.test("energies among the statistics of a part of a run are those of that part", function()
  local sim = ww.build("gtx480", { policy = "gto" })
  sim:run("vecadd", "small,n=1000")
  local first = sim:result()
  sim:run("vecadd", "small,n=5000")
  local all = sim:result()
  require("warpwright.result").add_energy(all, "fermi_40nm")
  local part = all:since(first)
  assert(part["energy.total"] == part.energy.total and part["energy.total"] < 0.999 * all["energy.total"], part["energy.total"])
  near(part["energy.edp"], part.energy.total * (all.cycles - first.cycles) / 700e6)
  sim:close()
end)

harness.test("a sweep's database has them, query, report and compare know them, and so do reports of runs", function()
  local out = harness.folder() .. "/products"
  local file = harness.write("products.lua", [[return { axes = { config = "gtx480", workload = "vecadd", size = { "small,n=1000", "small,n=5000" },
    energy = "fermi_40nm" } }]])
  harness.equal(harness.run("sweep", file, "--out", out), 0)
  local status, rows = harness.run("query", out, "--csv", "--select", "cycles, run.seconds, energy.total, energy.edp, energy.ed2p, folder")
  harness.equal(status, 0, rows)
  local folders = {}
  for cycles, seconds, joules, edp, ed2p, folder in rows:gmatch "\n(%d+),([^,]+),([^,]+),([^,]+),([^,]+),([^\n]+)" do
    near(tonumber(seconds), cycles / 700e6)
    near(tonumber(edp), joules * seconds)
    near(tonumber(ed2p), joules * seconds ^ 2)
    folders[#folders + 1] = ("%s/%s"):format(out, folder)
  end
  harness.equal(#folders, 2)
  harness.contains(select(2, harness.run("compare", folders[1], folders[2])), "\nrun.seconds ", "\nenergy.edp ", "\nenergy.ed2p ")
  for _, path in ipairs { out, folders[1] } do harness.equal(harness.run("report", path), 0) end
  harness.contains(harness.read(out .. "/report.html"), '"run.seconds","energy.total","energy.edp","energy.ed2p"')
  local page = harness.read(folders[1] .. "/report.html")
  harness.contains(page, "<td>simulated seconds</td>", "<p>Energy-delay product: ")
  assert(not page:find("<td>edp</td>", 1, true), "a part of the energy")
  harness.contains(select(2, harness.run("stats", "gtx480", "run.seconds", "energy.ed*p")), "run.seconds  s", "energy.edp   J s", "energy.ed2p  J s^2")
end)

harness.test("another technology gives another energy of the same run", function()
  local r = run()
  local hbm = r:energy_by "fermi_40nm_hbm2"
  assert(hbm.parts["dram.read"] < 0.5 * r.energy.parts["dram.read"] and hbm.parts["sm.sp"] == r.energy.parts["sm.sp"])
end)

harness.test("classes without energies are named", function()
  for _, class in ipairs(run().energy.without) do
    if class == "Dispatcher" then return end
  end
  error "the dispatcher is not named"
end)

harness.test("the statistics say of which classes energy is left out", function()
  local function doc_of_total(config, policy)
    for name, _, _, doc in run({ config = config, policy = policy, size = "small,n=1024", energy = "fermi_40nm" }):stats() do
      if name == "energy.total" then return doc end
    end
  end
  harness.equal(doc_of_total "gtx480", "Energy of the run by technology fermi_40nm", "with all")
  harness.equal(doc_of_total "gtx480_mesh", "Energy of the run by technology fermi_40nm", "with routers")
  harness.equal(doc_of_total("gtx480", "victim_cache"), "Energy of the run by technology fermi_40nm, without that of VictimCache", "without a part")
end)

local over_time <const> = { workload = "bfs", energy = "fermi_40nm", stats_every = "20000,1launch", out = harness.folder() .. "/whole" }

harness.test("energies of intervals add up to those of the run, part by part, and launches to launches", function()
  local r = run(over_time)
  local e, sums, total, last = r.energy, {}, 0.0, 0
  for _, one in ipairs(e.intervals) do
    harness.equal(one.from, last)
    last = one.to
    total = total + one.total
    for part, joules in pairs(one.parts) do
      assert(joules >= 0, part)
      sums[part] = (sums[part] or 0.0) + joules
    end
  end
  harness.equal(last, r.cycles)
  near(total, e.total)
  for _, part in ipairs(e.order) do near(sums[part], e.parts[part]) end
  assert(sums["sm.sp"] > 0 and sums["dram.read"] > 0)
  harness.equal(e.intervals[1].launch, 0)
  near(e.intervals[1].parts["dram.background"], 6 * fermi.dram_background[1] * r.launches[1].cycles / 700e6)
end)

harness.test("columns of energies are those of the intervals, by name and by pattern, also after a resume", function()
  local columns = "energy.total,run.ipc,energy.*.data,each:energy.dram.*"
  local options = { workload = "bfs", stats_every = "1launch", stats_of = columns, checkpoint_at = "30000", out = harness.folder() .. "/columns" }
  local e = run(options).energy
  local written = harness.read(options.out .. "/intervals.csv")
  local lines = written:gmatch "[^\n]+"
  harness.equal(lines(), "from,to,launch,energy.total,run.ipc,energy.*.data,energy.dram.activate,energy.dram.background,energy.dram.read,"
    .. "energy.dram.refresh,energy.dram.write")
  for _, one in ipairs(e.intervals) do
    local total, data, background = lines():match "^%d+,%d+,%d*,([^,]+),[^,]*,([^,]+),[^,]+,([^,]+)"
    local parts = one.parts
    assert(math.abs(total - one.total) <= 1e-8 * one.total and math.abs(background - parts["dram.background"]) <= 1e-8 * one.total)
    assert(math.abs(data - parts["l1d.data"] - parts["l2.data"] - parts["constant_cache.data"] - parts["texture_cache.data"]) <= 1e-8 * one.total)
  end
  harness.equal(lines(), nil)
  local resumed = ww.run { resume = options.out, out = harness.folder() .. "/resumed" }
  harness.same_text(harness.read(resumed.out .. "/intervals.csv"), written)
  harness.equal(resumed.energy.intervals[1].total, e.intervals[1].total)
end)

harness.test("without a technology and without columns of energies intervals have none", function()
  local r = run { workload = "bfs", stats_every = "1launch", out = harness.folder() .. "/none" }
  harness.equal(r.energy.intervals, nil)
  assert(not harness.read(r.out .. "/intervals.csv"):find "energy")
end)

harness.test("a wrong technology is named by its option, and what is wrong in one by its file", function()
  local function refused(text, name) harness.refused("error: " .. text, "run", "gtx480", "vecadd", "--size", "small,n=1024", "--energy", name) end
  refused("energy: no technology matches 'fermi'; available: fermi_40nm, fermi_40nm_hbm2", "fermi")
  refused("energy: no file matches './none.lua'", "./none.lua")
  local text = harness.read "configs/energy/fermi_40nm.lua"
  local path = harness.write("one.lua", (text:gsub("sp_lane =", "sp_lan =")))
  refused(path .. ": technology fermi_40nm: no field matches 'sp_lan'; did you mean sp_lane?", path)
  path = harness.write("two.lua", (text:gsub("return ww", "\nlocal t = ww"):gsub('"pJ/bit"', "1", 1)) .. "\nreturn t\n")
  refused(path .. ":17: technology fermi_40nm: sram_bit: expected a unit, got 1", path)
end)

harness.test("a technology says what is wrong with it", function()
  local function refused(t, text)
    local ok, problem = pcall(ww.technology "mine", t)
    assert(not ok and tostring(problem):find(text, 1, true), tostring(problem))
  end
  refused({ doc = "" }, "technology mine: sram_bit: expected { value, unit, kind, source }, got nil")
  local function changed(number)
    local t = { doc = "" }
    for name, n in pairs(fermi) do if type(n) == "table" then t[name] = n end end
    t.operand = number
    return t
  end
  refused(changed { -1, "pJ", "assumed", "" }, "operand: expected a number from 0 on, got -1")
  refused(changed { 1, "pJ", "guessed", "" }, "operand: expected published, scaled or assumed, got 'guessed'")
  refused(changed { 1, "pJ", "assumed" }, "operand: expected a source, got nil")
  local ok, problem = pcall(run, { energy = "nowhere" })
  assert(not ok and tostring(problem):find("no technology matches 'nowhere'", 1, true), tostring(problem))
end)

-- Read by a policy --------------------------------------------------------------------------------------------------------

--- At the end of the kernel: parts that nothing behind it adds to are as in the result, those of SMs add up.
local meter = harness.write("meter.lua", [[
local meter = require "warpwright.policy" "meter" {
  scope = "machine", period = 1000, params = { technology = { "" } }, counters = { calls = "", picojoules = "", growths = "", of_sms = "" },
}
local function of(self, object) return self:energy(object, self.params.technology ~= "" and self.params.technology or nil) end
function meter:on_period()
  local total = of(self)
  self:count "calls"
  if total > (self.state.before or 0) then self:count "growths" end
  self.state.before = total
end
function meter:on_kernel_end()
  local _, parts = of(self)
  local sms = 0.0
  for i = 1, #self.sms do
    local total, own = of(self, self.sms[i])
    assert(total > own["sm.sp"] and own["l1d.data"] > 0 and not own["dram.read"])
    sms = sms + own["sm.sp"]
  end
  self:count("picojoules", math.tointeger(parts["sm.sp"] * 1e12 // 1))
  self:count("of_sms", math.tointeger(sms * 1e12 // 1))
end
return meter]])

local function metered(options)
  options.policy = options.policy or meter
  local r = run(options)
  local name = "dispatcher.meter."
  local got, of_sms = r[name .. "picojoules"], r[name .. "of_sms"]
  assert(math.abs(got - of_sms) <= 1 + 1e-9 * got, ("%d, the SMs %d"):format(got, of_sms))
  assert(r[name .. "calls"] > 10 and r[name .. "growths"] == r[name .. "calls"], "energy does not grow with time")
  return got * 1e-12, r
end

harness.test("a coordinator reads the energy of the machine and of an SM up to now, and changes nothing by it", function()
  local got, r = metered {}
  near(got, r.energy.parts["sm.sp"], 1e-6)
  local plain = run()
  harness.equal(r.cycles, plain.cycles)
  harness.equal(r.energy.total, plain.energy.total)
end)

harness.test("a coordinator's energy is by the technology that it names", function()
  local path = harness.write("mine.lua", [[
local t = { doc = "twice", }
for name, number in pairs(require "configs.energy.fermi_40nm") do
  if type(number) == "table" then t[name] = { number[1] * (name == "sp_lane" and 2 or 1), table.unpack(number, 2) } end
end
return require("warpwright").technology "mine" (t)]])
  local got, r = metered { policy = meter .. ":technology=" .. path }
  near(got, 2 * r.energy.parts["sm.sp"], 1e-6)
end)

harness.test("a coordinator's energy is by the voltages that the clocks have had", function()
  local path = harness.write("with_voltages.lua", [[
local t = { doc = "with voltages", voltages = { core = { ["350MHz"] = 0.6, ["700MHz"] = 1, ["1GHz"] = 1.3 } } }
for name, number in pairs(require "configs.energy.fermi_40nm") do t[name] = t[name] or type(number) == "table" and number or nil end
return require("warpwright").technology "with_voltages" (t)]])
  local slower = harness.write("slower.lua", [[
local slower = require "warpwright.policy" "slower" { scope = "machine", period = 5000 }
function slower:configure(class, path) if class == "clock" and path == "core" then return { frequency = "700MHz, 350MHz to 1GHz" } end end
function slower:on_period() self:set_clock("core", self:clock "core" == 700000000 and "400MHz" or "700MHz") end
return slower]])
  local got, r = metered { policy = ("%s:technology=%s+%s"):format(meter, path, slower) }
  near(got, r:energy_by(path).parts["sm.sp"], 1e-6)
  assert(got < 0.99 * r.energy.parts["sm.sp"], "no voltage was lower")
end)

require("tests.lib.policy_checks").resumes(meter, "vecadd", 2)

harness.test("energies that a policy cannot read are refused", function()
  local function fails(scope, body, ...)
    local path = harness.write("unfit.lua", ('local p = require("warpwright.policy") "unfit" { scope = "%s" }\nfunction p:on_kernel_start() %s end return p')
      :format(scope, body))
    local ok, why = pcall(run, { policy = path })
    assert(not ok)
    harness.contains(tostring(why), "unfit.lua:2: ", ...)
  end
  fails("sm", "self:energy()", "energy: expected a policy of scope machine, got one of scope sm")
  fails("machine", "self:energy(3)", "energy: expected the handle of an object or nil, got 3")
  fails("machine", "self:energy(nil, 'fermi_41nm')", "fermi_40nm")
end)

harness.finish()
