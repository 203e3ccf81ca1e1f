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

--- `values` with those that are changed.
local function with(values, change)
  for _, name in ipairs(names.sorted_keys(change or {})) do values[name] = change[name] end
  return values
end

--- The same where there are no others.
local function with_own(what, values, change)
  names.check_keys(what, change or {}, names.sorted_keys(values))
  return with(values, change)
end

--- The builder of a machine as the base's function sees it: its clocks, parameters and wires with the changes. Objects go
-- into `parts` under their paths.
local function changing(name, m, changes, parts)
  local seen = {}
  function seen.clocks(_, clocks)
    return m:clocks(with_own(("machine %s: clocks"):format(name), clocks, change_for(changes, "clocks")))
  end
  function seen.quantum(_, cycles) return m:quantum(change_for(changes, "quantum") or cycles) end
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
          parts[path] = made(with(params, change_for(changes, path)))
          return parts[path]
        end
      end
    end,
  })
end

--- variant(name, base, changes, [more]): the machine `base` under another name. `changes` is a list of { path, parameters },
-- { "port -> port", options of the wire }, { "clocks", { name = frequency } }, { "quantum", cycles } and
-- { "options", { name = default } }; in paths [*] is any index, and a later entry wins. One that changes nothing is an error. more(m, options, parts) adds to the
-- machine, whose objects are in `parts` by path.
return function(name, base, changes, more)
  local own, defaults = change_for(changes, "options"), with({}, base.options)
  defaults = more and with(defaults, own) or with_own(("machine %s: options"):format(name), defaults, own)
  return ww.machine(name, defaults, function(m, options)
    local parts = {}
    base.build(changing(name, m, changes, parts), options)
    if more then more(m, options, parts) end
    for _, entry in ipairs(changes) do
      if not entry.used then
        core.user_error(("machine %s: no clock, object, wire or option of %s matches '%s'"):format(name, base.name, entry[1]))
      end
    end
  end)
end
