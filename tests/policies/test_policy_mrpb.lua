-- Memory request prioritization buffer: whom the L1 serves, and what passes it by.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"

local function run(workload, policy, set)
  local r = checks.run { workload = workload, policy = policy, set = set }
  return function(name) return checks.sum(r, "sm.l1d." .. name) end, r
end

-- Section 4.3 of Khairy et al.: of 32 threads that map to the same set of four ways, the first four take a line, and 28 pass.
harness.test("of 32 requests to one set four take its lines and 28 bypass, at once", function()
  local one_set = checks.strided { threads = 32, stride = 4096, rounds = 1 }
  local l1, r = run(one_set, "mrpb", { sms = 1 })
  harness.equal(l1 "read_misses", 4, "misses")
  harness.equal(l1 "line_fail_bypasses", 28, "bypasses")
  harness.equal(l1 "line_fails", 0, "associativity stalls")
  local waiting, without = run(one_set, "mrpb:bypass=false", { sms = 1 })
  harness.equal(waiting "read_misses", 32, "misses without bypass")
  harness.equal(waiting "line_fail_bypasses", 0, "bypasses without bypass")
  harness.equal(waiting "line_fails", 28, "associativity stalls without bypass")
  assert(without.cycles > r.cycles + 500, ("%d cycles, %d without bypass"):format(r.cycles, without.cycles))
end)

-- Handles what becomes of each request at the tags, at the end of its cycle.
local observer = harness.write("observer.lua", [[
local policy = require "warpwright.policy"
local observer = policy "observer" {
  doc = "Watches mrpb", counters = { rounds = "", out_of_order = "" },
}
function observer:start() self.state.address = {} end

--- Lines of a warp are read by address, from the lowest on in each round.
local function served(self, _, warp, address, pc)
  if pc ~= 10 then return end
  local seen = self.state.address
  if seen[warp] and address <= seen[warp] then self:count "rounds" end
  if seen[warp] and address > seen[warp] + 128 then self:count "out_of_order" end
  seen[warp] = address
end
observer.on_l1_hit, observer.on_l1_miss, observer.on_l1_merge = served, served, served
return observer
]])

-- Sixteen warps on one SM; each reads 32 lines, 100 times over; the L1 has room for the lines of four.
harness.test("each warp's requests stay in order, and the lowest warps keep their lines", function()
  local set = { sms = 1 }
  local gto, before = run(checks.thrashing, observer, set)
  local mrpb, after = run(checks.thrashing, "mrpb:bypass=false+" .. observer, set)
  for _, r in ipairs { before, after } do
    harness.equal(checks.sum(r, "sm.observer.out_of_order"), 0, "requests before older ones of their warp")
    harness.equal(checks.sum(r, "sm.observer.rounds"), 16 * 99, "rounds of the warps")
  end
  harness.equal(gto "prioritization_overtakes", 0, "overtaking requests under gto")
  assert(mrpb "prioritization_overtakes" > 1000, "too few requests overtook others")
  assert(mrpb "read_misses" < gto "read_misses" / 2, ("%d misses, %d under gto"):format(mrpb "read_misses", gto "read_misses"))
end)

harness.test("one queue for all warps is no buffer but for its depth", function()
  local l1 = run(checks.thrashing, "mrpb:queues=1", { sms = 1 })
  harness.equal(l1 "prioritization_overtakes", 0, "overtaking requests")
end)

harness.test("it keeps k-means in L1", function()
  local l1, mrpb = run("kmeans", "mrpb")
  local _, gto = run("kmeans", "gto")
  assert(l1 "prioritization_overtakes" > 1000 and l1 "line_fail_bypasses" > 0, "it did nothing")
  assert(gto.cycles > 1.5 * mrpb.cycles, ("%d cycles, %d under gto"):format(mrpb.cycles, gto.cycles))
end)

for _, workload in ipairs { "kmeans", "vecadd" } do checks.equals("mrpb:requests=0,bypass=false", "gto", workload) end
checks.law("mrpb", "kmeans")
checks.law("mrpb:total=32,queues=7", "spmv")
checks.law("mrpb+mascar", "bfs")
checks.resumes("mrpb", "kmeans", 4)
checks.resumes("mrpb:requests=2", "bfs", 3)

harness.test("requests in the buffer are not forgotten when another policy would begin", function()
  local ww = require "warpwright"
  local sim = ww.build("gtx480", { policy = "mrpb" })
  sim:start("kmeans", "small")
  sim:run { until_cycle = 20000 }
  local ok, problem = pcall(sim.change, sim, { policy = "gto" })
  assert(not ok, "it was transferred")
  harness.contains(tostring(problem), "sm[0].l1d.prioritization_places: ", "expected the queues and places of the checkpoint")
  sim:close()
end)

-- With four ways and 32 MSHRs: 4 reads with a line and 28 without one. Without them all others are in flight.
harness.test("what bypasses holds an MSHR: 32 requests to one set are in flight, and no more", function()
  local one_set = checks.strided { threads = 128, stride = 4096, rounds = 1 }
  local l1 = run(one_set, "mrpb", { sms = 1 })
  local free = run(one_set, "mrpb:mshrs=false", { sms = 1 })
  assert(l1 "mshr_entry_fails" > 0, "nothing waited for an MSHR")
  harness.equal(free "mshr_entry_fails", 0, "waiting for an MSHR, where what bypasses holds none")
  harness.equal(free "line_fail_bypasses", 124, "bypasses")
end)

harness.test("requests that hold an MSHR, and do not, go on on a machine where they do not, and do", function()
  local ww = require "warpwright"
  for _, policies in ipairs { { "mrpb", "mrpb:mshrs=false" }, { "mrpb:mshrs=false", "mrpb" } } do
    local sim = ww.build("gtx480", { policy = policies[1] })
    sim:start("gesummv", "small")
    local moved = false
    for cycle = 2000, 20000, 250 do
      sim:run { until_cycle = cycle }
      if not moved then moved = pcall(sim.change, sim, { policy = policies[2] }) end
    end
    assert(moved, "it could never be transferred")
    sim:run {}
    sim:close()
  end
end)

harness.test("bad parameters are refused by name", function()
  for _, case in ipairs { { "queues=65", "1 to 64" }, { "requests=-1", "0 to 4096" }, { "total=262145", "prioritization_total" } } do
    local status, output = harness.run("run", "gtx480", "vecadd", "--size", "small", "--policy", "mrpb:" .. case[1])
    harness.equal(status, 2, "exit status")
    harness.contains(output, case[2])
  end
end)

harness.finish()
