-- Accesses of 32 and of 16 bytes per thread: vectors of eight, with sinks and hints, and registers of 128 bits.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local TEXT <const> = [[
.version 8.8
.target sm_100
.address_size 64
.visible .entry eight(.param .u64 from, .param .u64 to)
{
  .reg .b32 %r<20>; .reg .b64 %d<9>;
  ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to];
  mov.u32 %r19, %tid.x;
  mad.wide.u32 %d1, %r19, 32, %d1; mad.wide.u32 %d2, %r19, 32, %d2;
  createpolicy.fractional.L2::evict_first.b64 %d3, 0.5;
  mov.u32 %r2, 99;
  ld.global.nc.L1::no_allocate.L2::cache_hint.v8.b32 {%r0, %r1, _, %r3, %r4, %r5, %r6, %r7}, [%d1].unified, %d3;
  st.global.L2::evict_last.v8.u32 [%d2], {%r7, %r6, %r5, %r4, %r3, %r2, %r1, %r0};
  ret;
}
.visible .entry whole(.param .u64 from, .param .u64 to)
{
  .reg .b128 %q<3>; .reg .b64 %d<9>; .reg .b32 %r;
  ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to];
  mov.u32 %r, %tid.x;
  mad.wide.u32 %d1, %r, 16, %d1; mad.wide.u32 %d2, %r, 16, %d2;
  ld.global.b128 %q0, [%d1];
  mov.b128 %q1, %q0;
  mov.b128 {%d3, _}, %q1;
  mov.b128 {_, %d4}, %q1;
  mov.b128 %q2, {%d4, %d3};
  st.global.b128 [%d2], %q2;
  ret;
}
]]

local THREADS <const> = 70

local function run(kernel, words)
  local sim = ww.build("gallery/private_l1", {})
  local gpu = sim:gpu()
  local input = ww.array("u32", THREADS * words)
  for i = 0, THREADS * words - 1 do input:set(i, i * 2654435761 & 0xffffffff) end
  local from, to = gpu:upload(input), gpu:alloc(THREADS * words * 4)
  gpu:launch(gpu:load { text = TEXT, name = "wide" }[kernel], { grid = 1, block = THREADS, args = { from, to } })
  local got = gpu:download("u32", to, THREADS * words)
  sim:close()
  return input, got
end

harness.test("vectors of eight are read and written, and a sink keeps what the register had", function()
  local input, got = run("eight", 8)
  for i = 0, THREADS * 8 - 1 do
    local want = i % 8 == 5 and 99 or input[i // 8 * 8 + 7 - i % 8]
    harness.equal(got[i], want, "word " .. i)
  end
end)

harness.test("registers of 128 bits are read, copied, taken apart and written", function()
  local input, got = run("whole", 4)
  for i = 0, THREADS * 4 - 1 do harness.equal(got[i], input[i // 4 * 4 + (i + 2) % 4], "word " .. i) end
end)

harness.finish()
