-- Values for parameters, drawn from the rows that --describe prints and from those of policies.
local core = require "warpwright.core"
local names = require "warpwright.names"

local rows = {}

-- The rows ----------------------------------------------------------------------------------------

local by_class = {}

--- The parameters of a class by their rows: core.parameter_rows(), with `default` as a value.
function rows.of_class(class)
  if not by_class[class] then
    by_class[class] = core.parameter_rows(class)
    for _, row in ipairs(by_class[class]) do
      if row.default and (row.kind == "whole" or row.kind == "real") then
        row.default = tonumber(row.default) or core.quantity(row.default, row.unit)
      end
    end
  end
  return by_class[class]
end

local defaults = {}

--- The default of a parameter of a class; nil without one.
function rows.default_of(class, name)
  if not defaults[class] then
    defaults[class] = {}
    for _, row in ipairs(rows.of_class(class)) do defaults[class][row.name] = row.default end
  end
  return defaults[class][name]
end

--- The same of what a policy may be given, its own `rows` { default, min =, max = } by name.
function rows.of_policy(params)
  local list = {}
  for i, name in ipairs(names.sorted_keys(params)) do
    local default = params[name][1]
    list[i] = {
      name = name, unit = "", default = default, min = params[name].min, max = params[name].max,
      kind = type(default) == "boolean" and "flag" or type(default) == "string" and "text"
        or math.type(default) == "integer" and "whole" or "real",
    }
  end
  return list
end

-- Drawing -----------------------------------------------------------------------------------------

function rows.pick(rng, list) return list[rng:int(1, #list)] end

--- Is it so, in so many of 100 cases?
function rows.chance(rng, percent) return rng:int(1, 100) <= percent end

--- Units of which every value is as likely as any other.
local even = { permille = true, percent = true, fraction = true }

--- What a run of some thousand cycles can tell from anything larger.
local function highest(row)
  local default = row.default or 32
  return math.min(row.max or math.huge, default > 0 and 4 * default or 64, 1 << 20)
end

--- From `low` to `high`, as many below as above their geometric mean.
local function log_uniform(rng, low, high)
  local x = math.exp(math.log(low + 1) + rng:float() * (math.log(high + 1) - math.log(low + 1))) - 1
  return math.max(low, math.min(high, math.floor(x + 0.5)))
end

--- Most values are small, where things run out. `stingy`: of 100 values, how many are the least
-- that is legal.
local function draw_whole(rng, row, stingy)
  local low, high = math.tointeger(row.min or 0), math.tointeger(math.max(highest(row), row.min or 0))
  if row.unit == "classes" then return rng:int(0, 0xffff) end
  if even[row.unit] then return rng:int(low, math.tointeger(row.max)) end
  local kind, default = rng:int(1, 10), math.tointeger(row.default or low)
  local value
  if rows.chance(rng, stingy) then
    value = low
  elseif kind <= 2 then
    value = low + rng:int(1, 3)
  elseif kind <= 4 then
    value = rows.pick(rng, { default - 1, default + 1, default // 2, 2 * default })
  else
    value = log_uniform(rng, low, high)
  end
  value = math.max(low, math.min(high, value))
  if row.power_of_two then
    local power = 1
    while 2 * power <= value or power < low do power = 2 * power end
    value = power
  end
  return value
end

local draw_kind = { whole = draw_whole }

function draw_kind.flag(rng) return rng:int(0, 1) == 1 end

function draw_kind.choice(rng, row)
  local words = {}
  for word in row.choices:gmatch "[^|]+" do words[#words + 1] = word end
  return rows.pick(rng, words)
end

--- One of those that somebody has named for a parameter that is a text.
function draw_kind.value(rng, row) return rows.pick(rng, row.values) end

--- In steps of a hundredth, so that it is the same as text.
function draw_kind.real(rng, row)
  local low, high = row.min or 0, math.min(row.max or math.huge, 4 * math.max(1, row.default or 1))
  return math.max(low, math.floor(100 * (low + rng:float() * (high - low))) / 100)
end

--- A legal value; nil for texts, of which rows say nothing.
function rows.draw(rng, row, stingy)
  local draw = draw_kind[row.kind]
  return draw and draw(rng, row, stingy or 25)
end

return rows
