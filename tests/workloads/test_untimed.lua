-- Launches without timing: the workloads compute the same, no cycle passes, nothing is counted, and timed launches around them
-- are as they would be.
local harness = require "tests.lib.harness"
local load = require "warpwright.load"
local ww = require "warpwright"

--- A GPU whose launches have no timing, but those whose number `is_timed` says.
local function without_timing(gpu, is_timed)
  local number = -1
  return setmetatable({}, {
    __index = function(_, method)
      return function(_, ...)
        if method ~= "launch" then return gpu[method](gpu, ...) end
        local kernel, options = ...
        local copy = {}
        for key, value in pairs(options) do copy[key] = value end
        number = number + 1
        copy.timed = is_timed and is_timed(number) or false
        return gpu:launch(kernel, copy)
      end
    end,
  })
end

--- Runs a workload, small, so; returns its result.
local function run(name, is_timed, options)
  local w = load.get("workload", name)
  local own = w.run
  function w.run(self, gpu, size) return own(self, without_timing(gpu, is_timed), size) end
  local sim = ww.build("gtx480", options)
  local ok, checks = pcall(sim.run, sim, w, "small")
  w.run = own
  assert(ok, checks)
  assert(checks > 0, "nothing was checked")
  return sim:result()
end

for _, name in ipairs { "backprop", "barnes_hut", "bfs", "black_scholes", "btree", "conv2d", "convolution", "cutcp", "dct8x8", "delaunay", "fast_walsh", "filter", "gc_mark", "gesummv", "haar", "hetero", "histo", "histogram", "hotspot", "inverted_index", "keyvalue", "kmeans", "kmeans_texture", "kmeans_transpose", "lava_md", "lbm", "leukocyte", "lud", "matmul", "micro", "mm", "monte_carlo_pi", "mri_gridding", "mri_q", "mst", "mummer", "nearest_neighbour", "needleman_wunsch", "neural_network", "page_view_rank", "page_views", "particle", "pathfinder", "reference", "sad", "saxpy", "scalar_product", "sgemm", "sgemv", "similarity", "spmv", "spmv_jds", "srad", "sssp", "stencil3d", "stencil_shared", "streamcluster", "syrk", "tpacf", "transpose", "vecadd", "walsh" } do
  if pcall(load.get, "workload", name) then
    harness.test("computes the same without timing: " .. name, function()
      local r = run(name)
      harness.equal(r.cycles, 0, "cycles")
      harness.equal(r.warp_instructions, 0, "instructions")
      harness.equal(r["sm[*].ctas_started"], 0, "CTAs started")
      harness.equal(r["sm[*].barriers"], 0, "barriers")
      assert(r.launches[1].ctas > 0)
    end)
  end
end

harness.test("a timed launch behind those without timing begins on a machine at rest", function()
  local all = run("kmeans", function() return true end)
  local first = run("kmeans", function(number) return number == 0 end)
  harness.equal(first.launches[1].cycles, all.launches[1].cycles, "cycles of the first launch")
  harness.equal(first.cycles, all.launches[1].cycles, "cycles")
  local last = #all.launches - 1
  local only_last = run("kmeans", function(number) return number == last end)
  harness.equal(only_last.launches[last + 1].warp_instructions, all.launches[last + 1].warp_instructions, "instructions of the last launch")
end)

harness.test("neither order nor threads change what follows", function()
  local function is_odd(number) return number % 2 == 1 end
  local plain = run("kmeans", is_odd)
  for _, options in ipairs { { order = "reversed" }, { threads = 3 } } do
    local other = run("kmeans", is_odd, options)
    harness.equal(other.cycles, plain.cycles, "cycles")
    harness.equal(other["sm[*].l1d.hits"], plain["sm[*].l1d.hits"], "hits")
  end
end)

harness.finish()
