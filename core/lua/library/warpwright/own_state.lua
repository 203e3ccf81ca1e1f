-- What all Lua has in common that runs in a state of its own, as the instances of policies and the objects of classes that are
-- written in Lua do: nothing that a resumed run would not find again. Host programs share the end of a run with it.
local core = require "warpwright.core"
local names = require "warpwright.names"

local own_state = {}

local collectgarbage <const>, format <const>, match <const>, tostring <const> = collectgarbage, string.format, string.match, tostring
local error <const>, pcall <const> = error, pcall
local next <const>, rawget <const>, rawset <const>, type <const>, os <const> = next, rawget, rawset, type, os -- also where others lose them

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

local standard_tables <const> = { string, table, math, os, io, coroutine, debug, utf8, package }
local standard_globals <const> = {}
for name in ([[assert collectgarbage coroutine debug dofile error getmetatable io ipairs load loadfile math next os package pairs pcall print
  rawequal rawget rawlen rawset require select setmetatable string table tonumber tostring type utf8 xpcall]]):gmatch "%S+" do
  standard_globals[#standard_globals + 1] = name
end

--- Lua's own functions and tables: by the table that holds them, name and value.
local standard <const> = { [_G] = {} }

local function note_standard()
  for _, name in next, standard_globals do standard[_G][name] = rawget(_G, name) end
  for _, of in next, standard_tables do
    standard[of] = {}
    for name, value in next, of do standard[of][name] = value end
  end
end

note_standard() -- before any file of the user's

--- Puts back each that is none any more, nil say: the library needs them.
local function put_back_standard()
  for of, fields in next, standard do
    for name, value in next, fields do
      if type(rawget(of, name)) ~= type(value) then rawset(of, name, value) end
    end
  end
end

--- coroutine.resume() of a host program: its os.exit() ends the run; that of the script around it is as before.
function own_state.resume(program)
  local exit_of_script = os.exit
  os.exit = exit_of(program)
  local alive, ok, value = coroutine.resume(program)
  put_back_standard()
  os.exit = exit_of_script
  return alive, ok, value
end

--- f(...), its first value; `refuse` is its os.exit().
local function call_refusing_exit(refuse, f, ...)
  local exit_of_script = os.exit
  local _ <close> = setmetatable({}, { __close = function() os.exit = exit_of_script end })
  os.exit = refuse
  return (f(...))
end

--- What a file returns whose end is not the program's: its os.exit() is an error of its line, and Lua is whole behind it. `what` the
-- file is to return, or what else it `does` with it.
function own_state.call_without_exit(chunk, what, does)
  local message = ("os.exit: expected a file that %s %s, got the end of the program"):format(does or "returns", what)
  local _ <close> = setmetatable({}, { __close = put_back_standard })
  return call_refusing_exit(function() error(message, 2) end, chunk)
end

local function refuse_exit() error("os.exit: expected the function's result, got the end of the program", 2) end

--- The same of a function that such a file gives.
function own_state.result_of(f, ...) return call_refusing_exit(refuse_exit, f, ...) end

local has_address <const> = { table = true, ["function"] = true, userdata = true, thread = true }

--- An error where the text of a value would be its address.
local function refuse_addresses(name, ...)
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    local kind = type(value)
    if has_address[kind] and not (debug.getmetatable(value) or {}).__tostring then
      error(("%s: expected a value whose text is the same in each run, got a %s"):format(name, kind), 3)
    end
  end
end

--- What a function of Lua's own returned, or its error: with the place of who called its substitute, in place of ours.
local function at_caller(ok, ...)
  if ok then return ... end
  local problem = ...
  local text = type(problem) == "string" and match(problem, "^[^\n]-own_state%.lua:%d+: (.*)$")
  error(text or problem, text and 2 or 0)
end

local function calling_tostring(...) return (tostring(...)) end
local function calling_format(...) return (format(...)) end
local function calling_collectgarbage(...) return (collectgarbage(...)) end

local function text_without_address(...)
  refuse_addresses("tostring", ...)
  return at_caller(pcall(calling_tostring, ...))
end

local function format_without_address(pattern, ...)
  refuse_addresses("string.format", ...)
  if type(pattern) == "string" and pattern:gsub("%%%%", ""):find "%%[-%d]*p" then
    error("string.format: expected a text that is the same in each run, got %p, an address", 2)
  end
  return at_caller(pcall(calling_format, pattern, ...))
end

local memory_in_use <const> = { count = true, step = true }

local function collect(option, ...)
  if memory_in_use[option] then
    error(("collectgarbage: expected what is the same in each run, got '%s'"):format(option), 2)
  end
  return at_caller(pcall(calling_collectgarbage, option, ...))
end

--- What differs from run to run, by what takes its place: { table, name, function } ...
local differing <const> = {
  { math, "random", refuse_random }, { math, "randomseed", refuse_random },
  { os, "time", refuse_clock "time" }, { os, "clock", refuse_clock "clock" }, { os, "date", refuse_clock "date" },
  { _G, "tostring", text_without_address }, { string, "format", format_without_address }, { _G, "collectgarbage", collect },
}

local function refuse_what_differs()
  for _, row in ipairs(differing) do row[1][row[2]] = row[3] end
end

--- What a function returns that makes a part of a machine, and must make the same one in each run.
function own_state.call_confined(f, ...)
  local before = {}
  for i, row in ipairs(differing) do before[i] = row[1][row[2]] end
  local _ <close> = setmetatable({}, { __close = function()
    for i, row in ipairs(differing) do row[1][row[2]] = before[i] end
  end })
  refuse_what_differs()
  return own_state.result_of(f, ...)
end

--- What string.gmatch has returned: how far it has come is told by nothing that Lua can look at.
local iterators <const> = setmetatable({}, { __mode = "k" })

local gmatch <const> = string.gmatch

local function noted_gmatch(...)
  local iterator = gmatch(...)
  iterators[iterator] = true
  return iterator
end

--- Takes away what would make a run another than the one before.
function own_state.confine()
  refuse_what_differs()
  rawset(string, "gmatch", noted_gmatch)
  local main_thread <const> = 1
  os.exit = exit_of(debug.getregistry()[main_thread])
  note_standard()
end

-- What is remembered beside self.state --------------------------------------------------------------------------------

local library <const> = "@" .. core.home_path "core/lua/library/"

local plain_scalars <const> = { number = true, string = true, boolean = true, ["nil"] = true }

--- Of a table as it is, whatever its metatable says.
local function raw_keys(t)
  local keys = {}
  for key in next, t do keys[key] = true end
  return names.sorted_keys(keys)
end

--- The same keys; of one of Lua's own tables those alone of which the value is not Lua's own, or no longer there.
local function keys_to_describe(t)
  local own = t ~= _G and standard[t]
  if not own then return raw_keys(t) end
  local keys = {}
  for key, value in next, t do
    if own[key] ~= value then keys[key] = true end
  end
  for key in next, own do
    if rawget(t, key) == nil then keys[key] = true end
  end
  return names.sorted_keys(keys)
end

local describe

--- A function by which it is; what it remembers is in its variables. Those of a C function have no names: coroutine.wrap() has its
-- coroutine there.
local function describe_function(walk, f)
  local text = walk.text
  text[#text + 1] = format("%p", f)
  if walk.seen[f] then return end
  walk.seen[f] = true
  if iterators[f] then walk.not_saved = "an iterator of string.gmatch" end
  local info = debug.getinfo(f, "S")
  if info.what == "C" then
    for i = 1, math.huge do
      local name, value = debug.getupvalue(f, i)
      if not name then return end
      describe(walk, value)
    end
  elseif info.source:sub(1, #library) ~= library then
    walk.functions[#walk.functions + 1] = f
  end
end

--- A table by what is in it, or by its number if it was met before.
local function describe_table(walk, t)
  local text = walk.text
  if walk.seen[t] then
    text[#text + 1] = walk.seen[t]
    return
  end
  walk.tables = walk.tables + 1
  walk.seen[t] = ("table %d"):format(walk.tables)
  text[#text + 1] = "{"
  for _, key in ipairs(keys_to_describe(t)) do
    describe(walk, key)
    text[#text + 1] = "="
    describe(walk, rawget(t, key))
    text[#text + 1] = ","
  end
  describe(walk, debug.getmetatable(t))
  text[#text + 1] = "}"
end

--- Adds what a value holds to the walk's text.
function describe(walk, value)
  local kind, text = type(value), walk.text
  if plain_scalars[kind] then
    text[#text + 1] = format("%q", value)
  elseif kind == "table" then
    describe_table(walk, value)
  elseif kind == "function" then
    describe_function(walk, value)
  else
    if kind == "thread" then walk.not_saved = "a coroutine" end
    walk.seen[value] = true
    text[#text + 1] = tostring(value) -- of a handle its path
  end
end

local function add_place(walk, name, expected, value)
  walk.text, walk.not_saved = {}, nil
  describe(walk, value)
  table.insert(walk.places, { name = name, expected = expected, text = table.concat(walk.text), not_saved = walk.not_saved })
end

--- Goes through what can be reached from these values, { name =, expected =, of =, key = } ..., and through the variables of the
-- functions met there. Returns { places = { name =, expected =, text =, not_saved = } ... }, in an order that is the same while
-- nothing changes, with all that was met, so that nothing else takes its address. `known`: tables that a resumed run has anew.
local function reach(roots, known)
  local walk = { places = {}, seen = {}, functions = {}, tables = 0 }
  local function leave_out(t) walk.seen[t] = format("%p", t) end
  leave_out(_G)
  leave_out(package)
  for _, value in ipairs(known) do leave_out(value) end
  for name, module in pairs(package.loaded) do
    if tostring(name):find "^warpwright" then leave_out(module) end
  end
  for _, root in ipairs(roots) do add_place(walk, root.name, root.expected, rawget(root.of, root.key)) end
  local variables = {}
  for _, f in ipairs(walk.functions) do -- which grows
    for i = 1, debug.getinfo(f, "u").nups do
      local id, name, value = debug.upvalueid(f, i), debug.getupvalue(f, i)
      if not variables[id] then add_place(walk, name, "a local variable to keep its value", value) end
      variables[id] = true
    end
  end
  return walk
end

--- Where a policy or an object may keep what it remembers: the tables, and what to expect of what is in them, and of what came later.
local function tables_of(self, functions, globals)
  local tables = {
    { of = self, prefix = "self.", expected = "the value of start()", earlier = "an assignment in start()", left_out = "^state$" },
    { of = functions, prefix = "function ", expected = "that of the file", earlier = "a function of the file" },
    { of = package.loaded, prefix = "module ", expected = "what it was after start()",
      earlier = "to be required by the file or in start()", left_out = "^warpwright" },
  }
  for _, of in ipairs { _G, globals } do
    tables[#tables + 1] = { of = of, prefix = "", expected = "a global variable to keep its value", earlier = "a local variable" }
  end
  return tables
end

--- Calls `found(place, key)` for each key of these tables, in an order that is always the same, until it returns something.
local function each_root(tables, found)
  for _, place in ipairs(tables) do
    for _, key in ipairs(raw_keys(place.of)) do
      local result = not (place.left_out and tostring(key):find(place.left_out)) and found(place, key)
      if result then return result end
    end
  end
end

--- What start() leaves in the fields of `self`, in the variables that the functions, by name, and those that they reach, use, and in
-- global variables and modules, is how a resumed run will find it. Returns a function that says what is no longer so, or nil.
-- `known` tables are no such memory; `globals`: global variables beside those of all, or nil.
function own_state.memory_of_start(self, functions, words, known, globals)
  local tables, roots, is_known, unchanged = tables_of(self, functions, globals), {}, {}, {}
  for _, place in ipairs(tables) do is_known[place] = {} end
  each_root(tables, function(place, key)
    local root = { name = place.prefix .. tostring(key), expected = place.expected, of = place.of, key = key }
    local is_standard = place.of == _G and type(_G[key]) == "function" and standard[_G][key] == _G[key]
    is_known[place][key] = true
    table.insert(is_standard and unchanged or roots, root)
  end)
  local at_start = reach(roots, known)
  local function came_later(place, key)
    if is_known[place][key] then return nil end
    return ("%s%s: expected %s, got it later; %s"):format(place.prefix, tostring(key), place.earlier, words)
  end
  return function()
    local later = each_root(tables, came_later)
    if later then return later end
    for _, root in ipairs(unchanged) do
      if rawget(_G, root.key) ~= standard[_G][root.key] then
        return ("%s: expected %s, got another; %s"):format(root.name, root.expected, words)
      end
    end
    for i, now in ipairs(reach(roots, known).places) do
      local before = at_start.places[i]
      if now.not_saved then
        return ("%s: expected what a checkpoint can hold, got %s; %s"):format(now.name, now.not_saved, words)
      end
      if not before or now.name ~= before.name or now.text ~= before.text then
        return ("%s: expected %s, got another; %s"):format(now.name, now.expected, words)
      end
    end
  end
end

--- From now on no global variable comes into being, nor one of `globals`, or nil: it would be such memory, too.
function own_state.refuse_globals(words, globals)
  local function refuse(_, name)
    error(("%s: expected a local variable, got an assignment to a global one; %s"):format(tostring(name), words), 2)
  end
  setmetatable(_G, { __newindex = refuse })
  if globals then getmetatable(globals).__newindex = refuse end
end

return own_state
