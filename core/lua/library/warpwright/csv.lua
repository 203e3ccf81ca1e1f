-- Reading the tables in the folders of runs.
local inputs = require "warpwright.inputs"

local csv = {}

--- A line as a list, with quoted cells; an error where it is none.
local function cells_of(line)
  local cells, at = {}, 1
  while at <= #line + 1 do
    if line:sub(at, at) == '"' then
      local last = at
      repeat last = line:find('"', last + 1, true) + 1 until line:sub(last, last) ~= '"'
      assert(last > #line or line:sub(last, last) == ",")
      cells[#cells + 1] = line:sub(at + 1, last - 2):gsub('""', '"')
      at = last + 1
    else
      local comma = line:find(",", at, true) or #line + 1
      cells[#cells + 1] = line:sub(at, comma - 1)
      at = comma + 1
    end
  end
  return cells
end

--- csv.read(path) -> rows by column, whole numbers where they are; and the columns. Nil without the file, false where it is damaged.
function csv.read(path)
  local text = inputs.read_file(path)
  if not text then return nil end
  if text:sub(-1) ~= "\n" then return false end -- cut off
  local rows, columns = {}, nil
  for line in text:gmatch "[^\n]+" do
    local good, cells = pcall(cells_of, line)
    if not good or columns and #cells ~= #columns then return false end
    if columns then
      local row = {}
      for i, column in ipairs(columns) do row[column] = math.tointeger(tonumber(cells[i])) or cells[i] end
      rows[#rows + 1] = row
    else
      columns = cells
    end
  end
  return rows, columns or {}
end

return csv
