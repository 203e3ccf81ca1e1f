-- The parameters of a policy as its functions see them: a misspelt name, and an assignment, is an error where it stands.
local core = require "warpwright.core"
local names = require "warpwright.names"

local params = {}

local values_of = setmetatable({}, { __mode = "k" })

local function refuse(text, ...) error(core.location() .. text:format(...), 0) end

--- params.of(policy name, { name = value }): the same to read, and for pairs(), which goes through them in order.
function params.of(policy_name, given)
  local values, legal = {}, names.sorted_keys(given)
  for _, name in ipairs(legal) do values[name] = given[name] end
  local function unknown(_, name)
    refuse("params.%s: no parameter of policy %s matches '%s'%s", tostring(name), policy_name, tostring(name), names.available(name, legal))
  end
  local function assigned(_, name)
    refuse("params.%s: expected no assignment: parameters are as the run gives them to policy %s; what a policy remembers is in self.state",
      tostring(name), policy_name)
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
