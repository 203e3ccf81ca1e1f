-- Faults of kernels: what their messages say, and launches that return them.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

-- touch: each thread loads the word at `p`, of its CTA `who` alone. stop: traps, as CTA 3. wait: its warp 1 waits for
-- a barrier that warp 0 never comes to. count: adds 1 to a word of each CTA.
local text = [[
.version 7.0
.target sm_70
.address_size 64
.file 1 "faulty.cu"
.visible .entry touch(.param .u64 p, .param .u32 who)
{
    .reg .u64 %rd<2>;
    .reg .u32 %r<4>;
    .reg .pred %p<2>;
    .loc 1 12 3
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [who];
    mov.u32 %r2, %ctaid.x;
    setp.eq.u32 %p1, %r1, %r2;
    .loc 1 17 9
    @%p1 ld.global.u32 %r3, [%rd1];
    ret;
}
.visible .entry stop()
{
    .reg .u32 %r<2>;
    .reg .pred %p<2>;
    .shared .align 4 .b8 tile[64];
    mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p1, %r1, 3;
    @%p1 trap;
LOOP:
    st.shared.u32 [tile], %r1;
    bar.sync 0;
    bra LOOP;
}
.visible .entry late()
{
    .reg .u32 %r<2>;
    .reg .pred %p<3>;
    mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p1, %r1, 1000;
    @%p1 trap;
    setp.lt.u32 %p2, %r1, 1000;
    @%p2 bra OUT;
LOOP:
    add.u32 %r1, %r1, 1;
    bra LOOP;
OUT:
    ret;
}
.visible .entry hang()
{
    .reg .u32 %r<2>;
    .reg .pred %p<2>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra OUT;
    bar.sync 1, 64;
OUT:
    ret;
}
.visible .entry count(.param .u64 p)
{
    .reg .u64 %rd<4>;
    .reg .u32 %r<3>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    atom.global.add.u32 %r2, [%rd3], 1;
    ret;
}
]]

local function machine(options)
  local gpu = ww.build("gtx480", options):gpu()
  return gpu, (gpu:load { text = text, name = "faulty.ptx" })
end

local function fault_of(address_of, options)
  local gpu, kernels = machine(options)
  local ok, problem = pcall(function()
    gpu:launch(kernels.touch, { grid = 8, block = 32, args = { address_of(gpu), 5 } })
  end)
  assert(not ok, "no fault")
  return tostring(problem)
end

harness.test("a fault names kernel, PTX and CUDA line, CTA, thread, and the allocation that was missed", function()
  harness.contains(fault_of(function(gpu) return gpu:alloc(1000) + 1024 end),
    "kernel touch, PTX line 16, faulty.cu:17: access out of bounds at address 0xc0000400, CTA (5, 0, 0), thread (0, 0, 0), sm[5]; "
    .. "24 bytes past the end of the allocation of 1000 bytes at 0xc0000000, made by call 2; in @%p1 ld.global.u32 %r3, [%rd1];")
  harness.contains(fault_of(function(gpu) return gpu:alloc(1024) + 1024 end), "; right past the end of the allocation of 1024 bytes")
  harness.contains(fault_of(function(gpu) return gpu:alloc(1) - 4 end), "; 4 bytes before the allocation of 1 byte at 0xc0000000")
  harness.contains(fault_of(function(gpu)
    gpu:alloc(1024)
    local a = gpu:alloc(512)
    gpu:alloc(1024)
    gpu:free(a)
    return a + 256
  end), "; use after free: it is in the allocation of 512 bytes at 0xc0000400, made by call 3 and freed by call 5")
  harness.contains(fault_of(function() return 0xc0000000 end), "; nothing is allocated; in ")
  harness.contains(fault_of(function(gpu) return gpu:alloc(8) + 2 end), "misaligned access to address 0xc0000002, CTA (5, 0, 0)")
end)

harness.test("a fault at a null pointer or beyond device memory says so, not how far an allocation is", function()
  local function fault_at(address)
    return fault_of(function(gpu)
      gpu:alloc(1000)
      return address
    end, { memory = "1GiB" })
  end
  harness.contains(fault_at(0), "sm[5]; it is a null pointer; in ")
  harness.contains(fault_at(400), "sm[5]; 400 bytes past a null pointer; in ")
  harness.contains(fault_at(0x7ffd12345678), "sm[5]; device memory is 0xc0000000 to 0xffffffff: maybe a pointer of the host; in ")
  harness.contains(fault_at(0x100000000), "sm[5]; device memory is 0xc0000000 to 0xffffffff; in ")
end)

--- The fault of a launch as a text, without its message.
local function shown(fault)
  local where = fault.cta and ("%s %d %s:%d cta %s thread %s %s"):format(fault.ptx, fault.ptx_line, fault.file, fault.line or 0,
    table.concat(fault.cta, ","), table.concat(fault.thread, ","), fault.sm) or ""
  return ("%s %s %s"):format(fault.kind, fault.kernel, where)
end

harness.test("a launch that returns faults does, and the machine goes on", function()
  local sim = ww.build "gtx480"
  local gpu = sim:gpu()
  local kernels = gpu:load { text = text, name = "faulty.ptx" }
  local a = gpu:alloc(1024)
  local r, fault = gpu:try_launch(kernels.touch, { grid = 100, block = 32, args = { a + 4096, 5 } })
  harness.equal(shown(fault), "out of bounds touch @%p1 ld.global.u32 %r3, [%rd1]; 16 faulty.cu:17 cta 5,0,0 thread 0,0,0 sm[5]")
  harness.equal(fault.address, a + 4096)
  harness.equal(fault.bytes, 4)
  harness.equal(fault.space, "global")
  harness.equal(fault.allocation.address, a)
  harness.equal(fault.allocation.bytes, 1024)
  harness.equal(fault.allocation.made_by, 2)
  harness.contains(fault.message, "kernel touch, PTX line 16, faulty.cu:17: access out of bounds at address 0xc0001000")
  assert(r.cycles > 0 and r.warp_instructions > 0, "it did nothing")
  local _, trap = gpu:try_launch(kernels.stop, { grid = 200, block = 96 })
  harness.equal(shown(trap):match "^%S+ %S+", "trap stop")
  harness.equal(trap.cta[1], 3)
  harness.equal(trap.allocation, nil)
  local done, none = gpu:try_launch(kernels.count, { grid = 200, block = 32, args = { a } })
  harness.equal(none, nil)
  local last = gpu:launch(kernels.count, { grid = 200, block = 32, args = { a } })
  harness.equal(last.thread_instructions, done.thread_instructions)
  for i = 0, 199 do harness.equal(gpu:read("u32", a + 4 * i), 64) end
  for name, value, _, doc in sim:result():stats() do
    if name == "run.launches" then harness.equal(("%d %s"):format(value, doc), "4 Kernels that ended, by a fault of theirs or without") end
  end
end)

harness.test("a barrier that no CTA has is a fault, with timing and without", function()
  local gpu = ww.build("gtx480", { memory = 1 << 20 }):gpu()
  local kernel = gpu:load { name = "barriers.ptx", text = [[
.version 8.0
.target sm_80
.address_size 64
.visible .entry beyond(.param .u32 number)
{
  .reg .u32 %r1;
  ld.param.u32 %r1, [number];
  bar.sync %r1;
  ret;
}
]] }.beyond
  for _, timed in ipairs { true, false } do
    local _, fault = gpu:try_launch(kernel, { grid = 2, block = 64, args = { 16 }, timed = timed })
    harness.equal(fault.kind, "illegal barrier")
    harness.contains(fault.message, "kernel beyond, PTX line 8: expected barrier 0 to 15, got 16, CTA (0, 0, 0), thread (")
    harness.equal(select(2, gpu:try_launch(kernel, { grid = 2, block = 64, args = { 15 }, timed = timed })), nil)
  end
end)

harness.test("a matrix whose lines are no multiple of 16 bytes apart is told by its stride, one that lies at such an address by that", function()
  local gpu = ww.build("gtx480", { memory = 1 << 20 }):gpu()
  local kernel = gpu:load { name = "matrix.ptx", text = [[
.version 8.0
.target sm_80
.address_size 64
.visible .entry loads(.param .u64 p, .param .u32 stride)
{
  .reg .b64 %rd1;
  .reg .b32 %r<9>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r5, [stride];
  wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1, %r2, %r3, %r4, %r6, %r7, %r8, %r0}, [%rd1], %r5;
  ret;
}
]] }.loads
  local p = gpu:alloc(1024)
  local function fault_at(address, stride)
    local _, fault = gpu:try_launch(kernel, { grid = 1, block = 32, args = { address, stride } })
    return fault
  end
  harness.equal(fault_at(p, 24), nil)
  harness.contains(fault_at(p, 12).message, "PTX line 10: stride of a matrix: expected a multiple of 16 bytes, got 24, CTA (0, 0, 0)")
  harness.equal(fault_at(p, 12).kind, "misaligned")
  harness.contains(fault_at(p + 8, 24).message, "misaligned access to address 0xc0000008")
end)

harness.test("an atomic on local memory says so, in a kernel with a stack, too", function()
  local head = ".version 8.0\n.target sm_80\n.address_size 64\n"
  local body = [[
.visible .entry increments()
{
  .reg .b64 %rd<2>; .reg .b32 %r1; .local .align 4 .b8 depot[16];
  cvta.local.u64 %rd1, depot;
  atom.add.u32 %r1, [%rd1+8], 1;
]]
  local recursion = ".func f() { call f; ret; }\n"
  for _, ptx in ipairs { head .. body .. "ret; }", head .. recursion .. body .. "call f; ret; }" } do
    local gpu = ww.build("gtx480", { memory = 1 << 20 }):gpu()
    local kernel = gpu:load({ name = "atomics.ptx", text = ptx }).increments
    local _, fault = gpu:try_launch(kernel, { grid = 1, block = 32 })
    harness.equal(fault.kind, "out of bounds")
    harness.equal(fault.space, "local")
    harness.contains(fault.message, "expected an atomic on global or shared memory, got one at 0x2000008 of local memory, CTA (0, 0, 0)")
    harness.contains(fault.message, "; in atom.add.u32 %r1, [%rd1+8], 1;")
  end
end)

-- CTAs up to the one that traps end at once, so that others are on their way to SMs then; those behind it never end.
harness.test("no CTA begins after a fault", function()
  local gpu, kernels = machine()
  gpu:set_cycle_limit(1000000)
  local r, fault = gpu:try_launch(kernels.late, { grid = 10000000, block = 64 })
  harness.equal(fault.cta[1], 1000)
  assert(r.cycles < 5000, "the kernel went on for " .. r.cycles .. " cycles")
end)

harness.test("a kernel that waits for ever ends at the limit of cycles", function()
  local sim = ww.build("gtx480", { set = { sms = 1 } })
  local gpu = sim:gpu()
  local kernels = gpu:load { name = "wait.ptx", text = [[
.version 7.0
.target sm_70
.address_size 64
.visible .entry wait(.param .u64 flag) {
  .reg .b32 %r; .reg .b64 %rd; .reg .pred %p;
  ld.param.u64 %rd, [flag];
AGAIN: ld.volatile.global.u32 %r, [%rd]; setp.eq.u32 %p, %r, 0; @%p bra AGAIN;
  ret;
}
]] }
  local flag = gpu:upload(ww.u32(0))
  for _, wrong in ipairs { 0, 1.5, "x" } do
    local ok, problem = pcall(gpu.set_cycle_limit, gpu, wrong)
    assert(not ok)
    harness.contains(tostring(problem), "gpu:set_cycle_limit: expected a core cycle from 1 on, got ")
  end
  gpu:set_cycle_limit(3000)
  local ok, problem = pcall(gpu.launch, gpu, kernels.wait, { grid = 1, block = 32, args = { flag } })
  assert(not ok)
  local cycles = sim:result().cycles
  harness.contains(tostring(problem), ("kernel wait has not ended by cycle %d: max_cycles was reached; 0 of 1 CTAs are done; 1 warp spins, warp 0 of sm[0] in the loop from PTX line "):format(cycles))
  assert(cycles >= 3000 and cycles < 3100, cycles) -- it is looked at once a quantum
  harness.equal(gpu:read("u32", flag), 0)
end)

harness.test("a launch that cannot begin returns why", function()
  local gpu, kernels = machine()
  local r, fault = gpu:try_launch(kernels.stop, { grid = 0, block = 32 })
  harness.equal(r, nil)
  harness.equal(fault.kind, "launch")
  harness.equal(fault.message, "kernel stop: expected grid and block of 1 or more in each dimension, got grid (0, 1, 1) and block (32, 1, 1)")
  harness.equal(select(2, gpu:try_launch(kernels.stop, { grid = 1, block = 2048 })).kind, "launch")
  harness.equal(select(2, gpu:try_launch(kernels.stop, { grid = 1, block = 32, shared = 1 << 20 })).kind, "launch")
  local function mistake(how) return select(2, gpu:try_launch(kernels.stop, how)).mistake end
  harness.equal(mistake { grid = 1, block = 2048 }, "extents")
  harness.equal(mistake { grid = 1, block = 32, shared = 1 << 20 }, "resources")
  harness.equal(mistake { grid = 100000, block = 32, cooperative = true }, "cooperative")
  harness.equal(mistake { grid = 1, block = 32, shared = 0xffffffff }, "other")
  harness.equal(#gpu:launches(), 0)
  local ok = pcall(gpu.try_launch, gpu, kernels.stop, { grid = 1, block = 32, args = { 1 } }) -- the host program's mistake
  harness.equal(ok, false)
  harness.equal(select(2, gpu:try_launch(kernels.touch, { grid = 1, block = 32, args = { 0, 5 } })), nil)
end)

--- All statistics, and what the launches gave, of a workload that faults between two others.
local workload = [[
local ww = require "warpwright"
local w = ww.workload "faulty" { ptx = "faulty.ptx", sizes = { medium = { n = 1 } } }
function w:run(gpu)
  local a, k = gpu:alloc(4096), self.kernels
  gpu:launch(k.count, { grid = 100, block = 32, args = { a } })
  local _, fault = gpu:try_launch(k.touch, { grid = 100, block = 64, args = { a + 8192, 5 } })
  self:check_that("the fault is there", fault.ptx_line == 16 and fault.cta[1] == 5)
  _, fault = gpu:try_launch(k.stop, { grid = 400, block = 96 })
  self:check_that("the trap is there", fault.kind == "trap" and fault.cta[1] == 3)
  _, fault = gpu:try_launch(k.hang, { grid = 40, block = 64 })
  self:check_that("the hang is there", fault.kind == "timeout")
  _, fault = gpu:try_launch(k.count, { grid = { 0 }, block = 32, args = { a } })
  self:check_that("the launch is refused", fault.kind == "launch")
  gpu:launch(k.count, { grid = 100, block = 32, args = { a } })
  self:check("counts", gpu:download("u32", a, 100), ww.array("u32", 100):fill(64))
end
return w
]]

local function run(name, ...)
  harness.write("faulty.ptx", text)
  local path = harness.write("faulty.lua", workload)
  local folder = harness.folder() .. "/" .. name
  local status, output = harness.run("run", "gtx480", path, "--out", folder, ...)
  harness.equal(status, 0, output)
  return harness.read(folder .. "/stats.txt"), folder
end

harness.test("faults are the same in any order, on any threads, after any checkpoint", function()
  local plain, folder = run("plain")
  harness.contains(plain, "run.launches")
  harness.equal(run("reversed", "--order", "reversed"), plain)
  harness.equal(run("shuffled", "--order", "shuffled:7"), plain)
  harness.equal(run("restless", "--order", "restless"), plain)
  harness.equal(run("threads", "--threads", "4"), plain)
  local cycles = tonumber(plain:match "run.cycles%s+(%d+)")
  local at = { 50, cycles // 4, cycles // 2, cycles - 100 }
  run("saved", "--checkpoint-at", table.concat(at, ","))
  local resumed = 0
  for file in io.popen("ls " .. harness.folder() .. "/saved/*.ckpt"):lines() do
    local status, output = harness.run("run", "--resume", file, "--out", folder .. "_resumed")
    harness.equal(status, 0, output)
    harness.equal(harness.read(folder .. "_resumed/stats.txt"), plain, file)
    resumed = resumed + 1
  end
  assert(resumed >= 2, "no checkpoint was made")
end)

harness.test("a machine whose warps have just faulted can be saved, and goes on as another", function()
  local kernels_of_ptx = ".version 7.0\n.target sm_70\n.address_size 64\n"
  for i, instruction in ipairs { "ld.global.u32 %r1, [%rd1];", "st.global.u32 [%rd1], %r1;", "st.shared.u32 [%r1+64], %r1;",
    "atom.global.add.u32 %r1, [%rd1], 1;", "trap;", "bar.sync 99;" } do
    kernels_of_ptx = kernels_of_ptx .. ([[
.visible .entry faulty%d(.param .u64 p)
{
  .reg .u64 %%rd<2>; .reg .u32 %%r<2>;
  ld.param.u64 %%rd1, [p]; mov.u32 %%r1, 64;
  %s
  add.u32 %%r1, %%r1, 1; st.global.u32 [%%rd1], %%r1;
  ret;
}
]]):format(i, instruction)
  end
  local sim = ww.build("gtx480", { set = { sms = 2 } })
  local gpu = sim:gpu()
  local kernels = gpu:load { text = kernels_of_ptx, name = "faulty.ptx" }
  for i = 1, 6 do
    local _, fault = gpu:try_launch(kernels["faulty" .. i], { grid = 1, block = 64, args = { 4096 } })
    assert(fault, "no fault")
    harness.equal(table.concat(sim:change {}, "; "), "", "changes behind fault " .. i)
  end
  sim:close()
end)

harness.test("machines with other parts go on after a fault, too", function()
  for _, config in ipairs { "gtx480_gpgpusim4", "gtx480_d2ma", "gtx480_mesh" } do
    harness.write("faulty.ptx", text)
    local status, output = harness.run("run", config, harness.write("faulty.lua", workload), "--out", harness.folder() .. "/" .. config)
    harness.equal(status, 0, config .. ": " .. output)
  end
end)

harness.test("policies are told of CTAs and warps that were given up", function()
  for _, policy in ipairs { "ccws", "mascar", "lazy_cta" } do
    harness.write("faulty.ptx", text)
    local status, output = harness.run("run", "gtx480", harness.write("faulty.lua", workload), "--policy", policy,
      "--out", harness.folder() .. "/" .. policy)
    harness.equal(status, 0, policy .. ": " .. output)
  end
end)

harness.finish()
