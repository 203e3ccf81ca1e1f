local ww = require "warpwright"
local ptx = require "workloads.micro.ptx"

local unroll <const> = 16

local kernel = [[
.visible .entry barrier(.param .u64 out, .param .u32 turns)
{
	.reg .pred	%again;
	.reg .b32	%i, %n, %t;
	.reg .b64	%out;
	ld.param.u64	%out, [out];
	ld.param.u32	%n, [turns];
	mov.u32	%t, %tid.x;
	mov.u32	%i, 0;
turn:
$barriers
	add.s32	%i, %i, 1;
	setp.lt.s32	%again, %i, %n;
	@%again bra	turn;
	mad.wide.u32	%out, %t, 4, %out;
	st.global.u32	[%out], %i;
	ret;
}
]]

local barrier = ww.workload "barrier" {
  doc = "The warps of one CTA meet at barriers and do nothing else",
  ptx = ptx.module { ptx.fill(kernel, { barriers = ptx.lines(unroll, "bar.sync	0;") }) },
  sizes = { -- `turns` of 16 barriers
    small = { warps = 1, turns = 32 },
    medium = { warps = 8, turns = 32 },
    large = { warps = 32, turns = 32 },
  },
}

barrier.unroll = unroll

function barrier:run(gpu, size)
  local threads = 32 * size.warps
  local out = gpu:alloc(4 * threads)
  gpu:launch(self.kernels.barrier, { grid = 1, block = threads, args = { out, size.turns } })
  self:check("turns", gpu:download("u32", out, threads), ww.array("u32", threads):fill(size.turns))
end

return barrier
