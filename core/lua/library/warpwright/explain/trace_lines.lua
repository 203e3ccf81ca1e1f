-- A trace as text, line by line, and what it says of itself in its heading.
local core = require "warpwright.core"

local trace_lines = {}

local ID <const> = "^(%-?%d+%.%-?%d+%.%d+%.%x+) "

--- The heading of a text: which objects, and when; to: nil when it goes to the end of the run.
function trace_lines.heading(objects, from, to, events)
  return ("# trace of %s from cycle %d%s%s\n# cycle object event warp pc text\n"):format(objects:gsub("%c", " "), from, to and " to " .. to or "",
    events and ", events " .. events or "")
end

--- Reads one for `command`; an error when the file is none. { path =, objects =, from =, to =, events = }
function trace_lines.open(command, path)
  local file, problem = io.open(path, "rb")
  if not file then core.user_error(("%s: %s"):format(command, problem)) end
  local first = file:read "l" or ""
  file:close()
  local objects, from, rest = first:match "^# trace of (.-) from cycle (%d+)(.*)$"
  if not objects then core.user_error(("%s: %s: expected a trace as text, which is not compressed, got another file"):format(command, path)) end
  return { path = path, objects = objects, from = math.tointeger(tonumber(from)), to = math.tointeger(tonumber(rest:match "^ to (%d+)")),
    events = rest:match ", events (.*)$" }
end

--- A line as { cycle =, object =, event =, warp =, pc =, text =, id = or nil, answer = }; nil when it is none.
function trace_lines.parse(line)
  local cycle, object, event, warp, pc, text = line:match "^(%d+) (%S+) (%S+) (%S+) (%S+) ?(.*)$"
  if not cycle then return nil end
  return { cycle = math.tointeger(tonumber(cycle)), object = object, event = event, warp = warp, pc = pc, text = text, id = text:match(ID),
    answer = text:find(", answer ", 1, true) ~= nil, port = text:match " [tf][or]o?m? (%S+)$" }
end

--- visit(line as text, its cycle) for each, until it returns true. What is no whole line is passed over.
function trace_lines.each(trace, visit)
  for line in io.lines(trace.path) do
    local cycle = line:match "^(%d+) %S+ %S+ %S+ %S"
    cycle = cycle and math.tointeger(tonumber(cycle))
    if cycle and visit(line, cycle) then return end
  end
end

return trace_lines
