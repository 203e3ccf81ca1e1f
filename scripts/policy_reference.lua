-- Writes into docs/policy_reference.md, between its markers, which policies there are, and the
-- reference of knobs, hooks, values and methods: the rows of each class, as --describe shows them.
--   warpwright scripts/policy_reference.lua            writes it
--   warpwright scripts/policy_reference.lua --check    fails when it is not up to date
local core = require "warpwright.core"
local load = require "warpwright.load"
local names = require "warpwright.names"
local child = require "scripts.lib.child"

local readme = core.home_path "docs/policy_reference.md"

--- Around what this script writes under a title.
local function markers(title)
  return ("<!-- %s: written by scripts/policy_reference.lua -->\n"):format(title), ("<!-- %s: until here -->\n"):format(title)
end

--- Classes that instances of policies have handles of, first and in this order, with what hooks of
-- their events begin with.
local handled = {
  { class = "SM", variable = "sm", prefix = "", handle = "`self.sm` in scope `sm`; `self.sms[i]` in scope `machine`" },
  { class = "L1", variable = "l1", prefix = "l1_",
    handle = "`self.l1` in scope `sm`, with `self.texture` and `self.constant`, whose hooks begin with `on_texture_` and "
      .. "`on_constant_`, questions with `texture_` and `constant_`; `self.l1s[i]`, `self.textures[i]` and "
      .. "`self.constants[i]` in scope `machine`" },
  { class = "LSU", variable = "lsu", prefix = "lsu_", handle = "`self.lsu` in scope `sm`" },
  { class = "L2", variable = "l2", prefix = "", handle = "`self.l2` in scope `l2`; `self.l2s[i]` in scope `machine`" },
  { class = "MemoryController", variable = "mc", prefix = "",
    handle = "`self.mc` in scope `mc`, and in scope `l2`, where its hooks begin with `on_mc_` and its question with `mc_`; "
      .. "`self.mcs[i]` in scope `machine`" },
  { class = "Dispatcher", variable = "dispatcher", prefix = "", handle = "`self.dispatcher` in scope `dispatcher`; `self.dispatchers[i]` in scope `machine`" },
  { class = "Crossbar", variable = "object", prefix = "", handle = "`self.object` in scope `Crossbar`" },
  { class = "Mux", variable = "object", prefix = "", handle = "`self.object` in scope `Mux`" },
  { class = "Router", variable = "object", prefix = "", handle = "`self.object` in scope `Router`" },
  { class = "AddressMap", variable = "object", prefix = "", handle = "`self.object` in scope `AddressMap`" },
}

local part = { variable = "PART", prefix = "PART_", handle = "`self.PART`, by the name that the policy gives it; `self.PARTs[i]` in scope `machine`" }

local function read_file(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

-- What there is -----------------------------------------------------------------------------------

--- { events =, questions =, knobs =, values = lists of { name, kind, meaning } } of a class.
local function described(class)
  local found, section = { events = {}, questions = {}, knobs = {}, values = {} }, nil
  for line in child.output { arg[-1], "--describe", class }:gmatch "[^\n]+" do
    local title, row = line:match "^(%u%l+)", line:match "^  (.*)"
    if not row then
      section = title
    elseif section == "Events" or section == "Questions" then
      local name, arguments, meaning = row:match "^([%w_]+)%((.-)%) +(.*)$"
      table.insert(found[section:lower()], { name, arguments, meaning })
    elseif section == "Parameters" and row:match "%[knob%]$" then
      local name, unit, _, meaning = row:match "^(%S+) +(%S+) +(%S+) +(.-) %[knob%]$"
      table.insert(found.knobs, { name, unit, meaning })
    elseif section == "State" and row:match "%]$" then
      local name, unit, meaning, mark = row:match "^(%S+) +(%S+) +(.-) %[(%l+)%]$"
      table.insert(mark == "knob" and found.knobs or found.values, { name, unit, meaning })
    end
  end
  return found
end

local function names_of(list)
  local found = {}
  for i, one in ipairs(list) do found[i] = one.name end
  return table.concat(found, ", ")
end

--- What is legal for an argument; nil where any whole number is.
local function limits_of(argument)
  if argument.kind == "set" then return ("%s: a set of %s"):format(argument.name, argument.unit) end
  if argument.below then return ("%s: 0 to %s - 1"):format(argument.name, argument.below) end
  if argument.max and argument.max < 1 << 31 then return ("%s: %d to %d"):format(argument.name, argument.min, argument.max) end
  return argument.class and ("%s: %s"):format(argument.name, argument.class)
end

--- List of { call, results, meaning }. `variable`: what stands before the colon.
local function methods(class, variable)
  local found = {}
  for i, method in ipairs(core.class_methods(class)) do
    local limits = {}
    for _, argument in ipairs(method.arguments) do limits[#limits + 1] = limits_of(argument) end
    found[i] = { ("%s:%s(%s)"):format(variable, method.name, names_of(method.arguments)),
      names_of(method.results) .. (method.may_be_nil and " or nil" or ""),
      method.doc .. (limits[1] and (" (%s)"):format(table.concat(limits, "; ")) or "") }
  end
  return found
end

-- As Markdown -------------------------------------------------------------------------------------

--- Choices and bounds, which --describe has behind the meaning, as values.
local function knob_row(knob)
  local name, unit, meaning = table.unpack(knob)
  local text, limits = meaning:match "^(.-) %[([^%]]+)%]$"
  if unit == "choice" then return name, "`" .. limits:gsub("|", "` `") .. "`", text end
  if unit == "flag" then return name, "`true` `false`", meaning end
  if text then return name, ("%s, %s"):format(unit, limits), text end
  return name, unit, meaning
end

local function add_table(lines, title, rows, row_text)
  if not rows[1] then return end
  local first = row_text(table.unpack(rows[1]))
  local _, columns = first:gsub("\\|", ""):gsub("|", "")
  lines[#lines + 1] = ("\n| %s %s\n|%s"):format(title, ("| "):rep(columns - 1):gsub(" $", ""), ("---|"):rep(columns - 1))
  for _, row in ipairs(rows) do lines[#lines + 1] = row_text(table.unpack(row)) end
end

local function row(...)
  local cells = { ... }
  for i, text in ipairs(cells) do
    if text:find "\n" then error(("%s: expected a cell without line break, got '%s'"):format(readme, text), 0) end
    cells[i] = text:gsub("|", "\\|")
  end
  return "| " .. table.concat(cells, " | ") .. " |"
end

local function add_class(lines, class, doc, how)
  local found, of_class = described(class), methods(class, how.variable)
  if not (found.knobs[1] or found.events[1] or found.questions[1] or found.values[1] or of_class[1]) then return end
  lines[#lines + 1] = ("\n#### %s\n\n%s. Handle: %s."):format(class, doc, how.handle)
  local knobs = {}
  for i, knob in ipairs(found.knobs) do knobs[i] = { knob_row(knob) } end
  local function named(name, kind, meaning) return row(("`%s`"):format(name), kind, meaning) end
  add_table(lines, "knob", knobs, named)
  add_table(lines, "value", found.values, named)
  add_table(lines, "hook", found.events, function(name, arguments, meaning)
    return row(("`on_%s%s(%s)`"):format(how.prefix, name, arguments), meaning)
  end)
  add_table(lines, "question", found.questions, function(name, arguments, meaning)
    return row(("`%s%s(%s)`"):format(how.prefix, name, arguments), meaning)
  end)
  add_table(lines, "method", of_class, function(call, results, meaning) return row(("`%s`"):format(call), results, meaning) end)
end

local function reference()
  local lines, docs, done = {}, {}, {}
  for _, class in ipairs(core.classes()) do docs[class.name] = class.doc end
  for _, how in ipairs(handled) do
    add_class(lines, how.class, docs[how.class], how)
    done[how.class] = true
  end
  for _, class in ipairs(core.classes()) do
    if not done[class.name] then add_class(lines, class.name, class.doc, part) end
  end
  return table.concat(lines, "\n") .. "\n\n"
end

--- The policies of this folder: file, parameters with their defaults, what it is.
local function policies()
  local lines = {}
  local rows = {}
  for _, entry in ipairs(core.list_folder(core.home_path "policies")) do
    local name = entry:match "^(.*)%.lua$"
    if name then
      local definition, params = load.get("policy", name), {}
      for i, key in ipairs(names.sorted_keys(definition.params)) do
        params[i] = ("`%s=%s`"):format(key, tostring(definition.params[key][1]))
      end
      rows[#rows + 1] = { ("[`%s`](../policies/%s)"):format(name, entry), definition.doc or "", table.concat(params, " ") }
    end
  end
  add_table(lines, "policy", rows, row)
  return table.concat(lines, "\n") .. "\n\n"
end

-- The file ----------------------------------------------------------------------------------------

--- The text with something else between the markers of a title.
local function replaced(text, title, contents)
  local first_marker, last_marker = markers(title)
  local _, first = text:find(first_marker, 1, true)
  local last = text:find(last_marker, 1, true)
  if not (first and last and first < last) then error(("%s: expected the markers of '%s', got none"):format(readme, title), 0) end
  return text:sub(1, first) .. contents .. text:sub(last)
end

local text = read_file(readme)
local wanted = replaced(replaced(text, "policies", policies()), "classes", reference())
if arg[1] == "--check" then
  if wanted ~= text then error(readme .. ": expected today's policies and parts, got others; warpwright scripts/policy_reference.lua writes it", 0) end
else
  local file = assert(io.open(readme, "wb"))
  file:write(wanted)
  file:close()
end
