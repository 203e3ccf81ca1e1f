-- Objects of clang: the function that registers their kernels runs before the constructors of their global objects, which may launch
-- some. clang puts it behind them.
local inputs = require "warpwright.inputs"

local registration = {}

local SYMBOLS <const>, RELOCATIONS <const>, CONSTRUCTORS <const> = 2, 4, 14
local NAME <const> = "\0__cuda_module_ctor\0"

--- The sections of an ELF object of 64 bits; nil for other files, and for numbers of sections that its header does not hold.
local function sections_of(text)
  if text:sub(1, 6) ~= "\127ELF\2\1" then return nil end
  local at, size, count = string.unpack("<I8", text, 0x29), string.unpack("<I2I2", text, 0x3b)
  local sections = {}
  for i = 0, count - 1 do
    local section, _ = {}, nil
    _, section.kind, _, _, section.at, section.bytes, section.link, section.info = string.unpack("<I4I4I8I8I8I8I4I4", text, at + i * size + 1)
    sections[i] = section
  end
  return count > 0 and sections or nil
end

--- Section and offset of symbol `index`.
local function place_of(text, symbols, index)
  local section, value = string.unpack("<I2I8", text, symbols.at + index * 24 + 7)
  return section, value
end

--- Section and offset of the function that registers; nil where there is none.
local function find_function(text, sections, symbols)
  local names = sections[symbols.link]
  local first = text:sub(names.at + 1, names.at + names.bytes):find(NAME, 1, true)
  for i = 0, first and symbols.bytes // 24 - 1 or -1 do
    if string.unpack("<I4", text, symbols.at + i * 24 + 1) == first then return place_of(text, symbols, i) end
  end
end

--- The relocations of an array of constructors, with the one of the function in front of the others; nil when it is there or has none.
local function reordered(text, relocations, symbols, section, offset)
  local entries, places, own = {}, {}, nil
  for at = relocations.at + 1, relocations.at + relocations.bytes, 24 do
    local entry = {}
    entry.place, entry.type, entry.symbol, entry.addend = string.unpack("<I8I4I4i8", text, at)
    entries[#entries + 1], places[#places + 1] = entry, entry.place
  end
  table.sort(entries, function(a, b) return a.place < b.place end)
  table.sort(places)
  for i, entry in ipairs(entries) do
    local of, value = place_of(text, symbols, entry.symbol)
    if of == section and value + entry.addend == offset then own = i end
  end
  if not own or own == 1 then return nil end
  table.insert(entries, 1, table.remove(entries, own))
  for i, entry in ipairs(entries) do
    entries[i] = string.pack("<I8I4I4i8", places[i], entry.type, entry.symbol, entry.addend)
  end
  return table.concat(entries)
end

--- The text of an object whose kernels are registered first; nil where nothing has to change.
local function changed(text)
  local sections, symbols = sections_of(text), nil
  for _, section in pairs(sections or {}) do
    if section.kind == SYMBOLS then symbols = section end
  end
  if not symbols then return nil end
  local section, offset = find_function(text, sections, symbols)
  if not section then return nil end
  for _, relocations in pairs(sections) do
    if relocations.kind == RELOCATIONS and sections[relocations.info].kind == CONSTRUCTORS then
      local order = reordered(text, relocations, symbols, section, offset)
      if order then return text:sub(1, relocations.at) .. order .. text:sub(relocations.at + relocations.bytes + 1) end
    end
  end
end

function registration.put_first(path)
  local text = inputs.read_file(path)
  text = text and changed(text)
  if text then inputs.write_file(path, text) end
end

return registration
