-- The victim cache on a whole machine: what each cycle of it does is in the unit tests (victim_cache).
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"

harness.test("a cache in which nothing is replaced is as it was without one", function()
  checks.equals("victim_cache", "gto", "vecadd", { ["sm[*].l1d.size"] = "4MiB" })
end)

harness.test("lines that the L1 has replaced come back without a fetch", function()
  local r = checks.run { workload = "kmeans", policy = "victim_cache:lines=15" }
  local exchanges = checks.sum(r, "sm.l1d.victims.exchanges")
  assert(exchanges > 1000, exchanges .. " exchanges")
  harness.equal(checks.sum(r, "sm.l1d.fetches"), checks.sum(r, "sm.l1d.read_misses"), "fetches: one a miss, none an exchange")
end)

harness.test("a large one keeps more, in sets as nearly as much", function()
  local function misses(policy) return checks.sum(checks.run { workload = "kmeans", policy = policy, set = { sms = 2 } }, "sm.l1d.read_misses") end
  local small, large, sets = misses "victim_cache:lines=64", misses "victim_cache:lines=256", misses "victim_cache:lines=256,ways=8"
  assert(large < 0.9 * small and sets < 0.9 * small, ("%d, %d and %d misses"):format(small, large, sets))
end)

harness.test("only the caches that are named get one", function()
  local r = checks.run { workload = "vecadd", policy = "victim_cache:cache=texture_cache", set = { sms = 1 } }
  local named = checks.text_of(r, {})
  harness.contains(named, "sm[0].texture_cache.victims.insertions")
  assert(not named:find("sm[0].l1d.victims", 1, true), "the data cache has one")
end)

for _, policy in ipairs { "victim_cache", "mascar+victim_cache:lines=2", "victim_cache:lines=256,ways=8", "victim_cache:lines=100", "victim_cache+stride" } do
  harness.test(policy .. ": tick order and threads change nothing", function() checks.law(policy, "kmeans") end)
  harness.test(policy .. ": resumed, a run ends as if it had not been stopped", function()
    checks.resumes(policy, "kmeans", 2)
  end)
end

--- Accesses of the re-execution queue, more than its set has ways, find their lines here.
local narrow <const> = { "sm[*].l1d.size=2KiB", "sm[*].l1d.ways=1" }

harness.test("accesses in the re-execution queue exchange lines that each of them then reads", function()
  local r = checks.run_on_a_third { workload = "spmv", policy = "mascar+victim_cache:lines=256", set = narrow, max_cycles = 1000000 }
  local exchanges, hits = r["sm[*].l1d.victims.exchanges"], r["sm[*].l1d.hits"]
  assert(exchanges > 1000 and exchanges <= hits, ("%d exchanges, %d hits"):format(exchanges, hits))
  assert(r["sm[*].l1d.reexecution_pushes"] > 1000, "the queue was not used")
end)
checks.law("mascar+victim_cache:lines=256", "spmv", narrow)
checks.resumes("mascar+victim_cache:lines=256", "spmv", 3, narrow)

harness.test("a run goes over to it in the midst of a kernel", function()
  checks.takes_over("victim_cache", "gto", "kmeans", 40000)
end)

--- A victim cache of 8 ways, of which a policy opens `first`, and after 20,000 cycles `then_open`.
local function opening(name, first, then_open, lines, ways)
  return harness.write(name .. ".lua", ([[
local p = require "warpwright.policy" "opening" {
  caches = "data", parts = { { class = "VictimCache", name = "victims", of = "cache", lines = %d, ways = %d } },
  period = 20000,
}
function p:on_kernel_start() self.victimss[1].open_ways = %d end
function p:on_period() self.victimss[1].open_ways = %d end
return p]]):format(lines or 256, ways or 8, first, then_open))
end

--- Misses of the L1s, exchanges and lines that were dropped, under this policy.
local function opened(...)
  local r = checks.run { workload = "kmeans", policy = opening(...), set = { sms = 2 } }
  return checks.sum(r, "sm.l1d.read_misses"), checks.sum(r, "sm.l1d.victims.exchanges"), checks.sum(r, "sm.l1d.victims.drops")
end

harness.test("a policy opens ways of it: with none it holds nothing, with some fewer lines than with all", function()
  local none, exchanges = opened("none", 0, 0)
  local some = opened("some", 3, 3)
  local all = opened("all", -1, -1)
  harness.equal(exchanges, 0, "exchanges")
  assert(all < 0.95 * some and some < 0.95 * none, ("%d, %d and %d misses"):format(all, some, none))
  local as_small = checks.run { workload = "kmeans", policy = "victim_cache:lines=64,ways=2", set = { sms = 2 } }
  harness.equal(some, checks.sum(as_small, "sm.l1d.read_misses"), "misses with two ways of eight, and in one of two ways")
end)

harness.test("a part of the caches is no part of the SM: whoever reads it so is told how it is called", function()
  local path = harness.write("of_l1.lua", [[
local p = require "warpwright.policy" "of_l1" { caches = "data", parts = { { class = "VictimCache", name = "victims", of = "cache" } } }
function p:on_kernel_start() self.victims.open_ways = 0 end
return p]])
  harness.refused("of_l1.lua:2: policy of_l1 of sm[0], in on_kernel_start at cycle 0: self.victims: expected a part of an SM, got one of "
    .. 'caches; with `caches` and of = "cache" a list of them is self.victimss', "run", "gtx480", "vecadd", "--size", "small", "--policy", path)
end)

harness.test("ways that are closed in the midst of a kernel lose their lines", function()
  local _, exchanges, drops = opened("closed", -1, 0)
  local _, exchanges_of_all, drops_of_all = opened("left", -1, -1)
  assert(exchanges > 0 and exchanges < exchanges_of_all, ("%d exchanges, %d without closing"):format(exchanges, exchanges_of_all))
  assert(drops > drops_of_all - 2 * 256 and drops > 0, ("%d drops"):format(drops))
end)

for name, policy in pairs { closing = opening("closing", 255, 12), large = opening("large", -1, 0, 100, 0) } do
  harness.test(name .. " while it runs: tick order, threads and resumes change nothing", function()
    checks.law(policy, "kmeans")
    checks.resumes(policy, "kmeans", 2)
  end)
end

harness.test("a second one below an L1 is an error", function()
  local second = harness.write("second.lua", [[
return require "warpwright.policy" "second" { doc = "A victim cache, too",
  parts = { { class = "VictimCache", name = "second", of = "L1" } } }]])
  harness.refused("sm[0].l1d.second: expected one VictimCache below sm[0].l1d, got a second",
    "run", "gtx480", "vecadd", "--size", "small", "--policy", "victim_cache+" .. second)
end)

harness.finish()
