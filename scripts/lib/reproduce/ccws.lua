-- Figures of CCWS: T. G. Rogers, M. O'Connor, T. M. Aamodt, MICRO 2012 and IEEE Micro 2013, highly
-- cache-sensitive kernels.
local kernels = require "scripts.lib.reproduce.kernels"
local kit = require "scripts.lib.reproduce.kit"

local machine <const> = "fx5800_l1"
local gto <const> = { name = "GTO", policy = "gto" }

local figure_1 = kit.bars {
  id = "ccws/1", title = "An L1 of 8 MiB over one of 32 KiB, LRR", unit = "speed-up",
  config = machine, kernels = kernels.ccws, base = { name = "32 KiB", policy = "lrr" }, value = kit.speedup, mean = "harmonic",
  series = { { name = "8 MiB", policy = "lrr", set = { "sm[*].l1d.size=8MiB" } } },
  headlines = function(_, t)
    local count, fast = 0, 0
    for _, row in ipairs(t.rows) do
      if not row.mean then count, fast = count + 1, fast + (row.values["8 MiB"] >= 3 and 1 or 0) end
    end
    return { { what = ("three times as fast or more (%d of %d)"):format(fast, count), kind = "holds", ours = count > 0 and fast == count } }
  end,
}

-- Locality ----------------------------------------------------------------------------------------

local function per_kilo_instruction(...)
  local counters = { ... }
  return function(r) return 1000 * kit.sum(r, table.unpack(counters)) / r.thread_instructions end
end

local reuse <const> = "sm[*].l1d.reuse."
local misses = per_kilo_instruction("sm[*].l1d.read_misses")
local inter = per_kilo_instruction(reuse .. "intra_cta_hits", reuse .. "intra_core_hits")
local intra = per_kilo_instruction(reuse .. "intra_thread_hits", reuse .. "inter_thread_hits")

local function locality_series(policy)
  return {
    { name = "misses", policy = policy, value = misses },
    { name = "intra-warp hits", policy = policy, value = intra },
    { name = "inter-warp hits", policy = policy, value = inter },
  }
end

local figure_2 = kit.bars {
  id = "ccws/2", title = "Unbounded L1: misses and hits by who brought the line", unit = "per 1000 thread instructions",
  config = machine, kernels = kernels.ccws, mean = "arithmetic", series = locality_series "lrr+unbounded:l2=false+locality:since=first",
  headlines = function(v)
    local a, b = v.mean["intra-warp hits"], v.mean["inter-warp hits"]
    return { { what = "hits are mostly intra-warp", kind = "holds", ours = a and b and a > b } }
  end,
}

local counters_11 = { "misses", "intra-thread", "inter-thread", "inter-warp" }
local values_11 = { misses, per_kilo_instruction(reuse .. "intra_thread_hits"), per_kilo_instruction(reuse .. "inter_thread_hits"), inter }
local series_11 = {}
for _, policy in ipairs { "lrr", "gto", "ccws" } do
  for i, counter in ipairs(counters_11) do
    series_11[#series_11 + 1] = { name = ("%s, %s"):format(policy, counter), policy = policy .. "+locality:since=first", value = values_11[i] }
  end
end

local figure_11 = kit.bars {
  id = "ccws/11", title = "Misses and hits by who brought the line", unit = "per 1000 thread instructions",
  config = machine, kernels = kernels.ccws, mean = "arithmetic", series = series_11,
  headlines = function(v)
    local bfs = v.BFS
    local thread, others = bfs["gto, intra-thread"], bfs["gto, inter-thread"]
    return {
      { what = "BFS: intra-warp hits that are inter-thread", kind = "share", paper = 0.30,
        ours = thread and kit.ratio(others, thread + others) },
      { what = "BFS: inter-warp hits, CCWS over GTO", kind = "gain", paper = 1.23,
        ours = bfs["ccws, inter-warp"] and kit.ratio(bfs["ccws, inter-warp"], bfs["gto, inter-warp"]) },
    }
  end,
}

-- Limits ------------------------------------------------------------------------------------------

local limits <const> = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32 }
local swl, swl_series = {}, {}
for i, limit in ipairs(limits) do
  swl[i] = ("swl:limit=%d"):format(limit)
  swl_series[i] = { name = tostring(limit), policy = swl[i] }
end

local figure_5 = kit.bars {
  id = "ccws/5", title = "IPC against the static wavefront limit, over no limit", unit = "speed-up",
  config = machine, kernels = kernels.ccws, base = gto, value = kit.speedup, mean = "harmonic", series = swl_series,
  headlines = function(v)
    local best, best_value = nil, 0
    for _, limit in ipairs(limits) do
      local value = v.mean[tostring(limit)]
      if value and value > best_value then best, best_value = limit, value end
    end
    return { { what = ("the best limit lies inside of 1 to 32 (%s)"):format(best or "-"), kind = "holds",
      ours = best and best > 1 and best < 32 } }
  end,
}

local figure_9 = kit.bars {
  id = "ccws/9", title = "IPC over GTO", unit = "speed-up",
  config = machine, kernels = kernels.ccws, base = gto, value = kit.speedup, mean = "harmonic",
  series = {
    { name = "LRR", policy = "lrr" }, { name = "2LVL-GTO", policy = "two_level" }, { name = "Best-SWL", best_of = swl },
    { name = "CCWS", policy = "ccws" }, { name = "CCWS, edge=top", policy = "ccws:edge=top" },
  },
  paper = { mean = { CCWS = 1.63 } },
  headlines = function(v)
    local m = v.mean
    return {
      { what = "CCWS over GTO", kind = "gain", paper = 1.63, ours = m.CCWS },
      { what = "CCWS over two-level", kind = "gain", paper = 1.72, ours = m.CCWS and m["2LVL-GTO"] and m.CCWS / m["2LVL-GTO"] },
    }
  end,
}

-- Replacement -------------------------------------------------------------------------------------

local function replayed(kind)
  return function(r) return r.mpki[kind] end
end

local series_10 = {}
for _, policy in ipairs { "lrr", "gto", "two_level", "ccws" } do
  for _, kind in ipairs { "LRU", "OPT" } do
    series_10[#series_10 + 1] = { name = ("%s, %s"):format(policy, kind), policy = policy, value = replayed(kind),
      measure = "scripts.lib.reproduce.replacement" }
  end
end

local figure_10 = kit.bars {
  id = "ccws/10", title = "L1 misses under LRU and under Belady's optimal replacement", unit = "per 1000 thread instructions",
  config = machine, kernels = kernels.ccws, mean = "arithmetic", series = series_10,
  headlines = function(v)
    local ours, poor = v.mean["ccws, LRU"], v.mean["lrr, OPT"]
    return { { what = ("CCWS with LRU misses less than LRR with OPT (%s, %s)"):format(kit.shown(ours, "%.1f"), kit.shown(poor, "%.1f")), kind = "holds",
      ours = ours and poor and ours < poor } }
  end,
}

return { figure_1, figure_2, figure_5, figure_9, figure_10, figure_11 }
