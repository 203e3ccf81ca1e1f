-- Draws docs/policies.svg; `help` below says how it is called.
local core = require "warpwright.core"
local command_line = require "scripts.lib.command_line"
local inputs = require "warpwright.inputs"
local svg = require "warpwright.svg"

local help = [==[
usage: warpwright scripts/plot_policies.lua [RESULTS.md [PLOT.svg]]

Draws the speed-up of each policy over gto from the table of docs/results.md, to docs/policies.svg unless told otherwise.
]==]

if command_line.helped(arg, help) then return end
local results = arg[1] or core.home_path "docs/results.md"
local plot = arg[2] or core.home_path "docs/policies.svg"
local head <const> = "| over `gto` | "

local function cells(line)
  local found = {}
  for cell in line:gmatch "|%s*([^|]-)%s*%f[|]" do found[#found + 1] = cell end
  return found
end

--- { title =, bars = } of a column, the highest first. `rows`: lists of cells, policy first.
local function panel(columns, rows, column)
  local at, bars = nil, {}
  for i, name in ipairs(columns) do at = name == column and i or at end
  if not at then error(("%s: expected a column '%s'"):format(results, column), 0) end
  for i, row in ipairs(rows) do bars[i] = { name = row[1]:gsub("`", ""), value = tonumber(row[at]) } end
  table.sort(bars, function(a, b)
    if a.value ~= b.value then return a.value > b.value end
    return a.name < b.name
  end)
  return { title = column == "geo. mean" and "geometric mean of six workloads" or column,
    unit = "speed-up over gto", labels = 110, bars = bars }
end

local columns, rows = nil, {}
for line in io.lines(results) do
  if columns and line:sub(1, 1) ~= "|" then break end
  if columns and not line:find("^|%-") then rows[#rows + 1] = cells(line) end
  if not columns and line:sub(1, #head) == head then columns = cells(line) end
end
if not rows[1] then error(("%s: expected a table that begins with '%s'"):format(results, head), 0) end

local canvas, width <const>, height <const> = svg.canvas(), 430, 460
for i, column in ipairs { "kmeans", "geo. mean" } do
  canvas:bars({ x = 8 + (i - 1) * width, y = 0, width = width, height = height }, panel(columns, rows, column))
end
inputs.write_file(plot, canvas:document(2 * width + 16, height))
