-- Mascar: modes, ownership and re-execution step by step, seen by a policy beside it; the paper's worked example of
-- scheduling; that either half works alone, and that nothing changes without both.
local ww = require "warpwright"
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"

-- Fig. 3, with twice as many warps and outstanding requests, as ours are saturated with one of two ------------------------

local pairs_of_loads = ww.workload "pairs" {
  ptx = "../kernels/pairs_kernel.ptx",
  sizes = { small = { warps = 6, rounds = 8, work = 12 }, many = { warps = 24, rounds = 20, work = 2 },
    changing = { warps = 24, rounds = 20, work = 8 } },
}

function pairs_of_loads:run(gpu, size)
  local threads, rounds, work = 32 * size.warps, size.rounds, size.work
  local data = ww.array("u32", 2 * threads * rounds):random(1, 0, 1000)
  local sums = gpu:alloc(4 * threads)
  gpu:launch(self.kernels.pairs, { grid = 1, block = threads, args = { gpu:upload(data), sums, rounds, work } })
  local want = ww.array("u32", threads)
  for t = 0, threads - 1 do
    local sum = 0
    for r = 0, rounds - 1 do
      local first = r * 2 * threads + t // 32 * 64 + t % 32
      sum = sum + work * (data[first] + data[first + 32])
    end
    want[t] = sum
  end
  self:check("sums", gpu:download("u32", sums, threads), want)
end

-- Runs behind mascar, so it handles each event after it, at the end of the same cycle.
local observer = harness.write("observer.lua", [[
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"
local observer = policy "observer" {
  doc = "Watches mascar",
  counters = { loads = "", owned_loads = "", forbidden_loads = "", pairs = "", parted = "", blocked = "", kept = "", modes = "",
    to_issued = "", to_ready = "", to_queue = "", to_nobody = "", wrong_owner = "",
    wrong_modes = "", strangers = "", accesses = "", not_owned = "", uneven = "", takes = "", unwatched = "",
    early = "", absent = "" },
}

--- What may issue in a cycle is what stood in the knob at the end of the one before.
function observer:on_issue(warp, pc)
  if pc ~= 13 and pc ~= 14 then return end
  self:count "loads"
  if self.sm.may_issue_memory ~= bits.all then self:count "owned_loads" end
  if not bits.has(self.sm.may_issue_memory, warp) then self:count "forbidden_loads" end
end

--- Both misses of a warp one after the other, or with another warp's between them. Nobody but the owner misses, and without
-- an owner everybody may; in the cycle in which the owner gives way, it may still have missed.
function observer:on_l1_miss(_, warp, _, pc)
  if pc == 14 then self:count(self.state.last == warp and "pairs" or "parted") end
  self.state.last = warp
  if not bits.has(self.l1.may_miss, warp) and self.state.since ~= self:cycle() then self:count "strangers" end
end

--- Who may issue memory is served by the L1, be it the owner or, without one, everybody.
function observer:compare()
  if self.sm.may_issue_memory ~= self.l1.may_miss then self:count "uneven" end
end

--- The first access that goes below makes its warp the owner, at once. It is not watched while it holds accesses.
function observer:on_l1_memory_access(warp)
  self:count "accesses"
  if self.sm.first == "compute" and self.l1.may_miss ~= bits.of(warp) then self:count "not_owned" end
  if bits.has(self.sm.watched, warp) == self.sm:holds_accesses(warp) then self:count "early" end
  self:compare()
end

--- The owner is watched from when the L1 has taken its accesses. Who has given way in this cycle is not.
function observer:on_l1_taken(warp)
  self:count "takes"
  local owns = self.sm.may_issue_memory == bits.of(warp)
  if bits.has(self.sm.watched, warp) ~= owns then self:count "unwatched" end
  self:compare()
end

--- The owner is one at most. It gives way when it waits for a load, and not before the L1 has taken its accesses: to the
-- warp of the access that is the next to come to the L1; without one to the oldest that is ready to access memory, without one
-- to that of the access at the head of the queue, without one to nobody.
function observer:on_load_blocked(warp)
  local sm, issued, ready, head = self.sm, self.sm:first_issued(), self.sm:memory_ready(), self.l1:reexecution_head()
  self:count "blocked"
  self.state.since = self:cycle()
  self:compare()
  if sm:holds_accesses(warp) then self:count "early" end
  if sm.may_issue_memory == bits.of(warp) then self:count "kept" end
  if issued and not sm:holds_accesses(issued) then self:count "absent" end
  local next = issued and bits.of(issued) or ready ~= 0 and sm:oldest(ready, 1) or head and bits.of(head) or bits.all
  if sm.may_issue_memory ~= next then self:count "wrong_owner" end
  self:count(issued and "to_issued" or ready ~= 0 and "to_ready" or head and "to_queue" or "to_nobody")
end

observer.on_watched_stops = observer.on_load_blocked

function observer:on_l1_saturation(on)
  local sm, l1 = self.sm, self.l1
  self:count "modes"
  local right = on == 1 and sm.first == "compute" and sm.scheduler == "oldest" and l1.memory_watched == bits.all
    or on == 0 and sm.first == "memory" and sm.scheduler == "gto" and l1.memory_watched == 0
  if not (right and sm.may_issue_memory == bits.all and l1.may_miss == bits.all) then self:count "wrong_modes" end
end

return observer
]])

local figure_3 = { "sms=1", "sm[*].schedulers=1", "sm[*].l1d.mshrs=4", "sm[*].l1d.latency=1" }
local more_mshrs = { "sms=1", "sm[*].schedulers=1", "sm[*].l1d.mshrs=12", "sm[*].l1d.latency=1" }
local function pairs_under(policy, set, size)
  return checks.run { workload = pairs_of_loads, policy = policy, set = set, size = size }
end

harness.test("Fig. 3: one warp's requests before another's overlap loads with computation", function()
  local infinite = pairs_under("lrr", { "sms=1", "sm[*].schedulers=1", "sm[*].l1d.latency=1" })
  local lrr, mascar = pairs_under("lrr+" .. observer, figure_3), pairs_under("mascar+" .. observer, figure_3)
  assert(infinite.cycles < mascar.cycles and mascar.cycles < lrr.cycles, ("%d cycles with all MSHRs, %d with four under lrr, "
    .. "%d under mascar"):format(infinite.cycles, lrr.cycles, mascar.cycles))
  local function sum(r, name) return checks.sum(r, "sm.observer." .. name) end
  assert(sum(lrr, "parted") > 12, "under lrr the warps' requests alternate: " .. sum(lrr, "parted"))
  assert(sum(mascar, "parted") < 4, "under mascar they come together: " .. sum(mascar, "parted"))
end)

harness.test("in MP mode one warp accesses memory at a time, and gives way when it waits for its loads", function()
  local long, changing = pairs_under("mascar+" .. observer, figure_3, "many"), pairs_under("mascar+" .. observer, more_mshrs, "changing")
  local function both(name) return checks.sum(long, name) + checks.sum(changing, name) end
  local function sum(name) return both("sm.observer." .. name) end
  harness.equal(sum "loads", 2 * 2 * 24 * 20, "loads")
  harness.equal(sum "forbidden_loads", 0, "loads of others")
  assert(sum "owned_loads" > 0, "an owner issues its second load alone when that had not issued with the first")
  assert(sum "pairs" > 5 * sum "parted", ("%d pairs of misses come together, %d do not"):format(sum "pairs", sum "parted"))
  harness.equal(sum "strangers", 0, "misses of others")
  assert(sum "blocked" > 100, "too few owners were blocked to tell: " .. sum "blocked")
  harness.equal(sum "kept", 0, "owners that kept ownership")
  harness.equal(sum "wrong_owner", 0, "owners after another that are not the next at the L1, the oldest ready warp, or the "
    .. "queue's head")
  harness.equal(sum "absent", 0, "next at the L1 without an access that waits")
  harness.equal(sum "to_issued", both("sm.mascar.issued_owners"), "owners that were the next at the L1")
  harness.equal(sum "to_ready", both("sm.mascar.ready_owners"), "owners that were the oldest ready warp")
  harness.equal(sum "to_queue", both("sm.mascar.queue_owners"), "owners at the head of the queue")
  for _, name in ipairs { "to_issued", "to_ready", "to_queue", "to_nobody" } do
    assert(sum(name) > (name == "to_queue" and 1 or 50), name .. ": " .. sum(name))
  end
  assert(sum "modes" > 40, "too few modes to tell: " .. sum "modes")
  harness.equal(sum "wrong_modes", 0, "modes with knobs of the other")
  assert(both("sm.mascar.owners") > 100, "owners: " .. both("sm.mascar.owners"))
  assert(both("sm.mascar.queue_owners") > 0, "owners of the head of the re-execution queue")
  assert(both("sm.l1d.reexecution_refusals") > 50, "refusals")
  -- No access is refused when nobody owns the memory: the first that needs it makes its warp the owner.
  harness.equal(sum "accesses", both("sm.mascar.owners"), "first accesses, owners")
  harness.equal(sum "not_owned", 0, "first accesses of warps that did not become owners")
  assert(sum "takes" > 100, "too few times at which all is taken: " .. sum "takes")
  harness.equal(sum "unwatched", 0, "owners of which all is taken and that nobody watches, or others that somebody does")
  harness.equal(sum "early", 0, "owners that are watched, or told of, before all is taken")
  harness.equal(sum "uneven", 0, "times at which others may issue than are served")
  -- Where four MSHRs serve 24 warps, memory stays saturated.
  assert(checks.sum(long, "sm.observer.modes") < 10, "MP mode ended: " .. checks.sum(long, "sm.observer.modes"))
  -- The signal changes once to saturated and once back.
  local switches = both("sm.mascar.mp_modes")
  assert(math.abs(2 * switches - sum "modes") <= 2 and switches == both("sm.l1d.saturations"), "MP modes")
end)

-- Keeps the order in which loads and stores have issued, until the L1 takes them.
local fifo = harness.write("fifo.lua", [[
local policy = require "warpwright.policy"
local fifo = policy "fifo" { doc = "Watches mascar", counters = { chosen = "", others = "", wrong = "" } }

function fifo:start()
  self.state.issued = {}
end

--- What happened in the cycle of an answer has all been heard of in the next one.
local function compare(self)
  local s = self.state
  if not s.first or self:cycle() == s.since then return end
  if s.first ~= s.issued[1] then self:count "wrong" end
  s.first = nil
end

function fifo:on_issue(warp, pc)
  compare(self)
  if pc == 13 or pc == 14 or pc == 27 then table.insert(self.state.issued, warp) end
end

local function taken(self, _, warp)
  compare(self)
  local issued = self.state.issued
  for i, other in ipairs(issued) do
    if other == warp then return table.remove(issued, i) end
  end
end
fifo.on_l1_hit, fifo.on_l1_miss, fifo.on_l1_merge = taken, taken, taken

function fifo:on_load_blocked(warp)
  compare(self)
  local first = self.sm:first_issued()
  self:count(first and "chosen" or "others")
  self.state.first, self.state.since = first, self:cycle()
  if first and self.sm.may_issue_memory ~= 1 << first then self:count "wrong" end
end

return fifo
]])

harness.test("whose accesses have issued owns the memory next, in the order of issue", function()
  local r = pairs_under("mascar:reexecution=false+" .. fifo, more_mshrs, "changing")
  local chosen, others = checks.sum(r, "sm.fifo.chosen"), checks.sum(r, "sm.fifo.others")
  assert(chosen > 20 and others > 20, ("%d of them, %d others"):format(chosen, others))
  harness.equal(checks.sum(r, "sm.fifo.wrong"), 0, "others than the first")
end)

-- Each half alone -------------------------------------------------------------------------------------------------------

local kmeans = {}
for name, text in pairs { lrr = "lrr", both = "mascar", queue = "lrr+mascar:scheduling=false",
  scheduling = "mascar:reexecution=false" } do
  kmeans[name] = checks.run { workload = "kmeans", policy = text }
end

harness.test("each half alone, and both, keep more of k-means in L1 than round robin does", function()
  for name, percent in pairs { both = 15, queue = 5, scheduling = 15 } do
    local r = kmeans[name]
    assert(100 * kmeans.lrr.cycles > (100 + percent) * r.cycles, ("%s: %d cycles, %d under lrr"):format(name, r.cycles,
      kmeans.lrr.cycles))
    assert(checks.sum(r, "sm.l1d.misses") < checks.sum(kmeans.lrr, "sm.l1d.misses"), name)
  end
end)

harness.test("re-execution alone has no modes and no owners, scheduling alone no queue", function()
  for _, name in ipairs { "mp_modes", "owners", "queue_owners" } do
    harness.equal(checks.sum(kmeans.queue, "sm.mascar." .. name), 0, name)
  end
  harness.equal(checks.sum(kmeans.queue, "sm.l1d.reexecution_refusals"), 0, "refusals")
  assert(checks.sum(kmeans.queue, "sm.l1d.hits_under_miss") > 10000, "hits under miss")
  harness.equal(checks.sum(kmeans.scheduling, "sm.l1d.reexecution_pushes"), 0, "pushes")
  assert(checks.sum(kmeans.scheduling, "sm.l1d.refused_stall_cycles") > 10000, "refused misses stand at the tags")
  harness.equal(checks.sum(kmeans.both, "sm.l1d.refused_stall_cycles"), 0, "refused misses go into the queue")
end)

harness.test("LSU stalls become fewer, as in Fig. 11", function()
  local lrr = checks.sum(kmeans.lrr, "sm.lsu.stall_cycles")
  assert(checks.sum(kmeans.both, "sm.lsu.stall_cycles") < 0.6 * lrr)
end)

-- The law ---------------------------------------------------------------------------------------------------------------

for _, workload in ipairs { "sgemm", "vecadd" } do
  checks.equals("mascar:scheduling=false,reexecution=false", "gto", workload)
end
checks.law("mascar", "spmv")
checks.law("mascar:scheduling=false,entries=3", "bfs")
checks.law("mascar+mrpb", "bfs")
checks.resumes("mascar", "spmv", 3)
checks.resumes("mascar:reexecution=false", "bfs", 2)
checks.takes_over("mascar:reexecution=false", "gto", "kmeans", 20000)
checks.takes_over("lrr", "mascar:reexecution=false", "kmeans", 20000)

harness.test("bad parameters are refused by name", function()
  local function refuses(policy, ...)
    local status, output = harness.run("run", "gtx480", "vecadd", "--size", "small", "--policy", policy)
    harness.equal(status, 2, "exit status")
    harness.contains(output, ...)
  end
  refuses("mascar:entries=65", "entries", "64")
  refuses("mascar:free=501", "free", "500")
  refuses("mascar:scheduling=2", "scheduling", "true")
end)

harness.finish()
