-- Ports that a text names: "sm[*].l1d.mem" is that port of every SM, "xbar.up[0..3]" four ports of an array.
local core = require "warpwright.core"
local names = require "warpwright.names"

local wires = {}

function wires.is_pattern(text) return type(text) == "string" and (text:find("[*]", 1, true) or text:find("..", 1, true)) and true end

--- "sm[*].l1d.mem" of "sm[3].l1d.mem".
local function without_indices(path) return (path:gsub("%[[^%]]*%]", "[*]")) end

--- The indices that a pattern asks for, in its order: lists of { first, last }.
local function read_ranges(pattern)
  local ranges = {}
  for text in pattern:gmatch "%[([^%]]*)%]" do
    local first, last = text:match "^(%d+)%.%.(%d+)$"
    first, last = tonumber(first or text), tonumber(last or text)
    if text == "*" then first, last = 0, math.huge end
    if not (first and last and first <= last) then
      core.user_error(("wire: %s: expected indices as [3], [*] or [0..3], got '[%s]'"):format(pattern, text))
    end
    ranges[#ranges + 1] = { first, last }
  end
  return ranges
end

--- The indices of a path, or nil where the pattern leaves one out.
local function indices_within(path, ranges)
  local indices = {}
  for text in path:gmatch "%[(%d+)%]" do
    local index, range = tonumber(text), ranges[#indices + 1]
    if index < range[1] or index > range[2] then return nil end
    indices[#indices + 1] = index
  end
  return indices
end

local function is_before(a, b)
  for i, index in ipairs(a.indices) do
    if index ~= b.indices[i] then return index < b.indices[i] end
  end
  return false
end

--- visit(path) for each port of an object.
local function each_port(object, visit)
  for _, row in ipairs(core.class_rows(object.class)) do
    if row.row == "port" then
      visit(("%s.%s"):format(object.path, row.name))
    elseif row.row == "ports" then
      for i = 0, #object[row.name] - 1 do visit(("%s.%s[%d]"):format(object.path, row.name, i)) end
    end
  end
end

local function refuse_unmatched(pattern, objects)
  local known, seen = {}, {}
  for _, object in ipairs(objects) do
    each_port(object, function(path)
      local folded = without_indices(path)
      if not seen[folded] then known[#known + 1] = folded end
      seen[folded] = true
    end)
  end
  local form = without_indices(pattern)
  if seen[form] then
    core.user_error(("wire: %s: expected indices of ports that are there, got others"):format(pattern))
  end
  core.user_error(("wire: no port matches '%s'%s"):format(pattern, names.did_you_mean(form, known, 3)))
end

--- The paths of the ports that a pattern names, in the order of their indices: those of the first index first.
function wires.ports(pattern, objects)
  local form, ranges, found = without_indices(pattern), read_ranges(pattern), {}
  for _, object in ipairs(objects) do
    if form:sub(1, #without_indices(object.path)) == without_indices(object.path) then
      each_port(object, function(path)
        local indices = without_indices(path) == form and indices_within(path, ranges)
        if indices then found[#found + 1] = { path = path, indices = indices } end
      end)
    end
  end
  if not found[1] then refuse_unmatched(pattern, objects) end
  table.sort(found, is_before)
  for i, port in ipairs(found) do found[i] = port.path end
  return found
end

return wires
