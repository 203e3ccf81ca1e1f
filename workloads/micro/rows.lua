local ww = require "warpwright"
local dram_rows = require "workloads.micro.dram_rows"
local ptx = require "workloads.micro.ptx"

local unroll <const> = 8
local line_bytes <const> = 128

-- Warp w reads `used` of the lines that its part of the list names. The list lies in shared memory
-- by then, so that reading it disturbs no row.
local kernel = [[
.visible .entry rows(.param .u64 buffer, .param .u64 list, .param .u64 out, .param .u32 listed, .param .u32 used)
{
	.reg .pred	%again;
	.reg .b32	%i, %t, %cta, %threads, %warp, %lane, %listed, %used, %words, %s, %at, %line, %v<$unroll>;
	.reg .b64	%buffer, %list, %out, %a;
	.extern .shared .align 4 .b8	lines[];
	ld.param.u64	%buffer, [buffer];
	ld.param.u64	%list, [list];
	ld.param.u64	%out, [out];
	ld.param.u32	%listed, [listed];
	ld.param.u32	%used, [used];
	mov.u32	%cta, %ctaid.x;
	mov.u32	%threads, %ntid.x;
	mov.u32	%t, %tid.x;
	shr.u32	%warp, %t, 5;
	and.b32	%lane, %t, 31;
	mad.lo.s32	%t, %cta, %threads, %t;
	mad.wide.u32	%out, %t, 4, %out;
	mad.wide.u32	%buffer, %lane, 4, %buffer;
	shr.u32	%t, %t, 5;
	mul.lo.s32	%t, %t, %listed;
	add.s32	%t, %t, %lane;
	mad.wide.u32	%list, %t, 4, %list;
	mul.lo.s32	%words, %warp, %listed;
	mov.u32	%s, lines;
	mad.lo.s32	%s, %words, 4, %s;
	mad.lo.s32	%at, %lane, 4, %s;
	mov.u32	%i, %lane;
fetch:
	ld.global.u32	%line, [%list];
	st.shared.u32	[%at], %line;
	add.s64	%list, %list, 128;
	add.s32	%at, %at, 128;
	add.s32	%i, %i, 32;
	setp.lt.s32	%again, %i, %listed;
	@%again bra	fetch;
	bar.sync	0;
	mov.u32	%i, 0;
turn:
$loads
	add.s32	%s, %s, $bytes;
	add.s32	%i, %i, $unroll;
	setp.lt.s32	%again, %i, %used;
	@%again bra	turn;
	st.global.u32	[%out], %v0;
	ret;
}
]]

local function load(i)
  return table.concat({
    ("ld.shared.u32	%%line, [%%s+%d];"):format(4 * i),
    ("mad.wide.u32	%%a, %%line, %d, %%buffer;"):format(line_bytes),
    ("ld.global.cg.u32	%%v%d, [%%a];"):format(i),
  }, "\n\t")
end

-- `visit` lines of a row are read one after the other, then those of another row, in any of the
-- first `banks` banks of any channel. visit = 0: one half of the warps reads whole rows, the other
-- single lines. Of the `listed` lines of each warp, a multiple of 32, `used` are read, a multiple
-- of 8. The address map must be the machine's.
local function sizes_of(list)
  local sizes = {}
  for name, given in pairs(list) do
    local size = {
      bytes = 32 * 1024 * 1024, banks = 32, visit = 32, ctas = 30, threads = 256, listed = 256, used = 256, seed = 1,
    }
    for key, value in pairs(dram_rows.default_map) do size[key] = value end
    for key, value in pairs(given) do size[key] = value end
    sizes[name] = size
  end
  return sizes
end

local rows = ww.workload "rows" {
  doc = "Every warp reads lines of chosen DRAM rows and banks",
  ptx = ptx.module { ptx.fill(kernel, { unroll = unroll, bytes = 4 * unroll, loads = ptx.lines(unroll, load) }) },
  sizes = sizes_of {
    whole_rows = {},
    single_lines = { visit = 1 },
    one_bank = { visit = 1, banks = 1, listed = 32, used = 32 },
    mixed = { visit = 0 },
  },
}

rows.line_bytes = line_bytes

local function shuffle(list, rng)
  for i = #list, 2, -1 do
    local j = rng:int(1, i)
    list[i], list[j] = list[j], list[i]
  end
end

--- Pieces of `visit` lines, or whole rows for 0, of the rows of a channel: one of each row in
-- random order, then another of each, so that nobody comes back to a row soon. Which piece of a row
-- comes first is random too: those at the same place in their rows fall into few sets of L2. Of the
-- rows of a bank, those from share.first on in steps of share.step are taken.
local function pieces_of_channel(size, banks, visit, share, rng)
  local rounds, pieces = {}, {}
  for _, bank in ipairs(banks) do
    for r = share.first, bank.bank < size.banks and #bank.rows or 0, share.step do
      local row, of_row = bank.rows[r], {}
      local lines = visit == 0 and #row or visit
      for first = 1, #row - lines + 1, lines do
        of_row[#of_row + 1] = table.move(row, first, first + lines - 1, 1, {})
      end
      shuffle(of_row, rng)
      for round, piece in ipairs(of_row) do
        rounds[round] = rounds[round] or {}
        table.insert(rounds[round], piece)
      end
    end
  end
  for _, round in ipairs(rounds) do
    shuffle(round, rng)
    table.move(round, 1, #round, #pieces + 1, pieces)
  end
  return pieces
end

--- A function that gives the addresses of lines: of every channel in turn, and there piece after
-- piece.
local function supply(size, channels, visit, share, rng)
  local pieces, at, turn = {}, {}, 0
  for c, banks in ipairs(channels) do
    pieces[c], at[c] = pieces_of_channel(size, banks, visit, share, rng), 0
  end
  return function()
    turn = turn % #channels + 1
    local piece = pieces[turn][#pieces[turn]]
    if not piece then error(("rows: bytes: expected room for more lines, got %d"):format(size.bytes), 0) end
    at[turn] = at[turn] + 1
    if at[turn] < #piece then return piece[at[turn]] end
    pieces[turn][#pieces[turn]], at[turn] = nil, 0
    return piece[#piece]
  end
end

--- The banks of dram_rows.sort() by channel.
local function by_channel(banks)
  local channels = {}
  for _, bank in ipairs(banks) do
    local c = bank.channel + 1
    channels[c] = channels[c] or {}
    table.insert(channels[c], bank)
  end
  return channels
end

--- For each warp the numbers of the lines that it reads. Lines are dealt out one by one: at any
-- time neighbouring warps are at the same rows.
local function line_numbers(size, buffer, warps)
  local channels, rng = by_channel(dram_rows.sort(size, buffer, size.bytes)), ww.rng(size.seed)
  local supplies = {}
  if size.visit == 0 then
    supplies[1] = supply(size, channels, 0, { first = 1, step = 2 }, rng)
    supplies[2] = supply(size, channels, 1, { first = 2, step = 2 }, rng)
  else
    supplies[1] = supply(size, channels, size.visit, { first = 1, step = 1 }, rng)
  end
  local numbers = ww.array("u32", warps * size.listed)
  for i = 0, size.listed - 1 do
    for warp = 0, warps - 1 do
      local address = supplies[warp % #supplies + 1]()
      numbers[warp * size.listed + i] = (address - buffer) // line_bytes
    end
  end
  return numbers
end

function rows:run(gpu, size)
  local buffer, threads = gpu:alloc(size.bytes), size.ctas * size.threads
  local warps, out = threads // 32, gpu:alloc(4 * threads)
  gpu:fill(buffer, 0x07, size.bytes)
  local list = gpu:upload(line_numbers(size, buffer, warps))
  gpu:launch(self.kernels.rows, {
    grid = size.ctas,
    block = size.threads,
    shared = 4 * size.threads // 32 * size.listed,
    args = { buffer, list, out, size.listed, size.used },
  })
  self:check("what each thread read", gpu:download("u32", out, threads), ww.array("u32", threads):fill(0x07070707))
end

return rows
