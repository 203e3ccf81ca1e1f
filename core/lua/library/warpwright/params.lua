-- The parameters of a policy, or of an object whose class is written in Lua, as its functions see them: a misspelt name, and an assignment, is an error where it stands.
local core = require "warpwright.core"
local names = require "warpwright.names"

local params = {}

local values_of = setmetatable({}, { __mode = "k" })

local function refuse(text, ...) error(core.location() .. text:format(...), 0) end

--- params.of(name, { name = value }): the same to read, and for pairs(), which goes through them in order. The name is that of
-- a policy, unless `kind` says of what; `words` say where it remembers.
function params.of(name_of_owner, given, kind, words)
  kind, words = kind or "policy", words or "what a policy remembers is in self.state"
  local values, legal = {}, names.sorted_keys(given)
  for _, name in ipairs(legal) do values[name] = given[name] end
  local function unknown(_, name)
    refuse("params.%s: no parameter of %s %s matches '%s'%s", tostring(name), kind, name_of_owner, tostring(name), names.available(name, legal))
  end
  local function assigned(_, name)
    refuse("params.%s: expected no assignment: parameters are as the run gives them to %s %s; %s",
      tostring(name), kind, name_of_owner, words)
  end
  local function each()
    local i = 0
    return function()
      i = i + 1
      if legal[i] then return legal[i], values[legal[i]] end
    end
  end
  local readable = setmetatable({}, {
    __index = setmetatable(values, { __index = unknown }),
    __newindex = assigned, __pairs = each, __metatable = false,
  })
  values_of[readable] = values
  return readable
end

--- The value of a parameter, or nil.
function params.value(readable, name) return rawget(values_of[readable], name) end

--- The names, in order.
function params.names(readable) return names.sorted_keys(values_of[readable]) end

return params
