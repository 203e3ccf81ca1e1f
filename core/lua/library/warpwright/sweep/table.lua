-- Rows as text: a table for eyes, CSV, JSON, LaTeX.
local json = require "warpwright.json"

local text_table = {}

local function shown(value)
  if value == nil then return "" end
  return math.type(value) == "float" and ("%.6g"):format(value) or tostring(value)
end

--- By column, whether its first value is a number, or stands for one in LaTeX: numbers stand to the right.
local function columns_of_numbers(columns, rows)
  local is_number = {}
  for c = 1, #columns do
    for _, row in ipairs(rows) do
      if is_number[c] == nil and row[c] ~= nil and row[c] ~= "" then is_number[c] = type(row[c]) == "number" or type(row[c]) == "table" end
    end
  end
  return is_number
end

--- Numbers to the right, texts to the left: as the first value of the column is.
function text_table.text(columns, rows)
  local widths, lines, is_number = {}, {}, columns_of_numbers(columns, rows)
  for c, name in ipairs(columns) do
    widths[c] = utf8.len(name) or #name
    for _, row in ipairs(rows) do widths[c] = math.max(widths[c], utf8.len(shown(row[c])) or #shown(row[c])) end
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

local latex_names <const> = {
  ["\\"] = "\\textbackslash{}", ["~"] = "\\textasciitilde{}", ["^"] = "\\textasciicircum{}", ["<"] = "\\textless{}",
  [">"] = "\\textgreater{}", ["|"] = "\\textbar{}", ["\n"] = " ",
}

--- A value is a text or a number, or what stands in LaTeX already, { latex = text }.
local function latex_cell(value)
  if type(value) == "table" then return value.latex end
  if math.type(value) == "float" and (value ~= value or math.abs(value) == math.huge) then return shown(value) end
  if type(value) == "number" then
    return "$" .. shown(value):gsub("e([+-]%d+)", function(exponent) return ("\\cdot 10^{%d}"):format(tonumber(exponent)) end) .. "$"
  end
  return (shown(value):gsub("[&%%$#_{}]", "\0%0"):gsub("[\\~^<>|\n]", latex_names):gsub("\0", "\\"))
end

local function latex_line(values, count)
  local cells = {}
  for c = 1, count do cells[c] = latex_cell(values[c]) end
  return table.concat(cells, " & ") .. " \\\\"
end

--- A tabular that needs no package. `has_foot`: a line is drawn before the last row. `comment`, or nil, is its first line.
function text_table.latex(columns, rows, has_foot, comment)
  local lines, places, is_number = { comment and "% " .. comment or nil }, {}, columns_of_numbers(columns, rows)
  for c = 1, #columns do places[c] = is_number[c] and "r" or "l" end
  table.move({ "\\begin{tabular}{" .. table.concat(places) .. "}", "\\hline", latex_line(columns, #columns), "\\hline" }, 1, 4, #lines + 1, lines)
  for i, row in ipairs(rows) do
    if has_foot and i == #rows and i > 1 then lines[#lines + 1] = "\\hline" end
    lines[#lines + 1] = latex_line(row, #columns)
  end
  table.move({ "\\hline", "\\end{tabular}" }, 1, 2, #lines + 1, lines)
  return table.concat(lines, "\n") .. "\n"
end

return text_table
