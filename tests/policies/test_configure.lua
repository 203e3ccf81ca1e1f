-- What a policy's configure gives back is checked where it is made: the error names the policy, its file and line.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

--- A policy whose configure returns this for objects of the class.
local function policy_with(class, result)
  return harness.write("mine.lua", ([[
local policy = require "warpwright.policy"
local mine = policy "mine" { doc = "x" }
function mine:configure(class, path, params)
  if class == "%s" then return %s end
end
return mine
]]):format(class, result))
end

local wrong <const> = {
  { "L1", "5", "expected a table of PARAMETER = value for sm[0].l1d, or nil, got 5" },
  { "L1", "true", "expected a table of PARAMETER = value for sm[0].l1d, or nil, got true" },
  { "L1", "{ 3 }", "expected PARAMETER = value for sm[0].l1d, got 3" },
  { "L1", "{ sise = 3 }", "sm[0].l1d: no parameter of L1 matches 'sise'; did you mean size? Available: size, ways" },
  { "L1", '{ size = "lots" }', "sm[0].l1d.size: expected bytes" },
  { "L1", "{ size = {} }", "sm[0].l1d.size: expected a number, a text, true or false, got a table" },
  { "L1", "{ latency = 0 }", "sm[0].l1d.latency: expected 1 to 1024 (cycles), got 0" },
  { "clock", '{ frequency = "x" }', "clock.core: expected a frequency" },
  { "clock", "{ frequncy = 1 }", "clock core: no field matches 'frequncy'; did you mean frequency?" },
  { "wire", "{ latency = 0 }", "wire dispatcher.sm[0] -> sm[0].dispatch: latency: expected a whole number from 1 on, got 0" },
  { "wire", "{ delay = 3 }", "wire dispatcher.sm[0] -> sm[0].dispatch: no field matches 'delay'; available: latency, depth, width, back" },
  { "wire", "{ back = 3 }", "wire dispatcher.sm[0] -> sm[0].dispatch: back: expected a table of options" },
}

for _, case in ipairs(wrong) do
  harness.test(("%s: %s"):format(case[1], case[2]), function()
    local path = policy_with(case[1], case[2])
    harness.refused(("error: %s:3: policy mine: configure: %s"):format(path, case[3]), "run", "gtx480", "vecadd", "--size", "small",
      "--policy", path, "--out", harness.folder() .. "/out")
  end)
end

harness.test("an error in configure names the policy and the object, also without a place or a text", function()
  local function refused(body, text)
    harness.refused("policy mine, in configure of sm[0].l1d: " .. text, "run", "gtx480", "vecadd", "--size", "small",
      "--policy", policy_with("L1", body), "--out", harness.folder() .. "/out")
  end
  refused("error('some text', 0)", "some text")
  refused("error {}", "error: expected a text, got a table")
  refused("params.nothing.size", "attempt to index a nil value")
end)

harness.test("a wrong order, or parameter of a part, is told at the policy's line", function()
  local function refused(settings, text)
    local path = harness.write("wrong.lua", ('local policy = require "warpwright.policy"\nreturn policy "wrong" { %s }'):format(settings))
    harness.refused(("error: %s:2: policy wrong: %s"):format(path, text), "run", "gtx480", "vecadd", "--size", "small", "--policy", path,
      "--out", harness.folder() .. "/out")
  end
  refused('order = "fifo"', "order: sm[0].scheduler: expected one of lrr, gto, oldest, groups, got 'fifo'")
  refused('first = "x"', "first: sm[0].first: expected one of ")
  refused('parts = { { class = "VictimTags", name = "vta", of = "SM", wayz = 1 } }', "part vta: sm[0].vta: no parameter of VictimTags matches 'wayz'")
end)

harness.test("two policies that make a part of one path are named", function()
  local function with_part(name)
    return harness.write(name .. ".lua", ([[
local policy = require "warpwright.policy"
return policy "%s" { parts = { { class = "VictimTags", name = "vta", of = "SM" } } }]]):format(name))
  end
  local first, second = with_part "first", with_part "second"
  harness.refused(("error: %s:2: policy second: part vta: sm[0].vta: expected a part of one policy, got one of policy first too"):format(second),
    "run", "gtx480", "vecadd", "--size", "small", "--policy", first .. "+" .. second, "--out", harness.folder() .. "/out")
end)

local not_repeatable <const> = {
  { "{ mshrs = math.random(64) }", "math.random: expected numbers that repeat in each run" },
  { "{ mshrs = #tostring({}) }", "tostring: expected a value whose text is the same in each run, got a table" },
  { "{ mshrs = os.time() % 64 }", "os.time: expected a time that is the same in each run" },
  { "{ mshrs = os.clock() // 1 }", "os.clock: expected a time that is the same in each run" },
  { "(os.exit(0))", "os.exit: expected the function's result, got the end of the program" },
}

for _, case in ipairs(not_repeatable) do
  harness.test("what would make another machine in each run is refused: " .. case[1], function()
    local path = policy_with("L1", case[1])
    harness.refused(("error: %s:4: policy mine, in configure of sm[0].l1d: %s"):format(path, case[2]), "run", "gtx480", "vecadd", "--size", "small", "--policy", path,
      "--out", harness.folder() .. "/out")
    local part = harness.write("part.lua", ([[
local policy = require "warpwright.policy"
return policy "part" { parts = { { class = "VictimTags", name = "vta", of = "L1", entries = function() return (%s) or {} end } } }
]]):format(case[1]))
    harness.refused(("error: %s:2: %s"):format(part, case[2]), "run", "gtx480", "vecadd", "--size", "small", "--policy", part,
      "--out", harness.folder() .. "/out")
  end)
end

harness.test("a script has its random numbers and its clock back when a machine has been made", function()
  local path = policy_with("L1", "{ mshrs = 16 }")
  ww.build("gtx480", { policy = path })
  assert(math.random() and os.time() and os.clock() and tostring({}) and collectgarbage 'count')
end)

harness.finish()
