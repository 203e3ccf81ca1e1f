-- A machine with what it has many of folded: objects of a group have one class, one clock, equal parameters, and wires to the
-- same groups. Drawings show groups.
local core = require "warpwright.core"
local machine = require "warpwright.machine"

local groups = {}

local most_groups <const> = 80 -- of a picture: beyond, what has one name is one group

local function folded(path) return (path:gsub("%[%d+%]", "[*]")) end

--- "sm[3].l1d", "mem" of "sm[3].l1d.mem".
local function object_and_port(path) return path:match "^(.*)%.([^.]+)$" end

local function text_of_wire(wire)
  local function one(link) return link and ("%d %d %d"):format(link.latency, link.depth, link.width) or "" end
  return one(wire.forward) .. "|" .. one(wire.back)
end

-- Colours: objects of one colour are a group ----------------------------------------------------------------------------

local function first_colour(object)
  local words = { folded(object.path), object.class, core.clock_of(object) }
  for _, parameter in ipairs(core.parameters(object)) do words[#words + 1] = tostring(parameter.value) end
  return table.concat(words, "|")
end

--- What an object of these entries sees of others: { its number, what it is to them, the number of the other } ...
local function neighbours(entries, wires)
  local seen = {}
  for i, entry in ipairs(entries) do
    seen[i] = {}
    if entry.parent then
      table.insert(seen[i], { "parent", entry.parent.number })
      table.insert(seen[entry.parent.number], { "child", i })
    end
  end
  for _, wire in ipairs(wires) do
    local how = ("%s %s %s"):format(folded(wire.from_port), folded(wire.to_port), wire.text)
    table.insert(seen[wire.from.number], { "to " .. how, wire.to.number })
    table.insert(seen[wire.to.number], { "from " .. how, wire.from.number })
  end
  return seen
end

--- Colours as numbers, in the order in which they first come; and how many there are.
local function numbered(texts)
  local numbers, count, known = {}, 0, {}
  for i, text in ipairs(texts) do
    if not known[text] then
      count = count + 1
      known[text] = count
    end
    numbers[i] = known[text]
  end
  return numbers, count
end

--- Objects whose neighbours differ get colours of their own, until none do.
local function refined(colours, count, seen)
  repeat
    local before, texts = count, {}
    for i, ways in ipairs(seen) do
      local words = {}
      for k, way in ipairs(ways) do words[k] = way[1] .. " " .. colours[way[2]] end
      table.sort(words)
      texts[i] = colours[i] .. ";" .. table.concat(words, ";")
    end
    colours, count = numbered(texts)
  until count == before
  return colours, count
end

local function colours_of(entries, wires)
  local exact, by_name = {}, {}
  for i, entry in ipairs(entries) do
    exact[i] = first_colour(entry.object)
    by_name[i] = folded(entry.object.path) .. entry.object.class
  end
  local colours, count = refined(numbered(exact), select(2, numbered(exact)), neighbours(entries, wires))
  return count <= most_groups and colours or (numbered(by_name))
end

-- Names -----------------------------------------------------------------------------------------------------------------

--- "0..3", "0..2,4".
local function range_text(indices)
  table.sort(indices)
  local runs = {}
  for _, index in ipairs(indices) do
    local run = runs[#runs]
    if run and index == run.last + 1 then
      run.last = index
    else
      runs[#runs + 1] = { first = index, last = index }
    end
  end
  for i, run in ipairs(runs) do runs[i] = run.first == run.last and tostring(run.first) or ("%d..%d"):format(run.first, run.last) end
  return table.concat(runs, ",")
end

--- "sm[0..3].l1d" of the members' paths.
local function group_name(members)
  local columns, seen = {}, {}
  for _, entry in ipairs(members) do
    local k = 0
    for index in entry.object.path:gmatch "%[(%d+)%]" do
      k = k + 1
      columns[k], seen[k] = columns[k] or {}, seen[k] or {}
      if not seen[k][index] then table.insert(columns[k], math.tointeger(tonumber(index))) end
      seen[k][index] = true
    end
  end
  local k = 0
  return (folded(members[1].object.path):gsub("%*", function()
    k = k + 1
    return range_text(columns[k])
  end))
end

-- Groups ----------------------------------------------------------------------------------------------------------------

local function read_entries(built)
  local entries, by_path = {}, {}
  for i, object in ipairs(machine.all_objects(built)) do
    entries[i] = { object = object, number = i }
    by_path[object.path] = entries[i]
  end
  for _, entry in ipairs(entries) do
    local above = object_and_port(entry.object.path)
    while above and not by_path[above] do above = object_and_port(above) end
    entry.parent = above and by_path[above]
  end
  return entries, by_path
end

local function read_wires(built, by_path)
  local wires = {}
  for i, wire in ipairs(built:wires()) do
    local from, from_port = object_and_port(wire.from)
    local to, to_port = object_and_port(wire.to)
    wires[i] = { from = by_path[from], to = by_path[to], from_port = from_port, to_port = to_port, text = text_of_wire(wire),
      forward = wire.forward, back = wire.back }
  end
  return wires
end

--- Was the object made together with the one that it belongs to?
local function is_made_with(entry)
  for _, child in ipairs(entry.parent and core.children(entry.parent.object) or {}) do
    if child.object.path == entry.object.path then return true end
  end
  return false
end

--- { groups = list of { name =, object = the first one, count =, parent = group or nil, made_with = was it made with that? }, wires = list of { from =, to = groups,
--- forward =, back =, count = } }, in the order of the machine.
function groups.of(built)
  local entries, by_path = read_entries(built)
  local wires = read_wires(built, by_path)
  local found = { groups = {}, wires = {} }
  local of_colour, kinds = {}, {}
  for i, colour in ipairs(colours_of(entries, wires)) do
    if not of_colour[colour] then
      of_colour[colour] = { object = entries[i].object, members = {} }
      table.insert(found.groups, of_colour[colour])
    end
    entries[i].group = of_colour[colour]
    table.insert(of_colour[colour].members, entries[i])
  end
  for _, group in ipairs(found.groups) do
    local first = group.members[1]
    group.parent, group.count, group.name = first.parent and first.parent.group, #group.members, group_name(group.members)
    group.made_with = is_made_with(first)
    group.members = nil
  end
  for _, wire in ipairs(wires) do
    local key = ("%s %s %s"):format(wire.from.group.name, wire.to.group.name, wire.text)
    if not kinds[key] then
      kinds[key] = { from = wire.from.group, to = wire.to.group, forward = wire.forward, back = wire.back, count = 0 }
      table.insert(found.wires, kinds[key])
    end
    kinds[key].count = kinds[key].count + 1
  end
  return found
end

return groups
