-- The five papers' policies on each other's kernels: all on one machine, over GTO.
local kernels = require "scripts.lib.reproduce.kernels"
local kit = require "scripts.lib.reproduce.kit"

--- Each workload once, in the order of the papers; D2MA's in the versions that threads copy for.
local function all_kernels()
  local found, seen = {}, {}
  local function add(kernel, set, group, extra)
    local key = ("%s,%s"):format(kernel.workload, kernel.size or "")
    if seen[key] or kernel.launches and set ~= "d2ma" and seen[kernel.workload .. "," .. (kernel.size or "")] then return end
    seen[key] = true
    found[#found + 1] = {
      name = kernel.name, workload = kernel.workload, base = kernel.base, small = kernel.small, small_base = kernel.small_base, medium = kernel.medium,
      size = extra and (kernel.size and kernel.size .. "," or "") .. extra or kernel.size, group = group,
    }
  end
  for _, set in ipairs { { "mascar_memory", "Mascar, memory" }, { "mascar_compute", "Mascar, compute" }, { "medic", "MeDiC" },
    { "ccws", "CCWS" }, { "dwt_pric", "DWT-PRIC" } } do
    for _, kernel in ipairs(kernels[set[1]]) do add(kernel, set[1], set[2]) end
  end
  for _, kernel in ipairs(kernels.d2ma) do add(kernel, "d2ma", "D2MA, plain", "version=plain") end
  return found
end

local policies <const> = {
  "lrr", "two_level", "owl", "ccws", "mascar", "mrpb", "stream_bypass", "dwt_cs", "pric", "dwt_pric", "eaf", "pcal", "pc_byp",
  "medic",
}
--- They order warps themselves; the others are put beside gto.
local schedulers <const> = { lrr = true, two_level = true, owl = true, ccws = true, mascar = true, dwt_pric = true }

local series = {}
for i, policy in ipairs(policies) do
  series[i] = { name = policy, policy = schedulers[policy] and policy or "gto+" .. policy }
end

local matrix = kit.bars {
  id = "matrix/gtx480", title = "All policies on all kernels, over GTO", unit = "speed-up", heat = true,
  config = "gtx480", kernels = all_kernels(), base = { name = "GTO", policy = "gto" }, value = kit.speedup, mean = "geometric",
  series = series,
}

-- All policies on the six general workloads, as they are ------------------------------------------

local function general_series()
  local names = { "lrr", "two_level", "swl:limit=2", "owl", "ccws", "mascar", "dwt_cs", "stream_bypass", "pric", "dwt_pric", "mrpb",
    "bypass_all", "pcal", "pcal:level=l1", "pc_byp", "rand_byp", "eaf", "wip", "wbyp", "wms", "medic" }
  local list = {}
  for i, name in ipairs(names) do
    list[i] = { name = name, policy = schedulers[name] and name or "gto+" .. name }
  end
  return list
end

local general = kit.bars {
  id = "matrix/general", title = "All policies on the general workloads, over GTO", unit = "speed-up", heat = true,
  config = "gtx480", base = { name = "GTO", policy = "gto" }, value = kit.speedup, mean = "geometric", series = general_series(),
  kernels = {
    { name = "kmeans", workload = "kmeans" }, { name = "spmv", workload = "spmv" }, { name = "bfs", workload = "bfs" },
    { name = "gesummv", workload = "gesummv" }, { name = "sgemm", workload = "sgemm" }, { name = "vecadd", workload = "vecadd" },
  },
}

return { matrix, general }
