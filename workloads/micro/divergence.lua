local ww = require "warpwright"
local ptx = require "workloads.micro.ptx"

local unroll <const> = 16 -- dependent operations on a path

-- Lane l takes path l % paths, all others are masked off meanwhile. The paths are turns of a loop,
-- so that they fit any instruction cache.
local kernel = [[
.visible .entry divergence(.param .u64 out, .param .u32 paths, .param .u32 turns)
{
	.reg .pred	%other, %again;
	.reg .b32	%i, %n, %t, %path, %paths, %mine, %x;
	.reg .b64	%out;
	ld.param.u64	%out, [out];
	ld.param.u32	%paths, [paths];
	ld.param.u32	%n, [turns];
	mov.u32	%t, %tid.x;
	rem.u32	%mine, %t, %paths;
	mov.u32	%x, 0;
	mov.u32	%i, 0;
turn:
	mov.u32	%path, 0;
next:
	setp.ne.s32	%other, %path, %mine;
	@%other bra	behind;
$operations
behind:
	add.s32	%path, %path, 1;
	setp.lt.s32	%again, %path, %paths;
	@%again bra	next;
	add.s32	%i, %i, 1;
	setp.lt.s32	%again, %i, %n;
	@%again bra	turn;
	mad.wide.u32	%out, %t, 4, %out;
	st.global.u32	[%out], %x;
	ret;
}
]]

local divergence = ww.workload "divergence" {
  doc = "A warp whose lanes part into a given number of paths",
  ptx = ptx.module { ptx.fill(kernel, { operations = ptx.lines(unroll, "add.s32	%x, %x, 1;") }) },
  sizes = {
    small = { paths = 1, warps = 1, turns = 32 },
    medium = { paths = 4, warps = 1, turns = 32 },
    large = { paths = 32, warps = 1, turns = 32 },
  },
}

function divergence:run(gpu, size)
  local threads = 32 * size.warps
  local out = gpu:alloc(4 * threads)
  gpu:launch(self.kernels.divergence, { grid = 1, block = threads, args = { out, size.paths, size.turns } })
  local want = ww.array("u32", threads):fill(unroll * size.turns)
  self:check("each thread's operations", gpu:download("u32", out, threads), want)
end

return divergence
