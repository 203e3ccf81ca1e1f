-- Comparison points of MeDiC, with warps of known types: the evicted-address filter, tokens, bypassing by instruction and
-- at random; and the distribution of queueing delays. Loads that bring new lines are instruction 34, others 35.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local kernel = require "tests.kernels.warp_types_kernel"

local function l2(r, name) return checks.sum(r, "l2." .. name) end

-- Evicted-address filter -------------------------------------------------------------------------------------------------

-- 60 rounds of two warps bring 3840 lines that never come back, more than seven times what the slice holds; in the last
-- round everybody reads his still lines again.
local function storm(last) return { moving = "0 3 16 32 32 0 3 16", rounds = "12 6 60 " .. last } end

harness.test("lines that never come back pass through the L2, and the others stay", function()
  local still = 2 * (32 + 29 + 16)
  local r = kernel.run("eaf", storm(1))
  harness.equal(l2(r, "read_hits") - l2(kernel.run("eaf", storm(0)), "read_hits"), still, "hits in the last round")
  harness.equal(l2(kernel.run("gto", storm(1)), "read_hits"), l2(kernel.run("gto", storm(0)), "read_hits"), "those of LRU")
  harness.equal(l2(r, "eaf.recalled") + l2(r, "eaf.unknown"), l2(r, "read_misses") + l2(r, "write_misses"), "lines brought in")
  local kept = l2(r, "eaf.unknown_kept") / l2(r, "eaf.unknown")
  assert(kept > 0.5 / 64 and kept < 2 / 64, ("%.4f of the unknown lines stay"):format(kept))
end)

-- 8 warps * 32 lanes, 256 lines; a slice of 128 lines. Under LRU each is gone when it comes again.
harness.test("lines that come back soon after their eviction are known", function()
  local thrash = { moving = "0 0 0 0 0 0 0 0", rounds = "30 0 0 0", set = { ["l2[*].size"] = "16KiB" } }
  local gto, r = kernel.run("gto", thrash), kernel.run("eaf", thrash)
  assert(l2(r, "eaf.recalled") > 500 and l2(r, "eaf.clears") > 3, l2(r, "eaf.recalled") .. " lines recalled")
  assert(l2(r, "read_misses") < 0.8 * l2(gto, "read_misses"), "as many misses as without it")
end)

-- Tokens -----------------------------------------------------------------------------------------------------------------

local holders = harness.write("holders.lua", [[
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"
local holders = policy "holders" {
  doc = "Who takes lines", scope = "l2", counters = { fills = "", of_others = "" },
}
function holders:on_fill(_, warp)
  self:count "fills"
  if warp > 2 then self:count "of_others" end
end
return holders]])

harness.test("only warps with tokens use the L2; others bypass it", function()
  local gto, r = kernel.run "gto", kernel.run("pcal:tokens=3,epoch=10000000+" .. holders) -- the first three warps of the CTA
  harness.equal(l2(r, "holders.of_others"), 0, "lines of warps without a token")
  assert(l2(r, "holders.fills") > 100, "too few to tell")
  harness.equal(l2(r, "read_bypasses"), 5 * 32 * 41 + 1, "reads that bypass") -- one of parameters, which are there
  harness.equal(l2(r, "write_bypasses"), 2 * 5, "writes that bypass")
  harness.equal(l2(r, "accesses"), l2(gto, "accesses"), "accesses")
  harness.equal(checks.sum(r, "sm.pcal.granted"), 3 + 3, "tokens")
end)

harness.test("requests without a token take neither the lookup's time nor a place in front of the tags", function()
  local far = { ["l2[*].rop_delay"] = 500 }
  local r = kernel.run("pcal:tokens=0+l2_delays", { set = far })
  harness.equal(l2(r, "delays.requests"), 0, "requests at the tags")
  local near = kernel.run("pcal:tokens=0", { set = { ["l2[*].rop_delay"] = 5 } })
  harness.equal(r.cycles, near.cycles, "cycles, whatever the lookup takes")
  local waits = kernel.run("pcal:tokens=0,uses_lines=true", { set = far })
  assert(waits.cycles > r.cycles + 40 * 400, ("%d cycles in the queue, %d past it"):format(waits.cycles, r.cycles))
end)

harness.test("with uses_lines they use those that are there and pass where there are none", function()
  local r = kernel.run("pcal:uses_lines=true,tokens=3,epoch=10000000+" .. holders)
  harness.equal(l2(r, "holders.of_others"), 0, "lines of warps without a token")
  assert(l2(r, "holders.fills") > 100, "too few to tell")
  -- of the first launch, 5 warps; of the second, 40 rounds of all lanes of 5 warps: none of their lines was ever taken
  harness.equal(l2(r, "read_bypasses"), 5 * 32 * 41, "reads that pass")
  harness.equal(checks.sum(r, "sm.pcal.granted"), 3 + 3, "tokens")
end)

harness.test("tokens go to the warps that the L2 served last", function()
  -- Three of eight warps go on after the second phase: 3, 4 and 5 have 29 or more moving lanes.
  local watcher = harness.write("watcher.lua", [[
local policy = require "warpwright.policy"
local watcher = policy "watcher" { doc = "Who holds tokens", period = 1000, counters = { in_storm = "", right = "" } }
function watcher:on_period()
  local alone = self.sm.live & ~self.sm.waiting
  if alone ~= 0x38 then self.state.since = nil return end
  self.state.since = self.state.since or self:cycle()
  if self:cycle() - self.state.since < 3000 then return end
  self:count "in_storm"
  if self.sm:warps_in(0) & 0xff == 0x38 then self:count "right" end
end
return watcher]])
  local r = kernel.run("pcal:tokens=3,epoch=1000+" .. watcher, { moving = "0 3 16 29 32 32 3 16", rounds = "10 2 90 1" })
  assert(checks.sum(r, "sm.watcher.in_storm") > 5, "too few looks to tell")
  harness.equal(checks.sum(r, "sm.watcher.right"), checks.sum(r, "sm.watcher.in_storm"), "looks at which the three held them")
end)

harness.test("tokens for L1 go to the oldest warps", function()
  local r = checks.run { workload = checks.thrashing, policy = "pcal:level=l1,tokens=4", set = { sms = 1 } }
  local gto = checks.run { workload = checks.thrashing, policy = "gto", set = { sms = 1 } }
  assert(checks.sum(gto, "sm.l1d.read_hits") < 0.01 * 16 * 32 * 100, "gto hits")
  assert(checks.sum(r, "sm.l1d.read_hits") > 0.2 * 16 * 32 * 100, "the four with tokens do not keep their lines")
  assert(checks.sum(r, "sm.l1d.read_bypasses") > 0)
end)

-- By instruction and at random -------------------------------------------------------------------------------------------

harness.test("the load that misses bypasses and the one that hits does not", function()
  local gto, r = kernel.run "gto", kernel.run "pc_byp:warm_up=512,window=1024" -- the still lines miss 256 times first
  local moving, still = 40 * (3 + 16 + 29 + 32 + 3 + 16), 40 * (32 + 29 + 16 + 3 + 32 + 29 + 16)
  local through = l2(r, "pc_table.learnt") - (still + 256)
  local want = 512 + (moving - 512) / 32 -- besides those on their way to the tags when it is decided, 99 a round
  assert(through >= want - 1 and through < want + 150, ("%d loads that miss went through, want %.0f"):format(through, want))
  assert(l2(r, "pc_table.bypassed") + through - moving <= 4) -- parameters
  harness.equal(l2(r, "read_hits"), l2(gto, "read_hits"), "hits")
end)

harness.test("the part that is asked for bypasses, and another seed draws others", function()
  local gto = kernel.run "gto"
  for _, rate in ipairs { 0.1, 0.5, 1 } do
    local r = kernel.run("rand_byp:rate=" .. rate)
    local part = l2(r, "bypasses") / l2(r, "accesses")
    assert(math.abs(part - rate) < 0.02, ("%.3f bypass at a rate of %.1f"):format(part, rate))
    harness.equal(l2(r, "accesses"), l2(gto, "accesses"), "accesses")
  end
  harness.equal(l2(kernel.run "rand_byp:rate=1", "hits"), 0, "hits when all bypass")
  assert(l2(kernel.run "rand_byp:rate=0.5", "hits") ~= l2(kernel.run "rand_byp:rate=0.5,seed=2", "hits"))
end)

-- Queueing delays --------------------------------------------------------------------------------------------------------

harness.test("every request that the tags answer is in the distribution of delays", function()
  local r = kernel.run "gto+l2_delays"
  local sum = 0
  for name, value in r:stats() do
    if name:find "%.delays%.delay_" then sum = sum + value end
  end
  harness.equal(sum, l2(r, "accesses"), "requests in buckets")
  harness.equal(sum, l2(r, "delays.requests"), "requests")
  assert(l2(r, "delays.delay_64") + l2(r, "delays.delay_128") > 1000, "MSHRs make them wait") -- 32, for 99 that miss
end)

harness.test("the machine medic has twelve banks, and requests of all types in their queues", function()
  local r = checks.run { config = "medic", workload = "spmv", policy = "medic:interval=3000,warm_up=20+l2_delays" }
  local accesses = l2(r, "accesses")
  for bank = 0, 11 do
    local part = r[("l2[%d].accesses"):format(bank)] / accesses
    assert(part > 0.5 / 12 and part < 2 / 12, ("bank %d has %.3f of the accesses"):format(bank, part))
  end
  harness.equal(l2(r, "delays.requests") + l2(r, "bypasses"), accesses, "requests")
  assert(l2(r, "bypasses") > 0 and checks.sum(r, "mc.urgent") > 0, "MeDiC does nothing")
  local again = checks.run { config = "medic", workload = "spmv", policy = "medic:interval=3000,warm_up=20+l2_delays",
    order = "reversed", threads = 2 }
  harness.equal(checks.text_of(again), checks.text_of(r), "stats")
end)

-- The law ----------------------------------------------------------------------------------------------------------------

checks.equals("eaf:bimodal=1", "gto", "bfs")
checks.equals("pcal:tokens=64", "gto", "bfs")
checks.equals("pcal:tokens=64", "gto", "vecadd") -- whose stores leave after their warps have ended
checks.equals("pcal:tokens=64,level=l1", "gto", "bfs")
checks.equals("pc_byp:threshold=0", "gto", "bfs")
checks.equals("rand_byp:rate=0", "gto", "bfs")
checks.equals("l2_delays", "gto", "bfs")
for _, name in ipairs { "eaf", "pcal:epoch=2000", "pc_byp", "rand_byp" } do
  checks.law(name, "bfs")
  checks.resumes(name, "bfs", 2)
end

harness.finish()
