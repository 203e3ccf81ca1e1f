-- No caches: nothing of global and local memory is found in one.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"

local function run(workload, policy) return checks.run { workload = workload, policy = policy } end

harness.test("all accesses bypass L1 and L2", function()
  for _, workload in ipairs { "kmeans", "gesummv" } do
    local r = run(workload, "bypass_all")
    for _, cache in ipairs { "sm.l1d.", "l2." } do
      local accesses = checks.sum(r, cache .. "accesses")
      assert(accesses > 10000, "too few accesses to tell")
      harness.equal(checks.sum(r, cache .. "bypasses"), accesses, cache .. "bypasses on " .. workload)
      harness.equal(checks.sum(r, cache .. "fetches"), 0, cache .. "fetches on " .. workload)
    end
    harness.equal(checks.sum(r, "mc.reads"), checks.sum(r, "l2.read_bypasses"), "reads of memory on " .. workload)
  end
end)

harness.test("the constant caches stay", function()
  local r = run("vecadd", "bypass_all")
  harness.equal(checks.sum(r, "sm.constant_cache.bypasses"), 0, "bypasses of constant caches")
end)

harness.test("atomics are performed in the L2, everything else passes", function()
  local r = run("bfs", "bypass_all")
  harness.equal(checks.sum(r, "l2.bypasses"), checks.sum(r, "l2.accesses") - checks.sum(r, "l2.atomic_hits")
    - checks.sum(r, "l2.atomic_misses") - checks.sum(r, "l2.atomic_merges"), "bypasses")
end)

harness.test("L1 or L2 alone", function()
  for _, case in ipairs { { "l2=false", "sm.l1d.", "l2." }, { "l1=false", "l2.", "sm.l1d." } } do
    local r = run("kmeans", "bypass_all:" .. case[1])
    harness.equal(checks.sum(r, case[2] .. "hits") + checks.sum(r, case[2] .. "misses"), 0, case[2] .. "lookups")
    assert(checks.sum(r, case[3] .. "hits") > 0, case[3] .. " has no hits")
  end
end)

harness.test("a machine with differently named L1s is told which", function()
  local r = run("kmeans", "bypass_all:cache=texture_cache")
  assert(checks.sum(r, "sm.l1d.hits") > 0, "l1d has no hits")
end)

checks.equals("bypass_all:l1=false,l2=false", "gto", "kmeans")
checks.law("bypass_all", "kmeans")
checks.resumes("bypass_all", "bfs", 3)
checks.takes_over("bypass_all", "gto", "kmeans", 20000)
checks.takes_over("gto", "bypass_all", "kmeans", 20000)

harness.finish()
