-- Choices of replacement on whole machines: the law for each, SRRIP as a Lua policy, ways by class and SM, and what policies
-- see of a line. What each choice does at every access is in the unit tests (replacement).
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local ww = require "warpwright"

local run <const> = checks.run_on_a_third

local function everywhere(choice, more)
  local set = { "sm[*].l1d.replacement=" .. choice, "sm[*].texture_cache.replacement=" .. choice, "l2[*].replacement=" .. choice }
  for _, setting in ipairs(more or {}) do set[#set + 1] = setting end
  return set
end

local function policy_file(name, text)
  return harness.write(name .. ".lua", 'local policy = require "warpwright.policy"\n' .. text)
end

local function fails(options, ...)
  local ok, why = pcall(run, options)
  assert(not ok, "it was not refused")
  harness.contains(tostring(why), ...)
end

for _, choice in ipairs { "tree_plru", "random", "drrip", "ship_pc" } do
  checks.law(nil, "kmeans", everywhere(choice))
end

harness.test("each choice gives stats of its own, and lru those of no choice", function()
  local seen = { [checks.text_of(run { workload = "kmeans" })] = "none" }
  for _, choice in ipairs { "tree_plru", "nru", "fifo", "random", "srrip", "brrip", "drrip", "ship_pc" } do
    local text = checks.text_of(run { workload = "kmeans", set = everywhere(choice) })
    assert(not seen[text], ("%s is as %s"):format(choice, seen[text]))
    seen[text] = choice
  end
  harness.equal(seen[checks.text_of(run { workload = "kmeans", set = everywhere "lru" })], "none", "lru")
end)

for _, workload in ipairs { "spmv", "bfs", "kmeans" } do
  harness.test("srrip_in_lua on " .. workload .. " gives the stats of srrip", function()
    local mine = run { workload = workload, policy = "srrip_in_lua" }
    local set = { "sm[*].l1d.replacement=srrip", "l2[*].replacement=srrip" }
    harness.same_text(checks.text_of(mine), checks.text_of(run { workload = workload, set = set }))
  end)
end

checks.law("srrip_in_lua", "kmeans")
checks.resumes("srrip_in_lua", "kmeans", 2)

-- Leader sets, selector and followers of the policy are those of the choice in C: where neither spares a line.
for _, workload in ipairs { "spmv", "bfs", "kmeans" } do
  harness.test("dip over srrip on " .. workload .. " gives the stats of drrip", function()
    local mine = run { workload = workload, policy = "dip:cache=data|last,replacement=srrip,leaders=32,throttle=1048576" }
    local set = {}
    for _, cache in ipairs { "sm[*].l1d.", "l2[*]." } do
      set[#set + 1], set[#set + 2] = cache .. "replacement=drrip", cache .. "brrip_throttle=1048576"
    end
    harness.same_text(checks.text_of(mine, { "%.dip%." }), checks.text_of(run { workload = workload, set = set }))
    assert(checks.sum(mine, "sm.l1d.dip.first_to_go") > 100 and checks.sum(mine, "sm.l1d.dip.usual_follows") > 0)
  end)
end

-- Bimodal insertion that spares every line inserts as usual.
checks.equals("dip:cache=data|last,throttle=1", nil, "kmeans")
checks.law("dip:cache=data|last", "kmeans")
checks.resumes("dip:cache=data|last", "kmeans", 2)

harness.test("a policy that has all lines enter at the last position gives the stats of insertion_position", function()
  local path = policy_file("lip", [[
local p = policy "lip" { caches = "data", scope = "cache", counters = { lines = "" } }
function p:insertion(set, last, _, _, address, _, write, class, prefetch)
  local cache = self.cache
  assert(last == cache.ways - 1 and set == address // cache.line % (cache.size // cache.line // cache.ways))
  assert(write == 0 and class == 0 and prefetch == 0)
  self:count "lines"
  return last
end
return p]])
  local mine = run { workload = "kmeans", policy = path }
  local other = run { workload = "kmeans", set = { "sm[*].l1d.insertion_position=255" } }
  local by_class = { "%.lip%.", "%.low_priority_insertions", "%.protected_evictions" }
  harness.same_text(checks.text_of(mine, by_class), checks.text_of(other, by_class))
  harness.equal(checks.sum(mine, "sm.l1d.lip.lines"), checks.sum(other, "sm.l1d.low_priority_insertions"), "lines")
end)

-- Where hits leave lines: `answer` is a Lua expression of set, last and at.
local function promoting(name, answer, replacement)
  return policy_file(name, ([[
local p = policy "x" { caches = "data|last", scope = "cache", counters = { asked = "", moved = "" } }
function p:configure(_, path)
  if self:acts_on(path) then return { replacement = "%s" } end
end
function p:promotion(set, last, at, way, _, _, address, _, write, class)
  local cache = self.cache
  assert(at >= 0 and at <= last and class == 0 and write <= 1)
  local found_set, found_way = cache:find(address)
  assert(found_set == set and found_way == way)
  local answer = %s
  self:count "asked"
  if answer ~= at then self:count "moved" end
  return answer
end
return p]]):format(replacement, answer))
end

local own_rows <const> = { "%.x%.asked", "%.x%.moved" }
local both <const> = { "sm[*].l1d.", "l2[*]." }

local function with_replacement(choice)
  local set = {}
  for i, cache in ipairs(both) do set[i] = cache .. "replacement=" .. choice end
  return set
end

for _, replacement in ipairs { "lru", "srrip", "tree_plru" } do
  harness.test("hits that promote to 0 give the stats of " .. replacement, function()
    for _, answer in ipairs { "0", "nil" } do
      local mine = run { workload = "spmv", policy = promoting("to_0", answer, replacement) }
      assert(checks.sum(mine, "sm.l1d.x.asked") > 1000 and checks.sum(mine, "l2.x.asked") > 1000, "asked")
      local set = with_replacement(replacement)
      harness.same_text(checks.text_of(mine, own_rows), checks.text_of(run { workload = "spmv", set = set }))
    end
  end)
end

harness.test("each hit and merge of a line is asked about, once", function()
  local mine = run { workload = "kmeans", policy = promoting("asks", "nil", "lru") }
  harness.equal(checks.sum(mine, "sm.l1d.x.asked"), checks.sum(mine, "sm.l1d.hits") + checks.sum(mine, "sm.l1d.merges"), "asked")
end)

harness.test("hits that leave lines where they stand turn lru into fifo", function()
  for _, workload in ipairs { "spmv", "kmeans" } do
    local mine = run { workload = workload, policy = promoting("stays", "at", "lru") }
    local set = with_replacement "fifo"
    harness.same_text(checks.text_of(mine, own_rows), checks.text_of(run { workload = workload, set = set }))
  end
end)

harness.long_test("a step for each hit is another order, and lawful", function()
  for _, replacement in ipairs { "lru", "srrip" } do
    local path = promoting("steps_" .. replacement, "math.max(0, at - 1)", replacement)
    local mine = run { workload = "kmeans", policy = path }
    assert(checks.sum(mine, "sm.l1d.x.moved") > 0, "moved")
    assert(mine.cycles ~= run({ workload = "kmeans", set = with_replacement(replacement) }).cycles, "as if nobody had answered")
    checks.law(path, "kmeans")
    checks.resumes(path, "kmeans", 2)
  end
end)

harness.test("a promotion beyond the last place is refused", function()
  fails({ workload = "spmv", policy = promoting("far", "last + 1", "lru") }, "promotion", "expected whole numbers from 0 to `last`", "; `last` = ")
end)

harness.test("insertion says which line goes: those that evict tells of, whether they are dirty, and how often they were used", function()
  local path = policy_file("goners", [[
local p = policy "goners" { caches = "data|last", scope = "cache", counters = { gone = "", dirty = "", uses = "", filled = "" } }
function p:configure(_, path)
  if self:acts_on(path) then return { line_history = true } end
end
function p:start() self.state.inserted, self.state.evicted = { dirty = 0, uses = 0, sum = 0 }, { dirty = 0, uses = 0, sum = 0 } end
local function add(sums, address, dirty, uses)
  sums.dirty, sums.uses, sums.sum = sums.dirty + dirty, sums.uses + uses, sums.sum + address
end
function p:insertion(_, _, _, _, _, _, _, _, _, gone, dirty, uses)
  if gone < 0 then
    assert(gone == -1 and dirty == 0 and uses == 0)
    self:count "filled"
    return
  end
  add(self.state.inserted, gone, dirty, uses)
  self:count "gone"
  self:count("dirty", dirty)
  self:count("uses", uses)
end
function p:on_evict(_, _, address, _, _, _, dirty, _, uses) add(self.state.evicted, address, dirty, uses) end
function p:on_kernel_end()
  for _, name in ipairs { "dirty", "uses", "sum" } do assert(self.state.inserted[name] == self.state.evicted[name], name) end
end
return p]])
  local r = run { workload = "kmeans", policy = path, set = { "l2[*].size=16KiB" } }
  for _, cache in ipairs { "sm.l1d", "l2" } do
    harness.equal(checks.sum(r, cache .. ".goners.gone"), checks.sum(r, cache .. ".evictions"), cache)
    assert(checks.sum(r, cache .. ".goners.uses") > 0 and checks.sum(r, cache .. ".goners.filled") > 0, cache)
  end
  assert(checks.sum(r, "l2.goners.dirty") > 0, "no line of the L2 was dirty")
end)

harness.test("a cache says how many sets and ways it has", function()
  local path = policy_file("shape", [[
local p = policy "shape" { caches = "data|last", scope = "cache", counters = { sets = "", ways = "" } }
function p:on_kernel_start()
  local sets, ways = self.cache:sets()
  self:count("sets", sets)
  self:count("ways", ways)
end
return p]])
  local r = run { workload = "vecadd", policy = path, set = { "sms=1", "partitions=1", "sm[*].l1d.size=12KiB", "sm[*].l1d.ways=3" } }
  harness.equal(r["sm[0].l1d.shape.sets"], 32)
  harness.equal(r["sm[0].l1d.shape.ways"], 3)
  harness.equal(r["l2[0].shape.sets"] * r["l2[0].shape.ways"] * 128, 128 << 10)
end)

harness.test("insertion says which lines prefetches bring, in their cache and below it", function()
  local path = policy_file("prefetched", [[
local p = policy "prefetched" { caches = "data|last", scope = "cache", uses = { "next_line" }, counters = { prefetches = "", others = "" } }
function p:insertion(_, last, _, _, _, _, _, _, prefetch)
  self:count(prefetch == 1 and "prefetches" or "others")
  return prefetch == 1 and last or nil
end
return p]])
  local r = run { workload = "vecadd", policy = path .. ":cache=data|last" }
  harness.equal(checks.sum(r, "sm.l1d.prefetched.prefetches"), checks.sum(r, "sm.l1d.prefetches"), "prefetches")
  assert(checks.sum(r, "l2.prefetched.prefetches") > 0 and checks.sum(r, "l2.prefetched.others") > 0)
end)

for i, choice in ipairs { "tree_plru", "fifo", "random", "brrip", "drrip", "ship_pc" } do
  local path = policy_file("set_" .. choice, ([[
local p = policy "set_%s" { caches = "data|last" }
function p:configure(_, path)
  if self:acts_on(path) then return { replacement = "%s", partition_by = "sm", way_masks = "3,0x5,2", line_history = true } end
end
return p]]):format(choice, choice))
  if i % 2 == 0 then checks.resumes(path, "kmeans", 1) end
  harness.test(choice .. " with partitions runs to its right end", function() run { workload = "kmeans", policy = path } end)
end

harness.test("after the start of a partition no line outside of its ways is of its SM", function()
  for _, choice in ipairs { "lru", "srrip", "random" } do
    local path = policy_file("ways_" .. choice, [[
local p = policy "ways" { caches = "last", scope = "cache", params = { choice = { "" } }, counters = { low = "", high = "" } }
function p:configure(_, path)
  if self:acts_on(path) then return { replacement = self.params.choice, partition_by = "sm", way_masks = "0x00ff,0xff00" } end
end
function p:on_miss(sm, _, _, _, _, _, _, way)
  if way < 0 then return end
  assert((way >= 8) == (sm == 1), "a line in a way of another")
  self:count(way >= 8 and "high" or "low")
end
return p]])
    local r = run { workload = "spmv", policy = path .. ":choice=" .. choice, set = { sms = 2, ["l2[*].size"] = "16KiB" } }
    assert(checks.sum(r, "l2.ways.low") > 100 and checks.sum(r, "l2.ways.high") > 100)
  end
end)

--- Of each set that an access touches, the dirty line that goes first is written back once it is the one to be replaced.
local eager = policy_file("eager", [[
local bits = require "warpwright.bits"
local p = policy "eager" { scope = "l2", counters = { cleaned = "", evicted_dirty = "" } }
function p:write_back(_, _, _, _, _, _, set)
  local l2 = self.l2
  local way = l2:first_to_go(set, -1)
  if not way or not bits.has(l2:dirty_ways(set), way) or not l2:clean(set, way) then return end
  assert(not bits.has(l2:dirty_ways(set), way) and l2:line_valid(set, way) and not l2:line_dirty(set, way))
  assert(not l2:clean(set, way))
  self:count "cleaned"
end
p.on_hit, p.on_miss, p.on_merge = p.write_back, p.write_back, p.write_back
function p:on_evict(_, _, _, _, _, _, dirty) self:count("evicted_dirty", dirty) end
return p]])
local small_l2 = { "sms=2", "l2[*].size=16KiB" }

harness.test("eager write-back leaves fewer dirty lines to be replaced, and each write-back is one of the two", function()
  local plain = run { workload = "kmeans", set = small_l2 }
  local r = run { workload = "kmeans", policy = eager, set = small_l2 }
  local cleaned, dirty = checks.sum(r, "l2.eager.cleaned"), checks.sum(r, "l2.eager.evicted_dirty")
  harness.equal(checks.sum(r, "l2.write_backs"), cleaned + dirty, "write-backs")
  assert(cleaned > 100 and dirty < checks.sum(plain, "l2.write_backs") / 4, ("%d cleaned, %d replaced dirty"):format(cleaned, dirty))
end)

checks.law(eager, "kmeans", small_l2)

harness.test("a line cannot be cleaned in the midst of a cycle", function()
  local path = policy_file("asked", [[
local p = policy "asked" { scope = "l2" }
function p:victim(set, _, lru) self.l2:clean(set, lru) end
return p]])
  fails({ workload = "kmeans", policy = path, set = small_l2 },
    "l2[0]:clean: expected a call from a hook, got one from a question, in the midst of a cycle")
end)

--- Two lines in three replace none.
local keeper = policy_file("keeper", [[
local p = policy "keeper" { caches = "data|last", scope = "cache", counters = { kept = "" } }
function p:victim(_, _, _, _, _, address)
  if address // 128 % 3 == 0 then return nil end
  self:count "kept"
  return -1
end
return p]])

harness.test("a request for which a policy keeps all lines passes the cache by", function()
  local plain = run { workload = "kmeans", set = small_l2 }
  for word, cache in pairs { data = "sm.l1d", last = "l2" } do
    local r = run { workload = "kmeans", policy = keeper .. ":cache=" .. word, set = small_l2 }
    local function more(name) return checks.sum(r, cache .. "." .. name) - checks.sum(plain, cache .. "." .. name) end
    assert(checks.sum(r, cache .. ".keeper.kept") > 100 and more "evictions" < 0, cache)
    harness.equal(more "bypasses", checks.sum(r, cache .. ".keeper.kept"), cache)
  end
end)

checks.law(keeper, "kmeans", small_l2)

harness.test("what a policy sees of a line", function()
  local path = policy_file("viewer", [[
local p = policy "viewer" { caches = "data", scope = "cache", counters = { misses = "", uses = "" } }
function p:configure(_, path)
  if self:acts_on(path) then return { line_history = true } end
end
function p:on_miss(sm, warp, address, pc, _, class, set, way)
  local cache = self.cache
  if way < 0 or cache:line_address(set, way) ~= address & -128 then return end
  local owner_sm, owner_warp = cache:line_owner(set, way)
  assert(owner_sm == sm and owner_warp == warp and cache:line_class(set, way) == class)
  assert(cache:line_pc(set, way) == pc and cache:line_uses(set, way) == 0 and not cache:line_valid(set, way) and not cache:line_dirty(set, way))
  self:count "misses"
end
function p:on_hit(_, _, address, _, write, _, set, way)
  local cache = self.cache
  if write == 1 then return end
  assert(cache:line_address(set, way) == address & -128 and cache:line_valid(set, way) and cache:line_uses(set, way) >= 1)
  self:count "uses"
end
return p]])
  local r = run { workload = "kmeans", policy = path }
  assert(checks.sum(r, "sm.l1d.viewer.misses") > 100 and checks.sum(r, "sm.l1d.viewer.uses") > 100)
  harness.same_text(checks.text_of(r, { "%.viewer%." }), checks.text_of(run { workload = "kmeans" }))
end)

harness.test("a policy finds a line by its address: not before its miss, then where the miss took it, and not once it is replaced", function()
  local path = policy_file("finder", [[
local p = policy "finder" { caches = "data|last", scope = "cache", counters = { asked = "", missed = "", hit = "", replaced = "", others = "" } }
function p:start() self.state.of_others = 0 end
function p:insertion(set, _, _, _, address)
  local at, way = self.cache:find(address)
  assert(self.cache:set_of(address) == set and at == set, "set of a line that enters")
  assert(self.cache:line_address(at, way) == address & -128 and self.cache:line_sectors(at, way) == 0)
  self:count "asked"
end
function p:on_miss(_, _, address, _, _, _, set, way)
  if way < 0 then return end
  local at, found = self.cache:find(address)
  local valid, in_flight, dirty = self.cache:line_sectors(set, way)
  assert(at == set and found == way and valid & in_flight == 0 and valid | in_flight ~= 0 and dirty & ~valid == 0)
  self:count "missed"
end
function p:on_hit(_, _, address, _, _, _, set, way)
  local at, found = self.cache:find(address | 127)
  assert(at == set and found == way and self.cache:line_sectors(set, way) > 0)
  self:count "hit"
end
function p:on_evict(_, _, address, _, set)
  assert(self.cache:set_of(address) == set and self.cache:find(address) == nil)
  self:count "replaced"
  if self.cache.class == "L2" and self.cache:set_of(address + 256) == nil then self:count "others" end
end
return p]])
  local r = run { workload = "kmeans", policy = path, set = { "l2[*].size=16KiB" } }
  for _, cache in ipairs { "sm.l1d", "l2" } do
    for _, name in ipairs { "asked", "missed", "hit", "replaced" } do
      assert(checks.sum(r, ("%s.finder.%s"):format(cache, name)) > 100, cache .. " " .. name)
    end
  end
  assert(checks.sum(r, "l2.finder.others") > 100, "each L2 has a set for the addresses of the others")
  harness.same_text(checks.text_of(r, { "%.finder%." }), checks.text_of(run { workload = "kmeans", set = { "l2[*].size=16KiB" } }))
end)

harness.test("an eviction says who had brought the line, and how often it was used: all hits and merges of reads, in the end", function()
  local path = policy_file("evictions", [[
local p = policy "evictions" { caches = "data", scope = "cache", counters = { uses = "", same = "", others = "" } }
function p:configure(_, path)
  if self:acts_on(path) then return { line_history = true } end
end
function p:start() self.state.pcs = {} end
function p:on_miss(_, _, _, pc, _, _, set, way)
  if way < 0 then return end
  self.state.pcs[set * 64 + way] = pc
end
function p:on_evict(_, _, _, _, set, way, _, pc, uses)
  self:count("uses", uses)
  -- the miss that replaces it comes behind it
  self:count(pc == self.state.pcs[set * 64 + way] and "same" or "others")
end
function p:on_kernel_end()
  local cache = self.cache
  for set = 0, cache.size // (cache.line * cache.ways) - 1 do
    for way = 0, cache.ways - 1 do self:count("uses", cache:line_uses(set, way) or 0) end
  end
end
return p]])
  local function hits_of(set)
    local r = run { workload = "spmv", policy = path, set = set }
    local hits = checks.sum(r, "sm.l1d.read_hits") + checks.sum(r, "sm.l1d.read_merges")
    assert(hits > 1000)
    harness.equal(checks.sum(r, "sm.l1d.evictions.uses"), hits, "uses")
    return r
  end
  local r = hits_of(nil)
  assert(checks.sum(r, "sm.l1d.evictions.same") > 1000)
  harness.equal(checks.sum(r, "sm.l1d.evictions.others"), 0, "lines of another PC")
  hits_of { ["sm[*].l1d.sectors"] = 4 } -- where a line has misses of other sectors, too
end)

harness.test("what makes no sense is refused with words", function()
  local function set(...) return { workload = "vecadd", set = { ... } } end
  fails(set("l2[*].replacement=srrip", "l2[*].insertion_position=1"), "l2[0].replacement: expected lru, whose order")
  fails(set("l2[*].way_masks=3"), "l2[0].way_masks: expected partition_by to be class or sm, got none")
  fails({ workload = "vecadd", policy = "eaf", set = { "l2[*].replacement=srrip" } }, "l2[0].replacement: expected lru, since a part")
  local function start(body)
    return policy_file("bad", 'local p = policy "bad" { scope = "cache", caches = "last" } function p:start() ' .. body .. " end return p")
  end
  fails({ workload = "vecadd", policy = start "self.cache:line_pc(0, 0)" }, "expected line_history = true")
  fails({ workload = "vecadd", policy = start "self.cache:set_ways(0, 1)" }, "expected partition_by to be class or sm")
  fails({ workload = "vecadd", policy = start "self.cache:set_keep(0, 1)", set = { "l2[*].replacement=fifo" } }, "expected replacement = lru")
  fails({ workload = "vecadd", policy = "dip:replacement=fifo" }, "replacement: expected one of lru, srrip, got 'fifo'")
  fails({ workload = "vecadd", policy = "dip:cache=data", set = { "sm[*].l1d.ways=64" } }, "expected 4 or more sets in sm[0].l1d, got 2")
  local far = policy_file("far", 'local p = policy "far" { scope = "cache", caches = "last" } function p:insertion(_, last) return last + 1 end return p')
  fails({ workload = "vecadd", policy = far }, "insertion", "expected whole numbers from 0 to `last`", "got 16")
  fails({ workload = "vecadd", policy = far, set = { "l2[*].replacement=fifo" } }, "expected whole numbers from 0 to `last`", "got 1")
  fails({ workload = "vecadd", policy = start "self.cache:find(-1)" }, "l2[0]:find: address: expected a whole number from 0 to ", "got -1")
  fails({ workload = "vecadd", policy = start "self.cache:line_valid(64, 0)" }, "expected a set from 0 to 63, got 64")
end)

harness.test("a warm cache of other ways, another choice or other partitions goes on", function()
  local sim = ww.build("gtx480", { set = { "l2[*].replacement=srrip" } })
  sim:start("kmeans", "small")
  harness.equal(sim:run { until_cycle = 20000 }, false, "ended")
  local folder = harness.folder()
  sim:checkpoint(folder .. "/warm")
  sim:close()
  for _, changed in ipairs { "l2[*].replacement=ship_pc", "l2[*].ways=8", "l2[*].replacement=lru", "l2[*].partition_by=sm", "l2[*].rrip_bits=1" } do
    local set = { "l2[*].replacement=srrip", changed }
    local other = ww.build("gtx480", { set = set })
    other:start("kmeans", "small")
    other:resume(folder .. "/warm", { allow_changes = true })
    assert(other:run {}, changed)
    other:close()
  end
end)

harness.finish()
