-- Finds configs, workloads and policies by name or path.
local core = require "warpwright.core"
local names = require "warpwright.names"
local own_state = require "warpwright.own_state"

local load_text <const> = load
local load = {}

--- By what a file returned: its path.
load.origin = setmetatable({}, { __mode = "k" })

--- By what a policy's file returned: its global variables. The library, and other policies, see none of them.
load.globals = setmetatable({}, { __mode = "k" })

--- The file that is being loaded.
local at_work

--- The place of the call of a library function, the caller of this one being at `level` 2. A tail call, `return ww.machine(...)`, has left no
-- line: then it is the file.
function load.place_of_call(level)
  if at_work and debug.getinfo(level, "t").istailcall then return at_work .. ": " end
  return core.location()
end

--- Of a machine that a run of a sweep has stored.
local function packed_chunk(path)
  local text = require("warpwright.stored_run").unpacked_config(path)
  if not text then core.user_error(path .. ": expected a whole config.lua.zst, got a damaged one") end
  core.note_file(core.real_path(path), require("warpwright.inputs").digest_of_file(path), core.real_path(path))
  return load_text(text, "@" .. path)
end

--- Those that are being loaded, each by the one before it.
local chain = {}

--- A file that loads itself, by others or not, would do so for ever: a variant whose base is its own file.
local function require_no_circle(path)
  local same = core.real_path(path)
  for _, above in ipairs(chain) do
    if core.real_path(above) == same then
      core.user_error(("%s: expected a file that does not load itself, got %s -> %s"):format(path, table.concat(chain, " -> "), path))
    end
  end
end

--- Machine code is no Lua, whatever Lua says of its first line.
local function require_no_program(path, wanted)
  local file <close> = io.open(path, "rb")
  if file and file:read(4) == "\127ELF" then
    core.user_error(("%s: expected a Lua file that returns %s, got a program; a CUDA program is run by: warpwright cuda"):format(path, wanted))
  end
end

--- What the file of this path returns, which is to be `wanted`.
local function loaded_from(path, wanted, globals)
  require_no_circle(path)
  require_no_program(path, wanted)
  local chunk, problem = (path:find "%.lua%.zst$" and packed_chunk or loadfile)(path, "bt", globals)
  if not chunk then error(problem, 0) end
  local before = at_work
  local _ <close> = setmetatable({}, {
    __close = function() at_work, chain[#chain] = before, nil end,
  })
  at_work, chain[#chain + 1] = path, path
  return own_state.call_without_exit(chunk, wanted)
end

local kinds = {
  config = { folder = "configs", file = "configs/%s.lua", module = "machine", is = "is_description", makes = "ww.machine(...)" },
  policy = {
    folder = "policies",
    file = "policies/%s.lua",
    module = "policy",
    is = "is_policy",
    makes = "policy \"name\" {...}",
  },
  workload = {
    folder = "workloads",
    file = "workloads/%s/%s.lua",
    module = "workload",
    is = "is_workload",
    makes = "ww.workload \"name\" {...}",
  },
  technology = {
    folder = "configs/energy",
    file = "configs/energy/%s.lua",
    module = "energy",
    is = "is_technology",
    makes = "ww.technology \"name\" {...}",
    option = "energy",
  },
}

--- An instance of a policy, of which there are many, wants no more of the library than policies.
local function is_of(kind, value) return require("warpwright." .. kind.module)[kind.is](value) end

local function file_of(kind, name) return core.home_path((kind.file:gsub("%%s", { ["%s"] = name }))) end

--- The names in the folder of a kind, or in one below it, "gallery/".
local function known_names(kind, below)
  local known = {}
  for _, entry in ipairs(core.list_folder(core.home_path(kind.folder .. "/" .. below))) do
    local name = entry:gsub("%.lua$", "")
    if core.is_file(file_of(kind, below .. name)) then known[#known + 1] = name end
  end
  return known
end

--- The path of a machine that a config's file names, as the base of a variant, is that of a file beside it, where there is one: a run
-- that goes on in another folder finds it.
local function beside_file_at_work(what, value)
  local folder = what == "config" and at_work and at_work:match "^.*/"
  local nearby = folder and value:sub(1, 1) ~= "/" and folder .. value
  return nearby and core.is_file(nearby) and nearby or value
end

--- For an error: paths are from the current folder, and whoever named this one in `file`, a path or nil, may have thought of its folder.
function load.hint_beside(value, file)
  local folder = file and value:sub(1, 1) ~= "/" and file:match "^.*/"
  local nearby = folder and (folder .. value):gsub("/%./", "/")
  return nearby and core.is_file(nearby) and ("; paths are from the current folder, and there is %s"):format(nearby) or ""
end

--- `--policy a,b`: a comma parts the parameters of a policy, and options that take lists.
local function hint_joined(what, value)
  if what ~= "policy" or not value:find ",." then return "" end
  return ("; several policies are joined by +, '%s'"):format((value:gsub(",", "+")))
end

--- What a file of this kind returns: `what` is "config", "policy", "workload" or "technology"; `value` a name, a path or the thing
-- itself. `place`: where it is named, if that is not the line that is at work.
function load.get(what, value, place)
  local kind = kinds[what]
  local option = kind.option or what
  local function refuse(text, ...) error((place or core.location()) .. text:format(...), 0) end
  if is_of(kind, value) then return value end
  if type(value) ~= "string" then
    refuse("%s: expected a name, a path or what %s returns, got %s", option, kind.makes, names.shown(value))
  end
  if what == "workload" and value:find "%.ptx%f[\t\0]" then return require("warpwright.run_kernel").workload(value) end
  if what == "workload" and (value:find "%.traceg$" or value:find "%.traceg%.xz$" or value:find "%.g$") then
    return require("warpwright.recorded").workload(value)
  end
  if what == "workload" and value:find "%.cu$" then
    refuse("workload: expected a workload, got '%s', a source in CUDA; warpwright nvcc makes a program of it, warpwright cuda runs that", value)
  end
  local is_path = value:find("/", 1, true) or value:find("%.lua$")
  local path = is_path and beside_file_at_work(what, value) or file_of(kind, value)
  if is_path and not core.is_file(path) and core.is_file(file_of(kind, value)) then path = file_of(kind, value) end -- "gallery/l3"
  if not core.is_file(path) then
    if is_path and core.real_path(value) then refuse("%s: expected a file, got '%s', which is none", option, value) end
    local below = is_path and value:match "^[%w_]+/" or ""
    local known = (not is_path or below ~= "") and known_names(kind, below) or {}
    if is_path and not known[1] then
      refuse("%s: no file matches '%s'%s", option, value,
        what == "config" and at_work and (", neither beside %s nor from the current folder"):format(at_work)
        or load.hint_beside(value, (place or core.location()):match "^(.*):%d+: $") .. hint_joined(what, value))
    end
    local hint = hint_joined(what, value)
    if hint == "" and not is_path and core.is_file(value .. ".lua") then hint = ("; did you mean ./%s.lua?"):format(value) end
    refuse("%s: no %s matches '%s'%s", option, what, value, hint ~= "" and hint or names.available(value:sub(#below + 1), known))
  end
  local globals = what == "policy" and setmetatable({}, { __index = _G }) or _G
  local loaded = loaded_from(path, "a " .. what, globals)
  if not is_of(kind, loaded) then
    names.expected(path, ("a file that returns a %s, made by %s"):format(what, kind.makes), loaded)
  end
  load.origin[loaded] = path
  if what == "policy" then load.globals[loaded] = globals end
  return loaded
end

return load
