local ww = require "warpwright"
local ptx = require "workloads.micro.ptx"

local unroll <const> = 32

-- Lane l reads word (l % degree) * pitch + l / degree, where pitch is a multiple of the number of
-- banks: `degree` lanes share each bank, each with a word of its own.
local kernel = [[
.visible .entry bank_conflicts(.param .u64 out, .param .u32 degree, .param .u32 pitch, .param .u32 turns)
{
	.reg .pred	%again;
	.reg .b32	%i, %n, %t, %lane, %degree, %pitch, %s, %q, %v<$registers>;
	.reg .b64	%out;
	.extern .shared .align 4 .b8	words[];
	ld.param.u64	%out, [out];
	ld.param.u32	%degree, [degree];
	ld.param.u32	%pitch, [pitch];
	ld.param.u32	%n, [turns];
	mov.u32	%t, %tid.x;
	and.b32	%lane, %t, 31;
	rem.u32	%s, %lane, %degree;
	div.u32	%q, %lane, %degree;
	mad.lo.s32	%s, %s, %pitch, %q;
	mov.u32	%q, words;
	mad.lo.s32	%s, %s, 4, %q;
	st.shared.u32	[%s], %lane;
	bar.sync	0;
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

local bank_conflicts = ww.workload "bank_conflicts" {
  doc = "Loads from shared memory with a given degree of bank conflicts",
  ptx = ptx.module {
    ptx.fill(kernel, {
      registers = registers,
      loads = ptx.lines(unroll, function(i) return ("ld.shared.u32	%%v%d, [%%s];"):format(i % registers) end),
    }),
  },
  sizes = { -- `turns` of 32 loads by every warp
    small = { degree = 1, banks = 32, warps = 8, turns = 32 },
    medium = { degree = 2, banks = 32, warps = 8, turns = 32 },
    large = { degree = 32, banks = 32, warps = 8, turns = 32 },
  },
}

bank_conflicts.unroll = unroll

function bank_conflicts:run(gpu, size)
  local threads = 32 * size.warps
  local out = gpu:alloc(4 * threads)
  local words = (32 + size.degree - 1) // size.degree -- that lanes of one row read
  local pitch = (words + size.banks - 1) // size.banks * size.banks
  gpu:launch(self.kernels.bank_conflicts, {
    grid = 1,
    block = threads,
    shared = 4 * pitch * size.degree,
    args = { out, size.degree, pitch, size.turns },
  })
  local lanes = ww.array("u32", threads)
  for t = 0, threads - 1 do lanes[t] = t % 32 end
  self:check("what each thread read", gpu:download("u32", out, threads), lanes)
end

return bank_conflicts
