-- Checkpoints of runs: when they are made, what they say of the run, and how a run goes on from one.
local core = require "warpwright.core"
local names = require "warpwright.names"
local note = require "warpwright.note"
local policy = require "warpwright.policy"
local sources = require "warpwright.sources"

local checkpoint = {}

-- The text in a checkpoint: "name = value" lines ------------------------------------------------------------------

--- A path may have a newline in it.
local function on_one_line(value) return (value:gsub("[\\\n]", { ["\\"] = "\\\\", ["\n"] = "\\n" })) end

local function as_it_was(value) return (value:gsub("\\([\\n])", { ["\\"] = "\\", n = "\n" })) end

local function text_of(gpu, run, cycle, why)
  local lines = {}
  local function add(name, value) lines[#lines + 1] = ("%s = %s\n"):format(name, on_one_line(tostring(value))) end
  add("cycle", cycle)
  add("why", why)
  add("host seconds", ("%.3f"):format(gpu:totals().seconds + (run["seconds before"] or 0)))
  add("warpwright", ("%s, revision %s"):format(core.version, core.revision))
  add("started in", core.real_path "." or "")
  for _, name in ipairs(names.sorted_keys(run)) do
    local value = run[name]
    if name == "sources" then
      for _, file in ipairs(sources.list(value)) do add("file", file.digest .. " " .. file.name) end
    elseif type(value) == "table" then
      for _, element in ipairs(value) do add(name, element) end
    else
      add(name, value)
    end
  end
  return table.concat(lines)
end

--- The lines as a table; `set` and what there is of intervals are lists, and `files` one of { name =, digest = }.
local function read_text(text)
  local run = { set = {}, files = {}, interval = {}, ["interval events"] = {} }
  for name, line in text:gmatch("([%w_ ]+) = ([^\n]*)\n") do
    local value = as_it_was(line)
    if type(run[name]) == "table" then
      table.insert(run[name], value)
    elseif name == "file" then
      local digest, file = value:match "^(%x*) (.*)$"
      table.insert(run.files, { name = file or value, digest = digest or "" })
    else
      run[name] = value
    end
  end
  return run
end

--- What the run that made the checkpoint was: config, workload, size, policy, set, memory.
function checkpoint.read_run(path) return read_text(core.checkpoint_text(path)) end

local may_be_path <const> = { config = true, workload = true, policy = true, energy = true }

--- What a checkpoint says of the run's config, workload, policy ...; where it names a file that is not to be found from here, the
-- same from the folder in which the run was started.
function checkpoint.found(saved, name)
  local value = saved[name]
  if not value or not saved["started in"] or not may_be_path[name] then return value end
  local function elsewhere(path) return saved["started in"] .. "/" .. path end
  local function there(path)
    local is_relative = path:find "[/.]" and path:sub(1, 1) ~= "/"
    return is_relative and not core.is_file(path) and core.is_file(elsewhere(path)) and elsewhere(path) or path
  end
  if name ~= "policy" then return there(value) end
  return policy.with_names(value, function(path) return core.is_file(path) or core.is_file(elsewhere(path)) end, there)
end

--- Of a resume { path =, saved = what read_run() gave, allow_changes = }: the Lua files of the run must be what they were.
function checkpoint.require_sources(resume, parts)
  local program = ("%s, revision %s"):format(core.version, core.revision)
  if resume.saved.warpwright ~= program then
    note("resume: checkpoint %s: expected warpwright %s as in the checkpoint, got %s", resume.path, resume.saved.warpwright, program)
  end
  for _, difference in ipairs(sources.differences(resume.saved.files, parts)) do
    if not resume.allow_changes then
      core.user_error(("checkpoint %s: %s; --allow-changes goes on all the same"):format(resume.path, difference))
    end
    note("resume: %s", difference)
  end
end

-- Making them ------------------------------------------------------------------------------------------------------

local function cycle_count(what, value)
  local cycle = math.tointeger(tonumber(value))
  if not cycle or cycle < 1 then
    names.expected(what, what == "keep" and "a whole number from 1 on"
      or what == "checkpoint_every" and "1 cycle or more, or a time such as 10min" or "1 cycle or more", value)
  end
  return cycle
end

local seconds_of <const> = { s = 1, sec = 1, min = 60, h = 3600 }

--- "10min" as seconds; nil for what is no time.
local function seconds_in(value)
  local number, unit = tostring(value):match "^(%d+)(%a+)$"
  local seconds = number and seconds_of[unit] and math.tointeger(number) * seconds_of[unit]
  return seconds and seconds > 0 and seconds or nil
end

--- The plan of options checkpoint_every and checkpoint_at (a number, a text with commas, or a list).
local function read_plan(options)
  local plan = { at = {} }
  plan.seconds = seconds_in(options.checkpoint_every)
  if options.checkpoint_every and not plan.seconds then plan.every = cycle_count("checkpoint_every", options.checkpoint_every) end
  plan.keep = options.keep and cycle_count("keep", options.keep)
  local at = options.checkpoint_at or {}
  if type(at) == "string" then
    local list = {}
    for word in at:gmatch("[^,]+") do list[#list + 1] = word end
    at = list
  end
  if type(at) ~= "table" then at = { at } end
  for i, value in ipairs(at) do plan.at[i] = cycle_count("checkpoint_at", value) end
  return plan
end

--- An error for options of checkpoints that are wrong.
function checkpoint.check(options) read_plan(options) end

--- The first planned cycle after `cycle`, or nil.
local function next_planned(plan, cycle)
  local first = plan.every and (cycle // plan.every + 1) * plan.every
  for _, at in ipairs(plan.at) do
    if at > cycle and (not first or at < first) then first = at end
  end
  return first
end

--- Reports what was transferred from a checkpoint of another policy or machine, like parts together.
local function print_notes(gpu, before, run)
  local seen = {}
  if before.policy ~= run.policy and checkpoint.found(before, "policy") ~= run.policy then
    note("resume: policy %s became %s; what it knew is dropped", before.policy or "default", run.policy or "default")
  end
  for line in core.resume_notes(gpu):gmatch("[^\n]+") do
    local pattern = line:gsub("%[%d+%]", "[*]")
    if not seen[pattern] then note("resume: %s", pattern) end
    seen[pattern] = true
  end
end

--- Notes from which cycle on it counts what the checkpoint has none of.
local function note_beginnings(path, before, run, cycle)
  for _, name in ipairs { "profile", "histograms" } do
    local key = name .. " from"
    if run[name] and before[name] then
      run[key] = before[key]
    elseif run[name] then
      run[key] = cycle
      note("resume: checkpoint %s has no %s; counting begins at cycle %d", path, name, cycle)
    end
  end
end

--- Why a checkpoint is made, beside a cycle that was planned; after some of them the run goes on.
local is_reason <const> = { time = true, SIGUSR1 = true, SIGINT = true, SIGTERM = true, SIGHUP = true, max_cycles = true }
local goes_on <const> = { cycle = true, time = true, SIGUSR1 = true }

--- Of two cycles, each may be nil.
local function earlier(a, b) return a and b and math.min(a, b) or a or b end

--- Writes one; a failure is told, and no error, unless it is about the end of a run that was to have none. Returns whether it was
--- written.
local function write(gpu, path, run, cycle, why)
  local good, problem, is_unasked = core.write_checkpoint(gpu, path, text_of(gpu, run, cycle, why))
  if not good and not (is_unasked and why == "max_cycles") then note("checkpoint at cycle %d: %s%s", cycle, problem, goes_on[why] and "; the run goes on" or "") end
  return good
end

--- Cycles of the checkpoints in a folder, the newest first.
function checkpoint.cycles_in(folder)
  local cycles = {}
  for _, name in ipairs(core.list_folder(folder)) do
    cycles[#cycles + 1] = math.tointeger(tonumber(name:match "^(%d+)%.ckpt$"))
  end
  table.sort(cycles, function(a, b) return a > b end)
  return cycles
end

--- Removes from a folder that no other process works at the checkpoints that killed ones had begun to write.
function checkpoint.remove_unfinished(folder)
  for _, name in ipairs(core.list_folder(folder)) do
    if name:find "^%d+%.ckpt%.tmp%-%d+$" then os.remove(folder .. "/" .. name) end
  end
end

--- Removes those that are older than the newest `keep`.
local function remove_old(folder, keep)
  for i, cycle in ipairs(checkpoint.cycles_in(folder)) do
    if i > keep then os.remove(("%s/%d.ckpt"):format(folder, cycle)) end
  end
end

--- The newest checkpoint of a folder that is whole, or nil. Damaged ones are told.
function checkpoint.newest(folder)
  for _, cycle in ipairs(checkpoint.cycles_in(folder)) do
    local path = ("%s/%d.ckpt"):format(folder, cycle)
    local good, problem = pcall(core.inspect_checkpoint, path)
    if good then return path end
    note("%s", (tostring(problem):gsub("^.-checkpoint ", "checkpoint ")))
  end
end

--- Options whose `resume` is a folder, with its newest checkpoint instead; the run goes on there unless `out` says otherwise.
function checkpoint.of_folder(options)
  local folder = options.resume
  if folder and type(folder) ~= "string" then names.expected("resume", "a checkpoint, or a folder with one", folder) end
  if not folder or core.is_file(folder) or not core.real_path(folder) then return options end
  local resolved = {}
  for key, value in pairs(options) do resolved[key] = value end
  resolved.resume = checkpoint.newest(folder)
    or core.user_error(("checkpoint %s: expected a checkpoint, or a folder with one, got a folder without"):format(folder))
  if resolved.out == nil then resolved.out = folder end
  return resolved
end

--- Makes the checkpoints that `options` plan, and those that signals ask for, in `folder`. `run` is what read_run()
-- will give. `show()` is called when somebody asks to be shown how far the run is; `recorder`: of intervals, or nil; caught_up(), or
-- nil, when a resumed run is where its checkpoint was made. Returns a table whose `last` is the path of the newest; `has_caught_up`: the
-- run is there; missing(): the cycles of checkpoint_at that have not come yet.
function checkpoint.watch(gpu, folder, run, options, show, recorder, caught_up)
  local plan, made = read_plan(options), {}
  if not folder and (plan.every or plan.seconds or plan.at[1]) then
    core.user_error("out: expected a folder for checkpoints, got false")
  end
  if folder and options.resume then checkpoint.remove_unfinished(folder) end
  core.checkpoint_timer(plan.seconds or 0)
  local next_checkpoint, looked = next_planned(plan, 0), 0
  function made.missing()
    local list = {}
    for _, at in ipairs(plan.at) do
      if at > looked then list[#list + 1] = ("%d"):format(at) end
    end
    return list
  end
  local function next_call() return earlier(next_checkpoint, recorder and recorder:next_cycle()) end
  local function make(why, cycle)
    local path = ("%s/%d.ckpt"):format(folder, cycle)
    if recorder then recorder:save() end
    if not write(gpu, path, run, cycle, why) then return end
    made.last = path
    if plan.keep then remove_old(folder, plan.keep) end
    if why ~= "cycle" and why ~= "time" then note("%s: checkpoint %s", why, path) end
  end
  core.on_checkpoint(gpu, function(why, cycle)
    if why == "resumed" then
      made.has_caught_up = true
      local saved = checkpoint.read_run(options.resume)
      print_notes(gpu, saved, run)
      note_beginnings(options.resume, saved, run, cycle)
      if recorder then recorder:resumed(saved, options.resume) end
      if caught_up then caught_up() end
    elseif recorder then
      recorder:look(why, cycle)
    end
    if why == "SIGUSR2" then show() end
    local planned = why == "cycle" and next_checkpoint and cycle >= next_checkpoint
    if folder and (planned or is_reason[why]) then make(why, cycle) end
    next_checkpoint, looked = next_planned(plan, cycle), cycle
    return next_call()
  end, next_call())
  return made
end

--- sim:checkpoint(path): errors are the caller's.
function checkpoint.write(gpu, path, run, cycle)
  local good, problem = core.write_checkpoint(gpu, path, text_of(gpu, run, cycle, "script"))
  if not good then core.user_error(("checkpoint: %s"):format(problem)) end
end

-- warpwright inspect -------------------------------------------------------------------------------------------------

local function size_text(bytes)
  if bytes < 10240 then return ("%d B"):format(bytes) end
  if bytes < 10240 * 1024 then return ("%.1f KiB"):format(bytes / 1024) end
  return ("%.1f MiB"):format(bytes / 1024 ^ 2)
end

--- Sizes of the machine's parts, those that differ in an index only together, in the order in which they appear.
local function group_parts(parts)
  local groups, by_name = {}, {}
  for _, part in ipairs(parts) do
    local name = part.path:gsub("%[%d+%]", "[*]")
    local group = by_name[name]
    if not group then
      group = { name = name, class = part.class, bytes = 0, count = 0 }
      by_name[name] = group
      groups[#groups + 1] = group
    end
    group.bytes = group.bytes + part.bytes
    group.count = group.count + 1
  end
  return groups
end

local calls_shown = 20

--- A file from elsewhere must not speak to the terminal: control characters, also those beyond ASCII, and what is no UTF-8 are
-- shown as \x1b.
local function visible(text)
  local control = utf8.len(text) and "\xc2[\x80-\x9f]" or "[\x80-\xff]"
  local function escape(bytes) return (bytes:gsub(".", function(c) return ("\\x%02x"):format(c:byte()) end)) end
  return (text:gsub(control, escape):gsub("%c", escape))
end

--- Prints what the file holds.
function checkpoint.inspect(path)
  local file = core.inspect_checkpoint(path)
  print(path)
  for line in file.run:gmatch("[^\n]+") do print("  " .. visible(line)) end
  print("sections")
  for _, section in ipairs(file.sections) do
    print(("  %-52s %12s, stored as %s"):format(visible(section.name), size_text(section.bytes), size_text(section.stored)))
  end
  print("machine")
  for _, group in ipairs(group_parts(file.parts)) do
    print(("  %-52s %12s  %d x %s"):format(visible(group.name), size_text(group.bytes), group.count, visible(group.class)))
  end
  print(("host calls: %d"):format(#file.calls))
  local first = math.max(1, #file.calls - calls_shown + 1)
  if first > 1 then print(("  ... %d before"):format(first - 1)) end
  for i = first, #file.calls do print(("  %d  %s"):format(i, visible(file.calls[i]))) end
end

return checkpoint
