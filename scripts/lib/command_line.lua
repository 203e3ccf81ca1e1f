-- Command lines of the scripts: options, each with its value behind it, and words between them.
local core = require "warpwright.core"
local names = require "warpwright.names"

local command_line = {}

--- Ends scripts/NAME, which somebody has called wrongly.
function command_line.error(name, text, ...)
  error(("%s: %s; see scripts/%s --help"):format(name, text:format(...), name), 0)
end

--- The same with "WHERE: expected WHAT, got VALUE".
function command_line.expected(name, where, what, value)
  command_line.error(name, "%s: expected %s, got %s", where, what, value == nil and "nothing" or names.shown(value))
end

--- The same for the words of the command line.
function command_line.expected_arguments(name, what, count)
  command_line.error(name, "expected %s, got %d argument%s", what, count, count == 1 and "" or "s")
end

--- The same for a word of a list, of which the legal ones are few.
function command_line.no_match(name, where, kind, word, legal)
  command_line.error(name, "%s: no %s matches '%s'%s", where, kind, word, names.available(word, legal))
end

function command_line.unknown_option(name, option) command_line.error(name, "unknown option '%s'", option) end

--- The value behind an option, which must be there.
function command_line.value(name, option, value) return value or command_line.expected(name, option, "a value", value) end

--- The value of an option as a whole number.
function command_line.whole(name, option, text, least)
  local value = math.tointeger(tonumber(text))
  if not value or value < least then
    command_line.expected(name, option, ("a whole number from %d on"):format(least), text)
  end
  return value
end

-- What becomes of an option's value: functions of its text, of what the option was before, of its n

function command_line.text(text) return text end

--- The path of a file to be written at the end: an error now if it cannot be.
function command_line.output(path, _, option, name)
  local was_there = core.exists(path)
  if was_there and not core.is_file(path) and not core.exists(path .. "/.") then return path end -- a device or a pipe
  local file, problem = io.open(path, "ab")
  if not file then command_line.error(name, "%s: %s", option, problem) end
  file:close()
  if not was_there then os.remove(path) end
  return path
end

--- For whole numbers from `least` on.
function command_line.count(least)
  return function(text, _, option, name) return command_line.whole(name, option, text, least) end
end

--- For options that may be repeated.
function command_line.list(text, before)
  before[#before + 1] = text
  return before
end

--- Without the name of an option: a word of the command line.
function command_line.words(text, _, option, name)
  local words = {}
  for word in text:gmatch "[^,]+" do words[#words + 1] = word end
  if option and not words[1] then command_line.expected(name, option, "names apart by commas", text) end
  return words
end

--- "a:x=1,y=2,b" is { "a:x=1,y=2", "b" }: a parameter behind a comma belongs to the policy before
-- it.
function command_line.policies(text, _, option, name)
  local found = {}
  for _, word in ipairs(command_line.words(text, nil, option, name)) do
    if word:match "^[%w_]+=" and found[1] then
      found[#found] = found[#found] .. "," .. word
    else
      found[#found + 1] = word
    end
  end
  return found
end

--- In place of such a function: an option without a value.
command_line.flag = {}

--- Reads what scripts/NAME was called with into `options`, which has the defaults: option --x is
-- read by readers.x into options.x. Returns the words that are no options.
function command_line.read(name, args, options, readers)
  local words, i = {}, 1
  while args[i] do
    local option = args[i]:match "^%-%-(.*)$"
    local reader = option and readers[option]
    if reader == command_line.flag then
      options[option] = true
    elseif reader then
      i = i + 1
      options[option] = reader(command_line.value(name, "--" .. option, args[i]), options[option], "--" .. option, name)
    elseif args[i]:sub(1, 1) == "-" then
      command_line.unknown_option(name, args[i])
    else
      words[#words + 1] = args[i]
    end
    i = i + 1
  end
  return words
end

--- Prints the help if it is asked for; returns whether it was.
function command_line.helped(args, help)
  if args[1] ~= "--help" and args[1] ~= "-h" then return false end
  io.write(help)
  return true
end

return command_line
