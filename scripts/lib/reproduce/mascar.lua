-- Figures of Mascar: A. Sethia, D. A. Jamshidi, S. Mahlke, HPCA 2015.
local kernels = require "scripts.lib.reproduce.kernels"
local kit = require "scripts.lib.reproduce.kit"
local names = require "warpwright.names"

local machine <const> = "gtx480_mascar"
local lrr <const> = { name = "LRR", policy = "lrr" }

--- Of the cycles of all SMs.
local function sm_share(counter)
  return function(r) return kit.ratio(kit.sum(r, counter), r.cycles * r.sms) end
end

local schedulers = {
  { name = "GTO", policy = "gto" },
  { name = "OWL", policy = "owl" },
  { name = "CCWS", policy = "ccws" },
  { name = "Mascar", policy = "mascar" },
}

-- Section II-A ------------------------------------------------------------------------------------

local figure_4 = kit.bars {
  id = "mascar/4", title = "More memory resources, over LRR", unit = "speed-up",
  config = machine, kernels = kernels.mascar_memory, base = lrr, value = kit.speedup, mean = "geometric",
  series = {
    { name = "MSHRs and queues", policy = "lrr+perfect:associative=false,memory=1" },
    { name = "fully associative", policy = "lrr+perfect:entries=0,memory=1" },
    { name = "DRAM +20%", policy = "lrr+perfect:entries=0,associative=false" },
    { name = "all", policy = "lrr+perfect" },
  },
  paper = { mean = { all = 1.33 } },
  headlines = function(v) return { { what = "all resources together", kind = "gain", paper = 1.33, ours = v.mean.all } } end,
}

-- Section IV --------------------------------------------------------------------------------------

-- Two-level: the related work's TLS, by round robin. Re-execution "alone" is the baseline with the
-- queue: no other order of warps.
local memory_series = {
  { name = "two-level", policy = "two_level:arbitration=lrr" }, schedulers[1], schedulers[2], schedulers[3],
  { name = "re-execution", policy = "lrr+mascar:scheduling=false" }, schedulers[4],
}

local figure_9 = kit.bars {
  id = "mascar/9", title = "Memory-intensive kernels, over LRR", unit = "speed-up",
  config = machine, kernels = kernels.mascar_memory, base = lrr, value = kit.speedup, mean = "geometric", series = memory_series,
  paper = {
    ["mean"] = { ["two-level"] = 1.015, GTO = 1.13, OWL = 1.04, CCWS = 1.24, Mascar = 1.34 },
    ["mean, insensitive"] = { GTO = 1.04, CCWS = 1.04, Mascar = 1.17 },
    ["mean, sensitive"] = { GTO = 1.24, CCWS = 1.55, Mascar = 1.56, ["re-execution"] = 1.35 },
  },
  headlines = function(v)
    local sensitive = v["mean, sensitive"]
    return {
      { what = "GTO over LRR", kind = "gain", paper = 1.13, ours = v.mean.GTO },
      { what = "OWL over LRR", kind = "gain", paper = 1.04, ours = v.mean.OWL },
      { what = "CCWS over LRR", kind = "gain", paper = 1.24, ours = v.mean.CCWS },
      { what = "Mascar over LRR", kind = "gain", paper = 1.34, ours = v.mean.Mascar },
      { what = "Mascar over GTO", kind = "gain", paper = 1.19,
        ours = v.mean.GTO and v.mean.Mascar and v.mean.Mascar / v.mean.GTO },
      { what = "cache-sensitive: Mascar", kind = "gain", paper = 1.56, ours = sensitive.Mascar },
      { what = "cache-sensitive: re-execution alone", kind = "gain", paper = 1.35, ours = sensitive["re-execution"] },
      { what = "cache-sensitive: CCWS", kind = "gain", paper = 1.55, ours = sensitive.CCWS },
      { what = "cache-insensitive: Mascar", kind = "gain", paper = 1.17, ours = v["mean, insensitive"].Mascar },
    }
  end,
}

--- How far a value of the rows is from 1 at most, and where.
local function farthest(t, columns)
  local most, where = 0, nil
  for _, row in ipairs(t.rows) do
    for _, column in ipairs(columns) do
      local value = row.values[column]
      if value and not row.mean and math.abs(value - 1) > most then
        most, where = math.abs(value - 1), ("%s, %s: %.3f"):format(row.name, column, value)
      end
    end
  end
  return most, where
end

-- The 64 boxes of lavaMD's medium size all run at once, four or five on an SM, and which box comes
-- last decides on 7 %. 216 are nearly twice as many as the SMs hold (`paper` has 1000). The sweep
-- below and the matrices have the medium size.
local compute_kernels = {}
for i, kernel in ipairs(kernels.mascar_compute) do
  local more = kernel.name == "lavaMD" and { medium = "width=6,height=6,depth=6" }
  compute_kernels[i] = more and setmetatable(more, { __index = kernel }) or kernel
end

local figure_10 = kit.bars {
  id = "mascar/10", title = "Compute-intensive kernels, over LRR", unit = "speed-up",
  config = machine, kernels = compute_kernels, base = lrr, value = kit.speedup, mean = "geometric", series = schedulers,
  paper = { mean = { GTO = 1.0, OWL = 1.0, CCWS = 1.0, Mascar = 1.015 } },
  headlines = function(v, t)
    local list = {}
    for _, series in ipairs(schedulers) do
      local mean = v.mean[series.name]
      list[#list + 1] = { what = ("%s: mean within 1.5 %% of LRR (%s)"):format(series.name, kit.shown(mean, "%.3f")),
        kind = "holds", ours = mean and math.abs(mean - 1) <= 0.0151 }
    end
    local most, where = farthest(t, { "Mascar" })
    list[#list + 1] = { what = ("Mascar: each kernel within 5 %% (%s)"):format(where or "-"), kind = "holds",
      ours = where and most <= 0.05 }
    return list
  end,
}

local figure_11 = kit.bars {
  id = "mascar/11", title = "Cycles in which the load/store unit stalls", unit = "share",
  config = machine, kernels = kernels.mascar_memory, value = sm_share "sm[*].lsu.stall_cycles", mean = "arithmetic",
  series = { lrr, schedulers[4] },
  paper = { mean = { LRR = 0.40, Mascar = 0.20 } },
  headlines = function(v)
    return {
      { what = "stalls under LRR", kind = "share", paper = 0.40, ours = v.mean.LRR },
      { what = "stalls under Mascar", kind = "share", paper = 0.20, ours = v.mean.Mascar },
    }
  end,
}

--- MP mode lasts while one of the caches behind the load/store unit is saturated: at least as long
-- as the one that is longest.
local function mp_share(r)
  local most = 0
  for _, cache in ipairs { "l1d", "texture_cache", "constant_cache" } do
    most = math.max(most, sm_share("sm[*]." .. cache .. ".saturated_cycles")(r))
  end
  return most
end

local figure_12 = kit.bars {
  id = "mascar/12", title = "Time in memory access priority (MP) mode, at least", unit = "share",
  config = machine, kernels = kernels.mascar_memory, mean = "arithmetic", value = mp_share,
  series = { schedulers[4] },
  paper = { ["kmeans-1"] = { Mascar = 0.875 }, bfs = { Mascar = 0.875 }, mummer = { Mascar = 0.875 }, particle = { Mascar = 0.875 } },
  headlines = function(v)
    local list = {}
    for _, name in ipairs { "kmeans-1", "bfs", "particle", "mummer" } do
      list[#list + 1] = { what = name .. ": 85 to 90 % of the time", kind = "share", paper = 0.875, ours = v[name].Mascar }
    end
    return list
  end,
}

local function hit_rate(r)
  local hits, lookups = kit.sum(r, "sm[*].l1d.read_hits", "sm[*].l1d.local_read_hits"), kit.sum(r, "sm[*].l1d.read_hits",
    "sm[*].l1d.read_misses", "sm[*].l1d.read_merges", "sm[*].l1d.local_read_hits", "sm[*].l1d.local_read_misses",
    "sm[*].l1d.local_read_merges")
  return kit.ratio(hits, lookups)
end

local sensitive_kernels = {}
for _, kernel in ipairs(kernels.mascar_memory) do
  if kernel.group == "sensitive" then sensitive_kernels[#sensitive_kernels + 1] = kernel end
end

--- In how many rows column a has the largest value.
local function largest_in(t, a, b)
  local count = 0
  for _, row in ipairs(t.rows) do
    if not row.mean and (row.values[a] or 0) > (row.values[b] or 0) then count = count + 1 end
  end
  return count
end

local figure_13 = kit.bars {
  id = "mascar/13", title = "L1 hits of loads, cache-sensitive kernels", unit = "share", config = machine, kernels = sensitive_kernels,
  value = hit_rate, mean = "arithmetic",
  series = { lrr, schedulers[3], { name = "16 entries", policy = "mascar:entries=16" }, schedulers[4] },
  headlines = function(_, t)
    return {
      { what = ("Mascar hits more often than LRR on each (%d of %d)"):format(largest_in(t, "Mascar", "LRR"), math.max(0, #t.rows - 1)),
        kind = "holds", ours = largest_in(t, "Mascar", "LRR") == #t.rows - 1 },
      { what = "CCWS ahead on some, Mascar on others", kind = "holds",
        ours = largest_in(t, "CCWS", "Mascar") > 0 and largest_in(t, "Mascar", "CCWS") > 0 },
    }
  end,
}

-- Energy: the paper's four components -------------------------------------------------------------

local components = {
  DRAM = function(part) return part:find "^dram" end,
  L1D = function(part) return part:find "^l1d" end,
  leakage = function(part) return part == "leakage" end,
}
components.others = function(part) return not (components.DRAM(part) or components.L1D(part) or components.leakage(part)) end

local function energy_of(component)
  return function(r, base)
    local sum = 0
    for _, part in ipairs(names.sorted_keys(r.energy.parts)) do
      if components[component](part) then sum = sum + r.energy.parts[part] end
    end
    return sum / base.energy.total
  end
end

--- Whether DRAM takes more (sign 1) or less (-1) under Mascar on each of some kernels; nil where
-- one was not run.
local function dram(v, sign, ...)
  for _, name in ipairs { ... } do
    local before, after = v[name]["DRAM, LRR"], v[name]["DRAM, Mascar"]
    if not before then return nil end
    if sign * (after - before) <= 0 then return false end
  end
  return true
end

local figure_14 = kit.bars {
  id = "mascar/14", title = "Energy, of LRR's total", unit = "share", config = machine, kernels = kernels.mascar_memory, base = lrr,
  mean = "arithmetic",
  series = {
    { name = "DRAM, LRR", policy = "lrr", value = energy_of "DRAM" },
    { name = "DRAM, Mascar", policy = "mascar", value = energy_of "DRAM" },
    { name = "L1D, LRR", policy = "lrr", value = energy_of "L1D" },
    { name = "L1D, Mascar", policy = "mascar", value = energy_of "L1D" },
    { name = "leakage, LRR", policy = "lrr", value = energy_of "leakage" },
    { name = "leakage, Mascar", policy = "mascar", value = energy_of "leakage" },
    { name = "others, LRR", policy = "lrr", value = energy_of "others" },
    { name = "others, Mascar", policy = "mascar", value = energy_of "others" },
    { name = "total, Mascar", policy = "mascar", value = function(r, base) return r.energy.total / base.energy.total end },
  },
  paper = { mean = { ["total, Mascar"] = 0.88 } },
  headlines = function(v)
    local mean = v.mean
    local function saved(component)
      return mean[component .. ", LRR"] and mean[component .. ", LRR"] - mean[component .. ", Mascar"]
    end
    return {
      { what = "energy under Mascar", kind = "gain", paper = 0.88, ours = mean["total, Mascar"] },
      { what = "saved by less leakage, of the total", kind = "share", paper = 0.07, ours = saved "leakage" },
      { what = "saved in the others, of the total", kind = "share", paper = 0.035, ours = saved "others" },
      { what = "DRAM takes less on kmeans-1, particle and spmv", kind = "holds", ours = dram(v, -1, "kmeans-1", "particle", "spmv") },
      { what = "DRAM takes more on srad-2, mrig-2 and lbm", kind = "holds", ours = dram(v, 1, "srad-2", "mrig-2", "lbm") },
    }
  end,
}

local sensitivity = kit.sensitivity {
  id = "mascar/14-sensitivity", title = "Energy of Mascar, of LRR's, with a number of the technology changed", unit = "ratio, geometric mean",
  config = machine, kernels = kernels.mascar_memory, base = lrr, series = schedulers[4],
  ratio = function(mascar, before) return mascar / before end,
}

-- Which kernels are cache-sensitive ---------------------------------------------------------------

local cache_sensitivity = kit.bars {
  id = "mascar/cache-sensitivity", title = "L1 and texture cache four times as large, LRR", unit = "speed-up",
  config = machine, kernels = kernels.mascar_memory, base = lrr, value = kit.speedup,
  series = { { name = "four times", policy = "lrr",
    set = { "sm[*].l1d.size=128KiB", "sm[*].l1d.ways=16", "sm[*].texture_cache.size=48KiB" } } }, -- the same sets
}

-- Sweeps: what the paper tried, and what it leaves open -------------------------------------------

local function sweep(id, title, swept, series, headlines)
  return kit.bars {
    id = id, title = title, unit = "speed-up", config = machine, kernels = swept, base = lrr, value = kit.speedup,
    mean = "geometric", series = series, headlines = headlines,
  }
end

--- Both sets of the paper, by set.
local all_kernels = {}
for _, set in ipairs { { "mascar_memory", "memory" }, { "mascar_compute", "compute" } } do
  for _, kernel in ipairs(kernels[set[1]]) do
    all_kernels[#all_kernels + 1] = setmetatable({ group = set[2] }, { __index = kernel })
  end
end

local entries = {}
for i, count in ipairs { 4, 8, 16, 32, 64 } do
  entries[i] = { name = tostring(count), policy = ("mascar:entries=%d"):format(count) }
end

local queue = sweep("mascar/queue", "Entries of the re-execution queue, over LRR", sensitive_kernels, entries, function(v)
  local few, many = v.mean["16"], v.mean["64"]
  return { { what = "16 to 32 entries suffice: 32 within 2 % of 64", kind = "holds",
    ours = few and v.mean["32"] and math.abs(v.mean["32"] / many - 1) <= 0.02 } }
end)

local marks = {}
for _, pair in ipairs { { 0, 125 }, { 125, 125 }, { 250, 0 }, { 250, 250 }, { 400, 100 }, { 500, 400 } } do
  marks[#marks + 1] = { name = ("%d/%d"):format(pair[1], pair[2]), policy = ("mascar:free=%d,relief=%d"):format(pair[1], pair[2]) }
end
local saturation = sweep("mascar/saturation", "Saturated from so many permille free on / relieved with so many more, over LRR",
  all_kernels, marks)

return { figure_4, figure_9, figure_10, figure_11, figure_12, figure_13, figure_14,
  sensitivity, cache_sensitivity, queue, saturation }
