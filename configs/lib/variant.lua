-- Machines that have the parts of another, with some parameters and wires changed.
local core = require "warpwright.core"
local names = require "warpwright.names"
local ww = require "warpwright"

--- The last pattern of `changes` that matches what has this name.
local function change_for(changes, name)
  local found
  for _, entry in ipairs(changes) do
    if core.path_matches(entry[1], name) then found = entry end
  end
  if found then found.used = true end
  return found and found[2]
end

local function path_of(parent, name, index)
  if type(parent) == "userdata" then return ("%s.%s"):format(parent.path, name) end
  return name and ("%s[%d]"):format(parent, name) or parent, index
end

--- The builder of a machine as the base's function sees it: its parameters and wires with the changes.
local function changing(m, changes)
  local seen = {}
  function seen.wire(_, a, b, options)
    local change = change_for(changes, ("%s -> %s"):format(a, b))
    m:wire(a, b, change or options)
  end
  return setmetatable(seen, {
    __index = function(_, key)
      return function(_, ...)
        local made, path = m[key](m, ...), path_of(...)
        if not core.is_class(key) then return made end
        return function(params)
          local change = change_for(changes, path) or {}
          for _, name in ipairs(names.sorted_keys(change)) do params[name] = change[name] end
          return made(params)
        end
      end
    end,
  })
end

--- variant(name, base, changes): the machine `base` under another name. `changes` is a list of { path, parameters } and
-- { "port -> port", options of the wire }; in paths [*] is any index, and a later entry wins. One that changes nothing is
-- an error.
return function(name, base, changes)
  return ww.machine(name, base.options, function(m, options)
    base.build(changing(m, changes), options)
    for _, entry in ipairs(changes) do
      if not entry.used then
        core.user_error(("machine %s changes '%s', which %s does not have"):format(name, entry[1], base.name))
      end
    end
  end)
end
