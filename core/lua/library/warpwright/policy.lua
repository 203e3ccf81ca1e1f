-- Policies: policy "name" { doc =, KNOB = value, params =, ... } and functions for what happens in the machine. What a
-- definition may hold is in policies/README.md.
local core = require "warpwright.core"
local names = require "warpwright.names"

local policy = {}

--- Parameters of objects that a definition may set by these names.
local knobs = {
  order = { class = "SM", parameter = "scheduler" }, -- in which order the schedulers prefer warps
  first = { class = "SM", parameter = "first" }, -- memory or compute instructions before others
}

--- What an instance is about, and one of which there is for each of them.
local scopes = { sm = "SM", l2 = "L2", mc = "MemoryController", machine = "the machine" }

local legal_settings = { "doc", "params", "scope", "counters", "period", "parts", "uses", "order", "first" }

local Policy = { __name = "policy" }

function Policy:__newindex(name, value)
  if type(name) ~= "string" or type(value) ~= "function" then
    core.user_error(("policy %s: %s is a %s; a policy has functions, and what it remembers is in self.state"):format(
      rawget(self, "name"), tostring(name), type(value)))
  end
  rawget(self, "functions")[name] = value
end

--- A policy's functions can call each other.
function Policy:__index(name) return rawget(self, "functions")[name] end

function policy.is_policy(value) return getmetatable(value) == Policy end

-- Parameters -------------------------------------------------------------------------------------------------------

--- params = { name = { default, min =, max =, doc = } }
local function check_params(name, params)
  for _, key in ipairs(names.sorted_keys(params)) do
    local row = params[key]
    if type(row) ~= "table" or row[1] == nil then
      core.user_error(("policy %s: parameter %s: { default, min =, max =, doc = } is wanted"):format(name, key))
    end
  end
end

--- `text` as a value like the default of the parameter, within its bounds.
local function parameter_value(definition, key, text)
  local row = definition.params[key]
  if not row then
    local legal = names.sorted_keys(definition.params)
    core.user_error(("policy %s has no parameter '%s'; %s"):format(definition.name, key,
      #legal > 0 and "its parameters are " .. table.concat(legal, ", ") or "it has none"))
  end
  local default, value = row[1], text
  if type(default) == "number" then value = tonumber(text) end
  if math.type(default) == "integer" then value = math.tointeger(value) end
  if type(default) == "boolean" and type(text) == "string" then value = ({ ["true"] = true, ["false"] = false })[text] end
  if type(value) ~= type(default) then
    core.user_error(("policy %s: %s = '%s' is not like its default, %s"):format(definition.name, key, tostring(text),
      tostring(default)))
  end
  if type(value) == "number" and ((row.min and value < row.min) or (row.max and value > row.max)) then
    core.user_error(("policy %s: %s = %s is out of bounds; legal is %s to %s"):format(definition.name, key,
      tostring(value), tostring(row.min or "-inf"), tostring(row.max or "inf")))
  end
  return value
end

local function resolve_params(definition, given)
  local params = {}
  for _, key in ipairs(names.sorted_keys(definition.params)) do params[key] = definition.params[key][1] end
  for _, key in ipairs(names.sorted_keys(given)) do
    if definition.params[key] or not given[1] then params[key] = parameter_value(definition, key, given[key]) end
  end
  return params
end

-- Chains: several policies at once -----------------------------------------------------------------------------------

--- "ccws:k_throttle=16,base=50" -> "ccws", { k_throttle = "16", base = "50" }
local function read_word(word)
  local name, list = word:match("^([^:]+):(.*)$")
  local given = {}
  for key, value in (list or ""):gmatch("([^=,]+)=([^,]*)") do given[key] = value end
  return name or word, given
end

--- Appends a policy, those that it uses first. Parameters that those have and it has as well are handed on.
local function append(chain, load_policy, what, given)
  local definition = load_policy(what)
  local params = resolve_params(definition, given)
  for _, used in ipairs(definition.uses) do
    local inner, handed = load_policy(used), {}
    for _, key in ipairs(names.sorted_keys(params)) do
      if inner.params[key] then handed[key] = params[key] end
    end
    append(chain, load_policy, used, handed)
  end
  chain[#chain + 1] = { definition = definition, params = params, path = definition.path }
end

--- "gto+pric+ccws:k_throttle=16", a policy, or a list of these, as { name =, { definition =, params =, path = } ... }.
-- `load_policy` makes a definition of a name, a path or a definition.
function policy.chain(specification, load_policy)
  local chain, words = {}, {}
  local function add(value)
    if type(value) == "string" then
      for word in value:gmatch("[^+]+") do
        local name, given = read_word(word)
        append(chain, load_policy, name, given)
      end
      words[#words + 1] = value
    elseif type(value) == "table" and not policy.is_policy(value) then
      for _, element in ipairs(value) do add(element) end
    else
      append(chain, load_policy, value, {})
      words[#words + 1] = value.name
    end
  end
  add(specification)
  chain.name = table.concat(words, "+")
  return chain
end

--- What a chain sets on an object of this class that is being made: list of { parameter =, value =, what = }. `params` are
-- the config's.
function policy.settings_for(entry, class, path, params)
  local settings, definition = {}, entry.definition
  for _, name in ipairs(names.sorted_keys(knobs)) do
    if definition.settings[name] ~= nil and knobs[name].class == class then
      settings[#settings + 1] = { parameter = knobs[name].parameter, value = definition.settings[name] }
    end
  end
  if definition.functions.configure then
    local own = definition.functions.configure({ params = entry.params }, class, path, params) or {}
    for _, key in ipairs(names.sorted_keys(own)) do settings[#settings + 1] = { parameter = key, value = own[key] } end
  end
  return settings
end

--- Has a policy anything to do while the machine runs?
function policy.has_hooks(definition)
  for name in pairs(definition.functions) do
    if name ~= "configure" then return true end
  end
  return false
end

-- Defining ---------------------------------------------------------------------------------------------------------

local function define(_, name)
  if type(name) ~= "string" then core.user_error('policy: a name is wanted: policy "name" {...}') end
  local path = debug.getinfo(2, "S").source:match("^@(.*)$")
  return function(settings)
    names.check_keys("policy " .. name, settings, legal_settings)
    local scope = settings.scope or "sm"
    if not scopes[scope] then
      core.user_error(("policy %s: scope '%s' is none of %s"):format(name, tostring(scope),
        table.concat(names.sorted_keys(scopes), ", ")))
    end
    check_params(name, settings.params or {})
    return setmetatable({
      name = name, doc = settings.doc, path = path, settings = settings, scope = scope, functions = {},
      params = settings.params or {}, counters = settings.counters or {}, parts = settings.parts or {},
      uses = settings.uses or {}, period = settings.period,
    }, Policy)
  end
end

return setmetatable(policy, { __call = define })
