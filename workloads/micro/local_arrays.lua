local ww = require "warpwright"
local ptx = require "workloads.micro.ptx"

local most_words <const> = 256

-- Every thread writes the words of an array of its own, one after the other, and adds them up
-- again: `turns` times.
local kernel = [[
.visible .entry local_arrays_$words(.param .u64 out, .param .u32 turns)
{
	.local .align 4 .b8	array[$bytes];
	.reg .pred	%again;
	.reg .b32	%i, %n, %t, %cta, %threads, %value, %sum;
	.reg .b64	%out, %at, %end;
	ld.param.u64	%out, [out];
	ld.param.u32	%n, [turns];
	mov.u32	%t, %tid.x;
	mov.u32	%cta, %ctaid.x;
	mov.u32	%threads, %ntid.x;
	mad.lo.s32	%t, %cta, %threads, %t;
	mov.u32	%sum, 0;
	mov.u32	%i, 0;
turn:
	mov.u64	%at, array;
	add.s64	%end, %at, $bytes;
	add.s32	%value, %t, %i;
write:
	st.local.u32	[%at], %value;
	add.s32	%value, %value, 1;
	add.s64	%at, %at, 4;
	setp.lt.u64	%again, %at, %end;
	@%again bra	write;
	mov.u64	%at, array;
read:
	ld.local.u32	%value, [%at];
	add.s32	%sum, %sum, %value;
	add.s64	%at, %at, 4;
	setp.lt.u64	%again, %at, %end;
	@%again bra	read;
	add.s32	%i, %i, 1;
	setp.lt.s32	%again, %i, %n;
	@%again bra	turn;
	mad.wide.u32	%out, %t, 4, %out;
	st.global.u32	[%out], %sum;
	ret;
}
]]

local kernels = {}
for power = 0, 8 do
  local words = 1 << power
  kernels[#kernels + 1] = ptx.fill(kernel, { words = words, bytes = 4 * words })
end

local local_arrays = ww.workload "local_arrays" {
  doc = "Threads write arrays in local memory and read them again: what of that L1, L2 and DRAM see",
  ptx = ptx.module(kernels),
  sizes = { -- `words`: a power of two up to 256. On the GTX 480: what fits L1, what fits L2, and what does not
    small = { words = 4, ctas = 15, threads = 256, turns = 4 },
    medium = { words = 8, ctas = 60, threads = 256, turns = 4 },
    large = { words = 64, ctas = 120, threads = 256, turns = 2 },
  },
}

function local_arrays:run(gpu, size)
  local words, threads = size.words, size.ctas * size.threads
  if words < 1 or words > most_words or words & (words - 1) ~= 0 then
    error(("local_arrays: words: expected a power of two from 1 to %d, got %d"):format(most_words, words), 0)
  end
  local out = gpu:alloc(4 * threads)
  gpu:launch(self.kernels["local_arrays_" .. words],
    { grid = size.ctas, block = size.threads, args = { out, size.turns } })
  -- The sum of t + i + w over turns i and words w.
  local sums, turns = ww.array("u32", threads), size.turns
  local fixed = words * turns * (turns - 1) // 2 + turns * words * (words - 1) // 2
  for t = 0, threads - 1 do sums[t] = (turns * words * t + fixed) & 0xffffffff end
  self:check("sums", gpu:download("u32", out, threads), sums)
end

return local_arrays
