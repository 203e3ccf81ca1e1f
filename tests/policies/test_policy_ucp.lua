-- Utility-based cache partitioning: the lookahead algorithm on examples worked by hand, the ways that lines take after a
-- partitioning, the law, and two SMs of which one alone can use the cache.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local load = require "warpwright.load"
local ww = require "warpwright"

local ucp = load.get("policy", "ucp")

local function given(hits, ways, want)
  local got = ucp.lookahead(hits, ways)
  harness.equal(table.concat(got, ","), want, "ways")
end

harness.test("lookahead gives each way to whom it brings the most hits", function()
  given({ { 9, 8, 7, 1 }, { 9, 2, 2, 2 } }, 4, "3,1")
  given({ { 9, 2, 2, 2 }, { 9, 8, 7, 1 } }, 4, "1,3")
end)

-- The first has no use for one way more, but 30 hits for three: 10 for each, more than the 9 of the second.
harness.test("lookahead sees hits behind places that bring none", function()
  given({ { 0, 0, 0, 30 }, { 50, 9, 9, 1 } }, 5, "4,1")
  given({ { 0, 0, 0, 24 }, { 50, 9, 9, 1 } }, 5, "1,4") -- 8 for each: the second goes first, and two ways are too few
end)

harness.test("each has one way, and ways that help nobody are dealt out in turn", function()
  given({ { 4, 0, 0, 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0, 0, 0 }, { 9, 0, 0, 0, 0, 0, 0, 0 } }, 8, "3,3,2")
  given({ { 5, 5, 5, 5 }, { 0, 0, 0, 0 } }, 4, "3,1")
end)

--- One SM reads 384 lines again and again, the other a stream of 65,536: the L2, of one slice, has 512.
local sharing = ww.workload "sharing" { ptx = "../kernels/sharing_kernel.ptx", sizes = { small = { rounds = 600 } } }

function sharing:run(gpu, size)
  local data = gpu:alloc(16 << 20)
  gpu:launch(self.kernels.share, { grid = 2, block = 64, args = { data, 384, 65536, size.rounds } })
  self:check("nothing is written but zeros", gpu:download("u32", data, 1), ww.array("u32", 1))
end

local machine = { sms = 2, partitions = 1, ["l2[*].size"] = "64KiB" }

local function hits(policy, set)
  local all = {}
  for name, value in pairs(machine) do all[name] = value end
  for name, value in pairs(set or {}) do all[name] = value end
  local r = checks.run { workload = sharing, policy = policy, set = all }
  return checks.sum(r, "l2.read_hits") + checks.sum(r, "l2.read_merges"), r
end

harness.test("a stream leaves its ways to an SM that uses lines again", function()
  local without = hits "gto"
  local with, r = hits "ucp:period=20000"
  assert(checks.sum(r, "l2.ucp.partitionings") >= 2)
  assert(with > 2 * without and with > 10000, ("%d hits, %d without"):format(with, without))
end)

harness.test("before its first period it changes nothing", function()
  local _, r = hits "ucp"
  local _, other = hits "gto"
  harness.same_text(checks.text_of(r, { "%.ucp%.", "%.utility%." }), checks.text_of(other))
end)

harness.test("more sharers than ways are refused", function()
  local ok, why = pcall(hits, "ucp:sharers=17")
  assert(not ok)
  harness.contains(tostring(why), "policy ucp of l2[0], in start at cycle 0: sharers: expected at most the 16 ways of l2[0], got 17")
end)

for _, policy in ipairs { "ucp:period=3000,sharers=4", "ucp:period=3000,by=class" } do
  checks.law(policy, "kmeans")
end
checks.resumes("ucp:period=3000,sharers=15", "kmeans", 2)

harness.finish()
