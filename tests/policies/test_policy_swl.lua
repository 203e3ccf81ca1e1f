-- Static wavefront limiting: no more warps than the limit are at work, kernels with barriers come to their end under any
-- limit, and a limit beyond what fits changes nothing. The order of issue itself is in the unit tests (sm_timing).
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"

-- A warp is at work from its first instruction to its exit; of its own scheduler, the even or the odd ones.
local observer = harness.write("observer.lua", [[
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"
local observer = policy "observer" { doc = "Counts warps at work", counters = { even = "", odd = "" } }
local even = 0x5555555555555555

function observer:on_issue(warp)
  local state = self.state
  state.begun = (state.begun or 0) | bits.of(warp)
  local at_work = state.begun & self.sm.live
  self:count("even", math.max(0, bits.count(at_work & even) - self.counters.even))
  self:count("odd", math.max(0, bits.count(at_work & ~even) - self.counters.odd))
end

function observer:on_warp_end(warp) self.state.begun = (self.state.begun or 0) & ~bits.of(warp) end

return observer
]])

local function most_at_work(result)
  local most = 0
  for name, value in result:stats() do
    if name:find "%.observer%." then most = math.max(most, value) end
  end
  return most
end

for _, limit in ipairs { 1, 2, 5 } do
  harness.test(("no scheduler has more than %d warps at work"):format(limit), function()
    local r = checks.run { workload = "kmeans", policy = ("swl:limit=%d+%s"):format(limit, observer) }
    harness.equal(most_at_work(r), limit, "warps at work")
  end)
end

-- Its CTAs are of 8 warps and meet at two barriers for each tile.
harness.test("all warps of a CTA come to its barriers under a limit of one", function()
  local r = checks.run { workload = "sgemm", policy = "swl:limit=1" }
  local gto = checks.run { workload = "sgemm", policy = "gto" }
  harness.equal(r.warp_instructions, gto.warp_instructions, "instructions")
  assert(checks.sum(r, "sm.barriers") > 1000)
  assert(r.cycles > gto.cycles, "the limit costs nothing")
end)

harness.test("a limit of two per scheduler keeps k-means in L1", function()
  local swl = checks.run { workload = "kmeans", policy = "swl:limit=2" }
  local gto = checks.run { workload = "kmeans", policy = "gto" }
  assert(swl["sm[*].l1d.read_miss_rate"] < 0.05)
  assert(gto.cycles > 2 * swl.cycles, ("%d cycles, %d under gto"):format(swl.cycles, gto.cycles))
end)

harness.test("it is a parameter of the SM, with or without the policy", function()
  local swl = checks.run { workload = "spmv", policy = "swl:limit=3" }
  local set = checks.run { workload = "spmv", policy = "gto", set = { ["sm[*].warp_limit"] = 3 } }
  harness.equal(checks.text_of(set), checks.text_of(swl), "stats")
end)

for _, workload in ipairs { "kmeans", "bfs", "sgemm", "vecadd" } do checks.equals("swl:limit=24", "gto", workload) end
for _, workload in ipairs { "kmeans", "sgemm" } do checks.law("swl:limit=2", workload) end
checks.resumes("swl:limit=2", "kmeans", 4)
checks.resumes("swl:limit=1", "sgemm", 4)
checks.takes_over("swl:limit=1", "gto", "sgemm", 20000)
checks.takes_over("gto", "swl:limit=1", "sgemm", 20000)

harness.test("a warm machine changes its limit at once", function()
  local ww = require "warpwright"
  local sim = ww.build("gtx480", { policy = "swl:limit=1" })
  sim:start("kmeans", "small")
  sim:run { until_cycle = 10000 }
  sim:change { policy = "swl:limit=2" }
  sim:run {}
  local faster = sim:result().cycles
  sim:close()
  assert(faster < checks.run { workload = "kmeans", policy = "swl:limit=1" }.cycles)
end)

harness.test("limits that are none are refused", function()
  for _, limit in ipairs { "0", "65", "many" } do
    local status, output = harness.run("run", "gtx480", "vecadd", "--size", "small", "--policy", "swl:limit=" .. limit)
    harness.equal(status, 2, "exit status")
    harness.contains(output, "policy swl: limit: expected a whole number from 1 to 64, got '", limit)
  end
end)

harness.finish()
