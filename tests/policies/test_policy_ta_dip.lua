-- Thread-aware dynamic insertion: whose leader set a line enters, what its misses teach, and where the lines of each sharer enter.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local load = require "warpwright.load"

local functions = load.get("policy", "ta_dip").functions

--- An instance of two sharers for a cache of so many sets; each counter goes from 0 to 7 and begins with 3.
local function instance(params, sets)
  local counted = {}
  local self = setmetatable({ counted = counted, cache = { path = "l2[0]", sets = function() return sets or 16, 4 end },
    params = { by = "sm", sharers = 2, leaders = 2, psel_bits = 3, throttle = 4 } }, { __index = functions })
  for name, value in pairs(params or {}) do self.params[name] = value end
  function self.count(_, name) counted[name] = (counted[name] or 0) + 1 end
  self:start()
  return self
end

local function enters(self, set, sm, class) return self:insertion(set, 3, sm, 0, 0, 0, 0, class or 0) end

--- Where each of so many lines of the SM enters this set.
local function several(self, times, set, sm)
  local places = {}
  for i = 1, times do places[i] = tostring(enters(self, set, sm)) end
  return table.concat(places, " ")
end

harness.test("leaders are the first sets of each row", function()
  local self = instance()
  local leaders = {}
  for set = 0, 15 do
    local sharer, bimodal = self:leader_of(set)
    leaders[#leaders + 1] = sharer and sharer .. (bimodal and "b" or "u") or "-"
  end
  harness.equal(table.concat(leaders, " "), "0u 0b 1u 1b - - - - 0u 0b 1u 1b - - - -", "leaders")
  harness.equal(instance(nil, 5).rows, 1, "rows of 5 sets")
  local good, problem = pcall(instance, nil, 3)
  assert(not good)
  harness.contains(tostring(problem), "sharers: expected at most half of the 3 sets of l2[0], got 2")
end)

harness.test("misses in leaders move the counter of their sharer, whoever has them", function()
  local self = instance()
  harness.equal(next(self.state.psel), nil, "before")
  enters(self, 2, 1)
  harness.equal(self.state.psel[1], 4, "a miss of its own under the usual insertion")
  enters(self, 2, 0)
  harness.equal(self.state.psel[1], 5, "one of the other SM")
  enters(self, 3, 1)
  harness.equal(self.state.psel[1], 4, "one under the bimodal insertion")
  enters(self, 4, 1)
  harness.equal(self.state.psel[1], 4, "one in no leader")
  harness.equal(self.state.psel[0], nil, "counter of the other")
  for _ = 1, 9 do enters(self, 2, 0) end
  harness.equal(self.state.psel[1], 7, "at its most")
  harness.equal(self.counted.turned, 1, "turned")
end)

harness.test("lines enter other sets as their own sharer has found best, leaders as these are", function()
  local self = instance()
  harness.equal(several(self, 5, 4, 1), "nil nil nil nil nil", "at first as usual")
  enters(self, 2, 0) -- SM 1 misses more under the usual insertion
  harness.equal(several(self, 5, 4, 1), "3 3 3 nil 3", "one in four as usual")
  harness.equal(several(self, 2, 4, 0), "nil nil", "SM 0")
  harness.equal(several(self, 2, 2, 1), "nil nil", "its own leader of the usual insertion")
  harness.equal(several(self, 2, 0, 1), "3 3", "a leader of SM 0")
  harness.equal(several(self, 2, 1, 0), "3 3", "SM 0 in its own leader of the bimodal insertion")
  harness.equal(several(self, 2, 4, 7), "nil nil", "an SM that does not share")
end)

harness.test("classes share in place of SMs", function()
  local self = instance { by = "class" }
  for _ = 1, 2 do enters(self, 2, 0, 0) end
  harness.equal(enters(self, 4, 0, 1), 3, "class 1")
  harness.equal(enters(self, 4, 1, 0), nil, "class 0")
end)

local machine = { "sms=4", "partitions=2", "l2[*].size=32KiB" }

harness.test("a machine's SMs go over from one insertion to the other", function()
  for _, replacement in ipairs { "lru", "srrip" } do
    local r = checks.run { workload = "kmeans", policy = "ta_dip:sharers=4,replacement=" .. replacement, set = machine }
    for _, name in ipairs { "usual_misses", "bimodal_misses", "turned", "first_to_go" } do
      assert(checks.sum(r, "l2.ta_dip." .. name) > 0, replacement .. ": " .. name)
    end
  end
end)

harness.test("what a parameter may not be is refused", function()
  for _, case in ipairs {
    { "by=warp", "by: expected one of sm, class, got 'warp'" },
    { "replacement=fifo", "replacement: expected one of lru, srrip, got 'fifo'" },
    { "sharers=40", "sharers: expected at most half of the 64 sets of l2[0], got 40" },
  } do
    local good, problem = pcall(checks.run, { workload = "vecadd", policy = "ta_dip:" .. case[1] })
    assert(not good, case[1])
    harness.contains(tostring(problem), case[2])
  end
end)

checks.equals("ta_dip:sharers=4,throttle=1", "gto", "kmeans", machine)
checks.law("ta_dip:sharers=4", "kmeans", machine)
checks.resumes("ta_dip:sharers=4", "bfs", 2, machine)

harness.finish()
