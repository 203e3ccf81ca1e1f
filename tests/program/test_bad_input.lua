-- What a user can get wrong ends with exit status 2 and a message that says what, where, and what would be legal; a
-- wrong result ends with exit status 1.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

--- A test: the program with these arguments fails with `status` and says all of `texts`.
local function fails(name, status, args, texts)
  harness.test(name, function()
    local got, output = harness.run(table.unpack(args))
    harness.equal(got, status, "exit status, output " .. output)
    harness.contains(output, "warpwright: ", table.unpack(texts))
    assert(not output:find("stack traceback", 1, true), "a traceback: " .. output)
  end)
end

-- The command line ---------------------------------------------------------------------------------------------------

fails("no such option", 2, { "run", "gtx480", "vecadd", "--sise", "small" }, { "'--sise'", "--size", "--max-cycles" })
fails("no such top-level option", 2, { "--verbose" }, { "'--verbose'", "--describe" })
fails("an option without its value", 2, { "run", "gtx480", "vecadd", "--size" }, { "--size: expected a value, got nothing" })
fails("an option in place of a value", 2, { "run", "gtx480", "vecadd", "--histograms", "--out", "x" },
  { "--histograms: expected a value, got the option --out" })
fails("a range of a clock with one unit", 2, { "run", "gtx480", "vecadd", "--set", "clock.dram=924MHz, 600 to 1000MHz", "--out", "x" },
  { "clock.dram: expected a range with a unit at both ends", "600 to 1000MHz" })
fails("no workload", 2, { "run", "gtx480" }, { "CONFIG and WORKLOAD" })
fails("a size without its option", 2, { "run", "gtx480", "vecadd", "small" },
  { "expected CONFIG and WORKLOAD, got a third word: 'small'; --size and --policy name" })
fails("no such config", 2, { "run", "gtx48", "vecadd" }, { "config: no config matches 'gtx48'", "gtx480" })
fails("no such workload", 2, { "run", "gtx480", "vecad" }, { "workload: no workload matches 'vecad'", "kmeans", "vecadd" })
fails("no such policy", 2, { "run", "gtx480", "vecadd", "--policy", "rr" }, { "policy: no policy matches 'rr'", "gto, ", ", lrr" })
fails("a program as a workload", 2, { "run", "gtx480", arg[-1] },
  { arg[-1] .. ": expected a Lua file that returns a workload, got a program; a CUDA program is run by: warpwright cuda" })
for _, case in ipairs { { "config", "./", "vecadd" }, { "workload", "gtx480", "./" }, { "policy", "gtx480", "vecadd", "--policy", "./" } } do
  fails("a folder as a " .. case[1], 2, { "run", table.unpack(case, 2) }, { case[1] .. ": expected a file, got './', which is none" })
end
fails("no such size", 2, { "run", "gtx480", "vecadd", "--size", "tiny" }, { "'tiny'", "large, medium, small" })
fails("no such parameter of a size", 2, { "run", "gtx480", "vecadd", "--size", "small,m=4" }, { "'m'", "Available: n, seed" })
fails("a parameter of a size that is no number", 2, { "run", "gtx480", "vecadd", "--size", "small,n=x" }, { "size of workload vecadd: n: expected a whole number, got 'x'" })
fails("an empty size", 2, { "run", "gtx480", "vecadd", "--size", "" }, { "size: expected one of workload vecadd, or NAME=VALUE, got ''" })
fails("no such class", 2, { "--describe", "L3" }, { "'L3'", "L1, L1Trace, L2" })
fails("two classes to describe", 2, { "--describe", "L1", "L2" }, { "--describe: expected one CLASS or FILE.lua, got a second: 'L2'" })
fails("two checkpoints to inspect", 2, { "inspect", "a.ckpt", "b.ckpt" }, { "inspect: expected one checkpoint, got a second: 'b.ckpt'" })
fails("a mistake in drawing", 2, { "draw" }, { "draw: expected CONFIG, got nothing; see warpwright draw --help" })
fails("no such script", 2, { "nothere.lua" }, { "nothere.lua" })
fails("a misspelt override", 2, { "run", "gtx480", "vecadd", "--set", "sm[*].l1d.sise=4KiB" },
  { "'sm[*].l1d.sise'", "sm[*].l1d.size" })
fails("an override of no known unit", 2, { "run", "gtx480", "vecadd", "--set", "sm[*].l1d.size=4KB" },
  { "sm[0].l1d.size", "'4KB'", "16KiB" })
fails("an override out of bounds", 2, { "run", "gtx480", "vecadd", "--set", "sm[2].warps=65" },
  { "sm[2].warps", "65", "1 to 64" })
fails("max-cycles that is no number", 2, { "run", "gtx480", "vecadd", "--max-cycles", "many" }, { "'many'" })
fails("no such tick order", 2, { "run", "gtx480", "vecadd", "--size", "small", "--order", "random" },
  { "path, reversed, restless, shuffled:SEED" })
fails("an output folder that cannot be", 2, { "run", "gtx480", "vecadd", "--size", "small", "--out", "/proc/x" },
  { "/proc/x" })

-- Machines -----------------------------------------------------------------------------------------------------------

--- A machine of one SM and one L1 without memory; `changes` replaces texts in its description.
local function machine_with(changes)
  local text = [[
local ww = require "warpwright"
return ww.machine("bad", function(m)
  m:clocks { core = "700MHz" }
  local dispatcher = m:Dispatcher "dispatcher" { sms = 1 }
  local sm = m:SM "sm" { warps = 48 }
  local l1 = m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
  m:wire(dispatcher.sm[0], sm.dispatch)
  m:wire(sm.lsu.mem, l1.cpu)
end)
]]
  for _, change in ipairs(changes) do
    local first, last = text:find(change[1], 1, true)
    text = text:sub(1, first - 1) .. change[2] .. text:sub(last + 1)
  end
  return harness.write("machine.lua", text)
end

local function bad_machine(name, changes, texts)
  harness.test(name, function()
    local status, output = harness.run("run", machine_with(changes), "vecadd", "--size", "small")
    harness.equal(status, 2, "exit status, output " .. output)
    harness.contains(output, "warpwright: error: ", table.unpack(texts))
  end)
end

bad_machine("a misspelt parameter", { { "warps = 48", "warp = 48" } },
  { "machine.lua:5: ", "sm: no parameter of SM matches 'warp'; did you mean warps? Available: warps, schedulers" })
bad_machine("a parameter with two letters exchanged", { { "mshrs = 32", "mshrs = 32, msrhs = 8" } },
  { "machine.lua:6: ", "sm.l1d: no parameter of L1 matches 'msrhs'; did you mean mshrs? Available: size, ways" })
bad_machine("a table as a parameter's value", { { '"16KiB"', "{}" } },
  { "machine.lua:6: ", "sm.l1d.size: expected a number, a text, true or false, got a table" })
bad_machine("a table as a frequency", { { '"700MHz"', "{}" } },
  { "machine.lua:3: ", 'clock.core: expected a frequency ("700MHz", "1.4GHz"), got a table' })
bad_machine("a required parameter left out", { { "mshrs = 32", "" } }, { "machine.lua:6: ", "sm.l1d.mshrs: expected a value" })
bad_machine("a port wired twice", { { "l1.cpu)", "l1.cpu) m:wire(sm.lsu.mem, l1.cpu)" } },
  { "machine.lua:8: ", "sm.lsu.mem: expected one wire, got a second" })
bad_machine("a dangling port", {}, { "sm.l1d.mem: expected a wire, got none" })
harness.test("a GPU that cannot be made says why each time it is asked for, by whatever needs it", function()
  local sim = require("warpwright").build(machine_with {})
  for _, method in ipairs { "gpu", "gpu", "checkpoint", "result" } do
    local made, problem = pcall(sim[method], sim, harness.folder() .. "/none.ckpt")
    harness.equal(made, false, method)
    harness.contains(problem, "sm.l1d.mem: expected a wire, got none")
  end
  sim:close()
end)

bad_machine("ports that speak different protocols", { { "sm.dispatch", "l1.cpu" } },
  { "machine.lua:7: ", "wire dispatcher.sm[0] -> sm.l1d.cpu: expected ports of one protocol, got cta and memory" })
bad_machine("two requesters", { { "l1.cpu", "l1.mem" } }, { "machine.lua:8: ", "expected a requester and a responder, got two requesters" })
bad_machine("no such port", { { "lsu.mem", "lsu.memory" } }, { "machine.lua:8: ", "sm.lsu: no member of LSU matches 'memory'", "mem" })
bad_machine("no such port in an array", { { "sm[0]", "sm[1]" } }, { "machine.lua:7: ", "dispatcher.sm: expected a port from 0 to 0, got 1" })
bad_machine("no such class", { { "m:L1", "m:L3" } }, { "machine.lua:6: ", "m: no method or class matches 'L3'", "L1, L1Trace, L2" })
bad_machine("no such clock", { { "warps = 48", 'clock = "sm"' } }, { "machine.lua:5: ", "sm: no clock of machine bad matches 'sm'; available: core\n" })
bad_machine("a path used twice", { { 'm:L1 (sm, "l1d")', 'm:L1 "sm"' } }, { "machine.lua:6: ", "sm: expected a path of its own" })
bad_machine("a constructor without its table", { { "m:wire(dis", 'm:SM "other" m:wire(dis' } },
  { "machine.lua:7: other: expected a table of parameters" })
bad_machine("a syntax error", { { "function(m)", "function(m" } }, { "machine.lua:3: " })
bad_machine("a Lua error", { { "clocks {", "clocks { icnt = nil .. 'MHz'," } },
  { "machine.lua:3: attempt to concatenate a nil value" })

-- Kernels and host programs ------------------------------------------------------------------------------------------

local ptx_header = ".version 6.0\n.target sm_20\n.address_size 64\n"

local kernels = ptx_header .. [[
.visible .entry store_at(.param .u64 address)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    .shared .align 4 .b8 tile[16384];
    ld.param.u64 %d1, [address];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d3, %d1, %d2;
    st.global.u32 [%d3], %r1;
    ret;
}
.visible .entry never_ends()
{
FOREVER:
    bra FOREVER;
}
]]

--- Runs a workload whose host program is `body` on a GTX 480 of two SMs.
local function run_host_program(body, ptx, ...)
  if ptx then harness.write("kernels.ptx", ptx) end
  local path = harness.write("host.lua", ([[
local ww = require "warpwright"
local w = ww.workload "host" { ptx = "kernels.ptx", sizes = { small = {} } }
function w:run(gpu)
%s
end
return w
]]):format(body))
  return harness.run("run", "gtx480", path, "--set", "sms=2", "--out", harness.folder() .. "/out", ...)
end

local function bad_host_program(name, body, texts, options)
  options = options or {}
  harness.test(name, function()
    local status, output = run_host_program(body, options.ptx or kernels, table.unpack(options.args or {}))
    harness.equal(status, options.status or 2, "exit status, output " .. output)
    harness.contains(output, "warpwright: ", table.unpack(texts))
  end)
end

harness.test("a missing PTX file", function()
  local status, output = run_host_program("", nil)
  harness.equal(status, 2, "exit status, output " .. output)
  harness.contains(output, "workload host", "no file", "kernels.ptx")
end)

harness.test("numbers become what the parameters' types want", function()
  local status, output = run_host_program([[
  local out = gpu:alloc(16)
  gpu:launch(self.kernels.numbers, { grid = 1, block = 1, args = { out, 3, 7.0, 2.5 } })
  self:check_that("a Lua integer for a float", gpu:read("f32", out) == 3.0)
  self:check_that("a whole Lua float for an integer", gpu:read("u32", out + 4) == 7)
  self:check_that("a Lua float for a double", gpu:read("f64", out + 8) == 2.5)]], ptx_header .. [[
.visible .entry numbers(.param .u64 out, .param .f32 f, .param .u32 i, .param .f64 d)
{
    .reg .b64 %p; .reg .f32 %f; .reg .b32 %i; .reg .f64 %d;
    ld.param.u64 %p, [out]; ld.param.f32 %f, [f]; ld.param.u32 %i, [i]; ld.param.f64 %d, [d];
    st.global.f32 [%p], %f; st.global.u32 [%p+4], %i; st.global.f64 [%p+8], %d;
    ret;
}]])
  harness.equal(status, 0, "exit status, output " .. output)
end)

harness.test("a host program that has lost functions of Lua keeps its results", function()
  local launch <const> = "gpu:launch(self.kernels.store_at, { grid = 1, block = 32, args = { gpu:alloc(128) } })\n"
  for _, lost in ipairs { "ipairs = nil", "string.format = nil", "table.sort = 3", "type = 'f32' next, rawset = nil", "os = nil" } do
    local status, output = run_host_program(launch .. lost, kernels)
    harness.equal(status, 0, lost .. ": " .. output)
    status, output = run_host_program(("%s%s error 'and more'"):format(launch, lost), kernels)
    harness.equal(status, 2, lost .. ": " .. output)
    harness.contains(output, "host.lua:5: and more")
    harness.contains(harness.read(harness.folder() .. "/out/provenance.txt"), "and more")
  end
end)

bad_host_program("a fraction for an integer parameter",
  "gpu:launch(self.kernels.store_at, { grid = 1, block = 1, args = { gpu:alloc(64) + 0.5 } })",
  { "kernel store_at, argument address", "expected an integer, got " })

local with_an_empty_parameter = ptx_header .. ".visible .entry k(.param .b8 nothing[0]) {\n ret;\n}\n"
for _, value in ipairs { "0", "-1", "0.0" } do
  bad_host_program(value .. " for a parameter without bytes",
    ("gpu:launch(self.kernels.k, { grid = 1, block = 1, args = { %s } })"):format(value),
    { "host.lua:4: ", "kernel k, argument nothing: expected ", " of 0 bytes, got " }, { ptx = with_an_empty_parameter })
end
harness.test("an empty array for a parameter without bytes", function()
  local status, output = run_host_program(
    "gpu:launch(self.kernels.k, { grid = 1, block = 1, args = { ww.array('u8', 0) } })", with_an_empty_parameter)
  harness.equal(status, 0, "exit status, output " .. output)
end)
bad_host_program("an unsupported opcode", "", { "kernels.ptx:5: ", "frobnicate" },
  { ptx = ptx_header .. ".visible .entry k() { .reg .b32 %r<3>;\n frobnicate.b32 %r1, %r2;\n ret;\n}\n" })
local with_a_bad_kernel = kernels .. ".visible .entry k() { .reg .b32 %r<3>;\n frobnicate.b32 %r1, %r2;\n ret;\n}\n"
bad_host_program("the launch of a kernel with an unsupported opcode", "gpu:launch(self.kernels.k, { grid = 1, block = 32 })",
  { "host.lua:4: ", "kernel k cannot be launched: ", "kernels.ptx:22: ", "frobnicate" }, { ptx = with_a_bad_kernel })
--- Runs vecadd with an output folder in which no file can be written, as on a full disk, and `folder` for temporary files.
local function run_on_a_full_disk(folder, ...)
  local out = harness.folder() .. "/full"
  os.execute(("mkdir -p %s && ln -sf /dev/full %s/stats.txt"):format(out, out))
  return harness.run_with("TMPDIR=" .. folder, "run", "gtx480", "vecadd", "--size", "small,n=1024", "--set", "sms=2", "--out", out, ...)
end
harness.test("results that cannot be written go to the folder for temporary files", function()
  local folder = harness.folder() .. "/temporary"
  os.execute("mkdir -p " .. folder .. "/warpwright-1")
  local status, output = run_on_a_full_disk(folder)
  harness.equal(status, 2, "exit status, output " .. output)
  harness.contains(output, "stats.txt: No space left on device", "the results are not lost: " .. folder .. "/warpwright-2")
  harness.contains(harness.read(folder .. "/warpwright-2/stats.txt"), "run.cycles")
  harness.contains(harness.read(folder .. "/warpwright-2/provenance.txt"), "status")
end)
harness.test("results and a trace that cannot be written are both told", function()
  local folder = harness.folder() .. "/temporary_of_traced"
  os.execute("mkdir -p " .. folder)
  local status, output = run_on_a_full_disk(folder, "--trace", "sm[0]", "--trace-file", "/dev/full")
  harness.equal(status, 2, "exit status, output " .. output)
  harness.contains(output, "stats.txt: No space left on device", "the results are not lost: " .. folder .. "/warpwright-1",
    "trace: /dev/full: expected a file that can be written, got: No space left on device")
end)
harness.test("where results cannot be written, the message says where their trace is", function()
  local folder = harness.folder() .. "/temporary_beside_trace"
  os.execute("mkdir -p " .. folder)
  local _, output = run_on_a_full_disk(folder, "--trace", "sm[0]")
  local trace = harness.folder() .. "/full/trace.txt"
  harness.contains(output, ("the results are not lost: %s/warpwright-1; the trace is in %s"):format(folder, trace))
  harness.contains(harness.read(trace), "issue")
end)
harness.test("results that can be written nowhere go to stdout", function()
  local status, output = run_on_a_full_disk(harness.folder() .. "/none")
  harness.equal(status, 2, "exit status, output " .. output)
  harness.contains(output, "run.cycles", "stats.txt was written to stdout")
end)

harness.test("a kernel with an unsupported opcode that is not launched", function()
  local status, output = run_host_program(
    "gpu:launch(self.kernels.store_at, { grid = 1, block = 32, args = { gpu:alloc(128) } })", with_a_bad_kernel)
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(output, "warpwright: kernel k cannot be launched: ", "kernels.ptx:22: ", "frobnicate")
end)
bad_host_program("a defect in the PTX", "", { "kernels.ptx:6: ", "'}'" }, { ptx = ptx_header .. ".visible .entry k() {\n ret\n}\n" })
bad_host_program("a kernel that writes out of bounds",
  "local a = gpu:alloc(256) gpu:launch(self.kernels.store_at, { grid = 1, block = 96, args = { a } })",
  { "host.lua:4: ", "store_at", "line 13", "CTA (0, 0, 0)", "thread (64, 0, 0)", "0xc0000100" })
bad_host_program("an error whose text has a NUL", [[error("a\0b")]], { [[host.lua:4: a\0b]] })
bad_host_program("a CTA of too many threads",
  "gpu:launch(self.kernels.store_at, { grid = 1, block = { 32, 33 }, args = { 0 } })", { "host.lua:4: ", "store_at", "1056", "1024" })
bad_host_program("a CTA of more shared memory than an SM has",
  "gpu:launch(self.kernels.store_at, { grid = 1, block = 32, shared = 40000, args = { 0 } })",
  { "host.lua:4: ", "store_at", "shared", "sm[0]", "49152" })
bad_host_program("a CTA of more registers than an SM has",
  "gpu:launch(self.kernels.store_at, { grid = 1, block = 1024, registers = 64, args = { 0 } })",
  { "host.lua:4: ", "store_at", "registers", "sm[0]", "32768" })
bad_host_program("a grid of no CTAs", "gpu:launch(self.kernels.store_at, { grid = 0, block = 32, args = { 0 } })",
  { "host.lua:4: ", "store_at", "grid.x: expected a whole number from 1 on, got 0" })
bad_host_program("an argument too few", "gpu:launch(self.kernels.store_at, { grid = 1, block = 32 })",
  { "host.lua:4: ", "kernel store_at: args: expected 1 (", "got 0" })
bad_host_program("no such kernel", "gpu:launch(self.kernels.stor_at, {})",
  { "host.lua:4: ", "no kernel matches 'stor_at'", "store_at, never_ends" })
bad_host_program("a kernel that never ends", "gpu:launch(self.kernels.never_ends, { grid = 1, block = 32 })",
  { "host.lua:4: ", "never_ends has not ended by cycle 100", "max_cycles", "0 of 1 CTAs" }, { args = { "--max-cycles", "100000" } })
bad_host_program("a read outside of allocations", "gpu:download('i32', gpu:alloc(256), 65)",
  { "host.lua:4: ", "260 bytes at 0xc0000000", "4 bytes past the end of the allocation of 256 bytes at 0xc0000000, made by call 2" })
bad_host_program("more memory than there is", "gpu:alloc(2^20)", { "host.lua:4: ", "1048576 bytes do not fit" },
  { args = { "--memory", "64KiB" } })
bad_host_program("a wrong result", "self:check('sum', ww.array('i32', 3):set(1, 5), ww.array('i32', 3))",
  { "verification failed: host: sum: element 1: expected 0, got 5 (1 of 3 differ)" }, { status = 1 })
harness.test("an error of a host program behind a launch leaves the statistics so far, one before it none", function()
  local out <const> = harness.folder() .. "/out"
  local function stats_of(body)
    os.remove(out .. "/stats.txt")
    local status, output = run_host_program(body, kernels)
    harness.equal(status, 2, output)
    harness.contains(output, "boom")
    return core.is_file(out .. "/stats.txt") and harness.read(out .. "/stats.txt")
  end
  harness.equal(stats_of 'error "boom"', false)
  local cycles = stats_of([[
gpu:launch(self.kernels.store_at, { grid = 1, block = 32, args = { gpu:alloc(256) } })
error "boom"]]):match "run.cycles +(%d+)"
  assert(tonumber(cycles) > 0, cycles)
  harness.contains(harness.read(out .. "/provenance.txt"), "host.lua:5: boom")
end)

bad_host_program("an error that is a table", "error({ 'x' })", { "host.lua:4: error: expected a text, got a table" })
for _, numbers in ipairs { "5, math.huge", "-math.huge, math.huge", "math.huge, 5",
  "ww.f32 { 5 }, ww.f32 { math.huge }", "ww.f32 { math.huge }, ww.f32 { 5 }" } do
  bad_host_program("an infinity for another number: " .. numbers, ("self:check('all', %s, { abs = 1, rel = 0.1 })"):format(numbers),
    { "verification failed: host: all: element 0: expected " }, { status = 1 })
end
bad_host_program("a false claim", "self:check_that('pigs fly', false)", { "verification failed: host: pigs fly: expected true, got false" },
  { status = 1 })

-- A script can go on after an error of its own.
harness.test("errors can be caught", function()
  local status, output = harness.run(harness.write("script.lua", [[
local ww = require "warpwright"
local ok, problem = pcall(ww.run, { config = "gtx480", workload = "vecadd", size = "small", set = { ["sm[*].warp"] = 4 } })
print(ok, problem)
local r = ww.run { config = "gtx480", workload = "vecadd", size = "small,n=1024", out = false }
print("went on", r.cycles > 0)
]]))
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(output, "script.lua:2: set: no object or parameter matches 'sm[*].warp' on machine gtx480", "sm[*].warps", "went on\ttrue")
end)

harness.finish()
