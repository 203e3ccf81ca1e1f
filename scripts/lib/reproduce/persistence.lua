-- What the runner keeps of a run for MeDiC, Figure 4: how far the L2 hit ratio of a warp is from the one that it had in the
-- window before, and how far from that of another warp in the same window, on average. Warps that differ, and stay as they
-- are, have little of the first beside the second.
local ww = require "warpwright"
local core = require "warpwright.core"

local window <const> = 100000 -- cycles
local least <const> = 100 -- requests of a warp in a window that counts

--- The rows of all warps of the machine.
local function warps_of(sim)
  local warps = {}
  for _, sm in ipairs(sim:objects "SM") do
    for warp = 0, sm.warps - 1 do
      local row = sm.path .. ".warp_curves.%s_" .. warp
      warps[#warps + 1] = { requests = row:format "requests", hits = row:format "hits", asked = 0, hit = 0 }
    end
  end
  return warps
end

--- The hit ratio of a warp since the last call, nil of too few requests.
local function ratio_since(warp, r)
  local asked, hit = r[warp.requests], r[warp.hits]
  local requests, hits = asked - warp.asked, hit - warp.hit
  warp.asked, warp.hit = asked, hit
  return requests >= least and hits / requests or nil
end

--- The mean distance of two of these numbers, a list that it sorts.
local function mean_distance(values)
  table.sort(values)
  local sum, n = 0.0, #values
  for i, value in ipairs(values) do sum = sum + (2 * i - n - 1) * value end
  return 2 * sum / (n * (n - 1))
end

return function(run)
  local curves = core.home_path "scripts/lib/warp_curves.lua"
  local sim = ww.build(run.config, { policy = { run.policy, "warp_ratios:interval=20000,warm_up=50", curves }, set = run.set })
  sim:start(run.workload, run.size)
  local warps, until_cycle, ended = warps_of(sim), 0, false
  local moves, moved, distances, pairs_of = 0, 0.0, 0.0, 0
  while not ended do
    until_cycle = until_cycle + window
    ended = sim:run { until_cycle = until_cycle }
    local r, ratios = sim:result(), {}
    for _, warp in ipairs(warps) do
      local ratio = ratio_since(warp, r)
      if ratio and warp.before then moves, moved = moves + 1, moved + math.abs(ratio - warp.before) end
      warp.before = ratio
      ratios[#ratios + 1] = ratio
    end
    if #ratios > 1 then pairs_of, distances = pairs_of + #ratios, distances + #ratios * mean_distance(ratios) end
  end
  return { cycles = sim:result().cycles, moves = moves > 0 and moved / moves or 0.0, differ = pairs_of > 0 and distances / pairs_of or 0.0 }
end
