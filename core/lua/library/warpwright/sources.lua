-- The Lua files that take part in a run: its config, policies and workload, and what these load. Checkpoints and
-- provenance.txt name each with a digest, so that a resume finds what has changed. The library is left out: it belongs to the
-- program, whose revision a checkpoint has.
--
-- A file is named by the part that it plays, so that folders may move: "config", "policy ccws", "workload"; what these load by
-- its place beside them, "workload:lib/tiles.lua", or else below the home folder or the current one.
local core = require "warpwright.core"
local load = require "warpwright.load"

local sources = {}

local function folder_of(path) return path:match "^(.*/)" or "" end

--- The rest of a path below a folder, or nil.
local function below(folder, path) return path:sub(1, #folder) == folder and path:sub(#folder + 1) or nil end

local function home() return (core.real_path(core.home_path ".") or "") .. "/" end

local function here() return (core.real_path "." or "") .. "/" end

local function script() return arg and arg[0] and core.real_path(arg[0]) end

--- Where a thing was made: the file that returned it, or else `path`.
local function origin(thing, path) return core.real_path(load.origin[thing] or path or "") end

local function file_of(f) return debug.getinfo(f, "S").source:match "^@(.*)" end

--- sources.new(description, policies): the parts { name =, path = } of a machine with a chain of policies.
function sources.new(description, policies)
  local parts = { config = { name = "config", path = origin(description, file_of(description.build)) } }
  sources.set_policies(parts, policies)
  return parts
end

--- The policies and the workload may change in a run.
function sources.set_policies(parts, policies)
  parts.policies = {}
  for i, entry in ipairs(policies) do
    parts.policies[i] = { name = "policy " .. entry.definition.name, path = origin(entry.definition, entry.path) }
  end
end

function sources.set_workload(parts, w) parts.workload = { name = "workload", path = origin(w, w.file) } end

local function in_order(parts)
  local list = { parts.config, table.unpack(parts.policies) }
  list[#list + 1] = parts.workload
  return list
end

-- The files of all parts -----------------------------------------------------------------------------------------------

--- By path: the digest, and which files load it. A file that was edited and loaded again has the last digest.
local function noted()
  local files = {}
  for _, row in ipairs(core.noted_files()) do
    local file = files[row.path] or { by = {} }
    files[row.path] = file
    file.digest = row.digest
    file.by[row.by] = true
  end
  return files
end

--- What a file loads, in the order of the paths; "" loads what nobody else is known to.
local function loaded_by(files, path)
  local found = {}
  for other, file in pairs(files) do
    if other ~= path and (file.by[path] or file.by[""]) then found[#found + 1] = other end
  end
  table.sort(found)
  return found
end

local function name_of(part, path)
  local beside = below(folder_of(part.path), path)
  if beside then return part.name .. ":" .. beside end
  local at_home, nearby = below(home(), path), below(here(), path)
  return at_home and "home:" .. at_home or nearby and "here:" .. nearby or path
end

--- All files as a list of { name =, part = whose file loads it, path =, digest = }, each once. Of a script that makes its config
-- or workload itself there is the script alone: what else it loads may have nothing to do with the run.
function sources.list(parts)
  local files, list, seen, main = noted(), {}, {}, script()
  local function add(name, path, part)
    if seen[path] then return end
    seen[path] = true
    list[#list + 1] = { name = (name:gsub("%c", "?")), part = part, path = path, digest = files[path] and files[path].digest or "" }
  end
  local function add_loaded(part, path)
    for _, other in ipairs(loaded_by(files, path)) do
      if not seen[other] and other ~= main then
        add(name_of(part, other), other, part.name)
        add_loaded(part, other)
      end
    end
  end
  for _, part in ipairs(in_order(parts)) do
    if part.path == main and main then
      add("script " .. main:match "[^/]*$", main)
    elseif part.path then
      add(part.name, part.path)
    end
  end
  for _, part in ipairs(in_order(parts)) do
    if part.path and part.path ~= main then add_loaded(part, part.path) end
  end
  return list
end

-- Comparing ------------------------------------------------------------------------------------------------------------

--- Where a file of this name is now; nil when nobody plays its part, false when that is a matter of later.
local function place_of(name, parts)
  local main = script()
  if name:match "^script " then return main and name == "script " .. main:match "[^/]*$" and main or nil end
  local role, rest = name:match "^([^:]*):(.*)$"
  if role == "home" then return core.home_path(rest) end
  if role == "here" then return rest end
  if name:sub(1, 1) == "/" then return name end
  for _, part in ipairs(in_order(parts)) do
    if part.name == (role or name) then return part.path and (rest and folder_of(part.path) .. rest or part.path) end
  end
end

local function digest_of(path)
  local file = io.open(path, "rb")
  local text = file and file:read "a"
  if file then file:close() end
  return text and core.digest(text)
end

--- What of the files that took part in the run of a checkpoint, a list of { name =, digest = }, is another now: a list of
-- "FILE has changed" and the like.
function sources.differences(before, parts)
  local problems, known = {}, {}
  for _, file in ipairs(before) do
    known[file.name] = true
    local path = file.digest ~= "" and place_of(file.name, parts) -- "": its text came from no file
    local digest = path and digest_of(path)
    if path and not digest then
      problems[#problems + 1] = ("%s, which took part in its run, is not there"):format(path)
    elseif path and digest ~= file.digest then
      local role = file.name:match "^[%w_. -]*$"
      problems[#problems + 1] = ("%s has changed since it was made%s"):format(path, role and ", or is another " .. role or "")
    end
  end
  for _, file in ipairs(sources.list(parts)) do
    if not known[file.name] and known[file.part] then
      problems[#problems + 1] = ("%s took no part in its run"):format(file.path)
    end
  end
  return problems
end

return sources
