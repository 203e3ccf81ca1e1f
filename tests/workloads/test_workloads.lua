-- Every workload computes what its reference does, under every policy, and loads the machine as it says that it does.
local ww = require "warpwright"
local character = require "scripts.lib.character"
local harness = require "tests.lib.harness"

local workloads = {
  "vecadd", "sgemm", "spmv", "kmeans", "bfs", "gesummv",
  "kmeans_transpose", "syrk", "conv2d", "mm", "srad", "backprop", "lbm", "sad", "spmv_jds", "particle",
  "inverted_index", "streamcluster", "stencil3d", "keyvalue", "similarity", "black_scholes", "scalar_product",
  "hotspot", "convolution", "needleman_wunsch", "fast_walsh", "monte_carlo_pi", "btree", "neural_network",
  "nearest_neighbour", "histo", "mri_gridding", "stencil_shared", "mri_q", "cutcp", "histogram", "tpacf", "lava_md",
  "kmeans_texture", "leukocyte", "mummer", "sssp", "gc_mark", "mst", "page_views", "hetero", "page_view_rank",
  "barnes_hut", "delaunay",
}

local function run_once(workload, size, policy)
  local r = ww.run { config = "gtx480", workload = workload, size = size, policy = policy, out = false }
  assert(r.checks > 0, "nothing was checked")
  assert(r.cycles > 0 and r.thread_instructions > r.warp_instructions)
  return r
end

local results = {}

--- The result of a run, which is made once.
local function run(workload, size, policy)
  local key = ("%s %s %s"):format(workload, size, policy)
  results[key] = results[key] or run_once(workload, size, policy)
  return results[key]
end

for _, workload in ipairs(workloads) do
  for _, policy in ipairs { "lrr", "gto" } do
    harness.test(workload .. " under " .. policy, function() run(workload, "small", policy) end)
  end
end

-- Other kernels of a workload than those of its small size.
local variants = {
  { "leukocyte", "score,columns=2,circles=1,first=uniform" },
  { "sad", "search,columns=32,rows=16" },
  { "histogram", "small,update=atomics" },
  { "sgemm", "small,m=256,n=32,k=32,version=registers" },
  { "gesummv", "small,columns=16,lda=64,accumulate=memory" },
  { "gesummv", "small,columns=16,lda=64" },
  { "syrk", "small,k=2,accumulate=register" },
  { "syrk", "small,k=2,accumulate=stored" },
  { "syrk", "small,k=2,second=1" },
  { "syrk", "small,k=2,second=1,accumulate=register" },
  { "syrk", "small,k=2,second=1,accumulate=stored" },
  { "mm", "small,accumulate=register" },
  { "mm", "small,accumulate=stored" },
  { "kmeans", "paper,points=256" },
  { "stencil3d", "small,heat=0,width=32,height=8" },
  { "fast_walsh", "small,length=8192" },
  { "histo", "small,spread=0.3" }, -- counters go beyond a byte
  { "histo", "small,kernel=prescan" },
  { "histo", "small,kernel=intermediates" },
  { "histo", "small,kernel=main" },
  { "histo", "small,kernel=final" },
  { "mri_gridding", "small,kernel=binning" },
  { "mri_gridding", "small,kernel=reorder" },
  { "mri_gridding", "small,kernel=gridding" },
  { "bfs", "small,version=masks,degrees=uniform,shortest=2,longest=10" },
  { "sssp", "small,weights=1,graph=community,launches=3" },
  { "sssp", "small,graph=road,nodes=1024" },
}
for _, variant in ipairs(variants) do
  harness.test(variant[1] .. " " .. variant[2], function() run(variant[1], variant[2], "gto") end)
end

for _, name in ipairs(workloads) do
  local expected = dofile(("%sworkloads/%s/%s.lua"):format(require "warpwright.core".home_path "", name, name)).expected
  if expected then
    harness.test(("%s is what it says: %s"):format(name, expected.class), function()
      local r = run(name, expected.size or "small", "gto")
      local complaint = character.complaint(character.of(r), expected)
      assert(not complaint, complaint)
    end)
  end
end

harness.finish()
