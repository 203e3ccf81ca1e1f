local ww = require "warpwright"
local ptx = require "workloads.micro.ptx"

local unroll <const> = 8 -- accesses of a warp in one turn of the loop, none of which waits for another
local line_bytes <const> = 128

-- Warps access whole lines, each its own: warp w of W the lines w, w + W, w + 2 W ..., modulo the
-- footprint.
local kernel = [[
.visible .entry $name(.param .u64 buffer, .param .u64 distance, .param .u64 out, .param .u32 mask, .param .u32 turns)
{
	.reg .pred	%again;
	.reg .b32	%i, %n, %t, %ctas, %threads, %lane, %line, %step, %mask, %l, %h, %s, %v<$unroll>;
	.reg .b64	%buffer, %distance, %out, %to, %a<$unroll>;
	ld.param.u64	%buffer, [buffer];
	ld.param.u64	%distance, [distance];
	ld.param.u64	%out, [out];
	ld.param.u32	%mask, [mask];
	ld.param.u32	%n, [turns];
	mov.u32	%i, %ctaid.x;
	mov.u32	%ctas, %nctaid.x;
	mov.u32	%threads, %ntid.x;
	mov.u32	%t, %tid.x;
	mad.lo.s32	%t, %i, %threads, %t;
	mul.lo.s32	%step, %threads, %ctas;
	shr.u32	%line, %t, 5;
	shr.u32	%step, %step, 5;
	and.b32	%lane, %t, 31;
	mad.wide.u32	%buffer, %lane, 4, %buffer;
	mad.wide.u32	%out, %t, 4, %out;
	mov.u32	%v0, 0x07070707;
$start
	mov.u32	%i, 0;
turn:
$accesses
	add.s32	%i, %i, 1;
	setp.lt.s32	%again, %i, %n;
	@%again bra	turn;
	st.global.u32	[%out], %v0;
	ret;
}
]]

local content <const> = 0x07 -- of every byte that is read

-- Two rounds of multiply and shift spread the number of a line over all bits of %h.
local mix = [[
mul.lo.u32	%h, %line, 0x9E3779B1;
	shr.u32	%l, %h, 15;
	xor.b32	%h, %h, %l;
	mul.lo.u32	%h, %h, 0x85EBCA77;
	shr.u32	%l, %h, 13;
	xor.b32	%h, %h, %l;]]

--- Instructions, one a line.
local function text(...) return table.concat({ ... }, "\n\t") end

--- Access i of the lines that follow each other, or of those in `number`.
local function at_next_line(i, access, number)
  local wrap = ("and.b32	%%l, %s, %%mask;"):format(number or "%line")
  local address = ("mad.wide.u32	%%a%d, %%l, %d, %%buffer;"):format(i, line_bytes)
  return text(wrap, address, access, "add.s32	%line, %line, %step;")
end

local function load(i, operator) return ("ld.global%s.u32	%%v%d, [%%a%d];"):format(operator or "", i, i) end

local function repeated(access) return ptx.lines(unroll, access) end

-- The accesses of a turn of each kernel.
local turns = {
  { "read", repeated(function(i) return at_next_line(i, load(i)) end) },
  { "read_past_l1", repeated(function(i) return at_next_line(i, load(i, ".cg")) end) },
  { "random", repeated(function(i) return text(mix, at_next_line(i, load(i, ".cg"), "%h")) end) },
  { "write", repeated(function(i) return at_next_line(i, ("st.global.u32	[%%a%d], %%line;"):format(i)) end) },
  { "copy", text(repeated(function(i) return at_next_line(i, load(i)) end), repeated(function(i)
    return text(("add.s64	%%to, %%a%d, %%distance;"):format(i), ("st.global.u32	[%%to], %%v%d;"):format(i))
  end)) },
  { "l1", repeated(function(i) return ("ld.global.u32	%%v%d, [%%buffer+%d];"):format(i, line_bytes * i) end) },
  { "shared", repeated(function(i) return ("ld.shared.u32	%%v%d, [%%s+%d];"):format(i, line_bytes * i) end) },
}

-- Every warp writes all that is read; it is always the same.
local tile = ptx.fill([[
	.shared .align 4 .b32	tile[$words];
	mov.u32	%s, tile;
	mad.lo.s32	%s, %lane, 4, %s;
$stores]], {
  words = unroll * line_bytes // 4,
  stores = repeated(function(i) return ("st.shared.u32	[%%s+%d], %%v0;"):format(line_bytes * i) end),
})

local kernels = {}
for i, turn in ipairs(turns) do
  kernels[i] = ptx.fill(kernel, {
    name = turn[1],
    accesses = turn[2],
    unroll = unroll,
    start = turn[1] == "shared" and tile or "",
  })
end

local bandwidth = ww.workload "bandwidth" {
  doc = "Every warp of the machine accesses whole lines: in shared memory, L1, L2 or DRAM",
  ptx = ptx.module(kernels),
  sizes = { -- `footprint` in bytes is a power of two; a turn is 8 accesses of every warp
    shared = { kernel = "shared", footprint = 1024, ctas = 60, threads = 256, turns = 16 },
    l1 = { kernel = "l1", footprint = 1024, ctas = 60, threads = 256, turns = 16 },
    l2_read = { kernel = "read_past_l1", footprint = 256 * 1024, ctas = 60, threads = 256, turns = 16 },
    l2_write = { kernel = "write", footprint = 256 * 1024, ctas = 60, threads = 256, turns = 16 },
    dram_read = { kernel = "read", footprint = 16 * 1024 * 1024, ctas = 60, threads = 256, turns = 16 },
    dram_read_past_l1 = { kernel = "read_past_l1", footprint = 16 * 1024 * 1024, ctas = 60, threads = 256, turns = 16 },
    dram_write = { kernel = "write", footprint = 16 * 1024 * 1024, ctas = 60, threads = 256, turns = 16 },
    dram_copy = { kernel = "copy", footprint = 16 * 1024 * 1024, ctas = 60, threads = 256, turns = 16 },
    dram_random = { kernel = "random", footprint = 64 * 1024 * 1024, ctas = 60, threads = 256, turns = 16 },
  },
}

bandwidth.unroll, bandwidth.line_bytes = unroll, line_bytes

--- Lines of which the first word is not the line's number, modulo the footprint; every 97th is
-- looked at.
local function wrong_lines(gpu, buffer, lines, written)
  local wrong = 0
  for line = 0, math.min(lines, written) - 1, 97 do
    if gpu:read("u32", buffer + line_bytes * line) % lines ~= line then wrong = wrong + 1 end
  end
  return wrong
end

function bandwidth:run(gpu, size)
  local lines, threads = size.footprint // line_bytes, size.ctas * size.threads
  self:check_that("the footprint is a power of two", lines > 0 and lines & lines - 1 == 0)
  local buffer, out = gpu:alloc(size.footprint), gpu:alloc(4 * threads)
  local copied = size.kernel == "copy" and gpu:alloc(size.footprint) or buffer
  gpu:fill(buffer, content, size.footprint)
  gpu:launch(self.kernels[size.kernel], {
    grid = size.ctas,
    block = size.threads,
    args = { buffer, copied - buffer, out, lines - 1, size.turns },
  })

  local word = content * 0x01010101
  local written = threads // 32 * unroll * size.turns
  self:check("what each thread read", gpu:download("u32", out, threads), ww.array("u32", threads):fill(word))
  if size.kernel == "write" then self:check("wrong lines", wrong_lines(gpu, buffer, lines, written), 0) end
  if size.kernel == "copy" then
    local words = math.min(lines, written) * line_bytes // 4
    self:check("the copy", gpu:download("u32", copied, words), ww.array("u32", words):fill(word))
  end
end

return bandwidth
