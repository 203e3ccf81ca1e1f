-- What an instance is about, what it hears of other objects, and what instances of a policy tell each other.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local checks = require "tests.lib.policy_checks"
local oracle = require "scripts.lib.resume_oracle"
local runs = require "tests.lib.policy_runs"

local policy_file, good, fails, stat = runs.file, runs.good, runs.fails, runs.stat

harness.test("scope cache: one instance for each cache that matches, which hears its own events", function()
  local path = policy_file("per_cache", [[
local p = policy "per_cache" { scope = "cache", caches = "data|L2", counters = { hits = "", misses = "", fills = "" } }
function p:on_hit() self:count "hits" end
function p:on_miss() self:count "misses" end
function p:on_fill() self:count "fills" end
function p:start() assert(self.cache.class == "L1" or self.cache.class == "L2") end
return p]])
  local r = good { policy = path }
  for _, cache in ipairs { "sm[0].l1d", "sm[1].l1d", "l2[0]", "l2[1]" } do
    for _, name in ipairs { "hits", "misses", "fills" } do
      harness.equal(stat(r, cache .. ".per_cache." .. name), stat(r, cache .. "." .. name), cache .. " " .. name)
    end
    assert(stat(r, cache .. ".hits") > 0, cache .. " has no hits")
  end
  local others = good { policy = path .. ":cache=texture_cache|l2[1]" }
  assert(others:find("l2[1].per_cache.hits", 1, true) and others:find("sm[1].texture_cache.per_cache.hits", 1, true))
  runs.lacks(others, "l2[0].per_cache")
  runs.lacks(others, "l1d.per_cache")
end)

harness.test("a policy counts accesses and hits by set, as the page says", function()
  local core = require "warpwright.core"
  local text = harness.read(core.home_path "docs/seeing.md"):match '```lua\n([^`]*policy "sets"[^`]*)```'
  local r = good { policy = policy_file("sets", text) }
  for _, name in ipairs { "hits", "misses" } do
    local sum = 0
    for set = 0, 31 do sum = sum + stat(r, ("sm[0].l1d.sets.%s_%d"):format(name, set)) end
    harness.equal(sum, stat(r, "sm[0].l1d." .. name), name)
    assert(sum > 0)
  end
end)

harness.test("on_cache_EVENT and cache_QUESTION get the cache that speaks first", function()
  local path = policy_file("speakers", [[
local p = policy "speakers" { caches = "data|constant", counters = { l1d = "", constant = "", asked = "" } }
function p:start()
  assert(#self.caches == 2 and self.caches[1].path == self.sm.path .. ".l1d")
end
function p:on_cache_miss(cache, sm, warp, address, pc, write, class, set, way)
  assert(sm == self.sm:number() and way < cache.ways and address >= 0 and write <= 1 and class == 0 and pc >= 0 and warp < 48 and set >= 0)
  self:count(cache.path:match "l1d$" or "constant")
end
function p:cache_bypass(cache) self:count "asked" return cache.path:match "l1d$" and self.counters.asked % 2 == 0 end
return p]])
  local r = good { policy = path }
  for sm = 0, 1 do
    local at = ("sm[%d]."):format(sm)
    harness.equal(stat(r, at .. "speakers.l1d"), stat(r, at .. "l1d.misses"), "misses of the L1")
    harness.equal(stat(r, at .. "speakers.constant"), stat(r, at .. "constant_cache.misses"), "misses of constants")
    assert(stat(r, at .. "l1d.bypasses") > 0, "nothing passed by")
    harness.equal(stat(r, at .. "constant_cache.bypasses"), 0, "constants that passed by")
  end
end)

harness.test("scope of a class: an instance for each object of it", function()
  local path = policy_file("by_class", [[
local p = policy "by_class" { scope = "MemoryController", counters = { served = "" } }
function p:on_served() self:count "served" end
function p:start() assert(self.object.class == "MemoryController") end
return p]])
  local r = good { policy = path }
  for i = 0, 1 do
    harness.equal(stat(r, ("mc[%d].by_class.served"):format(i)), stat(r, ("mc[%d].reads"):format(i)) + stat(r, ("mc[%d].writes"):format(i)),
      "requests served")
  end
  fails({ policy = policy_file("no_class", 'local p = policy "p" { scope = "DmaEngine" } function p:start() end return p') },
    "policy p: expected a machine with objects of class DmaEngine, got one without")
end)

harness.test("scope of a class that is made with others: an instance for each of its objects", function()
  local path = policy_file("units", [[
local p = policy "units" { scope = "LSU", counters = { seen = "Instances" } }
function p:start() assert(self.object.class == "LSU") self:count "seen" end
return p]])
  local stats = good { policy = path, workload = "vecadd" }
  harness.equal(stat(stats, "sm[0].lsu.units.seen") + stat(stats, "sm[1].lsu.units.seen"), 2)
end)

harness.test("arbitrate may ask for the heads of its inputs with the arguments that it gets", function()
  local stats = good { workload = "vecadd", policy = policy_file("arbiter", [[
local p = policy "p" { scope = "Crossbar", counters = { asked = "Times" } }
function p:arbitrate(responses, output, inputs, choice)
  self:count "asked"
  local class = self.object:head(responses, choice)
  assert(class and class == self.object:head(responses == 1, choice))
end
return p]]) }
  assert(stat(stats, "xbar.p.asked") > 100)
  fails({ policy = policy_file("two", 'local p = policy "p" { scope = "Crossbar" } function p:start() self.object:head(2, 0) end return p') },
    ":head: responses: expected true, false, 1 or 0, got 2")
end)

harness.test("policies arbitrate for the outputs of a mesh's routers", function()
  local function run(body, set)
    local r = ww.run { config = "gtx480_mesh", workload = "bfs", size = "small", out = false, set = set, policy = policy_file("mesh", ([[
local bits = require "warpwright.bits"
local p = policy "p" { scope = "Router", counters = { asked = "Times", others = "Answers other than the choice" } }
function p:arbitrate(responses, output, inputs, choice)
  self:count "asked"
  %s
end
return p]]):format(body)) }
    return r, r["mesh[*].p.asked"], r["mesh[*].p.others"]
  end
  local by_age = [[
  local best, least = choice, select(6, self.object:head(choice))
  for input in bits.each(inputs) do
    local issued = select(6, self.object:head(input))
    if %s then best, least = input, issued end
  end
  if best ~= choice then self:count "others" end
  return best]]
  local plain = ww.run { config = "gtx480_mesh", workload = "bfs", size = "small", out = false }
  local silent, asked = run ""
  harness.equal(silent.cycles, plain.cycles, "cycles under a policy that does not answer")
  assert(asked > 1000, asked)
  local same, _, others = run(by_age:format "issued < least", { ["mesh[*].arbitration"] = "age" })
  harness.equal(others, 0, "answers other than the choice, of the rule that is built in")
  harness.equal(same.cycles, ww.run { config = "gtx480_mesh", workload = "bfs", size = "small", out = false,
    set = { ["mesh[*].arbitration"] = "age" } }.cycles, "cycles under that rule")
  local youngest
  youngest, _, others = run(by_age:format "issued > least")
  assert(others > 100 and youngest.cycles ~= plain.cycles, "answers are served")
end)

harness.test("bad scopes and caches are refused", function()
  local function refused(text, ...) fails({ policy = policy_file("refused", text) }, ...) end
  refused('return policy "x" { scope = "cache" }', "policy x: expected caches = for scope cache")
  refused('return policy "x" { caches = 3 }', "policy x: caches: expected ", "got 3")
  refused('return policy "x" { caches = { "data", when = "l1" } }', "policy x: caches: expected ")
  refused('local x = policy "x" { caches = "L2" } function x:on_cache_hit() end return x',
    "policy x: cache: expected caches that share a cluster with sm[0], got l2[0], which is behind a slow wire; a policy of scope cache")
  refused('local x = policy "x" { scope = "machine" } function x:sm_pick() end return x', "no hook matches 'sm_pick'")
  refused('return policy "x" { parts = { { class = "LineReuse", name = "r", of = "cache" } } }', "policy x: parts[1]: expected caches = for of = \"cache\"")
  refused('return policy "x" { parts = { { class = "VictimTags", name = "v", of = "SM", cache = policy.first_cache } } }',
    'policy x: parts[1]: cache: expected caches = "data" or the like for the caches of an SM, got none')
  refused('return policy "x" { caches = "data", parts = { { class = "LineReuse", name = "r", of = "L1", sm = policy.sm_number } } }',
    "policy x: parts[1]: of: expected \"SM\" for sm = the caches of an SM, got 'L1'")
  refused([[return policy "x" { caches = { "data", when = "on" }, params = { on = { false } },
    parts = { { class = "VictimTags", name = "v", of = "SM", cache = policy.first_cache } } }]],
    "refused.lua:3: policy x: part v: expected caches on which the policy acts, got none; `where` leaves the part out")
end)

harness.test("what a CTA takes of the SM is known when the SM gets its kernel", function()
  local path = policy_file("needs", [[
local p = policy "needs" { counters = { warps = "", registers = "", shared = "", unused = "" } }
function p:on_kernel_given()
  local warps, registers, shared = self.sm:cta_needs()
  self:count("warps", warps) self:count("registers", registers) self:count("shared", shared)
  self:count("unused", self.sm.registers - self.sm:ctas_per_sm() * registers)
end
function p:pick() local warps = self.sm:cta_needs() assert(warps == self.sm:warps_per_cta()) end
return p]])
  local sim = ww.build("gtx480", { policy = path, set = { sms = 1 } })
  local gpu = sim:gpu()
  local kernel = gpu:load { text = ".version 7.0\n.target sm_20\n.address_size 64\n.visible .entry k() { ret; }\n", name = "k.ptx" }.k
  gpu:launch(kernel, { grid = 3, block = 100, registers = 22, shared = 1000 })
  local r = sim:result()
  harness.equal(r["sm[0].needs.warps"], 4)
  harness.equal(r["sm[0].needs.registers"], 4 * 32 * 24, "registers, in units of 4 a thread")
  harness.equal(r["sm[0].needs.shared"], 1024, "shared memory, in pieces of 128 B")
  harness.equal(r["sm[0].needs.unused"], 32768 - 8 * 3072, "registers that the 8 CTAs of an SM leave")
end)

-- Requests -------------------------------------------------------------------------------------------------------------

harness.test("a policy gives each request a class by its instruction, and says what that is", function()
  local path = policy_file("by_pc", [[
local p = policy "by_pc" { period = 500, counters = { loads = "", stores = "", branches = "", odd = "Requests of odd classes" } }
function p:lsu_classify(warp, address, pc, write, class)
  local opcode, line, cuda_line, cuda_file, target = self.sm:instruction(pc)
  assert(class == 0 and warp < 48 and address % 32 == 0 and line > 0 and cuda_line == 0 and cuda_file == nil and target == -1)
  self:count(write == 1 and "stores" or "loads")
  assert(opcode:match(write == 1 and "^st%." or "^ld%."), opcode)
  return opcode:match "^ld%.global" and 31 or write == 1 and 30 or nil
end
function p:on_issue(warp, pc)
  local opcode, _, _, _, target = self.sm:instruction(pc)
  if target >= 0 then self:count "branches" assert(opcode:match "^bra" and self.sm:instruction(target)) end
end
function p:on_l1_miss(_, _, _, _, _, class) if class % 2 == 1 then self:count "odd" end end
function p:on_period() assert(self.sm:instruction(1000000) == nil) end
return p]])
  local r = good { policy = path, workload = "bfs" }
  assert(stat(r, "sm[0].by_pc.loads") > 0 and stat(r, "sm[0].by_pc.stores") > 0 and stat(r, "sm[0].by_pc.branches") > 0)
  assert(stat(r, "sm[0].by_pc.odd") > 0, "no request had the class")
  assert(stat(r, "sm[0].by_pc.odd") <= stat(r, "sm[0].l1d.read_misses"), "more than loads had it")
  for _, how in ipairs { { order = "reversed" }, { order = "restless", threads = 2 } } do
    how.policy, how.workload = path, "bfs"
    harness.equal(runs.without(good(how), "run.", "host"), runs.without(r, "run.", "host"), "stats")
  end
  fails({ policy = policy_file("classes", runs.with_function("lsu_classify()", "return 32")) }, "in lsu_classify at cycle ",
    "answer: expected a class, 0 to 31, or nil, got 32")
end)

-- Coordinators ---------------------------------------------------------------------------------------------------------

--- Counts by two policies: in each L2, and by one for the machine; the latter's events in the order in which it hears them.
local hearing = [[
local p = policy "hearing" { scope = "machine", caches = "L2", counters = { hits = "", served = "", order = "Hash of all that it heard" } }
function p:start() self.state.last, self.state.cycle = 0, 0 end
function p:hash(...)
  for _, value in ipairs { ... } do self.state.last = (self.state.last * 31 + value) % 1000003 end
  local more = self.state.last - self.counters.order
  self:count("order", more)
end
function p:on_cache_hit(cache, sm, warp, address, pc) self:count "hits" self:hash(tonumber(cache.path:match "%d+"), sm, warp, address // 128, pc) end
function p:on_mc_served(mc, sm, warp) self:count "served" self:hash(tonumber(mc.path:match "%d+"), sm, warp, self:cycle()) end
return p]]

harness.test("a coordinator hears of every event of every object, in an order that no thread changes", function()
  local path = policy_file("hearing", hearing)
  local r = good { policy = path }
  harness.equal(stat(r, "dispatcher.hearing.hits"), stat(r, "l2[0].hits") + stat(r, "l2[1].hits"), "hits")
  harness.equal(stat(r, "dispatcher.hearing.served"), stat(r, "mc[0].reads") + stat(r, "mc[0].writes") + stat(r, "mc[1].reads")
    + stat(r, "mc[1].writes"), "requests")
  assert(stat(r, "dispatcher.hearing.order") ~= 0, "nothing was heard")
  for _, how in ipairs { { order = "reversed" }, { order = "restless", threads = 2 }, { order = "shuffled:3", threads = 3 } } do
    how.policy = path
    harness.equal(runs.without(good(how), "run.", "host"), runs.without(r, "run.", "host"), "stats")
  end
end)

checks.resumes(policy_file("hearing_again", hearing), "bfs", 3)

harness.test("what a coordinator sets counts from the boundary at which it hears on", function()
  local path = policy_file("stopping", [[
local p = policy "stopping" { scope = "machine", counters = { heard = "", cycle = "", first = "Cycle of the first event" } }
function p:on_sm_cta_start(sm)
  self:count "heard"
  if self.counters.heard > 1 then return end
  self:count("cycle", self:cycle())
  for _, each in ipairs(self.sms) do each.warp_limit = 1 end
  assert(sm.path == "sm[0]")
end
return p]])
  local r = good { policy = path }
  harness.equal(stat(r, "dispatcher.stopping.cycle") % 16, 0, "not at a boundary")
  assert(stat(r, "dispatcher.stopping.cycle") > 0, "before the first cycle")
  assert(stat(r, "run.cycles") > stat(good { policy = "gto" }, "run.cycles"), "the limit did nothing")
end)

harness.test("an error of a coordinator that hears an event ends the run as others do", function()
  fails({ policy = policy_file("wrong", 'local p = policy "wrong" { scope = "machine" }\nfunction p:on_l2_miss() error "no" end\nreturn p') },
    "wrong.lua:4: policy wrong of the machine, in on_l2_miss at cycle ", ": no")
end)

-- Shared numbers ---------------------------------------------------------------------------------------------------------

local sharing = [[
local p = policy "sharing" { scope = "l2", shares = { hits = { 2, doc = "" } }, counters = { seen = "", own = "", next = "", late = "" } }
function p:on_hit()
  local list, place = self:shared "hits"
  local before = list[place]
  self.state.hits = (self.state.hits or 0) + 1
  self:share("hits", self.state.hits)
  self:share("hits", self.state.hits / 2, 2)
  if self:shared("hits")[place] ~= before then self:count "next" end -- never: it is not shared yet
  if self.state.boundary ~= self:cycle() // 16 then -- the first in its quantum: the last of the ones before is known
    if before ~= self.state.hits - 1 then self:count "late" end
    self.state.boundary = self:cycle() // 16
  end
  local sum = 0
  for _, value in ipairs(list) do sum = sum + value end
  self:count("seen", sum - self.counters.seen)
  assert(math.type(list[1]) == "integer" and #list > 1 and #self:shared("hits", 2) == #list)
end
return p]]

harness.test("what an instance shares is seen by all from the next boundary on, and not before", function()
  local path = policy_file("sharing", sharing)
  local r = good { policy = path }
  for i = 0, 1 do
    harness.equal(stat(r, ("l2[%d].sharing.next"):format(i)), 0, "seen at once")
    harness.equal(stat(r, ("l2[%d].sharing.late"):format(i)), 0, "seen late")
    assert(stat(r, ("l2[%d].sharing.seen"):format(i)) > stat(r, ("l2[%d].hits"):format(i)) / 2, "nothing seen of the other")
  end
  for _, how in ipairs { { order = "reversed" }, { order = "restless", threads = 2 }, { threads = 3 } } do
    how.policy = path
    harness.equal(runs.without(good(how), "run.", "host"), runs.without(r, "run.", "host"), "stats")
  end
end)

checks.resumes(policy_file("sharing_again", sharing), "bfs", 3)

-- What memory controllers do, in an L1's question.
local busy <const> = [[
local p = policy "busy" { scope = "mc", period = 200, shares = { served = { 2, doc = "" } } }
function p:on_served() self.state.served = (self.state.served or 0) + 1 end
function p:on_period() self:share("served", self.state.served or 0, 2) end
return p]]
local reader <const> = [[
local p = policy "reader" { uses = { "%s" }, counters = { asked = "", busy = "", most = "" } }
function p:l1_bypass()
  local list, place = self:shared("busy.served", 2)
  assert(#list == 2 and place == nil)
  local sum = 0
  for _, value in ipairs(list) do sum = sum + value end
  self:count "asked"
  if sum > 20 then self:count "busy" end
  self:count("most", math.max(0, sum - self.counters.most))
  return sum %% 3 == 1
end
return p]]

local function reader_file(name) return policy_file("reader_" .. name, reader:format(policy_file("busy_" .. name, busy))) end

harness.test("what the instances of another policy share is seen in questions, from the next boundary on", function()
  local path = reader_file "once"
  local r = good { policy = path, workload = "bfs" }
  assert(stat(r, "sm[0].reader.busy") > 0 and stat(r, "sm[0].reader.busy") < stat(r, "sm[0].reader.asked"), "it is not seen, or never grows")
  assert(stat(r, "sm[0].reader.most") > 20, "little is seen")
  for _, how in ipairs { { order = "reversed" }, { order = "restless", threads = 2 }, { threads = 3 } } do
    how.policy, how.workload = path, "bfs"
    harness.equal(runs.without(good(how), "run.", "host"), runs.without(r, "run.", "host"), "stats")
  end
end)

checks.resumes(reader_file "again", "bfs", 3)

harness.test("what is shared at the end of a period is seen a quantum later, also behind a checkpoint in that cycle", function()
  local out, resumed = harness.folder() .. "/shared_late", harness.folder() .. "/shared_late_resumed"
  local status, output = harness.run("run", "gtx480", "bfs", "--size", "small", "--policy", reader_file "late", "--set", "sms=5", "--set", "partitions=2",
    "--checkpoint-at", "32000,42000", "--out", out)
  harness.equal(status, 0, output)
  for _, checkpoint in ipairs(oracle.checkpoints(out)) do
    harness.equal(harness.run("run", "--resume", checkpoint.path, "--out", resumed), 0, checkpoint.path)
    harness.same_text(harness.read(resumed .. "/stats.txt"), harness.read(out .. "/stats.txt"), checkpoint.path)
  end
end)

harness.test("numbers that another policy does not share, or that nobody shares, are refused", function()
  local path = policy_file("busy_alone", busy)
  local function refused(body, ...)
    fails({ policy = policy_file("refused", ('local x = policy "x" { uses = { "%s" } } %s return x'):format(path, body)) }, ...)
  end
  refused('function x:on_warps_changed() self:shared "busy.sreved" end', "shared: no shared number of policy busy matches 'sreved'; did you mean served?")
  refused('function x:on_warps_changed() self:shared("busy.served", 3) end', "shared busy.served: expected an index from 1 to 2, got 3")
  refused('function x:on_warps_changed() self:shared "bsuy.served" end',
    "shared bsuy.served: expected a policy of this run that shares numbers, got 'bsuy'; `uses` or --policy names it")
end)

harness.test("wrong uses of shared numbers are refused", function()
  local function refused(body, ...)
    fails({ policy = policy_file("refused", ('local x = policy "x" { shares = { n = { 2 } } } function x:start() %s end return x'):format(body)) }, ...)
  end
  refused('self:share("m", 1)', "share: no shared number of the policy matches 'm'; did you mean n?")
  refused('self:share("n", 1, 3)', "share n: expected an index from 1 to 2, got 3")
  refused('self:share("n", "1")', "share n: expected a number, got '1'")
  refused('self:shared("n", 0)', "shared n: expected an index from 1 to 2, got 0")
  fails({ policy = policy_file("refused", 'return policy "x" { shares = { n = 2 } }') }, "policy x: shares: n: expected { how many numbers")
  fails({ policy = policy_file("refused", 'return policy "x" { shares = { ["a.b"] = { 2 } } }') },
    "policy x: shares: expected names of letters, digits and _, got 'a.b'")
end)

harness.finish()
