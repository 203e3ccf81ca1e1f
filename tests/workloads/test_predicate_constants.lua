-- Constants as predicates: 0 is false, any other integer true, wherever an instruction reads a predicate.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

--- A kernel that ends with %r9 stored: %r1 is 5, %r2 is 7, %q is false; %p is what a body may set.
local function text(body)
  return ([[
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .pred %%p; .reg .pred %%o; .reg .pred %%q;
  .reg .b32 %%r<12>; .reg .b64 %%d<4>; .reg .f32 %%f<4>; .reg .f64 %%g<4>; .reg .b16 %%h<4>;
  ld.param.u64 %%d1, [out]; mov.u32 %%r1, 5; mov.u32 %%r2, 7; mov.f32 %%f1, 0f3f800000; mov.f64 %%g1, 0d3ff0000000000000;
  mov.b16 %%h1, 0x3c00; mov.b32 %%r3, 0x3c003c00; setp.eq.u32 %%q, %%r1, %%r2; mov.u32 %%r9, 0x77;
  %s
  st.global.u32 [%%d1], %%r9;
  ret;
}
]]):format(body)
end

local function result_of(body)
  local sim = ww.build("gtx480", { set = { sms = 1 } })
  local gpu = sim:gpu()
  local out = gpu:alloc(4)
  gpu:launch(gpu:load { text = text(body), name = "predicates" }.k, { grid = 1, block = 40, args = { out } })
  local result = gpu:read("u32", out)
  sim:close()
  return result
end

local shown <const> = " selp.u32 %r9, 1, 0, %p;"
local both <const> = " selp.u32 %r9, 1, 0, %p; @%o or.b32 %r9, %r9, 2;"

local cases <const> = {
  { "setp.lt.and.s32 %p, %r1, %r2, 1;" .. shown, 1 },
  { "setp.lt.and.s32 %p, %r1, %r2, 0;" .. shown, 0 },
  { "setp.lt.and.s32 %p, %r1, %r2, -8;" .. shown, 1 },
  { "setp.lt.and.s32 %p, %r1, %r2, 2;" .. shown, 1 },
  { "setp.lt.and.s32 %p, %r1, %r2, !1;" .. shown, 0 },
  { "setp.gt.or.s32 %p, %r1, %r2, 1;" .. shown, 1 },
  { "setp.lt.xor.s32 %p|%o, %r1, %r2, 1;" .. both, 2 },
  { "setp.lt.and.s32 %p|%o, %r1, %r2, 1;" .. both, 1 },
  { "setp.eq.and.f32 %p, %f1, %f1, 1;" .. shown, 1 },
  { "setp.eq.and.f64 %p, %g1, %g1, 0;" .. shown, 0 },
  { "setp.eq.and.f16 %p, %h1, %h1, 1;" .. shown, 1 },
  { "setp.eq.and.f16x2 %p|%o, %r3, %r3, 1;" .. both, 3 },
  { "set.lt.and.u32.s32 %r9, %r1, %r2, 1;", 0xffffffff },
  { "set.lt.xor.f32.s32 %r9, %r1, %r2, 0;", 0x3f800000 },
  { "set.eq.and.u32.f16 %r9, %h1, %h1, 0;", 0 },
  { "set.eq.or.f16x2.f16x2 %r9, %r3, %r1, 1;", 0x3c003c00 },
  { "not.pred %p, 0;" .. shown, 1 },
  { "not.pred %p, 1;" .. shown, 0 },
  { "mov.pred %p, 3;" .. shown, 1 },
  { "mov.pred %p, 0;" .. shown, 0 },
  { "mov.pred %p, 0x100000000;" .. shown, 1 },
  { "and.pred %p, 1, 2;" .. shown, 1 },
  { "selp.u32 %r9, %r1, %r2, 0;", 7 },
  { "bar.red.popc.u32 %r9, 0, 1;", 40 },
  { "bar.red.popc.u32 %r9, 0, 0;", 0 },
  { "bar.red.popc.u32 %r9, 0, !%q;", 40 },
  { "bar.red.popc.u32 %r9, 0, 64, 1;", 40 },
  { "bar.red.and.pred %p, 0, !%q;" .. shown, 1 },
  { "bar.red.or.pred %p, 0, 0;" .. shown, 0 },
  { "barrier.cta.red.and.aligned.pred %p, 0, 1;" .. shown, 1 },
  { "lop3.and.b32 %r9|%p, %r1, %r2, %r1, 0xff, 1;" .. shown, 1 },
  { "lop3.or.b32 %r9|%p, %r1, %r2, %r1, 0, 0;" .. shown, 0 },
}

for _, case in ipairs(cases) do
  harness.test(case[1], function() harness.equal(result_of(case[1]), case[2]) end)
end

harness.test("a float is no predicate", function()
  local ok, problem = pcall(result_of, "mov.pred %p, 1.0;")
  assert(not ok, "it was read")
  harness.contains(tostring(problem), "predicates:9: 'mov.pred %p, 1.0': constant 1: expected a predicate or an integer constant, got a float")
end)

harness.finish()
