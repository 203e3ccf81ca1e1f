-- Machines with address translation: they obey the laws in each of their wirings, caches stay in reach of policies, policies
-- decide about entries, and launches without timing warm TLBs.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local checks = require "tests.lib.policy_checks"

local function run(how)
  local r = ww.run { config = how.config or "gtx480_translation", workload = how.workload or "bfs", size = "small",
    policy = how.policy, set = how.set, out = false, order = how.order, threads = how.threads, fast_forward = how.fast_forward }
  assert(r.checks > 0, "nothing was checked")
  return r
end

local function stats_of(how)
  local lines = {}
  for name, value in run(how):stats() do lines[#lines + 1] = name .. " " .. tostring(value) end
  return table.concat(lines, "\n")
end

local function sum(r, stat) return checks.sum(r, stat) end

for _, wiring in ipairs {
  { "TLBs in front of the L1s", { sms = 4 } }, { "TLBs behind the caches", { sms = 4, network = true } },
  { "a second TLB", { sms = 4, second = 64, entries = 8 } }, { "one walk at a time", { sms = 4, walkers = 1, walk_cache = 0 } },
} do
  local name, set = wiring[1], wiring[2]
  harness.test(("%s: the same in any order and on threads"):format(name), function()
    local want = stats_of { set = set }
    for _, how in ipairs { { order = "reversed", threads = 2 }, { order = "shuffled:3" }, { order = "restless" } } do
      how.set = set
      harness.same_text(stats_of(how), want, how.order)
    end
  end)
end

harness.test("each request is looked up once, and what the TLBs lack is walked for", function()
  local r = run { set = { sms = 4, page = "4KiB" } }
  local looked_up = sum(r, "sm.tlb.hits") + sum(r, "sm.tlb.misses") + sum(r, "sm.tlb.merges")
  harness.equal(looked_up, sum(r, "sm.l1d.accesses"), "requests")
  harness.equal(r["walker.requests"], sum(r, "sm.tlb.misses"), "walks")
  assert(r["walker.reads"] > r["walker.requests"], "no walk read more than an entry")
  harness.equal(r["tlb_misses.requests"], r["walker.requests"], "requests of the mux")
end)

harness.test("larger pages need fewer walks, and a walker of one walk at a time takes longer", function()
  local small, large = run { set = { page = "4KiB" } }, run { set = { page = "2MiB" } }
  assert(large["walker.requests"] < small["walker.requests"] / 4)
  assert(large.cycles < small.cycles)
  local one = run { set = { page = "4KiB", walkers = 1 } }
  assert(one.cycles > 1.1 * small.cycles, ("%d and %d cycles"):format(one.cycles, small.cycles))
end)

harness.test("policies of the L1 find it behind its TLB", function()
  local r = run { policy = "mascar", workload = "kmeans", set = { sms = 2 } }
  assert(sum(r, "sm.mascar.owners") > 0, "no warp became owner")
end)

harness.test("the page table has pages as data have, where pages lie where they are first touched", function()
  local r = run { policy = "first_touch:sms=15,channels=6" }
  local without = run { config = "gtx480", policy = "first_touch:sms=15,channels=6" }
  assert(r["map.first_touch.placed"] > without["map.first_touch.placed"], "no page of the table was placed")
end)

-- Policies of a TLB --------------------------------------------------------------------------------------------------------

--- Of an SM's warps only those of even numbers may give a page an entry.
local tokens = harness.write("tokens.lua", [[
local policy = require "warpwright.policy"
local tokens = policy "tokens" {
  doc = "Warps of odd numbers give pages no entry", scope = "TLB", params = { off = { false, doc = "All do" } },
  counters = { missed = "Misses heard of", refused = "Pages without an entry", held = "Pages with one at their next miss" },
}
function tokens:fill(_, warp)
  if warp % 2 == 0 or self.params.off then return nil end
  self:count "refused"
  return false
end
function tokens:on_miss(_, _, page)
  self:count "missed"
  self:count("held", self.object:holds(page * 4096) and 1 or 0)
end
return tokens]])

harness.test("a policy hears of misses, and decides which pages take an entry", function()
  local r = run { policy = "gto+" .. tokens, set = { sms = 2 } }
  harness.equal(sum(r, "sm.tlb.tokens.missed"), sum(r, "sm.tlb.misses"), "misses")
  harness.equal(sum(r, "sm.tlb.tokens.refused"), sum(r, "sm.tlb.refused_fills"), "pages without an entry")
  harness.equal(sum(r, "sm.tlb.tokens.held"), 0, "pages that were missed and there")
  assert(sum(r, "sm.tlb.refused_fills") > 0)
  local off = run { policy = "gto+" .. tokens .. ":off=true", set = { sms = 2 } }
  harness.equal(off.cycles, run { policy = "gto", set = { sms = 2 } }.cycles, "cycles with it off")
end)

-- Without timing -----------------------------------------------------------------------------------------------------------

harness.test("a launch without timing leaves its pages in the TLBs", function()
  local function misses(fast_forward)
    return sum(run { workload = "kmeans", set = { sms = 2, page = "64KiB" }, fast_forward = fast_forward }, "sm.tlb.misses")
  end
  local cold, warm = misses(nil), misses "launch=1"
  assert(cold > 0 and warm < cold, ("%d misses, %d behind a launch without timing"):format(cold, warm))
end)

harness.finish()
