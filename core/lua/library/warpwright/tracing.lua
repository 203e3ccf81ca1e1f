-- Traces of a run: what happens in chosen objects in a window of time, as text and for ui.perfetto.dev.
local checkpoint = require "warpwright.checkpoint"
local core = require "warpwright.core"
local machine = require "warpwright.machine"
local names = require "warpwright.names"
local note = require "warpwright.note"
local output = require "warpwright.output"
local trace_lines = require "warpwright.explain.trace_lines"

local tracing = {}

--- What ww.run may be told of traces.
tracing.options = { "trace", "from", "to", "events", "trace_file", "perfetto" }

--- What the text is called in a run's folder, when it has no other name.
tracing.FILE = "trace.txt"

local function cycle(options, name)
  local given = options[name]
  local value = math.tointeger(tonumber(given))
  if given ~= nil and (not value or value < 0) then names.expected(name, "a core cycle, 0 or more", given) end
  return value
end

local function check_text(options, name, what)
  local given = options[name]
  if given ~= nil and (type(given) ~= "string" or not given:find "%S") then names.expected(name, what, given) end
end

--- Whatever is wrong with the options by themselves; true when a trace is asked for.
function tracing.check(options)
  check_text(options, "trace", "objects, such as 'sm[3]*,l2[*]'")
  check_text(options, "events", "names of events, such as issue,miss")
  check_text(options, "trace_file", "a file")
  check_text(options, "perfetto", "a file")
  local from, to = cycle(options, "from") or 0, cycle(options, "to")
  if to and to <= from then core.user_error(("to: expected a cycle behind %d, where the trace begins, got %d"):format(from, to)) end
  if options.trace or options.perfetto then
    if options.trace_file and not options.trace then core.user_error "trace_file: expected objects to trace, got perfetto alone" end
    if options.events and not options.trace then core.user_error "events: expected objects to trace, got perfetto alone" end
    return true
  end
  for _, name in ipairs(tracing.options) do
    if options[name] ~= nil then core.user_error(name .. ": expected trace or perfetto with it, got neither") end
  end
  return false
end

local function check_patterns(sim, patterns)
  local objects = machine.all_objects(sim.machine)
  for pattern in patterns:gmatch "[^,%s]+" do
    local found = false
    for _, object in ipairs(objects) do found = found or core.trace_selects(pattern, object.path) end
    if not found then
      names.check_indices("trace", pattern)
      local paths = {}
      for i, object in ipairs(objects) do paths[i] = object.path end
      core.user_error(("trace: no object matches '%s' on machine %s%s"):format(pattern, sim.name, names.did_you_mean(pattern, paths, 3)))
    end
  end
end

local function check_events(trace, events)
  local known = trace:events()
  for event in events:gmatch "[^,%s]+" do
    if not known[event] then
      core.user_error(("events: no event of the traced objects matches '%s'%s"):format(event,
        names.available(event, names.sorted_keys(known))))
    end
  end
end

local Trace = {}
Trace.__index = Trace

--- Ends it, when it has not ended. Returns nil, or what went wrong with its files.
function Trace:finish()
  if not self.trace then return nil end
  local records, problem = self.trace:close()
  self.trace = nil
  if problem then return "trace: " .. problem end
  if records == 0 then
    local is_before = self.to and self.resumed_at and self.to <= self.resumed_at
    note("trace: nothing happened from cycle %d%s; the run %s at cycle %d", self.from, self.to and " to " .. self.to or "",
      is_before and "was resumed" or "ended", is_before and self.resumed_at or self.sim:gpu():totals().cycles)
  end
end

--- Of a run that has no result.
function Trace:__close()
  if self.trace then self.trace:close() end
  self.trace = nil
end

--- An error for a file that results of the run would take the place of. `own`: the name in the folder that it may have, or nil.
function Trace:check_file(name, own)
  local path = self.options[name]
  if not path or not self.folder then return end
  local last = path:match "[^/]*$"
  if last == own or not output.is_of_run(last) then return end
  if core.real_path(path:sub(1, -#last - 1) .. ".") == core.real_path(self.folder) then
    core.user_error(("%s: expected a name that no file of the run's own has, got '%s'"):format(name, path))
  end
end

--- Begins it, when one is asked for.
function Trace:begin()
  local options = self.options
  if not tracing.check(options) then return end
  local file = options.trace and (options.trace_file or self.folder and self.folder .. "/" .. tracing.FILE)
  if options.trace and not file then core.user_error "trace: expected an output folder or trace_file, got neither" end
  self:check_file("trace_file", tracing.FILE)
  self:check_file "perfetto"
  if file and options.perfetto == file then core.user_error(("perfetto: expected another file than that of the text, got '%s'"):format(file)) end
  self.resumed_at = options.resume and math.tointeger(tonumber(checkpoint.read_run(options.resume).cycle))
  local gpu, objects = self.sim:gpu(), options.trace or "*"
  check_patterns(self.sim, objects)
  self.trace = core.trace(gpu, { objects = objects, from = self.from, to = self.to })
  if options.events then check_events(self.trace, options.events) end
  local from = self.resumed_at and self.resumed_at < (self.to or math.huge) and math.max(self.from, self.resumed_at) or self.from
  self.in_folder = file == (self.folder or "") .. "/" .. tracing.FILE and file or nil
  if file then self.trace:text(file, trace_lines.heading(objects, from, self.to, options.events), options.events) end
  if options.perfetto then self.trace:perfetto(options.perfetto) end
end

--- The trace that the options ask for, or one that does nothing when none is; `folder`: that of the run, or false. To be closed.
function tracing.new(sim, options, folder)
  return setmetatable({ sim = sim, options = options, folder = folder, from = cycle(options, "from") or 0, to = cycle(options, "to") }, Trace)
end

return tracing
