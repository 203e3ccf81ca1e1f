-- Policies as their authors and users meet them: parameters, composition, counters, checkpoints, errors, and that they
-- obey the law: same stats with any threads and tick order, and nothing changed where nothing is decided.
local ww = require "warpwright"
local core = require "warpwright.core"
local harness = require "harness"

local program = arg[-1]
local runs = 0

--- Writes policies/NAME.lua-like files into the test's folder; returns the path.
local function policy_file(name, text)
  return harness.write(name .. ".lua", ([[
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"
%s
]]):format(text))
end

local function new_folder()
  runs = runs + 1
  return ("%s/run%d"):format(harness.folder(), runs)
end

local small_machine = { "sms=2", "partitions=2" }

--- Runs the program on a small machine unless options say otherwise; returns exit status, output, and stats.txt or nil.
local function run(options)
  local out = options.out or new_folder()
  local words = { "run", options.config or "gtx480", options.workload or "spmv", "--size", "small", "--out", out }
  if options.resume then words = { "run", "--resume", options.resume, "--out", out } end
  for _, setting in ipairs(options.resume and {} or options.set or small_machine) do
    words[#words + 1] = "--set"
    words[#words + 1] = setting
  end
  for _, name in ipairs { "policy", "threads", "order", "checkpoint-at", "max-cycles" } do
    if options[name] then
      words[#words + 1] = "--" .. name
      words[#words + 1] = tostring(options[name])
    end
  end
  for _, word in ipairs(options.more or {}) do words[#words + 1] = word end
  local status, output = harness.run(table.unpack(words))
  local file = io.open(out .. "/stats.txt", "rb")
  local stats = file and file:read "a"
  if file then file:close() end
  return status, output, stats, out
end

--- The same, which must go well; returns stats.txt, output, folder.
local function good(options)
  local status, output, stats, out = run(options)
  harness.equal(status, 0, "exit status, output " .. output)
  return stats, output, out
end

local function stat(stats, name)
  local value = ("\n" .. stats):match("\n" .. name:gsub("[%[%].]", "%%%0") .. " +(%S+)")
  return value and tonumber(value) or error("there is no stat " .. name, 2)
end

--- stats.txt with single blanks, and without the rows that contain one of the plain texts.
local function without(stats, ...)
  local lines = {}
  for line in stats:gmatch "[^\n]+" do
    local kept = true
    for _, text in ipairs { ... } do kept = kept and not line:find(text, 1, true) end
    if kept then lines[#lines + 1] = line:gsub(" +", " ") end
  end
  return table.concat(lines, "\n")
end

local function first_difference(a, b)
  local next_b = b:gmatch "[^\n]+"
  for line in a:gmatch "[^\n]+" do
    local other = next_b() or "nothing"
    if line ~= other then return ("'%s' and '%s'"):format(line, other) end
  end
  return "lines are missing"
end

local function same(a, b, what)
  assert(a == b, a ~= b and ("%s: stats differ: %s"):format(what or "", first_difference(a, b)))
end

local function lacks(text, unwanted)
  if text:find(unwanted, 1, true) then error(("'%s' is in: %s"):format(unwanted, text), 2) end
end

--- A run that ends with exit status 2 and says all of `texts`, without crash and traceback.
local function fails(options, ...)
  local status, output, stats = run(options)
  harness.equal(status, 2, "exit status, output " .. output)
  harness.contains(output, "warpwright: error: ", ...)
  lacks(output, "stack traceback")
  return stats, output
end

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
end)

harness.test("a parameter that is wrong is named with what is legal", function()
  fails({ policy = tuned .. ":limt=3" }, "policy tuned has no parameter 'limt'", "limit, on, share, word")
  fails({ policy = tuned .. ":limit=49" }, "policy tuned: limit = 49 is out of bounds; legal is 1 to 48")
  fails({ policy = tuned .. ":limit=0" }, "limit = 0 is out of bounds")
  fails({ policy = tuned .. ":limit=2.5" }, "limit = '2.5' is not like its default, 4")
  fails({ policy = tuned .. ":share=many" }, "share = 'many' is not like its default, 0.5")
  fails({ policy = tuned .. ":on=1" }, "on = '1' is not like its default, true")
  fails({ policy = "gto:limit=1" }, "policy gto has no parameter 'limit'; it has none")
  fails({ policy = tuned .. ":limit" }, "'limit' is not parameter=value")
  fails({ policy = tuned .. ":" }, "'' is not parameter=value")
  fails({ policy = tuned .. ":limit=3,,on=true" }, "'' is not parameter=value")
  fails({ policy = "gto++lrr" }, "policy: a name is wanted")
  fails({ policy = ":limit=3" }, "policy: a name is wanted", "':limit=3'")
end)

-- Definitions --------------------------------------------------------------------------------------------------------

--- A definition that is refused: { its text, what is said of it }.
local bad_definitions = {
  { 'return policy "x" { ordr = "gto" }', "policy x: there is no 'ordr'; legal is doc, params, scope" },
  { 'return policy "x" { scope = "core" }', "scope 'core' is none of l2, machine, mc, sm" },
  { 'return policy "x" { order = "fifo" }', "sm[0].scheduler: 'fifo'" },
  { 'return policy "x y" {}', "a name of letters, digits" },
  { 'return policy {}', "a name of letters, digits" },
  { 'return policy "x" { params = { a = 3 } }', "policy x: parameter a: { default, min =, max =, doc = } is wanted" },
  { 'return policy "x" { params = { a = { 3, mn = 1 } } }', "policy x: parameter a: there is no 'mn'" },
  { 'return policy "x" { params = { a = { 3, max = 2 } } }', "policy x: parameter a: its default, 3, is out of its bounds" },
  { 'return policy "x" { params = { 3 } }', "policy x: parameter 1: { default" },
  { 'return policy "x" { params = 3 }', "policy x: params: a table is wanted, this is a number" },
  { 'return policy "x" { counters = { "hits" } }', 'policy x: counters = { name = "what it counts" } is wanted' },
  { 'return policy "x" { uses = "gto" }', "policy x: uses: a table is wanted" },
  { 'return policy "x" { uses = { "gtoo" } }', "there is no policy 'gtoo'" },
  { 'return policy "x" { uses = { { when = "on" } } }', "policy x: uses[1]: a name or { name, when = PARAMETER } is wanted" },
  { 'return policy "x" { uses = { { "gto", if_ = "on" } } }', "policy x: uses[1]: there is no 'if_'; legal is 1, when" },
  { 'return policy "x" { uses = { { "gto", when = "on" } } }', "policy x: uses: when = 'on' is no parameter that is true or false" },
  { 'return policy "x" { parts = { { class = "VictimTags", name = "v", of = "SM", ways = policy.param "w" } }, params = { v = { 1 } } }',
    'policy.param "w": the policy has no such parameter; v' },
  { 'return policy "x" { parts = { { class = "L1" } } }', "policy x: parts[1]: { class =, name =, of =" },
  { 'local x = policy "x" {} x.count = 3 return x', "policy x: count is a number; a policy has functions" },
  { 'return { name = "x" }', 'does not return a policy, made by policy "name" {...}' },
  { 'local x = policy "x" {} function x:on_period() end return x', "on_period wants `period`", "it is nil" },
  { 'local x = policy "x" { period = 0 } function x:on_period() end return x', "from 1 to 1000000000", "it is 0" },
  { 'local x = policy "x" { period = 2.5 } function x:on_period() end return x', "it is 2.5" },
  { 'local x = policy "x" { period = "p", params = { p = { -1 } } } function x:on_period() end return x', "parameter p = -1" },
  { 'local x = policy "x" { period = "q" } function x:on_period() end return x', "parameter q = nil" },
}

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
  harness.contains(output, "policy inline: it has functions", "a file that returns it is wanted", "inline.lua")
end)

-- Hooks --------------------------------------------------------------------------------------------------------------

--- The text of a policy `x` with this function, and settings.
local function with_function(name, body, settings)
  return ('local x = policy "x" { %s } function x:%s %s end return x'):format(settings or "", name, body)
end

harness.test("a hook that there is not is refused, and near names are listed", function()
  local path = policy_file("hooks1", with_function("on_cta_strat()", ""))
  fails({ policy = path }, "policy x of sm[0]: there is no hook 'on_cta_strat' here", "near names are on_cta_start")
  path = policy_file("hooks2", with_function("on_issue()", "", 'scope = "machine"'))
  fails({ policy = path }, "there is no hook 'on_issue' here", "on_period")
  path = policy_file("hooks3", with_function("pick()", "", 'scope = "l2"'))
  fails({ policy = path }, "policy x of l2[0]: there is no hook 'pick' here")
  path = policy_file("hooks4", with_function("on_pick()", ""))
  fails({ policy = path }, "there is no hook 'on_pick' here", "near names are ", "pick")
end)

local talker = policy_file("talker", [[
local talker = policy "talker" { period = 1000, counters = { starts = "CTAs", ends = "CTAs", kernels = "Kernels", periods = "Periods" } }
function talker:on_cta_start(slot, warps)
  assert(slot >= 0 and slot < self.sm.ctas and warps ~= 0 and warps & ~self.sm.live == 0)
  assert(self:cycle() >= 1)
  self:count "starts"
end
function talker:on_cta_end(slot, warps)
  assert(warps & self.sm.live == 0)
  self:count "ends"
end
function talker:on_kernel_start(name) if name == "bfs_step" or #name > 0 then self:count("kernels", 1) end end
function talker:on_kernel_end(name) self:count("kernels", 1000) end
function talker:on_period() assert(self:cycle() % 16 == 0) self:count "periods" end
return talker]])

harness.test("each hook is called as often as what it is about happens, and counters are in the stats", function()
  local stats = good { workload = "bfs", policy = talker }
  for sm = 0, 1 do
    local path = ("sm[%d]."):format(sm)
    harness.equal(stat(stats, path .. "talker.starts"), stat(stats, path .. "ctas_started"), "starts")
    harness.equal(stat(stats, path .. "talker.ends"), stat(stats, path .. "ctas_finished"), "ends")
    harness.equal(stat(stats, path .. "talker.kernels"), 1001 * stat(stats, "run.launches"), "kernels")
    local periods, cycles = stat(stats, path .. "talker.periods"), stat(stats, "run.cycles")
    assert(periods == cycles // 1000 or periods == cycles // 1000 + 1, -- what is in flight finishes after the last cycle
      ("%d periods in %d cycles"):format(periods, cycles))
  end
  harness.contains(without(stats), "sm[0].talker.starts " .. stat(stats, "sm[0].talker.starts") .. " events CTAs\n")
end)

harness.test("the present cycle is that of the event", function()
  local path = policy_file("watch", [[
local watch = policy "watch" { counters = { issues = "Issues", last = "Cycle of the last one" } }
function watch:on_issue(warp, pc)
  local cycle = self:cycle()
  assert(cycle >= (self.state.cycle or 0))
  self.state.cycle = cycle
  self:count("issues")
  self.counters.last = cycle
end
return watch]])
  local stats = good { policy = path, workload = "vecadd" }
  harness.equal(stat(stats, "sm[0].watch.issues"), stat(stats, "sm[0].warp_instructions"), "issues")
  local last, cycles = stat(stats, "sm[0].watch.last"), stat(stats, "run.cycles")
  assert(last < cycles and last > cycles / 2, ("last issue in cycle %d of %d"):format(last, cycles))
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

harness.test("of several policies that hear an event, each sees what those before it have set", function()
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

harness.test("a composition's policies each have their parameters and counters", function()
  local stats = good { policy = tuned .. ":limit=9+" .. talker .. "+gto" }
  harness.equal(stat(stats, "sm[0].tuned.limit"), 9)
  harness.equal(stat(stats, "sm[0].talker.starts"), stat(stats, "sm[0].ctas_started"))
end)

--- A policy that uses others and shows that they come first.
local function user_of(name, used, params)
  return policy_file(name, ([[
local p = policy "%s" { uses = { %q }, params = { %s }, counters = { order = "Preferred before" } }
function p:start() self:count("order", self.sm.preferred) end
return p]]):format(name, used, params))
end

local base = policy_file("base", [[
local base = policy "base" { params = { limit = { 4, min = 1, max = 48 } }, counters = { limit = "The limit" } }
function base:start()
  self:count("limit", self.params.limit)
  self.sm.preferred = self.params.limit
end
return base]])

harness.test("a policy that uses another brings it along, in front, with the parameters that both have", function()
  local user = user_of("user", base, "limit = { 11 }, own = { 1 }")
  local stats = good { policy = user }
  harness.equal(stat(stats, "sm[0].base.limit"), 11)
  harness.equal(stat(stats, "sm[0].user.order"), 11)
  harness.equal(stat(good { policy = user .. ":limit=12,own=2" }, "sm[0].base.limit"), 12)
  harness.equal(stat(good { policy = user_of("user2", base, "own = { 1 }") }, "sm[0].base.limit"), 4)
  fails({ policy = user .. ":limit=49" }, "policy base: limit = 49 is out of bounds")
end)

harness.test("parameters of a used policy are its user's too, with the same defaults and bounds", function()
  local middle = user_of("middle", base, "own = { 1 }")
  local outer = user_of("outer", middle, "")
  for _, user in ipairs { middle, outer } do
    harness.equal(stat(good { policy = user }, "sm[0].base.limit"), 4)
    harness.equal(stat(good { policy = user .. ":limit=7,own=3" }, "sm[0].base.limit"), 7)
  end
  fails({ policy = outer .. ":limit=49" }, "policy outer: limit = 49 is out of bounds; legal is 1 to 48")
  fails({ policy = outer .. ":limt=9" }, "policy outer has no parameter 'limt'; its parameters are limit, own")
  local reader = policy_file("reader", ([[
local p = policy "reader" { uses = { %q }, counters = { limit = "base's" } }
function p:start() self:count("limit", self.params.limit) end
return p]]):format(base))
  harness.equal(stat(good { policy = reader .. ":limit=6" }, "sm[0].reader.limit"), 6)
end)

harness.test("a used policy with a condition is there when the parameter says so", function()
  local user = policy_file("choosy", ([[
return policy "choosy" { uses = { { %q, when = "on" } }, params = { on = { true } } }]]):format(base))
  local with, without = good { policy = user .. ":limit=5" }, good { policy = user .. ":limit=5,on=false" }
  harness.equal(stat(with, "sm[0].base.limit"), 5)
  assert(not without:find("base", 1, true), "it is there")
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
  fails({ policy = user .. "+" .. base .. ":limit=5" }, "policy base: user3 uses it already; name it first")
  fails({ policy = base .. "+" .. base .. ":limit=5" }, "policy base is named twice")
end)

harness.test("policies that use each other are an error", function()
  local ring1, ring2 = harness.folder() .. "/ring1.lua", harness.folder() .. "/ring2.lua"
  user_of("ring1", ring2, "")
  user_of("ring2", ring1, "")
  fails({ policy = ring1 }, "policy ring1 uses itself, by way of ring1, ring2")
end)

-- The law ------------------------------------------------------------------------------------------------------------

-- Remembers, hears, asks and acts at boundaries; without sense, but with every means.
local busy = policy_file("busy", [[
local busy = policy "busy" {
  order = "lrr", period = "every", params = { every = { 700, min = 1 } },
  counters = { turns = "Turns", blocked = "Load-blocked warps", picks = "Own picks" },
}
function busy:start() self.state.history = {} self.state.seed = 1 end
function busy:on_cta_start(slot, warps) self.state.history[slot] = warps end
function busy:on_load_blocked(warp)
  self.state.seed = (self.state.seed * 6364136223846793005 + warp) & 0xffffffff
  self:count "blocked"
end
function busy:on_warps_changed() self.sm.watched = self.sm.live end
function busy:on_period()
  local set = 0
  for _, warps in pairs(self.state.history) do set = set | warps end -- | knows no order
  self.sm.preferred = self.state.seed & set
  self.sm.may_load = self.state.seed % 3 == 0 and self.sm:oldest(self.sm.live, 20) or bits.all
  self.sm.scheduler = self.state.seed % 2 == 0 and "gto" or "lrr"
  self:count "turns"
end
function busy:pick(scheduler, ready)
  if self.state.seed % 5 ~= 0 then return nil end
  self:count "picks"
  return 63 - #("x"):rep(63 - bits.lowest(ready))
end
return busy]])

harness.test("a policy with state, events and periods is the same with any threads and tick order", function()
  local options = { policy = busy, workload = "bfs", set = { "sms=4" } }
  local want = good(options)
  assert(stat(want, "sm[3].busy.blocked") > 0 and stat(want, "sm[3].busy.turns") > 3 and stat(want, "sm[3].busy.picks") > 0)
  for _, way in ipairs { { 1, "reversed" }, { 2, "path" }, { 3, "shuffled:4" }, { 2, "reversed" } } do
    options.threads, options.order = way[1], way[2]
    same(good(options), want, table.concat(way, " "))
  end
end)

harness.test("a run under a policy goes on from a checkpoint as if it had not stopped", function()
  for _, workload in ipairs { "bfs", "spmv" } do
    local options = { policy = busy .. ":every=500", workload = workload }
    local want = good(options)
    local cycles = stat(want, "run.cycles")
    options["checkpoint-at"] = ("%d,%d"):format(cycles // 3, 3 * cycles // 4)
    local saving, _, folder = good(options)
    same(saving, want, "the run that saves")
    for _, name in ipairs(core.list_folder(folder)) do
      if name:match "%.ckpt$" then same(good { resume = folder .. "/" .. name }, want, name) end
    end
  end
end)

harness.test("gto in Lua is gto, byte for byte", function()
  for _, config in ipairs { "gtx480", "gtx480_gpgpusim4" } do
    for _, workload in ipairs { "kmeans", "spmv", "sgemm" } do
      same(good { config = config, workload = workload, policy = "gto_in_lua" },
        good { config = config, workload = workload, policy = "gto" }, config .. " " .. workload)
    end
  end
end)

harness.test("first come, first served in Lua is the memory controller's own, byte for byte", function()
  for _, workload in ipairs { "kmeans", "spmv", "bfs" } do
    local set = { "sms=4", "partitions=2" }
    local want = good { workload = workload, set = { "sms=4", "partitions=2", "mc[*].scheduler=fcfs" } }
    same(good { workload = workload, policy = "fcfs_in_lua", set = set }, want, workload)
    assert(want ~= good { workload = workload, set = set }, workload .. " is the same in any order")
  end
end)

harness.test("a policy of a memory controller sees each waiting request", function()
  local path = policy_file("looking", [[
local p = policy "looking" { scope = "mc", counters = { writes = "", hits = "", waited = "", warps = "", asked = "" } }
function p:pick(queue, requests, row_hits, writes)
  assert(queue == 0 and requests ~= 0 and row_hits & ~requests == 0 and writes & ~requests == 0)
  self:count "asked"
  local rows, before = {}, math.maxinteger
  for rank in bits.each(requests) do
    local sm, warp, class, bank, row, write, waited = self.mc:request(queue, rank)
    assert(sm < 2 and warp < 48 and class == 0 and bank < 16 and waited <= before)
    assert(bits.has(self.mc:of_bank(queue, bank), rank) and write == bits.has(writes, rank))
    if bits.has(row_hits, rank) then
      assert(rows[bank] == nil or rows[bank] == row, "one row of a bank is open")
      rows[bank] = row
      self:count "hits"
    end
    before = waited
    self:count("waited", waited)
    if write then self:count "writes" end
  end
  assert(self.mc:request(0, 64) == nil and self.mc:request(1, 0) == nil and self.mc:of_bank(0, 99) == 0)
end
return p]])
  local set = { "sms=2", "partitions=2", "l2[*].size=16KiB" } -- which writes back
  local stats = good { policy = path, workload = "bfs", set = set }
  for _, name in ipairs { "writes", "hits", "waited", "asked" } do assert(stat(stats, "mc[0].looking." .. name) > 0, name) end
  same(without(stats, ".looking."), without(good { policy = "gto", workload = "bfs", set = set }, ".looking."), "it only looks")
  same(good { policy = path, workload = "bfs", set = set, threads = 2, order = "reversed" }, stats, "two threads, reversed")
end)

harness.test("what a policy of a memory controller picks is served first, and an answer without requests counts for nothing", function()
  local function picking(answer)
    return policy_file("picking", 'local p = policy "picking" { scope = "mc" } function p:pick(queue, requests, row_hits, writes) return '
      .. answer .. " end return p")
  end
  local function waits(policy_path)
    local stats = good { policy = policy_path, workload = "spmv", set = { "sms=4", "partitions=1" } }
    return stat(stats, "mc[0].row_hits"), stat(stats, "mc[0].row_conflicts"), stats
  end
  local hits, conflicts = waits(picking "row_hits")
  local fewer, more = waits(picking "requests & -requests") -- the oldest
  assert(hits > fewer and conflicts < more, ("%d hits, %d conflicts; then %d and %d"):format(hits, conflicts, fewer, more))
  local _, _, plain = waits "gto"
  for _, answer in ipairs { "0", "nil", "~requests", "-1" } do
    local _, _, other = waits(picking(answer))
    same(other, plain, answer)
  end
end)

harness.test("a memory controller that a policy lets serve nothing is reported as a hang", function()
  local path = policy_file("closing", [[
local p = policy "closing" { scope = "mc" }
function p:pick(queue, requests, row_hits) return requests & ~row_hits end -- never the row that is open
return p]])
  fails({ policy = path, workload = "spmv" }, "kernel spmv_csr hangs", "waits for")
end)

harness.test("a policy that decides nothing changes no statistic", function()
  local idle = policy_file("idle", 'return policy "idle" { doc = "Nothing", order = "gto" }')
  local listening = policy_file("listening", [[
local p = policy "listening" { order = "gto", period = 16 }
for _, hook in ipairs { "start", "pick", "on_period", "on_kernel_start", "on_kernel_end", "on_issue", "on_warps_changed",
  "on_load_blocked", "on_cta_start", "on_cta_end" } do
  p[hook] = function() end
end
return p]])
  local want = good { policy = "gto" }
  same(good { policy = idle }, want, "no hooks")
  same(good { policy = listening }, want, "hooks that do nothing")
  same(without(good { policy = "gto+" .. talker }, ".talker."), without(want), "hooks that count")
end)

-- Another policy on resume -------------------------------------------------------------------------------------------

harness.test("another policy on resume must be allowed, and begins afresh", function()
  local few = policy_file("few", [[
local few = policy "few" { counters = { starts = "CTAs" } }
function few:on_warps_changed() self.sm.may_issue = self.sm:oldest(self.sm.live, 4) end
function few:on_cta_start() self.state.starts = (self.state.starts or 0) + 1 self:count "starts" end
return few]])
  local before, _, folder = good { policy = few, ["checkpoint-at"] = 3000 }
  assert(stat(before, "sm[0].slots_policy") > 0)
  local path = folder .. "/3008.ckpt"
  fails({ resume = path, policy = "gto" }, "made under policy " .. few, "this is gto", "allow_changes")
  fails({ resume = path, policy = few .. "+gto" }, "allow_changes")
  local stats, output = good { resume = path, policy = "gto", more = { "--allow-changes" } }
  harness.contains(output, ("policy %s became gto; what it knew is dropped"):format(few))
  lacks(stats, ".few.")
  assert(stat(stats, "sm[0].slots_policy") < stat(before, "sm[0].slots_policy") // 2, "the masks of the policy before hold on")
  assert(stat(stats, "run.cycles") < stat(before, "run.cycles"))
  stats = good { resume = path, policy = few .. "+" .. talker, more = { "--allow-changes" } }
  assert(stat(stats, "sm[0].few.starts") < stat(before, "sm[0].few.starts"), "few knows CTAs of before")
end)

harness.test("what is no plain data cannot be saved, and is named", function()
  local path = policy_file("unsaved", [[
local x = policy "unsaved" {}
function x:on_cta_start(slot) self.state.hooks = { [slot] = print } end
return x]])
  local stats = fails({ policy = path, ["checkpoint-at"] = 2000 }, "policy unsaved of sm[0]: state.hooks[", "is a function")
  assert(stats and stat(stats, "run.cycles") == 2000, "stats of the 2000 cycles")
  path = policy_file("twice", [[
local x = policy "twice" {}
function x:start() self.state.a = {} self.state.b = self.state.a end
return x]])
  fails({ policy = path, ["checkpoint-at"] = 2000 }, "policy twice of sm[0]: state.b is a table that is there twice")
end)

-- Errors in hooks ----------------------------------------------------------------------------------------------------

--- Runs policy `x` with this function on line 3 of its file; its error must name everything. Returns stats.txt and output.
local function hook_fails(name, body, settings, ...)
  local path = policy_file("failing", with_function(name, body, settings))
  return fails({ policy = path, workload = "spmv" }, ...)
end

local boom = 'error "boom"'

harness.test("an error in start names policy, object, hook, file and line", function()
  local stats = hook_fails("start()", boom, nil, "policy x of sm[0], in start at cycle 0: ", "failing.lua:3: boom")
  harness.equal(stats, nil, "stats.txt")
end)

harness.test("an error in a hook says so too, and ends the run with its stats", function()
  local stats = hook_fails("on_cta_start()", "local t = nil; t.x = 1", nil, "policy x of sm[0], in on_cta_start at cycle ",
    "failing.lua:3: attempt to index a nil value (local 't')")
  assert(stats and stat(stats, "run.cycles") == 32 and stat(stats, "sm[0].ctas_started") > 0, "stats of the first quantum")
end)

harness.test("an error in a question says so too", function()
  local stats = hook_fails("pick()", boom, nil, "policy x of sm[0], in pick at cycle ", "failing.lua:3: boom")
  assert(stats and stat(stats, "sm[0].warp_instructions") > 0)
end)

harness.test("an error in on_period says so too, at the boundary of the period", function()
  local stats = hook_fails("on_period()", boom, "period = 1000", "policy x of sm[0], in on_period at cycle 1008: ",
    "failing.lua:3: boom")
  harness.equal(stat(stats, "run.cycles"), 1008)
  stats = hook_fails("on_period()", boom, "period = 1000, scope = 'machine'", "policy x of dispatcher, in on_period at cycle 1008: ")
  harness.equal(stat(stats, "run.cycles"), 1008)
end)

harness.test("an error when a kernel starts or ends says so too", function()
  local stats = hook_fails("on_kernel_start()", boom, nil, "policy x of sm[0], in on_kernel_start at cycle 0: ", "failing.lua:3: boom")
  harness.equal(stat(stats, "run.cycles"), 0)
  stats = hook_fails("on_kernel_end()", boom, nil, "policy x of sm[0], in on_kernel_end at cycle ", "failing.lua:3: boom")
  assert(stat(stats, "run.cycles") > 1000)
end)

harness.test("errors of any kind are told: values, the library's, answers that are none", function()
  hook_fails("on_cta_start()", "error(setmetatable({}, { __tostring = function() return 'an object' end }))", nil,
    "in on_cta_start at cycle ", "an object")
  hook_fails("on_cta_start()", "error()", nil, "in on_cta_start at cycle ", ": nil")
  hook_fails("on_cta_start()", 'require("warpwright.core").user_error("mine")', nil, "in on_cta_start at cycle ", "failing.lua:3: mine")
  hook_fails("on_period()", 'require("warpwright.core").user_error("mine")', "period = 16", "in on_period at cycle 16", "mine")
  hook_fails("pick()", 'return "3"', nil, "in pick at cycle ", 'it answered 3; legal are whole numbers, true, false and nil')
  hook_fails("pick()", "return {}", nil, "in pick at cycle ", "it answered table: ")
  hook_fails("pick()", "return 0.5", nil, "in pick at cycle ", "it answered 0.5")
  hook_fails("on_cta_start()", "self:count 'starts'", nil, "failing.lua:3: the policy declares no counter 'starts'; it has none")
  hook_fails("on_cta_start()", "self:count('a', 0.5)", "counters = { a = '' }", "failing.lua:3: count a: 0.5 is not a whole number")
  hook_fails("on_cta_start()", "self.mine = 1", nil, "failing.lua:3: self.mine is set outside start()", "self.state")
  hook_fails("on_cta_start()", "local x = math.random(3)", nil, "failing.lua:3: math.random is not for policies")
end)

harness.test("a failure is the same one with any threads and order", function()
  local path = policy_file("failing", with_function("on_cta_start(slot)", "if slot == 1 then error 'boom' end"))
  local _, want = fails({ policy = path, set = { "sms=4" } }, "in on_cta_start")
  want = want:gsub("run%d+", "run")
  for _, way in ipairs { { 1, "reversed" }, { 2, "path" }, { 3, "shuffled:2" } } do
    local _, got = fails({ policy = path, set = { "sms=4" }, threads = way[1], order = way[2] }, "in on_cta_start")
    harness.equal((got:gsub("run%d+", "run")), want, "message")
  end
end)

-- Standstill ---------------------------------------------------------------------------------------------------------

harness.test("a machine that a policy has stopped goes on when a later period lets it", function()
  local path = policy_file("pausing", [[
local p = policy "pausing" { period = 5000, counters = { turns = "Turns" } }
function p:on_period()
  self:count "turns"
  self.sm.may_issue = self.counters.turns % 2 == 0 and bits.all or 0
end
return p]])
  local paused, free = good { policy = path }, good { policy = "gto" }
  assert(stat(paused, "sm[0].pausing.turns") >= 2)
  local late = stat(paused, "run.cycles") - stat(free, "run.cycles")
  assert(late > 4000, "late by " .. late)
  same(good { policy = path, threads = 2, order = "reversed" }, paused, "two threads, reversed")
end)

harness.test("the hang report says of warps that the policy does not let them issue", function()
  fails({ policy = policy_file("stopping", with_function("start()", "self.sm.may_issue = 0")) },
    "kernel spmv_csr hangs", "sm[0]: warp 0 of CTA", "is not allowed to issue by the policy")
  fails({ policy = policy_file("stopping", with_function("on_period()", "self.sm.may_load = 0", "period = 100")) },
    "kernel spmv_csr hangs", "is not allowed by the policy to issue its memory instruction")
end)

-- Handles ------------------------------------------------------------------------------------------------------------

--- A policy whose start() does `body` fails and says these texts.
local function start_fails(body, ...) hook_fails("start()", body, nil, "in start at cycle 0", "failing.lua:3: ", ...) end

harness.test("knobs and values that there are not, and values out of bounds, are named with what is legal", function()
  start_fails("self.sm.may_isue = 1", "sm[0] has no knob 'may_isue'; there are ", "may_issue", "scheduler")
  start_fails("self.sm.warps = 1", "sm[0] has no knob 'warps'")
  start_fails("self.sm.live = 1", "sm[0] has no knob 'live'")
  start_fails("local x = self.sm.liv", "sm[0] has no value 'liv'; there are ", "live")
  start_fails("local x = self.lsu.nothing", "sm[0].lsu has no value 'nothing'")
  start_fails("self.sm.scheduler = 'fifo'", "sm[0].scheduler: fifo is out of bounds; legal is lrr|gto|oldest|groups")
  start_fails("self.sm.scheduler = ''", "sm[0].scheduler:  is out of bounds")
  start_fails("self.sm.scheduler = 1", "sm[0].scheduler: 1 is out of bounds; legal is lrr|gto")
  start_fails("self.sm.group_size = 65", "sm[0].group_size: 65 is out of bounds; legal is whole numbers from 1")
  start_fails("self.sm.group_size = 0", "sm[0].group_size: 0 is out of bounds")
  start_fails("self.sm.group_size = 2.5", "sm[0].group_size: 2.5 is out of bounds")
  start_fails("self.sm.group_size = '8'", "sm[0].group_size: 8 is out of bounds")
  start_fails("self.sm.may_issue = 'all'", "sm[0].may_issue: all is out of bounds; legal is whole numbers")
  start_fails("self.sm.may_issue = nil", "sm[0].may_issue: nil is out of bounds")
  start_fails("self.sm:last(2)", "bad argument #1 to 'last' (no such scheduler)")
  start_fails("self.sm:cta_warps(-1)", "bad argument #1 to 'cta_warps' (no such warp)")
  start_fails("self.sm.last(self.lsu, 0)", "sm[0].lsu: last belongs to SM")
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

-- Hangs --------------------------------------------------------------------------------------------------------------

harness.test("a policy that stalls all warps for ever is reported as what they wait for", function()
  local path = policy_file("stall", with_function("on_cta_start()", "if self.sm.ctas_started == 3 then self.sm.may_issue = 0 end"))
  local stats, output = fails({ policy = path }, "hangs: nothing has moved since cycle ",
    "is not allowed to issue by the policy")
  assert(stat(stats, "run.cycles") > 0)
  lacks(output, "is ready")
end)

-- --describe ---------------------------------------------------------------------------------------------------------

harness.test("--describe lists events with their arguments, questions, knobs, and what can be read", function()
  local status, output = harness.run("--describe", "SM")
  harness.equal(status, 0, output)
  output = output:gsub(" +", " ")
  harness.contains(output, "\nEvents: ", "\n issue(warp, pc) A warp issued",
    "\n warps_changed() Warps started", "\nQuestions: ", "\n pick(scheduler, ready) Which ",
    "\n may_issue warps Warps that may issue [knob]\n", "\n live warps Warps with lanes that have not exited [readable]\n",
    "\n scheduler choice gto Order of the warp schedulers [lrr|gto|oldest|groups] [knob]\n")
  for line in output:gmatch "[^\n]+" do
    if line:find("accounted", 1, true) then assert(not line:find("[", 1, true), line) end
  end
end)

-- Documentation -------------------------------------------------------------------------------------------------------

harness.test("policies/README.md lists the policies, knobs, hooks and methods that there are", function()
  local status, output = harness.run(core.home_path "scripts/policy_reference.lua", "--check")
  harness.equal(status, 0, output)
end)

harness.finish()
