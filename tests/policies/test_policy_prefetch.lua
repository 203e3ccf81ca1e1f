-- Policies that prefetch: what a stream of accesses makes them ask for, and what they must keep.
local harness = require "tests.lib.harness"
local checks = require "tests.lib.policy_checks"

-- Streams -------------------------------------------------------------------------------------------------------------

--- One warp reads 17 lines, one behind the other; the allocation has 18.
local stream = checks.strided { threads = 32, stride = 4, step = 128, moves = 16, rounds = 17 }
--- Each of eight warps reads one line, warp behind warp.
local row = checks.strided { threads = 256, stride = 4, rounds = 1 }
--- Each of four warps reads 16 lines, four lines apart.
local rows = checks.strided { threads = 128, stride = 4, step = 512, moves = 15, rounds = 16 }
--- Line after line is read twice before the next; nothing follows that a stride could foretell.
local still = checks.strided { threads = 32, stride = 4, rounds = 8 }

local function run(policy, workload, set)
  set = set or {}
  table.insert(set, 1, "sms=1")
  return checks.run { workload = workload, policy = policy, set = set }
end

--- The prefetches of the L1: asked for, sent, and found by an access in time or late; and read misses.
local function expect(policy, workload, asked, sent, found, misses)
  local r = run(policy, workload)
  harness.equal(r["sm[0].l1d.prefetches_asked"], asked, policy .. ": asked")
  harness.equal(r["sm[0].l1d.prefetches"], sent, policy .. ": sent")
  harness.equal(r["sm[0].l1d.prefetches_useful"] + r["sm[0].l1d.prefetches_late"], found, policy .. ": found")
  harness.equal(r["sm[0].l1d.read_misses"], misses, policy .. ": misses")
  return r
end

-- Mechanisms ----------------------------------------------------------------------------------------------------------

harness.test("next_line asks for the line behind each miss, and with `tagged` behind each prefetched line that is used", function()
  expect("next_line:tagged=false", stream, 9, 9, 8, 9)
  expect("next_line", stream, 17, 17, 16, 1)
  expect("next_line:distance=2,tagged=false", stream, 9, 9, 9, 9) -- behind the data are the sums, which are written
end)

harness.test("stride asks for the next line when the stride was seen again as often as `confidence` says", function()
  expect("stride", stream, 14, 14, 13, 4)
  expect("stride:confidence=4", stream, 12, 12, 11, 6)
  expect("stride", still, 0, 0, 0, 1)
end)

harness.test("mt_hwp foretells a warp's next line, those of the other warps of a load, and what the next warp reads", function()
  local one = expect("mt_hwp:throttle=false", stream, 15, 15, 14, 3)
  harness.equal(one["sm[0].l1d.mt_hwp.per_warp"], 15, "by the table of warps")
  local across = run("mt_hwp:throttle=false", row)
  harness.equal(across["sm[0].l1d.mt_hwp.inter_warp"], 6, "from warp to warp") -- the first two of eight train it
  local all = run("mt_hwp:throttle=false", rows)
  assert(all["sm[0].l1d.mt_hwp.global"] > 0, "no stride became global")
  harness.equal(run("mt_hwp:throttle=false,promote=5", rows)["sm[0].l1d.mt_hwp.global"], 0, "of four warps, by five")
end)

harness.test("the degree says which fifths of mt_hwp's prefetches are not sent", function()
  for degree = 0, 5 do
    local r = run("mt_hwp:first=" .. degree, stream)
    harness.equal(r["sm[0].l1d.mt_hwp.throttled"], 3 * degree, "of 15, throttled") -- as many of each five
    harness.equal(r["sm[0].l1d.prefetches_asked"] + r["sm[0].l1d.mt_hwp.throttled"], 15, "foretold")
  end
end)

--- What best_offset has learnt of a stream of one warp.
local function learnt(parameters, workload)
  local r = run("best_offset:" .. parameters, workload)
  local function of(name) return r["sm[0].l1d." .. name] end
  return {
    asked = of "prefetches_asked", found = of "prefetches_useful" + of "prefetches_late", misses = of "read_misses", cycles = r.cycles,
    phases = of "best_offset.phases", off = of "best_offset.off", offsets = of "best_offset.offsets",
  }
end

--- One warp reads every second line of 128.
local every_second = checks.strided { threads = 32, stride = 4, step = 256, moves = 63, rounds = 64 }
local every = checks.strided { threads = 32, stride = 4, step = 128, moves = 63, rounds = 64 }

harness.test("best_offset finds the offset of a stream, which is none of those in between", function()
  local r = learnt("most=3,score=2", every_second)
  assert(r.phases > 1 and r.off == 0, "no phase ended well")
  harness.equal(r.offsets, 2 * r.phases, "sum of the offsets, each 2")
  assert(r.found >= 50, ("%d of 64 lines were prefetched"):format(r.found))
  assert(r.cycles < 0.7 * run("gto", every_second).cycles, r.cycles .. " cycles")
end)

harness.test("best_offset takes an offset that is in time before one that is late", function()
  local near, far = learnt("most=1,score=2", every), learnt("most=4,score=2", every)
  harness.equal(near.offsets, near.phases, "sum of the offsets, each 1")
  assert(far.offsets >= 2 * far.phases, ("%d as the sum of %d offsets"):format(far.offsets, far.phases))
  assert(far.cycles < 0.8 * near.cycles, ("%d and %d cycles"):format(far.cycles, near.cycles))
end)

harness.test("best_offset turns prefetching off after a bad phase, and goes on learning", function()
  local r = learnt("most=1,rounds=4", every_second) -- no line has one beside it that is read
  harness.equal(r.phases, 16, "phases of four accesses")
  harness.equal(r.off, 16, "of them, bad ones")
  assert(r.asked <= 4, r.asked .. " prefetches")
  local again = learnt("most=2,rounds=2,bad=0,score=2", every_second)
  assert(again.phases > again.off, "it was never on")
end)

harness.test("best_offset stays in the page, and refuses numbers that are no power of two", function()
  local r = learnt("most=4,score=2,page=128", every) -- of one line
  harness.equal(r.asked, 0, "asked")
  harness.equal(r.misses, 64, "misses")
  harness.refused("page: expected a power of two, got 3000", "run", "gtx480", "vecadd", "--size", "small", "--policy", "best_offset:page=3000")
  harness.refused("prefetch_priority: expected one of demand, oldest, own_port, got 'late'", "run", "gtx480", "vecadd", "--size", "small", "--policy",
    "best_offset:priority=late")
end)

harness.test("a stride that is prefetched takes fewer cycles", function()
  for _, policy in ipairs { "next_line", "stride", "mt_hwp:throttle=false", "best_offset:score=2,most=4" } do
    local with, without = run(policy, stream), run("gto", stream)
    assert(with.cycles < 0.8 * without.cycles, ("%s: %d of %d cycles"):format(policy, with.cycles, without.cycles))
  end
end)

harness.test("stride reaches the L2 by its parameter `cache`", function()
  local r = run("stride:cache=l2[*]", stream, { "partitions=1" })
  harness.equal(r["sm[0].l1d.prefetches_asked"], 0, "asked of the L1")
  assert(checks.sum(r, "l2.prefetches_asked") > 0, "nothing was asked of the L2")
end)

local strangers = harness.write("strangers.lua", [[
local strangers = require "warpwright.policy" "strangers" {
  doc = "Counts requests at an L2 for addresses of another", scope = "l2", counters = { came = "Requests of another slice's addresses" },
}
function strangers:on_miss(_, _, address) if not self.l2:set_of(address) then self:count "came" end end
strangers.on_hit, strangers.on_merge = strangers.on_miss, strangers.on_miss
return strangers]])

harness.test("a bank of an L1 drops prefetches of lines that lie in another, and fetches its own", function()
  local r = checks.run { config = "gallery/banked_l1", workload = "vecadd", policy = "next_line:tagged=false+" .. strangers }
  harness.equal(checks.sum(r, "l2.strangers.came"), 0, "requests of an L2 for another's addresses")
  assert(r["l1d[*].prefetch_drops_outside"] > 100, "none was dropped")
  assert(r["l1d[*].prefetches"] > 100, "none was sent")
end)

harness.test("pollution counts the misses of lines that prefetches have replaced, and changes nothing", function()
  local function counts(policy)
    local r = checks.run { workload = "sgemm", policy = policy, set = { "sms=4" } }
    return r["sm[*].l1d.pollution.replaced"], r["sm[*].l1d.pollution.misses"], r
  end
  local replaced, misses, with = counts "next_line+pollution"
  local without = checks.run { workload = "sgemm", policy = "next_line", set = { "sms=4" } }
  assert(misses > 1000 and misses <= replaced and misses < with["sm[*].l1d.read_misses"], ("%d misses of %d lines"):format(misses, replaced))
  harness.same_text(checks.text_of(with, { "pollution" }), checks.text_of(without))
  harness.equal(select(2, counts "gto+pollution"), 0, "without a prefetcher")
  harness.equal(select(2, counts "next_line:queue=0+pollution"), 0, "of one whose prefetches are dropped")
  assert(select(2, counts "next_line+pollution:lines=4") < misses, "four lines remember as much")
end)

harness.test("a prefetcher whose caches take no prefetches is told of, unless somebody has set their queue to 0", function()
  local mine = harness.write("unqueued.lua", [[
local policy = require "warpwright.policy"
local unqueued = policy "unqueued" { scope = "cache", caches = "data" }
function unqueued:on_miss(sm, warp, address) self.cache:prefetch(address + 128, warp, sm) end
return unqueued
]])
  local function told(...)
    local status, output = harness.run("run", "gtx480", "vecadd", "--size", "small,n=4096", "--set", "sms=2", "--out",
      harness.folder() .. "/told", ...)
    harness.equal(status, 0, output)
    return output
  end
  local output = told("--policy", mine)
  local stats, asked = harness.read(harness.folder() .. "/told/stats.json"), 0
  for count in stats:gmatch '"sm%[[01]%].l1d.prefetches_asked": (%d+)' do asked = asked + count end
  assert(asked > 100, asked)
  harness.contains(output, ("warpwright: sm[*].l1d takes no prefetches: all %d that policies asked for were dropped; configure() of a policy "
    .. "may set prefetch_queue, which is 0\n"):format(asked))
  for _, words in ipairs { { "--policy", mine, "--set", "sm[*].l1d.prefetch_queue=0" }, { "--policy", mine .. "+next_line" },
    { "--policy", "next_line:queue=0" }, { "--policy", "gto" } } do
    local other = told(table.unpack(words))
    assert(not other:find("takes no prefetches", 1, true), other)
  end
end)

-- Laws ----------------------------------------------------------------------------------------------------------------

for _, policy in ipairs { "next_line", "stride", "mt_hwp", "best_offset" } do
  harness.test(policy .. " with no queue to ask of is gto", function()
    local own_rows, set = { policy, "prefetches_asked", "prefetch_drops" }, { "sms=2" }
    local mine = checks.run { workload = "bfs", policy = policy .. ":queue=0", set = set }
    local other = checks.run { workload = "bfs", policy = "gto", set = set }
    assert(mine["sm[0].l1d.prefetch_drops_queue"] > 0, "it asked for nothing")
    harness.same_text(checks.text_of(mine, own_rows), checks.text_of(other, own_rows))
  end)
end
checks.equals("mt_hwp:first=5", "gto", "bfs", { "sms=2" })

for _, policy in ipairs { "next_line:degree=2+stride:cache=l2[*]", "mt_hwp:throttle=false+next_line:cache=l2[*]" } do
  checks.law(policy, "bfs", { "sms=3" })
  checks.law(policy, "spmv", { "sms=3", "sm[*].l1d.sectors=4", "sm[*].l1d.allocate=fill", "sm[*].l1d.prefetch_mshr_reserve=4" })
end
--- Every way to share the tags, at both levels.
for _, priority in ipairs { "oldest", "own_port" } do
  local set = { "sms=3", "sm[*].l1d.prefetch_priority=" .. priority, "l2[*].prefetch_priority=" .. priority,
    "sm[*].l1d.prefetch_drop=oldest", "l2[*].prefetch_drop=oldest" }
  checks.law("next_line:degree=2+stride:cache=l2[*]", "bfs", set)
  checks.law("victim_cache+next_line:degree=2", "kmeans", set)
  checks.resumes("next_line:degree=2+stride:cache=l2[*]", "bfs", 2, set)
end
checks.resumes("next_line:degree=2+stride:cache=l2[*]", "bfs", 2)
checks.resumes("mt_hwp:period=500", "bfs", 2)
checks.law("best_offset:score=4,cache=*", "bfs", { "sms=3" })
checks.resumes("best_offset:score=4+pollution:lines=100", "bfs", 2)
checks.law("stride+next_line:cache=l2[*]+pollution:cache=*", "bfs", { "sms=3" })
checks.takes_over("best_offset", "stride", "spmv", 20000)
checks.takes_over("stride", "next_line:degree=4", "spmv", 20000)
checks.takes_over("gto", "next_line:degree=4", "spmv", 20000)
checks.takes_over("next_line", "gto", "spmv", 20000)

harness.finish()
