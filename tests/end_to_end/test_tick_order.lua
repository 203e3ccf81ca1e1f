-- The order in which objects are ticked, and repetition, change no byte of the stats.
local ww = require "warpwright"
local harness = require "harness"

local function stats_of(workload, order)
  local out = ("%s/%s-%s"):format(harness.folder(), workload, order)
  ww.run { config = "gtx480", workload = workload, size = "small", out = out, order = order }
  return harness.read(out .. "/stats.txt"), harness.read(out .. "/stats.json")
end

for _, workload in ipairs { "vecadd", "sgemm", "spmv", "kmeans", "bfs", "gesummv" } do
  local text, json = stats_of(workload, "path")
  for _, order in ipairs { "path", "reversed", "shuffled:1" } do
    harness.test(("%s ticked in order %s"):format(workload, order), function()
      local other_text, other_json = stats_of(workload, order)
      assert(other_text == text, "stats.txt differs")
      assert(other_json == json, "stats.json differs")
    end)
  end
end

harness.finish()
