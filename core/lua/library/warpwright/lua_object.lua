-- In the Lua state of an object whose class is written in Lua: makes the object of the file that declares its class.
local class = require "warpwright.class"
local names = require "warpwright.names"
local own_state = require "warpwright.own_state"
local parameters = require "warpwright.params"
require "warpwright.loading"

class.registers = false

local words <const> = "what an object remembers is in self.state"

local function refuse_field(_, name)
  error(("self.%s: expected an assignment in start(), got one later; %s"):format(tostring(name), words), 2)
end

--- self:count("name", n): adds to a statistic.
local function count_into(rows, count)
  return function(_, name, n)
    local row = rows[name]
    if not row then
      error(("count: no statistic of the class matches '%s'%s"):format(tostring(name), names.available(name, names.sorted_keys(rows))), 2)
    end
    if n and math.type(n) ~= "integer" then error(("count %s: expected a whole number, got %s"):format(name, names.shown(n)), 2) end
    local too_small = count(row, n)
    if too_small then error(("count %s: expected a whole number from %d on, got %d"):format(name, -too_small, n), 2) end
  end
end

--- An index of an array of ports that there is not is an error.
local function checked_array(name, array)
  local last = #array
  return setmetatable(array, { __index = function(_, i)
    error(("self.%s: expected a port from 0 to %d, got %s"):format(name, last, names.shown(i)), 2)
  end, __len = function() return last + 1 end })
end

local function load_class(path, name)
  local chunk, problem = loadfile(path)
  if not chunk then error(problem, 0) end
  chunk()
  return class.declared[name] or error(("%s: expected a declaration of class %s, got none"):format(path, name), 0)
end

return function(path, name, object, values, ports, stats, native)
  own_state.confine()
  local definition = load_class(path, name)
  local functions = definition.functions
  local methods = {
    path = object, params = parameters.of(name, values, "class", words),
    answer = native.answer, can_answer = native.can_answer, drop = native.drop, room = native.room,
    count = count_into(stats, native.count),
  }
  for _, port in ipairs(definition.rows.ports) do
    methods[port.name] = port.count and checked_array(port.name, ports[port.name]) or ports[port.name]
  end
  for _, key in ipairs(names.sorted_keys(functions)) do methods[key] = functions[key] end
  local self = setmetatable({ state = definition.state }, { __index = methods })
  local heard, changed = {}, nil
  for i, row in ipairs(definition.rows.hears) do heard[i] = functions[row.handler] end
  local function start()
    if functions.start then functions.start(self) end
    getmetatable(self).__newindex = refuse_field
    changed = own_state.memory_of_start(self, functions, words, { self, definition })
  end
  return self, functions.tick, start, functions.on_kernel_start, function() return changed() end, heard
end
