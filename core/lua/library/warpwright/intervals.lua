-- Statistics over time: intervals.csv, a row for so many cycles, launches or CTAs; the same whatever happened in between, a
-- resume too. Checkpoints hold the rows so far.
local checkpoint = require "warpwright.checkpoint"
local core = require "warpwright.core"
local inputs = require "warpwright.inputs"
local interval_energies = require "warpwright.interval_energies"
local names = require "warpwright.names"
local note = require "warpwright.note"
local policies_at_work = require "warpwright.policies_at_work"

local intervals = {}

intervals.FILE = "intervals.csv"

-- What is asked for ---------------------------------------------------------------------------------------------------

local units <const> = { cycle = "cycles", cycles = "cycles", launch = "launches", launches = "launches", cta = "ctas", ctas = "ctas" }

local function refuse(value) names.expected("stats_every", "cycles, launches or CTAs, each once, such as 10000, 1launch or 50ctas", value) end

--- 1e4 as "10000": one text for the same intervals.
local function text_of(value) return tostring(math.tointeger(value) or value) end

--- "10000,1launch" as { cycles = 10000, launches = 1 }: an interval ends when one of them has passed.
function intervals.read_every(value)
  if type(value) == "number" then value = text_of(value) end
  if type(value) ~= "string" then refuse(value) end
  local every = {}
  for word in (value .. ","):gmatch "([^,]*)," do
    local number, unit = word:lower():match "^%s*(%d+)%s*(%a*)%s*$"
    local name = units[unit == "" and "cycles" or unit]
    if not name or every[name] then refuse(value) end
    every[name] = number and #number < 16 and math.tointeger(tonumber(number)) or 0
    if every[name] < 1 then refuse(value) end
  end
  return every
end

-- Of the run; all other columns are of objects.
local of_run <const> = { "run.ipc", "run.warp_ipc", "run.warp_instructions", "run.thread_instructions" }
local is_of_run = {}
for _, name in ipairs(of_run) do is_of_run[name] = true end

--- May the statistic of a result be a column?
function intervals.is_column(name) return is_of_run[name] or not name:find "^run%." and not name:find "^launch%[" end

--- Statistics of objects that are there unless others are named.
local by_default <const> = { ctas_finished = true, accesses = true, miss_rate = true, average_load_latency = true,
  bandwidth_utilisation = true, row_hit_rate = true, average_queue_entries = true }

--- The names of a machine's statistics, in their order.
local function names_of_machine(machine)
  local rows, found = machine:stats(), {}
  for i = 1, #rows do found[i] = rows:row(i) end
  return found
end

--- Those of what its policies count.
local function names_of_policies(sim)
  local found = {}
  for i, row in ipairs(policies_at_work.counters(sim.machine, sim.policies)) do found[i] = row.name end
  return found
end

--- Their patterns that `wanted(name of the statistic)` takes.
local function patterns_of(list, wanted)
  local found, seen = {}, {}
  for _, name in ipairs(list) do
    local pattern = name:gsub("%[%d+%]", "[*]")
    if not seen[pattern] and wanted(pattern:match "[^.]*$") then found[#found + 1] = pattern end
    seen[pattern] = true
  end
  return found
end

local function default_columns(machine, has_energies)
  local columns = { "run.ipc", "run.warp_ipc" }
  for _, pattern in ipairs(patterns_of(names_of_machine(machine), function(name) return by_default[name] or name:find "^slots_" end)) do
    columns[#columns + 1] = pattern
  end
  local energies = has_energies and interval_energies.names(machine) or {}
  return table.move(energies, 1, #energies, #columns + 1, columns)
end

--- Those that match.
local function matches_of(list, pattern)
  local found = {}
  for _, name in ipairs(list) do
    if core.path_matches(pattern, name) then found[#found + 1] = name end
  end
  return found
end

local function no_such_statistic(sim, pattern)
  names.check_indices("stats_of", pattern)
  local all = names_of_machine(sim.machine)
  local of_policies = names_of_policies(sim)
  table.move(of_policies, 1, #of_policies, #all + 1, all)
  local energies = interval_energies.names(sim.machine)
  table.move(energies, 1, #energies, #all + 1, all)
  local known = patterns_of(all, function() return true end)
  table.move(of_run, 1, #of_run, #known + 1, known)
  core.user_error(("stats_of: no statistic matches '%s'%s"):format(pattern,
    names.did_you_mean((pattern:gsub("%[%d+%]", "[*]")), known, 3)))
end

--- The columns: names and patterns, apart by commas or as a list; "each:PATTERN" is a column for each that matches.
local function read_columns(sim, of, has_energies)
  if of == nil then return default_columns(sim.machine, has_energies) end
  local given = of
  if type(of) == "string" then
    local list = {}
    for word in of:gmatch "[^,]+" do list[#list + 1] = word end
    of = list
  end
  if type(of) ~= "table" or not of[1] then names.expected("stats_of", "names or patterns of statistics", given) end
  local columns = {}
  for _, word in ipairs(of) do
    if type(word) ~= "string" or word:find "[,\"\n]" then names.expected("stats_of", "names or patterns of statistics", word) end
    local each = word:match "^each:(.*)$"
    if each then
      local found = matches_of(names_of_machine(sim.machine), each)
      if not found[1] then found = matches_of(names_of_policies(sim), each) end
      if not found[1] then found = matches_of(interval_energies.names(sim.machine), each) end
      if not found[1] then no_such_statistic(sim, each) end
      table.move(found, 1, #found, #columns + 1, columns)
    else
      columns[#columns + 1] = core.current_name(word) or word
    end
  end
  return columns
end

-- A recorder ----------------------------------------------------------------------------------------------------------

local Recorder = {}
Recorder.__index = Recorder

local totals_of_interest <const> = { "cycles", "warp_instructions", "thread_instructions" }

--- Of a GPU's totals, or a result.
local function totals_of(totals)
  local t = {}
  for _, name in ipairs(totals_of_interest) do t[name] = totals[name] end
  return t
end

--- intervals.record(sim, folder's path, options { stats_every =, stats_of =, energy = }), before the run begins; nil when none are asked for.
-- What checkpoints say of it stands in sim.choices.
function intervals.record(sim, folder, options)
  if not options.stats_every then
    if options.stats_of ~= nil then core.user_error "stats_of: expected stats_every with it, got none" end
    return nil
  end
  local recorder = setmetatable({
    sim = sim, gpu = sim:gpu(), folder = folder, every = intervals.read_every(options.stats_every), columns = read_columns(sim, options.stats_of, options.energy),
    lines = {}, launches = 0, ctas_before = 0, ctas_at = 0, launches_at = 0, last = { cycles = 0, warp_instructions = 0, thread_instructions = 0 },
  }, Recorder)
  recorder:find_columns()
  sim.choices.stats_every, sim.choices.stats_of = text_of(options.stats_every), table.concat(recorder.columns, ",")
  core.tell_launch_ends(recorder.gpu)
  recorder:plan()
  return recorder
end

function Recorder:is_of_energy(column) return self.energies and self.energies:has(column) end

--- Who counts for which column: what no object of the machine does, its policies do.
function Recorder:find_columns()
  local of_machine, of_policies, patterns = names_of_machine(self.sim.machine), names_of_policies(self.sim), {}
  self.of_policies = {} -- by column, what was counted as of the last look
  self.energies = interval_energies.new(self.sim.machine, self.columns, of_machine)
  for _, column in ipairs(self.columns) do
    if not matches_of(of_machine, column)[1] and matches_of(of_policies, column)[1] then
      self.of_policies[column] = 0
    elseif not is_of_run[column] and not self:is_of_energy(column) then
      patterns[#patterns + 1] = column
    end
  end
  local unmatched
  self.sampler, unmatched = core.sampler(self.sim.machine, patterns)
  if unmatched then no_such_statistic(self.sim, unmatched) end
end

--- What the policies have counted since the last look, by column.
function Recorder:take_of_policies()
  local grown = {}
  if not next(self.of_policies) then return grown end
  local rows = policies_at_work.counters(self.sim.machine, self.sim.policies)
  for column, before in pairs(self.of_policies) do
    local now = 0
    for _, row in ipairs(rows) do
      if core.path_matches(column, row.name) then now = now + row.value end
    end
    grown[column], self.of_policies[column] = now - before, now
  end
  return grown
end

--- The cycle from which on the next interval may end; nil: cycles do not end it.
function Recorder:next_cycle()
  local every = self.every.cycles
  return every and (self.last.cycles // every + 1) * every
end

--- The number of CTAs of the running kernel, or of the next one, at which the interval ends.
function Recorder:plan()
  if self.every.ctas then core.pause_at_ctas(self.gpu, self.ctas_at + self.every.ctas - self.ctas_before) end
end

local function in_run(name, change)
  local cycles = change.cycles
  if name == "run.ipc" then return cycles > 0 and ("%.9g"):format(change.thread_instructions / cycles) or "" end
  if name == "run.warp_ipc" then return cycles > 0 and ("%.9g"):format(change.warp_instructions / cycles) or "" end
  return ("%d"):format(change[name:match "%.(.*)"])
end

--- What there was from the interval before to `now`, as cells of the file, those of energies empty; and whether there was anything.
function Recorder:amounts(now)
  local change, cells = {}, {}
  for _, name in ipairs(totals_of_interest) do change[name] = now[name] - self.last[name] end
  local of_objects, of_policies = (self.sampler:take() .. ","):gmatch "([^,]*),", self:take_of_policies()
  for i, column in ipairs(self.columns) do
    cells[i] = is_of_run[column] and in_run(column, change) or of_policies[column] or self:is_of_energy(column) and "" or of_objects()
  end
  local text = table.concat(cells, ",")
  local has_events = self.energies and self.energies:take(change.cycles)
  return text, has_events or change.cycles > 0 or text:find "[1-9]" ~= nil
end

--- Ends an interval; `launch`: the number of the one that runs, or has just ended, or nil.
function Recorder:take(launch)
  local now = totals_of(self.gpu:totals())
  local line = ("%d,%d,%s,%s"):format(self.last.cycles, now.cycles, launch or "", (self:amounts(now)))
  self.last = now
  self.lines[#self.lines + 1] = line
  self:append(line)
end

--- After a checkpoint function's question: was the end of an interval the reason, or beside it?
function Recorder:look(why, cycle)
  local totals = self.gpu:totals()
  local ended, number = why == "launch", #self.gpu:launches()
  local ctas = self.ctas_before + ((ended or totals.kernel) and totals.ctas_done or 0)
  if ended then self.launches, self.ctas_before = self.launches + 1, ctas end
  local due = self.every.cycles and cycle >= self:next_cycle()
    or self.every.ctas and ctas >= self.ctas_at + self.every.ctas
    or self.every.launches and self.launches >= self.launches_at + self.every.launches
  if due then
    self:take((ended or totals.kernel) and number)
    self.ctas_at, self.launches_at = ctas, self.launches
  end
  self:plan()
end

-- In checkpoints ---------------------------------------------------------------------------------------------------------

local counts <const> = { "launches", "launches_at", "ctas_before", "ctas_at" }

--- For the next checkpoint.
function Recorder:save()
  local choices, numbers = self.sim.choices, {}
  for _, name in ipairs(totals_of_interest) do numbers[#numbers + 1] = self.last[name] end
  for _, name in ipairs(counts) do numbers[#numbers + 1] = self[name] end
  choices.interval = self.lines
  choices["intervals until"] = table.concat(numbers, " ")
  choices["intervals looked"] = self.sampler:looked()
  local counted = {}
  for _, column in ipairs(self.columns) do counted[#counted + 1] = self.of_policies[column] end
  choices["intervals counted"] = counted[1] and table.concat(counted, " ") or nil
  if self.energies then self.energies:save(choices) end
end

--- The policies have been resumed: their columns go on from what a checkpoint says, unless another policy began anew there.
function Recorder:resume_of_policies(saved)
  local policy = self.sim.choices.policy
  if saved.policy ~= policy and checkpoint.found(saved, "policy") ~= policy then return self:take_of_policies() end
  local counted = (saved["intervals counted"] or ""):gmatch "%-?%d+"
  for _, column in ipairs(self.columns) do
    if self.of_policies[column] then self.of_policies[column] = math.tointeger(tonumber(counted() or 0)) or 0 end
  end
end

--- The run has been resumed: goes on where the rows of the checkpoint end. `saved`: what it says of the run.
function Recorder:resumed(saved, path)
  local numbers = {}
  for number in (saved["intervals until"] or ""):gmatch "%d+" do numbers[#numbers + 1] = math.tointeger(tonumber(number)) end
  local same = saved.stats_every == self.sim.choices.stats_every and saved.stats_of == self.sim.choices.stats_of
  same = same and #numbers == #totals_of_interest + #counts and self.sampler:look_from(saved["intervals looked"] or "")
  if same and (not self.energies or self.energies:resume(saved)) then
    for i, name in ipairs(totals_of_interest) do self.last[name] = numbers[i] end
    for i, name in ipairs(counts) do self[name] = numbers[#totals_of_interest + i] end
    table.move(saved.interval, 1, #saved.interval, 1, self.lines)
    self:resume_of_policies(saved)
  else
    note("resume: checkpoint %s has no such intervals; they begin at cycle %d", path, self.gpu:totals().cycles)
    self.sampler:take()
    if self.energies then self.energies:skip() end
    self:take_of_policies()
    self.last = totals_of(self.gpu:totals())
    self.ctas_at = self.gpu:totals().kernel and self.gpu:totals().ctas_done or 0
  end
  self:plan()
end

-- The file ---------------------------------------------------------------------------------------------------------------

function Recorder:text()
  return ("from,to,launch,%s\n%s"):format(table.concat(self.columns, ","), #self.lines > 0 and table.concat(self.lines, "\n") .. "\n" or "")
end

--- For those who look at it while the run goes on; what cannot be written now is at the end, or the user is told then.
function Recorder:append(line)
  if not self.folder then return end
  if not self.file then
    local path = self.folder .. "/" .. intervals.FILE
    inputs.try_to_write(path, self:text())
    self.file = io.open(path, "ab")
    if self.file then self.file:setvbuf "line" end
  elseif self.file then
    self.file:write(line, "\n")
  end
end

--- The energies of all intervals, into their rows and into the result.
function Recorder:add_energies(r)
  local of_intervals, cells = self.energies:finish(r)
  r.energy.intervals = {}
  for i, line in ipairs(self.lines) do
    local column = -3 -- from, to and launch stand in front
    self.lines[i] = (line .. ","):gsub("([^,]*),", function(cell)
      column = column + 1
      return (cells[i][self.columns[column]] or cell) .. ","
    end):sub(1, -2)
    local one, from, to, launch = of_intervals[i], line:match "^(%d+),(%d+),(%d*)"
    one.from, one.to, one.launch = math.tointeger(from), math.tointeger(to), math.tointeger(launch)
    r.energy.intervals[i] = one
  end
end

--- `r`: the result of the run. The last row is of what was counted since the last interval ended, what was in flight when the last
-- kernel did included. Returns the text of the file.
function Recorder:finish(r)
  if self.file then self.file:close() end
  self.file, self.folder = nil, nil
  local amounts, has_any = self:amounts(totals_of(r))
  if has_any then self.lines[#self.lines + 1] = ("%d,%d,,%s"):format(self.last.cycles, r.cycles, amounts) end
  if self.energies then self:add_energies(r) end
  return self:text()
end

return intervals
