-- What the runner keeps of a run for CCWS, Figure 10: L1 misses per 1000 thread instructions under
-- LRU and under Belady's optimal replacement, of the accesses that the run made.
local ww = require "warpwright"
local child = require "scripts.lib.child"
local replay = require "scripts.lib.replay"

return function(run)
  local folder = os.tmpname()
  os.remove(folder)
  local ok, result = pcall(function()
    assert(os.execute("mkdir -p " .. child.quoted(folder)))
    local r = ww.run { config = run.config, workload = run.workload, size = run.size, set = run.set, out = false,
      policy = { run.policy, "trace_l1:folder=" .. folder } }
    local all = replay.folder(folder, {}).all
    return {
      cycles = r.cycles,
      mpki = { LRU = 1000 * all.lru.misses / r.thread_instructions, OPT = 1000 * all.optimal.misses / r.thread_instructions },
    }
  end)
  os.execute("rm -rf " .. child.quoted(folder))
  if not ok then error(result, 0) end
  return result
end
