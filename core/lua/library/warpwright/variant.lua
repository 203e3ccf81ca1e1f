-- ww.variant(name, base, function(m, options) ... end): a machine made of another. Its function says what differs, each change
-- in a line of its own, to which errors point; m:base() builds the other machine, and objects and wires may follow.
local core = require "warpwright.core"
local load = require "warpwright.load"
local machine = require "warpwright.machine"
local names = require "warpwright.names"

local variant = {}

-- Changes ---------------------------------------------------------------------------------------------------------------

--- What the builder of the base asks. Variants of variants have a level each; the outer ones, first in the list, win.
local Changes = {}
Changes.__index = Changes

--- visit(change) for those of a kind that match, in the order in which they apply.
function Changes:each(kind, name, visit)
  for level = #self, 1, -1 do
    for _, change in ipairs(self[level]) do
      if change.kind == kind and core.path_matches(change.pattern, name) then
        change.used = true
        visit(change)
      end
    end
  end
end

--- `values` with what is changed, and by key the lines that change them; nil where nothing is.
function Changes:values(kind, name, values)
  local changed, places
  self:each(kind, name, function(change)
    if not changed then
      changed, places = {}, {}
      for _, key in ipairs(names.sorted_keys(values)) do changed[key] = values[key] end
    end
    for _, key in ipairs(names.sorted_keys(change.values)) do
      changed[key], places[key] = change.values[key], change.place
    end
    places[1] = change.place -- the last one
  end)
  return changed or values, places
end

--- What is inserted into a wire: a list of { first port, last port, options of the wire onward }. The builder makes no more
-- insertions into the wires that lead to these.
function Changes:insertions(builder, name)
  local found = {}
  self:each("insertion", name, function(change)
    local i = change.count or 0
    change.count = i + 1
    local first, last, options = change.values(builder, i)
    if first == nil or last == nil then
      error(("%sm:insert: %s: expected two ports, such as shaper.up and shaper.down, got %s"):format(change.place, change.pattern,
        first == nil and "none" or "one"), 0)
    end
    found[#found + 1] = { first = first, last = last, options = options }
  end)
  return found
end

--- The clocks with what is changed and added.
function Changes:clocks(clocks)
  local changed, places = {}, {}
  for _, name in ipairs(names.sorted_keys(clocks)) do changed[name] = clocks[name] end
  for level = #self, 1, -1 do
    for _, change in ipairs(self[level]) do
      if change.kind == "clock" then
        change.used, change.is_new = clocks[change.pattern] ~= nil, clocks[change.pattern] == nil
        changed[change.pattern], places[change.pattern] = change.values, change.place
      end
    end
  end
  return changed, places
end

--- The quantum, and the line that sets it.
function Changes:quantum(cycles)
  local place
  self:each("quantum", "quantum", function(change) cycles, place = change.values, change.place end)
  return cycles, place
end

-- What a variant's function gets as `m` ---------------------------------------------------------------------------------

local Variant = {}

local function add(self, kind, pattern, values)
  local own = rawget(self, "own")
  if rawget(self, "is_built") then core.user_error(("machine %s: expected changes before m:base(), got one later"):format(self.name)) end
  own[#own + 1] = { kind = kind, pattern = pattern, values = values, place = core.location() }
end

--- m:clock(name, frequency): changes a clock domain, or adds one for objects whose `clock` is changed.
function Variant:clock(name, frequency)
  if type(name) ~= "string" then names.expected("m:clock", 'a name and a frequency: m:clock("icnt", "2GHz")', name) end
  add(self, "clock", name, frequency)
end

function Variant:quantum(cycles) add(self, "quantum", "quantum", cycles) end

--- m:change(pattern, { parameter = value }) of objects, m:change("port -> port", { latency = }) of wires; later ones win.
function Variant:change(pattern, values)
  if type(pattern) ~= "string" then names.expected("m:change", 'a path: m:change("sm[*].l1d", { ways = 8 })', pattern) end
  if type(values) ~= "table" then names.expected("m:change: " .. pattern, "a table of values, such as { ways = 8 }", values) end
  add(self, pattern:find("->", 1, true) and "wire" or "object", pattern, values)
end

--- m:insert("port -> port", function(m, i) ... return first, last, options end): something stands in the middle of each such
--- wire, of which `i` counts from 0. The wire, with its options, goes to the port `first`, another from `last` on.
function Variant:insert(pattern, make)
  if type(pattern) ~= "string" or not pattern:find("->", 1, true) then
    names.expected("m:insert", 'a wire: m:insert("l2[*].mem -> mc[*].cpu[*]", function(m, i) ... end)', pattern)
  end
  if type(make) ~= "function" then names.expected("m:insert: " .. pattern, "a function that returns two ports", make) end
  add(self, "insertion", pattern, make)
end

--- m:object(path): one of the base, after m:base().
function Variant:object(path) return self.builder:object(path) end

--- m:use "NAME": also before m:base(), for what is inserted.
function Variant:use(file) self.builder:use(file) end

--- Names of what a change of this kind might have meant.
local function candidates(self, kind)
  local found, seen = {}, {}
  local function note(path)
    local folded = path:gsub("%[%d+%]", "[*]")
    if not seen[folded] then found[#found + 1] = folded end
    seen[folded] = true
  end
  local built = self.builder.machine
  if kind == "wire" or kind == "insertion" then
    for _, wire in ipairs(built:wires()) do note(("%s -> %s"):format(wire.from, wire.to)) end
  else
    for _, object in ipairs(machine.all_objects(built)) do note(object.path) end
  end
  return found
end

local function is_clock_of_any(self, name)
  for _, object in ipairs(machine.all_objects(self.builder.machine)) do
    if core.clock_of(object) == name then return true end
  end
  return false
end

--- An error, in its line, for a change that changes nothing.
local function require_used(self)
  for _, change in ipairs(self.own) do
    local function refuse(what, hint) error(("%smachine %s: no %s of %s matches '%s'%s"):format(change.place, self.name, what, self.base_name,
      change.pattern, hint), 0) end
    if change.is_new and not is_clock_of_any(self, change.pattern) then
      local clocks = {}
      for _, clock in ipairs((self.builder.machine:clocks())) do
        if clock.name ~= change.pattern then clocks[#clocks + 1] = clock.name end
      end
      refuse("clock", ", and no object has it" .. names.available(change.pattern, clocks))
    elseif not change.used and not change.is_new then
      local stray = names.stray_index(change.pattern)
      if stray then
        error(("%smachine %s: %s: expected indices as [3], [*] or [0..3], got '%s'"):format(change.place, self.name, change.pattern, stray), 0)
      end
      refuse(change.kind == "insertion" and "wire" or change.kind, names.did_you_mean(change.pattern:gsub("%[%d+%]", "[*]"), candidates(self, change.kind), 3))
    end
  end
end

--- m:base(): builds the machine that this one is made of. Without it, it is built at the end.
function Variant:base()
  if rawget(self, "is_built") then core.user_error(("machine %s: expected m:base() once, got a second"):format(self.name)) end
  local builder = self.builder
  local changes = rawget(builder, "changes") or setmetatable({}, Changes)
  rawset(builder, "changes", changes)
  changes[#changes + 1] = self.own
  rawset(self, "is_built", true)
  self.base_of.build(builder, self.options)
  for _, change in ipairs(self.own) do
    if change.kind == "quantum" and not change.used then builder:quantum(change.values) end
    change.used = change.used or change.kind == "quantum"
  end
  changes[#changes] = nil
  require_used(self)
end

function Variant:__index(key)
  if Variant[key] then return Variant[key] end
  if not rawget(self, "is_built") then
    core.user_error(("machine %s: expected m:base() before m:%s; before it there are m:clock, m:quantum, m:change, m:insert, m:use"):format(self.name,
      tostring(key)))
  end
  return function(_, ...) return self.builder[key](self.builder, ...) end
end

-- ww.variant ------------------------------------------------------------------------------------------------------------

--- `options`, of which `read` notes which ones are read.
local function watched(options, read)
  return setmetatable({}, {
    __index = function(_, name)
      read[name] = true
      return options[name]
    end,
  })
end

--- The options of the base with other defaults, and further ones; of a list of legal values the base has the order, behind the default.
local function options_over(base_of, options, where)
  local all = {}
  for _, key in ipairs(names.sorted_keys(base_of.options)) do all[key] = base_of.choices[key] or base_of.options[key] end
  for _, key in ipairs(names.sorted_keys(options)) do
    local value, legal = options[key], base_of.choices[key]
    all[key] = legal and type(value) ~= "table" and machine.with_default(("%s: options: %s"):format(where, key), legal, value) or value
  end
  return all
end

--- ww.variant(name, base, [options,] build). `base`: a name, a path or a machine. `options`: other values of the base's options,
--- and further ones that `build` reads.
function variant.describe(name, base, options, build)
  if not build then options, build = {}, options end
  machine.require_function("ww.variant", 'a name, a machine and a function: ww.variant("name", "gtx480", function(m) ... end)', name,
    build)
  machine.read_options("ww.variant", options)
  local place = load.place_of_call(2)
  local base_of = load.get("config", base, place)
  return machine.describe(name, options_over(base_of, options, place .. "ww.variant"), function(builder, values)
    local read = {}
    local own = setmetatable({ name = name, base_name = base_of.name, base_of = base_of, builder = builder, options = values, own = {} },
      Variant)
    build(own, watched(values, read))
    if not rawget(own, "is_built") then own:base() end
    for _, key in ipairs(names.sorted_keys(options)) do
      if base_of.options[key] == nil and not read[key] then
        error(("%smachine %s: no option of %s matches '%s', and the function does not read it%s"):format(place, name, base_of.name, key,
          names.available(key, names.sorted_keys(base_of.options))), 0)
      end
    end
  end)
end

return variant
