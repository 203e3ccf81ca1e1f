-- Policies of the dispatcher: lazy_cta limits the CTAs of an SM when its first one ends, block_cta hands them out in pairs.
local ww = require "warpwright"
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

harness.test("lazy_cta: it takes over in the middle of a kernel", function()
  local sim = ww.build("gtx480", { policy = "gto", set = { sms = 2 } })
  sim:start("vecadd", "small")
  harness.equal(sim:run { until_cycle = 1000 }, false, "ended")
  sim:change { policy = "lazy_cta" }
  harness.equal(sim:run {}, true, "ended")
  sim:close()
end)

checks.equals("lazy_cta:margin=32", "gto", "kmeans", { "sms=2" })
checks.equals("block_cta:ctas=1", "gto", "kmeans", { "sms=2" })

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

harness.test("of 80 SMs each can be chosen, though a question has room for 64, and nil is the choice of `placement`", function()
  local path = runs.file("far_placer", [[
local p = policy "far_placer" { scope = "dispatcher", params = { wanted = { 77 } }, counters = { low = "", high = "", other = "", outside = "" } }
function p:place(sms, choice, x, y, z, first)
  self:count(first == 0 and "low" or first == 64 and "high" or "outside")
  if choice ~= -1 and not bits.has(sms, choice - first) then self:count "outside" end
  if self.params.wanted < 0 then return nil end
  local bit = self.params.wanted - first
  return bit >= 0 and bit < 64 and bits.has(sms, bit) and self.params.wanted or -1
end
function p:on_cta_start(sm) if sm ~= self.params.wanted then self:count "other" end end
return p]])
  local function run(policy) return runs.good { config = "v100", policy = policy, workload = "kmeans_transpose", set = { "sms=80" } } end
  for _, sm in ipairs { 0, 63, 64, 79 } do
    local r = run(("%s:wanted=%d"):format(path, sm))
    local ctas = runs.stat(r, "dispatcher.ctas_dispatched")
    harness.equal(runs.stat(r, ("sm[%d].ctas_started"):format(sm)), ctas, "CTAs of the SM")
    harness.equal(runs.stat(r, "dispatcher.far_placer.other"), 0, "elsewhere")
    harness.equal(runs.stat(r, "dispatcher.far_placer.outside"), 0, "choices that cannot be taken")
    assert(runs.stat(r, "dispatcher.far_placer.low") > 0 and runs.stat(r, "dispatcher.far_placer.high") > 0)
  end
  harness.equal(runs.without(run(path .. ":wanted=-1"), "far_placer", "run."), runs.without(run "gto", "run."), "stats")
  runs.fails({ config = "v100", policy = runs.file("beyond", 'local p = policy "p" { scope = "dispatcher" } function p:place() return 77 end return p'),
    set = { "sms=80" } }, "answer: expected one of `sms`, -1 for none in this cycle, or nil, got 77")
end)

checks.equals("distributed_ctas:groups=1", "gto", "kmeans", { "sms=2" })
checks.law("distributed_ctas:groups=2", "kmeans", { "sms=4", "partitions=2" })
checks.resumes("distributed_ctas:groups=3", "bfs", 3)
checks.takes_over("distributed_ctas:groups=3", "gto", "kmeans", 3000)
checks.takes_over("gto", "distributed_ctas:groups=3", "kmeans", 3000)

--- Of a grid of 5 x 3 x 2 CTAs on two SMs with two groups: who gets which, and which are left before and after.
local chooser = [[
local p = policy "chooser" { scope = "dispatcher", uses = { %s },
  counters = { started = "", elsewhere = "", twice = "", jumps = "", left = "", waits = "" } }
function p:on_kernel_start() self.state = { seen = {}, last = {} } end
function p:on_cta_start(sm, slot, x, y, z)
  local gx, gy, gz = self.dispatcher:grid()
  local cta, all, state = x + gx * (y + gy * z), gx * gy * gz, self.state
  self:count "started"
  if state.seen[cta] then self:count "twice" end
  state.seen[cta] = true
  if sm ~= (cta < all // 2 and 0 or 1) then self:count "elsewhere" end
  if cta ~= (state.last[sm] or sm * (all // 2) - 1) + 1 then self:count "jumps" end
  state.last[sm] = cta
  if self.dispatcher:first_waiting(cta, cta) then self:count "left" end
end
return p]]

harness.test("distributed_ctas: an SM gets its share of the grid, each CTA once and in order", function()
  local path = runs.file("chooser", chooser:format '"distributed_ctas"')
  for _, order in ipairs { "rows", "from_the_end", "tiles" } do
    for _, placement in ipairs { "round_robin", "depth_first", "blocks", "least_loaded" } do
      local set = { "sms=2", "partitions=2", "dispatcher.order=" .. order, "dispatcher.placement=" .. placement }
      local r = runs.good { policy = path .. ":groups=2", workload = "kmeans", set = set }
      local ctas = runs.stat(r, "dispatcher.ctas_dispatched")
      harness.equal(runs.stat(r, "dispatcher.chooser.started"), ctas, "started")
      for _, name in ipairs { "elsewhere", "twice", "jumps", "left" } do
        harness.equal(runs.stat(r, "dispatcher.chooser." .. name), 0, ("%s, %s, %s"):format(name, order, placement))
      end
    end
  end
end)

harness.test("next_cta chooses any CTA that is left, and may let an SM wait", function()
  local path = runs.file("backwards", [[
local p = policy "backwards" { scope = "dispatcher", counters = { waited = "", other = "" } }
function p:on_kernel_start() self.state.want = self.dispatcher:waiting() - 1 end
function p:next_cta(sm, choice)
  local x, y, z = self.dispatcher:grid()
  local left = self.dispatcher:waiting()
  assert(self.dispatcher:first_waiting(left, x * y * z) == nil and self.dispatcher:first_waiting(-3, left) == 0)
  assert(choice == 0)
  if sm == 1 and self:cycle() % 64 ~= 0 then self:count "waited" return -1 end
  return left - 1
end
function p:on_cta_start(_, _, x)
  if x ~= self.state.want then self:count "other" end
  self.state.want = self.state.want - 1
end
return p]])
  local r = runs.good { policy = path, workload = "kmeans" }
  harness.equal(runs.stat(r, "dispatcher.backwards.other"), 0, "another CTA")
  assert(runs.stat(r, "dispatcher.backwards.waited") > 0)
  for _, how in ipairs { { order = "reversed" }, { order = "restless", threads = 2 }, { order = "shuffled:1" } } do
    how.policy, how.workload = path, "kmeans"
    harness.equal(runs.without(runs.good(how), "run.", "host"), runs.without(r, "run.", "host"), "stats")
  end
end)

harness.test("next_cta: a CTA that is handed out, or none for ever, is the policy's error", function()
  local head = 'local p = policy "p" { scope = "dispatcher" } function p:next_cta(sm, choice) '
  runs.fails({ policy = runs.file("again", head .. "return 0 end return p") }, "policy p of dispatcher, in next_cta at cycle ",
    "answer: expected the number of a CTA that no SM has got, -1 for none in this cycle, or nil, got 0")
  runs.fails({ policy = runs.file("never", head .. "return -1 end return p") }, "hangs",
    "policies let SMs with room wait for a CTA")
  for _, answer in ipairs { "-1", "1 << 40" } do
    runs.fails({ policy = runs.file("untimed", head .. "return " .. answer .. " end return p"), more = { "--fast-forward", "cta=0.5" } },
      answer == "-1" and "policies let SMs with room wait for a CTA" or "in next_cta at cycle ")
  end
end)

harness.test("next_cta is asked of CTAs that execute without timing, too", function()
  for _, more in ipairs { { "--fast-forward", "cta=0.4" }, { "--sample", "windows=3,cycles=200" } } do
    local r = runs.good { policy = "distributed_ctas:groups=2", workload = "kmeans", more = more }
    assert(runs.stat(r, "run.cycles") > 0)
  end
end)

harness.test("a run cannot go on in another order of CTAs: some would run twice, and some never", function()
  local _, _, folder = runs.good { workload = "kmeans", ["checkpoint-at"] = 3008 }
  runs.fails({ resume = folder .. "/3008.ckpt", more = { "--allow-changes", "--set", "dispatcher.order=from_the_end" } },
    "dispatcher.order")
end)

harness.finish()
