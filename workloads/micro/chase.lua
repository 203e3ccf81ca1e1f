local ww = require "warpwright"
local buffers = require "scripts.lib.buffers"
local dram_rows = require "workloads.micro.dram_rows"
local ptx = require "workloads.micro.ptx"

local unroll <const> = 32 -- loads in one turn of the loop

-- One thread; every load reads the address of the next one.
local kernel = [[
.visible .entry chase_$name(.param .u64 start, .param .u64 out, .param .u32 turns)
{
	.reg .pred	%again;
	.reg .b32	%i, %n, %s;
	.reg .b64	%p, %out;
	ld.param.u64	%p, [start];
	ld.param.u64	%out, [out];
	ld.param.u32	%n, [turns];
$start
	mov.u32	%i, 0;
turn:
$loads
	add.s32	%i, %i, 1;
	setp.lt.s32	%again, %i, %n;
	@%again bra	turn;
	st.global.u64	[%out], %p;
	ret;
}
]]

-- In shared memory and a texture one cell is enough; it points to itself.
local shared_cell = [[
	.shared .align 4 .b32	cell;
	mov.u32	%s, cell;
	st.shared.u32	[%s], %s;]]

local loads = {
  { "global", "ld.global.u64	%p, [%p];" },
  { "past_l1", "ld.global.cg.u64	%p, [%p];" },
  { "constant", "ld.const.u64	%p, [%p];" },
  { "atomic", "atom.global.add.u64	%p, [%p], 0;" },
  { "shared", "ld.shared.u32	%s, [%s];", shared_cell },
  { "texture", "tex.1d.v4.s32.s32	{%s, _, _, _}, [%p, {%s}];", "	mov.u32	%s, 0;" },
  { "shared_atomic", "atom.shared.add.u32	%s, [%s], 0;", shared_cell },
}

local kernels = {}
for i, load in ipairs(loads) do
  kernels[i] = ptx.fill(kernel, { name = load[1], loads = ptx.lines(unroll, load[2]), start = load[3] or "" })
end

-- `turns` of 32 loads. `order`: ring (cells of `stride` bytes one after the other), shuffled (the
-- same cells), row_hits (`visit` lines of a DRAM row, then the next row of the bank), row_conflicts
-- (a different row of the bank each time). `scrub` bytes are copied to the device after the cells,
-- for L2 slices that keep what the host copies.
local function sizes_of(list)
  local sizes = {}
  for name, given in pairs(list) do
    local size = { load = "global", order = "ring", bytes = 128, stride = 128, visit = 32, scrub = 0, turns = 64 }
    for key, value in pairs(dram_rows.default_map) do size[key] = value end
    for key, value in pairs(given) do size[key] = value end
    sizes[name] = size
  end
  return sizes
end

local chase = ww.workload "chase" {
  doc = "One thread follows pointers: how long a load takes",
  ptx = ptx.module(kernels),
  sizes = sizes_of {
    l1 = { bytes = 4 * 1024 },
    l2 = { bytes = 128 * 1024 },
    past_l1 = { load = "past_l1", bytes = 128 * 1024 },
    dram_sequential = { bytes = 8 * 1024 * 1024 },
    dram_random = { bytes = 8 * 1024 * 1024, order = "shuffled" },
    row_hits = { bytes = 8 * 1024 * 1024, order = "row_hits", scrub = 2 * 1024 * 1024, turns = 16 },
    row_conflicts = { bytes = 8 * 1024 * 1024, order = "row_conflicts", scrub = 2 * 1024 * 1024, turns = 16 },
    constant = { load = "constant" },
    atomic = { load = "atomic" },
    texture = { load = "texture" },
    shared = { load = "shared" },
    shared_atomic = { load = "shared_atomic" },
  },
}

--- The rows of channel 0's first bank that are whole.
local function whole_rows(cells, size)
  local rows, whole = dram_rows.sort(size, cells, size.bytes)[1].rows, {}
  for _, row in ipairs(rows) do
    if #row == #rows[#rows // 2 + 1] then whole[#whole + 1] = row end
  end
  return whole
end

--- The addresses that are to be visited, in order.
local order = {}

function order.row_hits(cells, size)
  local list = {}
  for _, row in ipairs(whole_rows(cells, size)) do
    for i = 1, math.min(size.visit, #row) do list[#list + 1] = row[i] end
  end
  return list
end

function order.row_conflicts(cells, size)
  local list, rows = {}, whole_rows(cells, size)
  for i = 1, #rows[1] do
    for _, row in ipairs(rows) do list[#list + 1] = row[i] end
  end
  return list
end

--- Cells that point from each address of a list to the next.
local function linked(cells, size, list)
  local array = ww.array("u64", size.bytes // 8)
  for i, address in ipairs(list) do array[(address - cells) // 8] = list[i % #list + 1] end
  return array, list[1]
end

local shuffle_seed <const> = 9

--- The cells of a size, and the address of the first that is visited.
local function cells_of(cells, size)
  if not order[size.order] then
    return buffers.chase(cells, size.bytes, size.stride, size.order == "ring" and 0 or shuffle_seed), cells
  end
  local list, wanted = order[size.order](cells, size), unroll * size.turns
  if #list < wanted then
    error(("chase: bytes: expected room for %d lines in this order, got %d in %d bytes"):format(wanted, #list, size.bytes), 0)
  end
  return linked(cells, size, list)
end

local stays_in_place = { shared = true, shared_atomic = true, texture = true }

chase.unroll = unroll

function chase:run(gpu, size)
  local cells, out = gpu:alloc(size.bytes), gpu:upload(ww.u64(0))
  local array, at = cells_of(cells, size)
  gpu:write(cells, array)
  if size.scrub > 0 then gpu:upload(ww.array("u8", size.scrub)) end
  if size.load == "texture" then at = gpu:texture { buffer = gpu:upload(ww.i32(0)), format = "s32", width = 1 } end
  gpu:launch(self.kernels["chase_" .. size.load], { grid = 1, block = 1, args = { at, out, size.turns } })

  for _ = 1, stays_in_place[size.load] and 0 or unroll * size.turns do at = array[(at - cells) // 8] end
  self:check_that("the chase ends where its pointers lead", gpu:read("u64", out) == at)
end

return chase
