-- Prefetch instructions bring lines into the cache that they name, change no values, and obey the law.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local ROUNDS, AHEAD, CTAS, THREADS = 64, 8, 15, 64
local warps = CTAS * THREADS // 32

local function prefetching(kernel)
  local w = ww.workload("prefetching_" .. kernel) { ptx = "../kernels/prefetching_kernel.ptx", sizes = { small = {} } }
  function w:run(gpu)
    local words = ww.array("u32", warps * ROUNDS * 32):random(1, 0, 1000)
    local data, out = gpu:upload(words), gpu:alloc(4 * CTAS * THREADS)
    gpu:launch(self.kernels[kernel], { grid = CTAS, block = THREADS, args = { data, out, ROUNDS, AHEAD } })
    local sums, wanted = gpu:download("u32", out, CTAS * THREADS), ww.array("u32", CTAS * THREADS)
    for thread = 0, CTAS * THREADS - 1 do
      local sum = 0
      for round = 0, ROUNDS - 1 do sum = sum + words[(thread // 32 * ROUNDS + round) * 32 + thread % 32] end
      wanted:set(thread, sum)
    end
    self:check("sums", sums, wanted)
  end
  return w
end

local function run(kernel, options)
  local all = { config = "gtx480", workload = prefetching(kernel), size = "small", policy = "gto", out = false }
  for name, value in pairs(options or {}) do all[name] = value end
  return ww.run(all)
end

local plain = run "plain"
local lines = warps * ROUNDS
local prefetched = lines -- those beyond the data lie in the results

harness.test("an L1 prefetch far enough ahead turns misses into hits, and loads wait less", function()
  local r = run "prefetch_l1"
  harness.equal(r["sm[*].lsu.prefetches"], prefetched, "prefetches that reached an LSU")
  harness.equal(r["sm[*].lsu.prefetch_accesses"], prefetched, "lines asked for")
  harness.equal(r["sm[*].lsu.load_accesses"], lines, "accesses of loads")
  harness.equal(plain["sm[*].l1d.hits"], 0, "hits without prefetches")
  assert(r["sm[*].l1d.hits"] > lines // 2, "few hits: " .. r["sm[*].l1d.hits"])
  assert(r["sm[*].lsu.average_load_latency"] < plain["sm[*].lsu.average_load_latency"] / 2, "loads wait as long")
  assert(r.cycles < plain.cycles, ("%d cycles, %d without prefetches"):format(r.cycles, plain.cycles))
end)

harness.test("an L2 prefetch brings lines to the L2 alone, and no data to the SM", function()
  local r = run "prefetch_l2"
  local function accesses(result) return result["l2[*].hits"] + result["l2[*].misses"] + result["l2[*].merges"] end
  harness.equal(r["sm[*].l1d.hits"], 0, "hits in the L1")
  harness.equal(r["sm[*].l1d.bypasses"], prefetched, "accesses past the L1")
  harness.equal(accesses(r), accesses(plain) + prefetched, "accesses of the L2")
  assert(r["l2[*].hits"] > plain["l2[*].hits"] + lines // 2, "few hits in the L2")
  assert(r["sm[*].lsu.average_load_latency"] < plain["sm[*].lsu.average_load_latency"], "loads wait as long")
  -- a header of 8 bytes is one flit of 32, a line with its header five
  harness.equal(r["xbar.response_flits_out"], plain["xbar.response_flits_out"] + prefetched, "flits to the SMs")
end)

harness.test("prefetches obey the law: tick orders, threads, resumes", function()
  for _, kernel in ipairs { "prefetch_l1", "prefetch_l2" } do
    local folder = harness.folder() .. "/" .. kernel
    run(kernel, { out = folder .. "-whole", checkpoint_at = 700 })
    local stats = harness.read(folder .. "-whole/stats.txt")
    for _, order in ipairs { "reversed", "shuffled:3", "restless" } do
      run(kernel, { out = folder .. "-" .. order, order = order })
      harness.same_text(harness.read(folder .. "-" .. order .. "/stats.txt"), stats, order)
    end
    run(kernel, { out = folder .. "-threads", threads = 2 })
    harness.same_text(harness.read(folder .. "-threads/stats.txt"), stats, "two threads")
    local checkpoint = assert(io.popen("ls " .. folder .. "-whole/*.ckpt")):read "l"
    run(kernel, { out = folder .. "-resumed", resume = checkpoint })
    harness.same_text(harness.read(folder .. "-resumed/stats.txt"), stats, "resumed")
  end
end)

harness.test("prefetches run on machines without an L1, with a shared one and with a mesh", function()
  for _, config in ipairs { "gallery/no_l1", "gallery/shared_l1", "gtx480_mesh" } do
    local r = run("prefetch_l1", { config = config, policy = "lrr" })
    assert(r["sm[*].lsu.prefetch_accesses"] > 0 and r.checks == 1, config)
  end
end)

harness.finish()
