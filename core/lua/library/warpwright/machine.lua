-- Machines as Lua describes them: ww.machine(name, function(m) ... end). A description can be built many times, each
-- time with other overrides.
local caches = require "warpwright.caches"
local class_files = require "warpwright.class"
local core = require "warpwright.core"
local load = require "warpwright.load"
local names = require "warpwright.names"
local own_state = require "warpwright.own_state"
local policy = require "warpwright.policy"
local wires = require "warpwright.wires"

local machine = {}

local Description = { __name = "machine" }

--- An error, of the line that called ww.machine or ww.variant, unless it gave a name and a function.
function machine.require_function(what, wanted, name, build)
  if type(name) == "string" and type(build) == "function" then return end
  local got = type(name) ~= "string" and names.shown(name) or build == nil and "no function" or names.shown(build)
  error(("%s%s: expected %s, got %s"):format(load.place_of_call(3), what, wanted, got), 0)
end

local may_be_option <const> = { number = true, string = true, boolean = true }

local function contains(list, value)
  for _, one in ipairs(list) do
    if one == value then return true end
  end
  return false
end

--- The legal values of an option in words: "mesh, torus or ring".
local function words_of(list)
  local texts = {}
  for i, value in ipairs(list) do texts[i] = tostring(value) end
  local last = table.remove(texts)
  return texts[1] and ("%s or %s"):format(table.concat(texts, ", "), last) or last
end

--- Is it a list of values of one kind, the first of which is the default?
local function is_choice(values)
  if type(values) ~= "table" or not may_be_option[type(values[1])] then return false end
  local count = 0
  for _ in pairs(values) do count = count + 1 end
  for _, value in ipairs(values) do
    if type(value) ~= type(values[1]) then return false end
  end
  return count == #values
end

--- The same unless it gave options that are some. Returns their defaults, and of those that are lists the legal values.
function machine.read_options(what, options)
  local function refuse(wanted, got)
    error(("%s%s: options: expected %s, got %s"):format(load.place_of_call(4), what, wanted, names.shown(got)), 0)
  end
  if type(options) ~= "table" then refuse("a table", options) end
  local defaults, choices = {}, {}
  for _, option in ipairs(names.sorted_keys(options)) do
    local given = options[option]
    if type(option) ~= "string" then refuse("NAME = default", given) end
    local is_list = is_choice(given)
    if not is_list and not may_be_option[type(given)] then refuse(("a number, a text, true or false, or a list of one of these as %s"):format(option), given) end
    defaults[option], choices[option] = is_list and given[1] or not is_list and given, is_list and given or nil
  end
  return defaults, choices
end

--- The legal values of an option with this one in front, which must be one of them.
function machine.with_default(where, legal, value)
  if not contains(legal, value) then error(("%s: expected %s, got %s"):format(where, words_of(legal), names.shown(value)), 0) end
  local list = { value }
  for _, other in ipairs(legal) do
    if other ~= value then list[#list + 1] = other end
  end
  return list
end

--- ww.machine(name, [options,] build). `options` are numbers, texts or flags that `build` gets as its second argument
-- and that overrides may change by name: how many SMs there are, say; a list has the legal values, the default first. A config may set the field `reference` of what it
-- gets: values measured on what the machine describes, { [measurement] = number or { least, most } }, which
-- scripts/characterise prints beside its own.
function machine.describe(name, options, build)
  if not build then options, build = {}, options end
  machine.require_function("ww.machine", 'a name and a function: ww.machine("name", function(m) ... end)', name, build)
  local defaults, choices = machine.read_options("ww.machine", options)
  return setmetatable({ name = name, options = defaults, choices = choices, build = build }, Description)
end

function machine.is_description(value) return getmetatable(value) == Description end

-- Overrides --------------------------------------------------------------------------------------------------------

--- { ["path.parameter"] = value }, or a list of { "path.parameter", value } and "path.parameter=value" in which the
-- later ones win, as a list of { pattern =, value =, matches = 0 }.
local function read_overrides(set)
  local overrides = {}
  local function add(pattern, value)
    if type(pattern) ~= "string" then names.expected("set", "a path", pattern) end
    overrides[#overrides + 1] = { pattern = core.current_name(pattern) or pattern, value = value, matches = 0 }
  end
  for _, key in ipairs(names.sorted_keys(set, "set")) do
    local entry = set[key]
    if type(key) == "string" then
      add(key, entry)
    elseif type(entry) == "table" then
      add(entry[1], entry[2])
    else
      local path, value = tostring(entry):match("^([^=]+)=(.*)$")
      if not path then names.expected("set", "PATH=VALUE", entry) end
      add(path, value)
    end
  end
  return overrides
end

--- The value that the overrides give to what has this name, or `value`. Patterns are for parameters of objects and clocks:
--- the quantum and the options of a machine, whose names have no dot, are meant by their names alone.
local function overridden(overrides, name, value)
  local has_path = name:find(".", 1, true)
  for _, o in ipairs(overrides) do
    if o.pattern == name or has_path and core.path_matches(o.pattern, name) then
      value = o.value
      o.matches = o.matches + 1
    end
  end
  return value
end

--- Do the overrides of a run give a value to what has this name?
function machine.is_set(set, name) return overridden(read_overrides(set or {}), name, nil) ~= nil end

--- `value`, which may be a text from the command line, as a value of the same kind as `default`.
local function like_default(name, value, default)
  local converted = value
  if math.type(default) == "integer" then
    converted = math.tointeger(tonumber(value))
  elseif type(default) == "number" then
    converted = tonumber(value)
  elseif type(default) == "boolean" and type(value) == "string" then
    converted = ({ ["true"] = true, ["false"] = false })[value]
  end
  if type(converted) ~= type(default) then
    names.expected(name, names.wanted(default), value)
  end
  return converted
end

local function resolve_options(description, overrides)
  local options = {}
  for _, name in ipairs(names.sorted_keys(description.options)) do
    local default = description.options[name]
    local value, legal = overridden(overrides, name, default), description.choices[name]
    options[name] = like_default(name, value, default)
    if legal and not contains(legal, options[name]) then names.expected(name, words_of(legal), value) end
  end
  return setmetatable(options, {
    __index = function(_, name)
      core.user_error(("options: no option of machine %s matches '%s'%s"):format(description.name, tostring(name),
        names.available(name, names.sorted_keys(description.options))))
    end,
  })
end

--- "sm[*].l1d.size" and the like of every parameter, each once, in order of construction.
local function parameter_patterns(built, description)
  local patterns, seen = {}, {}
  local function add(pattern)
    if not seen[pattern] then patterns[#patterns + 1] = pattern end
    seen[pattern] = true
  end
  local function add_object(object)
    for _, parameter in ipairs(core.parameters(object)) do
      add((object.path .. "." .. parameter.name):gsub("%[%d+%]", "[*]"))
    end
    for _, child in ipairs(core.children(object)) do add_object(child.object) end
  end
  for _, name in ipairs(names.sorted_keys(description.options)) do add(name) end
  for _, clock in ipairs((built:clocks())) do add("clock." .. clock.name) end
  add("quantum")
  for _, object in ipairs(built:objects()) do add_object(object) end
  return patterns
end

--- All objects, those that were made with others after these.
function machine.all_objects(built)
  local objects = {}
  local function add(object)
    objects[#objects + 1] = object
    for _, child in ipairs(core.children(object)) do add(child.object) end
  end
  for _, object in ipairs(built:objects()) do add(object) end
  return objects
end

--- Is it what policies alone may set?
local function is_policy_knob(objects, pattern)
  for _, object in ipairs(objects) do
    for _, knob in ipairs(core.state_knobs(object)) do
      if core.path_matches(pattern, object.path .. "." .. knob) then return true end
    end
  end
  return false
end

--- "sm[0] to sm[14]", "sm[99]" where an index of the pattern is too high, or the last one of a range.
local function beyond_the_last(objects, pattern)
  for name, index in pattern:gmatch "()%[[%d.]-(%d+)%]" do
    local prefix, last = pattern:sub(1, name - 1), nil
    for _, object in ipairs(objects) do
      local whole = object.path:match "^(.*)%[%d+%]$"
      if whole and core.path_matches(prefix, whole) then last = math.max(last or 0, tonumber(object.path:match "(%d+)%]$")) end
    end
    if last and tonumber(index) > last then
      return ("%s[0] to %s[%d]"):format(prefix, prefix, last), ("%s[%s]"):format(prefix, index)
    end
  end
end

local function require_matches(overrides, built, description)
  for _, o in ipairs(overrides) do
    local objects = (o.matches == 0 or o.pattern:find("..", 1, true)) and machine.all_objects(built)
    if o.matches == 0 and is_policy_knob(objects, o.pattern) then
      core.user_error(("set: %s: expected a parameter, got a knob, which only policies set"):format(o.pattern))
    end
    if objects then
      names.check_indices("set", o.pattern)
      local legal, beyond = beyond_the_last(objects, o.pattern)
      if legal then
        core.user_error(("set: %s: expected %s on machine %s, got %s"):format(o.pattern, legal, description.name, beyond))
      end
    end
    if o.matches == 0 then
      local wanted = o.pattern:gsub("%[%d+%]", "[*]")
      core.user_error(("set: no object or parameter matches '%s' on machine %s%s"):format(o.pattern, description.name,
        names.did_you_mean(wanted, parameter_patterns(built, description), 3)))
    end
  end
end

-- Changes of variants ----------------------------------------------------------------------------------------------

--- What a variant makes of values given for what has this name; and by key the lines that change them, or nil.
local function varied(self, kind, name, values)
  local changes = rawget(self, "changes")
  if not changes then return values end
  return changes:values(kind, name, values)
end

-- What a description's function gets as `m` ------------------------------------------------------------------------

local Builder = {}

--- What policies may set on a clock or wire.
local settings_of <const> = { clock = { "frequency" }, wire = { "latency", "depth", "width", "back" } }

--- What is given for a clock or wire, with what the policies set on it; and by key the places of these.
local function configured(self, kind, name, given)
  local values, places = {}, {}
  for _, key in ipairs(names.sorted_keys(given)) do values[key] = given[key] end
  for _, entry in ipairs(self.policies) do
    for _, setting in ipairs(policy.settings_for(entry, kind, name, values)) do
      names.at_place(setting.place, names.check_keys, ("%s %s"):format(kind, name), { [setting.parameter] = true }, settings_of[kind])
      values[setting.parameter], places[setting.parameter], places[1] = setting.value, setting.place, setting.place
    end
  end
  return values, places
end

--- A clock is a field of a table in config.lua, and an override names it by clock.NAME.
local function is_name_of_clock(name)
  return type(name) == "string" and name:match "^[%w_]+$" and _G.load("local " .. name) ~= nil -- no word of Lua either
end

--- m:clocks { core = "700MHz", ... }: `core` comes first and counts the quantum.
function Builder:clocks(clocks)
  local changes, places = rawget(self, "changes"), {}
  if changes then clocks, places = changes:clocks(clocks) end
  if not clocks.core then core.user_error("clocks: expected a clock named core (that of the SMs), got none") end
  local order = { "core" }
  for _, name in ipairs(names.sorted_keys(clocks)) do
    if name ~= "core" then order[#order + 1] = name end
  end
  for _, name in ipairs(order) do
    if not is_name_of_clock(name) then
      names.at_place(places[name], names.expected, "clocks", "a name of letters, digits and _ that is no word of Lua", name)
    end
    local values, configured_by = configured(self, "clock", name, { frequency = clocks[name] })
    local frequency = values.frequency
    names.at_place(configured_by[1] or places[name], self.machine.clock, self.machine, name, overridden(self.overrides, "clock." .. name, frequency))
  end
end

--- m:use "NAME": the classes that configs/classes/NAME.lua declares are there to make objects of; or a path, that of a file
-- beside this one first.
function Builder.use(_, file) class_files.use(file, core.location():match "^(.*):%d+: $") end

--- m:object(path): one that has been made, such as one of a variant's base.
function Builder:object(path)
  if type(path) ~= "string" then names.expected("m:object", 'a path: m:object "sm[0]"', path) end
  return self.machine:find(path) or core.user_error(("m:object: no object that has been made matches '%s'"):format(path))
end

--- m:quantum(cycles): how long a write stays private to its SM; the least latency of a wire that may be cut.
function Builder:quantum(cycles)
  local changes, place = rawget(self, "changes"), nil
  if changes then cycles, place = changes:quantum(cycles) end
  names.at_place(place, self.machine.quantum, self.machine, cycles)
  self.has_quantum = true
end

local options_of_wire <const> = "a table of options, such as { latency = 4 }"

--- The options given for a wire, with what variants make of them; `places`: those of lines that have changed some before.
local function varied_wire(self, name, options, places)
  if options ~= nil and type(options) ~= "table" then names.expected("wire " .. name, options_of_wire, options) end
  local values, changed_by = varied(self, "wire", name, options or {})
  if not (places and changed_by) then return values, changed_by or places end
  for key, place in pairs(places) do changed_by[key] = changed_by[key] or place end
  return values, changed_by
end

local function make_wire(self, a, b, given, places)
  local name = ("%s -> %s"):format(a, b)
  local what <const> = options_of_wire
  local values, configured_by = configured(self, "wire", name, given)
  local function place(key) return configured_by[key] or places and places[key] end
  if values.back ~= nil and type(values.back) ~= "table" then
    names.at_place(place "back", names.expected, ("wire %s: back"):format(name), what, values.back)
  end
  names.at_place(place(1), self.machine.wire, self.machine, a, b, values)
end

--- The wire, in pieces where a variant inserts something; the first piece has its options. Changes of the wire's own name are for
--- the first piece, those of a piece's name for this one.
local function wire_one(self, a, b, options)
  local name = ("%s -> %s"):format(a, b)
  local given, places = varied_wire(self, name, options)
  local changes = rawget(self, "changes")
  local hops = changes and changes:insertions(self, name) or {}
  for i, hop in ipairs(hops) do
    if i == 1 then given, places = varied_wire(self, ("%s -> %s"):format(a, hop.first), given, places) end
    make_wire(self, a, hop.first, given, places)
    a = hop.last
    given, places = varied_wire(self, ("%s -> %s"):format(a, hops[i + 1] and hops[i + 1].first or b), hop.options)
  end
  make_wire(self, a, b, given, places)
end

--- The ports that are meant: an object's port, or a text, which may be a pattern. Nil: `a` and `b` are one port each.
local function patterns_to_ports(self, a, b)
  if not (wires.is_pattern(a) or wires.is_pattern(b)) then return nil end
  local objects = machine.all_objects(self.machine)
  local function ports(which)
    return wires.is_pattern(which) and wires.ports(which, objects) or { which }
  end
  return ports(a), ports(b)
end

--- m:wire(port, port, { latency =, depth =, width =, back = {...} }). A port is an object's field or its path as text. Patterns,
--- "sm[*].l1d.mem" and "xbar.up[0..3]", are wired one by one, in the order of their indices.
function Builder:wire(a, b, options)
  local from, to = patterns_to_ports(self, a, b)
  if not from then return wire_one(self, a, b, options) end
  if #from ~= #to then
    core.user_error(("wire %s -> %s: expected as many ports on both sides, got %d and %d%s"):format(
      a, b, #from, #to, #from > #to and "; m:join joins several into one" or ""))
  end
  for i, port in ipairs(from) do wire_one(self, port, to[i], options) end
end

--- m:join(ports, ports, options): several ports share one, by a Mux in front of it, PORT_mux below the object that it belongs
--- to. Of eight and two ports the first four share the first. The options are of the wires to the Mux.
function Builder:join(a, b, options)
  local from, to = patterns_to_ports(self, a, b)
  if not from then return wire_one(self, a, b, options) end
  local share = #from // #to
  if share * #to ~= #from then
    core.user_error(("join %s -> %s: expected a multiple of %d ports to be joined, got %d"):format(a, b, #to, #from))
  end
  if share == 1 then return self:wire(a, b, options) end
  for k, port in ipairs(to) do
    local path, name, index = tostring(port):match "^(.*)%.([%w_]+)%[?(%d*)%]?$"
    if not path then names.expected(("join %s -> %s"):format(names.short(tostring(a)), names.short(tostring(b))), 'a port such as "l2.cpu"', port) end
    if self.machine:find(("%s.%s_mux%s"):format(path, name, index ~= "" and ("[%s]"):format(index) or "")) then
      core.user_error(("join %s -> %s: expected one join to name all ports that share %s, got a second"):format(names.short(tostring(a)),
        names.short(tostring(b)), tostring(port)))
    end
    local mux = self:Mux (self.machine:find(path), name .. "_mux", tonumber(index)) { up = share }
    for i = 1, share do wire_one(self, from[(k - 1) * share + i], mux.up[i - 1], options) end
    wire_one(self, mux.down, port)
  end
end

--- The config's parameters of an object with the overrides: what policies configure it by.
local function with_overrides(self, object, params)
  if not (self.policies[1] and self.overrides[1]) then return params end
  local seen = {}
  for _, parameter in ipairs(core.parameters(object)) do
    seen[parameter.name] = overridden(self.overrides, object.path .. "." .. parameter.name, params[parameter.name])
  end
  return seen
end

--- A table for what is no part: of a parameter the value is at fault, of others the name.
local function refuse_table(object, key, value, parts)
  for _, parameter in ipairs(core.parameters(object)) do
    if parameter.name == key then names.expected(("%s.%s"):format(object.path, key), "a number, a text, true or false", value) end
  end
  core.user_error(("%s: no part of %s matches '%s'%s"):format(object.path, object.class, key, names.available(key, parts)))
end

--- Sets the parameters that the config gives; `parts`: the names of its children as a list, and each as a key; `places`: the lines of a variant that changed them.
local function set_given(object, params, parts, is_child, places)
  for _, key in ipairs(names.sorted_keys(params)) do
    local value, place = params[key], places and places[key]
    if type(key) ~= "string" then
      names.at_place(place, names.expected, object.path, "PARAMETER = value", value)
    elseif parts[key] then
      if type(value) ~= "table" then
        names.at_place(place, names.expected, ("%s.%s"):format(object.path, key), "a table of parameters", value)
      end
    elseif type(value) == "table" then
      names.at_place(place, refuse_table, object, key, value, parts)
    elseif place and (key ~= "clock" or is_child) then
      names.at_place(place, core.set, object, key, value)
    elseif key ~= "clock" or is_child then
      core.set(object, key, value)
    end
  end
end

--- Sets the parameters of an object and of the children that it was made with, and gives it its ports. `places`: the lines of
--- a variant that changed them, by key, the last one as 1.
local function finish(self, object, params, is_child, places)
  local children, parts = core.children(object), {}
  for i, child in ipairs(children) do parts[i], parts[child.name] = child.name, true end
  set_given(object, params, parts, is_child, places)
  local seen = with_overrides(self, object, params)
  for _, entry in ipairs(self.policies) do
    for _, setting in ipairs(policy.settings_for(entry, object.class, object.path, seen)) do
      names.at_place(setting.place, core.set, object, setting.parameter, setting.value)
    end
  end
  for _, o in ipairs(self.overrides) do o.matches = o.matches + names.at_place("set: ", core.override, object, o.pattern, o.value) end
  names.at_place(places and places[1], core.finish, object)
  for _, child in ipairs(children) do
    local own, own_places = params[child.name] or {}, nil
    local place = places and places[child.name]
    if place then
      own_places = { place }
      for _, key in ipairs(names.sorted_keys(own)) do own_places[key] = place end
    end
    local values, changed_places = varied(self, "object", child.object.path, own)
    finish(self, child.object, values, true, changed_places or own_places)
  end
end

--- First words of statistics that belong to no object, and what they are of.
local reserved <const> = { run = "the run", launch = "launches", energy = "energies", live = "a run that is watched" }

--- Paths go into patterns, files and statistics: each name in one is of letters, digits and _, with an index or without.
local function check_path(where, path)
  for name in (path .. "."):gmatch "([^.]*)%." do
    local rest = name:match "^[%w_]+(.*)$"
    if not rest or rest ~= "" and not rest:match "^%[%d+%]$" then names.expected(where, "a name of letters, digits and _", path) end
  end
end

--- As numbers and texts: some are functions of the policy's parameters and the object above.
local function params_of_part(part, entry, object)
  local params = {}
  for _, key in ipairs(names.sorted_keys(part)) do
    if key ~= "class" and key ~= "name" and key ~= "of" and key ~= "where" then
      local value = part[key]
      if type(value) == "function" then value = own_state.call_confined(value, entry.readable_params, object, entry.places[object.path]) end
      params[key] = value
    end
  end
  return params
end

local function add_part(self, place, entry, class, path)
  local maker = self.makers[path]
  if maker then
    names.at_place(place, core.user_error, ("%s: expected a part of one policy, got one of policy %s too"):format(path, maker))
  end
  self.makers[path] = entry.definition.name
  self.parts[path] = names.at_place(place, self.machine.add, self.machine, class, path)
  return self.parts[path]
end

--- The parts that policies compose into an object: objects below it, "sm[3].vta".
local function add_parts(self, object)
  for _, entry in ipairs(self.policies) do
    for _, part in ipairs(entry.definition.parts) do
      local is_of = part.of == object.class or part.of == "cache" and entry.caches[object.path]
      local wanted = is_of and (not part.where or own_state.call_confined(part.where, entry.readable_params, object))
      if wanted then
        check_path(("policy %s: parts"):format(entry.definition.name), part.name)
        local place = ("%spolicy %s: part %s: "):format(entry.definition.defined_at, entry.definition.name, part.name)
        local params = names.at_place(place, params_of_part, part, entry, object)
        local made = add_part(self, place, entry, part.class, object.path .. "." .. part.name)
        names.at_place(place, finish, self, made, params, false)
      end
    end
  end
end

--- "sm[3].l1d" from ("sm", 3), (object, "l1d") or (object, "bank", 2).
local function object_path(class, first, ...)
  local where, prefix, name, index = "m:" .. class, "", first, ...
  if type(first) == "userdata" then
    prefix, name, index = first.path .. ".", ...
  end
  if type(name) ~= "string" then
    names.expected(where, ('m:%s "name" {...}, m:%s ("name", index) {...} or m:%s (parent, "name") {...}'):format(class, class,
      class), name)
  end
  check_path(where, name)
  local of = prefix == "" and reserved[name:match "^[%w_]*"]
  if of then core.user_error(("%s: expected a name that statistics of %s do not have, got '%s'"):format(where, of, name)) end
  if index == nil then return prefix .. name end
  local whole = math.tointeger(index)
  if not whole or whole < 0 then
    names.expected(("%s: %s%s"):format(where, prefix, name), "a whole number from 0 on as index", index)
  end
  return ("%s%s[%d]"):format(prefix, name, whole)
end

--- m:CLASS names an object; the table of parameters that follows makes it.
local function constructor(class)
  return function(self, ...)
    local path = object_path(class, ...)
    local function lacks_parameters()
      core.user_error(("%s: expected a table of parameters, such as m:%s (...) {}, got none"):format(path, class))
    end
    self.unfinished[#self.unfinished + 1] = core.location() .. path
    return setmetatable({}, {
      __index = lacks_parameters,
      __call = function(_, params)
        if type(params) ~= "table" then lacks_parameters() end
        self.unfinished[#self.unfinished] = nil
        -- The config.lua of a run has its policies' parts: under such a policy again, they are as it wants them.
        local part = self.parts[path]
        if part and part.class == class then return part end
        local values, places = varied(self, "object", path, params)
        if values.clock ~= nil and type(values.clock) ~= "string" then
          names.at_place(places and places.clock, names.expected, path .. ".clock", "the name of a clock", values.clock)
        end
        local object = names.at_place(places and places.clock, self.machine.add, self.machine, class, path, values.clock)
        self.clocks_of_objects[values.clock or "core"] = true
        finish(self, object, values, false, places)
        add_parts(self, object)
        return object
      end,
    })
  end
end

function Builder:__index(key)
  if Builder[key] then return Builder[key] end
  if type(key) == "string" and core.is_class(key) then return constructor(key) end
  local classes = {}
  for i, class in ipairs(core.classes()) do classes[i] = class.name end
  for i, method in ipairs { "clocks", "join", "object", "quantum", "use", "wire" } do table.insert(classes, i, method) end
  core.user_error(("m: no method or class matches '%s'%s"):format(tostring(key), names.available(key, classes)))
end

--- The first of the clocks that may change during a run, or nil.
function machine.changing_clock(built)
  for _, clock in ipairs((built:clocks())) do
    if clock.slowest < clock.fastest then return clock end
  end
end

--- The objects of the machine as it is without policies.
local function sketch(description, overrides)
  local bare = core.machine(description.name)
  description.build(setmetatable({ machine = bare, overrides = overrides, policies = {}, parts = {}, makers = {}, unfinished = {},
    clocks_of_objects = {} }, Builder), resolve_options(description, overrides))
  return machine.all_objects(bare)
end

--- A clock that no object has, for want of `clock` among its parameters, would change nothing.
local function require_objects_of_clocks(overrides, built, clocks_of_objects)
  for _, clock in ipairs((built:clocks())) do
    local is_set = not clocks_of_objects[clock.name] and overridden(overrides, "clock." .. clock.name, nil) ~= nil
    if is_set and clock.name ~= "core" then
      core.user_error(("clock.%s: expected the clock of an object, got one that none has; an object has it by clock = \"%s\" among its "
        .. "parameters"):format(clock.name, clock.name))
    end
  end
end

--- Builds a machine. `options`: set = overrides, policies = a chain, whose settings come before the overrides, order = the tick order, threads =
-- how many host threads run it, and pin = whether each stays on a core of its own.
function machine.build(description, options)
  local overrides = read_overrides(options.set or {})
  caches.find(options.policies or {}, description.name, function() return sketch(description, read_overrides(options.set or {})) end)
  local built = core.machine(description.name)
  local builder = setmetatable({ machine = built, overrides = overrides, policies = options.policies or {},
    parts = {}, makers = {}, unfinished = {}, clocks_of_objects = {} }, Builder)
  description.build(builder, resolve_options(description, overrides))
  for _, entry in ipairs(builder.policies) do policy.check_scope(entry.definition) end
  if builder.unfinished[1] then
    core.user_error(("%s: expected a table of parameters, such as {}, got none"):format(builder.unfinished[1]))
  end
  local quantum = overridden(overrides, "quantum", nil)
  if quantum then
    built:quantum(quantum)
  elseif not rawget(builder, "has_quantum") or machine.changing_clock(built) then
    built:quantum_by_wires()
  end
  if options.order ~= nil and type(options.order) ~= "string" then
    names.expected("order", 'a tick order: "path", "reversed", "shuffled:SEED" or "restless"', options.order)
  end
  if options.order then built:order(options.order) end
  if options.threads then built:threads(options.threads) end
  if options.pin then built:pin_threads() end
  if builder.policies[1] then built:policies(builder.policies.name) end
  require_matches(overrides, built, description)
  require_objects_of_clocks(overrides, built, builder.clocks_of_objects)
  return built
end

return machine
