-- Classes of objects that are written in Lua: class "Name" { doc =, ports =, params =, state =, stats =, tick = function ... }.
-- The rows are checked here and become those of a class like any in C.
local core = require "warpwright.core"
local names = require "warpwright.names"
local own_state = require "warpwright.own_state"

local class = {
  --- In the state of an object nothing is declared to the program: its class is what the program made it.
  registers = true,
  --- By name, of what this state has declared last.
  declared = {},
}

local Class = { __name = "class" }

local legal_fields = { "doc", "ports", "params", "state", "stats", "hears", "passes_on" }

--- The rows of a table by name: a list in the order of the names.
local function rows_of(where, given, add)
  local rows = {}
  if given == nil then return rows end
  if type(given) ~= "table" then names.expected(where, "a table of rows", given) end
  for _, name in ipairs(names.sorted_keys(given)) do
    if type(name) ~= "string" or not name:match "^[%a_][%w_]*$" then
      names.expected(where, "{ name = { ... } }, names of letters, digits and _", name)
    end
    rows[#rows + 1] = add(("%s.%s"):format(where, name), name, given[name])
  end
  return rows
end

--- A text of a row; nil is "".
local function text_of(where, row, name)
  local value = row[name]
  if value == nil then return "" end
  if type(value) ~= "string" or value:find "%c" then names.expected(("%s.%s"):format(where, name), "a text on one line", value) end
  return value
end

-- Names --------------------------------------------------------------------------------------------------------------

-- What m:CLASS returns has these fields beside its ports and parameters.
local fields_in_configs <const> = { path = true, class = true }
-- What `self` has beside its ports and functions.
local fields_of_self <const> = {
  state = true, params = true, path = true, answer = true, can_answer = true, drop = true, room = true, count = true,
}
-- What is called by the program.
local called <const> = { tick = true, start = true, on_kernel_start = true }

--- A name that would hide a field, or be hidden by it.
local function require_free(where, name, ...)
  for _, taken in ipairs { ... } do
    if taken[name] then core.user_error(("%s: expected another name, got one that every object has"):format(where)) end
  end
end

-- Parameters -------------------------------------------------------------------------------------------------------

local param_fields = { 1, "unit", "min", "max", "choices", "power_of_two", "timing", "doc" }

--- A bound as a number; texts are in the row's unit.
local function bound(where, row, name)
  local value = row[name]
  if value == nil or type(value) == "number" then return value end
  local number, problem = core.parse_quantity(tostring(value), row.unit or "")
  return math.tointeger(number) or number or names.expected(("%s.%s"):format(where, name), problem, value)
end

--- "whole", "real", "flag", "choice" or "text", by the default; a whole number where there is none.
local function kind_of(row)
  local default = row[1]
  if row.choices then return "choice" end
  if type(default) == "boolean" then return "flag" end
  if math.type(default) == "float" then return "real" end
  if type(default) == "string" and not (row.unit == "bytes" or row.unit == "Hz") then return "text" end
  return "whole"
end

local function choices_of(where, row)
  if row.choices == nil then return nil end
  if type(row.choices) ~= "table" or not row.choices[1] then names.expected(where .. ".choices", '{ "a", "b" }', row.choices) end
  for _, word in ipairs(row.choices) do
    if type(word) ~= "string" or not word:match "^[%w_]+$" then
      names.expected(where .. ".choices", "words of letters, digits and _", word)
    end
  end
  return table.concat(row.choices, "|")
end

--- Is the default one that a user could give?
local function check_default(where, row, kind, min, max)
  local default, value = row[1], row[1]
  if default == nil or kind == "text" or kind == "flag" then return end
  if kind == "choice" then
    for _, word in ipairs(row.choices) do
      if word == default then return end
    end
    names.expected(where, "one of " .. table.concat(row.choices, ", "), default)
  end
  if type(default) == "string" then
    local problem
    value, problem = core.parse_quantity(default, row.unit)
    if not value then names.expected(where, problem, default) end
  end
  if type(value) ~= "number" or kind == "whole" and (value < 0 or value % 1 ~= 0) or value < (min or value) or value > (max or value) then
    names.expected(where, names.wanted(kind == "whole" and 0 or 0.0, min or kind == "whole" and 0, max), default)
  end
end

local function check_bounds(where, kind, min, max)
  if kind == "whole" and math.min(min or 0, max or 0) < 0 then
    names.expected(where, "bounds from 0 on of a whole number (-5.0, a number with a point, may be below)", min and min < 0 and min or max)
  end
  if min and max and min > max then names.expected(where, ("a min of up to max = %s"):format(max), min) end
end

local function add_param(where, name, row)
  names.check_keys(where, row, param_fields)
  if name == "holds" or name == "clock" then
    core.user_error(("%s: expected another name, got that of a parameter which every such class has"):format(where))
  end
  require_free(where, name, fields_in_configs)
  local min, max, kind = bound(where, row, "min"), bound(where, row, "max"), kind_of(row)
  check_bounds(where, kind, min, max)
  local bounded = min or max
  local added = {
    name = name, kind = kind, doc = text_of(where, row, "doc"), choices = choices_of(where, row),
    unit = kind == "choice" and "choice" or kind == "flag" and "flag" or text_of(where, row, "unit"),
    default = row[1] ~= nil and tostring(row[1]) or nil,
    min = bounded and (min or (kind == "real" and -1e300 or 0)) or nil,
    max = bounded and (max or (kind == "real" and 1e300 or 2 ^ 53)) or nil,
    power_of_two = row.power_of_two == true, timing = row.timing == true,
  }
  check_default(where, row, kind, min, max)
  return added
end

-- Ports, statistics, events ----------------------------------------------------------------------------------------

local roles = { requester = true, responder = true }

local function add_port(where, name, row)
  names.check_keys(where, row, { 1, "count", "optional", "doc" })
  require_free(where, name, fields_in_configs, fields_of_self, called)
  if not roles[row[1]] then
    names.expected(where, '{ "responder", ... } (towards who asks) or { "requester", ... } (towards memory)', row[1])
  end
  return { name = name, role = row[1], count = row.count, optional = row.optional == true, doc = text_of(where, row, "doc") }
end

--- An array of ports has as many as a parameter says.
local function check_counts(where, ports, params)
  for _, port in ipairs(ports) do
    if port.count ~= nil then
      local found
      for _, param in ipairs(params) do
        if param.name == port.count and param.kind == "whole" then found = param end
      end
      if not found or not found.max or found.max > 254 or found.min < 1 then
        names.expected(("%s.%s.count"):format(where, port.name), "a parameter from 1 to 254 or less (min =, max =)", port.count)
      end
      found.kind = "count"
    end
  end
end

local function add_stat(where, name, row)
  names.check_keys(where, row, { "unit", "doc" })
  return { name = name, unit = text_of(where, row, "unit"), doc = text_of(where, row, "doc") }
end

--- hears = { up = { "evict" } }: events of what is wired to port `up`, as on_up_evict(self, ...).
local function heard_events(where, given, ports)
  local heard, known = {}, {}
  for i, port in ipairs(ports) do known[i] = port.name end
  rows_of(where, given, function(at, port, events)
    if not names.sorted_keys(ports)[1] or type(events) ~= "table" then names.expected(at, "a list of events", events) end
    local found = false
    for _, name in ipairs(known) do found = found or name == port end
    if not found then core.user_error(("%s: no port matches '%s'%s"):format(where, port, names.available(port, known))) end
    for _, event in ipairs(events) do
      if type(event) ~= "string" then names.expected(at, "names of events", event) end
      heard[#heard + 1] = { port = port, event = event, handler = ("on_%s_%s"):format(port, event) }
    end
  end)
  return heard
end

-- Declaring --------------------------------------------------------------------------------------------------------

local function check_unique(where, lists)
  local seen = {}
  for _, list in ipairs(lists) do
    for _, row in ipairs(list) do
      if seen[row.name] then core.user_error(("%s: expected each name once, got '%s' twice"):format(where, row.name)) end
      seen[row.name] = true
    end
  end
end

local function make_rows(name, settings, place)
  local where = "class " .. name
  local rows = {
    name = name, doc = text_of(where, settings, "doc"), path = place.path, line = place.line, passes_on = settings.passes_on == true,
    ports = rows_of(where .. ": ports", settings.ports, add_port),
    params = rows_of(where .. ": params", settings.params, add_param),
    stats = rows_of(where .. ": stats", settings.stats, add_stat),
  }
  if not rows.ports[1] then core.user_error(where .. ": expected a port or more, got none") end
  if #rows.ports + #rows.params + #rows.stats > 128 then core.user_error(where .. ": expected up to 128 rows, got more") end
  check_unique(where, { rows.ports, rows.params, rows.stats })
  check_counts(where .. ": ports", rows.ports, rows.params)
  rows.hears = heard_events(where .. ": hears", settings.hears, rows.ports)
  return rows
end

local function check_functions(where, functions, rows)
  if type(functions.tick) ~= "function" then names.expected(where, "a function tick(self, cycle)", functions.tick) end
  for _, name in ipairs(names.sorted_keys(functions)) do require_free(("%s: function %s"):format(where, name), name, fields_of_self) end
  for _, port in ipairs(rows.ports) do
    if functions[port.name] then core.user_error(("%s: function %s: expected another name, got that of a port"):format(where, port.name)) end
  end
  for _, heard in ipairs(rows.hears) do
    if type(functions[heard.handler]) ~= "function" then
      names.expected(("%s: hears %s of port %s"):format(where, heard.event, heard.port), ("a function %s"):format(heard.handler),
        functions[heard.handler])
    end
  end
end

--- All of the rows as one text: equal texts are one class.
local function digest_of(value)
  if type(value) ~= "table" then return ("%s:%s"):format(type(value), tostring(value)) end
  local parts = {}
  for _, key in ipairs(names.sorted_keys(value)) do parts[#parts + 1] = ("%s=%s"):format(tostring(key), digest_of(value[key])) end
  return "{" .. table.concat(parts, "\1") .. "}"
end

local function check_name(name)
  if type(name) ~= "string" or not name:match "^%u[%w]*$" or #name > 60 then
    names.expected("class", 'a name of letters and digits that begins with a capital (class "Name" {...})', name)
  end
end

--- What an object cannot do: it loads the file again, and a script would run again.
local function check_file(name, place)
  local script = arg and arg[0] and core.real_path(arg[0])
  if not place.path then core.user_error(("class %s: expected a declaration in a file, got one elsewhere"):format(name)) end
  if script and core.real_path(place.path) == script then
    core.user_error(("class %s: expected a declaration in a file of its own, which m:use loads, or in a config, got one in the script that runs"):format(name))
  end
end

local plain_scalars <const> = { number = true, string = true, boolean = true }

--- A checkpoint holds it, so it is plain data; `seen`: tables met so far.
local function check_state(where, value, seen)
  if plain_scalars[type(value)] or seen[value] then return end
  if type(value) ~= "table" then names.expected(where, "a number, string, boolean or table of them", value) end
  seen[value] = true
  for _, key in ipairs(names.sorted_keys(value)) do
    if not plain_scalars[type(key)] then names.expected(where .. ": a key", "a number, string or boolean", key) end
    check_state(("%s.%s"):format(where, key), value[key], seen)
  end
end

--- The fields that are functions are those of the class.
local function split(name, given)
  local settings, functions = {}, {}
  if type(given) ~= "table" then names.expected("class " .. name, "a table", given) end
  for _, key in ipairs(names.sorted_keys(given)) do
    if type(given[key]) == "function" and type(key) == "string" then
      functions[key] = given[key]
    else
      settings[key] = given[key]
    end
  end
  names.check_keys("class " .. name, settings, legal_fields)
  if settings.state ~= nil and type(settings.state) ~= "table" then
    names.expected(("class %s: state"):format(name), "a table", settings.state)
  end
  check_state(("class %s: state"):format(name), settings.state or {}, {})
  return settings, functions
end

--- What `class "Name"` is given, at `place` in its file.
local function declare_at(place, name, given)
  local settings, functions = split(name, given)
  local rows = make_rows(name, settings, place)
  check_functions("class " .. name, functions, rows)
  local declared = setmetatable({ name = name, rows = rows, state = settings.state or {}, functions = functions }, Class)
  class.declared[name] = declared
  if class.registers then
    check_file(name, place)
    local path = core.class_source(name)
    if core.is_class(name) and not path then
      core.user_error(("class %s: expected a name of its own, got that of a class of the program"):format(name))
    end
    core.define_class(rows, digest_of(rows))
  end
  return declared
end

--- `return class "Name" {...}` is a tail call, which leaves no line of the file.
local function declare(_, name)
  check_name(name)
  local info = debug.getinfo(2, "Sl")
  local place = { path = info.source:match "^@(.*)$", line = info.currentline }
  return function(given)
    return names.at_place(place.path and ("%s:%d: "):format(place.path, place.line), declare_at, place, name, given)
  end
end

-- Loading ----------------------------------------------------------------------------------------------------------

local function file_of(value, beside)
  local is_path = value:find("/", 1, true) or value:find "%.lua$"
  if not is_path then return core.home_path(("configs/classes/%s.lua"):format(value)) end
  local nearby = beside and value:sub(1, 1) ~= "/" and beside:match "^(.*/)" or ""
  return core.is_file(nearby .. value) and nearby .. value or value
end

--- The classes of the program's own folder.
local function known_names()
  local known = {}
  for _, entry in ipairs(core.list_folder(core.home_path "configs/classes")) do known[#known + 1] = entry:match "^(.*)%.lua$" end
  return known
end

--- Declares the classes of a file: a name of configs/classes, or a path, that of a file beside the one that asks first.
-- `note(path)` hears which it is. Returns the names of the classes.
function class.use(value, beside)
  if type(value) ~= "string" then names.expected("use", "the name or path of a file that declares classes", value) end
  local path = file_of(value, beside)
  if not core.is_file(path) then
    if path == value then core.user_error(("use: no file matches '%s'"):format(value)) end
    core.user_error(("use: no file of classes matches '%s'%s"):format(value, names.available(value, known_names())))
  end
  local file = io.open(path, "rb")
  core.note_file(core.real_path(path), core.digest(file:read "a"), beside and core.real_path(beside) or "")
  file:close()
  local before, added = class.declared, {}
  class.declared = {}
  local chunk, problem = loadfile(path)
  if not chunk then error(problem, 0) end
  local ok, thrown = xpcall(own_state.call_without_exit, core.message_handler, chunk, "a class", "declares")
  for _, name in ipairs(names.sorted_keys(class.declared)) do
    added[#added + 1] = name
    before[name] = class.declared[name]
  end
  class.declared = before
  if not ok then error(thrown, 0) end
  if not added[1] then core.user_error(("%s: expected a file that declares a class (class \"Name\" {...}), got none"):format(path)) end
  return added
end

return setmetatable(class, { __call = declare })
