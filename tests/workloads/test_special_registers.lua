-- Special registers that name clocks by halves, and those that nothing sets, which are 0.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local text <const> = [[
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<20>; .reg .b64 %d<9>; .shared .align 4 .b8 room[100];
  ld.param.u64 %d1, [out]; cvta.to.global.u64 %d1, %d1;
  mov.u64 %d2, %globaltimer; mov.u32 %r1, %globaltimer_lo; mov.u32 %r2, %globaltimer_hi; mov.u32 %r3, %clock_hi;
  mov.u32 %r4, %pm0; mov.u64 %d3, %pm7_64; mov.u32 %r5, %reserved_smem_offset_begin;
  mov.u32 %r6, %reserved_smem_offset_0; mov.u64 %d4, %current_graph_exec; mov.u32 %r7, %envreg3;
  mov.u32 %r8, %total_smem_size; mov.u32 %r9, %aggr_smem_size; st.shared.u32 [room], %r1;
  st.global.u64 [%d1], %d2; st.global.u32 [%d1+8], %r1; st.global.u32 [%d1+12], %r2; st.global.u32 [%d1+16], %r3;
  st.global.u32 [%d1+20], %r4; st.global.u64 [%d1+24], %d3; st.global.u32 [%d1+32], %r5; st.global.u32 [%d1+36], %r6;
  st.global.u64 [%d1+40], %d4; st.global.u32 [%d1+48], %r7; st.global.u32 [%d1+52], %r8; st.global.u32 [%d1+56], %r9;
  ret;
}
]]

harness.test("clocks by halves, and registers that are 0", function()
  local sim = ww.build("gtx480", { set = { sms = 1 } })
  local gpu = sim:gpu()
  local out = gpu:alloc(64)
  gpu:fill(out, 0xee, 64)
  gpu:launch(gpu:load { text = text, name = "specials" }.k, { grid = 1, block = 32, args = { out } })
  local got = gpu:download("u32", out, 16)
  sim:close()
  assert(got[0] > 0 and got[2] > got[0] and got[2] - got[0] < 100, "%globaltimer_lo follows %globaltimer")
  for i = 3, 12 do harness.equal(got[i], 0, "word " .. i) end
  assert(got[13] >= 100, "%total_smem_size")
  harness.equal(got[14], got[13], "%aggr_smem_size")
end)

harness.test("the global timer goes on in launches without timing, too", function()
  local loop <const> = [[
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b64 %d<9>; .reg .pred %p;
  ld.param.u64 %d1, [out];
  mov.u64 %d2, %globaltimer;
  add.u64 %d4, %d2, 500;
WAIT:
  mov.u64 %d3, %globaltimer;
  setp.lt.u64 %p, %d3, %d4;
  @%p bra WAIT;
  sub.u64 %d3, %d3, %d2;
  st.global.u64 [%d1], %d3;
  ret;
}
]]
  for _, timed in ipairs { true, false } do
    local sim = ww.build("gtx480", { set = { sms = 1 } })
    local gpu = sim:gpu()
    local out = gpu:alloc(8)
    gpu:launch(gpu:load { text = loop, name = "timer" }.k, { grid = 1, block = 1, args = { out }, timed = timed })
    local waited = gpu:read("u64", out)
    sim:close()
    assert(waited >= 500 and waited < 700, ("waited %d ns"):format(waited))
  end
end)

harness.test("special registers and registers as vectors", function()
  local vectors <const> = [[
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .v4 .u32 %v; .reg .v4 .u32 %w; .reg .pred %p;
  ld.param.u64 %d1, [out];
  mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid;
  mov.v4.u32 %v, %ntid;
  mov.v4.b32 {%r5, _, %r6, %r7}, %ctaid;
  mov.v4.u32 {%r8, %r9, %r10, %r11}, %nctaid;
  mov.u32 %r12, %ntid.w;
  setp.ne.u32 %p, %r1, 1;
  @%p bra END;
  setp.ne.u32 %p, %r2, 2;
  @%p bra END;
  st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4};
  st.global.v4.u32 [%d1+16], %v;
  st.global.v4.u32 [%d1+32], {%r5, %r6, %r7, %r12};
  st.global.v4.u32 [%d1+48], {%r8, %r9, %r10, %r11};
  mov.v4.u32 {%r1, %r2, %r3, %r4}, {%r2, %r3, %r1, 9};
  st.global.v4.u32 [%d1+64], {%r1, %r2, %r3, %r4};
  mov.v4.u32 %w, %v;
  mov.v2.b32 {%r5, %r6}, {%w.y, %w.x};
  mov.b64 %d2, 0x1111111122222222;
  mov.v2.u64 {%d3, %d2}, {%d2, %d1};
  sub.u64 %d2, %d2, %d1;
  st.global.v2.u32 [%d1+80], {%r5, %r6};
  st.global.v2.u64 [%d1+96], {%d3, %d2};
  mov.v4.u32 {%r1, %r2, %r3, %r4}, %cluster_nctaid;
  st.global.v4.u32 [%d1+112], {%r1, %r2, %r3, %r4};
END:
  ret;
}
]]
  local sim = ww.build("gtx480", { set = { sms = 1 } })
  local gpu = sim:gpu()
  local out = gpu:alloc(128)
  gpu:launch(gpu:load { text = vectors, name = "vectors" }.k, { grid = { 1, 2, 3 }, block = { 2, 3, 4 }, args = { out } })
  local got, words = gpu:download("u32", out, 32), {}
  for i = 0, 31 do words[i + 1] = got[i] end
  words[3] = words[3] < 4 and "z" or words[3] -- of all CTAs and threads at these places
  words[10] = words[10] < 3 and "z" or words[10]
  words[18] = words[18] < 4 and "z" or words[18]
  harness.equal(table.concat(words, " "), "1 2 z 0 2 3 4 0 0 z 0 0 1 2 3 0 2 z 1 9 3 2 0 0 " ..
    "572662306 286331153 0 0 1 1 1 0")
  sim:close()
end)

harness.finish()
