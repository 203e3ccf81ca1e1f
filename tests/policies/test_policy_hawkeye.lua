-- Hawkeye: OPTgen has the hits of Belady's algorithm; counters follow; averse lines go first, then the oldest friendly one.
local ww = require "warpwright"
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local load = require "warpwright.load"

local hawkeye = load.get("policy", "hawkeye").functions

--- An instance for itself, of a cache of so many ways.
local function instance(ways, params)
  local counted = {}
  local self = setmetatable({ cache = { ways = ways, line = 128 }, counted = counted,
    params = { sampled = 1, history = 64, bits = 3, decide = true } }, { __index = hawkeye })
  for name, value in pairs(params or {}) do self.params[name] = value end
  function self.count(_, name) counted[name] = (counted[name] or 0) + 1 end
  self:start()
  return self
end

--- Hits of Belady's algorithm in a set, which may let lines pass: the line that is used again last goes, the new one too.
local function hits_of_belady(sequence, ways)
  local function next_use(line, from)
    for i = from, #sequence do if sequence[i] == line then return i end end
    return math.huge
  end
  local there, count, hits = {}, 0, 0
  for i, line in ipairs(sequence) do
    if there[line] then
      hits = hits + 1
    else
      there[line], count = true, count + 1
    end
    if count > ways then
      local last, goes = -1, nil
      for other in pairs(there) do
        local use = next_use(other, i + 1)
        if use > last then last, goes = use, other end
      end
      there[goes], count = nil, count - 1
    end
  end
  return hits
end

harness.test("OPTgen has the hits of Belady's algorithm, if it looks back far enough", function()
  local rng = ww.rng(5)
  for _, ways in ipairs { 1, 2, 4, 8 } do
    for _ = 1, 20 do
      local self, sequence = instance(ways, { history = 400 // ways }), {}
      for i = 1, 300 do
        sequence[i] = rng:int(1, 3 * ways)
        self:sample(0, 128 * sequence[i], 7)
      end
      harness.equal(self.counted.opt_hits or 0, hits_of_belady(sequence, ways), ways .. " ways: hits")
    end
  end
end)

harness.test("the counter of the PC that used a line before moves by what OPT would have done", function()
  local self = instance(1)
  local function access(line, pc) self:sample(3, 128 * line, pc) end
  access(1, 10)
  access(1, 11) -- stays from 10 to 11
  harness.equal(self.state.counter[10], 5, "of PC 10")
  access(2, 12)
  access(1, 13) -- stays: line 2 comes in between, and has not been used again
  harness.equal(self.state.counter[11], 5, "of PC 11")
  access(2, 14) -- the place was taken by line 1
  harness.equal(self.state.counter[12], 3, "of PC 12")
  assert(self:is_averse(12) and not self:is_averse(11) and not self:is_averse(99), "who is averse")
  local short = instance(1, { history = 2 })
  for _, line in ipairs { 1, 2, 3, 1 } do short:sample(0, 128 * line, line) end
  harness.equal(short.state.counter[1], 3, "a use beyond the history")
end)

harness.test("averse lines go first, then the oldest friendly one, whose PC is trained down", function()
  local self = instance(4)
  self.state.counter[9] = 0
  local function enter(way, pc) self:use(5, way, 1000 + way, pc) end
  enter(0, 1)
  enter(1, 2)
  enter(2, 9)
  enter(3, 3)
  harness.equal(self:victim(5, 15), 2, "the averse one")
  harness.equal(self.counted.detrained, nil, "detrained")
  harness.equal(self:victim(5, 11), 0, "the oldest friendly one")
  harness.equal(self.state.counter[1], 3, "its counter")
  self:use(5, 0, 1000, 2) -- a hit makes it the youngest
  harness.equal(self:victim(5, 11), 1, "the next one")
  harness.equal(instance(4, { decide = false }):victim(5, 15), nil, "without deciding")
end)

--- A stream of one instruction beside lines that another comes back to: the L1 has room for these alone.
harness.test("lines that OPT would keep stay beside others in a whole machine", function()
  local function run(policy) return checks.run { workload = "gesummv", policy = policy } end
  local gto, with = run "gto", run "gto+hawkeye:cache=data,sampled=1"
  assert(with["sm[*].l1d.hawkeye.opt_hits"] > 0 and with["sm[*].l1d.hawkeye.averse"] > 0, "nothing was learned")
  assert(with["sm[*].l1d.hits"] > gto["sm[*].l1d.hits"], "no more hits")
end)

checks.equals("gto+hawkeye:decide=false", "gto", "spmv", { "sms=2" })
checks.law("hawkeye:sampled=2", "bfs", { "sms=3", "l2[*].size=16KiB" })
checks.resumes("hawkeye:cache=data|last,sampled=2", "bfs", 2)

harness.finish()
