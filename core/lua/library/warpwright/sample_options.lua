-- What a user asks for with --sample.
local core = require "warpwright.core"
local names = require "warpwright.names"

local sample_options = {}

local LEAST_CYCLES <const> = 8000 -- of a warm-up, of a window, unless the user says so

local function refuse(text)
  names.expected("sample", "error=3%, the half-width of the 95% interval of cycles; windows=N of each launch, 3 or more; or budget=5%, the part "
    .. "of the instructions that has timing; beside it seed=N, and cycles=N, the least that a warm-up and a window take", text)
end

local function percent(text)
  local number = tonumber(text:match "^([%d.]+)%%$")
  return number and number > 0 and number <= 100 and number / 100 or nil
end

local least_of <const> = { windows = 3, seed = 0, cycles = 1 }

--- "error=3%,seed=1" as { error = 0.03, seed = 1 }.
function sample_options.read(text)
  local given, goals = { seed = 1, cycles = LEAST_CYCLES }, 0
  if type(text) ~= "string" or text == "" then refuse(text) end
  for word in (text .. ","):gmatch "([^,]*)," do
    local name, value = word:match "^(%l+)=(.+)$"
    if name == "error" or name == "budget" then
      value = percent(value)
    elseif least_of[name] then
      value = math.tointeger(tonumber(value))
      if value and (value < least_of[name] or value > 1 << 30) then value = nil end
    else
      value = nil
    end
    if not value then refuse(text) end
    goals = goals + ((name == "seed" or name == "cycles") and 0 or 1)
    given[name] = value
  end
  if goals ~= 1 then refuse(text) end
  return given
end

local excluded <const> = { "memcheck", "profile", "fast_forward" }

--- Errors for options that cannot be beside it, or are nothing without it.
function sample_options.check(options)
  if not options.sample then core.user_error "jobs: expected sample with it, got none" end
  sample_options.read(options.sample)
  local jobs = options.jobs or 1
  if math.type(jobs) ~= "integer" or jobs < 1 then names.expected("jobs", "a whole number from 1 on", jobs) end
  for _, name in ipairs(excluded) do
    if options[name] then core.user_error(("sample: expected a run without %s, got one with it"):format(name)) end
  end
end

return sample_options
