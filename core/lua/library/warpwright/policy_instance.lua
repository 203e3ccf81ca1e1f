-- In the Lua state of a policy instance: makes the instance of the policy's file and connects its functions.
local core = require "warpwright.core"
local load = require "warpwright.load"
local names = require "warpwright.names"

--- Functions that are no events of an object.
local plain_hooks = { on_period = "period", on_kernel_start = "kernel_start", on_kernel_end = "kernel_end" }
local not_hooks = { start = true, configure = true }

local Instance = {}

--- self:count("name", n): adds to a counter that the definition declares; it is in the stats.
function Instance:count(name, n)
  local value = self.counters[name]
  if not value then error(("the policy declares no counter '%s'"):format(tostring(name)), 2) end
  self.counters[name] = value + (n or 1)
end

local function is_handle(value) return type(value) == "userdata" end

--- Hook name -> { handle, event }: "on_evict" and "pick" of the object that the instance is about, "on_l1_evict" and
-- "l1_bypass" of its others.
local function possible_hooks(scope, handles)
  local hooks, legal = {}, names.sorted_keys(plain_hooks)
  for _, name in ipairs(names.sorted_keys(handles)) do
    local handle = handles[name]
    if is_handle(handle) then
      for _, event in ipairs(core.class_events(handle.class)) do
        local prefix = name == scope and "" or name .. "_"
        local hook = (event.question and "" or "on_") .. prefix .. event.name
        hooks[hook] = { handle = handle, event = event.name }
        legal[#legal + 1] = hook
      end
    end
  end
  return hooks, legal
end

--- Is a function whose name no hook has meant as one?
local function looks_like_a_hook(name) return name:match("^on_") ~= nil end

local function connect(self, definition, native)
  local hooks, legal = possible_hooks(definition.scope, self.handles)
  local plain = {}
  for _, name in ipairs(names.sorted_keys(definition.functions)) do
    local hook = hooks[name]
    if plain_hooks[name] then
      plain[plain_hooks[name]] = definition.functions[name]
    elseif hook then
      native.hear(hook.handle, hook.event, definition.functions[name])
    elseif looks_like_a_hook(name) and not not_hooks[name] then
      error(("there is no hook '%s' here; near names are %s"):format(name,
        table.concat(names.nearest(name, legal, 4), ", ")), 0)
    end
  end
  local period = definition.period
  if type(period) == "string" then period = self.params[period] end
  if plain.period and not math.tointeger(period) then
    error("on_period wants `period`: a number of cycles, or the name of a parameter that is one", 0)
  end
  native.set_hooks(self, plain, period)
end

return function(specification, handles, native)
  local definition = load.get("policy", specification.path)
  local self = { params = specification.params, state = {}, counters = {}, handles = handles }
  for _, name in ipairs(names.sorted_keys(handles)) do self[name] = handles[name] end
  for _, name in ipairs(names.sorted_keys(definition.counters)) do self.counters[name] = 0 end
  setmetatable(self, {
    __index = function(_, name) return definition.functions[name] or Instance[name] end,
  })
  connect(self, definition, native)
  if self.start then self:start() end
end
