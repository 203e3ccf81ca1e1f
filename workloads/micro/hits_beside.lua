local ww = require "warpwright"
local ptx = require "workloads.micro.ptx"

local unroll <const>, lines <const> = 32, 8

-- The first thread of warp 0 follows a list that lies in L1, one turn more than are timed. The
-- other warps meet, and then load the same lines, of which each is a line further on in a turn than
-- in the one before: so that L1 answers all of them when the line comes; or, with a step of 0, the
-- same lines again, which are there.
local kernel = [[
.visible .entry hits_beside(.param .u64 list, .param .u64 stream, .param .u32 step, .param .u32 threads, .param .u64 out,
	.param .u32 turns)
{
	.reg .pred	%again, %streams, %second;
	.reg .b32	%i, %n, %t, %lane, %threads, %one, $values;
	.reg .b64	%list, %stream, %step, %out, %start, %stop, %copy;
	ld.param.u64	%list, [list];
	ld.param.u64	%stream, [stream];
	ld.param.u32	%n, [step];
	cvt.u64.u32	%step, %n;
	ld.param.u32	%threads, [threads];
	ld.param.u64	%out, [out];
	ld.param.u32	%n, [turns];
	mov.u32	%t, %tid.x;
	mov.u32	%i, 0;
	mov.u32	%one, 1;
	setp.ge.u32	%streams, %t, 32;
	@%streams bra	others;
	setp.ne.u32	%again, %t, 0;
	@%again bra	done;
turn:
	setp.eq.s32	%second, %i, 1;
	@%second add.s64	%copy, %list, 0;
	@%second mov.u64	%start, %clock64;
$chase
	add.s32	%i, %i, 1;
	setp.le.s32	%again, %i, %n;
	@%again bra	turn;
	add.s64	%copy, %list, 0;
	mov.u64	%stop, %clock64;
	sub.s64	%stop, %stop, %start;
	st.global.u64	[%out], %stop;
	bra	done;
others:
	and.b32	%lane, %t, 31;
	mad.wide.u32	%stream, %lane, 4, %stream;
	shl.b32	%n, %n, 3;
meet:
	bar.sync	1, %threads;
$loads
$uses
	div.s32	%lane, %lane, %one;
	add.s32	%lane, %lane, 0;
	add.s64	%stream, %stream, %step;
	add.s32	%i, %i, 1;
	setp.lt.s32	%again, %i, %n;
	@%again bra	meet;
done:
	ret;
}
]]

local function value(i) return ("%%v%d"):format(i) end

local hits_beside = ww.workload "hits_beside" {
  doc = "Cycles of a load that hits in L1 while other warps hit there, too, or have their lines brought",
  ptx = ptx.module {
    ptx.fill(kernel, {
      values = table.concat({ value(0), value(1), value(2), value(3), value(4), value(5), value(6), value(7) }, ", "),
      chase = ptx.lines(unroll, "ld.global.u64	%list, [%list];"),
      loads = ptx.lines(lines, function(i) return ("ld.global.u32	%s, [%%stream+%d];"):format(value(i), 128 * i) end),
      uses = ptx.lines(lines, function(i) return ("add.s32	%%lane, %%lane, %s;"):format(value(i)) end),
    }),
  },
  sizes = { -- `step`: 0 or 1024, what the others go on by in a turn; `warps`: of the others
    alone = { step = 0, warps = 0, turns = 16 },
    hits = { step = 0, warps = 8, turns = 16 },
    fills = { step = 128 * lines, warps = 8, turns = 16 },
  },
}

--- Cycles of a load in the last run; a workload returns nothing.
hits_beside.cycles = 0

function hits_beside:run(gpu, size)
  local cells = 16
  local list = gpu:alloc(8 * cells)
  local next_cell = ww.array("u64", cells)
  for i = 0, cells - 1 do next_cell[i] = list + 8 * ((i + 1) % cells) end
  gpu:write(list, next_cell)
  local stream = gpu:alloc(128 * lines + 8 * size.turns * size.step)
  local out, threads = gpu:alloc(8), 32 * size.warps
  gpu:launch(self.kernels.hits_beside,
    { grid = 1, block = 32 + threads, args = { list, stream, size.step, threads, out, size.turns } })
  hits_beside.cycles = gpu:download("u64", out, 1)[0] / (unroll * size.turns)
  self:check_that("the clock went on", hits_beside.cycles > 1)
end

return hits_beside
