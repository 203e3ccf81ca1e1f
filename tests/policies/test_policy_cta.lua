-- Policies of the dispatcher: lazy_cta limits the CTAs of an SM when its first one ends, block_cta hands them out in pairs.
local harness = require "tests.lib.harness"
local checks = require "tests.lib.policy_checks"
local runs = require "tests.lib.policy_runs"

local kmeans = { "sms=2", "partitions=2" }

--- Finds the number by itself when it hears of the same end, and looks at what the dispatcher does from then on.
local watcher = runs.file("watcher", [[
local p = policy "watcher" { scope = "machine", period = 16, counters = {
  ends = "", want = "Limits, summed", over = "Times that an SM that had come down to its limit was above it", at = "Times at it",
  before = "CTAs of an SM before" } }
function p:on_kernel_start() self.state.want, self.state.down = {}, {} end
function p:on_sm_cta_end(sm, slot)
  local i, want = sm:number() + 1, self.state.want
  self:count "ends"
  if want[i] then return end
  local all, first = 0, self.progresss[i]:issued(slot)
  for other = 0, 7 do all = all + self.progresss[i]:issued(other) end
  assert(all == sm.warp_instructions - (self.state.before or {})[i], "instructions of CTAs")
  assert(first > 0 and self.progresss[i]:issued(slot) == first)
  self:count("before", self.dispatchers[1]:resident(i - 1))
  want[i] = math.min(8, math.ceil(all / first))
  self:count("want", want[i])
end
function p:start() self.state.before = { 0, 0 } end
function p:on_kernel_end()
  for i, sm in ipairs(self.sms) do self.state.before[i] = sm.warp_instructions end
end
function p:on_period()
  for i in ipairs(self.sms) do
    local want, there = self.state.want[i], self.dispatchers[1]:resident(i - 1)
    if want then
      if self.state.down[i] and there > want then self:count "over" end
      if self.state.down[i] and there == want then self:count "at" end
      self.state.down[i] = self.state.down[i] or there <= want
    end
  end
end
return p]])

harness.test("lazy_cta: an SM gets no more CTAs than its first one left time for", function()
  local r = runs.good { policy = "lazy_cta+" .. watcher, workload = "kmeans", set = kmeans }
  local stat = runs.stat
  assert(stat(r, "dispatcher.lazy_cta.limited") > 0, "no SM was limited")
  assert(stat(r, "dispatcher.watcher.before") > stat(r, "dispatcher.watcher.want"), "there was nothing to limit")
  harness.equal(stat(r, "dispatcher.lazy_cta.ctas"), stat(r, "dispatcher.watcher.want"), "the sum of the limits")
  harness.equal(stat(r, "dispatcher.watcher.over"), 0, "more than the limit")
  assert(stat(r, "dispatcher.watcher.at") > 10, "the limit was never reached")
  assert(stat(r, "run.cycles") ~= stat(runs.good { policy = "gto", workload = "kmeans", set = kmeans }, "run.cycles"), "it changed nothing")
end)

checks.equals("lazy_cta:margin=32", "gto", "kmeans", { "lazy_cta" }, { "sms=2" })
checks.equals("block_cta:ctas=1", "gto", "kmeans", nil, { "sms=2" })

for _, policy in ipairs { "lazy_cta", "block_cta" } do
  checks.law(policy, "kmeans", { "sms=2", "partitions=2" })
end
checks.resumes("lazy_cta", "kmeans", 2)
checks.resumes("block_cta:ctas=3", "bfs", 2)

harness.test("a policy of the dispatcher places each CTA, and hears where it went", function()
  local path = runs.file("placer", [[
local p = policy "placer" { scope = "dispatcher", counters = { asked = "", started = "", ended = "", other = "" } }
function p:place(sms, choice, x, y, z)
  self:count "asked"
  local sm = x % 2
  return bits.has(sms, sm) and sm or -1
end
function p:on_cta_start(sm, slot, x)
  self:count "started"
  if sm ~= x % 2 then self:count "other" end
end
function p:on_cta_end() self:count "ended" end
return p]])
  local r = runs.good { policy = path, workload = "kmeans" }
  local ctas = runs.stat(r, "dispatcher.ctas_dispatched")
  harness.equal(runs.stat(r, "dispatcher.placer.started"), ctas, "started")
  harness.equal(runs.stat(r, "dispatcher.placer.ended"), ctas, "ended")
  harness.equal(runs.stat(r, "dispatcher.placer.other"), 0, "elsewhere")
  assert(runs.stat(r, "dispatcher.placer.asked") >= ctas)
  for _, how in ipairs { { order = "reversed" }, { order = "restless", threads = 2 }, { order = "shuffled:1" } } do
    how.policy, how.workload = path, "kmeans"
    harness.equal(runs.without(runs.good(how), "run.", "host"), runs.without(r, "run.", "host"), "stats")
  end
  runs.fails({ policy = runs.file("astray", 'local p = policy "p" { scope = "dispatcher" } function p:place() return 7 end return p') },
    "policy p of dispatcher, in place at cycle ", "answer: expected one of `sms`, -1 for none in this cycle, or nil, got 7")
end)

harness.finish()
