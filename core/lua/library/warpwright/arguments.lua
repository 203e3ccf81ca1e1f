-- The words behind a command, read by the options that its help lists.
local core = require "warpwright.core"
local help = require "warpwright.help"
local names = require "warpwright.names"

local arguments = {}

--- Ends the command, which somebody has called wrongly.
function arguments.error(word, text, ...) core.user_error(("%s: %s; see warpwright %s --help"):format(word, text:format(...), word)) end

--- By name the options of a command, those without help, which `more` names, too; and the names that its help has, for messages.
local function legal_options(word, more)
  local legal, list = {}, {}
  for i, option in ipairs(help.find(word).options) do
    legal[option.name], list[i] = option, option.name
    if option.short then legal[option.short] = option end
  end
  for _, name in ipairs(more or {}) do legal[name] = { name = name, value = "VALUE" } end
  return legal, list
end

--- "--out=x", "-jN" or a word alone, as the option's name and the value or nil.
local function parts_of(argument, legal)
  local name, value = argument:match "^(%-%-[^=]+)=(.*)$"
  if not name then name, value = argument:match "^(%-%a)(.+)$" end
  if name and (name:sub(1, 2) == "--" or legal[name]) then return name, value end
  return argument, nil
end

--- What is in front of "--", as the place of its last word, and the list of what is behind it, nil without.
function arguments.before_dashes(args, first)
  for i = first, #args do
    if args[i] == "--" then return i - 1, table.move(args, i + 1, #args, 1, {}) end
  end
  return #args, nil
end

--- From args[first] to args[last], or to the end: values of options by name, as ww.run has them (--max-cycles is max_cycles, true without
-- a value, of --set a list); the other words; and { option, value } in order. `more`: options without help, with a value.
function arguments.read(word, args, first, last, more)
  local legal, list = legal_options(word, more)
  local options, words, given, i = {}, {}, {}, first
  last = last or #args
  while i <= last do
    if args[i]:sub(1, 1) == "-" then
      local name, value = parts_of(args[i], legal)
      local option = legal[name] or arguments.error(word, "unknown option '%s'%s", name, names.available(name, list))
      if option.value and not value then
        i = i + 1
        value = i <= last and args[i] or arguments.error(word, "%s: expected a value, got nothing", name)
        if value:sub(1, 2) == "--" and legal[parts_of(value, legal)] then
          arguments.error(word, "%s: expected a value, got the option %s", name, value)
        end
      elseif not option.value and value then
        arguments.error(word, "%s: expected no value, got '%s'", name, value)
      end
      local key = option.name:sub(3):gsub("-", "_")
      given[#given + 1] = { option.name, value }
      if key == "set" then
        options.set = options.set or {}
        table.insert(options.set, value)
      elseif key == "policy" and options.policy then -- else the first would be left out without a word
        arguments.error(word, "%s: expected it once, with policies joined by '+': '%s+%s'", name, options.policy, value)
      else
        options[key] = value or true
      end
    else
      words[#words + 1] = args[i]
    end
    i = i + 1
  end
  return options, words, given
end

--- The one word that there must be: `what` it is, in short and at length.
function arguments.one(word, words, what, at_length)
  if words[2] then arguments.error(word, "expected one %s, got a second: '%s'", what, words[2]) end
  return words[1] or arguments.error(word, "expected %s, got nothing", at_length or what)
end

--- Of choices by option, the one that was given; nil: none was.
function arguments.chosen(word, given, choices)
  local name
  for _, pair in ipairs(given) do
    if choices[pair[1]] and name and name ~= pair[1] then arguments.error(word, "%s: expected one format, got %s as well", pair[1], name) end
    name = choices[pair[1]] and pair[1] or name
  end
  return name and choices[name]
end

return arguments
