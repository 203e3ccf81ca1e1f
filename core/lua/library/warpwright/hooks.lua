-- The hooks and questions that a policy of some scope may have.
local core = require "warpwright.core"
local names = require "warpwright.names"

local hooks = {}

--- Functions that are no events of an object.
hooks.plain = { on_period = "period", on_kernel_start = "kernel_start", on_kernel_end = "kernel_end" }

function hooks.is_handle(value) return type(value) == "userdata" end

--- Whose events there are: { { prefix = "l1_", handles = { handle ... }, speaks = } ... }, by the names of the handles.
local function sources_of(scope, handles)
  local sources = {}
  for _, name in ipairs(names.sorted_keys(handles)) do
    local value = handles[name]
    if hooks.is_handle(value) then
      sources[#sources + 1] = { prefix = name == scope and "" or name .. "_", handles = { value }, speaks = false }
    elseif value then
      local list, seen = {}, {} -- an L1 of several SMs is in the list once for each
      for _, handle in ipairs(value) do
        if handle and not seen[handle.path] then
          seen[handle.path] = true
          list[#list + 1] = handle
        end
      end
      sources[#sources + 1] = { prefix = (name == "caches" and "cache" or name:sub(1, -2)) .. "_", handles = list, speaks = true }
    end
  end
  return sources
end

--- Appends to found.targets whoever has an event, or else a question, of this name with its prefix.
local function add_targets(found, sources, name, question)
  for _, source in ipairs(sources) do
    local event = name:sub(1, #source.prefix) == source.prefix and name:sub(#source.prefix + 1)
    local known = {} -- by class: a coordinator has a handle of each object
    for _, handle in ipairs(event and source.handles or {}) do
      local class = handle.class
      if known[class] == nil then known[class] = core.class_event(class, event) or false end
      if known[class] and known[class].question == question then
        if not found.targets[1] then found.speaks = source.speaks end
        table.insert(found.targets, { handle = handle, event = event })
      end
    end
  end
end

--- All names of hooks, as a list.
local function all_names(sources, coordinates)
  local list, seen = names.sorted_keys(hooks.plain), {}
  for _, source in ipairs(sources) do
    for _, handle in ipairs(source.handles) do
      for _, event in ipairs(seen[source.prefix .. handle.class] and {} or core.class_events(handle.class)) do
        local hook = (event.question and "" or "on_") .. source.prefix .. event.name
        if not (seen[hook] or coordinates and event.question) then list[#list + 1] = hook end
        seen[hook] = true
      end
      seen[source.prefix .. handle.class] = true
    end
  end
  return list
end

--- Hook name -> { targets = { { handle, event } ... }, speaks =, later = }, found when it is asked for: "on_evict" and "pick" of
-- the object that the instance is about, "on_l1_evict" and "l1_bypass" of its others. Of a list `caches` "on_cache_evict", whose
-- first argument is the object that speaks. A coordinator hears of events, at the next boundary, and answers no questions.
-- `handles` are objects by name, false where there is none, or lists of these. The second value lists all names.
function hooks.possible(scope, handles)
  local sources, coordinates = sources_of(scope, handles), scope == "machine"
  local function find(possible, name)
    if type(name) ~= "string" then return nil end
    local found = { targets = {}, later = coordinates }
    if name:sub(1, 3) == "on_" then add_targets(found, sources, name:sub(4), false) end
    if not coordinates then add_targets(found, sources, name, true) end
    if not found.targets[1] then return nil end
    possible[name] = found
    return found
  end
  return setmetatable({}, { __index = find }), function() return all_names(sources, coordinates) end
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
  local row = core.class_event(place.class, event)
  if not row or on ~= (row.question and "" or "on_") then return nil end
  local own = prefix == place.scope and "" or prefix .. "_"
  return (" in scope %s; scope %s has it as %s"):format(scope, place.scope, on .. own .. event)
end

local prefixes = { "", "sm_", "l1_", "texture_", "constant_", "lsu_", "l2_", "mc_", "cache_" }

--- Is a function whose name no hook has meant as one?
function hooks.is_like_one(name)
  if name:match "^on_" then return true end
  for _, prefix in ipairs(prefixes) do
    if name:sub(1, #prefix) == prefix and core.is_question(name:sub(#prefix + 1)) then return true end
  end
  return false
end

return hooks
