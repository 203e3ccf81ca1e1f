-- Rows as text: a table for eyes, CSV, JSON.
local json = require "warpwright.json"

local text_table = {}

local function shown(value)
  if value == nil then return "" end
  return math.type(value) == "float" and ("%.6g"):format(value) or tostring(value)
end

--- Numbers to the right, texts to the left: as the first value of the column is.
function text_table.text(columns, rows)
  local widths, lines, is_number = {}, {}, {}
  for c, name in ipairs(columns) do
    widths[c] = utf8.len(name) or #name
    for _, row in ipairs(rows) do
      widths[c] = math.max(widths[c], utf8.len(shown(row[c])) or #shown(row[c]))
      if is_number[c] == nil and row[c] ~= nil and row[c] ~= "" then is_number[c] = type(row[c]) == "number" end
    end
  end
  local function line(values)
    local cells = {}
    for c = 1, #columns do
      local text = shown(values[c])
      local space = (" "):rep(widths[c] - (utf8.len(text) or #text))
      cells[c] = is_number[c] and space .. text or text .. space
    end
    return (table.concat(cells, "  "):gsub("%s+$", "")) .. "\n"
  end
  lines[1] = line(columns)
  for i, row in ipairs(rows) do lines[i + 1] = line(row) end
  return table.concat(lines)
end

--- Quoted where it must be (RFC 4180); NULL is nothing.
local function csv_cell(value)
  if value == nil then return "" end
  local text = math.type(value) == "float" and ("%.17g"):format(value) or tostring(value)
  return text:find '[",\r\n]' and '"' .. text:gsub('"', '""') .. '"' or text
end

local function csv_line(values, count)
  local cells = {}
  for c = 1, count do cells[c] = csv_cell(values[c]) end
  return table.concat(cells, ",") .. "\n"
end

function text_table.csv(columns, rows)
  local lines = { csv_line(columns, #columns) }
  for _, row in ipairs(rows) do lines[#lines + 1] = csv_line(row, #columns) end
  return table.concat(lines)
end

--- A list of objects.
function text_table.json(columns, rows)
  local objects = {}
  for i, row in ipairs(rows) do
    objects[i] = {}
    for c, name in ipairs(columns) do objects[i][name] = row[c] == nil and json.null or row[c] end
  end
  return json.encode(objects, 17)
end

return text_table
