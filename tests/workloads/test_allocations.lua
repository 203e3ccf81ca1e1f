-- alloca, stacksave and stackrestore: memory of a thread's own, in loops, in functions that are inlined, and beside frames.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local HEAD <const> = ".version 8.0\n.target sm_70\n.address_size 64\n"
local THREADS <const> = 64

-- Fills what it has allocated with n, n + 1, ... and sums it up; the sum of n is the result of `filled`.
local FILLED <const> = [[
.func (.param .b32 r) filled(.param .b32 n) {
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p;
  ld.param.b32 %r1, [n]; add.u32 %r2, %r1, 1; mul.wide.u32 %d1, %r2, 4;
  alloca.u64 %d1, %d1, 32;
  and.b64 %d2, %d1, 31; cvt.u32.u64 %r6, %d2;
  mov.u64 %d2, %d1; mov.u32 %r3, 0;
WRITE: add.u32 %r4, %r1, %r3; st.local.u32 [%d2], %r4; add.u64 %d2, %d2, 4; add.u32 %r3, %r3, 1;
  setp.lt.u32 %p, %r3, %r2; @%p bra WRITE;
  mov.u32 %r3, 0; mov.u32 %r5, %r6;
READ: ld.local.u32 %r4, [%d1]; add.u32 %r5, %r5, %r4; add.u64 %d1, %d1, 4; add.u32 %r3, %r3, 1;
  setp.lt.u32 %p, %r3, %r2; @%p bra READ;
  st.param.b32 [r], %r5; ret;
}
]]

local function filled(n) return (n + 1) * n + n * (n + 1) // 2 end

local function kernel(body)
  return ([[
.visible .entry k(.param .u64 out) {
  .reg .b32 %%a<20>; .reg .b64 %%b<20>; .reg .pred %%p<3>; .local .align 4 .b8 own[4];
  ld.param.u64 %%b1, [out]; mov.u32 %%a1, %%tid.x; mad.wide.u32 %%b1, %%a1, 4, %%b1; st.local.u32 [own], %%a1;
%s
  ld.local.u32 %%a2, [own]; setp.ne.u32 %%p1, %%a2, %%a1; @%%p1 trap;
  st.global.u32 [%%b1], %%a3; ret;
}
]]):format(body)
end

local function call(from, to)
  return ("{ .param .b32 x; .param .b32 y; st.param.b32 [x], %s; call (y), filled, (x); ld.param.b32 %s, [y]; }\n"):format(from, to)
end

local function expect(text, want, options)
  local sim = ww.build("gallery/private_l1", {})
  local gpu = sim:gpu()
  local out = gpu:alloc(4 * THREADS)
  options = options or {}
  options.grid, options.block, options.args = 1, THREADS, { out }
  gpu:launch(gpu:load { text = HEAD .. text, name = "allocations" }.k, options)
  local got = gpu:download("u32", out, THREADS)
  sim:close()
  for thread = 0, THREADS - 1 do harness.equal(got[thread], want(thread), "thread " .. thread) end
end

harness.test("what an inlined function allocates is given back behind it", function()
  local loop = "mov.u32 %a4, 0; mov.u32 %a3, 0;\nAGAIN: " .. call("%a1", "%a5") ..
    "add.u32 %a3, %a3, %a5; add.u32 %a4, %a4, 1; setp.lt.u32 %p2, %a4, 20; @%p2 bra AGAIN;"
  expect(FILLED .. kernel(loop), function(thread) return 20 * filled(thread) end)
end)

harness.test("allocations lie side by side, and stackrestore gives back those behind a stacksave", function()
  local body = [[
  alloca.u64 %b2, 5; st.local.b8 [%b2+4], %a1; stacksave.u64 %b3; mov.u32 %a4, 0;
AGAIN: alloca.u32 %a5, 64, 64; st.local.u32 [%a5+60], %a4; st.local.u32 [%a5], %a4; and.b32 %a6, %a5, 63; stackrestore.u64 %b3;
  add.u32 %a4, %a4, 1; setp.lt.u32 %p2, %a4, 100; @%p2 bra AGAIN;
  setp.lt.u32 %p2, %a1, 9; mov.u32 %a7, 0;
  @%p2 alloca.u64 %b4, 16; @%p2 st.local.u32 [%b4], %a1; @%p2 ld.local.u32 %a7, [%b4];
  stacksave.u32 %a8; cvt.u32.u64 %a9, %b3; sub.u32 %a8, %a8, %a9;
  ld.local.u8 %a3, [%b2+4]; mad.lo.u32 %a3, %a7, 1000, %a3; mad.lo.u32 %a3, %a8, 1000000, %a3; add.u32 %a3, %a3, %a6;]]
  expect(kernel(body), function(thread) return thread < 9 and 16000000 + 1001 * thread or thread end)
end)

harness.test("frames of functions that call themselves lie behind what is allocated", function()
  local down = [[
.func (.param .b32 r) down(.param .b32 n) {
  .reg .b32 %r<9>; .reg .pred %p<3>;
  ld.param.b32 %r1, [n]; mov.u32 %r2, 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE;
  add.u32 %r3, %r1, -1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call (b), down, (a); ld.param.b32 %r2, [b]; }
  add.u32 %r2, %r2, %r1;
DONE: st.param.b32 [r], %r2; ret;
}
]]
  local body = [[
  alloca.u64 %b2, 16; st.local.v4.u32 [%b2], {%a1, %a1, %a1, %a1}; mov.u32 %a4, 5; mov.u32 %a7, 0;
AGAIN: { .param .b32 x; .param .b32 y; st.param.b32 [x], %a4; call (y), down, (x); ld.param.b32 %a5, [y]; }
  add.u32 %a7, %a7, 1; setp.lt.u32 %p2, %a7, 3; @%p2 bra AGAIN;
  ld.local.v4.u32 {%a6, %a8, %a9, %a10}, [%b2]; add.u32 %a6, %a6, %a8; add.u32 %a9, %a9, %a10; add.u32 %a6, %a6, %a9;
  mad.lo.u32 %a3, %a6, 25, %a5;]]
  expect(down .. kernel(body), function(thread) return 100 * thread + 15 end)
end)

harness.test("too much is a fault that says so, and the launch sets the stack's size", function()
  local body = "alloca.u64 %b2, 2000; st.local.u32 [%b2+1996], %a1; ld.local.u32 %a3, [%b2+1996];"
  local ok, problem = pcall(expect, kernel(body), function(thread) return thread end)
  assert(not ok)
  harness.contains(tostring(problem), "the stack of 1024 bytes per thread overflows")
  expect(kernel(body), function(thread) return thread end, { stack = 4096 })
end)

harness.test("what cannot be allocated is refused with file and line", function()
  local function refused(body, why, functions)
    local ok, problem = pcall(expect, (functions or "") .. kernel(body), function() return 0 end)
    assert(not ok, body)
    harness.contains(tostring(problem), "allocations:", why)
  end
  refused("alloca.b64 %b2, 8;", "alloca.b64 %b2, 8: expected .u32 or .u64")
  refused("alloca.u64 %a2, 8;", "expected a register of the type")
  refused("alloca.u64 %b2, %a1;", "expected a size of the type")
  refused("alloca.u64 %b2, 8, 24;", "expected a power of two up to 2^23 as the alignment")
  refused("alloca.u64 %b2, 8, 16777216;", "expected a power of two up to 2^23 as the alignment")
  refused("alloca.u64 %b2;", "expected a register, a size, and perhaps an alignment")
  refused("stacksave.u64 4;", "expected a register of the type")
  refused("stackrestore.u64 %b2;", "nothing is allocated")
  local own = ".func f() { .reg .b64 %d; alloca.u64 %d, 8; call f, (); ret; }\n"
  refused("call f, ();", "functions that are not inlined cannot allocate on the stack", own)
end)

harness.finish()
