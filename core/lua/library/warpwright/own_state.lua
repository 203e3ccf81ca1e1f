-- What all Lua has in common that runs in a state of its own, as the instances of policies and the objects of classes that are
-- written in Lua do: nothing that a resumed run would not find again. Host programs share the end of a run with it.
local core = require "warpwright.core"
local names = require "warpwright.names"

local own_state = {}

--- Random numbers of a generator that no checkpoint knows of would differ in each run.
local function refuse_random() error("math.random: expected numbers that repeat in each run, computed from self.state", 2) end

--- os.exit() for what runs in this thread: it would leave in the middle of a run and lose what was counted. It ends the run as an
-- error does, and no pcall around it goes on.
local function exit_of(thread)
  return function(code)
    local message = ("%sos.exit(%s) ends the run"):format(core.location(), code == nil and "" or tostring(code))
    local function leave() error(message, 0) end
    debug.sethook(thread, leave, "", 1)
    leave()
  end
end

--- coroutine.resume() of a host program: its os.exit() ends the run; that of the script around it is as before.
function own_state.resume(program)
  local exit_of_script = os.exit
  os.exit = exit_of(program)
  local alive, ok, value = coroutine.resume(program)
  os.exit = exit_of_script
  return alive, ok, value
end

--- Takes away what would make a run another than the one before.
function own_state.confine()
  math.random, math.randomseed = refuse_random, refuse_random
  local main_thread <const> = 1
  os.exit = exit_of(debug.getregistry()[main_thread])
end

local plain_scalars = { number = true, string = true, boolean = true }

--- What is plain in a value, as text; `seen`: tables met so far.
function own_state.plain_text(value, seen)
  if plain_scalars[type(value)] then return ("%q"):format(value) end
  if type(value) ~= "table" or seen[value] then return "" end
  seen[value] = true
  local parts = {}
  for _, key in ipairs(names.sorted_keys(value)) do
    if plain_scalars[type(key)] then parts[#parts + 1] = ("[%q]=%s,"):format(key, own_state.plain_text(rawget(value, key), seen)) end
  end
  return "{" .. table.concat(parts) .. "}"
end

--- The fields of `self` as start() leaves them, which is how a resumed run will find them. Returns a function that says
-- what is no longer so, or nil.
function own_state.fields_of_start(self, words)
  local kept, fields = {}, names.sorted_keys(self)
  for _, name in ipairs(fields) do kept[name] = own_state.plain_text(rawget(self, name), {}) end
  return function()
    for _, name in ipairs(fields) do
      if name ~= "state" and own_state.plain_text(rawget(self, name), {}) ~= kept[name] then
        return ("self.%s: expected the value of start(), got another; %s"):format(name, words)
      end
    end
  end
end

return own_state
