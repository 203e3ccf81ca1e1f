-- Columns of energies in intervals.csv: energy.total and its parts. What an event takes hangs on the run as a whole, so that intervals
-- count events, and have energies when the run has ended.
local core = require "warpwright.core"
local energy = require "warpwright.energy"
local all_objects = require("warpwright.machine").all_objects

local interval_energies = {}

local Energies = {}
Energies.__index = Energies

local TOTAL <const> = "energy.total"

--- The names that a machine's energies have as columns.
function interval_energies.names(machine)
  local list = { TOTAL }
  for _, part in ipairs(energy.parts(energy.structure(all_objects(machine)))) do list[#list + 1] = "energy." .. part end
  return list
end

--- By column, the parts that match it, or TOTAL; nil where none is of energies.
local function parts_of(machine, columns)
  local found = {}
  for _, column in ipairs(columns) do
    for _, name in ipairs(column:find "^energy%." and interval_energies.names(machine) or {}) do
      if column == name or name ~= TOTAL and core.path_matches(column, name) then
        found[column] = found[column] or {}
        table.insert(found[column], name)
      end
    end
  end
  return next(found) and found
end

--- What counts for the columns of energies; nil: there are none. `counters`: the names of the machine's statistics.
function interval_energies.new(machine, columns, statistics)
  local parts = parts_of(machine, columns)
  if not parts then return nil end
  local structure, is_there, counters = energy.structure(all_objects(machine)), {}, {}
  for _, name in ipairs(statistics) do is_there[name] = true end
  for _, name in ipairs(energy.counters(structure)) do counters[#counters + 1] = is_there[name] and name or nil end
  return setmetatable({ parts = parts, structure = structure, counters = counters, hertz = machine:clocks()[1].hertz,
    sampler = core.sampler(machine, counters), lines = {} }, Energies)
end

function Energies:has(column) return self.parts[column] ~= nil end

--- An interval of so many core cycles ends. Returns whether any object has counted anything in it.
function Energies:take(cycles)
  local text, grown, i = self.sampler:take(), {}, 0
  for number in text:gmatch "[^,]+" do
    i = i + 1
    grown[self.counters[i]] = math.tointeger(number)
  end
  local events = energy.events(self.structure, function(name) return grown[name] end, cycles / self.hertz)
  for k, count in ipairs(events) do events[k] = ("%.17g"):format(count) end
  self.lines[#self.lines + 1] = table.concat(events, " ")
  return text:find "[1-9]" ~= nil
end

--- What has been counted until now is of no interval.
function Energies:skip() self.sampler:take() end

--- For the next checkpoint.
function Energies:save(choices)
  choices["interval events"], choices["energies looked"] = self.lines, self.sampler:looked()
end

--- Goes on from what a checkpoint says; false: it is of other counters.
function Energies:resume(saved)
  if not self.sampler:look_from(saved["energies looked"] or "") then return false end
  table.move(saved["interval events"], 1, #saved["interval events"], 1, self.lines)
  return true
end

--- The run has ended with the result `r`. Returns for each interval { total =, parts = } as in r.energy, and its cells by column.
function Energies:finish(r)
  local list, cells = {}, {}
  for i, line in ipairs(self.lines) do
    list[i] = {}
    for number in line:gmatch "%S+" do table.insert(list[i], tonumber(number)) end
  end
  local rows = r.rows
  local whole = energy.events(self.structure, function(name) return rows:value(name) end, r.cycles / self.hertz)
  local energies = energy.of_intervals(r.energy, whole, list)
  for i, one in ipairs(energies) do
    cells[i] = {}
    for column, matches in pairs(self.parts) do
      local joules = 0.0
      for _, name in ipairs(matches) do joules = joules + (name == TOTAL and one.total or one.parts[name:sub(#"energy." + 1)]) end
      cells[i][column] = ("%.9g"):format(joules)
    end
  end
  return energies, cells
end

return interval_energies
