-- In the Lua state of a policy instance: makes the instance of the policy's file and connects its functions.
local core = require "warpwright.core"
local event_filter = require "warpwright.event_filter"
local hooks_of = require "warpwright.hooks"
local load = require "warpwright.load"
local names = require "warpwright.names"
local own_state = require "warpwright.own_state"
local parameters = require "warpwright.params"
require "warpwright.loading"

local longest_period <const> = 1000000000
local most_address <const> = 1 << 52
local words <const> = "what a policy remembers is in self.state"

local Instance = {}

--- self:count("name", n): adds to a counter that the definition declares; it is in the stats.
local function count_into(counters, native)
  return function(_, name, n)
    local value = counters[name]
    if value and not n then
      counters[name] = value + 1
      return
    end
    if not value then
      error(("count: no counter of the policy matches '%s'%s"):format(tostring(name),
        names.available(name, names.sorted_keys(counters))), 2)
    end
    if math.type(n) ~= "integer" then
      error(("count %s: expected a whole number, got %s"):format(name, names.shown(n)), 2)
    end
    if n < 0 then
      native.count_bound_events(counters)
      value = counters[name]
      if value + n < 0 then error(("count %s: expected a whole number from %d on, got %d"):format(name, -value, n), 2) end
    elseif value + n < value then
      error(("count %s: expected a whole number up to %d, got %d"):format(name, math.maxinteger - value, n), 2)
    end
    counters[name] = value + n
  end
end

--- What an instance remembered elsewhere would be missing after a resume.
local function refuse_field(_, name)
  error(("self.%s: expected an assignment in start(), got one later; %s"):format(tostring(name), words), 2)
end

--- self.counters: their values, up to date with what was counted without Lua. What is assigned there could be no counter at all.
local function counters_to_read(counters, native)
  local reader = setmetatable({}, {
    __index = counters,
    __pairs = function() return next, counters, nil end,
    __newindex = function(_, name)
      error(("self.counters.%s: expected self:count(name, n) to change a counter, got an assignment"):format(tostring(name)), 2)
    end,
  })
  return function()
    native.count_bound_events(counters)
    return reader
  end
end

--- An assignment in start(), which makes fields of self.
local function set_field_in_start(self, name, value)
  if name == "counters" then error("self.counters: expected self:count(name, n) to change a counter, got an assignment", 2) end
  rawset(self, name, value)
end

--- What self:bind() may be told, for `hooks` of hooks.possible().
local function check_binding(self, hook, hooks, legal, counters, counter)
  if getmetatable(self).__newindex == refuse_field then error("bind: expected a call in start(), got one later", 3) end
  local is_question = hooks[hook] and not hook:match "^on_"
  if is_question or hooks[hook] and hooks[hook].later then
    error(("bind: expected an event that the policy hears in its cycle, got %s, which is %s"):format(hook,
      is_question and "a question" or "heard at the next boundary"), 3)
  end
  if not hooks[hook] then
    error(("bind: no hook matches '%s'%s"):format(tostring(hook), names.did_you_mean(hook, legal(), 4)), 3)
  end
  if counter and not counters[counter] then
    error(("bind: no counter of the policy matches '%s'%s"):format(tostring(counter),
      names.available(counter, names.sorted_keys(counters))), 3)
  end
end

--- Names of the event's arguments.
local function arguments_of(target)
  return core.class_event(target.handle.class, target.event).arguments
end

--- self:only("on_hit", { set = { every = 4 }, write = 0 }, ...): the function of this name, and what is bound to it, hears of events
-- alone whose arguments are all so, as one of the tables says. `bound`: names of hooks to which something is.
local function add_only(definition, native, hooks, legal, bound)
  local told = {}
  function Instance:only(hook, ...)
    if getmetatable(self).__newindex == refuse_field then error("only: expected a call in start(), got one later", 2) end
    if not hooks[hook] then error(("only: no hook matches '%s'%s"):format(tostring(hook), names.did_you_mean(hook, legal(), 4)), 2) end
    if not (bound[hook] or definition.functions[hook]) then
      error(("only: %s: expected a hook that the policy has or has bound, got none"):format(hook), 2)
    end
    if told[hook] then error(("only: %s: expected one call for each hook, got a second one"):format(hook), 2) end
    told[hook] = true
    local alternatives = { ... }
    for _, target in ipairs(hooks[hook].targets) do
      native.only(target.handle, target.event, event_filter.numbers(hook, arguments_of(target), alternatives), hook)
    end
  end
end

--- A list of handles. An index out of bounds is an error, except from C: ipairs looks behind the end.
local function checked_list(name, list)
  return setmetatable(list, { __index = function(_, i)
    if debug.getinfo(2, "S").what == "C" then return nil end
    error(("self.%s: expected %s, got %s"):format(name, #list == 0 and "no index (it is empty)" or ("an index from 1 to %d"):format(#list),
      names.shown(i)), 2)
  end })
end

local function check_period(period, what)
  local cycles = math.type(period) == "integer" and period or nil
  if not cycles or cycles < 1 or cycles > longest_period then
    error(("period: expected a number of cycles from 1 to %d for on_period, or the name of a parameter that is one, got %s")
      :format(longest_period, what), 0)
  end
end

--- The number of the SM that an instance is about where the object serves others as well: what they do there is no
-- business of its own.
local function concerns(self, handle)
  local sm = rawget(self, "sm")
  if not sm or handle.path == sm.path or handle.path:sub(1, #sm.path + 1) == sm.path .. "." then return nil end
  return sm:number()
end

local function check_index(what, index, last)
  if math.type(index) ~= "integer" or index < 1 or index > last then
    error(("%s: expected an index from 1 to %d, got %s"):format(what, last, names.shown(index)), 4)
  end
end

--- What the instances of another policy have told: self:shared("policy.name", index).
local function shared_by(native, policy, name, index)
  local list, problem = native.shared_by(policy, name, math.tointeger(index) or 0)
  if list then return list end
  local what = ("shared %s.%s"):format(policy, name)
  if problem == "policy" then
    error(("%s: expected a policy of this run that shares numbers, got '%s'; `uses` or --policy names it"):format(what, policy), 3)
  elseif type(problem) == "string" then
    local shared = {}
    for row in problem:gmatch "(%S+)[^\n]*\n" do shared[#shared + 1] = row end
    error(("shared: no shared number of policy %s matches '%s'%s"):format(policy, name, names.available(name, shared)), 3)
  end
  check_index(what, index, problem)
end

--- self:share("name", number, index) tells it to all instances of the policy, from the next boundary of a quantum on;
-- self:shared("name", index) is a list of what they have told last, in their order, and the place of this one in it. Index 1
-- unless there are several numbers of the name.
local function add_shares(definition, native)
  local first, all, rows = {}, 0, {}
  for _, name in ipairs(names.sorted_keys(definition.shares)) do
    first[name] = all
    rows[#rows + 1] = ("%s %d %d\n"):format(name, all, definition.shares[name][1])
    all = all + definition.shares[name][1]
  end
  if all > 0 then native.share_numbers(all, table.concat(rows)) end
  local function place(what, name, index)
    local row = definition.shares[name]
    if not row then
      error(("%s: no shared number of the policy matches '%s'%s"):format(what, tostring(name),
        names.available(name, names.sorted_keys(definition.shares))), 3)
    end
    index = index or 1
    check_index(("%s %s"):format(what, name), index, row[1])
    return first[name] + index - 1
  end
  function Instance:share(name, value, index)
    local at = place("share", name, index)
    if type(value) ~= "number" then error(("share %s: expected a number, got %s"):format(name, names.shown(value)), 2) end
    native.share(at, value)
  end
  function Instance:shared(name, index)
    local policy, number = tostring(name):match "^([^.]+)%.([^.]+)$"
    if policy then return shared_by(native, policy, number, index or 1) end
    return native.shared(place("shared", name, index))
  end
end

--- self:own_l1(): an error unless the load/store unit has an L1 for data, which no other SM uses.
local function add_own_l1(users, without_l1)
  function Instance:own_l1()
    if not self.l1 then
      error(("%s: expected an L1 behind the load/store unit, got none%s"):format(self.sm.path, without_l1), 0)
    end
    for _, name in ipairs { "l1", "texture", "constant" } do
      local l1 = self[name]
      if l1 and users[l1.path] then
        error(("%s: expected an L1 of its own, got %s, which %s uses as well"):format(self.sm.path, l1.path, users[l1.path]), 0)
      end
    end
  end
end

--- Of a function that is called like a hook which there is not, or not here. `far`: the objects behind slow wires, by handle.
local function refuse_hook(definition, name, handles, hooks, legal, far)
  local of, scope = name:gsub("^on_", ""):match "^%l+%d*", definition.scope
  local bare = name:gsub("^(o?n?_?)" .. scope .. "_", "%1")
  local elsewhere = hooks_of.elsewhere(name, scope)
  local problem
  if far[of] then
    problem = ("%s: expected an object as self.%s that shares a cluster with this one, got %s, which is behind a slow wire%s")
      :format(name, of, far[of], elsewhere and elsewhere:match ";.*" or "")
  elseif handles[of] == false then
    problem = ("%s: expected an object as self.%s, got none on this machine%s"):format(name, of,
      elsewhere and elsewhere:match ";.*" or "; leave the function out for machines without one")
  elseif bare ~= name and hooks[bare] then
    problem = ("no hook matches '%s' in scope %s, which has it as %s"):format(name, scope, bare)
  else
    problem = ("no hook matches '%s'%s"):format(name, elsewhere or names.did_you_mean(name, legal(), 4))
  end
  local where = debug.getinfo(definition.functions[name], "S")
  error(("%s:%d: %s"):format(where.source:match "^@(.*)$" or where.short_src, where.linedefined, problem), 0)
end

--- Tells of the hooks of objects; returns the others, and their period.
local function connect(self, definition, specification, handles, native, hooks, legal, counters)
  local plain, params = {}, specification.params
  for _, name in ipairs(names.sorted_keys(definition.functions)) do
    local hook = hooks[name]
    if hooks_of.plain[name] then
      plain[hooks_of.plain[name]] = definition.functions[name]
    elseif hook then
      for _, target in ipairs(hook.targets) do
        local handle = target.handle
        local asks_by_knob = target.event == "bypass" and handle.class == "L2"
        if asks_by_knob and not specification.with_set_bypass[handle.path] then handle.bypass = true end
        native.subscribe(handle, target.event, definition.functions[name], name, hook.speaks, concerns(self, handle),
          hook.later)
      end
    elseif hooks_of.is_like_one(name) then
      refuse_hook(definition, name, handles, hooks, legal, specification.far or {})
    end
  end
  local period, what = definition.period, tostring(definition.period)
  if type(period) == "string" then
    period = params[period]
    what = ("parameter %s = %s"):format(what, tostring(period))
  end
  if plain.period then check_period(period, what) end
  local start, changed = definition.functions.start, nil
  function plain.start()
    if start then start(self) end
    getmetatable(self).__newindex = refuse_field
    local globals = load.globals[definition]
    changed = own_state.memory_of_start(self, definition.functions, words, { self, definition, counters, globals }, globals)
    own_state.refuse_globals(words, globals)
  end
  function plain.changed() return changed() end
  return plain, period
end

--- Of a coordinator, whose hooks are called when all is at rest: self:clock("core") -> Hz at present, the least and the most that it
--- may have; self:set_clock("core", "700MHz"), or in Hz.
local function add_clocks(scope, native)
  local function check(what, name)
    if scope ~= "machine" then error(("%s: expected a policy of scope machine, got one of scope %s"):format(what, scope), 3) end
    if type(name) ~= "string" then error(("%s: expected the name of a clock, got %s"):format(what, names.shown(name)), 3) end
  end
  function Instance.clock(_, name)
    check("clock", name)
    local frequency, slowest, fastest = native.clock(name)
    if not frequency then error(("clock: no clock of the machine matches '%s'"):format(name), 2) end
    return frequency, slowest, fastest
  end
  function Instance.set_clock(_, name, frequency)
    check("set_clock", name)
    native.set_clock(name, frequency)
  end
end

--- All objects of the machine, { { handle =, clock =, path = } ... }, and a function of the name of a counter, "sm[0].lsu.shared_loads":
-- its value, nil where there is none.
local function objects_and_counters(native)
  local rows, by_path = native.objects(), {}
  for _, row in ipairs(rows) do
    row.path = row.handle.path
    by_path[row.path] = row.handle
  end
  return rows, function(name)
    local path, counter = name:match "^(.*)%.([%w_]+)$"
    return by_path[path] and by_path[path][counter]
  end
end

--- Of a coordinator: self:energy(handle, technology) -> joules that the object and what is below it, or without a handle the
-- machine, have taken up to now, and those of each part by name.
local function add_energy(scope, native)
  local rows, counter
  local shares = setmetatable({}, { __index = function(_, clock) return { shares = native.clock_shares(clock) } end })
  function Instance.energy(_, of, technology)
    if scope ~= "machine" then error(("energy: expected a policy of scope machine, got one of scope %s"):format(scope), 2) end
    if of ~= nil and type(of) ~= "userdata" then error(("energy: expected the handle of an object or nil, got %s"):format(names.shown(of)), 2) end
    local energy = require "warpwright.energy"
    if not rows then rows, counter = objects_and_counters(native) end
    local objects, clocks, path = {}, {}, of and of.path
    for _, row in ipairs(rows) do
      if not of or row.path == path or row.path:sub(1, #path + 1) == path .. "." then
        objects[#objects + 1], clocks[row.handle] = row.handle, row.clock
      end
    end
    local e = energy.of(energy.structure(objects, function(object) return clocks[object] end),
      load.get("technology", technology or energy.default_technology), counter, native.seconds(), shares)
    return e.total, e.parts
  end
end

--- An instance of scope sm has parts of its SM by their names, and of its caches lists of them: what it reads by the name of a part of
-- caches is an error.
local function refuse_parts_of_caches(definition, name)
  for _, part in ipairs(definition.scope == "sm" and definition.parts or {}) do
    if part.name == name and (part.of == "cache" or part.of == "L1" or part.of == "L2") then
      error(("self.%s: expected a part of an SM, got one of caches; with `caches` and of = \"cache\" a list of them is self.%ss"):format(
        name, name), 3)
    end
  end
end

return function(specification, handles, native)
  own_state.confine()
  --- self:cycle(): the present cycle, of the clock of the object that the instance is about.
  function Instance:cycle() return native.cycle() end
  --- self:channel_of(address): the memory channel, the L2 slice, and in the channel the DRAM bank and row in which it lies, from 0; nil
  -- while its page lies nowhere.
  function Instance.channel_of(_, address)
    if math.type(address) ~= "integer" or address < 0 or address >= most_address then
      error(("channel_of: expected an address in bytes, got %s"):format(names.shown(address)), 2)
    end
    return native.channel_of(address)
  end
  local definition = load.get("policy", specification.path)
  local hooks, legal = hooks_of.possible(definition.scope, handles)
  local counters = {}
  for _, name in ipairs(names.sorted_keys(definition.counters)) do counters[name] = 0 end
  local bound = {}
  --- self:bind("on_EVENT", setting, "counter"): when the event is emitted, the setting is made and the counter counts,
  --- without Lua. { [argument] = setting }: that of the event's first argument, if there is one.
  function Instance:bind(hook, settings, counter)
    check_binding(self, hook, hooks, legal, counters, counter)
    for _, target in ipairs(hooks[hook].targets) do
      local ok, problem = pcall(native.bind, target.handle, target.event, settings, counter, hook) -- whose errors are of the policy's line
      if not ok and problem:find "^bad argument" then
        problem = ("bind: expected what handle:setting() returned, or { [argument] = such }, got %s"):format(names.shown(settings))
      end
      if not ok then error(problem, 2) end
    end
    bound[hook] = true
  end
  add_only(definition, native, hooks, legal, bound)
  Instance.count = count_into(counters, native)
  add_shares(definition, native)
  add_clocks(definition.scope, native)
  add_energy(definition.scope, native)
  add_own_l1(specification.users or {}, specification.without_l1)
  local self = { state = {}, handles = handles }
  for _, name in ipairs(names.sorted_keys(handles)) do
    self[name] = type(handles[name]) == "table" and checked_list(name, handles[name]) or handles[name]
  end
  local methods = {}
  for name, method in pairs(Instance) do methods[name] = method end
  for _, name in ipairs(names.sorted_keys(definition.functions)) do methods[name] = definition.functions[name] end
  methods.params = parameters.of(definition.name, specification.params)
  local read_counters = counters_to_read(counters, native)
  setmetatable(methods, { __index = function(_, name)
    if name == "counters" then return read_counters() end
    refuse_parts_of_caches(definition, name)
  end })
  setmetatable(self, { __index = methods, __newindex = set_field_in_start })
  return self, counters, connect(self, definition, specification, handles, native, hooks, legal, counters)
end
