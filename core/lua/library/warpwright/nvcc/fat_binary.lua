-- Fat binaries: containers of PTX, as programs carry them.
local core = require "warpwright.core"
local cuda_image = require "warpwright.cuda_image"
local inputs = require "warpwright.inputs"

local fat_binary = {}

local MAGIC <const>, KIND_PTX <const>, HEADER <const>, ENTRY_HEADER <const> = 0xBA55ED50, 1, 16, 64

--- clang 14 gives static variables of relocatable code two names: X is declared and used, X__static__NUMBER is defined, and is what
-- the host knows. Returns the text with the second one alone.
function fat_binary.with_one_name(text)
  local defined, found = {}, false
  for name, number in text:gmatch "([%w_$]-)(__static__%x+)[ %[;]" do
    defined[name], found = name .. number, true
  end
  if not found then return text end
  local kept = {}
  for line, ending in text:gmatch "([^\n]*)(\n?)" do
    local declared = line:match "^%.extern .*[ ]([%w_$]+)[%[%d%]]*;%s*$"
    if not defined[declared or ""] then
      kept[#kept + 1] = line:gsub("[%w_$]+", defined)
      kept[#kept + 1] = ending
    end
  end
  return table.concat(kept)
end

local function entry_of(ptx)
  local text = fat_binary.with_one_name(ptx.text) .. "\0"
  text = text .. ("\0"):rep(-#text % 8)
  return string.pack("<I2I2I4I8I4I4I2I2I4I8I8I8I8", KIND_PTX, 0x0101, ENTRY_HEADER, #text, 0, 0, 0, 7, ptx.architecture, 0, 0, 0, 0) .. text
end

--- The container of { { architecture =, text = PTX } ... }.
function fat_binary.of(list)
  local entries = {}
  for i, ptx in ipairs(list) do entries[i] = entry_of(ptx) end
  local body = table.concat(entries)
  return string.pack("<I4I2I2I8", MAGIC, 1, HEADER, #body) .. body
end

--- As clang calls it: --create FILE --image=profile=compute_70,file=FILE ...; what is made for an sm_ is a copy of the PTX.
function fat_binary.main(args, first)
  local output, list, i = nil, {}, first
  while args[i] do
    local file = args[i]:match "^%-%-image=profile=compute_%d+,file=(.*)$" or args[i]:match "^%-%-image=kind=ptx,.*file=([^,]*)"
    if args[i] == "--create" then
      i = i + 1
      output = args[i]
    elseif args[i]:find "^%-%-create=" then
      output = args[i]:sub(10)
    elseif file then
      local text = inputs.read_file(file) or core.user_error(("fatbinary: %s: no such file"):format(file))
      list[#list + 1] = { architecture = cuda_image.target(text) or 0, text = text }
    end
    i = i + 1
  end
  if not output then core.user_error "fatbinary: expected --create FILE, got none" end
  inputs.write_file(output, fat_binary.of(list))
  return 0
end

return fat_binary
