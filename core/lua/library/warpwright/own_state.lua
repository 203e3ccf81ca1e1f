-- What all Lua has in common that runs in a state of its own, as the instances of policies and the objects of classes that are
-- written in Lua do: nothing that a resumed run would not find again. Host programs share the end of a run with it.
local core = require "warpwright.core"
local names = require "warpwright.names"

local own_state = {}

--- Random numbers of a generator that no checkpoint knows of would differ in each run.
local function refuse_random() error("math.random: expected numbers that repeat in each run, computed from self.state", 2) end

--- What differs from run to run.
local function refuse_clock(name)
  return function() error(("os.%s: expected a time that is the same in each run, such as self:cycle()"):format(name), 2) end
end

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

--- What a file returns whose end is not the program's: its os.exit() is an error of its line. `what` the file is to return.
function own_state.call_without_exit(chunk, what)
  local exit_of_script = os.exit
  local _ <close> = setmetatable({}, { __close = function() os.exit = exit_of_script end })
  os.exit = function() error(("os.exit: expected a file that returns %s, got the end of the program"):format(what), 2) end
  return (chunk())
end

local clocks <const> = { "time", "clock", "date" }

local function refuse_what_differs()
  math.random, math.randomseed = refuse_random, refuse_random
  for _, name in ipairs(clocks) do os[name] = refuse_clock(name) end
end

local function refuse_exit() error("os.exit: expected the function's result, got the end of the program", 2) end

--- What a function returns that makes a part of a machine, and must make the same one in each run.
function own_state.call_confined(f, ...)
  local random, seed, exit_of_script, times = math.random, math.randomseed, os.exit, {}
  for _, name in ipairs(clocks) do times[name] = os[name] end
  local _ <close> = setmetatable({}, { __close = function()
    math.random, math.randomseed, os.exit = random, seed, exit_of_script
    for _, name in ipairs(clocks) do os[name] = times[name] end
  end })
  refuse_what_differs()
  os.exit = refuse_exit
  return (f(...))
end

--- Takes away what would make a run another than the one before.
function own_state.confine()
  refuse_what_differs()
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

--- Visits the local variables outside of a function that it uses, and those that functions of the same file use in its place.
local function visit_variables(f, seen, visit)
  for i = 1, math.huge do
    local name, value = debug.getupvalue(f, i)
    if not name then return end
    local id = debug.upvalueid(f, i)
    if name ~= "_ENV" and not seen[id] then
      seen[id] = true
      if type(value) == "function" then
        if debug.getinfo(value, "S").source == debug.getinfo(f, "S").source then visit_variables(value, seen, visit) end
      else
        visit(f, i, name, value)
      end
    end
  end
end

--- The local variables that the functions, by name, share: one that changes is memory which no checkpoint holds. Returns a
-- function that says which is no longer as it was, or nil. `is_declared`: values that the file itself declares.
function own_state.variables_of_start(functions, words, is_declared)
  local variables, seen = {}, {}
  for _, key in ipairs(names.sorted_keys(functions)) do
    visit_variables(functions[key], seen, function(f, i, name, value)
      if is_declared(value) then return end
      variables[#variables + 1] = { name = name, of = f, place = i, text = own_state.plain_text(value, {}) }
    end)
  end
  return function()
    for _, v in ipairs(variables) do
      local _, value = debug.getupvalue(v.of, v.place)
      if own_state.plain_text(value, {}) ~= v.text then
        return ("%s: expected a local variable to keep its value, got another; %s"):format(v.name, words)
      end
    end
  end
end

--- From now on no global variable comes into being: it would be such memory, too.
function own_state.refuse_globals(words)
  setmetatable(_G, { __newindex = function(_, name)
    error(("%s: expected a local variable, got an assignment to a global one; %s"):format(tostring(name), words), 2)
  end })
end

return own_state
