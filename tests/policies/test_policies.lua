-- Policies as their authors and users meet them: parameters, definitions, composition, handles, scopes, documentation. Their
-- hooks are in test_hooks.
local ww = require "warpwright"
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local runs = require "tests.lib.policy_runs"

local policy_file, with_function, hook_fails, good = runs.file, runs.with_function, runs.hook_fails, runs.good
local fails, stat, without, same = runs.fails, runs.stat, runs.without, harness.same_text

-- Parameters ---------------------------------------------------------------------------------------------------------

local tuned = policy_file("tuned", [[
local tuned = policy "tuned" {
  params = {
    limit = { 4, min = 1, max = 48, doc = "a whole number" },
    share = { 0.5, min = 0, max = 1, doc = "any number" },
    word = { "fifo", doc = "a text" },
    on = { true, doc = "a flag" },
  },
  counters = { limit = "The limit", thousandths = "The share", letters = "Of the word", on = "The flag" },
}
function tuned:start()
  local p = self.params
  assert(math.type(p.limit) == "integer" and math.type(p.share) == "float" and type(p.on) == "boolean")
  self:count("limit", p.limit)
  self:count("thousandths", math.tointeger(p.share * 1000 // 1))
  self:count("letters", #p.word)
  self:count("on", p.on and 1 or 0)
end
return tuned]])

--- Runs with parameters "a=1,b=2"; returns the four counters.
local function counted(params)
  local stats = good { policy = tuned .. params }
  local values = {}
  for i, name in ipairs { "limit", "thousandths", "letters", "on" } do values[i] = stat(stats, "sm[1].tuned." .. name) end
  return table.concat(values, " ")
end

harness.test("parameters have their defaults, or what the command line says, as the kind of the default", function()
  harness.equal(counted "", "4 500 4 1")
  harness.equal(counted ":limit=7", "7 500 4 1")
  harness.equal(counted ":share=0.25,word=x=y,on=false,limit=48", "48 250 3 0")
  harness.equal(counted ":share=1", "4 1000 4 1")
end)

harness.test("a parameter that is wrong is named with what is legal", function()
  fails({ policy = tuned .. ":limt=3" }, "policy tuned: no parameter matches 'limt'; did you mean limit?", "limit, on, share, word")
  fails({ policy = tuned .. ":limit=49" }, "policy tuned: limit: expected a whole number from 1 to 48, got '49'")
  fails({ policy = tuned .. ":limit=0" }, "limit: expected a whole number from 1 to 48, got '0'")
  fails({ policy = tuned .. ":limit=2.5" }, "limit: expected a whole number from 1 to 48, got '2.5'")
  fails({ policy = tuned .. ":share=many" }, "share: expected a number from 0 to 1, got 'many'")
  fails({ policy = tuned .. ":on=1" }, "on: expected true or false, got '1'")
  fails({ policy = "gto:limit=1" }, "policy gto: no parameter matches 'limit'; available: none")
  fails({ policy = tuned .. ":limit" }, "expected PARAMETER=VALUE, got 'limit'")
  fails({ policy = tuned .. ":" }, "expected PARAMETER=VALUE, got ''")
  fails({ policy = tuned .. ":limit=3,on=true,limit=4" }, "tuned.lua: limit: expected one value, got '3' and '4'")
  fails({ policy = tuned .. ":limit=3,,on=true" }, "expected PARAMETER=VALUE, got ''")
  fails({ policy = "gto++lrr" }, "policy: expected a name")
  fails({ policy = ":limit=3" }, "policy: expected a name", "':limit=3'")
end)

--- Runs a policy with parameters limit and rate and this function, in which a mistake stands on line 5.
local function misuse(name, hook, body, settings, texts, rest)
  local text = ('local x = policy "x" { params = { limit = { 3 }, rate = { 0.5 } }, %s }\nfunction x:%s\n%s\nend\nreturn x')
  return fails({ policy = policy_file(name, text:format(settings, hook, body)) }, ("%s.lua:5: "):format(name), texts, rest)
end

harness.test("a parameter that a policy misspells is an error there, with the names that there are", function()
  local meant = "params.limt: no parameter of policy x matches 'limt'; did you mean limit? Available: limit, rate"
  misuse("started", "start()", "self.state.n = self.params.limt", "", "policy x of sm[0], in start at cycle 0: " .. meant)
  local stats = misuse("periodic", "on_period()", "if self.params.limt then self.sm.warp_limit = 3 end", "period = 1000",
    "policy x of sm[0], in on_period at cycle 1008: " .. meant)
  harness.equal(stat(stats, "run.cycles"), 1008)
  misuse("heard", "on_cta_start()", "return self.params.limt", "", "policy x of sm[0], in on_cta_start at cycle ", meant)
  misuse("asked", "pick(ready)", "return self.params.limt", "", "policy x of sm[0], in pick at cycle ", meant)
  misuse("configured", "configure(class)", 'if class == "SM" then return { warp_limit = self.params.limt } end', "", meant)
  misuse("unlike", "start()", "local far = self.params.consecutive", "", "no parameter of policy x matches 'consecutive'; available: limit, rate\n")
  misuse("in_part", "start()", "self.state.n = self.params[7]", "", "params.7: no parameter of policy x matches '7'; available: limit, rate")
end)

harness.test("a part's parameter that misspells one is an error at its place", function()
  fails({ policy = policy_file("parted", [[
local x = policy "x" { params = { ways = { 8 } }, parts = {
  { class = "VictimTags", name = "vta", of = "SM", ways = function(params)
    return params.way
  end } } }
return x]]) }, "parted.lua:5: params.way: no parameter of policy x matches 'way'; did you mean ways?")
  fails({ policy = policy_file("named", 'return policy "x" { parts = {\n{ class = "VictimTags", name = "vta", of = "SM", ways = policy.param "way" } } }') },
    'named.lua:4: policy.param: no parameter of the policy matches \'way\'; ')
end)

harness.test("a policy without parameters says so", function()
  fails({ policy = policy_file("none", with_function("start()", "local limit = self.params.limit")) },
    "params.limit: no parameter of policy x matches 'limit'; available: none")
end)

harness.test("parameters cannot be assigned to, and can be gone through", function()
  local meant = "expected no assignment: parameters are as the run gives them to policy x; what a policy remembers is in self.state"
  misuse("changed", "on_period()", "self.params.limit = 4", "period = 1000", "params.limit: " .. meant)
  misuse("added", "start()", "self.params.more = 4", "", "params.more: " .. meant)
  misuse("replaced", "on_period()", "self.params = {}", "period = 1000", "self.params: expected an assignment in start(), got one later")
  good { policy = policy_file("through", [[
local x = policy "x" { params = { limit = { 3 }, rate = { 0.5 }, on = { false } } }
function x:start()
  local seen = {}
  for name, value in pairs(self.params) do seen[#seen + 1] = name .. "=" .. tostring(value) end
  assert(table.concat(seen, " ") == "limit=7 on=false rate=0.5")
  assert(self.params.on == false and self.params.limit == 7)
end
return x]]) .. ":limit=7" }
  for _, given in ipairs { "1e400", "-1e400", "inf", "nan" } do
    fails({ policy = policy_file("endless", 'return policy "x" { order = "gto", params = { rate = { 0.5 } } }') .. ":rate=" .. given },
      ("policy x: rate: expected a number, got '%s'"):format(given))
  end
end)

-- Definitions --------------------------------------------------------------------------------------------------------

--- A definition that is refused: { its text, what is said of it }.
local bad_definitions = {
  { 'return policy "x" { ordr = "gto" }', "policy x: no field matches 'ordr'; did you mean order? Available: doc, params, scope" },
  { 'return policy "x" { scope = "core" }', "policy x: scope: expected one of cache, dispatcher, l2, machine, mc, sm, or a class, got 'core'" },
  { 'return policy "x" { order = "fifo" }', "sm[0].scheduler: expected one of lrr, gto, oldest, groups, got 'fifo'" },
  { 'return policy "x y" {}', "a name of letters, digits" },
  { 'return policy {}', "a name of letters, digits" },
  { 'return policy "x" { params = { a = 3 } }', "policy x: parameter a: expected { default, min =, max =, doc = }" },
  { 'return policy "x" { params = { a = { 3, mn = 1 } } }', "policy x: parameter a: no field matches 'mn'" },
  { 'return policy "x" { params = { a = { 3, max = 2 } } }', "policy x: parameter a: expected as default a whole number up to 2, got 3" },
  { 'return policy "x" { params = { a = { 3, min = "x" } } }', "policy x: parameter a: min: expected a number, got 'x'" },
  { 'return policy "x" { parts = { { class = "VictimTags", name = "a", of = "SM", where = 3 } } }',
    "policy x: parts[1]: where: expected a function of the parameters and the object, got 3" },
  { 'return policy "x" { params = { 3 } }', "policy x: parameter 1: expected { default" },
  { 'return policy "x" { params = 3 }', "policy x: params: expected a table, got 3" },
  { 'return policy "x" { counters = { "hits" } }', 'policy x: counters: expected { name = "what it counts" }' },
  { 'return policy "x" { uses = "gto" }', "policy x: uses: expected a table, got 'gto'" },
  { 'return policy "x" { uses = { "gtoo" } }', ".lua:3: policy x: uses: policy: no policy matches 'gtoo'" },
  { 'return policy "x" { uses = { "swl:limit=3" } }', "policy x: uses[1]: expected one policy without parameters, which this policy has as its own, got 'swl:limit=3'" },
  { 'return policy "x" { uses = { { when = "on" } } }', "policy x: uses[1]: expected a name or { name, when = PARAMETER }, got nil" },
  { 'return policy "x" { uses = { { "gto", if_ = "on" } } }', "policy x: uses[1]: no field matches 'if_'; available: 1, when" },
  { 'return policy "x" { uses = { { "gto", when = "on" } } }', "policy x: uses: when: expected a parameter that is true or false, got 'on'" },
  { 'return policy "x" { parts = { { class = "VictimTags", name = "v", of = "SM", ways = policy.param "w" } }, params = { v = { 1 } } }',
    'policy.param: no parameter of the policy matches \'w\'; did you mean v? Available: v' },
  { 'return policy "x" { parts = { { class = "L1" } } }', "policy x: parts[1]: expected { class =, name =, of =" },
  { 'local x = policy "x" {} x.count = 3 return x', "policy x: count: expected a function" },
  { 'return { name = "x" }', 'expected a file that returns a policy, made by policy "name" {...}' },
  { 'local x = policy "x" {} function x:on_period() end return x', "period: expected a number of cycles from 1 to 1000000000 for on_period", "that is one, got nil" },
  { 'local x = policy "x" { period = 0 } function x:on_period() end return x', "from 1 to 1000000000", "that is one, got 0" },
  { 'local x = policy "x" { period = 2.5 } function x:on_period() end return x', "that is one, got 2.5" },
  { 'local x = policy "x" { period = "p", params = { p = { -1 } } } function x:on_period() end return x', "parameter p = -1" },
  { 'local x = policy "x" { period = "q" } function x:on_period() end return x', "parameter q = nil" },
}

for name in ("sm l1 state params counters cache object share"):gmatch "%S+" do
  bad_definitions[#bad_definitions + 1] = { ('return policy "x" { parts = { { class = "VictimTags", name = "%s", of = "SM" } } }'):format(name),
    ("policy x: parts[1]: name: expected one that no handle or field of self has, got '%s'"):format(name) }
end

for name in ("params counters shares parts name uses scope period doc state count share shared cycle bind only own_l1 channel_of"):gmatch "%S+" do
  bad_definitions[#bad_definitions + 1] = { ('local x = policy "x" {}\n function x:%s() end return x'):format(name),
    (".lua:4: policy x: function %s: expected a name that neither a definition nor self has"):format(name) }
end

for i, case in ipairs(bad_definitions) do
  harness.test(("bad definition %d is refused: %s"):format(i, case[1]), function()
    fails({ policy = policy_file("bad" .. i, case[1]) }, table.unpack(case, 2))
  end)
end

harness.test("a policy in a script cannot have functions, which each instance loads from a file", function()
  local script = harness.write("inline.lua", [[
local ww, policy = require "warpwright", require "warpwright.policy"
local inline = policy "inline" { order = "lrr" }
if ... then function inline:start() end end
local r = ww.run { config = "gtx480", workload = "vecadd", size = "small", policy = inline, out = false }
print(r.policy)
]])
  local status, output = harness.run(script)
  harness.equal(status, 0, output)
  harness.equal(output, "inline\n")
  status, output = harness.run(script, "hooks")
  harness.equal(status, 2, output)
  harness.contains(output, "policy inline: expected a file that returns it", "inline.lua")
end)

-- Composition --------------------------------------------------------------------------------------------------------

--- A policy that prefers warp `own` when a CTA starts, and counts whether the one before preferred `seen`.
local function preferring(name, own)
  return policy_file(name, ([[
local p = policy "%s" { counters = { all = "Saw all", first = "Saw 1", second = "Saw 2" } }
function p:on_cta_start()
  local seen = { [-1] = "all", [1] = "first", [2] = "second" }
  self:count(seen[self.sm.preferred])
  self.sm.preferred = %d
end
return p]]):format(name, own))
end

harness.test("of several policies that handle an event, each sees what those before it have set", function()
  local first, second = preferring("first", 1), preferring("second", 2)
  local stats = good { policy = first .. "+" .. second }
  local starts = stat(stats, "sm[0].ctas_started")
  harness.equal(stat(stats, "sm[0].first.all"), 1, "the first, at the start")
  harness.equal(stat(stats, "sm[0].first.second"), starts - 1, "the first, afterwards")
  harness.equal(stat(stats, "sm[0].second.first"), starts, "the second")
  stats = good { policy = second .. "+" .. first }
  harness.equal(stat(stats, "sm[0].first.second"), starts, "the first, as the second")
  harness.equal(stat(stats, "sm[0].second.all"), 1, "the second, as the first")
end)

harness.test("of several settings of a knob the last policy's counts, and --set has the last word", function()
  local gto, lrr = good { policy = "gto" }, good { policy = "lrr" }
  assert(gto ~= lrr)
  same(good { policy = "lrr+gto" }, gto)
  same(good { policy = "gto+lrr" }, lrr)
  same(good { policy = "gto", set = { "sms=2", "partitions=2", "sm[*].scheduler=lrr" } }, lrr)
end)

local subscriber = policy_file("subscriber", [[
local subscriber = policy "subscriber" { counters = { starts = "CTAs" } }
function subscriber:on_cta_start() self:count "starts" end
return subscriber]])

harness.test("a composition's policies each have their parameters and counters", function()
  local stats = good { policy = tuned .. ":limit=9+" .. subscriber .. "+gto" }
  harness.equal(stat(stats, "sm[0].tuned.limit"), 9)
  harness.equal(stat(stats, "sm[0].subscriber.starts"), stat(stats, "sm[0].ctas_started"))
end)

--- A policy that uses others and shows that they come first.
local function user_of(name, used, params)
  return policy_file(name, ([[
local p = policy "%s" { uses = { %q }, params = { %s }, counters = { order = "Preferred before" } }
function p:start() self:count("order", self.sm.preferred) end
return p]]):format(name, used, params))
end

harness.test("a policy with counters has not the name of an object below the one that it is about", function()
  local text = 'local p = policy "%s" { counters = { %s = "Issues" } } function p:on_issue() self:count "%s" end return p'
  fails({ policy = policy_file("l1d", text:format("l1d", "misses", "misses")) },
    "policy l1d: expected another name, or no counters, got the name of object sm[0].l1d, which has statistics")
  good { policy = policy_file("l1d_too", text:format("l1d.too", "misses", "misses")) }
  good { policy = policy_file("quiet", 'local p = policy "l1d" {} function p:on_issue() end return p') }
end)

local base = policy_file("base", [[
local base = policy "base" { params = { limit = { 4, min = 1, max = 48 } }, counters = { limit = "The limit" } }
function base:start()
  self:count("limit", self.params.limit)
  self.sm.preferred = self.params.limit
end
return base]])

harness.test("a used policy is found beside the file that names it, wherever that is run from", function()
  policy_file("meter", 'local p = policy "meter" { counters = { n = "" } } function p:on_cta_start() self:count "n" end return p')
  policy_file("gto", 'return policy "not_gto" {}')
  for _, name in ipairs { "meter", "meter.lua", "../" .. harness.folder():match "[^/]+$" .. "/meter.lua" } do
    local stats = good { policy = policy_file("user", ('return policy "user" { uses = { %q, "gto" } }'):format(name)) }
    assert(stat(stats, "sm[0].meter.n") > 0, name)
  end
  fails({ policy = policy_file("user", 'return policy "user" { uses = { "metre" } }') }, "policy: no policy matches 'metre'")
end)

harness.test("the path of a policy may have + and : in it", function()
  for _, folder in ipairs { "c++", "a:b" } do
    core.make_folder(harness.folder() .. "/" .. folder)
    local path = policy_file(folder .. "/tuned", harness.read(tuned))
    harness.equal(stat(good { policy = path }, "sm[1].tuned.limit"), 4)
    harness.equal(stat(good { policy = "gto+" .. path .. ":limit=7,word=ab+lrr" }, "sm[1].tuned.limit"), 7)
  end
  fails({ policy = harness.folder() .. "/c++/tuned.lua+" }, "policy: expected a name", "got ''")
end)

harness.test("a policy that uses another brings it along, in front, with the parameters that both have", function()
  local user = user_of("user", base, "limit = { 11 }, own = { 1 }")
  local stats = good { policy = user }
  harness.equal(stat(stats, "sm[0].base.limit"), 11)
  harness.equal(stat(stats, "sm[0].user.order"), 11)
  harness.equal(stat(good { policy = user .. ":limit=12,own=2" }, "sm[0].base.limit"), 12)
  harness.equal(stat(good { policy = user_of("user2", base, "own = { 1 }") }, "sm[0].base.limit"), 4)
  fails({ policy = user .. ":limit=49" }, "policy base: limit: expected a whole number from 1 to 48, got 49")
end)

harness.test("parameters of a used policy are its user's too, with the same defaults and bounds", function()
  local middle = user_of("middle", base, "own = { 1 }")
  local outer = user_of("outer", middle, "")
  for _, user in ipairs { middle, outer } do
    harness.equal(stat(good { policy = user }, "sm[0].base.limit"), 4)
    harness.equal(stat(good { policy = user .. ":limit=7,own=3" }, "sm[0].base.limit"), 7)
  end
  fails({ policy = outer .. ":limit=49" }, "policy outer: limit: expected a whole number from 1 to 48, got '49'")
  fails({ policy = outer .. ":limt=9" }, "policy outer: no parameter matches 'limt'; did you mean limit? Available: limit, own")
  local reader = policy_file("reader", ([[
local p = policy "reader" { uses = { %q }, counters = { limit = "base's" } }
function p:start() self:count("limit", self.params.limit) end
return p]]):format(base))
  harness.equal(stat(good { policy = reader .. ":limit=6" }, "sm[0].reader.limit"), 6)
end)

harness.test("a used policy with a condition is there when the parameter says so", function()
  local user = policy_file("choosy", ([[
return policy "choosy" { uses = { { %q, when = "on" } }, params = { on = { true } } }]]):format(base))
  local used, unused = good { policy = user .. ":limit=5" }, good { policy = user .. ":limit=5,on=false" }
  harness.equal(stat(used, "sm[0].base.limit"), 5)
  assert(not unused:find("base", 1, true), "it is there")
end)

harness.test("a parameter of a part can be one of the policy by name", function()
  local vta = policy_file("parted", [[
return policy "parted" { params = { n = { 24 } }, parts = {
  { class = "VictimTags", name = "vta", of = "SM", ways = 8, entries = policy.param "n" } } }]])
  local _, _, out = good { policy = vta .. ":n=40" }
  harness.contains(harness.read(out .. "/config.lua"), "entries = 40")
end)

harness.test("a policy is there once, with the parameters with which it was named first", function()
  local user, other = user_of("user3", base, "limit = { 11 }"), user_of("user4", base, "limit = { 13 }")
  local stats = good { policy = user .. "+" .. other }
  local _, rows = stats:gsub("\nsm%[0%]%.base%.limit ", "")
  harness.equal(rows, 1, "rows of base")
  harness.equal(stat(stats, "sm[0].base.limit"), 11)
  harness.equal(stat(good { policy = base .. ":limit=5+" .. user }, "sm[0].base.limit"), 5)
  fails({ policy = user .. "+" .. base .. ":limit=5" }, "policy base: expected once in a chain, got it again after user3, which uses it; name it first")
  fails({ policy = base .. "+" .. base .. ":limit=5" }, "policy base: expected once in a chain, got it twice")
end)

harness.test("policies that use each other are an error", function()
  local ring1, ring2 = harness.folder() .. "/ring1.lua", harness.folder() .. "/ring2.lua"
  user_of("ring1", ring2, "")
  user_of("ring2", ring1, "")
  fails({ policy = ring1 }, "policy ring1: uses: expected other policies, got itself, by way of ring1, ring2")
end)

-- Handles ------------------------------------------------------------------------------------------------------------

--- A policy whose start() does `body` fails and says these texts.
local function start_fails(body, ...) hook_fails("start()", body, nil, "in start at cycle 0", "failing.lua:3: ", ...) end

harness.test("knobs and values that there are not, and values out of bounds, are named with what is legal", function()
  start_fails("self.sm.may_isue = 1", "sm[0]: no knob matches 'may_isue'; available: ", "may_issue", "scheduler")
  start_fails("self.sm.warps = 1", "sm[0]: no knob matches 'warps'")
  start_fails("self.sm.live = 1", "sm[0]: no knob matches 'live'")
  start_fails("local x = self.sm.liv", "sm[0]: no value matches 'liv'; available: ", "live")
  start_fails("self.sm:unheard_of()", "sm[0]: no value matches 'unheard_of'; available: scheduler, ", "; methods: oldest, oldest_ctas, ",
    "; also parameters and statistics, as --describe SM has them")
  start_fails("local x = self.lsu.nothing", "sm[0].lsu: no value matches 'nothing'")
  start_fails("self.sm.scheduler = 'fifo'", "sm[0].scheduler: expected one of lrr, gto, oldest, groups, got 'fifo'")
  start_fails("self.sm.scheduler = ''", "sm[0].scheduler: expected one of lrr, gto, oldest, groups, got ''")
  start_fails("self.sm.scheduler = 1", "sm[0].scheduler: expected one of lrr, gto, oldest, groups, got 1")
  start_fails("self.sm.group_size = 65", "sm[0].group_size: expected a whole number from 1 to 64, got 65")
  start_fails("self.sm.group_size = 0", "sm[0].group_size: expected a whole number from 1 to 64, got 0")
  start_fails("self.sm.group_size = 2.5", "sm[0].group_size: expected a whole number from 1 to 64, got 2.5")
  start_fails("self.sm.group_size = '8'", "sm[0].group_size: expected a whole number from 1 to 64, got '8'")
  start_fails("self.sm.may_issue = 'all'", "sm[0].may_issue: expected a set of warps (a whole number), got 'all'")
  start_fails("self.sm.may_issue = nil", "sm[0].may_issue: expected a set of warps (a whole number), got nil")
end)

harness.test("arguments of methods are named with what is legal, and a misspelt method with the nearest", function()
  start_fails("self.sm:last(2)", "sm[0]:last: scheduler: expected a whole number from 0 to 1, got 2")
  start_fails("self.sm:cta_warps(-1)", "sm[0]:cta_warps: warp: expected a whole number from 0 to 47, got -1")
  start_fails("self.sm:oldest('all', 1)", "sm[0]:oldest: set: expected a set of warps (a whole number), got 'all'")
  start_fails("self.sm:oldest(self.sm.live)", "sm[0]:oldest: n: expected a whole number, got nothing")
  start_fails("self.sm.last(self.lsu, 0)", "SM:last: object before the colon: expected SM, got sm[0].lsu")
  start_fails("self.sm.last(0)", "SM:last: object before the colon: expected SM, got 0")
  start_fails("self.sm:lats(0)", "sm[0]: no value matches 'lats'; available: ", "; did you mean the method last?")
  start_fails("local x = self.sm.liv", "; did you mean live?")
  start_fails("self.sm.may_isue = 1", "; did you mean may_issue?")
end)

--- A policy that goes through the methods of its handles and calls each with every kind of illegal argument.
local stranger = policy_file("stranger", [[
local core = require "warpwright.core"
local stranger = policy "stranger" { uses = { "ccws", "warp_types" }, counters = { refused = "Calls" },
  parts = { { class = "LocalityScores", name = "scores2", of = "SM" }, { class = "WarpSampler", name = "sampler2", of = "SM" } } }

local legal <const> = { whole = 0, set = 1, flag = true }
local illegal <const> = { whole = { "1", 0.5, true, {}, "nothing" }, set = { "1", 0.5, true }, object = { 1, "handle", false } }

-- A value for each argument but the i-th, which is `value`; up to that when it is missing.
local function arguments_with(method, i, value)
  local values = {}
  for j, argument in ipairs(method.arguments) do values[j] = legal[argument.kind] end
  values[i] = value
  return table.unpack(values, 1, value == nil and i - 1 or #method.arguments)
end

local function refused(self, handle, method, i, value)
  local argument = method.arguments[i]
  local worked, message = pcall(handle[method.name], handle, arguments_with(method, i, value))
  local start = ("%s:%s: %s: expected "):format(handle.path, method.name, argument.name)
  assert(not worked and message:find(start, 1, true), ("%s: %s"):format(start, tostring(message)))
  self:count "refused"
end

local function try_argument(self, handle, method, i)
  local argument = method.arguments[i]
  for _, value in ipairs(illegal[argument.kind]) do refused(self, handle, method, i, value) end
  refused(self, handle, method, i, nil)
  if argument.kind == "object" then refused(self, handle, method, i, self.sm) end
  local max = argument.below and handle[argument.below] - 1 or argument.max
  if max then
    refused(self, handle, method, i, max + 1)
    refused(self, handle, method, i, -1)
  end
end

function stranger:start()
  for _, handle in ipairs { self.sm, self.l1, self.texture, self.scores2, self.sampler2 } do
    for _, method in ipairs(core.class_methods(handle.class)) do
      for i = 1, #method.arguments do
        if method.arguments[i].kind == "object" or i == 1 or method.arguments[1].kind ~= "object" then
          try_argument(self, handle, method, i)
        end
      end
    end
  end
end
return stranger]])

harness.test("each argument of each method is checked", function()
  local stats = good { policy = stranger }
  assert(stat(stats, "sm[0].stranger.refused") > 100)
end)

harness.test("knobs and values have the kind of their row", function()
  local path = policy_file("kinds", with_function("start()", [[
    local sm = self.sm
    assert(sm.scheduler == "gto" and sm.group_size == 8 and sm.may_issue == -1 and sm.live == 0)
    assert(sm.path:match "^sm%[%d%]$" and sm.class == "SM" and tostring(sm) == sm.path)
    sm.scheduler, sm.group_size, sm.may_issue = "groups", 4.0, bits.of(63) | 5
    assert(sm.scheduler == "groups" and sm.group_size == 4 and sm.may_issue == math.mininteger | 5)
    assert(self.lsu.class == "LSU" and self.l1.class == "L1" and self.l1.size == 16384)
    sm.may_issue = bits.all]]))
  good { policy = path, workload = "vecadd" }
end)

harness.test("sets of warps can be counted, searched and gone through", function()
  local path = policy_file("sets", with_function("start()", [[
    assert(bits.count(0) == 0 and bits.count(bits.all) == 64 and bits.count(5) == 2)
    assert(bits.lowest(0) == nil and bits.lowest(12) == 2 and bits.lowest(bits.of(63)) == 63)
    assert(bits.has(5, 2) and not bits.has(5, 1) and bits.has(bits.all, 63) and bits.of(3) == 8)
    local seen = {}
    for warp in bits.each(bits.of(63) | 6) do seen[#seen + 1] = warp end
    assert(table.concat(seen, " ") == "1 2 63")
    for _ in bits.each(0) do error "nothing is in it" end]]))
  good { policy = path, workload = "vecadd" }
end)

-- Scopes -------------------------------------------------------------------------------------------------------------

harness.test("a coordinator sees all SMs, caches and controllers, and sets their knobs at boundaries", function()
  local path = policy_file("coordinator", [[
local c = policy "coordinator" { scope = "machine", period = 2000, counters = { turns = "Turns" } }
function c:start()
  assert(#self.sms == 15 and #self.l1s == 15 and #self.l2s == 6 and #self.mcs == 6)
  for i, sm in ipairs(self.sms) do assert(sm.path == ("sm[%d]"):format(i - 1) and self.l1s[i].path == sm.path .. ".l1d") end
  for i, l2 in ipairs(self.l2s) do assert(l2.path == ("l2[%d]"):format(i - 1)) end
end
function c:on_period()
  local issued = 0
  for i, sm in ipairs(self.sms) do
    issued = issued + sm.warp_instructions
    assert(sm.preferred == (self.state.set and self.state.set << i or bits.all) and sm.scheduler == (self.state.order or "gto"))
  end
  assert(issued > (self.state.issued or 0))
  self.state.issued = issued
  self:count "turns"
  self.state.set, self.state.order = issued, self.counters.turns % 2 == 1 and "lrr" or "gto"
  for i, sm in ipairs(self.sms) do sm.preferred, sm.scheduler = self.state.set << i, self.state.order end
end
return c]])
  local options = { policy = path, workload = "kmeans", set = {} }
  local stats = good(options)
  assert(stat(stats, "dispatcher.coordinator.turns") > 2)
  assert(without(stats, ".coordinator.") ~= without(good { policy = "gto", workload = "kmeans", set = {} }), "nothing changed")
  options.threads, options.order = 2, "reversed"
  same(good(options), stats, "two threads, reversed")
end)

harness.test("policies about L2 slices and memory controllers have one instance for each", function()
  for _, scope in ipairs { "l2", "mc" } do
    local path = policy_file("about_" .. scope, ([[
local p = policy "about" { scope = %q, period = 500, counters = { turns = "Turns" } }
function p:start() assert(self.%s.path:match "%%[%%d%%]$" and self.mc.class == "MemoryController" and not self.sm) end
function p:on_period() self:count "turns" end
return p]]):format(scope, scope))
    local stats = good { policy = path, workload = "vecadd", set = {} }
    for i = 0, 5 do assert(stat(stats, ("%s[%d].about.turns"):format(scope, i)) > 0) end
  end
end)

--- configs/gtx480.lua without its L1.
local function config_without_l1()
  local text = harness.read(core.home_path "configs/gtx480.lua")
  local function replace(pattern, new)
    local replaced, count = text:gsub(pattern, new)
    assert(count == 1, "configs/gtx480.lua has another form than this test knows: " .. pattern)
    text = replaced
  end
  replace("\n[^\n]*m:L1 %(sm, \"l1d\"%) %b{}", "")
  replace("m:wire%(sm%.lsu%.mem, [^\n]*", "m:wire(sm.lsu.mem, mux.up[0])")
  replace("\n *m:wire%(l1d?%.mem, mux[^\n]*", "")
  return harness.write("no_l1.lua", text)
end

harness.test("on a machine without an L1 there is no handle of it", function()
  local path = policy_file("bare", with_function("start()", "assert(self.l1 == false and self.lsu)"))
  good { config = config_without_l1(), workload = "vecadd", policy = path, set = {} }
  fails({ workload = "vecadd", policy = path }, "assertion failed")
end)

-- --describe ---------------------------------------------------------------------------------------------------------

harness.test("--describe lists events with their arguments, questions, knobs, and what can be read", function()
  local status, output = harness.run("--describe", "SM")
  harness.equal(status, 0, output)
  output = output:gsub(" +", " ")
  harness.contains(output, "\nEvents: ", "\n issue(warp, pc, lanes) A warp issued",
    "\n warps_changed() Warps started", "\nQuestions: ", "\n pick(scheduler, ready) Which ",
    "\n may_issue warps Warps that may issue [knob]\n", "\n live warps Warps with lanes that have not exited [readable]\n",
    "\n scheduler choice gto Order of the warp schedulers [lrr|gto|oldest|groups] [knob]\n")
  for line in output:gmatch "[^\n]+" do
    if line:find("accounted", 1, true) then assert(not line:find("[", 1, true), line) end
  end
end)

-- Machines that lack what a policy is about ----------------------------------------------------------------------------

harness.test("a policy of L1 data caches says before anything runs that the SMs have none", function()
  local bare = ww.machine("bare", function(m)
    m:clocks { core = "700MHz" }
    m:AddressMap "map" { channels = 1 }
    m:wire(m:Dispatcher "dispatcher" { sms = 1 }.sm[0], m:SM "sm" {}.dispatch)
    local l2 = m:L2 "l2" { size = "64KiB", ways = 8, mshrs = 32 }
    m:wire("sm.lsu.mem", l2.cpu)
    m:wire(l2.mem, m:MemoryController "mc" {}.cpu[0])
  end)
  local textures = policy_file("textures", with_function("texture_victim()", ""))
  harness.contains(select(2, pcall(function() ww.build(bare, { policy = textures }):gpu() end)), "policy x of sm: texture_victim: expected an object as self.texture, got none on this machine; leave the function out for machines without one")
  for _, policy in ipairs { "mascar", "dwt_cs", "stream_bypass:period=10", "pcal:level=l1" } do
    local ok, problem = pcall(function() ww.build(bare, { policy = policy }):run("vecadd", "small,n=64") end)
    assert(not ok, policy .. " runs")
    harness.contains(tostring(problem), policy:match "^[^:]*", "L1")
    assert(not tostring(problem):find("attempt to", 1, true), problem)
  end
  local sim = ww.build(bare, { policy = "stream_bypass:period=10,l1=false" })
  sim:run("vecadd", "small,n=64")
  sim:close()
end)

harness.test("garbage that a policy's file makes is collected while the policy is set up", function()
  good { policy = policy_file("littering", [[
local weak = setmetatable({ {} }, { __mode = "v" })
for i = 1, 50000 do local _ = ("x"):rep(1000) .. i end
assert(not weak[1], "nothing was collected")
local littering = policy "littering" {}
function littering:start() end
return littering]]) }
end)

harness.test("a policy may switch its garbage collection off", function()
  good { policy = policy_file("hoarding", [[
local hoarding = policy "hoarding" {}
collectgarbage "stop"
function hoarding:start() assert(not collectgarbage "isrunning") end
return hoarding]]) }
end)

-- Documentation -------------------------------------------------------------------------------------------------------

harness.test("docs/policy_reference.md has questions of networks as a policy whose scope is the network has them", function()
  local reference = harness.read(core.home_path "docs/policy_reference.md")
  for _, class in ipairs { "Crossbar", "Mux", "Router" } do
    harness.contains(reference:match("\n#### " .. class .. "\n(.-)\n####"), ("`self.object` in scope `%s`"):format(class), "| `arbitrate(")
  end
end)

harness.test("docs/policy_reference.md lists all policies, knobs, hooks and methods", function()
  local status, output = harness.run(core.home_path "scripts/policy_reference.lua", "--check")
  harness.equal(status, 0, output)
end)

harness.finish()
