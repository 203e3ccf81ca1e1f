-- The lines of a piece of device memory, sorted by the DRAM row in which they live.
local dram_rows = {}

local line_bytes <const> = 128

--- The fields of the class AddressMap that say where an address lives, with its defaults.
dram_rows.default_map = {
  channels = 6, interleave = 256, row_mask = 0x0fff0000, bank_mask = 0xe100, column_mask = 0x1eff,
  channel_hash = false, bank_hash = false,
}

--- The bits of `address` under `mask`, packed to the right.
local function pack(address, mask)
  local packed, at = 0, 0
  while mask ~= 0 do
    local bit = mask & -mask
    if address & bit ~= 0 then packed = packed | 1 << at end
    mask, at = mask ~ bit, at + 1
  end
  return packed
end

--- Below `channels`: what channel_hash adds, as in mem/protocol/address_map.c.
local function hash_of(quotient, channels) return ((quotient * 0x9e3779b97f4a7c15 >> 32) * channels) >> 32 end

--- Channel, bank and row of an address; as in mem/protocol/address_map.h, `rest` is the address
-- with the channel taken out.
function dram_rows.locate(map, address)
  local piece = address // map.interleave
  local channel, quotient = piece % map.channels, piece // map.channels
  local rest = quotient * map.interleave + address % map.interleave
  local bank, row = pack(rest, map.bank_mask), pack(rest, map.row_mask)
  if map.channel_hash then channel = (channel + hash_of(quotient, map.channels)) % map.channels end
  if map.bank_hash then bank = bank ~ row & pack(map.bank_mask, map.bank_mask) end
  return channel, bank, row
end

local function sort_lines(map, base, bytes)
  local banks, by_name, rows = {}, {}, {}
  for address = base, base + bytes - line_bytes, line_bytes do
    local channel, bank, row = dram_rows.locate(map, address)
    local bank_name = channel << 32 | bank
    local row_name = ("%d.%d"):format(bank_name, row)
    if not by_name[bank_name] then
      by_name[bank_name] = { channel = channel, bank = bank, rows = {} }
      banks[#banks + 1] = by_name[bank_name]
    end
    if not rows[row_name] then
      rows[row_name] = {}
      table.insert(by_name[bank_name].rows, rows[row_name])
    end
    table.insert(rows[row_name], address)
  end
  return banks
end

local last = {} -- sorting takes longer than most kernels that want it

--- A list of { channel =, bank =, rows = { { line addresses, ascending } ... } } of the memory at
-- base, in order of first addresses.
function dram_rows.sort(map, base, bytes)
  local key = ("%d %d %d %d %d %s %s %d %d"):format(map.channels, map.interleave, map.row_mask, map.bank_mask,
    map.column_mask, map.channel_hash, map.bank_hash, base, bytes)
  if last.key ~= key then last = { key = key, banks = sort_lines(map, base, bytes) } end
  return last.banks
end

return dram_rows
