-- What scripts/sampling keeps of a run, exact or sampled: a `measure` of warpwright.runner.
local ww = require "warpwright"
local core = require "warpwright.core"

--- Counters and ratios, with the half-widths of their intervals.
return function(run)
  local before = core.host().cpu_seconds
  local r = ww.run { config = run.config, workload = run.workload, size = run.size, policy = run.policy, set = run.set,
    sample = run.sample, out = false }
  local values, widths = {}, {}
  for name, value in r:stats() do
    values[name] = value
    widths[name] = r.sampled and r:interval(name) or nil
  end
  local sampled = r.sampled
  return { values = values, widths = widths, checks = r.checks, cpu_seconds = core.host().cpu_seconds - before,
    sampled = sampled and { launches = sampled.launches, sampled = sampled.sampled, like_others = sampled.like_others,
      exact = sampled.exact, share = sampled.share_with_timing, lines = sampled.lines } }
end
