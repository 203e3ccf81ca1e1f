-- What a policy sees of warps' next instructions: next_pc(), head_memory, head_sfu.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local ptx = harness.write("units.ptx", [[
.version 4.2
.target sm_20
.address_size 64
.visible .entry units(.param .u64 out)
{
    .reg .u32 %r<8>;
    .reg .u64 %rd<4>;
    .reg .f32 %f<4>;
    .reg .pred %p;
    ld.param.u64 %rd0, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    add.u64 %rd2, %rd0, %rd1;
    mov.u32 %r2, 0;
LOOP:
    ld.global.f32 %f0, [%rd2];
    add.f32 %f0, %f0, 0f3F800000;
    rsqrt.approx.f32 %f1, %f0;
    st.global.f32 [%rd2], %f1;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, 8;
    @%p bra LOOP;
    ret;
}
]])

-- When a scheduler picks it notes what the ready warps will issue next; on_issue() tells what one has issued.
local foreseer = harness.write("foreseer.lua", [[
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"
local p = policy "foreseer" { counters = { issues = "", right = "", sfu = "", memory = "", wrong_unit = "", dead = "" } }
function p:start() self.state = { pc = {}, unit = {} } end
function p:pick(_, ready)
  local sm, state = self.sm, self.state
  for warp = 0, 47 do
    if bits.has(ready, warp) then
      state.pc[warp] = sm:next_pc(warp)
      state.unit[warp] = bits.has(sm.head_memory, warp) and "memory" or bits.has(sm.head_sfu, warp) and "sfu" or "sp"
    elseif not bits.has(sm.live, warp) and sm:next_pc(warp) then
      self:count "dead"
    end
  end
end
function p:on_issue(warp, pc)
  self:count "issues"
  local opcode = self.sm:instruction(pc)
  local unit = opcode:find "^[ls][dt]%." and "memory" or opcode:find "^rsqrt" and "sfu" or "sp"
  if self.state.pc[warp] == pc then self:count "right" end
  if unit ~= "sp" then self:count(unit) end
  if self.state.unit[warp] ~= unit then self:count "wrong_unit" end
end
return p
]])

harness.test("next_pc and the sets of heads tell what each warp issues next", function()
  local sim = ww.build("gtx480", { policy = foreseer })
  local gpu = sim:gpu()
  gpu:launch(gpu:load(ptx).units, { grid = 1, block = 128, args = { gpu:upload(ww.array("f32", 128):random(1, 0, 1)) } })
  local counts = {}
  for name, value in sim:result():stats() do
    local counter = name:match "^sm%[0%]%.foreseer%.(.*)$"
    if counter then counts[counter] = value end
  end
  harness.equal(counts.issues, 4 * (5 + 8 * 7 + 1), "issues")
  harness.equal(counts.right, counts.issues, "next_pc was right")
  harness.equal(counts.sfu, 4 * 8, "issues to the SFU")
  harness.equal(counts.memory, 4 * (1 + 8 * 2), "issues to the LSU, of a parameter too")
  harness.equal(counts.wrong_unit, 0, "heads were wrong")
  harness.equal(counts.dead, 0, "warps without lanes have no next instruction")
end)

harness.finish()
