-- Best-SWL: static wavefront limiting with the best of all limits, found by trying each.
local ww = require "warpwright"
local sweep = require "scripts.lib.sweep"

--- Warps of a scheduler: 1, 2, ... up to the most that any SM has.
local function all_limits(options)
  local sim, most, limits = ww.build(options.config, { set = options.set }), 0, {}
  for _, object in ipairs(sim.machine:objects()) do
    if object.class == "SM" then most = math.max(most, math.ceil(object.warps / object.schedulers)) end
  end
  sim:close()
  for limit = 1, most do limits[limit] = limit end
  return limits
end

sweep.main({
  name = "best_swl",
  help = [[
Runs a workload under policy swl with every limit of active warps per scheduler, from 1 to what an SM holds, and prints
the cycles of each and the best limit. The first line is the run without a limit. A limit under which every counter is as
without one is never reached: it ends the sweep.
]],
  parameter = "limit",
  values_are = "a number of warps",
  read_value = function(word)
    local limit = math.tointeger(tonumber(word))
    return limit and limit >= 1 and limit
  end,
  all_values = all_limits,
  policy = function(limit) return "swl:limit=" .. limit end,
  best = "%d warps per scheduler",
  miss_rate = { name = "L1 miss rate", of = "l1d", ratio = "read_miss_rate" },
  ends_without_effect = true,
}, arg)
