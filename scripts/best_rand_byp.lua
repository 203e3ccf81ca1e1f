-- Rand of the MeDiC paper (section 5, note 3): random bypassing of the L2 at the rate that is best
-- for the workload.
local sweep = require "scripts.lib.sweep"

sweep.main({
  name = "best_rand_byp",
  help = [[
Runs a workload under policy rand_byp at rates from 0.1 to 1, in steps of 0.1, and prints the cycles of each and the best
rate. The first line is the run without bypassing.
]],
  parameter = "rate",
  values_are = "a part from 0 to 1",
  read_value = function(word)
    local rate = tonumber(word)
    return rate and rate >= 0 and rate <= 1 and rate
  end,
  all_values = function()
    local rates = {}
    for i = 1, 10 do rates[i] = i / 10 end
    return rates
  end,
  policy = function(rate) return ("rand_byp:rate=%.3f"):format(rate) end,
  best = "a rate of %.3g",
  miss_rate = { name = "L2 miss rate", of = "l2", ratio = "miss_rate" },
}, arg)
