-- Ports that a text names: "sm[*].l1d.mem" is that port of every SM, "xbar.up[0..3]" four ports of an array.
local core = require "warpwright.core"
local names = require "warpwright.names"

local wires = {}

--- Whatever has indices that are no numbers is one, legal or not.
function wires.is_pattern(text)
  return type(text) == "string" and (text:find("*", 1, true) or text:find("..", 1, true) or names.stray_index(text)) and true
end

--- "sm[*].l1d.mem" of "sm[3].l1d.mem".
local function without_indices(path) return (path:gsub("%[[^%]]*%]", "[*]")) end

--- The indices that a pattern asks for, in its order: lists of { first, last }.
local function read_ranges(pattern)
  local ranges = {}
  local function refuse(text) names.expected("wire: " .. pattern, "indices as [3], [*] or [0..3]", text) end
  local stray = pattern:gsub("%[[^%[%]]*%]", ""):match "[%[%]*].*"
  if stray then refuse(stray) end
  for text in pattern:gmatch "%[([^%]]*)%]" do
    local first, last = text:match "^(%d+)%.%.(%d+)$"
    first, last = tonumber(first or text:match "^%d+$"), tonumber(last or text)
    if text == "*" then first, last = 0, math.huge end
    if not (first and last and first <= last) then refuse(("[%s]"):format(text)) end
    ranges[#ranges + 1] = { first, last }
  end
  return ranges
end

local function indices_of(path)
  local indices = {}
  for text in path:gmatch "%[(%d+)%]" do indices[#indices + 1] = tonumber(text) end
  return indices
end

--- Are these indices in the ranges, up to the k-th?
local function are_within(indices, ranges, k)
  for i = 1, k do
    if indices[i] < ranges[i][1] or indices[i] > ranges[i][2] then return false end
  end
  return true
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
  core.user_error(("wire: no port matches '%s'%s"):format(pattern, names.did_you_mean(without_indices(pattern), known, 3)))
end

--- "sm[3].l1d" of a path and the number of an index in it, the third of "sm[3].l1d[7].up[2]" being that of up.
local function before_index(path, k)
  local at = 0
  for _ = 1, k do at = path:find("[", at + 1, true) end
  return path:sub(1, at - 1)
end

--- "xbar.up[0] to xbar.up[5]", "sm[0], sm[2]": what has these indices.
local function existing(name, is_there)
  local indices = names.sorted_keys(is_there)
  local first, last = indices[1], indices[#indices]
  for i, index in ipairs(indices) do indices[i] = ("%s[%d]"):format(name, index) end
  if #indices > 1 and last - first + 1 == #indices then return ("%s to %s"):format(indices[1], indices[#indices]) end
  return table.concat(indices, ", ")
end

--- A range that goes beyond what is there, of which a part would be left out, is an error; `ports` are all of the pattern's form.
local function require_whole_ranges(pattern, ranges, ports)
  for k, range in ipairs(ranges) do
    local groups = {} -- what the indices in front of this one leave, which other numbers of objects may follow
    for _, port in ipairs(range[2] < math.huge and ports or {}) do
      if are_within(port.indices, ranges, k - 1) then
        local name = before_index(port.path, k)
        groups[name] = groups[name] or {}
        groups[name][port.indices[k]] = true
      end
    end
    for _, name in ipairs(names.sorted_keys(groups)) do
      for _, ends in ipairs { { range[2], range[2] }, { range[1], range[2] } } do -- the last first: it says most
        for index = ends[1], ends[2] do
          if not groups[name][index] then
            core.user_error(("wire: %s: expected %s, got %s[%.0f]"):format(pattern, existing(name, groups[name]), name, index))
          end
        end
      end
    end
  end
end

--- The paths of the ports that a pattern names, in the order of their indices: those of the first index first.
function wires.ports(pattern, objects)
  local form, ranges, ports, found = without_indices(pattern), read_ranges(pattern), {}, {}
  for _, object in ipairs(objects) do
    if form:sub(1, #without_indices(object.path)) == without_indices(object.path) then
      each_port(object, function(path)
        if without_indices(path) == form then ports[#ports + 1] = { path = path, indices = indices_of(path) } end
      end)
    end
  end
  if not ports[1] then refuse_unmatched(pattern, objects) end
  require_whole_ranges(pattern, ranges, ports)
  for _, port in ipairs(ports) do
    if are_within(port.indices, ranges, #ranges) then found[#found + 1] = port end
  end
  table.sort(found, is_before)
  for i, port in ipairs(found) do found[i] = port.path end
  return found
end

return wires
