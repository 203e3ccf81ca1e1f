local ww = require "warpwright"
local ptx = require "workloads.micro.ptx"

local unroll <const> = 32 -- operations in one turn of the loop

-- A word of shared memory that holds its own address.
local shared_start = [[
	.shared .align 4 .b32	cell;
	mov.u32	%a, cell;
	st.shared.u32	[%a], %a;
	mov.u32	%d0, %a;]]

-- One row per instruction: $d is its result, $a the operand by which it may depend on the one
-- before. `timing` is the class that the SM's parameters call it by; `start` sets the operands
-- where their type's does not do.
local rows = {
  { name = "int_add", timing = "int_add", type = "b32", text = "add.s32	$d, $a, %b;" },
  { name = "int_mul", timing = "int_mul", type = "b32", text = "mul.lo.s32	$d, $a, %b;" },
  { name = "int_mad", timing = "int_mad", type = "b32", text = "mad.lo.s32	$d, $a, %b, %c;" },
  { name = "int_min", timing = "int_max", type = "b32", text = "min.s32	$d, $a, %b;" },
  { name = "int_max", timing = "int_max", type = "b32", text = "max.s32	$d, $a, %b;" },
  { name = "int_div", timing = "int_div", type = "b32", text = "div.s32	$d, $a, %b;" },
  { name = "and", timing = "other", type = "b32", text = "and.b32	$d, $a, %b;" },
  { name = "shift", timing = "other", type = "b32", text = "shl.b32	$d, $a, %b;" },
  { name = "mov", timing = "other", type = "b32", text = "mov.b32	$d, $a;" },
  { name = "cvt", timing = "other", type = "b32", text = "cvt.s32.s8	$d, $a;" },
  { name = "setp", timing = "other", type = "pred", text = "setp.lt.and.s32	$d, %x, %y, $a;" },
  { name = "fp_add", timing = "fp_add", type = "f32", text = "add.f32	$d, $a, %b;" },
  { name = "fp_mul", timing = "fp_mul", type = "f32", text = "mul.f32	$d, $a, %b;" },
  { name = "fp_fma", timing = "fp_mad", type = "f32", text = "fma.rn.f32	$d, $a, %b, %c;" },
  { name = "fp_min", timing = "fp_max", type = "f32", text = "min.f32	$d, $a, %b;" },
  { name = "fp_div", timing = "fp_div", type = "f32", text = "div.rn.f32	$d, $a, %b;" },
  { name = "rcp", timing = "sfu", type = "f32", text = "rcp.approx.f32	$d, $a;" },
  { name = "sqrt", timing = "sfu", type = "f32", text = "sqrt.approx.f32	$d, $a;" },
  { name = "sin", timing = "sfu", type = "f32", text = "sin.approx.f32	$d, $a;" },
  { name = "ex2", timing = "sfu", type = "f32", text = "ex2.approx.f32	$d, $a;" },
  { name = "dp_add", timing = "dp_add", type = "f64", text = "add.f64	$d, $a, %b;" },
  { name = "dp_mul", timing = "dp_mul", type = "f64", text = "mul.f64	$d, $a, %b;" },
  { name = "dp_fma", timing = "dp_mad", type = "f64", text = "fma.rn.f64	$d, $a, %b, %c;" },
  { name = "dp_div", timing = "dp_div", type = "f64", text = "div.rn.f64	$d, $a, %b;" },
  { name = "dp_rcp", timing = "dp_root", type = "f64", text = "rcp.rn.f64	$d, $a;" },
  { name = "dp_sqrt", timing = "dp_root", type = "f64", text = "sqrt.rn.f64	$d, $a;" },
  { name = "shuffle", timing = "shuffle", type = "b32", text = "shfl.bfly.b32	$d, $a, 1, 31;" },
  { name = "shared_load", type = "b32", text = "ld.shared.u32	$d, [$a];", start = shared_start },
}

local kernel = [[
.visible .entry $kind_$name(.param .u64 out, .param .u32 turns)
{
	.reg .pred	%again;
	.reg .b32	%i, %n, %t, %x, %y;
	.reg .b64	%out, %o;
	.reg .$type	%d<$unroll>, %a, %b, %c;
	ld.param.u64	%out, [out];
	ld.param.u32	%n, [turns];
	mov.u32	%t, %tid.x;
	mul.wide.u32	%o, %t, 4;
	add.s64	%out, %out, %o;
	mov.u32	%x, 7;
	mov.u32	%y, 1;
$start
	mov.u32	%i, 0;
turn:
$operations
	add.s32	%i, %i, 1;
	setp.lt.s32	%again, %i, %n;
	@%again bra	turn;
	st.global.u32	[%out], %i;
	ret;
}
]]

-- What the operands begin as.
local start = {
  b32 = "mov.b32	$r, %x;",
  f32 = "mov.f32	$r, 0f3F800000;",
  f64 = "mov.f64	$r, 0d3FF0000000000000;",
  pred = "setp.eq.u32	$r, %x, %x;",
}
local operands = { "%d0", "%a", "%b", "%c" }

local function start_of(type)
  return ptx.lines(#operands, function(i) return ptx.fill(start[type], { r = operands[i + 1] }) end)
end

local function kernel_of(kind, row, operation)
  return ptx.fill(kernel, {
    kind = kind,
    name = row.name,
    type = row.type,
    unroll = unroll,
    start = row.start or start_of(row.type),
    operations = ptx.lines(unroll, operation),
  })
end

local kernels = {}
for _, row in ipairs(rows) do
  kernels[#kernels + 1] = kernel_of("dependent", row, ptx.fill(row.text, { d = "%d0", a = "%d0" }))
  kernels[#kernels + 1] = kernel_of("independent", row, function(i)
    return ptx.fill(row.text, { d = "%d" .. i, a = "%a" })
  end)
end

local operations = ww.workload "operations" {
  doc = "Instructions of one kind, each waiting for the one before or none for any",
  ptx = ptx.module(kernels),
  sizes = { -- `turns` of 32 operations
    dependent = { kind = "dependent", operation = "int_add", warps = 1, turns = 32 },
    independent = { kind = "independent", operation = "int_add", warps = 1, turns = 32 },
    many_warps = { kind = "independent", operation = "int_add", warps = 24, turns = 32 },
  },
}

operations.rows, operations.unroll = rows, unroll

function operations:run(gpu, size)
  local threads = 32 * size.warps
  local out = gpu:alloc(4 * threads)
  gpu:launch(self.kernels[size.kind .. "_" .. size.operation], { grid = 1, block = threads, args = { out, size.turns } })
  self:check("turns", gpu:download("i32", out, threads), ww.array("i32", threads):fill(size.turns))
end

return operations
