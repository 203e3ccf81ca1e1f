-- All that looks on at a run, at once: the statistics are those of a run at which nobody looks.
local harness = require "tests.lib.harness"
local ww = require "warpwright"

local home <const> = harness.folder()

local function stats_of(name, options)
  local all = { config = "gtx480", workload = "bfs", size = "small", set = { sms = 2 }, out = ("%s/%s"):format(home, name) }
  for key, value in pairs(options) do all[key] = value end
  ww.run(all)
  return harness.read(all.out .. "/stats.txt")
end

--- Everything; a policy so that its decisions are seen, too.
local function all_of(name, more)
  local options = { trace = "*", from = 1000, to = 9000, perfetto = ("%s/%s.perfetto"):format(home, name), trace_file = ("%s/%s.txt"):format(home, name),
    stats_every = "5000,1launch", histograms = "all", profile = true }
  for key, value in pairs(more) do options[key] = value end
  return stats_of(name, options)
end

for _, policy in ipairs { "gto", "mascar" } do
  harness.test(("trace, Perfetto, intervals, histograms and profile together change nothing under %s"):format(policy), function()
    local wanted = stats_of("plain_" .. policy, { policy = policy })
    harness.same_text(all_of("all_" .. policy, { policy = policy }), wanted)
    harness.same_text(all_of("threads_" .. policy, { policy = policy, threads = 2, order = "shuffled:5" }), wanted)
    for _, file in ipairs { "intervals.csv", "histograms.csv", "profile.csv" } do
      harness.same_text(harness.read(("%s/threads_%s/%s"):format(home, policy, file)), harness.read(("%s/all_%s/%s"):format(home, policy, file)), file)
    end
    local trace = harness.read(("%s/all_%s.txt"):format(home, policy))
    assert(#trace > 100000, "a trace")
    harness.same_text(harness.read(("%s/threads_%s.txt"):format(home, policy)), trace)
  end)
end

harness.finish()
