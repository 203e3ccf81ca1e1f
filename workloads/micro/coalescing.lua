local ww = require "warpwright"
local ptx = require "workloads.micro.ptx"

local unroll <const> = 16

-- Lane l of every warp reads word l * stride, again and again.
local kernel = [[
.visible .entry coalescing(.param .u64 buffer, .param .u64 out, .param .u32 stride, .param .u32 turns)
{
	.reg .pred	%again;
	.reg .b32	%i, %n, %t, %lane, %stride, %v<$registers>;
	.reg .b64	%buffer, %out;
	ld.param.u64	%buffer, [buffer];
	ld.param.u64	%out, [out];
	ld.param.u32	%stride, [stride];
	ld.param.u32	%n, [turns];
	mov.u32	%t, %tid.x;
	and.b32	%lane, %t, 31;
	mul.lo.s32	%lane, %lane, %stride;
	mad.wide.u32	%buffer, %lane, 4, %buffer;
	mov.u32	%i, 0;
turn:
$loads
	add.s32	%i, %i, 1;
	setp.lt.s32	%again, %i, %n;
	@%again bra	turn;
	mad.wide.u32	%out, %t, 4, %out;
	st.global.u32	[%out], %v0;
	ret;
}
]]

local registers <const> = 8

local coalescing = ww.workload "coalescing" {
  doc = "Loads whose lanes are a given number of words apart",
  ptx = ptx.module {
    ptx.fill(kernel, {
      registers = registers,
      loads = ptx.lines(unroll, function(i) return ("ld.global.u32	%%v%d, [%%buffer];"):format(i % registers) end),
    }),
  },
  sizes = { -- `turns` of 16 loads by every warp
    small = { stride = 1, warps = 8, turns = 32 },
    medium = { stride = 8, warps = 8, turns = 32 },
    large = { stride = 32, warps = 8, turns = 32 },
  },
}

coalescing.unroll = unroll

function coalescing:run(gpu, size)
  local threads, words = 32 * size.warps, 32 * size.stride
  local numbers = ww.array("u32", words)
  for i = 0, words - 1 do numbers[i] = i end
  local buffer, out = gpu:upload(numbers), gpu:alloc(4 * threads)
  gpu:launch(self.kernels.coalescing, { grid = 1, block = threads, args = { buffer, out, size.stride, size.turns } })
  local read = ww.array("u32", threads)
  for t = 0, threads - 1 do read[t] = t % 32 * size.stride end
  self:check("what each thread read", gpu:download("u32", out, threads), read)
end

return coalescing
