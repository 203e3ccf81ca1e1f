-- Makes the machine of a failure smaller: it drops settings while the failure persists, and makes
-- those that stay plainer.
local case = require "scripts.lib.torture.case"

local shrink = {}

-- The same failure? -------------------------------------------------------------------------------

--- Of differences in counters those that have a counter in common are the same, unless cycles
-- differ as well.
local function is_same(failure, other)
  if not other or failure.kind ~= other.kind then return false end
  if failure.key == other.key then return true end
  if not (failure.counters and other.counters) or failure.key == "cycles" or other.key == "cycles" then return false end
  local seen = {}
  for _, counter in ipairs(failure.counters) do seen[counter] = true end
  for _, counter in ipairs(other.counters) do
    if seen[counter] then return true end
  end
  return false
end

--- Ways in which the failure may show more plainly; the last is its own.
local function plainer_modes(mode)
  local plain, modes = { order = "path", threads = 1 }, {}
  local function order(name, threads) modes[#modes + 1] = { kind = "order", order = name, threads = threads } end
  if mode.kind == "self" or mode.kind == "build" then return { mode } end
  order("reversed", 1)
  order("shuffled:1", 1)
  order("shuffled:2", 1)
  if mode.kind == "order" then
    order("path", mode.threads)
    order("restless", 1)
  end
  if mode.kind == "resume" then
    modes[#modes + 1] = { kind = "save", at = mode.at, saving = plain }
    modes[#modes + 1] = { kind = "resume", at = mode.at, saving = plain, order = "path", threads = 1 }
  end
  modes[#modes + 1] = mode
  return modes
end

--- The mode at other cycles: those of a smaller machine are others.
local function at_other_cycles(mode, cycles)
  if not mode.at then return { mode } end
  local list = {}
  for i, part in ipairs { mode.part, 0.2, 0.5, 0.8 } do
    list[i] = { part = part, at = math.max(1, math.floor(part * cycles)) }
    for _, key in ipairs { "kind", "saving", "order", "threads", "build" } do list[i][key] = mode[key] end
    if mode.again then
      local at = list[i].at
      list[i].again = { at = at + math.max(1, (cycles - at) // 2), order = mode.again.order, threads = mode.again.threads }
    end
  end
  return list
end

-- Shrinking ---------------------------------------------------------------------------------------

local Shrinking = {}
Shrinking.__index = Shrinking

--- Does the failure show with these settings? Keeps how it does.
function Shrinking:fails(settings)
  if self.runs >= self.most_runs then return false end
  self.runs = self.runs + 1
  local examination = case.examination(settings, self.options)
  local plain = examination:plain()
  if plain.status == "refused" then return false end
  for _, mode in ipairs(at_other_cycles(self.mode, plain.cycles)) do
    local failure = examination:probe(mode)
    if is_same(self.failure, failure) then
      self.found = failure
      failure.mode.part = mode.part
      return true
    end
  end
  return false
end

local function without(list, first, last)
  local rest = {}
  for i, element in ipairs(list) do
    if i < first or i > last then rest[#rest + 1] = element end
  end
  return rest
end

--- Delta debugging: drops parts of the list, smaller and smaller ones, as long as what is left
-- fails.
function Shrinking:drop(list)
  local pieces = 1
  while #list > 0 do
    local size, dropped = (#list + pieces - 1) // pieces, false
    for first = 1, #list, size do
      local rest = without(list, first, math.min(first + size - 1, #list))
      if self:fails(rest) then
        list, dropped = rest, true
        break
      end
    end
    if dropped then
      pieces = math.max(1, pieces - 1)
    elseif size == 1 then
      return list
    else
      pieces = math.min(2 * pieces, #list)
    end
  end
  return list
end

--- Plainer values in place of one: for numbers of which there are many parts, and of sizes, smaller
-- ones.
local function plainer(name, value)
  if math.type(value) ~= "integer" or value <= 1 then return {} end
  if name == "sms" or name == "channels" or name == "slices" or name:find "^size%." or name == "sms_of_a_group" then
    return { 1, 2, value // 4, value // 2, value - 1 }
  end
  return {}
end

function Shrinking:simplify(list)
  for i, setting in ipairs(list) do
    for _, value in ipairs(plainer(setting[1], setting[2])) do
      local changed = table.move(list, 1, #list, 1, {})
      changed[i] = { setting[1], value }
      if value > 0 and value < setting[2] and self:fails(changed) then
        list = changed
        break
      end
    end
  end
  return list
end

--- The smallest settings that were found to fail in the same manner: returns them, the failure as
-- it is there, and how many machines were run. `failure` is one of case.examine(); `cycles` those
-- of the plain run that it differed from.
function shrink.run(settings, failure, cycles, options)
  local self = setmetatable({ options = options, failure = failure, runs = 0, most_runs = options.most_runs or 400 }, Shrinking)
  for _, mode in ipairs(plainer_modes(failure.mode)) do
    mode.part = mode.at and mode.at / cycles
    self.mode = mode
    if self:fails(settings) then break end
  end
  if not self.found then return settings, failure, self.runs, "it does not show again" end
  self.mode, self.failure.counters = self.found.mode, self.found.counters
  local count
  repeat
    count = #settings
    settings = self:simplify(self:drop(settings))
  until #settings == count or self.runs >= self.most_runs
  return settings, self.found, self.runs
end

return shrink
