-- Figures of MeDiC: R. Ausavarungnirun et al., PACT 2015.
local kernels = require "scripts.lib.reproduce.kernels"
local kit = require "scripts.lib.reproduce.kit"

local machine <const> = "medic"
local base <const> = { name = "baseline", policy = "gto" }

local function kernel_named(name)
  for _, kernel in ipairs(kernels.medic) do
    if kernel.name == name then return kernel end
  end
end

local function kernels_named(...)
  local named = {}
  for i, name in ipairs { ... } do named[i] = kernel_named(name) end
  return named
end

-- A control of ours: warps that differ for as long as they live, as the paper says that those of
-- its applications do.
local hetero <const> = { name = "hetero", workload = "hetero" }

-- Section 2: warps differ, stay as they are, and queue --------------------------------------------

local ranges = { { name = "none", counters = { "none" } } }
for tenth = 0, 8, 2 do
  ranges[#ranges + 1] = { name = ("%d to %d %%"):format(10 * tenth, 10 * tenth + 20),
    counters = { ("from_%d"):format(10 * tenth), ("from_%d"):format(10 * tenth + 10) } }
end
ranges[#ranges + 1] = { name = "all", counters = { "all" } }

local function counted_in(r, policy, counters)
  local sum = 0
  for _, counter in ipairs(counters) do sum = sum + kit.sum(r, ("sm[*].%s.%s"):format(policy, counter)) end
  return sum
end

local function counted(r, policy)
  local sum = 0
  for _, range in ipairs(ranges) do sum = sum + counted_in(r, policy, range.counters) end
  return sum
end

--- Shares of what `policy` counts; one run has both loads and samples.
local function shares_of(policy)
  local series = {}
  for i, range in ipairs(ranges) do
    series[i] = { name = range.name, policy = "gto+load_ratios+warp_ratios:interval=20000,warm_up=100",
      value = function(r) return kit.ratio(counted_in(r, policy, range.counters), counted(r, policy)) end }
  end
  return series
end

local function has_all_ranges(values)
  for _, range in ipairs(ranges) do
    if (values[range.name] or 0) < 0.01 then return false end
  end
  return true
end

local figure_2 = kit.bars {
  id = "medic/2", title = "L2 hit ratios of single loads", unit = "share of loads that ask the L2",
  config = machine, kernels = kernels.medic, series = shares_of "load_ratios",
  headlines = function(v)
    local names, any = {}, false
    for _, kernel in ipairs(kernels.medic) do
      local values = v[kernel.name]
      any = any or next(values) ~= nil
      if has_all_ranges(values) then names[#names + 1] = kernel.name end
    end
    local what = "Three applications in which all ranges of hit ratios occur, with 1 %% of the loads or more (%s)"
    local headline = { what = what:format(table.concat(names, ", ")), kind = "holds" }
    if any then headline.ours = #names >= 3 end
    return { headline }
  end,
}

local figure_2_samples = kit.bars {
  id = "medic/2-samples", title = "L2 hit ratios of warps, in samples of 100 requests", unit = "share of samples",
  config = machine, kernels = kernels_named("SCP", "SC", "IIX", "PVC", "PVR", "SS", "BFS", "DMR", "MST", "SSSP"),
  series = shares_of "warp_ratios",
}

-- Beside the share: how far the hit ratio of a warp is from that of its window before, of 100,000
-- cycles, and from those of other warps.
local function of_persistence(name, what)
  return { name = name, policy = "gto", measure = "scripts.lib.reproduce.persistence", value = function(r) return r[what] end }
end

local persistent = kernels_named("IIX", "PVC", "PVR", "SS", "BFS", "DMR", "MST", "SSSP")
persistent[#persistent + 1] = hetero

local figure_4 = kit.bars {
  id = "medic/4", title = "Samples that find a warp of the type it was before; distances of hit ratios", unit = "share, difference of ratios",
  config = machine, kernels = persistent,
  series = {
    { name = "same type", policy = "gto+warp_ratios:interval=100000,warm_up=100",
      value = function(r) return 1 - kit.ratio(kit.sum(r, "sm[*].warp_types.changes"), counted(r, "warp_ratios")) end },
    of_persistence("a warp moves by", "moves"), of_persistence("two warps differ by", "differ"),
  },
  headlines = function(v)
    local same = v.BFS["same type"]
    return { { what = ("BFS: warps keep their type (%s of the samples)"):format(kit.shown(same)),
      kind = "holds", ours = same and same >= 0.75 } }
  end,
}

local delay_ranges = {
  { name = "0", 0 }, { name = "1 to 15", 1, 2, 4, 8 }, { name = "16 to 127", 16, 32, 64 }, { name = "128 and more", 128, 256, 512, 1024 },
}
local delay_series = {}
for i, range in ipairs(delay_ranges) do
  delay_series[i] = { name = range.name, policy = "gto+l2_delays", set = { "l2[*].rop_delay=1" }, value = function(r)
    local sum = 0
    for _, from in ipairs(range) do sum = sum + kit.sum(r, ("l2[*].delays.delay_%d"):format(from)) end
    return kit.ratio(sum, kit.sum(r, "l2[*].delays.requests"))
  end }
end

local figure_5 = kit.bars {
  id = "medic/5", title = "Cycles that requests queue at the L2, lookup of one cycle", unit = "share of requests",
  config = machine, kernels = { kernel_named "BFS", kernel_named "SSSP" }, series = delay_series,
  headlines = function(v)
    local long = (v.BFS["16 to 127"] or 0) + (v.BFS["128 and more"] or 0)
    return { { what = ("BFS: many requests queue for tens to hundreds of cycles (%.0f %%)"):format(100 * long), kind = "holds",
      ours = next(v.BFS) and long >= 0.2 } }
  end,
}

-- Section 5 ---------------------------------------------------------------------------------------

--- The harmonic mean over the kernels of an application of their speed-ups.
local function speedup(r, before)
  local speedups, cycles = {}, {}
  for _, kernel in ipairs(before.kernels) do cycles[kernel.name] = kernel.cycles end
  for _, kernel in ipairs(r.kernels) do speedups[#speedups + 1] = cycles[kernel.name] / kernel.cycles end
  return kit.mean("harmonic", speedups)
end

local rates = {}
for _, rate in ipairs { 0.1, 0.3, 0.5, 0.7 } do rates[#rates + 1] = ("gto+rand_byp:rate=%g"):format(rate) end

local series = {
  { name = "EAF", policy = "gto+eaf" },
  { name = "WIP", policy = "gto+wip" },
  { name = "WMS", policy = "gto+wms" },
  { name = "PCAL", policy = "gto+pcal" },
  { name = "Rand", best_of = rates },
  { name = "PC-Byp", policy = "gto+pc_byp" },
  { name = "WByP", policy = "gto+wbyp" },
  { name = "MeDiC", policy = "gto+medic" },
}

local function over(v, a, b) return v.mean[a] and v.mean[b] and v.mean[a] / v.mean[b] end

--- nil where one was not run.
local function pcal_ahead(v, ...)
  for _, name in ipairs { ... } do
    if not v[name].PCAL then return nil end
    if v[name].PCAL <= v[name].WByP then return false end
  end
  return true
end

local figure_7 = kit.bars {
  id = "medic/7", title = "IPC over the baseline, harmonic over kernels", unit = "speed-up",
  config = machine, kernels = kernels.medic, base = base, value = speedup, mean = "geometric", series = series,
  paper = { mean = { WIP = 1.325, WMS = 1.302, WByP = 1.336, MeDiC = 1.415 } },
  headlines = function(v)
    return {
      { what = "WIP over the baseline", kind = "gain", paper = 1.325, ours = v.mean.WIP },
      { what = "WMS over the baseline", kind = "gain", paper = 1.302, ours = v.mean.WMS },
      { what = "WByP over the baseline", kind = "gain", paper = 1.336, ours = v.mean.WByP },
      { what = "MeDiC over the baseline", kind = "gain", paper = 1.415, ours = v.mean.MeDiC },
      { what = "WIP over EAF", kind = "gain", paper = 1.122, ours = over(v, "WIP", "EAF") },
      { what = "WByP over PCAL", kind = "gain", paper = 1.128, ours = over(v, "WByP", "PCAL") },
      { what = "MeDiC over PCAL", kind = "gain", paper = 1.218, ours = over(v, "MeDiC", "PCAL") },
      { what = "MeDiC over Rand", kind = "gain", paper = 1.068, ours = over(v, "MeDiC", "Rand") },
      { what = "MeDiC over PC-Byp", kind = "gain", paper = 1.124, ours = over(v, "MeDiC", "PC-Byp") },
      { what = "PCAL is ahead of WByP on PVC, PVR, SS and BH", kind = "holds", ours = pcal_ahead(v, "PVC", "PVR", "SS", "BH") },
    }
  end,
}

local function efficiency(r, before, kernel)
  return kit.cycles(before, kernel) / kit.cycles(r, kernel) * before.energy.total / r.energy.total
end

local figure_8 = kit.bars {
  id = "medic/8", title = "IPC by energy, over the baseline", unit = "ratio",
  config = machine, kernels = kernels.medic, base = base, value = efficiency, mean = "geometric", series = series,
  headlines = function(v)
    return { { what = "MeDiC over PCAL, IPC by energy", kind = "gain", paper = 1.201, ours = over(v, "MeDiC", "PCAL") } }
  end,
}

local sensitivity = kit.sensitivity {
  id = "medic/8-sensitivity", title = "IPC by energy of MeDiC, over PCAL, with a number of the technology changed",
  unit = "ratio, geometric mean", config = machine, kernels = kernels.medic, base = { name = "PCAL", policy = "gto+pcal" },
  series = { name = "MeDiC", policy = "gto+medic" },
  ratio = function(ours, theirs, r, before) return before.cycles / r.cycles * theirs / ours end,
}

-- What the text leaves open -----------------------------------------------------------------------

local sweep_kernels <const> = { kernel_named "BFS", kernel_named "SC", kernel_named "SS", hetero }

local function sweep(id, title, variants)
  local swept = {}
  for i, variant in ipairs(variants) do swept[i] = { name = variant[1], policy = "gto+" .. variant[2] } end
  return kit.bars {
    id = id, title = title, unit = "speed-up", config = machine, kernels = sweep_kernels, base = base, value = speedup,
    mean = "geometric", series = swept,
  }
end

-- Whether it is that more fits into the L2 here than in the paper.
local all_but_rand = {}
for _, one in ipairs(series) do
  if one.policy then all_but_rand[#all_but_rand + 1] = one end
end

local small_l2 = kit.bars {
  id = "medic/small-l2", title = "An L2 of a quarter, IPC over the baseline with such a one", unit = "speed-up",
  config = machine, set = { "l2[*].size=16KiB" }, kernels = kernels_named("SC", "IIX", "PVC", "PVR", "SS", "BFS"), base = base,
  value = speedup, mean = "geometric", series = all_but_rand,
}

-- Whether it is that the banks are busier in the paper: the text does not say how many ports they have.
local one_port = kit.bars {
  id = "medic/one-port", title = "One port a bank, IPC over the baseline with such ones", unit = "speed-up",
  config = machine, set = { "l2[*].ports=1" },
  kernels = kernels_named("SC", "IIX", "PVC", "PVR", "SS", "BFS", "MST", "SSSP"), base = base, value = speedup,
  mean = "geometric", series = series,
}

-- Which warp scheduler the baseline has, the text does not say either.
local over_lrr = {}
for i, one in ipairs(series) do
  local best_of
  if one.best_of then
    best_of = {}
    for j, policy in ipairs(one.best_of) do best_of[j] = (policy:gsub("^gto", "lrr")) end
  end
  over_lrr[i] = { name = one.name, policy = one.policy and (one.policy:gsub("^gto", "lrr")), best_of = best_of }
end

local round_robin = kit.bars {
  id = "medic/lrr", title = "LRR in place of GTO, in the baseline and under all policies", unit = "speed-up",
  config = machine, kernels = kernels.medic, base = { name = "baseline", policy = "lrr" }, value = speedup, mean = "geometric",
  series = over_lrr,
}

local control = kit.bars {
  id = "medic/hetero", title = "A kernel whose warps differ persistently, IPC over the baseline", unit = "speed-up",
  config = machine, kernels = { hetero }, base = base, value = speedup, series = series,
  headlines = function(v)
    local all = v.hetero
    return { { what = "Where warps differ for long, MeDiC is ahead of EAF, PCAL, Rand and PC-Byp", kind = "holds",
      ours = all.MeDiC and all.MeDiC > math.max(all.EAF, all.PCAL, all.Rand, all["PC-Byp"]) } }
  end,
}

local cut_offs = sweep("medic/cut-offs", "MeDiC by its cut-offs: mostly-hit from, mostly-miss below", {
  { "0.7/0.2", "warp_types:mostly_miss=0.2+medic" }, { "0.7/0.35", "warp_types:mostly_miss=0.35+medic" }, { "0.7/0.5", "medic" },
  { "0.5/0.5", "warp_types:mostly_hit=0.5+medic" }, { "0.9/0.5", "warp_types:mostly_hit=0.9+medic" },
  { "0.7/0.6", "warp_types:mostly_miss=0.6+medic" },
})
local keeping = sweep("medic/keep-uses", "WIP by the uses of a slice that a step of type is worth, 0: any number", {
  { "256", "wip:keep_uses=256" }, { "1024", "wip:keep_uses=1024" }, { "4096", "wip" }, { "0", "wip:keep_uses=0" },
})

local sampling = sweep("medic/sampling", "MeDiC by the requests of a sample, and the cycles from one to the next", {
  { "25/20,000", "warp_types:interval=20000,warm_up=25+medic" }, { "100/20,000", "warp_types:interval=20000+medic" },
  { "100/100,000", "medic" }, { "400/100,000", "warp_types:warm_up=400+medic" },
  { "100/1,000,000", "warp_types:interval=1000000+medic" },
})

-- Which graphs the paper ran, the text does not say. The first is that of the other figures, whose
-- distances fit the L2 (512 KiB); those of the second are 2 MiB, with a quarter of the edges for
-- each; the third is as a map of roads is.
local function on_graph(name, size)
  return { name = name, workload = "sssp", medium = size, size = "weights=1" }
end

local graphs = kit.bars {
  id = "medic/graphs", title = "BFS by graph, IPC over the baseline on the same", unit = "speed-up", config = machine,
  kernels = {
    on_graph("R-MAT", "launches=2"), on_graph("R-MAT, 524,288 nodes", "launches=1,nodes=524288,edges=2097152"),
    on_graph("road, 262,144 nodes", "launches=2,graph=road,nodes=262144"),
  },
  base = base, value = speedup, mean = "geometric",
  series = {
    { name = "PCAL", policy = "gto+pcal" }, { name = "Rand, 30 %", policy = "gto+rand_byp:rate=0.3" },
    { name = "PC-Byp", policy = "gto+pc_byp" }, { name = "MeDiC", policy = "gto+medic" },
    { name = "MeDiC, miss below 0.2", policy = "gto+warp_types:mostly_miss=0.2+medic" },
  },
}

return { figure_2, figure_2_samples, figure_4, figure_5, figure_7, figure_8, sensitivity, small_l2, one_port, round_robin, control, cut_offs,
  keeping, sampling, graphs }
