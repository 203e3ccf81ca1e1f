-- The order in which objects are ticked, and repetition, change no byte of the stats, on any machine.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local function stats_of(config, workload, order)
  local out = ("%s/%s-%s-%s"):format(harness.folder(), config, workload, order)
  ww.run { config = config, workload = workload, size = "small", out = out, order = order }
  return harness.read(out .. "/stats.txt"), harness.read(out .. "/stats.json")
end

local all = { "vecadd", "sgemm", "spmv", "kmeans", "bfs", "gesummv" }

for _, case in ipairs { { "gtx480", all }, { "gtx480_gpgpusim4", all }, { "fx5800_l1", { "kmeans", "bfs" } } } do
  local config = case[1]
  for _, workload in ipairs(case[2]) do
    local text, json = stats_of(config, workload, "path")
    for _, order in ipairs { "path", "reversed", "shuffled:1", "restless" } do
      harness.test(("%s on %s ticked in order %s"):format(workload, config, order), function()
        local other_text, other_json = stats_of(config, workload, order)
        assert(other_text == text, "stats.txt differs")
        assert(other_json == json, "stats.json differs")
      end)
    end
  end
end

harness.finish()
