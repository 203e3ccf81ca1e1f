-- PAR-BS: batches of marked requests, and who goes first in one.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local runs = require "tests.lib.policy_runs"

local stat = runs.stat
local machine = { "sms=4", "partitions=2" }

--- Hears all that parbs hears, marks by itself, and looks at what is served. It sees requests by SM, bank and cycle.
local function watcher(name, cap)
  return runs.file(name, ([[
local p = policy "watcher" { scope = "mc", counters = { batches = "", inside = "", outside = "", before = "" } }
local cap <const> = %d
function p:start() self.state = { marked = {}, left = 0, could = {}, earlier = {}, at = -1, formed = -1 } end
local function text(sm, bank, entered) return ("%%d/%%d/%%d"):format(sm, bank, entered) end
local function waiting(self, queue)
  local list = {}
  for rank = 0, 63 do
    local sm, _, _, bank, _, _, waited = self.mc:request(queue, rank)
    if not sm then return list end
    list[#list + 1] = { key = sm * 64 + bank, name = text(sm, bank, self:cycle() - waited), bit = 1 << rank }
  end
  return list
end
function p:pick(queue, requests)
  local s, list = self.state, waiting(self, queue)
  if s.left == 0 then
    local count = {}
    s.marked, s.formed = {}, self:cycle()
    for _, r in ipairs(list) do
      count[r.key] = (count[r.key] or 0) + 1
      if count[r.key] <= cap then
        s.marked[r.name] = (s.marked[r.name] or 0) + 1
        s.left = s.left + 1
      end
    end
    self:count "batches"
  end
  s.could, s.earlier, s.at = {}, s.could, self:cycle()
  for _, r in ipairs(list) do
    if (s.marked[r.name] or 0) > 0 and r.bit & requests ~= 0 then s.could[r.key %% 64] = true end
  end
end
function p:on_served(sm, _, _, _, bank, _, waited)
  local s, name = self.state, text(sm, bank, self:cycle() - waited)
  local could = s.at == self:cycle() and s.earlier or s.could -- it was chosen before the pick of this cycle
  if self:cycle() ~= s.formed and (s.marked[name] or 0) > 0 then
    s.marked[name], s.left = s.marked[name] - 1, s.left - 1
    self:count "inside"
  else
    self:count(could[bank] and "before" or "outside")
  end
end
return p]]):format(cap))
end

local function sum(r, name) return stat(r, "mc[0]." .. name) + stat(r, "mc[1]." .. name) end

local full_queues = { "sms=8", "partitions=2", "mc[*].queue_entries=8" }

for cap, set in ipairs { machine, full_queues, machine } do
  harness.test(("a marked request goes before all others of its bank, cap %d"):format(cap), function()
    local watch = watcher("watcher" .. cap, cap)
    local r = runs.good { policy = ("parbs:cap=%d+%s"):format(cap, watch), set = set }
    if set == full_queues then assert(stat(r, "mc[0].queue_full_cycles") > 100) end
    harness.equal(sum(r, "watcher.before"), 0, "served before a marked one")
      assert(sum(r, "watcher.outside") > 100 and sum(r, "watcher.inside") > 100)
    for theirs, ours in pairs { batches = "batches", served = "inside" } do
      harness.equal(sum(r, "parbs." .. theirs), sum(r, "watcher." .. ours), theirs)
    end
    assert(sum(r, "parbs.ranked") > 100 and sum(r, "parbs.marked") >= sum(r, "parbs.served"))
    if cap > 1 then return end
    local fcfs = runs.good { policy = "gto+" .. watch, set = machine }
    assert(sum(fcfs, "watcher.before") > 0, "FR-FCFS keeps to batches as well")
  end)
end

harness.test("in a batch the SM that has least in its fullest bank goes first, then the one that has least in all", function()
  local path = runs.file("ranks", [[
local load = require "warpwright.load"
local parbs = load.get("policy", "parbs")
local p = policy "ranks" { scope = "mc", counters = { right = "" } }
function p:start()
  local order = { 3, 2, 1, 0 }
  parbs.functions.rank(self, order, { [0] = 2, [1] = 1, [2] = 2, [3] = 1 }, { [0] = 4, [1] = 3, [2] = 2, [3] = 3 })
  assert(table.concat(order) == "1320", table.concat(order))
end
function p:on_served() self:count "right" end
return p]])
  assert(sum(runs.good { policy = path, set = machine }, "ranks.right") > 0)
end)

checks.law("parbs", "spmv", machine)
checks.resumes("parbs", "bfs", 2)

harness.finish()
