-- The hooks of policies: when they are called, what they do when they fail, and that policies obey the law: same stats with
-- any threads and tick order, runs that go on from checkpoints, and nothing changed where nothing is decided.
local bits = require "warpwright.bits"
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local runs = require "tests.lib.policy_runs"

local policy_file, with_function, hook_fails, good, fails = runs.file, runs.with_function, runs.hook_fails, runs.good, runs.fails
local stat, without, same, lacks = runs.stat, runs.without, harness.same_text, runs.lacks

-- Hooks --------------------------------------------------------------------------------------------------------------

harness.test("a hook that there is not is refused, and near names are listed", function()
  local path = policy_file("hooks1", with_function("on_cta_strat()", ""))
  fails({ policy = path }, "hooks1.lua:3: policy x of sm[0]: no hook matches 'on_cta_strat'; did you mean on_cta_start" , "on_cta_start")
  path = policy_file("hooks2", with_function("on_issue()", "", 'scope = "machine"'))
  fails({ policy = path }, "no hook matches 'on_issue'", "on_period")
  path = policy_file("hooks3", with_function("pick()", "", 'scope = "l2"'))
  fails({ policy = path }, "policy x of l2[0]: no hook matches 'pick'")
  path = policy_file("hooks5", with_function("on_mc_served()", ""))
  fails({ policy = path }, "policy x of sm[0]: no hook matches 'on_mc_served' in scope sm; scope mc has it as on_served")
  path = policy_file("hooks6", with_function("l1_victim()", "", 'scope = "mc"'))
  fails({ policy = path }, "no hook matches 'l1_victim' in scope mc; scope sm has it as l1_victim")
  path = policy_file("hooks7", with_function("on_mc_pick()", ""))
  fails({ policy = path }, "no hook matches 'on_mc_pick'; did you mean ")
  lacks(select(2, fails({ policy = path }, "did you mean ")), "does nothing")
  path = policy_file("hooks8", with_function("pick()", "", 'scope = "l2"'))
  lacks(select(2, fails({ policy = path }, "no hook matches 'pick'")), "does nothing")
  path = policy_file("hooks9", with_function("cache_insertion()", "", 'scope = "cache", caches = "data"'))
  fails({ policy = path }, "policy x of sm[0].l1d: no hook matches 'cache_insertion' in scope cache, which has it as insertion")
  path = policy_file("hooks4", with_function("on_pick()", ""))
  fails({ policy = path }, "no hook matches 'on_pick'; did you mean " , "", "pick")
end)

harness.test("a hook of an object that the machine lacks is refused, with the scope that has it", function()
  local path = policy_file("lacks", with_function("on_mc_served()", "", 'scope = "l2"'))
  fails({ policy = path, config = "gallery/l3", set = {} },
    "lacks.lua:3: policy x of l2[0]: on_mc_served: expected an object as self.mc, got none on this machine; scope mc has it as on_served")
end)

harness.test("a hook of an object behind slow wires is refused, with its path and the scope that has it", function()
  local path = policy_file("far", with_function("on_mc_served()", "", 'scope = "l2"'))
  local far_memory = harness.write("far_memory.lua", [[
return require("warpwright").variant("far_memory", "gtx480", { sms = 1 }, function(m)
  m:change("l2[*].mem -> mc[*].cpu[*]", { latency = 30, back = { latency = 30 } })
end)]])
  fails({ policy = path, config = far_memory, set = {} }, "far.lua:3: policy x of l2[0]: on_mc_served: expected an object as self.mc that "
    .. "shares a cluster with this one, got mc[0], which is behind a slow wire; scope mc has it as on_served")
end)

harness.test("a function that is nearly a question and that nobody calls is refused, and one that is called is not", function()
  for name, meant in pairs { l1_bypas = "l1_bypass", pik = "pick", l1_vicitm = "l1_victim", strat = "start", pause = false, stat = "start", configur = "configure" } do
    local path = policy_file("near", with_function(name .. "()", "", 'order = "gto"'))
    if meant then
      fails({ policy = path }, ("near.lua:3: policy x: no hook matches '%s', and the file does not call it; did you mean %s?"):format(name, meant))
    else
      lacks(select(2, good { policy = path }), "warpwright: ")
    end
  end
  local path = policy_file("near_mc", with_function("pik()", "", 'scope = "mc"'))
  fails({ policy = path }, "near_mc.lua:3: policy x: no hook matches 'pik'", "did you mean pick?")
  path = policy_file("called", 'local x = policy "x" {} function x:pick() return self:tick() end function x:tick() end return x')
  lacks(select(2, good { policy = path }), "warpwright: ")
  path = policy_file("made", 'local x = policy "x" {} function x:pick() end x["l1_" .. "bypas"] = function() end return x')
  harness.contains(select(2, good { policy = path }), "made.lua:3: policy x: no hook matches 'l1_bypas'")
end)

harness.test("what a policy makes of global variables and of Lua's own changes nothing for others", function()
  for _, line in ipairs { "type = nil", "pairs, ipairs, error, setmetatable = nil", "table = nil", "string.format = nil",
    "function next() end function select() end function tostring() end" } do
    local path = policy_file("own_globals", line .. " " .. with_function("on_cta_strat()", ""))
    fails({ policy = path }, "own_globals.lua:3: policy x of sm[0]: no hook matches 'on_cta_strat'; did you mean on_cta_start")
  end
  local adds = [[function next(n) return n + 1 end
local x = policy "x" { period = 1000, counters = { n = "Periods" } }
function x:on_period() self.state.n = next(self.state.n or 0) self:count "n" end
return x]]
  local r = good { policy = policy_file("own_next", adds) }
  assert(stat(r, "sm[0].x.n") > 0, "no period was counted")
end)

harness.test("memory that no checkpoint holds is refused: globals, local variables, metatables; and so are clocks and addresses", function()
  local at_start = "in on_cta_start at cycle"
  hook_fails("on_cta_start()", "total = 1", nil, at_start, "total: expected a local variable, got an assignment to a global one")
  for _, name in ipairs { "time", "clock", "date" } do
    hook_fails("on_cta_start()", ("os.%s()"):format(name), nil, at_start, ("os.%s: expected a time that is the same in each run"):format(name))
  end
  for body, got in pairs {
    ["tostring({})"] = "tostring: expected a value whose text is the same in each run, got a table",
    ["tostring(print)"] = "tostring: expected a value whose text is the same in each run, got a function",
    ["('%d %s'):format(1, {})"] = "string.format: expected a value whose text is the same in each run, got a table",
    ["string.format('%-20p', 'x')"] = "string.format: expected a text that is the same in each run, got %p, an address",
    ["collectgarbage 'count'"] = "collectgarbage: expected what is the same in each run, got 'count'",
  } do
    hook_fails("on_cta_start()", "local x = " .. body, nil, "failing.lua:3: policy x of sm[0], " .. at_start, got)
  end
  local function checkpoint(body)
    return select(2, good { policy = policy_file("variables", body), ["checkpoint-at"] = 2000 })
  end
  local changed = "n: expected a local variable to keep its value, got another; what a policy remembers is in self.state; the run goes on"
  harness.contains(checkpoint 'local p = policy "p" {} local n = 0 function p:on_cta_start() n = n + 1 end return p', changed)
  harness.contains(checkpoint [[
local p = policy "p" {} local n = { in_it = {} } local function helper(slot) n.in_it[slot] = true end
function p:on_cta_start(slot) helper(slot) end return p]], changed)
  lacks(checkpoint [[
local p = policy "p" { order = "gto" } local n, set = { 3, 4 }, nil
function p:start() set = self.params end
function p:on_cta_start() self.state.n = n[1] assert(set) end return p]], "expected")
  fails({ policy = policy_file("meta", [[
local p = policy "p" {} function p:start() self.state.a = { b = setmetatable({}, {}) } end function p:on_cta_start() end return p]]) },
    "state.a.b: expected a table without a metatable, got one with it")
end)

harness.test("what a memory controller has served is what waited there: bank, row and instruction, too", function()
  local path = policy_file("served", [[
local p = policy "served" { scope = "mc", counters = { reads = "", writes = "", waited = "", hits = "" } }
local function key(...) return table.concat({ ... }, " ") end
function p:start() self.state.waiting = {} end
function p:pick(queue)
  local rank = 0
  while true do
    local sm, warp, class, bank, row, write, waited, pc = self.mc:request(queue, rank)
    if not sm then return end
    local name = key(sm, warp, class, write and 1 or 0, bank, row, pc)
    self.state.waiting[name] = self:cycle() - waited
    rank = rank + 1
  end
end
function p:on_served(sm, warp, class, write, bank, row, waited, pc, hit)
  local name = key(sm, warp, class, write, bank, row, pc)
  assert(self.state.waiting[name], name)
  assert(self:cycle() - waited <= self.state.waiting[name])
  assert(write == 0 or pc == 0)
  self:count(write == 1 and "writes" or "reads")
  self:count("waited", waited)
  self:count("hits", hit)
end
return p]])
  local r = good { policy = path, workload = "kmeans", set = { "sms=2", "partitions=2", "l2[*].size=16KiB" } }
  for i = 0, 1 do
    local mc = ("mc[%d]."):format(i)
    assert(stat(r, mc .. "served.reads") > 100 and stat(r, mc .. "served.writes") > 10, "little was served")
    harness.equal(stat(r, mc .. "served.waited"), stat(r, mc .. "queue_wait_cycles"), "cycles in the queue")
    harness.equal(stat(r, mc .. "served.hits"), stat(r, mc .. "row_hits"), "requests that found their row open")
  end
end)

harness.test("a policy that does nothing at all is told", function()
  local nothing = "warpwright: policy x does nothing: it has no hook, question, part, order, first, uses or configure\n"
  harness.contains(select(2, good { policy = policy_file("nothing", 'return policy "x" { doc = "Nothing", params = { a = { 1 } } }') }), nothing)
  harness.contains(select(2, good { policy = policy_file("nothing", with_function("decide()", "")) }), nothing)
  for _, body in ipairs { 'order = "lrr"', 'uses = { "gto" }' } do
    lacks(select(2, good { policy = policy_file("something", 'return policy "x" { ' .. body .. " }") }), "does nothing")
  end
  lacks(select(2, good { policy = policy_file("something", with_function("configure()", "")) }), "does nothing")
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
  self:count("last", cycle - self.counters.last)
end
return watch]])
  local stats = good { policy = path, workload = "vecadd" }
  harness.equal(stat(stats, "sm[0].watch.issues"), stat(stats, "sm[0].warp_instructions"), "issues")
  local last, cycles = stat(stats, "sm[0].watch.last"), stat(stats, "run.cycles")
  assert(last < cycles and last > cycles / 2, ("last issue in cycle %d of %d"):format(last, cycles))
end)

-- A load through the constant cache, two from memory, one from shared memory; lanes from 8 on skip the last one.
local loads_ptx <const> = [[
.version 3.1
.target sm_20
.address_size 64
.visible .entry loads(.param .u64 out)
{
	.reg .pred	%p;
	.reg .b32	%t, %a, %b, %c, %d;
	.reg .b64	%out, %o;
	.shared .align 4 .b8 tile[128];
	ld.param.u64	%out, [out];
	mov.u32	%t, %tid.x;
	mad.wide.u32	%o, %t, 4, %out;
	ld.global.u32	%a, [%o];
	ld.global.u32	%b, [%o+4096];
	mad.wide.u32	%o, %t, 0, 0;
	ld.shared.u32	%c, [%o];
	add.u32	%d, %a, %b;
	setp.ge.u32	%p, %t, 8;
	@%p bra	done;
	ld.global.u32	%d, [%out+8192];
	add.u32	%d, %d, %c;
done:
	st.global.u32	[%out], %d;
	ret;
}
]]

harness.test("a policy hears which lanes execute, and once all has come that a warp loads from beyond the SM", function()
  local folder = harness.folder()
  harness.write("loads.ptx", loads_ptx)
  local workload = harness.write("loads.lua", [[
local ww = require "warpwright"
local w = ww.workload "loads" { doc = "Loads", ptx = "loads.ptx", sizes = { small = {} } }
function w:run(gpu) gpu:launch(self.kernels.loads, { grid = 1, block = 20, args = { gpu:alloc(16384) } }) end
return w]])
  local log = folder .. "/heard.txt"
  local path = policy_file("hears", ([[
local hears = policy "hears" { order = "gto" }
local function write(text) local file = assert(io.open(%q, "a")) file:write(text, "\n") file:close() end
function hears:on_issue(warp, pc, lanes)
  local opcode = self.sm:instruction(pc)
  if opcode:find "^ld" or opcode:find "^bra" or opcode:find "^add" then write(("%%s %%x"):format(opcode, lanes)) end
end
function hears:on_loads_answered(warp) write(("answered %%d %%s"):format(warp, self.sm.loading)) end
return hears]]):format(log))
  good { policy = path, workload = workload, set = { "sms=1" } }
  harness.equal(harness.read(log), table.concat({
    "ld.param.u64 fffff", "answered 0 0", "ld.global.u32 fffff", "ld.global.u32 fffff", "ld.shared.u32 fffff", "answered 0 0", "add.u32 fffff",
    "bra fff00", "ld.global.u32 ff", "answered 0 0", "add.u32 ff", "" }, "\n"))
end)

-- The law ------------------------------------------------------------------------------------------------------------

-- Remembers, subscribes, asks and acts at boundaries; without sense, but with every means.
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
    for _, workload in ipairs(config == "gtx480" and { "kmeans", "spmv", "sgemm" } or { "spmv" }) do
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

harness.test("a memory controller tells of each request that it has served", function()
  local function served(scope, prefix)
    return policy_file("served_" .. scope, ([[
local p = policy "served" { scope = %q, counters = { reads = "", writes = "", warps = "" } }
function p:%s(sm, warp, class, write)
  assert(sm < 15 and warp < 48 and class == 0 and (write == 0 or write == 1))
  self:count(write == 1 and "writes" or "reads")
  self:count("warps", warp)
end
return p]]):format(scope, prefix))
  end
  for scope, hook in pairs { mc = "on_served", l2 = "on_mc_served" } do
    local policy = served(scope, hook)
    local stats = good { policy = policy, workload = "vecadd" }
    for i = 0, 1 do
      for _, kind in ipairs { "reads", "writes" } do
        local counted = stat(stats, ("%s[%d].served.%s"):format(scope, i, kind))
        harness.equal(counted, stat(stats, ("mc[%d].%s"):format(i, kind)), kind)
        assert(counted > 0, kind)
      end
    end
    assert(stat(stats, scope .. "[0].served.warps") > 0)
    same(without(stats, ".served."), without(good { workload = "vecadd" }), "the rest")
    same(good { policy = policy, workload = "vecadd", threads = 2, order = "reversed" }, stats, "two threads, reversed")
  end
end)

harness.test("the requests of an SM are those that a memory controller has of it", function()
  local path = policy_file("of_sm", [[
local p = policy "of_sm" { scope = "mc", counters = { asked = "", mixed = "" } }
function p:pick(queue, requests)
  local sets, all = {}, 0
  for rank in bits.each(requests) do
    local sm = self.mc:request(queue, rank)
    sets[sm] = (sets[sm] or 0) | bits.of(rank)
  end
  for sm = 0, 15 do
    assert(self.mc:of_sm(queue, sm) & requests == (sets[sm] or 0))
    all = all | self.mc:of_sm(queue, sm)
  end
  assert(requests & ~all == 0)
  self:count "asked"
  if sets[0] and sets[1] then self:count "mixed" end
end
return p]])
  local stats = good { policy = path, workload = "bfs" }
  assert(stat(stats, "mc[0].of_sm.mixed") > 10)
  fails({ policy = policy_file("of_sm2", with_function("on_served()", "self.mc:of_sm(1, 0)", 'scope = "mc"')) },
    "mc[0]:of_sm: queue: expected 0, got 1")
end)

harness.test("slices that share a memory controller may not both answer for it", function()
  local path = policy_file("both", with_function("mc_pick(queue, requests)", "return requests", 'scope = "l2"'))
  fails({ policy = path, config = "medic", set = {} },
    "policy x: mc_pick: expected one answer, got those of l2[0] and l2[1] for mc[0]; a policy of scope mc answers with pick")
  same(good { policy = path }, good {}, "with a slice for each")
  good { policy = policy_file("one", with_function("pick(queue, requests)", "return requests", 'scope = "mc"')), config = "medic", set = {} }
end)

harness.test("an L2 asks a policy that has the question which reads bypass it, and without an answer none does", function()
  local function asking(name, answer, set)
    return good { policy = policy_file(name, ([[
local p = policy "asking" { scope = "l2", counters = { asked = "Reads" } }
function p:bypass() self:count "asked" return %s end return p]]):format(answer)), config = "gallery/private_l1", workload = "vecadd", set = set or {} }
  end
  local stats = asking("all_pass", "true")
  local asked = stat(stats, "l2[0].asking.asked")
  assert(asked > 1000 and stat(stats, "l2[0].bypasses") >= asked, "it was asked " .. asked .. " times")
  stats = asking("none_passes", "nil")
  assert(stat(stats, "l2[0].asking.asked") > 1000)
  same(without(stats, "asking"), without(good { config = "gallery/private_l1", workload = "vecadd", set = {} }, "asking"), "no answer")
  stats = asking("may_not", "true", { "l2[*].bypass=false" })
  harness.equal(stat(stats, "l2[0].bypasses"), 0, "bypasses that --set has forbidden")
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
      assert(self.mc:open_row(bank) == row and bits.has(self.mc:row_hits(queue), rank))
      rows[bank] = row
      self:count "hits"
    end
    before = waited
    self:count("waited", waited)
    if write then self:count "writes" end
  end
  assert(self.mc:request(0, 64) == nil)
end
return p]])
  for call, message in pairs {
    ["request(1, 0)"] = "request: queue: expected 0, got 1",
    ["request(0, -1)"] = "request: rank: expected a whole number from 0 to 4294967295, got -1",
    ["of_bank(0, 99)"] = "of_bank: bank: expected a whole number from 0 to 15, got 99",
  } do
    fails({ policy = policy_file("beyond", with_function("on_served()", "self.mc:" .. call, 'scope = "mc"')) }, "mc[0]:" .. message)
  end
  local set = { "sms=2", "partitions=2", "l2[*].size=16KiB" } -- which writes back
  local stats = good { policy = path, workload = "bfs", set = set }
  for _, name in ipairs { "writes", "hits", "waited", "asked" } do assert(stat(stats, "mc[0].looking." .. name) > 0, name) end
  same(without(stats, ".looking."), without(good { policy = "gto", workload = "bfs", set = set }, ".looking."), "it only looks")
  same(good { policy = path, workload = "bfs", set = set, threads = 2, order = "reversed" }, stats, "two threads, reversed")
end)

harness.test("what a policy of a memory controller picks is served first, and without an answer the built-in order holds", function()
  local function picking(answer)
    return policy_file("picking", 'local p = policy "picking" { scope = "mc" } function p:pick(queue, requests, row_hits, writes) return '
      .. answer .. " end return p")
  end
  local function waits(policy_path)
    local stats = good { policy = policy_path, workload = "spmv", set = { "sms=4", "partitions=1" } }
    return stat(stats, "mc[0].row_hits"), stat(stats, "mc[0].row_conflicts"), stats
  end
  local hits, conflicts = waits(picking "row_hits ~= 0 and row_hits or nil")
  local fewer, more = waits(picking "requests & -requests") -- the oldest
  assert(hits > fewer and conflicts < more, ("%d hits, %d conflicts; then %d and %d"):format(hits, conflicts, fewer, more))
  local _, _, plain = waits "gto"
  for _, answer in ipairs { "nil", "requests" } do
    local _, _, other = waits(picking(answer))
    same(other, plain, answer)
  end
end)

harness.test("a memory controller that a policy lets serve nothing is reported as a hang", function()
  local path = policy_file("closing", [[
local p = policy "closing" { scope = "mc" }
function p:pick(queue, requests, row_hits)
  local picked = requests & ~row_hits -- never the row that is open
  return picked ~= 0 and picked or nil
end
return p]])
  local _, report = fails({ policy = path, workload = "spmv" }, "kernel spmv_csr hangs", "waits for")
  local count, set = report:match "\nmc%[%d%]: queue 0: pick of policy closing of mc%[%d%] leaves out (%d+) of the requests, 0x(%x+)\n"
  assert(count and tonumber(count) == bits.count(tonumber(set, 16)) and count ~= "0", report)
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

harness.test("a periodic hook that gives the SM work in each quantum lets the run end", function()
  local watching = policy_file("watching", [[
local p = policy "watching" { order = "gto", period = 16, counters = { stops = "Warps found at rest" } }
function p:on_period() self.sm.watched = -1 end
function p:on_watched_stops() self:count "stops" end
return p]])
  local r = good { policy = watching }
  harness.equal(stat(r, "run.cycles"), stat(good { policy = "gto" }, "run.cycles"), "cycles")
  assert(stat(r, "sm[0].watching.stops") > 0, "no warp was found at rest")
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
  fails({ resume = path, policy = "gto" }, "expected policy " .. few .. " as in the checkpoint, got gto", "allow_changes")
  fails({ resume = path, policy = few .. "+gto" }, "allow_changes")
  local stats, output = good { resume = path, policy = "gto", more = { "--allow-changes" } }
  harness.contains(output, ("policy %s became gto; what it knew is dropped"):format(few))
  lacks(stats, ".few.")
  assert(stat(stats, "sm[0].slots_policy") < stat(before, "sm[0].slots_policy") // 2, "the masks of the policy before hold on")
  assert(stat(stats, "run.cycles") < stat(before, "run.cycles"))
  stats = good { resume = path, policy = few .. "+" .. talker, more = { "--allow-changes" } }
  assert(stat(stats, "sm[0].few.starts") < stat(before, "sm[0].few.starts"), "few knows CTAs of before")
end)

local hiding = [[
local x = policy "hiding" {}
function x:on_cta_start(slot) self.state.hooks = { [slot] = print } end
function x:on_kernel_end() %s end
return x]]

harness.test("a run that remembers what cannot be saved says so, and goes on", function()
  local path = policy_file("hiding", hiding:format "self.state.hooks = nil")
  local stats, output = good { policy = path, ["checkpoint-at"] = 2000 }
  harness.contains(output, "warpwright: checkpoint at cycle 2000: policy hiding of sm[0]: state.hooks[",
    "got a function", "; the run goes on")
  same(without(stats), without(good { policy = path }), "without checkpoints")
end)

harness.test("what cannot be saved is an error after start and at the end of a kernel", function()
  local stats = fails({ policy = policy_file("hidden", hiding:format "") }, "policy hiding of sm[0], at the end of a kernel, at cycle ",
    ": state.hooks[", "expected a number, string, boolean or table of them, got a function", "; launched at workloads/spmv/spmv.lua:")
  assert(stat(stats, "run.cycles") > 2000)
  local path = policy_file("handle", 'local x = policy "x" {} function x:start() self.state.sm = self.sm end return x')
  fails({ policy = path }, "policy x of sm[0], after start, at cycle 0: state.sm: expected a number, string, boolean or table of them, got a handle of sm[0]")
  path = policy_file("twice", [[
local x = policy "twice" {}
function x:start() self.state.a = {} self.state.b = self.state.a end
return x]])
  fails({ policy = path }, "policy twice of sm[0], after start, at cycle 0: state.b: expected each table once")
end)

harness.test("a state that is no table is an error after start and at the end of a kernel, and is not saved", function()
  fails({ policy = policy_file("start5", with_function("start()", "self.state = 5")) }, "policy x of sm[0], after start, at cycle 0: state: expected a table, got 5")
  fails({ policy = policy_file("later5", with_function("on_kernel_end()", "self.state = nil")) }, "policy x of sm[0], at the end of a kernel, at cycle ",
    ": state: expected a table, got nil")
  local _, output = runs.fails({ policy = policy_file("saved5", with_function("on_cta_start()", "self.state = 5")), ["checkpoint-at"] = 2000 })
  harness.contains(output, "checkpoint at cycle 2000: policy x of sm[0]: state: expected a table, got 5; the run goes on")
end)

harness.test("a run that remembers in what start has made, beside the state, is not saved", function()
  local function remembering(body)
    local path = policy_file("remembering", ([[
local x = policy "x" { period = 1000 }
function x:start()
  self.memory = { n = 0, deep = { 1, 2.5, "text" }, sm = self.sm, all = self.sm:setting { warp_limit = 4 } }
  self.memory.itself, self.limit, self.state = self.memory, 3, { n = 0 }
end
function x:on_period() %s end
return x]]):format(body))
    return select(2, good { policy = path, ["checkpoint-at"] = 2000 })
  end
  local changed = "checkpoint at cycle 2000: policy x of sm[0]: self.%s: expected the value of start(), got another; what a policy remembers is in self.state; the run goes on"
  for body, field in pairs {
    ["self.memory.n = self.memory.n + 1"] = "memory", ["self.memory.deep[2] = 2"] = "memory", ["self.memory.deep[4] = true"] = "memory",
    ["self.memory.deep = nil"] = "memory", ["self.limit = 4"] = "limit", ["if self.limit then self.limit = nil end"] = "limit",
  } do
    harness.contains(remembering(body), changed:format(field))
  end
  harness.contains(remembering "self.memory.all = self.sm:setting { warp_limit = 5 }", changed:format "memory")
  for _, body in ipairs { "self.state.n = 7", "self.memory.all()", "self.memory.n = 0 self.memory.deep = { 1, 2.5, 'text' }",
    "self.memory.sm = self.memory.all and self.sm", "self.state = {}" } do
    lacks(remembering(body), "checkpoint at")
  end
end)

--- A policy that hides what it remembers: { the local variables before it, of start(), of on_period(), what is told }.
local hidden = {
  { "local t, n = {}, 0 function t.add() n = n + 1 end", "", "t.add()", "n: expected a local variable" },
  { 'local t = require "hides_memory"', "", "t.add()", "n: expected a local variable" },
  { "", "local n = 0 self.add = function() n = n + 1 end", "self.add()", "n: expected a local variable" },
  { "", "local n = 0 self.deep = { { add = function() n = n + 1 end } }", "self.deep[1].add()", "n: expected a local variable" },
  { "local function run() while true do coroutine.yield() end end", "self.thread = coroutine.create(run)", "coroutine.resume(self.thread)",
    "self.thread: expected what a checkpoint can hold, got a coroutine" },
  { "local step = coroutine.wrap(function() while true do coroutine.yield() end end)", "", "step()",
    "step: expected what a checkpoint can hold, got a coroutine" },
  { "local function a() return 1 end local function b() return 2 end local f = a", "", "f = b return f()", "f: expected a local variable" },
  { "local f = 1", "", "f = print", "f: expected a local variable" },
  { "", "self.which = { self.sm:setting { warp_limit = 4 }, self.sm:setting { warp_limit = 5 } } self.set = self.which[1]",
    "self.set = self.which[2]", "self.set: expected the value of start()" },
  { "", "self.a, self.b, self.which = {}, {}, {} self.which[1] = self.a", "self.which[1] = self.b",
    "self.which: expected the value of start()" },
  { "local t = setmetatable({}, { n = 0 })", "", "getmetatable(t).n = 1", "t: expected a local variable" },
  { "local t = {} t[print] = 1", "", "t[print] = 2", "t: expected a local variable" },
  { "total = 0", "", "total = total + 1", "total: expected a global variable" },
  { "", "", "rawset(self, 'total', 1)", "self.total: expected an assignment in start(), got it later; what a policy remembers is in self.state" },
  { "", "", "rawset(_G, 'total', 1)", "total: expected a local variable, got it later" },
  { "", "", "require('hides_memory').add()", "module hides_memory: expected to be required by the file or in start(), got it later" },
  { "local step = ('x'):rep(1000):gmatch 'x'", "", "step()", "step: expected what a checkpoint can hold, got an iterator of string.gmatch" },
}

harness.test("a run that remembers where functions, metatables, coroutines, iterators and modules lead to is not saved", function()
  harness.write("hides_memory.lua", "local t, n = {}, 0 function t.add() n = n + 1 end return t")
  for i, case in ipairs(hidden) do
    local path = policy_file("hiding" .. i, ([[
package.path = %q .. "/?.lua;" .. package.path
%s
local x = policy "x" { period = 1000 }
function x:start() %s end
function x:on_period() %s end
return x]]):format(harness.folder(), case[1], case[2], case[3]))
    local _, output = good { policy = path, ["checkpoint-at"] = 2000 }
    harness.contains(output, "checkpoint at cycle 2000: policy x of sm[0]: " .. case[4], "; the run goes on")
  end
end)

harness.test("a run whose functions and tables stay as start has left them is saved", function()
  local path = policy_file("saved", [[
local helpers, constant = { twice = function(n) return 2 * n end }, 0 / 0
local x = policy "x" { period = 1000, counters = { n = "Periods" }, params = { step = { 2 } } }
local me, counted, set
function x:start()
  me, counted = self, self.counters
  self.next = function(n) return n + self.params.step end
  self.all, self.count_one, self.itself = { self.sm, self.l1 }, self.count, self
  set = self.sm:setting { warp_limit = 40 }
  self.state.n = 0
end
function x:on_period()
  me.state.n = helpers.twice(self.next(self.state.n)) & 255
  self:count "n"
  set()
  local text = setmetatable({}, { __tostring = function() return "text" end })
  assert(tostring(text) == "text" and ("%s %s %%p"):format(self.sm, text) == self.sm.path .. " text %p" and collectgarbage() == 0)
  for word in ("a b"):gmatch "%a" do assert(require "warpwright.json" and word) end
  assert(counted.n > 0 and constant ~= constant)
end
return x]])
  lacks(select(2, good { policy = path, ["checkpoint-at"] = 2000 }), "checkpoint at")
end)

harness.test("a signal stops a run that cannot be saved all the same, and says so", function()
  local path = policy_file("stopping", [[
local x = policy "stopping" { period = 1000 }
function x:on_period()
  self.state.f = print
  if self.sm:number() == 0 and self:cycle() < 2000 then io.popen("kill -TERM $PPID"):close() end
end
return x]])
  local status, output, stats = runs.run { policy = path }
  harness.equal(status, 75, output)
  harness.contains(output, "policy stopping of sm[0]: state.f: expected a number", "no checkpoint was made")
  lacks(output, "goes on")
  assert(stat(stats, "run.cycles") >= 1008)
end)

-- Errors in hooks ----------------------------------------------------------------------------------------------------

local boom = 'error "boom"'

harness.test("an error in start names policy, object, hook, file and line", function()
  local stats = hook_fails("start()", boom, nil, "failing.lua:3: policy x of sm[0], in start at cycle 0: boom")
  harness.equal(stats, nil, "stats.txt")
end)

harness.test("an error in a hook says so too, and ends the run with its stats", function()
  local stats = hook_fails("on_cta_start()", "local t = nil; t.x = 1", nil,
    "failing.lua:3: policy x of sm[0], in on_cta_start at cycle 16: attempt to index a nil value (local 't'); launched at workloads/spmv/spmv.lua:")
  assert(stats and stat(stats, "run.cycles") == 32 and stat(stats, "sm[0].ctas_started") > 0, "stats of the first quantum")
end)

harness.test("an error in a question says so too", function()
  local stats = hook_fails("pick()", boom, nil, "failing.lua:3: policy x of sm[0], in pick at cycle ", ": boom; launched at")
  assert(stats and stat(stats, "sm[0].warp_instructions") > 0)
end)

harness.test("an error in on_period says so too, at the boundary of the period", function()
  local stats = hook_fails("on_period()", boom, "period = 1000",
    "failing.lua:3: policy x of sm[0], in on_period at cycle 1008: boom; launched at workloads/spmv/spmv.lua:")
  harness.equal(stat(stats, "run.cycles"), 1008)
  stats = hook_fails("on_period()", boom, "period = 1000, scope = 'machine'", "policy x of the machine, in on_period at cycle 1008: ")
  harness.equal(stat(stats, "run.cycles"), 1008)
end)

harness.test("an error when a kernel starts or ends says so too", function()
  local stats = hook_fails("on_kernel_start()", boom, nil,
    "failing.lua:3: policy x of sm[0], in on_kernel_start at cycle 0: boom; launched at")
  harness.equal(stat(stats, "run.cycles"), 0)
  stats = hook_fails("on_kernel_end()", boom, nil,
    "failing.lua:3: policy x of sm[0], in on_kernel_end at cycle ", ": boom; launched at")
  assert(stat(stats, "run.cycles") > 1000)
end)

local at_start = "failing.lua:3: policy x of sm[0], in on_cta_start at cycle "

harness.test("errors of any kind are told: values, the library's, answers that are none", function()
  hook_fails("on_cta_start()", "error(setmetatable({}, { __tostring = function() return 'an object' end }))", nil,
    "in on_cta_start at cycle ", "an object")
  for name, value in pairs { table = "{ 'x' }", ["function"] = "print" } do
    hook_fails("on_cta_start()", ("error(%s)"):format(value), nil, "failing.lua:3: policy x of sm[0], in on_cta_start at cycle ",
      "error: expected a text, got a " .. name)
  end
  hook_fails("on_cta_start()", "error()", nil, "in on_cta_start at cycle ", "error: expected a text, got nil")
  hook_fails("on_cta_start()", "error(setmetatable({}, { __tostring = function() error {} end }))", nil,
    "in on_cta_start at cycle ", "it threw a value without text")
  hook_fails("on_cta_start()", 'require("warpwright.core").user_error("mine")', nil, at_start, ": mine")
  hook_fails("on_period()", 'require("warpwright.core").user_error("mine")', "period = 16", "in on_period at cycle 16", "mine")
  for answer, told in pairs { ['"3"'] = "'3'", ["{}"] = "a table", ["0.5"] = "0.5", ["true"] = "true", ["63"] = "63", ["-1"] = "-1" } do
    hook_fails("pick()", "return " .. answer, nil, "failing.lua:3: policy x of sm[0], in pick at cycle ", "answer: expected warps of `ready` or nil, got " .. told)
  end
  for answer, told in pairs { ['"yes"'] = "'yes'", ["1"] = "1", ["-1"] = "-1" } do
    hook_fails("l1_bypass()", "return " .. answer, nil, "in l1_bypass at cycle ", "answer: expected true, false or nil, got " .. told)
  end
  for _, answer in ipairs { "true", "77", "-2" } do
    hook_fails("l1_victim()", "return " .. answer, nil, "in l1_victim at cycle ", "answer: expected -1, those of `ways` or nil, got " .. answer)
  end
  hook_fails("l1_victim(set, ways)", "return 77", nil, "got 77; `ways` = 0x")
  hook_fails("pick(scheduler, ready)", "return 77", nil, "got 77; `ready` = 0x")
  for answer, told in pairs { ["true"] = "true", ["0"] = "0", ["-1"] = "-1", ["1 << 63"] = "-9223372036854775808", ["~requests"] = "-",
    ["requests + 1 << 1"] = "" } do
    hook_fails("pick(queue, requests)", "return " .. answer, 'scope = "mc"', "failing.lua:3: policy x of mc[", "in pick at cycle ",
      "answer: expected a set of one or more of `requests` or nil, got " .. told)
  end
  hook_fails("on_cta_start()", "self:count 'starts'", nil, at_start, "count: no counter of the policy matches 'starts'; available: none")
  hook_fails("on_cta_start()", "self:count('a', 0.5)", "counters = { a = '' }", at_start, "count a: expected a whole number, got 0.5")
  hook_fails("on_cta_start()", "self:count('a', 3) self:count('a', -3) self:count('a', 2) self:count('a', -3)", "counters = { a = '' }", at_start, "count a: expected a whole number from -2 on, got -3")
  hook_fails("on_cta_start()", "self:count('a', 3) self:count('a', math.maxinteger)", "counters = { a = '' }", at_start,
    "count a: expected a whole number up to 9223372036854775804, got 9223372036854775807")
  for _, value in ipairs { "'hello'", "1", "0.5", "nil" } do
    for _, name in ipairs { "a", "extra" } do
      hook_fails("on_cta_start()", ("self.counters.%s = %s"):format(name, value), "counters = { a = '' }", at_start,
        ("self.counters.%s: expected self:count(name, n) to change a counter, got an assignment"):format(name))
    end
  end
  hook_fails("start()", "self.counters = {}", "counters = { a = '' }", "failing.lua:3: ", "self.counters: expected self:count(name, n)")
  hook_fails("on_cta_start()", "self.mine = 1", nil, at_start, "self.mine: expected an assignment in start(), got one later", "self.state")
  hook_fails("on_cta_start()", "local x = math.random(3)", nil, at_start, "math.random: expected numbers that repeat in each run")
end)

harness.test("an error names its line also where the library or C code finds it, and where it is no text", function()
  for statement, told in pairs {
    ["bits.of 'a'"] = "attempt to perform bitwise operation on a string value", ["for _ in bits.each(nil) do end"] = "number expected, got nil",
    ["self.sm:setting { may_isue = 1 }"] = "sm[0]: no knob matches 'may_isue'", ["error {}"] = "error: expected a text, got a table",
    ["self.sm:setting { may_issue = 'x' }"] = "sm[0].may_issue: expected a set of warps", ["error()"] = "error: expected a text, got nil",
    ["string.format('%d', 1.5)"] = "cycle 0: bad argument #2 to 'format'", ["tostring()"] = "cycle 0: bad argument #1 to 'tostring'",
  } do
    local path = policy_file("line", ("local x = policy 'x' {}\nfunction x:start()\n\n  %s\nend\nreturn x"):format(statement))
    fails({ policy = path }, "line.lua:6: policy x of sm[0], in start at cycle 0: ", told)
  end
end)

harness.test("an answer, or what a policy's file throws, may have a text that throws", function()
  local throws = "setmetatable({}, { __tostring = function() error {} end })"
  hook_fails("pick()", "return " .. throws, nil, "failing.lua:3: policy x of sm[0], in pick at cycle ", "got a table")
  fails({ policy = policy_file("throws", "error(" .. throws .. ")") }, "it threw a value without text")
  -- loaded for the first time in the program's own Lua state, and then in that of each instance
  local path = policy_file("throws", ('if not require("warpwright.core").main then error(%s) end %s'):format(throws, with_function("on_issue()", "")))
  local script = harness.write("script.lua", ([[
require("warpwright.core").main = true
require("warpwright").run { config = "gtx480", workload = "vecadd", size = "small", policy = %q, out = false }]]):format(path))
  harness.refused("policy x of sm[0]: it threw a value without text", script)
end)

--- Counts for some thousand cycles, and then stores where nothing is allocated.
local faulty = harness.write("faulty.lua", [=[
local w = require("warpwright").workload "faulty" { sizes = { small = { n = 1 } }, ptx = [[
.version 6.0
.target sm_20
.address_size 64
.visible .entry fault(.param .u64 p)
{
  .reg .u64 %rd<2>; .reg .u32 %r<2>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 0;
again:
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 500;
  @%p1 bra again;
  st.global.u32 [%rd1], %r1;
  ret;
}
]] }
function w:run(gpu) gpu:launch(self.kernels.fault, { grid = 2, block = 32, args = { 16 } }) end
return w]=])

harness.test("a kernel's fault is told whatever hooks did with the library", function()
  local uses = {
    array = 'require("warpwright").array("i32", 4)',
    error = 'pcall(require("warpwright").array, "i32", -1)',
    quantity = 'require("warpwright.core").quantity("1KiB", "bytes")',
    finalizer = 'setmetatable({}, { __gc = function() require("warpwright").array("i32", 4) end }) collectgarbage()',
    run = 'require("warpwright").run { config = "gtx480", workload = "vecadd", size = "small,n=256", out = false, policy = "gto_in_lua" }',
  }
  for use, body in pairs(uses) do
    for _, hook in ipairs { "start()", "on_kernel_start()", "on_cta_start()", "on_period()" } do
      if use ~= "run" or hook == "on_kernel_start()" then
        local path = policy_file("uses", with_function(hook, body, "period = 1000"))
        for threads = 1, 2 do
          fails({ policy = path, workload = faulty, threads = threads }, "kernel fault, PTX line 13: access out of bounds at address 0x10")
        end
      end
    end
  end
end)

harness.test("a policy's failure is told whatever it did with the library before", function()
  hook_fails("on_period()", 'require("warpwright").array("i32", 4) error "mine"', "period = 16",
    "failing.lua:3: policy x of sm[0], in on_period at cycle 16: mine; launched at workloads/spmv/spmv.lua:")
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

harness.test("a policy that counts its answers has the same statistics with any threads and order", function()
  local path = policy_file("counting", [[
local p = policy "counting" { order = "gto", counters = { asked = "", victims = "" } }
function p:start() self.state = { asked = 0, victims = 0 } end
function p:l1_bypass()
  self.state.asked = self.state.asked + 1
  self:count "asked"
  return self.state.asked % 4 == 0
end
function p:l1_victim(set, ways, lru)
  self.state.victims = self.state.victims + 1
  self:count "victims"
  return self.state.victims % 3 == 0 and bits.lowest(ways) or nil
end
return p]])
  for _, with in ipairs { path, path .. "+mascar", path .. "+mrpb" } do
    local function run(way)
      return good { policy = with, workload = "spmv", set = { "sms=3", "partitions=2" }, threads = way[1], order = way[2] }
    end
    local want = run { 1, "path" }
    assert(stat(want, "sm[0].counting.asked") > 1000 and stat(want, "sm[0].counting.victims") > 1000, with)
    for _, way in ipairs { { 1, "reversed" }, { 2, "path" }, { 3, "shuffled:2" } } do same(run(way), want, with) end
  end
end)

harness.test("a question that looks at or sets another object than the one that asks is refused", function()
  local function refused(question, line, meant, start)
    local text = ('local p = policy "p" { order = "gto", caches = "data" } function p:start() %s end function p:%s return nil end return p')
    local path = policy_file("looking", text:format(start or "", question .. " " .. line))
    fails({ policy = path }, "looking.lua:3: policy p of sm[0], in " .. question:match "^[%w_]+", meant)
  end
  refused("l1_bypass()", "self.state.n = self.sm.loading", "sm[0].loading: in a question, expected a parameter, or a value of sm[0].l1d, which asks")
  refused("l1_bypass()", "self.state.n = self.sm.warp_instructions", "sm[0].warp_instructions: in a question, expected a parameter, or a value")
  refused("l1_bypass()", "self.state.n = self.sm.warp_limit", "sm[0].warp_limit: in a question, expected a parameter, or a value")
  refused("l1_bypass(_, warp)", "self.sm.may_issue_memory = bits.of(warp)", "sm[0].may_issue_memory: in a question, expected a knob of sm[0].l1d")
  refused("l1_bypass()", "self.state.n = self.sm:oldest(-1, 1)", "sm[0]:oldest: in a question, expected a method of sm[0].l1d, which asks")
  refused("pick(_, ready)", "self.l1.may_allocate = ready", "sm[0].l1d.may_allocate: in a question, expected a knob of sm[0], which asks")
  refused("pick()", "self.none()", "sm[0].l1d.may_allocate: in a question, expected a knob of sm[0]",
    "self.none = self.sm:setting({ warp_limit = 2 }, self.l1, { may_allocate = 0 })")
end)

harness.test("a question may use the object that asks, its parts, and of others what stays as it is", function()
  local path = policy_file("using", [[
local p = policy "p" {
  order = "gto", caches = "data", counters = { asked = "" },
  parts = { { class = "UtilityMonitor", name = "utility", of = "L1", sharers = 1 } },
}
function p:configure(class) if class == "L1" then return { partition_by = "sm" } end end
function p:on_warps_changed() self.state.many = bits.count(self.sm.live) > 8 end
function p:on_kernel_given() self.state.launch = (self.state.launch or -1) + 1 end
function p:cache_insertion(cache, set, last, _, warp)
  self:count("asked", self.utilitys[1]:hits(0, 0) >= 0 and cache.accesses > 0 and cache:line_valid(set, 0) and 1 or 0)
  local numbered = self.sm:number() + self.sm:ctas_per_sm() + self.sm.warps + #self.sm:instruction(0)
  assert(self.sm:launch_of(warp) == self.state.launch and self.sm:instruction_of(warp, 0) == self.sm:instruction(0))
  return self.state.many and numbered > 0 and last or nil
end
function p:pick(scheduler, ready)
  self.sm.preferred = ready
  return bits.lowest(self.sm:oldest(self.sm.preferred, 1)) == self.sm:last(scheduler) and bits.lowest(ready) or nil
end
return p]])
  local function run(way) return good { policy = path, workload = "bfs", threads = way[1], order = way[2] } end
  local want = run { 1, "path" }
  assert(stat(want, "sm[0].p.asked") > 100)
  for _, way in ipairs { { 1, "reversed" }, { 2, "shuffled:2" } } do same(run(way), want, way[2]) end
end)

-- Without Lua ----------------------------------------------------------------------------------------------------------

--- A limit of warps by the slot of the CTA that has started last. on_cta_end sees the counter, and counts with it.
local function limiting(answer)
  return policy_file("limiting" .. #answer, ([[
local x = policy "x" { counters = { starts = "", seen = "" } }
function x:start()
  self.by_slot = {}
  for slot = 1, 7 do self.by_slot[slot] = self.sm:setting { warp_limit = 2 * slot } end
  %s
end
function x:on_cta_end()
  self:count("starts", 2)
  self:count("seen", self.counters.starts)
end
return x]]):format(answer))
end

local in_lua = limiting [[end function x:on_cta_start(slot)
  local setting = self.by_slot[slot]
  if setting then setting() self:count "starts" end]]
local bound = limiting [[self:bind("on_cta_start", self.by_slot, "starts")]]

harness.test("what is bound to a hook is as if the hook did it, counts, and outlives a checkpoint", function()
  local want = good { policy = in_lua }
  assert(stat(want, "sm[0].x.starts") > 0 and stat(want, "sm[0].x.seen") > stat(want, "sm[0].x.starts"))
  assert(stat(want, "run.cycles") ~= stat(good { policy = "gto" }, "run.cycles"), "the limits matter")
  same(good { policy = bound }, want, "bound")
  same(good { policy = bound, threads = 2, order = "reversed" }, want, "two threads, reversed")
  local middle = stat(want, "run.cycles") // 2
  local _, _, folder = good { policy = bound, ["checkpoint-at"] = middle }
  local file = ("%s/%d.ckpt"):format(folder, (middle + 15) // 16 * 16)
  same(good { resume = file }, want, "resumed")
end)

--- What on_cta_start(slot) does, in Lua or bound: in start() self.open = a setting left open, self.few and self.many limits.
local function choosing(name, start, more)
  return policy_file(name, ([[
local bits = require "warpwright.bits"
local x = policy "x" { counters = { bound = "", asked = "" } }
function x:start()
  self.open = self.sm:setting { may_issue = bits.all, preferred = bits.of }
  self.few, self.many = self.sm:setting { warp_limit = 2 }, self.sm:setting { warp_limit = 8 }
  %s
end
function x:many_warps()
  self.many()
  self:count "asked"
end
%s
return x]]):format(start, more or ""))
end

harness.test("a setting that is left open gets the event's argument", function()
  local want = good { policy = choosing("open_in_lua", "", [[function x:on_cta_start(slot)
  self.sm.preferred = bits.of(slot)
  self:count "bound"
end]]) }
  assert(stat(want, "sm[0].x.bound") > 0, "counted")
  assert(stat(want, "run.cycles") ~= stat(good { policy = "gto" }, "run.cycles"), "the preference matters")
  same(good { policy = choosing("open_bound", 'self:bind("on_cta_start", self.open, "bound")') }, want, "bound")
  same(good { policy = choosing("open_called", "", [[function x:on_cta_start(slot)
  self.open(slot)
  self:count "bound"
end]]) }, want, "called")
end)

harness.test("a setting whose value is its argument sets that", function()
  local setting = "self.set = self.sm:setting { preferred = policy.argument }"
  local want = good { policy = choosing("set_in_lua", "", "function x:on_cta_start(_, warps) self.sm.preferred = warps end") }
  assert(stat(want, "run.cycles") ~= stat(good { policy = "gto" }, "run.cycles"), "the preference matters")
  same(good { policy = choosing("set_called", setting, "function x:on_cta_start(_, warps) self.set(warps) end") }, want, "called")
  local by_slot = "function x:on_cta_start(slot) self.sm.preferred = slot end"
  same(good { policy = choosing("set_bound", setting .. ' self:bind("on_cta_start", self.set)') },
    good { policy = choosing("slot_in_lua", "", by_slot) }, "bound")
end)

harness.test("what cannot be bound is refused", function()
  local function refused(answer, ...) fails({ policy = limiting(answer) }, ...) end
  refused("self:bind('on_cta_strat', {})", "x of sm[0], in start at", "bind: no hook matches 'on_cta_strat'", "on_cta_start")
  refused("self:bind('pick', {})", "bind: expected an event that the policy hears in its cycle, got pick, which is a question")
  fails({ policy = policy_file("later", with_function("start()", "self:bind('on_sm_issue', {})", "scope = 'machine'")) },
    "bind: expected an event that the policy hears in its cycle, got on_sm_issue, which is heard at the next boundary")
  refused("self:bind('on_cta_start', self.by_slot, 'begins')", "bind: no counter of the policy matches 'begins'")
  refused("self:bind('on_cta_start', 3)", ".lua:7: policy ", "bind: expected what handle:setting() returned, or { [argument] = such }, got 3")
  refused("self:bind('on_cta_start', self.sm)", ".lua:7: policy ", "bind: expected what handle:setting() returned, or { [argument] = such }, got a userdata")
  refused("self:bind('on_cta_start', { self.bind })", ".lua:7: policy ", "bind: expected { [argument] = what handle:setting() returned }")
  refused("self:bind('on_cta_start', { [64] = self.by_slot[1] })", "arguments from 0 to 63")
  refused("self:bind('on_cta_start', { [0.5] = self.by_slot[1] })", "arguments from 0 to 63")
  refused("end function x:on_kernel_start() self:bind('on_cta_start', {})", "bind: expected a call in start()")
  local open = "local bits = require 'warpwright.bits' local open = self.sm:setting { may_issue = bits.of } "
  refused(open .. "open()", "sm[0].may_issue: expected a warp from 0 to 63 as argument of the setting, got nil")
  refused(open .. "open(64)", "sm[0].may_issue: expected a warp from 0 to 63 as argument of the setting, got 64")
  refused(open .. "open(-1)", "expected a warp from 0 to 63 as argument of the setting, got -1")
  refused(open .. "self.sm:setting { may_issue = bits.has }", "sm[0].may_issue: expected a set of warps (a whole number), got a function")
  refused(open .. "self.sm:setting { warp_limit = bits.of }", "sm[0].warp_limit: expected a value, got bits.of")
  refused("self.sm:setting { warp_limit = require('warpwright.policy').argument }", "sm[0].warp_limit: expected a value, got policy.argument")
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
    "kernel spmv_csr hangs", "sm[0]: warp 0 of CTA", "is not allowed to issue by policy ", "stopping.lua: may_issue;")
  fails({ policy = policy_file("stopping", with_function("on_period()", "self.sm.may_load = 0", "period = 100")) },
    "kernel spmv_csr hangs", "is not allowed to issue by policy ", "stopping.lua: may_load;")
end)

-- os.exit ------------------------------------------------------------------------------------------------------------

harness.test("os.exit in a hook ends the run like an error, with its place and what was counted", function()
  for name, code in pairs { [""] = "", ["0"] = "0", ["true, true"] = "true" } do
    local path = policy_file("leaving", with_function("on_period()", ("\nif self:cycle() >= 2000 then os.exit(%s) end"):format(name), "period = 1000"))
    local stats, output = fails({ policy = path }, ("leaving.lua:4: policy x of sm[0], in on_period at cycle 2000: os.exit(%s) ends the run; launched at "):format(code))
    harness.equal(stat(stats, "run.cycles"), 2000, output)
  end
end)

harness.test("no pcall and no coroutine goes on after os.exit", function()
  local path = policy_file("kept", [[
local x = policy "x" {}
function x:on_cta_start()
  pcall(function() coroutine.wrap(function() pcall(os.exit, 0) end)() end)
  while true do end
end
return x]])
  for threads = 1, 2 do
    local stats = fails({ policy = path, threads = threads }, "kept.lua:5: policy x of sm[0], in on_cta_start at cycle ", ": os.exit(0) ends the run;")
    assert(stat(stats, "sm[0].ctas_started") > 0)
  end
end)

harness.test("os.exit in a host program ends the run like an error, and no pcall goes on; the script around it may exit", function()
  local text <const> = [[
local ww = require "warpwright"
local w = ww.workload "host" { ptx = %q, sizes = { small = {} } }
function w:run(gpu)
  gpu:launch(self.kernels.nothing, { grid = 1, block = 32 })
  pcall(function() coroutine.wrap(function() pcall(os.exit, 0) end)() end)
  while true do end
end
return w]]
  local workload = harness.write("leaving_host.lua", text:format(".version 3.1\n.target sm_20\n.address_size 64\n.entry nothing() { ret; }\n"))
  local out = harness.folder() .. "/leaving_host"
  local status, output = harness.run("run", "gtx480", workload, "--out", out)
  harness.equal(status, 2, output)
  harness.contains(output, "leaving_host.lua:9: os.exit(0) ends the run")
  harness.contains(harness.read(out .. "/stats.txt"), "run.cycles ")
  local script = harness.write("leaving_script.lua", ([[
local ww = require "warpwright"
print(pcall(ww.run, { config = "gtx480", workload = %q, out = false }))
os.exit(6)]]):format(workload))
  status, output = harness.run(script)
  harness.equal(status, 6, output)
  harness.contains(output, "os.exit(0) ends the run")
end)

harness.test("os.exit in a script is Lua's", function()
  local function status_of(text)
    local status, output = harness.run(harness.write("leaving_script.lua", text))
    return ("%s %s"):format(status, output)
  end
  harness.equal(status_of 'io.write "kept" os.exit(7)', "7 kept")
  harness.equal(status_of 'io.write "kept" os.exit(false, true)', "1 kept")
end)

harness.test("a config, policy or workload file that ends the program is refused at the line that does it", function()
  local path = harness.write("leaving_text.lua", "local x = 3\nif x > 2 then os.exit(0) end\nreturn {}")
  for what, arguments in pairs {
    config = { path, "vecadd" }, workload = { "gtx480", path }, policy = { "gtx480", "vecadd", "--policy", path },
  } do
    local out = ("%s/leaving_%s"):format(harness.folder(), what)
    harness.refused(("%s:2: os.exit: expected a file that returns a %s, got the end of the program"):format(path, what), "run",
      "--out", out, table.unpack(arguments))
  end
end)

-- Hangs --------------------------------------------------------------------------------------------------------------

harness.test("a policy that stalls all warps for ever is reported as what they wait for", function()
  local path = policy_file("stall", with_function("on_cta_start()", "if self.sm.ctas_started == 3 then self.sm.may_issue = 0 end"))
  local stats, output = fails({ policy = path }, "hangs: no progress since cycle ",
    "is not allowed to issue by policy ", "stall.lua: may_issue;")
  assert(stat(stats, "run.cycles") > 0)
  lacks(output, "is ready")
end)

harness.finish()
