-- What a run is made of: the program, the Lua files that take part, its PTX; each by its digest, so that a stored result is known
-- to be of what is here now.
local core = require "warpwright.core"

local inputs = {}

--- Or nil.
function inputs.read_file(path)
  local file = io.open(path, "rb")
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

--- Makes a folder and those above it; returns those that were not there.
function inputs.make_folders(path)
  local made = {}
  for last in (path .. "/"):gmatch "()/+" do
    local above = path:sub(1, last - 1)
    if last > 1 and core.make_folder(above) then made[#made + 1] = above end
  end
  return made
end

--- All of an open file, which is closed. Returns nil, or what went wrong.
function inputs.try_to_fill(file, path, text)
  local ok, write_problem = file:write(text)
  local closed, close_problem = file:close()
  return not (ok and closed) and ("%s: %s"):format(path, write_problem or close_problem) or nil
end

--- Returns nil, or what went wrong; `shown`: the name of the file in it.
local function write_in_place(path, text, shown)
  local file, problem = io.open(path, "wb")
  if not file then return shown .. problem:sub(#path + 1) end
  return inputs.try_to_fill(file, shown, text)
end

--- Beside a file, what it is written as at first: no name of the user's or another process's.
function inputs.temporary_of(target) return ("%s.%s-%d.tmp"):format(target, core.host().name, core.process()) end

local temporaries = {} -- by folder, by file: { name =, process = } of this computer's. A folder is looked at once

local function temporaries_in(folder)
  local by_file, pattern = {}, ("^(.+)%%.%s%%-(%%d+)%%.tmp$"):format((core.host().name:gsub("%W", "%%%0")))
  for _, name in ipairs(core.list_folder(folder)) do
    local file, process = name:match(pattern)
    if file then
      by_file[file] = by_file[file] or {}
      table.insert(by_file[file], { name = name, process = process })
    end
  end
  return by_file
end

--- Removes what processes of this computer that were killed left beside a file that is to be written.
function inputs.remove_left_behind(target)
  local folder, file = target:match "^(.*/)([^/]*)$"
  folder, file = folder or "./", file or target
  temporaries[folder] = temporaries[folder] or temporaries_in(folder)
  for _, left in ipairs(temporaries[folder][file] or {}) do
    if not core.real_path("/proc/" .. left.process) or tonumber(left.process) == core.process() then os.remove(folder .. left.name) end
  end
  temporaries[folder][file] = nil
end

--- Whole or not at all: readers never see half a file. What is no regular file, such as a device, stays what it is and is written
-- to; so is the file that a link names. Returns nil, or what went wrong.
function inputs.try_to_write(path, text)
  if core.exists(path) and not core.is_file(path) then return write_in_place(path, text, path) end
  local target = core.real_path(path) or path
  local temporary = inputs.temporary_of(target)
  inputs.remove_left_behind(target)
  local problem = write_in_place(temporary, text, path)
  if not problem then
    local renamed, rename_problem = os.rename(temporary, target)
    problem = not renamed and rename_problem or nil
  end
  if problem then os.remove(temporary) end
  return problem
end

--- The same; what goes wrong is an error.
function inputs.write_file(path, text)
  local problem = inputs.try_to_write(path, text)
  if problem then core.user_error(problem) end
end

function inputs.digest_of_file(path)
  local text = inputs.read_file(path)
  return text and core.digest(text)
end

--- Of the program: its C code, and the Lua library, which is read when it starts.
function inputs.digest_of_program()
  local digests, folder = { core.sources }, core.home_path "core/lua/library/"
  digests[2] = inputs.digest_of_file(folder .. "warpwright.lua")
  for _, name in ipairs(core.list_folder(folder .. "warpwright")) do
    digests[#digests + 1] = inputs.digest_of_file(folder .. "warpwright/" .. name)
  end
  return core.digest(table.concat(digests, " "))
end

--- The rest of a path below a folder, or nil.
local function below(folder, path)
  folder = (folder:gsub("/*$", "/"))
  return path:sub(1, #folder) == folder and path:sub(#folder + 1) or nil
end

--- The way from one absolute folder to a path.
local function way(from, path)
  local up = ""
  while not below(from, path) do from, up = from:match "^(.*)/", up .. "../" end
  return up .. below(from, path)
end

--- From the folder of a sweep to the one in which it is made: the way up, so that both may move together, or else its path.
function inputs.way_to_here(folder)
  local here, inner = core.real_path ".", core.real_path(folder)
  return (below(here, inner .. "/") and "./" .. below(here, inner .. "/"):gsub("[^/]+/+", "../") or here)
end

--- Calls `found` with each path that a text of the run names.
local function each_path(value, found)
  if type(value) == "table" then
    for _, entry in pairs(value) do each_path(entry, found) end
  elseif type(value) == "string" then
    for word in value:gmatch "[^%c+:,=]+" do
      if word:find "/" or word:find "%.lua$" or word:find "%.ptx$" then found(word) end
    end
  end
end

--- A function of the real path of a file that gives the names by which a result knows it. What belongs to the home folder does so
-- wherever that is. A run that names files from the current folder is of those that its names lead to now, in a copy of the folder
-- as well; one that names absolute paths, too, is of both.
local function namer(run)
  local home, here = core.real_path(core.home_path "."), core.real_path "."
  local from_here, absolute, named = false, false, {}
  each_path(run, function(path)
    if path:sub(1, 1) == "/" then
      absolute = true
      return
    end
    from_here = true
    local real = core.is_file(path) and core.real_path(path)
    if real then named[real] = "here:" .. path:gsub("^%./+", "") end
  end)
  return function(path)
    local at_home, nearby = below(home, path), below(here, path)
    local wherever = at_home and "home:" .. at_home or path
    local is_here = from_here and (nearby or not at_home)
    return { named[path], is_here and "here:" .. way(here, path) or wherever, is_here and absolute and wherever or nil }
  end
end

--- `here`: the folder in which the run is made.
function inputs.present_path(path, here)
  local role, rest = path:match "^(%l+):(.*)$"
  if role == "home" then return core.home_path(rest) end
  if role == "here" then return here == "." and rest or here .. "/" .. rest end
  return path
end

--- The file of a module and those that it loads, by path.
local function files_of_module(name)
  local files = { [core.real_path(core.home_path(name:gsub("%.", "/") .. ".lua"))] = true }
  repeat
    local found = false
    for _, row in ipairs(core.noted_files()) do
      if files[row.by] and not files[row.path] then
        files[row.path], found = true, true
      end
    end
  until not found
  return files
end

--- By the names that a result has for them: the digests of the Lua and PTX files that this process has loaded for a run, the library
-- left out. Scripts take no part in a run, but for its module `measure`; nor does `apart`, the file that lists the runs.
function inputs.loaded_files(run, apart)
  local files, main = {}, arg and arg[0] and core.real_path(arg[0])
  local measuring = run.measure and files_of_module(run.measure) or {}
  local scripts, names_of = core.real_path(core.home_path ".") .. "/scripts", namer(run)
  for _, row in ipairs(core.noted_files()) do
    local takes_part = row.path ~= main and row.path ~= apart and not below(scripts, row.path)
    if measuring[row.path] or takes_part then
      local names = names_of(row.path)
      for i = 1, 3 do
        if names[i] then files[names[i]] = row.digest end
      end
    end
  end
  return files
end

return inputs
