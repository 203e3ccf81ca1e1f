-- JSON: values to text with sorted keys, and back.
local inputs = require "warpwright.inputs"
local names = require "warpwright.names"

local json = { null = {} } -- a value to write: in Lua, what is nil is not there

local function quoted(text)
  return '"' .. text:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

local function number_text(value, digits)
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if value ~= value or value == math.huge or value == -math.huge then return "null" end
  return ("%%.%dg"):format(digits):format(value)
end

local encode

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local function encode_table(value, indent, digits)
  local is_list = value[1] ~= nil or next(value) == nil
  local members, inner = {}, indent .. "  "
  if is_list then
    for i, member in ipairs(value) do members[i] = encode(member, inner, digits) end
  else
    for i, key in ipairs(sorted_keys(value)) do members[i] = quoted(key) .. ": " .. encode(value[key], inner, digits) end
  end
  local open, close = is_list and "[" or "{", is_list and "]" or "}"
  if not members[1] then return open .. close end
  return open .. "\n" .. inner .. table.concat(members, ",\n" .. inner) .. "\n" .. indent .. close
end

function encode(value, indent, digits)
  if value == json.null then return "null" end
  if type(value) == "table" then return encode_table(value, indent, digits) end
  if type(value) == "number" then return number_text(value, digits) end
  if type(value) == "string" then return quoted(value) end
  return tostring(value)
end

--- Tables with an element 1, and empty ones, are lists. What is not finite becomes null. `digits` of floats: 9 unless given; 17 are all.
function json.encode(value, digits) return names.utf8(encode(value, "", digits or 9)) .. "\n" end

-- Reading -------------------------------------------------------------------------------------------------------------

local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ["/"] = "/", ["\\"] = "\\", ['"'] = '"' }
local words = { ["true"] = true, ["false"] = false }

local decode

local function decode_string(text, at)
  local parts = {}
  while true do
    local plain, stop = text:match('^([^"\\]*)()', at)
    parts[#parts + 1] = plain
    local c = text:sub(stop, stop)
    if c == '"' then return table.concat(parts), stop + 1 end
    local code = text:match("^\\u(%x%x%x%x)", stop)
    local escape = escapes[text:match("^\\(.)", stop)]
    if not code and not escape then error(("JSON, byte %d: expected a text, got another character"):format(stop), 0) end
    parts[#parts + 1] = code and utf8.char(tonumber(code, 16)) or escape
    at = stop + (code and 6 or 2)
  end
end

--- The members of a list or an object from behind its bracket on.
local function decode_members(text, at, close, member)
  at = text:match("^%s*()", at)
  if text:sub(at, at) == close then return at + 1 end
  while true do
    at = text:match("^%s*()", member(at))
    local c = text:sub(at, at)
    if c == close then return at + 1 end
    if c ~= "," then error(("JSON, byte %d: expected ',' or '%s', got '%s'"):format(at, close, c), 0) end
    at = at + 1
  end
end

local function decode_list(text, at)
  local list, count = {}, 0
  at = decode_members(text, at, "]", function(start)
    count = count + 1
    list[count], start = decode(text, start)
    return start
  end)
  return list, at
end

local function decode_object(text, at)
  local object = {}
  at = decode_members(text, at, "}", function(start)
    local key_at = text:match('^%s*"()', start) or error(("JSON, byte %d: expected a key"):format(start), 0)
    local key, behind = decode_string(text, key_at)
    local value_at = text:match("^%s*:()", behind) or error(("JSON, byte %d: expected ':'"):format(behind), 0)
    object[key], value_at = decode(text, value_at)
    return value_at
  end)
  return object, at
end

function decode(text, at)
  at = text:match("^%s*()", at)
  local c = text:sub(at, at)
  if c == "{" then return decode_object(text, at + 1) end
  if c == "[" then return decode_list(text, at + 1) end
  if c == '"' then return decode_string(text, at + 1) end
  local word, behind = text:match("^([%w+%-.]+)()", at)
  if word == "null" then return nil, behind end
  local value = words[word]
  if value == nil then value = tonumber(word) end
  if value == nil then error(("JSON, byte %d: expected a value"):format(at), 0) end
  return value, behind
end

--- Writes a value into a file.
function json.write(path, value) inputs.write_file(path, json.encode(value)) end

--- The value of a JSON text; null is nil.
function json.decode(text) return (decode(text, 1)) end

return json
