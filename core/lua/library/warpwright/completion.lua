-- warpwright --complete WORD...: what may stand where the last word stands, a line each; for shells.
local core = require "warpwright.core"
local help = require "warpwright.help"

local completion = {}

--- Names of files "NAME.lua" in a folder, those in folders below it as "folder/NAME".
local function lua_names(folder)
  local found = {}
  for _, entry in ipairs(core.list_folder(core.home_path(folder))) do
    local name = entry:match "^(.*)%.lua$"
    if name then found[#found + 1] = name end
  end
  return found
end

local of_kind = {}

function of_kind.config()
  local found = lua_names "configs"
  for _, name in ipairs(lua_names "configs/gallery") do found[#found + 1] = "gallery/" .. name end
  return found
end

function of_kind.workload()
  local found = {}
  for _, name in ipairs(core.list_folder(core.home_path "workloads")) do
    if core.is_file(core.home_path(("workloads/%s/%s.lua"):format(name, name))) then found[#found + 1] = name end
  end
  return found
end

--- Policies, and behind "POLICY:" its parameters.
function of_kind.policy(typed)
  local before, name = typed:match "^(.-)([%w_]+):[^+]*$"
  if not name then
    before = typed:match "^(.*%+)" or ""
    local found = lua_names "policies"
    for i, known in ipairs(found) do found[i] = before .. known end
    return found
  end
  local ok, policy = pcall(function() return require("warpwright.load").get("policy", name) end)
  local found, given = {}, typed:match "^.*:(.*,)" or ""
  for parameter in pairs(ok and policy.params or {}) do found[#found + 1] = ("%s%s:%s%s="):format(before, name, given, parameter) end
  table.sort(found)
  return found
end

--- Parameters of the machine that stands on the command line, with [*] for every index.
function of_kind.setting(_, words)
  local config
  for _, word in ipairs(words) do
    if core.is_file(core.home_path("configs/" .. word .. ".lua")) or word:find "%.lua$" and core.is_file(word) then config = word end
  end
  if not config then return {} end
  local ok, text = pcall(function() return require("warpwright.simulation").build(config):config() end)
  local found, seen, object = {}, {}, nil
  for line in (ok and text or ""):gmatch "[^\n]+" do
    object = line:match '^%s*m:%w+ "([^"]+)"' or object
    local parameter = line:match "^%s+([%w_]+) = "
    local path = object and parameter and parameter ~= "clock" and object:gsub("%[%d+%]", "[*]") .. "." .. parameter .. "="
    if path and not seen[path] then
      seen[path] = true
      found[#found + 1] = path
    end
  end
  return found
end

function of_kind.class()
  local found = {}
  for i, class in ipairs(core.classes()) do found[i] = class.name end
  return found
end

--- The shell knows its files better.
function of_kind.file() return {} end
of_kind.folder = of_kind.file

local function words_of_kind(kind, typed, words)
  return type(kind) == "table" and kind or kind and of_kind[kind](typed, words) or {}
end

--- What an option takes, and how many words of the command's own stand in front of the last one.
local function look_at(command, words)
  local options, own, i = {}, 0, 2
  for _, o in ipairs(command.options) do options[o.name] = o end
  while i < #words do
    local o = options[words[i]]
    if o and o.value then
      if i + 1 == #words then return o.kind end
      i = i + 1
    elseif not words[i]:find "^%-" then
      own = own + 1
    end
    i = i + 1
  end
  return nil, own
end

local function commands()
  local found = {}
  for _, command in ipairs(help.commands) do found[#found + 1] = command.word end
  for _, o in ipairs(help.others) do found[#found + 1] = o.name end
  return found
end

local function candidates(words)
  local typed, command = words[#words], help.find(words[1])
  if #words == 1 then return commands() end
  if words[1] == "--describe" then return of_kind.class() end
  if not command then return {} end
  local kind, own = look_at(command, words)
  if kind then return words_of_kind(kind, typed, words) end
  if not own then return {} end
  if not typed:find "^%-" then return words_of_kind(command.takes[math.min(own + 1, #command.takes)], typed, words) end
  local found = { "--help" }
  for _, o in ipairs(command.options) do found[#found + 1] = o.name end
  return found
end

--- The words behind `warpwright`, the last one perhaps begun.
function completion.print(words)
  local typed = words[#words] or ""
  for _, candidate in ipairs(candidates(words)) do
    if candidate:sub(1, #typed) == typed then print(candidate) end
  end
end

return completion
