-- Kernels recorded on a GPU, in the traces of Accel-Sim's tracer: what they take, what they access, where warps go, and what is
-- refused. docs/sass_traces.md has the format.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local oracle = require "scripts.lib.resume_oracle"
local recording = require "tests.lib.recording"

local line <const> = recording.line

local function write(name, head, warp) return harness.write(name .. ".traceg", recording.kernel(head, warp)) end

local function run(path, options)
  local all = { config = "gtx480", workload = path, policy = "gto", out = false }
  for name, value in pairs(options or {}) do all[name] = value end
  return ww.run(all)
end

--- The cycles of a warp that executes these lines.
local function cycles_of(name, lines) return run(write(name, {}, function() return lines end)).launches[1].cycles end

--- `count` instructions in which each needs what the one before writes, or none does.
local function chain(opcode, count, depends, sources)
  local lines, read = {}, table.move({ 4, 4, 4 }, 1, sources or 1, 1, {})
  for i = 1, count do lines[i] = line(16 * (i - 1), opcode, { depends and 4 or 5 + i % 8 }, read) end
  return lines
end

--- The same of PTX, in a kernel that does nothing else.
local function cycles_of_ptx(statement, count)
  local text = { ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry chain() {\n.reg .f32 %f<3>;\n.reg .u32 %r<3>;" }
  for _ = 1, count do text[#text + 1] = statement end
  text[#text + 1] = "ret;\n}\n"
  local w = ww.workload "chain" { ptx = table.concat(text, "\n"), sizes = { small = {} } }
  function w:run(gpu) gpu:launch(self.kernels.chain, { grid = 1, block = 32, args = {} }) end
  return ww.run({ config = "gtx480", workload = w, policy = "gto", out = false }).launches[1].cycles
end

harness.test("a dependent instruction waits as long as one of PTX of the same kind", function()
  for _, entry in ipairs {
    { "FFMA", 3, "fma.rn.f32 %f1, %f1, %f1, %f1;" }, { "IADD3", 2, "add.u32 %r1, %r1, %r1;" },
    { "MUFU.RCP", 1, "rcp.approx.f32 %f1, %f1;" },
  } do
    local opcode, sources, statement = table.unpack(entry)
    -- launches end with a quantum, of which as many instructions take a whole number
    local recorded = cycles_of("long", chain(opcode, 200, true, sources)) - cycles_of("short", chain(opcode, 40, true, sources))
    local ptx = cycles_of_ptx(statement, 200) - cycles_of_ptx(statement, 40)
    harness.equal(recorded, ptx, "cycles of 160 more " .. opcode)
  end
end)

harness.test("instructions that need nothing of each other do not wait", function()
  local dependent, others = cycles_of("chain", chain("FFMA", 40, true)), cycles_of("none", chain("FFMA", 40, false))
  assert(others < dependent / 3, ("%d cycles, %d where each waits"):format(others, dependent))
end)

harness.test("a register that is loaded is waited for, all of those that 16 bytes take", function()
  local function loads(register)
    return cycles_of("load", { line(0, "MOV", { 2 }), line(16, "LDG.E.128", { 4 }, { 2 }, "16 1 0x7f1000000000 16"),
      line(32, "FADD", { 9 }, { register }) })
  end
  local none, first, last, behind = loads(2), loads(4), loads(7), loads(8)
  harness.equal(last, first, "cycles where the fourth is needed")
  harness.equal(behind, none, "cycles where the fifth is")
end)

harness.test("pairs are waited for: products of 64 bits, what is added to them, addresses", function()
  local function behind(register, opcode, sources, access)
    local lines = {}
    for _ = 1, 8 do -- launches end with a quantum, less than what all turns wait
      table.move({ line(0, "MUFU.RCP", { register }, { 60 }), line(16, opcode, { 20 }, sources, access), line(32, "FADD", { 60 }, { 20 }) },
        1, 3, #lines + 1, lines)
    end
    return cycles_of("pair", lines)
  end
  local function waits(opcode, sources, access, named)
    local none = behind(50, opcode, sources, access)
    for register, expected in pairs(named) do
      local waited = behind(register, opcode, sources, access) > none
      harness.equal(waited, expected, ("%s waits for R%d"):format(opcode, register))
    end
  end
  waits("IMAD.WIDE", { 2, 4, 6 }, "0", { [2] = true, [3] = false, [4] = true, [5] = false, [6] = true, [7] = true, [8] = false })
  waits("DFMA", { 2, 4, 6 }, "0", { [3] = true, [5] = true, [7] = true, [8] = false })
  waits("LDG.E", { 2 }, "4 1 0x7f1000000000 4", { [2] = true, [3] = true, [4] = false })
  waits("LDS", { 2 }, "4 1 0x0 4", { [2] = true, [3] = false })
end)

harness.test("accesses are those of the recorded addresses, in all three ways of writing them", function()
  local strided = "4 1 0x7f1000000000 256"
  local listed, steps = { "4 0" }, { "4 2 0x7f1000000000" }
  for lane = 0, 31 do
    listed[#listed + 1] = ("0x%x"):format(0x7f1000000000 + 256 * lane)
    if lane > 0 then steps[#steps + 1] = "256" end
  end
  local runs = {}
  for i, addresses in ipairs { strided, table.concat(listed, " "), table.concat(steps, " ") } do
    runs[i] = run(write("way" .. i, {}, function() return { line(0, "LDG.E", { 4 }, { 2 }, addresses) } end))
    harness.equal(runs[i]["sm[0].lsu.load_accesses"], 32, "segments")
    harness.equal(runs[i].cycles, runs[1].cycles, "cycles")
  end
  local close = run(write("close", {}, function() return { line(0, "LDG.E", { 4 }, { 2 }, "4 1 0x7f1000000000 4") } end))
  harness.equal(close["sm[0].lsu.load_accesses"], 1, "segments of neighbours")
end)

harness.test("only the lanes of a record count and access", function()
  local r = run(write("lanes", {}, function()
    return { line(0, "MOV", { 2 }, {}, "0", 0xffffffff), line(16, "LDG.E", { 4 }, { 2 }, "4 1 0x7f1000000000 256", 0x0000000f),
      line(32, "FADD", { 5 }, { 4 }, "0", 0x000000f0) }
  end))
  harness.equal(r["sm[0].lsu.load_accesses"], 4, "segments")
  harness.equal(r["sm[0].thread_instructions"], 32 + 4 + 4 + 32, "thread instructions, with the exit")
end)

harness.test("an access that no lane makes passes through, and the warp goes on", function()
  local r = run(write("nobody", {}, function()
    return { line(0, "MOV", { 2 }), line(16, "LDG.E", { 4 }, { 2 }, "8 1 0x0 0", 0), line(32, "FADD", { 5 }, { 4 }) }
  end))
  harness.equal(r["sm[0].lsu.load_accesses"], 0, "segments")
  harness.equal(r["sm[0].warp_instructions"], 4, "warp instructions")
end)

harness.test("where some warps make an access and others do not, none jumps", function()
  local path = write("some", { block = 96 }, function(_, warp)
    local lines, address = { line(0, "MOV", { 2 }) }, "4 1 0x7f1000000000 128"
    for i = 1, 3 do
      local lanes = warp == i - 1 and 0 or 0xff
      lines[#lines + 1] = line(16 * i, i == 2 and "RED.E.ADD" or "LDG.E", { 3 + i }, { 2 }, lanes == 0 and "4 1 0x0 0" or address, lanes)
    end
    lines[#lines + 1] = line(0x40, "LDS", { 8 }, { 2 }, "4 1 0x0 4", warp == 0 and 0xffffffff or 0)
    lines[#lines + 1] = line(0x50, "FADD", { 9 }, { 8 })
    return lines
  end)
  local r = run(path)
  harness.equal(r["sm[0].warp_instructions"], 3 * 7, "warp instructions")
  harness.equal(r["sm[0].thread_instructions"], 3 * (32 + 2 * 8 + 2 * 32) + 32, "thread instructions")
  harness.equal(r["sm[0].lsu.load_accesses"], 4 * 8, "segments loaded")
  local twice = harness.write("twice.g", "some.traceg\nsome.traceg\n")
  harness.equal(run(twice, { fast_forward = "launch=1" })["sm[0].warp_instructions"], 3 * 7, "warp instructions behind a launch without timing")
end)

harness.test("a warp goes where its records say: round a loop, by turns on both sides, and back", function()
  local turns = 5
  local r = run(write("loop", {}, function()
    local lines = { line(0, "MOV", { 2 }) }
    for _ = 1, turns do
      lines[#lines + 1] = line(16, "ISETP", {}, { 2 })
      lines[#lines + 1] = line(32, "BRA")
      lines[#lines + 1] = line(48, "FADD", { 3 }, { 3 }, "0", 0x0000ffff)
      lines[#lines + 1] = line(64, "FMUL", { 3 }, { 3 }, "0", 0xffff0000)
      lines[#lines + 1] = line(80, "BRA")
    end
    return lines
  end))
  harness.equal(r["sm[0].warp_instructions"], 1 + 5 * turns + 1, "warp instructions")
  harness.equal(r["sm[0].thread_instructions"], 32 * (1 + 4 * turns + 1), "thread instructions")
end)

harness.test("behind an access the warp may go elsewhere: that takes a jump", function()
  local function kernel(at)
    return run(write("elsewhere", {}, function()
      return { line(0, "MOV", { 2 }), line(16, "LDG.E", { 4 }, { 2 }, "4 1 0x7f1000000000 4"), line(at, "FADD", { 5 }, { 2 }),
        line(32, "FMUL", { 6 }, { 2 }) }
    end))
  end
  harness.equal(kernel(64)["sm[0].warp_instructions"], 6, "warp instructions, with a jump")
end)

harness.test("a loop whose last instruction is an access goes back to its first", function()
  local r = run(write("back", {}, function()
    local lines = {}
    for _ = 1, 3 do
      lines[#lines + 1] = line(0xf00, "MOV", { 2 })
      lines[#lines + 1] = line(0x1010, "LDG.E", { 4 }, { 2 }, "4 1 0x7f1000000000 4") -- behind the exit
    end
    lines[#lines] = nil
    return lines
  end))
  harness.equal(r["sm[0].lsu.load_accesses"], 2, "segments")
  harness.equal(r["sm[0].warp_instructions"], 5 + 2 + 1, "warp instructions, with jumps")
end)

harness.test("lanes that exit early are not waited for; the warp ends with the last ones", function()
  local r = run(write("early", {}, function()
    return { line(0, "ISETP", {}, { 2 }), line(16, "EXIT", {}, {}, "0", 0x0000ffff), line(32, "FADD", { 3 }, { 3 }, "0", 0xffff0000),
      line(16, "EXIT", {}, {}, "0", 0xffff0000) }
  end))
  harness.equal(r["sm[0].warp_instructions"], 5, "warp instructions")
end)

harness.test("lanes that come to the exit in two parts leave in two, also right behind an access", function()
  local r = run(write("parts", { block = 64, grid = 2 }, function()
    local store = "4 1 0x7f1000000000 4"
    return { line(0, "ISETP", {}, { 2 }), line(16, "STG.E", {}, { 2, 3 }, store, 0x0000ffff), line(0xff0, "EXIT", {}, {}, "0", 0x0000ffff),
      line(16, "STG.E", {}, { 2, 3 }, store, 0xffff0000) }
  end), { max_cycles = 100000 })
  harness.equal(r["sm[*].warp_instructions"], 4 * 7, "warp instructions, with a jump behind each access")
  harness.equal(r["sm[*].lsu.store_accesses"], 4 * 2, "segments")
end)

harness.test("warps may begin elsewhere, with a part of their lanes, and with their end", function()
  local r = run(write("begins", { block = 128 }, function(_, warp)
    if warp == 0 then return { line(0, "MOV", { 2 }), line(16, "FADD", { 3 }, { 2 }) } end
    if warp == 1 then return { line(16, "FADD", { 3 }, { 2 }) } end
    if warp == 2 then return { line(0, "MOV", { 2 }, {}, "0", 0xff) } end
    return {}
  end))
  harness.equal(r["sm[0].warp_instructions"], 3 + 2 + 2 + 1 + 4, "warp instructions, with a jump of each warp")
  harness.equal(r["sm[0].thread_instructions"], 32 * (3 + 2 + 1 + 1 + 4) + 8, "thread instructions")
  local first = run(write("access_first", {}, function() return { line(0, "LDG.E", { 4 }, { 2 }, "4 1 0x7f1000000000 256", 0xf) } end))
  harness.equal(first["sm[0].lsu.load_accesses"], 4, "segments of an access at the begin")
end)

harness.test("functions that are called have addresses of code that the kernel has, too", function()
  local lines = { line(0, "MOV", { 2 }), line(16, "FADD", { 3 }, { 2 }), line(32, "CALL.REL"), line(0, "LDG.E", { 4 }, { 2 }, "4 1 0x7f1000000000 4"),
    line(16, "LDG.E.128", { 4 }, { 2 }, "16 1 0x7f1000000000 16"), line(32, "RET.REL"), line(48, "FADD", { 3 }, { 2 }) }
  local r = run(write("calls", {}, function() return lines end))
  harness.equal(r["sm[0].lsu.load_accesses"], 1 + 4, "segments")
  harness.equal(r["sm[0].warp_instructions"], #lines, "warp instructions, the exit among them")
end)

harness.test("an access of generic addresses in several spaces is one in that of its first lane", function()
  local r = run(write("spaces", {}, function()
    return { line(0, "MOV", { 2 }), line(8, "LD.E", { 4 }, { 2 }, "4 0 0x7f0002000100 0x7f1000000000 0x7f0000000000", 7),
      line(16, "LD.E", { 4 }, { 2 }, "4 0 0x7f1000000000 0x7f0000000000", 3) }
  end))
  harness.equal(r["sm[0].warp_instructions"], 4, "warp instructions")
end)

harness.test("accesses lie at multiples of their bytes", function()
  local r = run(write("odd", {}, function() return { line(0, "LDG.E.128", { 4 }, { 2 }, "16 1 0x7f1000000078 256", 1) } end))
  harness.equal(r["sm[0].lsu.load_accesses"], 1, "segments")
end)

harness.test("what the tracer's version 5 says of clusters is passed over", function()
  local text = recording.kernel({}, function() return { line(0, "MOV", { 2 }) } end)
  text = text:gsub("thread block = 0,0,0\n", "%0cluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\n")
  harness.equal(run(harness.write("clusters.traceg", text))["sm[0].warp_instructions"], 2, "warp instructions")
end)

harness.test("numbers of source lines are read where the tracer has written them", function()
  local lines = { line(0, "MOV", { 2 }, {}, "0 0"), line(16, "LDG.E", { 4 }, { 2 }, "4 1 0x7f1000000000 256 0") }
  for _, enabled in ipairs { 0, 1 } do
    local text = recording.kernel({}, function() return { table.unpack(lines) } end)
    text = text:gsub("accelsim tracer version = 3", "accelsim tracer version = 4\n-enable lineinfo = " .. enabled)
    text = text:gsub("format = PC", "format = [line_num] PC"):gsub("%[mem_addresses%]", "%0 immediate")
    if enabled == 1 then text = text:gsub("\n(%x%x%x%x ffffffff)", "\n17 %1") end
    local r = run(harness.write("lineinfo.traceg", text))
    harness.equal(r["sm[0].lsu.load_accesses"], 32, "segments with lineinfo " .. enabled)
  end
end)

harness.test("warps wait at a barrier, and go on a cycle's work behind the last one", function()
  local function kernel(barrier)
    return run(write("barrier", { block = 64 }, function(_, warp)
      local lines = warp == 0 and chain("MUFU.RCP", 20, true) or { line(0, "MUFU.RCP", { 4 }, { 4 }) }
      lines[#lines + 1] = line(0x800, barrier)
      return lines
    end))
  end
  local waited, passed = kernel "BAR.SYNC", kernel "BAR.ARV"
  harness.equal(waited["sm[0].barriers"], 2, "arrivals")
  harness.equal(passed["sm[0].barriers"], 0, "arrivals that do not wait")
  assert(waited["sm[0].slots_barrier"] > passed["sm[0].slots_barrier"], "nobody waited")
end)

harness.test("shared memory has bank conflicts, generic addresses lie in its window or not", function()
  local function conflicts(opcode, base, stride)
    local r = run(write("shared", { shared = 8192 }, function()
      return { line(0, opcode, { 4 }, { 2 }, ("4 1 0x%x %d"):format(base, stride)) }
    end))
    return r["sm[0].lsu.bank_conflict_cycles"], r["sm[0].lsu.load_accesses"]
  end
  harness.equal(conflicts("LDS", 0x40, 4), 0, "conflicts of neighbours")
  harness.equal(conflicts("LDS", 0x40, 128), 31, "conflicts in one bank")
  harness.equal(conflicts("LD.E", 0x7f0000000040, 128), 31, "conflicts by generic addresses")
  local _, accesses = conflicts("LD.E", 0x7f1000000000, 128)
  harness.equal(accesses, 32, "segments of a generic address elsewhere")
end)

harness.test("loads of constant data go where read-only loads go", function()
  local function texture_loads(opcode, set)
    return run(write("constant", {}, function() return { line(0, opcode, { 4 }, { 2 }, "4 1 0x7f1000000000 4") } end), { set = set })
      ["sm[*].lsu.texture_loads"]
  end
  local set <const> = { ["sm[*].lsu.read_only_segment"] = 32 }
  harness.equal(texture_loads("LDG.E.CONSTANT", set), 1)
  harness.equal(texture_loads("LDG.E.CONSTANT"), 0)
  harness.equal(texture_loads("LDG.E", set), 0)
end)

harness.test("local memory of neighbouring lanes lies side by side", function()
  local r = run(write("local", {}, function()
    return { line(0, "STL", {}, { 1, 4 }, "4 1 0xfff72c 0"), line(16, "LDL.LU", { 5 }, { 1 }, "4 1 0xfff72c 0") }
  end))
  harness.equal(r["sm[0].lsu.store_accesses"], 1, "segments stored")
  harness.equal(r["sm[0].lsu.load_accesses"], 1, "segments loaded")
end)

harness.test("atomics are performed at the L2, and change nothing", function()
  local r = run(write("atomic", { grid = 4, block = 64 }, function()
    return { line(0, "RED.E.ADD.STRONG.GPU", {}, { 2, 4 }, "4 1 0x7f1000000000 4"),
      line(16, "ATOMG.E.ADD.STRONG.GPU", { 6 }, { 2, 4 }, "4 1 0x7f1000000000 0"), line(32, "FADD", { 7 }, { 6 }) }
  end))
  assert(r["sm[*].lsu.atomics"] == 4 * 2 * 2, "atomics: " .. r["sm[*].lsu.atomics"])
  harness.equal(r["sm[*].warp_instructions"], 4 * 8, "warp instructions")
end)

harness.test("a copy to shared memory has one record, of its global address, also where the trace has both addresses", function()
  local function copies(...)
    local lines = { line(0, "MOV", { 2 }) }
    for _, address in ipairs { ... } do lines[#lines + 1] = line(16, "LDGSTS.E.BYPASS.128", {}, { 5, 2 }, ("16 1 0x%x 16"):format(address)) end
    lines[#lines + 1] = line(32, "BRA")
    for _, address in ipairs { ... } do lines[#lines + 1] = line(16, "LDGSTS.E.BYPASS.128", {}, { 5, 2 }, ("16 1 0x%x 16"):format(address)) end
    return run(write("copies", {}, function() return lines end))
  end
  local global <const>, window <const> = 0x7f1000000000, 0x7f0000000000
  local one = copies(global)
  harness.equal(one["sm[0].lsu.load_accesses"], 2 * 4, "segments")
  harness.equal(one["sm[0].l1d.bypasses"], 2 * 4, "accesses that pass the L1 by")
  for _, both in ipairs { { 0x100, global }, { global, 0x100 }, { window + 0x100, global } } do
    local r = copies(table.unpack(both))
    harness.equal(r["sm[0].warp_instructions"], one["sm[0].warp_instructions"], "warp instructions")
    harness.equal(r["sm[0].lsu.load_accesses"], 2 * 4, "segments")
    harness.equal(r.cycles, one.cycles, "cycles")
  end
end)

harness.test("a wait for copies spares as many groups as its immediate value says", function()
  local function waits(spared)
    local function text(pc, opcode, read, behind) return line(pc, opcode, {}, read, behind) end
    local path = harness.write("groups.traceg", (recording.kernel({}, function()
      return {
        text(0, "LDGSTS.E.128", { 5, 2 }, "16 1 0x7f1000000000 16 0"), text(16, "LDGDEPBAR", {}, "0 0"),
        text(32, "LDGSTS.E.128", { 5, 2 }, "16 1 0x7f1000100000 512 0"), text(48, "LDGDEPBAR", {}, "0 0"),
        text(64, "DEPBAR.LE", {}, "0 " .. spared), text(80, "BAR.SYNC", {}, "0 0"), text(96, "EXIT", {}, "0 0"),
      }
    end):gsub("%[mem_addresses%]", "%0 immediate"):gsub("insts = 8", "insts = 7"):gsub("\n0ff0[^\n]*", "")))
    return run(path)["sm[0].slots_barrier"]
  end
  local none, one, both = waits "0", waits "1", waits "2"
  assert(none > one + 20 and one > both + 100, ("slots lost: %d, %d, %d"):format(none, one, both))
  assert(waits "" >= none, "a wait without a value does not wait for all")
end)

--- Four matrices are in registers R4 to R7; their rows take as many turns of shared memory as 16 bytes a lane do, the rows of one none
-- beyond the first. lines(opcode, bytes, register): has to do with this register and R4; `slots`: the cause of the slots that it costs.
local function check_rows(opcode, plain, slots, lines)
  local function costs(name, bytes, register)
    local r = run(write("rows", { shared = 4096 }, function() return lines(name, bytes, register) end))
    return r["sm[0].slots_" .. slots], r["sm[0].lsu.bank_conflict_cycles"]
  end
  local behind, conflicts = costs(opcode .. ".4", 2, 8)
  assert(costs(opcode .. ".4", 2, 7) > behind, "the fourth register is not waited for")
  harness.equal(conflicts, select(2, costs(plain, 16, 8)), "turns of 32 rows, as of 16 bytes a lane")
  harness.equal(select(2, costs(opcode, 2, 8)), 0, "conflicts of the eight rows that count")
end

harness.test("matrix instructions take as many registers as their shape says, and so do the rows that they load", function()
  local function waits(register, opcode, sources, written, read_next)
    local lines = {}
    for _ = 1, 8 do
      table.move({ line(0, "MUFU.RCP", { register }, { 60 }), line(16, opcode, written, sources), line(32, "FADD", { 60 }, read_next) }, 1, 3, #lines + 1, lines)
    end
    return cycles_of("matrix", lines)
  end
  --- By opcode: registers of A, B and C. A at R8, B at R16, C at R24; the result at R32.
  for opcode, counts in pairs {
    ["HMMA.16816.F32"] = { 4, 2, 4 }, ["HMMA.1688.F16"] = { 2, 1, 2 }, ["HMMA.1688.F32.TF32"] = { 4, 2, 4 }, ["HMMA.884.F32.F32.STEP1"] = { 2, 2, 2 },
    ["IMMA.8816.S8.S8"] = { 1, 1, 2 }, ["IMMA.16832.S8.S8"] = { 4, 2, 4 }, ["DMMA.884"] = { 2, 2, 4 },
    ["QMMA.16832.F16.E4M3.E4M3"] = { 4, 2, 2 }, ["OMMA.SF.16864.F32.E2M1.E2M1"] = { 4, 2, 4 }, ["BMMA.168256.XOR.POPC"] = { 4, 2, 4 },
  } do
    local none = waits(50, opcode, { 8, 16, 24 }, { 32 }, { 32 })
    for source, count in ipairs(counts) do
      harness.equal(waits(8 * source + count - 1, opcode, { 8, 16, 24 }, { 32 }, { 32 }) > none, true, opcode .. ": the last of source " .. source)
      harness.equal(waits(8 * source + count, opcode, { 8, 16, 24 }, { 32 }, { 32 }) > none, false, opcode .. ": behind source " .. source)
    end
  end
  check_rows("LDSM.16.M88", "LDS.128", "memory", function(opcode, bytes, register)
    return { line(0, "MOV", { 2 }), line(16, opcode, { 4 }, { 2 }, bytes .. " 1 0x0 16"), line(32, "FADD", { 9 }, { register }) }
  end)
end)

harness.test("rows of matrices are stored as they are loaded, from as many registers", function()
  check_rows("STSM.16.M88", "STS.128", "scoreboard", function(opcode, bytes, register)
    return { line(0, "MUFU.RCP", { register }, { 60 }), line(16, opcode, {}, { 2, 4 }, bytes .. " 1 0x0 16") }
  end)
end)

harness.test("opcodes of Hopper and Blackwell are known, and their reductions are atomics", function()
  local opcodes = {
    "VIADD", "VIADDMNMX", "VIMNMX.S32", "VHMNMX", "FFMA2", "HGMMA.64x64x16.F32", "QGMMA.64x64x32.F32", "WARPGROUP.ARRIVE", "SYNCS.ARRIVE.TRANS64",
    "UTMALDG.2D", "UTMASTG.2D", "ELECT", "ENDCOLLECTIVE", "FENCE.VIEW.ASYNC", "USETMAXREG", "UCGABAR_ARV", "ACQBULK", "PREEXIT", "LDCU.64",
    "UFFMA", "UTCHMMA", "LDTM.x16", "CREDUX.MIN",
  }
  local path = write("later", {}, function()
    local lines = {}
    for i, opcode in ipairs(opcodes) do lines[i] = line(16 * i, opcode, { 4 }, { 2 }) end
    lines[#lines + 1] = line(0x1000, "REDG.E.ADD.STRONG.GPU", {}, { 2, 4 }, "4 1 0x7f1000000000 4")
    return lines
  end)
  local w, unknown = ww.workload "later" { ptx = false, sizes = { small = {} } }, nil
  function w:run(gpu)
    local kernel = gpu:load(path).recorded
    unknown = kernel:info().unknown
    gpu:launch(kernel, { grid = 1, block = 32, args = {} })
  end
  local r = ww.run { config = "gtx480", workload = w, out = false }
  harness.equal(unknown, nil, "opcodes that are not known")
  harness.equal(r["sm[*].lsu.atomics"], 1, "atomics")
end)

--- A kernel of many warps whose records differ: loads here and there, loops of different lengths, barriers.
local function varied(name)
  return write(name, { grid = 24, block = 128, shared = 2048 }, function(cta, warp)
    local lines, random = { line(0, "S2R", { 2 }) }, cta * 7919 + warp * 104729
    local function draw(n)
      random = (random * 1103515245 + 12345) % 2147483648
      return random // 65536 % n
    end
    for turn = 1, 3 + draw(6) do
      lines[#lines + 1] = line(0x10, "IADD3", { 2 }, { 2, 3, 4 })
      lines[#lines + 1] = line(0x20, "LDG.E", { 5 }, { 2 }, ("4 1 0x%x %d"):format(0x7f1000000000 + 128 * draw(4096), 4 * (1 + draw(40))))
      lines[#lines + 1] = line(0x30, "FFMA", { 6 }, { 5, 6, 7 }, "0", turn % 2 == 0 and 0xffff or 0xffffffff)
      if draw(3) == 0 then lines[#lines + 1] = line(0x40, "STS", {}, { 2, 6 }, ("4 1 0x%x 4"):format(128 * warp)) end
      if draw(2) == 0 then
        lines[#lines + 1] = line(0x44, "LDGSTS.E.64", {}, { 4, 2 }, ("8 1 0x%x 8"):format(0x7f1000000000 + 256 * draw(4096)))
        lines[#lines + 1] = line(0x48, "LDGDEPBAR")
      end
      lines[#lines + 1] = line(0x50, "BRA")
    end
    lines[#lines + 1] = line(0x58, "DEPBAR.LE")
    lines[#lines + 1] = line(0x60, "BAR.SYNC")
    lines[#lines + 1] = line(0x70, "STG.E", {}, { 2, 6 }, ("4 1 0x%x 4"):format(0x7f2000000000 + 512 * cta + 128 * warp))
    return lines
  end)
end

harness.test("recorded kernels obey the law: tick orders, threads, checkpoints, resumes", function()
  local path = varied "varied"
  local status, output = harness.run("check", "gtx480", path, "--out", harness.folder() .. "/check", "--checkpoints", "3")
  harness.equal(status, 0, "exit status of check: " .. output)
end)

harness.test("a recorded kernel goes on with timing where a part of its CTAs has executed without", function()
  local path = varied "handed_over"
  local whole, part = run(path), run(path, { fast_forward = "cta=0.5" })
  local threads = run(path, { fast_forward = "cta=0.5", threads = 2 })
  local timed, all = part["sm[*].warp_instructions"], whole["sm[*].warp_instructions"]
  assert(timed > all // 4 and timed < all * 3 // 4, ("%d of %d instructions with timing"):format(timed, all))
  harness.equal(threads.cycles, part.cycles, "cycles with two threads")
end)

--- The names of the kernels that a list runs, with blanks between them.
local function kernels_of(list)
  local names = {}
  for i, launch in ipairs(run(list).launches) do names[i] = launch.kernel end
  return table.concat(names, " ")
end

harness.test("a list runs its kernels in order, and passes over copies", function()
  write("kernel-1", { name = "first" }, function() return { line(0, "MOV", { 2 }) } end)
  write("kernel-2", { name = "second", grid = 2 }, function() return { line(0, "MOV", { 2 }) } end)
  local list = harness.write("kernelslist.g", "MemcpyHtoD,0x00007fb50a800000,8000000\nkernel-1.traceg\nkernel-2.traceg\nkernel-1.traceg\n")
  harness.equal(kernels_of(list), "first second first", "kernels")
end)

-- Of what the recorded program did beside its kernels ------------------------------------------------------------------

harness.test("a copy from the host leaves its lines in an L2 that keeps them", function()
  write("loads-1", { name = "loads" }, function() return { line(0, "LDG.E", { 4 }, { 2 }, "4 1 0x7f1000000100 4") } end)
  local function misses(lines, keeps)
    local r = run(harness.write("copies.g", lines .. "loads-1.traceg\n"), { set = { ["l2[*].host_copies"] = keeps } })
    return r["l2[*].read_misses"]
  end
  local none = misses("", true)
  harness.equal(misses("MemcpyHtoD,0x7f1000000100,128\n", true), none - 1, "misses behind a copy of the line")
  harness.equal(misses("MemcpyHtoD,0x7f1000000080,128\n", true), none, "misses behind a copy of the line before")
  harness.equal(misses("MemcpyHtoD,0x7f1000000100,128\n", false), none, "misses where the L2 keeps no copies")
end)

--- A list of kernels of one long warp each, by the streams that they were launched on, and its launches with `together` in flight.
local function launches_on(streams, together, options)
  local names = {}
  for i, stream in ipairs(streams) do
    names[i] = ("stream-%d.traceg"):format(i)
    write(("stream-%d"):format(i), { name = "k" .. i, stream = stream }, function() return chain("FFMA", 200 + 40 * i, true) end)
  end
  local all = { size = { together = together } }
  for name, value in pairs(options or {}) do all[name] = value end
  return run(harness.write("streams.g", table.concat(names, "\n") .. "\n"), all).launches
end

local function ends(launch) return launch.start_cycle + launch.cycles end

harness.test("kernels of several streams run side by side, those of one in their order", function()
  local first, second, third, last = table.unpack(launches_on({ 7, 93824992236885, 7, 8 }, 4))
  harness.equal(second.start_cycle, first.start_cycle, "where the kernel of the second stream begins")
  harness.equal(last.start_cycle, first.start_cycle, "where the kernel of the third stream begins")
  assert(third.start_cycle >= ends(first) and third.start_cycle < ends(second), "the first stream goes on when its kernel has ended")
end)

harness.test("the default stream waits for all, and all wait for it", function()
  local first, second, default, behind = table.unpack(launches_on({ 1, 2, 0, 1 }, 4))
  harness.equal(second.start_cycle, first.start_cycle, "where the kernel of the second stream begins")
  assert(default.start_cycle >= ends(second) and ends(second) > ends(first), "the default stream's begins behind both")
  assert(behind.start_cycle >= ends(default), "the next one of the first stream begins behind that")
end)

harness.test("no more kernels are in flight than are asked for, one at a time unless they are", function()
  local one = launches_on({ 1, 2, 3 }, nil)
  assert(one[2].start_cycle >= ends(one[1]) and one[3].start_cycle >= ends(one[2]), "one at a time")
  local two = launches_on({ 1, 2, 3 }, 2)
  harness.equal(two[2].start_cycle, two[1].start_cycle, "where the second of two at a time begins")
  assert(two[3].start_cycle >= ends(two[1]) and two[3].start_cycle < ends(two[2]), "the third begins when the first has ended")
  local _, problem = pcall(launches_on, { 1 }, 0)
  harness.contains(tostring(problem), ": together: expected 1 kernel or more, got 0")
end)

harness.test("kernels of several streams obey the law: tick orders, threads, checkpoints, resumes", function()
  launches_on({ 1, 2, 1, 3, 0, 2 }, 3)
  local status, output = harness.run("check", "gtx480", harness.folder() .. "/streams.g", "--size", "together=3", "--out",
    harness.folder() .. "/check_streams", "--checkpoints", "3")
  harness.equal(status, 0, "exit status of check: " .. output)
end)

harness.test("the records of a kernel in flight are not released", function()
  local path = write("flies", {}, function() return chain("FFMA", 40, true) end)
  local w, problem = ww.workload "flies" { ptx = false, sizes = { small = {} } }, nil
  function w:run(gpu)
    local kernel = gpu:load(path).recorded
    gpu:launch_async { { kernel = kernel, grid = 1, block = 32, args = {} } }
    problem = select(2, pcall(kernel.release, kernel))
    gpu:wait()
    kernel:release()
  end
  ww.run { config = "gtx480", workload = w, out = false }
  harness.contains(tostring(problem), "release: expected a kernel that has ended, got recorded, which is in flight")
end)

harness.test("a recorded kernel has one size, by whichever name it is asked for", function()
  local path = write("sizes", {}, function() return { line(0, "MOV", { 2 }) } end)
  for _, size in ipairs { "small", "medium", "large", "recorded" } do harness.equal(run(path, { size = size }).size, "recorded", size) end
  local _, problem = pcall(run, path, { size = "huge" })
  harness.contains(tostring(problem), "size: no size of workload sizes matches 'huge'; available: large, medium, recorded, small")
  local status, output = harness.run("scripts/policies.lua", "--workloads", path, "--policies", "gto")
  harness.equal(status, 0, "exit status of scripts/policies: " .. output)
end)

harness.test("a list is called as the folder around its traces, and may name kernels elsewhere", function()
  local kernel = write("elsewhere-1", {}, function() return { line(0, "MOV", { 2 }) } end)
  os.execute(("mkdir -p '%s/bfs/traces'"):format(harness.folder()))
  local list = harness.write("bfs/traces/kernelslist.g", kernel .. "\r\n")
  local status, output = harness.run("run", "gtx480", list, "--out", harness.folder() .. "/bfs/out")
  harness.equal(status, 0, "exit status with " .. output)
  harness.contains(output, "gtx480, bfs recorded")
end)

harness.test("a kernel that was released is launched no more, and can be loaded again", function()
  local path = write("released", { grid = 3 }, function() return { line(0, "MOV", { 2 }) } end)
  local w = ww.workload "releases" { ptx = false, sizes = { small = {} } }
  local problem, grid
  function w:run(gpu)
    local kernel = gpu:load(path).recorded
    grid = kernel:info().grid[1]
    kernel:release()
    problem = select(2, pcall(gpu.launch, gpu, kernel, { grid = 3, block = 32, args = {} }))
    gpu:launch(gpu:load(path).recorded, { grid = 3, block = 32, args = {} })
  end
  ww.run { config = "gtx480", workload = w, out = false }
  harness.equal(grid, 3, "the recorded grid")
  harness.contains(tostring(problem), "launch: kernel recorded was released", path)
end)

harness.test("another grid or block than the recorded one is refused", function()
  local path = write("extents", { grid = 2 }, function() return { line(0, "MOV", { 2 }) } end)
  for wrong, launch in pairs {
    ["grid: expected (2, 1, 1) (as it was recorded), got (3, 1, 1)"] = { grid = 3, block = 32, args = {} },
    ["block: expected (32, 1, 1) (as it was recorded), got (64, 1, 1)"] = { grid = 2, block = 64, args = {} },
  } do
    local w = ww.workload "extents" { ptx = false, sizes = { small = {} } }
    function w:run(gpu) gpu:launch(gpu:load(path).recorded, launch) end
    local _, problem = pcall(ww.run, { config = "gtx480", workload = w, out = false })
    harness.contains(tostring(problem), wrong)
  end
end)

harness.test("opcodes that are not known take the time of a move, and are named", function()
  local path = write("unknown", {}, function() return { line(0, "FROB.E", { 2 }), line(16, "WIBBLE", { 3 }), line(32, "FROB", { 3 }) } end)
  local status, output = harness.run("run", "gtx480", path, "--out", harness.folder() .. "/unknown")
  harness.equal(status, 0, "exit status")
  harness.contains(output, "opcodes that are not known take the time of a move: FROB WIBBLE")
end)

-- What is refused -----------------------------------------------------------------------------------------------------

local good = recording.kernel({}, function() return { line(0, "MOV", { 2 }), line(16, "LDG.E", { 4 }, { 2 }, "4 1 0x7f1000000000 4") } end)

--- The text with one piece in the place of another.
local function changed(from, to)
  local first, last = good:find(from, 1, true)
  assert(first, from)
  return good:sub(1, first - 1) .. to .. good:sub(last + 1)
end

harness.test("what is wrong with a trace is told with its line", function()
  for wanted, text in pairs {
    ["expected a trace, got an empty file"] = "",
    [":3: expected a grid, as (2,1,1), got '(0,1,1)'"] = changed("(1,1,1)", "(0,1,1)"),
    [":5: expected bytes of shared memory, got '-4'"] = changed("-shmem = 0", "-shmem = -4"),
    ["expected the lanes of an instruction, got 'fffffffz'"] = changed("ffffffff", "fffffffz"),
    ["expected lanes of the warp's threads (0000ffff), got ffffffff"] = changed("(32,1,1)", "(16,1,1)"),
    ["expected the lanes of an instruction, got '1ffffffffffffffff'"] = changed("ffffffff", "1ffffffffffffffff"),
    ["expected lines of less than 1048576 bytes, got a longer one"] = good .. ("x"):rep(1 << 20),
    ["expected a register, R0 to R255, got 'R256'"] = changed("1 R2 MOV", "1 R256 MOV"),
    ["expected how many registers are written, got '9'"] = changed("1 R2 MOV", "9 R2 MOV"),
    ["expected an opcode, got the end of the line"] = changed("R2 MOV 0 0", "R2"),
    ["expected an opcode, got 'MOV?V'"] = changed("R2 MOV 0 0", "R2 MOV\0V 0 0"),
    ["expected how addresses are compressed (0, 1 or 2), got '7'"] = changed("4 1 0x7f1000000000 4", "4 7 0x7f1000000000 4"),
    ["expected a step for each active lane, got the end of the line"] = changed("4 1 0x7f1000000000 4", "4 2 0x7f1000000000 4"),
    ["expected an access of 1, 2, 4, 8 or 16 bytes, got one of 0"] = changed("4 1 0x7f1000000000 4", "0"),
    ["expected an access of 1, 2, 4, 8 or 16 bytes, got one of 3"] = changed("4 1 0x7f1000000000 4", "3 1 0x7f1000000000 4"),
    ["expected the end of the line, got '17'"] = changed("4 1 0x7f1000000000 4", "4 1 0x7f1000000000 4 17"),
    ["expected as many instructions as are announced, got the end of the line"] = changed("insts = 3", "insts = 9"):match "^(.*)\n#END_TB",
    ["expected EXIT as a warp's last instruction, got 'LDG.E'"] = changed("insts = 3", "insts = 2"),
    ["expected one instruction or more, got '0'"] = changed("insts = 3", "insts = 0"),
    ["expected a warp of the thread block, got '1'"] = changed("warp = 0", "warp = 1"),
    ["expected a thread block of the grid, as 0,0,0, got '1,0,0'"] = changed("thread block = 0", "thread block = 1"),
    ["expected all warps of the grid, got none for warp 0 of thread block 1,0,0"] = changed("(1,1,1)", "(2,1,1)"),
    ["expected a trace of all 1000000000 thread blocks of the grid, got a shorter one"] = changed("(1,1,1)", "(1000000000,1,1)"),
    ["expected up to 1024 threads a block, got 4096"] = changed("(32,1,1)", "(4096,1,1)"),
    ["expected a trace whose warps have been sorted (kernel-N.traceg, made by post-traces-processing), got 'threadblock_x'"] =
      changed("format = PC", "format = threadblock_x threadblock_y threadblock_z warpid_tb PC"),
    ["expected a line of the head, as -grid dim = (1,1,1), got 'hello'"] = "hello\n",
    ["expected -kernel name, -grid dim and -block dim before the first thread block, got none"] = changed("-kernel name = recorded", "-kernel = 1"),
  } do
    local path = harness.write("wrong.traceg", text)
    local status, output = harness.run("run", "gtx480", path, "--out", harness.folder() .. "/wrong")
    harness.equal(status, 2, "exit status with " .. output)
    harness.contains(output, path, wanted)
  end
end)

harness.test("a trace that is cut off anywhere is refused, or whole", function()
  for cut = 1, #good - 1, 7 do
    local path = harness.write("cut.traceg", good:sub(1, cut))
    local w = ww.workload "cut" { ptx = false, sizes = { small = {} } }
    function w:run(gpu) gpu:load(path) end
    local fine, problem = pcall(ww.run, { config = "gtx480", workload = w, out = false })
    if not fine then harness.contains(tostring(problem), "cut.traceg", "expected") end
  end
end)

-- Packed files -------------------------------------------------------------------------------------------------------

--- PATH.xz, packed from PATH; PATH is gone.
local function packed(path)
  assert(os.execute(("xz -f '%s'"):format(path)))
  return path .. ".xz"
end

harness.test("a kernel that xz has packed runs as its text does", function()
  local text = varied "text"
  local same = packed(harness.write("same.traceg", harness.read(text)))
  local r, expected = run(same), run(text)
  harness.equal(r.workload, "same", "the workload's name")
  for _, name in ipairs { "run.cycles", "sm[*].warp_instructions", "l2[*].accesses", "mc[*].reads" } do
    harness.equal(r[name], expected[name], name)
  end
end)

harness.test("a run of a packed kernel goes on from a checkpoint", function()
  local out, resumed = harness.folder() .. "/goes_on", harness.folder() .. "/went_on"
  local status, output = harness.run("run", "gtx480", packed(varied "goes_on"), "--out", out, "--checkpoint-at", "500")
  harness.equal(status, 0, "exit status: " .. output)
  status, output = harness.run("run", "--resume", oracle.checkpoints(out)[1].path, "--out", resumed)
  harness.equal(status, 0, "exit status of the resume: " .. output)
  harness.same_text(harness.read(resumed .. "/stats.txt"), harness.read(out .. "/stats.txt"), "statistics")
end)

harness.test("a list takes a kernel packed or not, whichever of the two it names", function()
  local function kernel(name) return write(name, { name = name }, function() return { line(0, "MOV", { 2 }) } end) end
  kernel "unpacked-1"
  packed(kernel "packed-1")
  packed(kernel "packed-2-ctx_0x55d0")
  local list = harness.write("packed.g", "unpacked-1.traceg.xz\npacked-1.traceg\npacked-2-ctx_0x55d0.traceg.xz\n")
  harness.equal(kernels_of(list), "unpacked-1 packed-1 packed-2-ctx_0x55d0", "kernels")
end)

harness.test("a packed trace that is cut off or damaged anywhere is refused by its name", function()
  local whole = harness.read(packed(varied "damaged"))
  local function refused(what, bytes)
    local path = harness.write("wrong.traceg.xz", bytes)
    local fine, problem = pcall(run, path)
    assert(not fine, what)
    harness.contains(tostring(problem), "wrong.traceg.xz")
    return tostring(problem)
  end
  for cut = 1, #whole - 1, #whole // 12 do
    local problem = refused(("cut off behind %d bytes"):format(cut), whole:sub(1, cut))
    if cut > 6 then harness.contains(problem, "cannot unpack it: the file is cut off") end
  end
  for at = 8, #whole, #whole // 12 do
    refused(("byte %d changed"):format(at), whole:sub(1, at - 1) .. string.char(whole:byte(at) ~ 0x10) .. whole:sub(at + 1))
  end
  refused("more behind it", whole .. "more of it")
end)

harness.test("a packed trace is refused when its grid is larger than any such file could have", function()
  local path = packed(harness.write("lies.traceg", changed("(1,1,1)", "(1000000000,1,1)")))
  local _, problem = pcall(run, path)
  harness.contains(tostring(problem), "expected a trace of all 1000000000 thread blocks of the grid, got a shorter one")
end)

harness.test("lists name what is missing, and memcheck is refused", function()
  write("copied-1", {}, function() return { line(0, "MOV", { 2 }) } end)
  for wanted, text in pairs {
    [":1: no file matches"] = "kernel-99.traceg\n",
    [":1: expected a kernel (kernel-1.traceg) or a copy (MemcpyHtoD,ADDRESS,BYTES), got 'kernel-1.trace'"] = "kernel-1.trace\n",
    ["expected kernels (kernel-1.traceg), got none"] = "MemcpyHtoD,0x0,4\n",
    [":1: expected a kernel (kernel-1.traceg) or a copy (MemcpyHtoD,ADDRESS,BYTES), got 'MemcpyHtoD,0x0,-4'"] = "MemcpyHtoD,0x0,-4\n",
    ["recorded_copy: bytes: expected 0 to 1099511627520 behind 0x100, got 1099511627776"] =
      "MemcpyHtoD,0x100,1099511627776\ncopied-1.traceg\n",
  } do
    local status, output = harness.run("run", "gtx480", harness.write("list.g", text), "--out", harness.folder() .. "/list")
    harness.equal(status, 2, "exit status")
    harness.contains(output, wanted)
  end
  local path = harness.write("good.traceg", good)
  local status, output = harness.run("run", "gtx480", path, "--memcheck", "--out", harness.folder() .. "/memcheck")
  harness.equal(status, 2, "exit status")
  harness.contains(output, "expected a run without memcheck")
end)

harness.finish()
