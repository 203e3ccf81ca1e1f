-- Functions of a policy that are meant as hooks or questions and misspelt, and policies that do nothing. Apart from what
-- every instance loads: it is looked for once.
local core = require "warpwright.core"
local hooks = require "warpwright.hooks"
local names = require "warpwright.names"
local note = require "warpwright.note"

local policy_check = {}

--- How often a file reads `.name` or `:name`, where a function is defined or called; nil when it cannot be read.
local function uses_of(path, name)
  local file = path and io.open(path, "rb")
  if not file then return nil end
  local _, count = file:read("a"):gsub("[.:]%s*" .. name .. "%f[^%w_]", "")
  file:close()
  return count
end

--- A function of its own that is nearly called like a hook is an error when nobody calls it; when that cannot be known,
-- it is told.
local function check_function(definition, name, legal)
  local meant = names.guess(name, legal, 2)
  if not meant then return end
  local where = debug.getinfo(definition.functions[name], "S")
  local path = where.source:match "^@(.*)$"
  local count = name:match "^[%w_]+$" and uses_of(path, name) or 0
  if count > 1 then return end
  local text = ("%s:%d: policy %s: no hook matches '%s', and the file does not call it; did you mean %s?"):format(path or where.short_src, where.linedefined, definition.name, name, meant)
  if count == 1 then core.user_error(text) end
  note("%s", text)
end

--- Looks for what does nothing though it was meant to. `handles` as for hooks.possible().
function policy_check.check(definition, handles)
  local possible, all_names = hooks.possible(definition.scope, handles)
  local legal = all_names()
  local does = #definition.parts + #definition.uses > 0 or definition.settings.order or definition.settings.first
  for _, name in ipairs { "configure", "start" } do legal[#legal + 1] = name end
  for _, name in ipairs(names.sorted_keys(definition.functions)) do
    if possible[name] or hooks.plain[name] or name == "configure" or name == "start" then
      does = true
    elseif hooks.is_like_one(name) then
      does = true -- or so it was meant: the instance refuses it
    else
      check_function(definition, name, legal)
    end
  end
  if not does then note("policy %s does nothing: it has no hook, question, part, order, first, uses or configure", definition.name) end
end

return policy_check
