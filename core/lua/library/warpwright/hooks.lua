-- The hooks and questions that a policy of some scope may have.
local core = require "warpwright.core"
local names = require "warpwright.names"

local hooks = {}

--- Functions that are no events of an object.
hooks.plain = { on_period = "period", on_kernel_start = "kernel_start", on_kernel_end = "kernel_end" }

function hooks.is_handle(value) return type(value) == "userdata" end

--- Hook name -> { handle, event }: "on_evict" and "pick" of the object that the instance is about, "on_l1_evict" and
-- "l1_bypass" of its others. `handles` are objects by name; lists among them have none.
function hooks.possible(scope, handles)
  local possible, legal = {}, names.sorted_keys(hooks.plain)
  for _, name in ipairs(names.sorted_keys(handles)) do
    local handle = handles[name]
    if hooks.is_handle(handle) then
      for _, event in ipairs(core.class_events(handle.class)) do
        local prefix = name == scope and "" or name .. "_"
        local hook = (event.question and "" or "on_") .. prefix .. event.name
        possible[hook] = { handle = handle, event = event.name }
        legal[#legal + 1] = hook
      end
    end
  end
  return possible, legal
end

return hooks
