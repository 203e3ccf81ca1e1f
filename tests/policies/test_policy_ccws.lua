-- Cache-conscious wavefront scheduling: what its parts decide step by step, seen by a policy beside it; that it helps where
-- it should, and changes nothing when it does not throttle.
local core = require "warpwright.core"
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"

-- Runs behind ccws, so it handles each event after it, at the end of the same cycle. A knob counts from the next cycle
-- on: what may load in a cycle is what stood in the knob at the end of the one before.
local observer = harness.write("observer.lua", [[
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"
local observer = policy "observer" {
  doc = "Watches ccws",
  counters = { hits = "", right_scores = "", changes = "", applied = "", loads = "", throttled_loads = "",
    forbidden_loads = "" },
}

--- LLDS, at least the base score and at most the cut-off; of a warp that has ended since it missed, nothing.
function observer:on_vta_hit(warp)
  local active = self.scores.active
  local cutoff = bits.count(active) * 100
  local score = self.vta.hits * 8 * cutoff // self.sm.warp_instructions
  local want = bits.has(active, warp) and math.max(100, math.min(cutoff, score)) or 0
  self:count "hits"
  if self.sm.live & ~active == 0 and self.scores:get(warp) == want then self:count "right_scores" end
end

function observer:on_scores_changed(allowed)
  self:count "changes"
  if self.sm.may_load == allowed then self:count "applied" end
end

function observer:on_issue(warp, pc)
  if pc ~= 10 then return end
  self:count "loads"
  if self.sm.may_load ~= -1 then self:count "throttled_loads" end
  if not bits.has(self.sm.may_load, warp) then self:count "forbidden_loads" end
end

return observer
]])

-- Sixteen warps on one SM, whose L1 has room for the lines of four.
local function thrash(policy) return checks.run { workload = checks.thrashing, policy = policy, set = { sms = 1 } } end

harness.test("scores, cut-off and Can Issue vector follow the paper at every hit", function()
  local r = thrash("ccws+" .. observer)
  local function sum(name) return checks.sum(r, "sm.observer." .. name) end
  harness.equal(sum "hits", checks.sum(r, "sm.vta.hits"), "hits told")
  assert(sum "hits" > 1000, "too few hits to tell")
  harness.equal(sum "right_scores", sum "hits", "right scores")
  assert(sum "changes" > 100, "too few changes to tell")
  harness.equal(sum "applied", sum "changes", "changes applied to may_load")
  harness.equal(sum "loads", 16 * 100, "loads")
  assert(sum "throttled_loads" > 800, "too few loads while others were blocked to tell")
  harness.equal(sum "forbidden_loads", 0, "loads of warps above the cut-off")
end)

-- Under gto everything misses. Either reading of the cut-off lets some warps keep their lines.
harness.test("sixteen warps that thrash an L1 with room for four are throttled", function()
  local gto, most = thrash "gto", 16 * 32 * 100
  assert(checks.sum(gto, "sm.l1d.read_misses") > 0.99 * most, "gto hits")
  for _, case in ipairs { { "bottom", 0.75 }, { "top", 0.35 } } do
    local edge, share = case[1], case[2]
    local r = thrash("ccws:edge=" .. edge)
    local misses = checks.sum(r, "sm.l1d.read_misses")
    assert(misses < share * most, ("edge=%s: %d of %d miss"):format(edge, misses, most))
    assert(r.cycles < 0.8 * gto.cycles, ("edge=%s: %d cycles, %d under gto"):format(edge, r.cycles, gto.cycles))
  end
end)

harness.test("it keeps k-means in L1", function()
  local ccws, gto = checks.run { workload = "kmeans", policy = "ccws" }, checks.run { workload = "kmeans", policy = "gto" }
  assert(ccws["sm[*].l1d.read_miss_rate"] < gto["sm[*].l1d.read_miss_rate"] / 2, "L1 misses as often as under gto")
  assert(gto.cycles > 1.3 * ccws.cycles, ("%d cycles, %d under gto"):format(ccws.cycles, gto.cycles))
  assert(checks.sum(ccws, "sm.scores.blocked_cycles") > 0)
end)

harness.test("a kernel without locality is left alone", function()
  local r = checks.run { workload = "vecadd", policy = "ccws" }
  harness.equal(checks.sum(r, "sm.vta.hits"), 0, "hits in victim tags")
  harness.equal(checks.sum(r, "sm.scores.changes"), 0, "changes")
end)

local function variant(name, pattern, with)
  return harness.write(name, (harness.read(core.home_path "policies/ccws.lua"):gsub(pattern, with)))
end

-- How somebody who wants other scores would begin.
local in_lua = variant("ccws_in_lua.lua", "  self%.scores:update_on_hits%b()(.-\nend\n)", [[%1
function ccws:on_vta_hit(warp)
  self.scores:raise(warp, self.vta.hits * self.params.k_throttle * self.scores.cutoff // self.sm.warp_instructions)
end
]])
for _, workload in ipairs { "kmeans", "bfs" } do checks.equals(in_lua, "ccws", workload) end

harness.test("scores from other things than victim tags of the same SM are refused", function()
  for arguments, message in pairs {
    ["self.scores, 1"] = "sm[0].scores:update_on_hits: vta: expected VictimTags, got sm[0].scores",
    ["self.vta, -1"] = "sm[0].scores:update_on_hits: k_throttle: expected a whole number from 0 to 1000000, got -1",
    ["self.vta, 1000001"] = "k_throttle: expected a whole number from 0 to 1000000, got 1000001",
  } do
    local file = variant("refused.lua", "self%.vta, self%.params%.k_throttle", arguments)
    harness.refused(message, "run", "gtx480", "vecadd", "--size", "small", "--policy", file)
  end
end)

for _, workload in ipairs { "kmeans", "bfs", "sgemm", "vecadd" } do
  checks.equals("ccws:k_throttle=0", "gto", workload)
end
for _, workload in ipairs { "kmeans", "spmv" } do checks.law("ccws", workload) end
checks.law("ccws:edge=top,base_score=50", "bfs")
checks.resumes("ccws", "kmeans", 6)
checks.resumes("ccws", "bfs", 3)
checks.takes_over("ccws", "gto", "kmeans", 20000)
checks.takes_over("lrr", "ccws", "kmeans", 20000)

harness.test("a machine without an L1 beside the LSU is refused by name", function()
  local status, output = harness.run("run", harness.write("no_l1.lua", [[
local ww = require "warpwright"
return ww.machine("no_l1", function(m)
  m:clocks { core = "700MHz", dram = "924MHz" }
  m:quantum(4)
  local dispatcher, sm = m:Dispatcher "dispatcher" { sms = 1 }, m:SM ("sm", 0) {}
  m:AddressMap "map" { channels = 1 }
  local mux, l2 = m:Mux "mux" { up = 1 }, m:L2 "l2" { size = "128KiB", ways = 16, mshrs = 32 }
  m:wire(dispatcher.sm[0], sm.dispatch)
  m:wire(sm.lsu.mem, mux.up[0])
  m:wire(mux.down, l2.cpu, { latency = 4, back = { latency = 4 } })
  m:wire(l2.mem, m:MemoryController "mc" { clock = "dram" }.cpu[0])
end)
]]), "vecadd", "--size", "small", "--policy", "ccws")
  harness.equal(status, 2, "exit status")
  harness.contains(output, "policy ccws: cache: expected one of data, ", "caches of machine no_l1 (l2), got 'data', which matches none")
end)

harness.test("bad parameters are refused by name", function()
  local status, output = harness.run("run", "gtx480", "vecadd", "--size", "small", "--policy", "ccws:edge=left")
  harness.equal(status, 2, "exit status")
  harness.contains(output, "sm[0].scores.edge", "bottom", "top")
  status, output = harness.run("run", "gtx480", "vecadd", "--size", "small", "--policy", "ccws:vta_entries=12")
  harness.equal(status, 2, "exit status")
  harness.contains(output, "sm[0].vta.entries: expected a multiple of ways = 8, got 12")
end)

harness.finish()
