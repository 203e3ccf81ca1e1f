-- Policies: policy "name" { doc =, KNOB = value ... }. A knob is a parameter that the policy sets on every object of a
-- class.
local core = require "warpwright.core"
local names = require "warpwright.names"

local knobs = {
  order = { class = "SM", parameter = "scheduler" }, -- in which order the schedulers prefer warps
}

local Policy = { __name = "policy" }

function Policy:__newindex(name)
  core.user_error(("policy %s: there is no event '%s'"):format(rawget(self, "name"), tostring(name)))
end

local policy = {}

function policy.is_policy(value) return getmetatable(value) == Policy end

--- What the policy sets, for machine.build().
function policy.knobs(p)
  local settings = {}
  for _, name in ipairs(names.sorted_keys(knobs)) do
    if p.settings[name] ~= nil then
      local knob = knobs[name]
      settings[#settings + 1] = {
        class = knob.class,
        parameter = knob.parameter,
        value = p.settings[name],
        what = ("policy %s: %s"):format(p.name, name),
      }
    end
  end
  return settings
end

local function define(_, name)
  if type(name) ~= "string" then core.user_error('policy: a name is wanted: policy "name" {...}') end
  return function(settings)
    local legal = names.sorted_keys(knobs)
    table.insert(legal, 1, "doc")
    names.check_keys("policy " .. name, settings, legal)
    return setmetatable({ name = name, doc = settings.doc, settings = settings }, Policy)
  end
end

return setmetatable(policy, { __call = define })
