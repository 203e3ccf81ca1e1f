-- A value as the text of a Lua expression, which gives it back bit for bit: numbers, texts, booleans, and tables of them. A file
-- that returns one is read with loadfile(path, "t", { math = math }).
local names = require "warpwright.names"

local function float(value)
  if value ~= value then return "0/0" end
  if value == math.huge or value == -math.huge then return value > 0 and "math.huge" or "-math.huge" end
  return ("%a"):format(value)
end

local function literal(value)
  if type(value) == "string" then return ("%q"):format(value) end
  if math.type(value) == "float" then return float(value) end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for _, key in ipairs(names.sorted_keys(value)) do
    parts[#parts + 1] = ("[%s]=%s"):format(literal(key), literal(value[key]))
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

return literal
