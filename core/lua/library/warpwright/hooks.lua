-- The hooks and questions that a policy of some scope may have.
local core = require "warpwright.core"
local names = require "warpwright.names"

local hooks = {}

--- Functions that are no events of an object.
hooks.plain = { on_period = "period", on_kernel_start = "kernel_start", on_kernel_end = "kernel_end" }

function hooks.is_handle(value) return type(value) == "userdata" end

--- Hook name -> { targets = { { handle, event } ... }, speaks =, later = }: "on_evict" and "pick" of the object that the
-- instance is about, "on_l1_evict" and "l1_bypass" of its others. Of a list `caches` "on_cache_evict", whose first argument is
-- the object that speaks. A coordinator hears of events, at the next boundary, and answers no questions. `handles` are
-- objects by name, false where there is none, or lists of these.
function hooks.possible(scope, handles)
  local possible, legal = {}, names.sorted_keys(hooks.plain)
  local coordinates = scope == "machine"
  local events_of = {} -- by class: a coordinator has a handle of each object
  local function add(handle, prefix, speaks)
    local class = handle.class
    events_of[class] = events_of[class] or core.class_events(class)
    for _, event in ipairs(events_of[class]) do
      if not (coordinates and event.question) then
        local hook = (event.question and "" or "on_") .. prefix .. event.name
        if not possible[hook] then
          possible[hook] = { targets = {}, speaks = speaks, later = coordinates }
          legal[#legal + 1] = hook
        end
        table.insert(possible[hook].targets, { handle = handle, event = event.name })
      end
    end
  end
  for _, name in ipairs(names.sorted_keys(handles)) do
    local value = handles[name]
    if hooks.is_handle(value) then
      add(value, name == scope and "" or name .. "_", false)
    elseif value then
      local seen = {} -- an L1 of several SMs is in the list once for each
      for _, handle in ipairs(value) do
        if handle and not seen[handle.path] then
          seen[handle.path] = true
          add(handle, (name == "caches" and "cache" or name:sub(1, -2)) .. "_", true)
        end
      end
    end
  end
  return possible, legal
end

--- Where the objects are that hooks name by a prefix.
local by_prefix <const> = {
  dispatcher = { class = "Dispatcher", scope = "dispatcher" }, l1 = { class = "L1", scope = "sm" }, l2 = { class = "L2", scope = "l2" },
  lsu = { class = "LSU", scope = "sm" }, mc = { class = "MemoryController", scope = "mc" }, sm = { class = "SM", scope = "sm" },
}

--- " in scope sm; scope mc has it as on_served" of on_mc_served, or nil.
function hooks.elsewhere(name, scope)
  local on, prefix, event = name:match "^(o?n?_?)(%l%w*)_([%l_]+)$"
  local place = by_prefix[prefix]
  if not place or place.scope == scope then return nil end
  for _, row in ipairs(core.class_events(place.class)) do
    if row.name == event and on == (row.question and "" or "on_") then
      local own = prefix == place.scope and "" or prefix .. "_"
      return (" in scope %s; scope %s has it as %s"):format(scope, place.scope, on .. own .. event)
    end
  end
end

--- Names of questions, which no on_ marks as hooks, as a set.
local function all_questions()
  local found = {}
  for _, class in ipairs(core.classes()) do
    for _, event in ipairs(core.class_events(class.name)) do
      if event.question then found[event.name] = true end
    end
  end
  return found
end

local questions
local prefixes = { "", "sm_", "l1_", "texture_", "constant_", "lsu_", "l2_", "mc_", "cache_" }

--- Is a function whose name no hook has meant as one?
function hooks.is_like_one(name)
  if name:match "^on_" then return true end
  if name == "start" or name == "configure" then return false end -- nearly every policy has these: no need to ask all classes
  questions = questions or all_questions()
  for _, prefix in ipairs(prefixes) do
    if name:sub(1, #prefix) == prefix and questions[name:sub(#prefix + 1)] then return true end
  end
  return false
end

return hooks
