-- `require`, `dofile` and `loadfile` as Lua has them, which also note the files that they read: checkpoints and
-- provenance.txt tell which took part in a run. `require` looks beside the file that calls it first. And what it says of modules
-- that there are not: one line of folders, in place of a line for each file.
local core = require "warpwright.core"

local library <const> = core.home_path "core/lua/library/"
local lua_loadfile <const> = loadfile
local file_of_module = {} -- by name, of what `require` has loaded
local loaded_last -- a path: whose tail call of `require` it is, which has left no line

--- The file of the Lua function that called the one that calls this; nil when it left by a tail call.
local function caller()
  if debug.getinfo(2, "t").istailcall then return nil end
  for level = 3, math.huge do
    local info = debug.getinfo(level, "S")
    if not info then return nil end
    if info.what ~= "C" then return info.source:match "^@(.*)" end
  end
end

--- Notes that `by`, a path or nil, loads the file.
local function note(path, by)
  local real = path and path:sub(1, #library) ~= library and core.real_path(path)
  local file = real and io.open(real, "rb")
  if not file then return end
  core.note_file(real, core.digest(file:read "a" or ""), by and core.real_path(by) or "")
  file:close()
end

function loadfile(path, ...)
  note(path, caller())
  loaded_last = path
  return lua_loadfile(path, ...)
end

function dofile(path)
  note(path, caller())
  loaded_last = path
  local chunk, problem = lua_loadfile(path)
  if not chunk then error(problem, 0) end
  return chunk()
end

-- require ------------------------------------------------------------------------------------------------------------

local folder_of = {} -- by path of a module that lay beside a file: the folder in which its own modules are looked for

--- The folder, "" or with a / behind it, in which to look first for what this file requires; nil for the library.
local function first_folder(by)
  if not by or by:sub(1, #library) == library then return nil end
  return folder_of[by] or by:match "^.*/" or ""
end

local function folders(first)
  local found, seen = {}, {}
  local path = first and ("%s?.lua;%s"):format(first, package.path) or package.path
  for entry in path:gmatch "[^;]+" do
    local folder = entry:match "^(.*)/%?%.lua$" or (entry == "?.lua" and ".")
    if folder and not seen[folder] then found[#found + 1] = folder end
    seen[folder or entry] = true
  end
  return table.concat(found, ", ")
end

local lua_files <const> = 3 -- behind what is preloaded, and the library

package.searchers[lua_files] = function(name, first)
  local path = first and package.searchpath(name, first .. "?.lua") or package.searchpath(name, package.path)
  if not path then return ("no file '%s.lua' in %s"):format(name:gsub("%.", "/"), folders(first)) end
  local chunk, problem = lua_loadfile(path)
  if not chunk then error(("error loading module '%s' from file '%s':\n\t%s"):format(name, path, problem), 0) end
  return chunk, path
end

--- What a searcher has found for a module, and what goes along with it; or nil, and why there is none.
local function find(name, first)
  local reason = ""
  for i, searcher in ipairs(package.searchers) do
    local loader, extra = searcher(name, first)
    if type(loader) == "function" then return loader, extra, i == lua_files end
    if i == lua_files and type(loader) == "string" then reason = "\n\t" .. loader end
  end
  return nil, reason
end

--- Under which a module is in package.loaded: its name, unless a file of that name in another folder has been loaded.
local function key_of(name, first)
  local loaded = file_of_module[name]
  local path = loaded and first and package.searchpath(name, first .. "?.lua")
  return path and path ~= loaded and core.real_path(path) ~= core.real_path(loaded) and path or name
end

function require(name)
  local by = caller()
  if type(name) ~= "string" then error(("require: expected the name of a module, got %s"):format(name == nil and "nil" or "a " .. type(name)), 2) end
  local first, before = first_folder(by or loaded_last), loaded_last
  local key = key_of(name, first)
  if package.loaded[key] then
    note(file_of_module[key], by)
    return package.loaded[key]
  end
  local loader, extra, is_file = find(name, first)
  if not loader then error(("module '%s' not found:%s"):format(name, extra), 2) end
  if is_file then
    file_of_module[key], loaded_last = extra, extra
    if first and extra:sub(1, #first) == first then folder_of[extra] = first end
  end
  note(file_of_module[key], by)
  local value = loader(name, extra)
  loaded_last = before
  if value ~= nil then package.loaded[key] = value end
  if package.loaded[key] == nil then package.loaded[key] = true end
  return package.loaded[key], extra
end
