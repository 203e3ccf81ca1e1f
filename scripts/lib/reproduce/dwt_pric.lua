-- Figures of DWT-PRIC: M. Khairy, M. Zahran, A. Wassal, GPU cache management by bypassing,
-- throttling and interleaving.
local kernels = require "scripts.lib.reproduce.kernels"
local kit = require "scripts.lib.reproduce.kit"

-- The paper's machine has gtx480's table and latencies of its own.
local machine <const> = "gtx480_dwt_pric"
local gto <const> = { name = "GTO", policy = "gto" }
local dwt_pric <const> = { name = "DWT-PRIC", policy = "dwt_pric" }

local function of_groups(...)
  local found = {}
  for _, group in ipairs { ... } do
    for _, kernel in ipairs(kernels.dwt_pric) do
      if kernel.group == group then found[#found + 1] = kernel end
    end
  end
  return found
end

local contention = of_groups("conflict", "thrashing", "both")

--- GTO beside another policy.
local function with(policy) return "gto+" .. policy end

--- A figure whose title names the machine.
local function bars(o)
  if o.config == machine then o.title = o.title .. ", on " .. machine end
  return kit.bars(o)
end

-- Section 3: what limits the caches ---------------------------------------------------------------

local figure_2 = bars {
  id = "dwt-pric/2", title = "No caches, and unbounded ones, over the caches as they are", unit = "speed-up",
  config = machine, kernels = kernels.dwt_pric, base = gto, value = kit.speedup, mean = "harmonic",
  series = { { name = "no caches", policy = with "bypass_all" }, { name = "unbounded", policy = with "unbounded" } },
  headlines = function(v)
    local list = {}
    for _, name in ipairs { "BLK", "Sprod", "VAdd" } do
      local value = v[name]["no caches"]
      list[#list + 1] = { what = ("%s is best without caches (%s)"):format(name, kit.shown(value)), kind = "holds",
        ours = value and value > 1 and value >= v[name].unbounded }
    end
    for _, group in ipairs { "conflict", "thrashing", "both" } do
      local value = v["mean, " .. group].unbounded
      list[#list + 1] = { what = ("%s: unbounded caches are better (%s)"):format(group, kit.shown(value)), kind = "holds",
        ours = value and value > 1.5 }
    end
    local friendly = v["mean, friendly"].unbounded
    list[#list + 1] = { what = ("friendly: unbounded about as good (%s)"):format(kit.shown(friendly)), kind = "holds",
      ours = friendly and friendly < 1.1 }
    return list
  end,
}

--- Of all hits and merges of a cache, by who touched the line before.
local function locality(cache, kind)
  return function(r)
    local all = 0
    for _, class in ipairs { "intra_thread", "inter_thread", "intra_cta", "intra_core", "inter_core", "inter_kernel" } do
      all = all + kit.sum(r, cache .. class .. "_hits", cache .. class .. "_merges")
    end
    local part = 0
    for _, class in ipairs(kind) do part = part + kit.sum(r, cache .. class .. "_hits", cache .. class .. "_merges") end
    return kit.ratio(part, all)
  end
end

local l1 <const>, l2 <const> = "sm[*].l1d.reuse.", "l2[*].reuse."
local l1_unbounded <const>, l2_unbounded <const> = with "unbounded:l2=false+locality", with "unbounded:l1=false+locality"
local figure_3 = bars {
  id = "dwt-pric/3", title = "Whose lines are hit, unbounded L1, and L2 below a bounded one", unit = "share of hits and merges",
  config = machine, kernels = kernels.dwt_pric, mean = "arithmetic",
  series = {
    { name = "L1, intra-warp", policy = l1_unbounded, value = locality(l1, { "intra_thread", "inter_thread" }) },
    { name = "L1, intra-CTA", policy = l1_unbounded, value = locality(l1, { "intra_cta" }) },
    { name = "L1, intra-core", policy = l1_unbounded, value = locality(l1, { "intra_core" }) },
    { name = "L2, inter-core", policy = l2_unbounded, value = locality(l2, { "inter_core" }) },
    { name = "L2, inter-kernel", policy = l2_unbounded, value = locality(l2, { "inter_kernel" }) },
  },
  headlines = function(v)
    local function part(row, column) return v[row][column] end
    local thrashing, conflict = v["mean, thrashing"]["L1, intra-warp"], v["mean, conflict"]
    local list = {
      { what = ("thrashing: L1 reuse is intra-warp (%s)"):format(kit.shown(thrashing)), kind = "holds",
        ours = thrashing and thrashing > 0.5 },
      { what = "conflict: L1 reuse is intra-warp and intra-CTA", kind = "holds",
        ours = conflict["L1, intra-warp"] and conflict["L1, intra-warp"] + conflict["L1, intra-CTA"] > 0.7 },
    }
    for _, name in ipairs { "HS", "CONV" } do
      list[#list + 1] = { what = ("%s: L2 reuse is inter-core (%s)"):format(name, kit.shown(part(name, "L2, inter-core"))),
        kind = "holds", ours = part(name, "L2, inter-core") and part(name, "L2, inter-core") > 0.4 }
    end
    for _, name in ipairs { "FWT", "NW" } do
      list[#list + 1] = { what = ("%s: L2 reuse is inter-kernel (%s)"):format(name, kit.shown(part(name, "L2, inter-kernel"))),
        kind = "holds", ours = part(name, "L2, inter-kernel") and part(name, "L2, inter-kernel") > 0.4 }
    end
    return list
  end,
}

-- Reservation fails -------------------------------------------------------------------------------

local causes <const> = { { "line", "line_fail_cycles" }, { "MSHR", "mshr_entry_fail_cycles" }, { "merge", "mshr_merge_fail_cycles" },
  { "queue", "miss_queue_fail_cycles" } }

--- Reservation fails of the L1s per 1000 cycles of an SM.
local function fails_per_kilo_cycle(r)
  local sum = 0
  for _, cause in ipairs(causes) do sum = sum + kit.sum(r, "sm[*].l1d." .. cause[2]) end
  return 1000 * kit.ratio(sum, r.cycles * r.sms)
end

local function mpki(r) return 1000 * kit.sum(r, "sm[*].l1d.misses") / r.thread_instructions end

local series_4 = {}
for i, cause in ipairs(causes) do
  series_4[i] = { name = cause[1], policy = "gto",
    value = function(r) return 1000 * kit.ratio(kit.sum(r, "sm[*].l1d." .. cause[2]), r.cycles * r.sms) end }
end
series_4[5] = { name = "MPKI", policy = "gto", value = mpki }
series_4[6] = { name = "miss rate %", policy = "gto", value = function(r)
  local hits = kit.sum(r, "sm[*].l1d.hits")
  return 100 * kit.ratio(kit.sum(r, "sm[*].l1d.misses"), hits + kit.sum(r, "sm[*].l1d.misses", "sm[*].l1d.merges"))
end }

--- Whether all kernels of a group are on one side of DWT's threshold.
local function sided(t, group, above)
  local count, right = 0, 0
  for _, row in ipairs(t.rows) do
    if row.group == group then
      count = count + 1
      if (row.values.MPKI > 10) == above then right = right + 1 end
    end
  end
  return { what = ("%s: MPKI %s 10 (%d of %d)"):format(group, above and "above" or "below", right, count), kind = "holds",
    ours = count > 0 and right == count }
end

local figure_4 = bars {
  id = "dwt-pric/4", title = "L1 reservation fails per 1000 cycles, and misses per 1000 thread instructions", unit = "events",
  config = machine, kernels = kernels.dwt_pric, mean = "arithmetic", series = series_4,
  headlines = function(v, t)
    local conflict, thrashing = v["mean, conflict"], v["mean, thrashing"]
    return {
      { what = "conflict: fails for want of a line lead", kind = "holds", ours = conflict.line and conflict.line > conflict.MSHR },
      { what = "thrashing: fails for want of an MSHR lead", kind = "holds", ours = thrashing.line and thrashing.MSHR > thrashing.line },
      sided(t, "conflict", false), sided(t, "thrashing", true), sided(t, "both", true),
    }
  end,
}

-- Section 5 ---------------------------------------------------------------------------------------

local figure_8 = bars {
  id = "dwt-pric/8", title = "IPC over GTO", unit = "speed-up",
  config = machine, kernels = kernels.dwt_pric, base = gto, value = kit.speedup, mean = "harmonic",
  series = { dwt_pric },
  paper = {
    ["mean"] = { ["DWT-PRIC"] = 1.54 }, ["mean, streaming"] = { ["DWT-PRIC"] = 1.2 },
    SYRK = { ["DWT-PRIC"] = 21 }, GESUMMV = { ["DWT-PRIC"] = 16.8 },
  },
  headlines = function(v, t)
    local all, worst = {}, nil
    for _, row in ipairs(t.rows) do
      local value = row.values["DWT-PRIC"]
      if row.group == "conflict" or row.group == "thrashing" or row.group == "both" then all[#all + 1] = value end
      if value and not row.mean and (not worst or value < worst) then worst = value end
    end
    return {
      { what = "22 kernels", kind = "gain", paper = 1.54, ours = v.mean["DWT-PRIC"] },
      { what = "streaming", kind = "gain", paper = 1.2, ours = v["mean, streaming"]["DWT-PRIC"] },
      { what = "contention", kind = "gain", paper = 2.3, ours = kit.mean("harmonic", all) },
      { what = "SYRK", kind = "gain", paper = 21, ours = v.SYRK["DWT-PRIC"] },
      { what = "GESUMMV", kind = "gain", paper = 16.8, ours = v.GESUMMV["DWT-PRIC"] },
      { what = ("no kernel loses more than 2 %% (least: %s)"):format(kit.shown(worst)), kind = "holds", ours = worst and worst >= 0.98 },
    }
  end,
}

--- DWT-PRIC over another policy, by group.
local function over_headlines(column, paper)
  return function(v, t)
    local all, list = {}, {}
    for _, row in ipairs(t.rows) do
      if not row.mean then all[#all + 1] = row.values[column] end
    end
    list[1] = { what = "over " .. column, kind = "gain", paper = paper.all, ours = kit.mean("harmonic", all) }
    for _, group in ipairs { "conflict", "thrashing", "both" } do
      list[#list + 1] = { what = ("over %s, %s"):format(column, group), kind = "gain", paper = paper[group],
        ours = v["mean, " .. group][column] }
    end
    return list
  end
end

local over_ccws = over_headlines("CCWS", { all = 1.7, conflict = 2.1, thrashing = 1.02, both = 18 })
local over_mrpb = over_headlines("MRPB", { all = 1.5, conflict = 1.37, thrashing = 1.25, both = 4 })

-- The paper tuned K_throttle to its machine, and found 8. By the harmonic mean of
-- dwt-pric/k-throttle ours has 2.
local tuned_ccws <const> = "ccws:k_throttle=2"

local figure_9 = bars {
  id = "dwt-pric/9", title = "DWT-PRIC over CCWS and MRPB", unit = "speed-up",
  config = machine, kernels = contention, base = dwt_pric, mean = "harmonic",
  value = function(r, base, kernel) return kit.cycles(r, kernel) / kit.cycles(base, kernel) end,
  series = { { name = "CCWS", policy = tuned_ccws }, { name = "MRPB", policy = with "mrpb" } },
  headlines = function(v, t)
    local list = over_ccws(v, t)
    return table.move(over_mrpb(v, t), 1, 4, #list + 1, list)
  end,
}

local throttles, throttle_series = { 1, 2, 4, 8 }, {}
for i, k in ipairs(throttles) do throttle_series[i] = { name = tostring(k), policy = "ccws:k_throttle=" .. k } end

local throttle = bars {
  id = "dwt-pric/k-throttle", title = "CCWS with K_throttle of 1 to 8, over GTO", unit = "speed-up",
  config = machine, kernels = contention, base = gto, value = kit.speedup, mean = "harmonic", series = throttle_series,
}

-- What the paper leaves open: whether what MRPB lets pass by holds an MSHR, and what else bounds
-- it.
local bypassing = bars {
  id = "dwt-pric/mrpb-bypass", title = "MRPB: bypasses hold an MSHR or none; no bypass; 32 places in all", unit = "speed-up",
  config = machine, kernels = contention, base = gto, value = kit.speedup, mean = "harmonic",
  series = {
    { name = "MSHR", policy = with "mrpb" }, { name = "none", policy = with "mrpb:mshrs=false" },
    { name = "no bypass", policy = with "mrpb:bypass=false" }, { name = "32 in all", policy = with "mrpb:total=32" },
  },
}

local function misses_saved(r, base)
  local function misses(of) return kit.sum(of, "sm[*].l1d.misses", "sm[*].l1d.off_misses") end
  return 1 - kit.ratio(misses(r), misses(base))
end

local function saved_headlines(column, paper)
  return function(v)
    local list = {}
    for _, entry in ipairs(paper) do
      local value = v[entry[1]][column]
      list[#list + 1] = { what = ("%s: %s (%s)"):format(entry[1], entry[2], kit.shown(value)), kind = "holds",
        ours = value and entry[3](value, v[entry[1]]) }
    end
    return list
  end
end

local function at_least(limit) return function(value) return value >= limit end end

--- As the bars of a figure of shares would look: ten points apart.
local function near_unbounded(value, row) return row.unbounded and math.abs(row.unbounded - value) <= 0.1 end


local figure_10 = bars {
  id = "dwt-pric/10", title = "L1 misses saved, of GTO's", unit = "share",
  config = machine, kernels = contention, base = gto, value = misses_saved, mean = "arithmetic",
  series = { dwt_pric, { name = "unbounded", policy = with "unbounded:l2=false" } },
  headlines = saved_headlines("DWT-PRIC", {
    { "3DS", "more than 80 %", at_least(0.8) }, { "KM", "more than 80 %", at_least(0.8) }, { "SYRK", "more than 80 %", at_least(0.8) },
    { "GESUMMV", "more than 80 %", at_least(0.8) }, { "2DCONV", "near 60 %", at_least(0.4) }, { "MM", "near 60 %", at_least(0.4) },
    { "IIX", "near 60 %", at_least(0.4) }, { "SRAD", "within ten points of unbounded", near_unbounded },
    { "3DS", "within ten points of unbounded", near_unbounded }, { "2DCONV", "within ten points of unbounded", near_unbounded },
    { "KM", "within ten points of unbounded", near_unbounded },
  }),
}

local figure_11 = bars {
  id = "dwt-pric/11", title = "L1 reservation fails per 1000 cycles saved, of GTO's", unit = "share",
  config = machine, kernels = contention, base = gto, mean = "arithmetic", series = { dwt_pric },
  value = function(r, base) return 1 - kit.ratio(fails_per_kilo_cycle(r), fails_per_kilo_cycle(base)) end,
  paper = { ["2DCONV"] = { ["DWT-PRIC"] = 0.9 }, KM = { ["DWT-PRIC"] = 0.9 }, GESUMMV = { ["DWT-PRIC"] = 0.9 },
    MM = { ["DWT-PRIC"] = 0.6 }, IIX = { ["DWT-PRIC"] = 0.6 }, SYRK = { ["DWT-PRIC"] = 0.6 }, mean = { ["DWT-PRIC"] = 0.2 } },
  headlines = function(v)
    local list = { { what = "mean", kind = "share", paper = 0.2, ours = v.mean["DWT-PRIC"] } }
    for name, paper in pairs { ["2DCONV"] = 0.9, KM = 0.9, GESUMMV = 0.9, MM = 0.6, IIX = 0.6, SYRK = 0.6 } do
      list[#list + 1] = { what = name, kind = "share", paper = paper, ours = v[name]["DWT-PRIC"] }
    end
    table.sort(list, function(a, b) return a.what < b.what end)
    return list
  end,
}

--- GTO on an L1 of other ways; hits of all take as long (one cycle in the paper).
local function ways(name, count)
  return { name = name, policy = "gto", set = { "sm[*].l1d.ways=" .. count } }
end

local figure_12 = bars {
  id = "dwt-pric/12", title = "PRIC of 4 ways over linear indices of more ways", unit = "speed-up",
  config = machine, kernels = of_groups("conflict", "both"), base = { name = "PRIC", policy = with "pric" }, mean = "harmonic",
  value = function(r, base, kernel) return kit.cycles(r, kernel) / kit.cycles(base, kernel) end,
  series = { ways("16 ways", 16), ways("32 ways", 32), ways("64 ways", 64), ways("fully associative", 128) },
  paper = { mean = { ["16 ways"] = 1.6, ["32 ways"] = 1.4, ["64 ways"] = 1.16, ["fully associative"] = 0.97 } },
  headlines = function(v)
    local full = v.mean["fully associative"]
    return {
      { what = "over 16 ways", kind = "gain", paper = 1.6, ours = v.mean["16 ways"] },
      { what = "over 32 ways", kind = "gain", paper = 1.4, ours = v.mean["32 ways"] },
      { what = "over 64 ways", kind = "gain", paper = 1.16, ours = v.mean["64 ways"] },
      { what = ("at least 97 %% of fully associative (%s)"):format(kit.shown(full)), kind = "holds", ours = full and full >= 0.97 },
    }
  end,
}

-- Table 3: warps per scheduler --------------------------------------------------------------------

-- The text does not say what the counts were measured beside. Where warps collide in one set of the
-- L1, no count is better than all of them, so those beside PRIC are compared.
local table_3_names <const> = { "SPMV", "KM", "BFS", "IIX", "SYRK", "GESUMMV" }
local table_3_kernels, static, static_with_pric = {}, {}, {}
for _, name in ipairs(table_3_names) do
  for _, kernel in ipairs(kernels.dwt_pric) do
    if kernel.name == name then table_3_kernels[#table_3_kernels + 1] = kernel end
  end
end
for i, limit in ipairs { 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24 } do
  static[i], static_with_pric[i] = with("swl:limit=" .. limit), with("pric+swl:limit=" .. limit)
end

local function limit_of(r) return tonumber(r.run.policy:match "limit=(%d+)") end

--- The mean over the kernels that were throttled.
local function found(r)
  local throttled = kit.sum(r, "dispatcher.dwt_cs.throttled")
  return throttled > 0 and kit.sum(r, "dispatcher.dwt_cs.warps") / throttled or nil
end

local paper_counts <const> = { SPMV = { 1, 1 }, KM = { 1, 1 }, BFS = { 5, 7 }, IIX = { 2, 2 }, SYRK = { 2, 2 }, GESUMMV = { 1, 1 } }
local paper_table = {}
for name, counts in pairs(paper_counts) do
  paper_table[name] = { ["SWT with PRIC"] = counts[1], ["DWT-PRIC"] = counts[2], SWT = counts[1], ["DWT-CS"] = counts[2] }
end

local table_3 = bars {
  id = "dwt-pric/table-3", title = "Best warps per scheduler: static (SWT) and found by core sampling (DWT-CS)", unit = "warps",
  config = machine, kernels = table_3_kernels, paper = paper_table,
  series = {
    { name = "SWT with PRIC", best_of = static_with_pric, value = limit_of },
    { name = "DWT-PRIC", policy = "dwt_pric", value = found },
  },
  headlines = function(v)
    local list = {}
    for _, name in ipairs(table_3_names) do
      for i, column in ipairs { "SWT with PRIC", "DWT-PRIC" } do
        local ours, paper = v[name][column], paper_counts[name][i]
        local holds = ours ~= nil and math.abs(ours - paper) <= 1
        if not next(v[name]) then holds = nil end
        list[#list + 1] = { what = ("%s, %s: %d, within one (%s)"):format(name, column, paper, kit.shown(ours, "%.3g")),
          kind = "holds", ours = holds }
      end
    end
    return list
  end,
}

local table_3_parts = bars {
  id = "dwt-pric/table-3-parts", title = "Best warps per scheduler without PRIC, and without streaming bypass", unit = "warps",
  config = machine, kernels = table_3_kernels, paper = paper_table,
  series = {
    { name = "SWT", best_of = static, value = limit_of },
    { name = "DWT-CS", policy = with "dwt_cs", value = found },
    { name = "DWT-CS with PRIC", policy = "dwt_pric:bypassing=false", value = found },
  },
}

-- What the paper leaves open: whether streaming bypass may switch the L1s off while warp counts are

local function sampled(name, policy)
  return { name = name, policy = policy }
end

local caches_on = bars {
  id = "dwt-pric/caches-on", title = "DWT-PRIC: L1s on while sampling, or as streaming bypass has them",
  unit = "speed-up", config = machine, kernels = of_groups("thrashing", "both"), base = gto, value = kit.speedup, mean = "harmonic",
  series = { sampled("on", "dwt_pric:caches_on=true"), sampled("as they are", "dwt_pric:caches_on=false") },
}

-- Whether writes count in the L2's miss rate. Kernels that write where they have read miss with all
-- reads and half of their accesses.
local counted = bars {
  id = "dwt-pric/l2-writes", title = "DWT-PRIC by what counts in the L2's miss rate, over GTO", unit = "speed-up",
  config = machine, kernels = of_groups("streaming"), base = gto, value = kit.speedup, mean = "harmonic",
  series = { { name = "reads", policy = "dwt_pric" }, { name = "all", policy = "dwt_pric:l2_writes=true" } },
}

-- The same on gtx480, with what each of the three parts gains there.
local parts = bars {
  id = "dwt-pric/gtx480", title = "IPC over GTO on gtx480, and what the parts of DWT-PRIC gain there",
  unit = "speed-up", config = "gtx480", kernels = kernels.dwt_pric, base = gto, value = kit.speedup, mean = "harmonic",
  series = {
    { name = "bypass", policy = with "stream_bypass" }, { name = "DWT", policy = with "dwt_cs" }, { name = "PRIC", policy = with "pric" },
    dwt_pric,
  },
}

-- Where the sums of the dense kernels are: loaded and stored in each step, stored alone, as an
-- optimising compiler makes of the plain loop over one sum, or in a register. The rows of the suite's
-- GESUMMV have 4096 elements.
local sums_kernels = {}
local function with_sums(name, workload, o)
  for _, where in ipairs(o) do
    sums_kernels[#sums_kernels + 1] = { name = ("%s, %s"):format(name, where), workload = workload, base = o.base,
      medium = o.medium, size = "accumulate=" .. where .. (o.size or "") }
  end
end
with_sums("SYRK", "syrk", { "memory", "stored", "register" })
with_sums("MM", "mm", { "memory", "stored", "register", medium = "m=128" })
with_sums("GESUMMV", "gesummv", { "memory", "register", base = "paper" })
with_sums("GESUMMV of 4096", "gesummv", { "memory", "register", base = "paper", size = ",lda=4096" })

local sums = bars {
  id = "dwt-pric/sums", title = "Sums in memory, stored alone, in a register: DWT-PRIC, PRIC with 2 to 4 warps",
  unit = "speed-up", config = machine, kernels = sums_kernels, base = gto, value = kit.speedup,
  series = {
    dwt_pric, { name = "PRIC", policy = with "pric" }, { name = "2 warps", policy = with "pric+swl:limit=2" },
    { name = "3 warps", policy = with "pric+swl:limit=3" }, { name = "4 warps", policy = with "pric+swl:limit=4" },
  },
}

-- The suite of hotspot comes with inputs of 512 and of 1024 columns. With 1024 the rows of a tile
-- fall into one set of the L1.
local hotspot_kernels = {}
for _, input in ipairs { { "512 x 512", "rows=512,columns=512" }, { "2048 x 512", "" }, { "1024 x 1024", "rows=1024,columns=1024" } } do
  hotspot_kernels[#hotspot_kernels + 1] = { name = input[1], workload = "hotspot", medium = input[2] ~= "" and input[2] or nil }
end

local hotspot = bars {
  id = "dwt-pric/hotspot", title = "HS by the rows and columns of its input, over GTO", unit = "speed-up",
  config = machine, kernels = hotspot_kernels, base = gto, value = kit.speedup,
  series = { { name = "no caches", policy = with "bypass_all" }, { name = "unbounded", policy = with "unbounded" }, dwt_pric },
}

return { figure_2, figure_3, figure_4, figure_8, figure_9, throttle, bypassing, figure_10, figure_11, figure_12, table_3, table_3_parts, caches_on,
  counted, parts, sums, hotspot }
