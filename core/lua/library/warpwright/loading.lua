-- `require`, `dofile` and `loadfile` as Lua has them, which also note the files that they read: checkpoints and
-- provenance.txt tell which took part in a run. And what `require` says of modules that there are not: one line of folders,
-- in place of a line for each file.
local core = require "warpwright.core"

local library <const> = core.home_path "core/lua/library/"
local lua_loadfile <const> = loadfile
local file_of_module = {} -- by name, of what `require` has loaded

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
  return lua_loadfile(path, ...)
end

function dofile(path)
  note(path, caller())
  local chunk, problem = lua_loadfile(path)
  if not chunk then error(problem, 0) end
  return chunk()
end

-- require ------------------------------------------------------------------------------------------------------------

local function folders()
  local found, seen = {}, {}
  for entry in package.path:gmatch "[^;]+" do
    local folder = entry:match "^(.*)/%?%.lua$" or (entry == "?.lua" and ".")
    if folder and not seen[folder] then found[#found + 1] = folder end
    seen[folder or entry] = true
  end
  return table.concat(found, ", ")
end

local lua_files <const> = 3 -- behind what is preloaded, and the library

package.searchers[lua_files] = function(name)
  local path = package.searchpath(name, package.path)
  if not path then return ("no file '%s.lua' in %s"):format(name:gsub("%.", "/"), folders()) end
  local chunk, problem = lua_loadfile(path)
  if not chunk then error(("error loading module '%s' from file '%s':\n\t%s"):format(name, path, problem), 0) end
  file_of_module[name] = path
  return chunk, path
end

--- What a searcher has found for a module, and what goes along with it; or nil, and why there is none.
local function find(name)
  local reason = ""
  for i, searcher in ipairs(package.searchers) do
    local loader, extra = searcher(name)
    if type(loader) == "function" then return loader, extra end
    if i == lua_files and type(loader) == "string" then reason = "\n\t" .. loader end
  end
  return nil, reason
end

function require(name)
  local by = caller()
  if type(name) ~= "string" then error(("require: expected the name of a module, got %s"):format(name == nil and "nil" or "a " .. type(name)), 2) end
  if package.loaded[name] then
    note(file_of_module[name], by)
    return package.loaded[name]
  end
  local loader, extra = find(name)
  if not loader then error(("module '%s' not found:%s"):format(name, extra), 2) end
  note(file_of_module[name], by)
  local value = loader(name, extra)
  if value ~= nil then package.loaded[name] = value end
  if package.loaded[name] == nil then package.loaded[name] = true end
  return package.loaded[name], extra
end
