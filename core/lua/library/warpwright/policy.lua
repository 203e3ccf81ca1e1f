-- Policies: policy "name" { doc =, KNOB = value, params =, ... } and functions for what happens in the machine. What a
-- definition may hold is in docs/policy_interface.md.
local core = require "warpwright.core"
local names = require "warpwright.names"
local own_state = require "warpwright.own_state"
local parameters = require "warpwright.params"

local policy = {}

--- Parameters of objects that a definition may set by these names.
local knobs = {
  order = { class = "SM", parameter = "scheduler" }, -- in which order the schedulers prefer warps
  first = { class = "SM", parameter = "first" }, -- memory or compute instructions before others
}

--- What an instance is about, and one of which there is for each of them: objects of a class, and more.
local scopes = { sm = "SM", l2 = "L2", mc = "MemoryController", dispatcher = "Dispatcher", cache = "cache", machine = "machine" }

local legal_settings = {
  "doc", "params", "scope", "caches", "shares", "counters", "period", "parts", "uses", "order", "first", "sets_classes",
}

local Policy = { __name = "policy" }

--- Under which a policy keeps what its definition says: what is under other names goes through __newindex.
local definition_key <const> = {}

--- Names that no function may have: a definition or `self` has them.
local taken <const> = {}
for name in ("name doc path defined_at settings scope class functions params shares counters parts uses period "
  .. "state handles count share shared cycle bind only own_l1 channel_of"):gmatch "%S+" do
  taken[name] = true
end

--- Of self, in one scope or another; those of lists have an s more.
local handle_names <const> = {}
for name in ("sm lsu l1 texture constant cache caches object l2 mc dispatcher"):gmatch "%S+" do handle_names[name] = true end

function Policy:__newindex(name, value)
  local definition = rawget(self, definition_key)
  if type(name) ~= "string" or type(value) ~= "function" then
    names.expected(("policy %s: %s"):format(definition.name, tostring(name)), "a function (a policy's data is in self.state)", value)
  end
  if taken[name] then
    core.user_error(("policy %s: function %s: expected a name that neither a definition nor self has, got one of theirs"):format(
      definition.name, name))
  end
  definition.functions[name] = value
end

--- A policy's functions can call each other.
function Policy:__index(name)
  local definition = rawget(self, definition_key)
  local value = definition[name]
  if value == nil then return definition.functions[name] end
  return value
end

function policy.is_policy(value) return getmetatable(value) == Policy end

--- As a value in handle:setting(): the argument that the setting is made with.
function policy.argument(argument) return argument end

--- For a parameter of a part, or a setting of configure(): that of the policy.
function policy.param(name)
  local place = core.location()
  return function(params)
    local value = parameters.value(params, name)
    if value == nil then
      error(("%spolicy.param: no parameter of the policy matches '%s'%s"):format(place, tostring(name),
        names.available(name, parameters.names(params))), 0)
    end
    return value
  end
end

-- For parameters of parts of an SM, in a policy with `caches`:

local function require_place(place)
  if not place then core.user_error "expected caches on which the policy acts, got none; `where` leaves the part out" end
  return place
end

--- The path of the first of them behind the SM.
function policy.first_cache(_, _, place) return require_place(place).caches[1] end

--- Its number, as requests name it.
function policy.sm_number(_, _, place) return require_place(place).sm end

--- The paths of the caches from which its requests go to these, "sm[0].l1d,sm[0].texture_cache".
function policy.caches_before(_, sm, place)
  if require_place(place).direct then
    core.user_error(("policy %s: cache: %s: expected caches with an L1 between them and the load/store unit, got %s, which has none"):format(
      place.policy, sm.path, place.direct))
  end
  return table.concat(place.before, ",")
end

local of_caches <const> = { [policy.first_cache] = true, [policy.sm_number] = true, [policy.caches_before] = true }

-- Parameters -------------------------------------------------------------------------------------------------------

local plain_types = { number = true, string = true, boolean = true }

local function out_of_bounds(row, value)
  return type(value) == "number" and ((row.min and value < row.min) or (row.max and value > row.max))
end

--- params = { name = { default, min =, max =, doc = } }
local function check_params(name, params)
  for _, key in ipairs(names.sorted_keys(params)) do
    local row = params[key]
    if type(row) ~= "table" or not plain_types[type(row[1])] or not tostring(key):match "^[%w_]+$" then
      names.expected(("policy %s: parameter %s"):format(name, tostring(key)),
        "{ default, min =, max =, doc = }, the default a number, a text, true or false", row)
    end
    names.check_keys(("policy %s: parameter %s"):format(name, key), row, { 1, "min", "max", "doc" })
    for _, bound in ipairs { "min", "max" } do
      if row[bound] ~= nil and type(row[bound]) ~= "number" then
        names.expected(("policy %s: parameter %s: %s"):format(name, key, bound), "a number", row[bound])
      end
    end
    if out_of_bounds(row, row[1]) then
      names.expected(("policy %s: parameter %s"):format(name, key), "as default " .. names.wanted(row[1], row.min, row.max), row[1])
    end
  end
end

--- `text` as a value like the default of the parameter, within its bounds. `rows`: all parameters of the policy.
local function parameter_value(definition, rows, key, text)
  local row = rows[key]
  if not row then
    core.user_error(("policy %s: no parameter matches '%s'%s"):format(definition.name, key,
      names.available(key, names.sorted_keys(rows))))
  end
  local default, value = row[1], text
  if type(default) == "number" then value = tonumber(text) end
  if math.type(default) == "integer" then value = math.tointeger(value) end
  if math.type(default) == "float" then value = value and value + 0.0 end
  if type(default) == "boolean" and type(text) == "string" then value = ({ ["true"] = true, ["false"] = false })[text] end
  local is_endless = type(value) == "number" and value - value ~= 0 and value ~= default
  if type(value) ~= type(default) or is_endless or out_of_bounds(row, value) then
    names.expected(("policy %s: %s"):format(definition.name, key), names.wanted(default, row.min, row.max), text)
  end
  return value
end

local function resolve_params(definition, rows, given)
  local params = {}
  for _, key in ipairs(names.sorted_keys(rows)) do params[key] = rows[key][1] end
  for _, key in ipairs(names.sorted_keys(given)) do params[key] = parameter_value(definition, rows, key, given[key]) end
  return params
end

-- Chains: several policies at once -----------------------------------------------------------------------------------

--- Where the name ends that begins at `from`: before a + or a :, but the path of a file may have those in it. `is_file(path)` says what
-- is one.
local function end_of_name(text, from, is_file)
  local ends = {}
  for at in text:gmatch("()[+:]", from) do ends[#ends + 1] = at - 1 end
  ends[#ends + 1] = #text
  for i = #ends, 2, -1 do
    local path = text:sub(from, ends[i])
    if (path:find("/", 1, true) or path:find "%.lua$") and is_file(path) then return ends[i] end
  end
  return ends[1]
end

--- The first word of "ccws:k_throttle=16,base=50+gto" from `from` on -> "ccws", { k_throttle = "16", base = "50" }, where the next one
-- begins, or nil.
local function read_word(text, from)
  local last = end_of_name(text, from, core.is_file)
  local name, plus = text:sub(from, last), text:find("+", last + 1, true)
  local word = text:sub(from, (plus or 0) - 1)
  local list, given = word:match("^:(.*)$", #name + 1), {}
  for setting in ((list or "") .. ","):gmatch("([^,]*),") do
    local key, value = setting:match("^([^=]+)=(.+)$")
    if key then
      if given[key] then core.user_error(("policy %s: %s: expected one value, got '%s' and '%s'"):format(name, key, given[key], value)) end
      given[key] = value
    elseif list then
      names.expected(("policy '%s'"):format(word), "PARAMETER=VALUE", setting)
    end
  end
  if name == "" then names.expected("policy", "a name (gto, ccws:k_throttle=16+gto)", word) end
  return name, given, plus and plus + 1
end

--- A specification of which each name is what `change(name)` makes of it. `is_file(path)`: may a name be this path?
function policy.with_names(text, is_file, change)
  local words, at = {}, 1
  while at do
    local last = end_of_name(text, at, is_file)
    local plus = text:find("+", last + 1, true)
    words[#words + 1] = change(text:sub(at, last)) .. text:sub(last + 1, (plus or 0) - 1)
    at = plus and plus + 1
  end
  return table.concat(words, "+")
end

--- A specification whose last policy has these parameters, "PARAMETER=VALUE,...", in place of those of the same names.
function policy.with_params(text, list)
  local at, last, before = 1, 1, nil
  while at do
    last = at
    before, at = select(2, read_word(text, at))
  end
  local name = text:sub(last, end_of_name(text, last, core.is_file))
  local given, words = list == "" and {} or select(2, read_word("policy:" .. list, 1)), {}
  for key, value in pairs(given) do before[key] = value end
  for i, key in ipairs(names.sorted_keys(before)) do words[i] = ("%s=%s"):format(key, before[key]) end
  return text:sub(1, last - 1) .. name .. (words[1] and ":" .. table.concat(words, ",") or "")
end

--- What an element of `uses` names.
local function used_name(use) return type(use) == "table" and not policy.is_policy(use) and use[1] or use end

--- What a definition names as used, as load_policy() finds it: a file beside its own where there is no other of that name.
local function found_beside(definition, what)
  if type(what) ~= "string" or what:sub(1, 1) == "/" then return what end
  local is_path = what:find("/", 1, true) or what:find "%.lua$"
  if core.is_file(is_path and what or core.home_path(("policies/%s.lua"):format(what))) then return what end
  local beside = (definition.path or ""):match "^(.*/)" or ""
  local path = beside .. what .. (is_path and "" or ".lua")
  return core.is_file(path) and path or what
end

local function with_last(list, value)
  local longer = table.move(list, 1, #list, 1, {})
  longer[#longer + 1] = value
  return longer
end

local function find_entry(chain, name)
  for _, entry in ipairs(chain) do
    if entry.definition.name == name then return entry end
  end
end

--- The definition of an element of `uses`.
local function load_used(definition, use, load_policy)
  local ok, used = xpcall(load_policy, core.message_handler, found_beside(definition, used_name(use)))
  if not ok then error(("%spolicy %s: uses: %s"):format(definition.defined_at, definition.name, core.thrown_text(used)), 0) end
  return used
end

--- All parameters of a policy: its own, and those of the policies that it uses, of the first that has one of this name.
-- `used_by`: the policies that led here, outermost first.
local function all_params(definition, load_policy, used_by)
  local name, rows = definition.name, {}
  for _, user in ipairs(used_by) do
    if user == name then
      core.user_error(("policy %s: uses: expected other policies, got itself, by way of %s"):format(name, table.concat(used_by, ", ")))
    end
  end
  local users, differs = with_last(used_by, name), false
  for i = #definition.uses, 1, -1 do
    local used = all_params(load_used(definition, definition.uses[i], load_policy), load_policy, users)
    differs = differs or rows.cache and used.cache and rows.cache[1] ~= used.cache[1]
    for _, key in ipairs(names.sorted_keys(used)) do rows[key] = used[key] end
  end
  if differs then rows.cache = nil end -- each acts on caches of its own
  for _, key in ipairs(names.sorted_keys(definition.params)) do rows[key] = definition.params[key] end
  return rows
end

--- policy.params_of(definition, load_policy): { name = { default, min =, max =, doc = } }
function policy.params_of(definition, load_policy) return all_params(definition, load_policy, {}) end

--- The parameters that a used policy has as well, from the one that uses it.
local function handed_on(params, inner)
  local handed = {}
  for _, key in ipairs(names.sorted_keys(params)) do
    if inner[key] then handed[key] = params[key] end
  end
  return handed
end

--- `uses` has names, or { name, when = the parameter that says whether }.
local function is_used(definition, use, params)
  local when = type(use) == "table" and use.when
  if not when then return true end
  if type(params[when]) ~= "boolean" then
    names.expected(("policy %s: uses: when"):format(definition.name), "a parameter that is true or false", when)
  end
  return params[when]
end

--- Appends a policy, those that it uses first. `used_by`: the policies that led here, outermost first.
local function append(chain, load_policy, what, given, used_by)
  local definition = load_policy(what)
  local name = definition.name
  local there = find_entry(chain, name)
  if there and used_by[1] then return end -- it is there once, as it was asked for first
  if there then
    core.user_error(("policy %s: expected once in a chain, "):format(name) .. (there.used_by
      and ("got it again after %s, which uses it; name it first, with its parameters"):format(there.used_by) or "got it twice"))
  end
  local rows = all_params(definition, load_policy, used_by)
  local params, users = resolve_params(definition, rows, given), with_last(used_by, name)
  for _, use in ipairs(definition.uses) do
    if is_used(definition, use, params) then
      local used = load_used(definition, use, load_policy)
      append(chain, load_policy, used, handed_on(params, all_params(used, load_policy, users)), users)
    end
  end
  chain[#chain + 1] = { definition = definition, params = params, readable_params = parameters.of(name, params),
    path = definition.path, used_by = used_by[#used_by] }
end

--- "gto+pric+ccws:k_throttle=16", a policy, or a list of these, as { name =, { definition =, params =, path = } ... }.
-- `load_policy` makes a definition of a name, a path or a definition.
function policy.chain(specification, load_policy)
  local chain, words = {}, {}
  local function add(value)
    if type(value) == "string" then
      local at = 1
      while at do
        local name, given, behind = read_word(value, at)
        append(chain, load_policy, name, given, {})
        at = behind
      end
      words[#words + 1] = value
    elseif type(value) == "table" and not policy.is_policy(value) then
      for _, element in ipairs(value) do add(element) end
    else
      append(chain, load_policy, value, {}, {})
      words[#words + 1] = value.name
    end
  end
  add(specification)
  chain.name = table.concat(words, "+")
  return chain
end

--- "FILE:LINE: policy NAME: FUNCTION: ", for its wrong results.
local function place_of_function(definition, name)
  local where = debug.getinfo(definition.functions[name], "S")
  return ("%s:%d: policy %s: %s: "):format(where.short_src, where.linedefined, definition.name, name)
end

local function raise_of_configure(definition, path, problem)
  local where, text = problem:match "^([^:\n]+:%d+: )(.*)$"
  error(("%spolicy %s, in configure of %s: %s"):format(where or definition.defined_at, definition.name, path, text or problem), 0)
end

--- What a chain sets on an object of this class that is being made: list of { parameter =, value = }. `params` are the
-- config's with the run's overrides. A class "clock" has the parameter frequency, a "wire" its options; its path is
-- "port -> port".
function policy.settings_for(entry, class, path, params)
  local settings, definition = {}, entry.definition
  for _, name in ipairs(names.sorted_keys(knobs)) do
    if definition.settings[name] ~= nil and knobs[name].class == class then
      settings[#settings + 1] = { parameter = knobs[name].parameter, value = definition.settings[name],
        place = ("%spolicy %s: %s: "):format(definition.defined_at, definition.name, name) }
    end
  end
  if definition.functions.configure then
    local self = { params = entry.readable_params, acts_on = function(_, cache, word)
      local words = class ~= "clock" and entry.caches[cache] -- a clock may have the name of a cache
      return words and (word == nil or words[word] == true) or false
    end }
    local place = place_of_function(definition, "configure")
    local ok, own = xpcall(own_state.call_confined, core.message_handler, definition.functions.configure, self, class, path, params)
    if not ok then raise_of_configure(definition, path, core.thrown_text(own)) end
    if own ~= nil and type(own) ~= "table" then
      error(("%sexpected a table of PARAMETER = value for %s, or nil, got %s"):format(place, path, names.shown(own)), 0)
    end
    for _, key in ipairs(names.sorted_keys(own or {})) do
      if type(key) ~= "string" then
        error(("%sexpected PARAMETER = value for %s, got %s"):format(place, path, names.shown(own[key])), 0)
      end
      settings[#settings + 1] = { parameter = key, value = own[key], place = place }
    end
  end
  return settings
end

--- Does it say that it sets the classes of warps' requests, with these parameters?
local function sets_classes(entry)
  local sets = entry.definition.settings.sets_classes
  if type(sets) == "function" then return own_state.call_confined(sets, entry.readable_params) end
  return sets
end

--- A warp has one class: an error where two of a chain say that they set it. Of others the second call of sm:set_class is one.
function policy.check_classes(chain)
  local first
  for _, entry in ipairs(chain) do
    if sets_classes(entry) then
      if first then
        core.user_error(("policies %s and %s: expected one policy that sets classes (sm:set_class), got two"):format(first,
          entry.definition.name))
      end
      first = entry.definition.name
    end
  end
end

--- Has a policy anything to do while the machine runs?
function policy.has_hooks(definition)
  for name in pairs(definition.functions) do
    if name ~= "configure" then return true end
  end
  return false
end

-- Defining ---------------------------------------------------------------------------------------------------------

--- What goes into paths of stats, and between the + and : of a command line.
local function check_name(name)
  if type(name) == "string" and #name > 200 then
    core.user_error(("policy %s...: expected a name of up to 200 characters, got %d"):format(name:sub(1, 40), #name))
  end
  if type(name) ~= "string" or not name:match "^[%w_.-]+$" then
    names.expected("policy", 'a name of letters, digits, _, - and . (policy "name" {...})', name)
  end
end

--- Parts whose parameters are found behind an SM, by the caches on which the policy acts.
local function check_looks_at_caches(name, i, part, caches)
  for _, key in ipairs(names.sorted_keys(part)) do
    if of_caches[part[key]] and not caches then
      core.user_error(('policy %s: parts[%d]: %s: expected caches = "data" or the like for the caches of an SM, got none'):format(name, i, key))
    elseif of_caches[part[key]] and part.of ~= "SM" then
      names.expected(("policy %s: parts[%d]: of"):format(name, i), ('"SM" for %s = the caches of an SM'):format(key), part.of)
    end
  end
end

local function check_fields(name, settings)
  for _, key in ipairs { "params", "counters", "parts", "uses", "shares" } do
    if settings[key] ~= nil and type(settings[key]) ~= "table" then
      names.expected(("policy %s: %s"):format(name, key), "a table", settings[key])
    end
  end
  for _, counter in ipairs(names.sorted_keys(settings.counters or {})) do
    if type(counter) ~= "string" or not counter:match "^[%w_]+$" or type(settings.counters[counter]) ~= "string" then
      names.expected(("policy %s: counters"):format(name), '{ name = "what it counts" }', counter)
    end
  end
  local sets = settings.sets_classes
  if sets ~= nil and type(sets) ~= "boolean" and type(sets) ~= "function" then
    names.expected(("policy %s: sets_classes"):format(name), "true, false, or a function of the parameters", sets)
  end
  for i, use in ipairs(settings.uses or {}) do
    if type(use) == "table" and not policy.is_policy(use) then
      if type(use[1]) ~= "string" and not policy.is_policy(use[1]) then
        names.expected(("policy %s: uses[%d]"):format(name, i), "a name or { name, when = PARAMETER }", use[1])
      end
      names.check_keys(("policy %s: uses[%d]"):format(name, i), use, { 1, "when" })
    end
    local used = used_name(use)
    if type(used) == "string" and used:find "[:+]" then
      names.expected(("policy %s: uses[%d]"):format(name, i), "one policy without parameters, which this policy has as its own", used)
    end
  end
  for i, part in ipairs(settings.parts or {}) do
    if type(part) ~= "table" or not (part.class and part.name and part.of) then
      names.expected(("policy %s: parts[%d]"):format(name, i), "{ class =, name =, of =, PARAMETER = value ... }", part)
    end
    if handle_names[part.name] or taken[part.name] then
      names.expected(("policy %s: parts[%d]: name"):format(name, i), "one that no handle or field of self has", part.name)
    end
    if part.where ~= nil and type(part.where) ~= "function" then
      names.expected(("policy %s: parts[%d]: where"):format(name, i), "a function of the parameters and the object", part.where)
    end
    check_looks_at_caches(name, i, part, settings.caches)
    for _, class in ipairs { part.class, part.of } do
      if type(class) ~= "string" then names.expected(("policy %s: parts[%d]: class and of"):format(name, i), "names of classes", class) end
      if class == "cache" and part.of == "cache" and not settings.caches then
        core.user_error(('policy %s: parts[%d]: expected caches = for of = "cache", such as caches = "data", got none'):format(name, i))
      end
      if not core.is_class(class) and not (class == "cache" and part.of == "cache") then
        local classes = {}
        for j, one in ipairs(core.classes()) do classes[j] = one.name end
        core.user_error(("policy %s: parts[%d]: no class matches '%s'%s"):format(name, i, tostring(class),
          names.did_you_mean(class, classes, 3)))
      end
    end
  end
end

local function check_shares(name, shares)
  for _, key in ipairs(names.sorted_keys(shares)) do
    local row = shares[key]
    local count = type(row) == "table" and math.type(row[1]) == "integer" and row[1] or 0
    if type(key) ~= "string" or not key:find "^[%w_]+$" then
      names.expected(("policy %s: shares"):format(name), "names of letters, digits and _", key)
    end
    if count < 1 or count > 4096 then
      names.expected(("policy %s: shares: %s"):format(name, tostring(key)), "{ how many numbers, 1 to 4096, doc = }", row)
    end
    names.check_keys(("policy %s: shares: %s"):format(name, key), row, { 1, "doc" })
  end
end

--- The parameter that says which caches, unless the definition has one.
local function with_caches(name, settings)
  local caches, params = settings.caches, settings.params or {}
  if caches == nil then return params end
  local default = type(caches) == "table" and caches[1] or caches
  local when = type(caches) == "table" and caches.when
  if type(default) ~= "string" or when and type((params[when] or {})[1]) ~= "boolean" then
    names.expected(("policy %s: caches"):format(name), '"data", "L2", a pattern of paths, or { this, when = a parameter that is true or false }', caches)
  end
  if not params.cache then
    params.cache = { default, doc = "Which caches: data, texture, constant, last, L1, L2, or a pattern of paths (l15[*])" }
  end
  return params
end

local function refuse_scope(place, scope)
  names.expected(place .. "scope", ("one of %s, or a class"):format(table.concat(names.sorted_keys(scopes), ", ")), scope)
end

--- What the instances are about: the name of its handle, and the class where that is no other name for one. A class may be one that
-- the config declares, later.
local function scope_of(name, scope)
  if scopes[scope] then return scope, core.is_class(scopes[scope]) and scopes[scope] or nil end
  if type(scope) == "string" then return "object", scope end
  refuse_scope(("policy %s: "):format(name), scope)
end

--- An error where its scope is no class, now that the machine's classes are declared.
function policy.check_scope(definition)
  if definition.class == nil or core.is_class(definition.class) then return end
  names.at_place(definition.defined_at, refuse_scope, ("policy %s: "):format(definition.name), definition.class)
end

local function define(_, name)
  check_name(name)
  local path, defined_at = debug.getinfo(2, "S").source:match("^@(.*)$"), core.location()
  return function(settings)
    names.check_keys("policy " .. name, settings, legal_settings)
    local scope, class = scope_of(name, settings.scope or "sm")
    check_fields(name, settings)
    check_shares(name, settings.shares or {})
    local params = with_caches(name, settings)
    check_params(name, params)
    if scope == "cache" and not settings.caches then
      core.user_error(("policy %s: expected caches = for scope cache, such as caches = \"data\", got none"):format(name))
    end
    return setmetatable({ [definition_key] = {
      name = name, doc = settings.doc, path = path, defined_at = defined_at, settings = settings, scope = scope, class = class,
      functions = {}, params = params, shares = settings.shares or {}, counters = settings.counters or {},
      parts = settings.parts or {}, uses = settings.uses or {}, period = settings.period,
    } }, Policy)
  end
end

return setmetatable(policy, { __call = define })
