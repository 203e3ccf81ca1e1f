-- Mascar on saturation of the texture and the constant cache (section III-A): modes, ownership and refusal step by step, seen
-- by policies before and behind it, on kernels that read textures, constants, or both and global memory.
local ww = require "warpwright"
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"

local workload = "tests/kernels/read_only_pairs.lua"

-- Handles each event before mascar, at the end of the same cycle: what was when it happened.
local before = harness.write("before.lua", [[
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"
local before = policy "before" {
  doc = "Watches what mascar is about to change",
  counters = { up = "", down = "", wrong = "", owned = "" },
}
function before:on_saturation(on)
  local sm, all = self.sm, bits.all
  self:count(on == 1 and "up" or "down")
  local ep = sm.first == "memory" and sm.scheduler == "gto" and sm.may_issue_memory == all and self.texture.may_miss == all
    and self.constant.may_miss == all and not self.texture.reexecution and not self.constant.reexecution
  local mp = sm.first == "compute" and sm.scheduler == "oldest" and self.texture.reexecution and self.constant.reexecution
  if not (on == 1 and ep or on == 0 and mp) then self:count "wrong" end
end
function before:on_memory_access()
  if self.sm.may_issue_memory ~= bits.all or self.sm.first ~= "compute" then self:count "owned" end
end
return before
]])

-- Handles it behind mascar: what that has made of it.
local observer = harness.write("observer.lua", [[
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"
local observer = policy "observer" {
  doc = "Watches mascar",
  params = { reads = { "", doc = "Indices of the instructions that read" } },
  counters = { reads = "", owned_reads = "", forbidden_reads = "", accesses = "", not_owned = "", strangers = "", uneven = "",
    takes = "", unwatched = "", early = "", blocked = "", wrong_modes = "", wrong_flags = "", kept_modes = "" },
}
local caches = { "l1", "texture", "constant" }

function observer:compare()
  for _, name in ipairs(caches) do
    if self[name].may_miss ~= self.sm.may_issue_memory then self:count "uneven" end
  end
end

function observer:on_saturation(on)
  local sm, all = self.sm, bits.all
  local right = on == 1 and sm.first == "compute" and sm.scheduler == "oldest"
    or on == 0 and sm.first == "memory" and sm.scheduler == "gto"
  for _, name in ipairs(caches) do
    right = right and self[name].memory_watched == (on == 1 and all or 0)
    right = right and (name == "l1" or self[name].reexecution == (on == 1))
  end
  if not (right and sm.may_issue_memory == all) then self:count "wrong_modes" end
  self:compare()
end

--- The flag is up while one of the caches is saturated, and MP mode lasts as long.
local function flag(self, on)
  local any = self.l1.saturated | self.texture.saturated | self.constant.saturated
  if self.sm.saturated ~= any or (self.sm.first == "compute") ~= (any == 1) then self:count "wrong_flags" end
  if on == 0 and any == 1 then self:count "kept_modes" end
end

--- The first access that goes below makes its warp the owner, at once and for all caches.
function observer:on_memory_access(warp)
  self:count "accesses"
  self.state.since = self:cycle()
  if self.sm.may_issue_memory ~= bits.of(warp) then self:count "not_owned" end
  self:compare()
end

--- The owner is watched from when the caches have taken its accesses.
local function taken(self, warp)
  self:count "takes"
  local owns = self.sm.may_issue_memory == bits.of(warp)
  if bits.has(self.sm.watched, warp) ~= owns then self:count "unwatched" end
end

for _, name in ipairs(caches) do
  observer[("on_%s_saturation"):format(name)] = flag
  observer[("on_%s_taken"):format(name)] = taken
  --- Nobody but the owner misses, and without an owner everybody may. What another cache took in the cycle in which there
  -- was an owner again is told afterwards.
  local function miss(self, _, warp)
    if not bits.has(self[name].may_miss, warp) and self.state.since ~= self:cycle() then self:count "strangers" end
  end
  observer[("on_%s_miss"):format(name)], observer[("on_%s_merge"):format(name)] = miss, miss
end

--- The owner gives way when it waits for what it reads, and not before the caches have taken its accesses.
function observer:on_load_blocked(warp)
  self:count "blocked"
  self.state.since = self:cycle()
  if self.sm:holds_accesses(warp) then self:count "early" end
  self:compare()
end

--- What may issue in a cycle is what stood in the knob at the end of the one before.
function observer:on_issue(warp, pc)
  if not self.reads[pc] then return end
  self:count "reads"
  if self.sm.may_issue_memory ~= bits.all then self:count "owned_reads" end
  if not bits.has(self.sm.may_issue_memory, warp) then self:count "forbidden_reads" end
end

function observer:start()
  self.reads = {}
  for pc in self.params.reads:gmatch "%d+" do self.reads[math.tointeger(pc)] = true end
end

return observer
]])

local function watched_run(size, reads, set)
  local policy = ("%s+mascar+%s:reads=%s"):format(before, observer, reads)
  local r = checks.run { workload = workload, size = size, policy = policy, set = set }
  return r, function(name) return checks.sum(r, "sm." .. name) end
end

local function goes_through_the_modes(sum)
  harness.equal(sum "before.up", sum "mascar.mp_modes", "times at which the flag rises, switches to MP mode")
  harness.equal(sum "before.down", sum "mascar.mp_modes", "times at which it falls")
  harness.equal(sum "before.wrong", 0, "rises not out of EP mode, falls not out of MP mode")
  harness.equal(sum "observer.wrong_modes", 0, "modes with knobs of the other")
  harness.equal(sum "observer.wrong_flags", 0, "flags that are not those of the caches, or of another mode")
end

--- Nobody else issues or misses.
local function has_one_owner(sum)
  harness.equal(sum "observer.accesses", sum "mascar.owners", "first accesses, owners")
  harness.equal(sum "before.owned", 0, "first accesses although there was an owner, or in EP mode")
  harness.equal(sum "observer.not_owned", 0, "first accesses of warps that did not become owners")
  harness.equal(sum "observer.forbidden_reads", 0, "reads that others issued")
  harness.equal(sum "observer.strangers", 0, "misses of others")
  harness.equal(sum "observer.uneven", 0, "times at which others may issue than some cache serves")
  harness.equal(sum "observer.unwatched", 0, "owners of which all is taken and that nobody watches, or others that somebody does")
  harness.equal(sum "observer.early", 0, "owners told of before all is taken")
end

for _, case in ipairs {
  { size = "textures", cache = "texture_cache", reads = "14 16", count = 2 * 8 * 6, later = "issued_owners" },
  { size = "constants", cache = "constant_cache", reads = "11 12", count = 2 * 24 * 20, later = "queue_owners" },
} do
  harness.test(("saturation of the %s alone: MP mode, one owner at a time, back to EP mode"):format(case.cache), function()
    local r, sum = watched_run(case.size, case.reads)
    harness.equal(sum "l1d.saturations", 0, "saturations of the data cache")
    harness.equal(sum "mascar.mp_modes", sum(case.cache .. ".saturations"), "MP modes, saturations of the cache")
    assert(sum "mascar.mp_modes" > 20, "too few modes to tell: " .. sum "mascar.mp_modes")
    goes_through_the_modes(sum)
    has_one_owner(sum)
    harness.equal(sum "observer.reads", case.count, "reads")
    assert(sum "observer.owned_reads" > 0, "an owner issues its second read alone: " .. sum "observer.owned_reads")
    local owners, later = sum "mascar.owners", sum("mascar." .. case.later)
    assert(owners > 20 and later > 20, ("%d owners that were the first to miss, %d %s"):format(owners, later, case.later))
    assert(sum "observer.blocked" > 20, "owners that waited for what they read: " .. sum "observer.blocked")
    assert(sum "observer.takes" > 50, "times at which all is taken: " .. sum "observer.takes")
    assert(sum(case.cache .. ".reexecution_refusals") > 100, "misses of others that were refused")
    harness.equal(sum(case.cache .. ".refused_stall_cycles"), 0, "cycles in which they stood before the owner's")
    harness.equal(r.checks, 1, "checks of what was read")
  end)
end

harness.test("three caches at once: the flag is up while one of them is saturated", function()
  local _, sum = watched_run("all,warps=32,rounds=10", "17 18 19")
  local saturations = 0
  for _, cache in ipairs { "l1d", "texture_cache", "constant_cache" } do
    assert(sum(cache .. ".saturations") > 3, cache)
    saturations = saturations + sum(cache .. ".saturations")
  end
  goes_through_the_modes(sum)
  has_one_owner(sum)
  assert(sum "mascar.mp_modes" < saturations, "the caches are never saturated together")
  assert(sum "observer.kept_modes" > 10, "MP modes that outlast the saturation of a cache: " .. sum "observer.kept_modes")
end)

-- Without the queues ----------------------------------------------------------------------------------------------------

harness.test("without queues what is refused waits until the flag is down, and nothing hangs", function()
  for size, cache in pairs { textures = "texture_cache", constants = "constant_cache", all = "texture_cache" } do
    local r = checks.run { workload = workload, size = size, policy = "mascar:reexecution=false" }
    assert(checks.sum(r, "sm.mascar.mp_modes") > 1, "MP modes")
    assert(checks.sum(r, ("sm.%s.refused_stall_cycles"):format(cache)) > 100, "refused reads stand at the tags")
    harness.equal(checks.sum(r, ("sm.%s.reexecution_pushes"):format(cache)), 0, "pushes")
  end
end)

harness.test("in EP mode what the constant cache does not take waits as without Mascar", function()
  local set = { "sm[*].constant_cache.mshrs=64", "sm[*].constant_cache.miss_queue=64", "sm[*].constant_cache.merges=1" }
  local r = checks.run { workload = workload, size = "constants", policy = "mascar:free=125,relief=125", set = set }
  harness.equal(checks.sum(r, "sm.mascar.mp_modes"), 0, "MP modes")
  local waited = checks.sum(r, "sm.constant_cache.mshr_merge_fail_cycles")
  assert(waited > 50, "cycles in which accesses were not taken: " .. waited)
  harness.equal(checks.sum(r, "sm.constant_cache.reexecution_pushes"), 0, "pushes")
end)

-- Machines with other caches --------------------------------------------------------------------------------------------

--- One SM; `texture` and `constant` say whether there are such caches.
local function machine(texture, constant)
  return ww.machine("small", function(m)
    m:clocks { core = "700MHz", dram = "924MHz" }
    local dispatcher = m:Dispatcher "dispatcher" { sms = 1 }
    m:AddressMap "map" { channels = 1 }
    local sm = m:SM "sm" {}
    local mux, up = m:Mux (sm, "mux") { up = 1 + (texture and 1 or 0) + (constant and 1 or 0) }, 0
    local function cache(name, port)
      local l1 = m:L1(sm, name) { size = "16KiB", ways = 4, mshrs = 8, merges = 8 }
      m:wire(port, l1.cpu)
      m:wire(l1.mem, mux.up[up])
      up = up + 1
    end
    cache("l1d", sm.lsu.mem)
    if texture then cache("texture_cache", sm.lsu.texture) end
    if constant then cache("constant_cache", sm.lsu.constant) end
    local l2 = m:L2 "l2" { size = "128KiB", ways = 16, mshrs = 32 }
    local mc = m:MemoryController "mc" { clock = "dram" }
    m:wire(dispatcher.sm[0], sm.dispatch)
    m:wire(mux.down, l2.cpu)
    m:wire(l2.mem, mc.cpu[0])
  end)
end

for _, has in ipairs { { true, false }, { false, true }, { false, false } } do
  harness.test(("with%s texture cache, with%s constant cache"):format(has[1] and "" or "out", has[2] and "" or "out"), function()
    local r = checks.run { config = machine(has[1], has[2]), workload = workload, policy = "mascar" }
    assert(r["sm.mascar.mp_modes"] > 10 and r["sm.mascar.owners"] > 10)
    for i, cache in ipairs { "sm.texture_cache", "sm.constant_cache" } do
      harness.equal(has[i] and r[cache .. ".saturations"] > 0, has[i], "saturations of " .. cache)
      harness.equal(has[i] and r[cache .. ".reexecution_refusals"] > 0, has[i], "refusals by " .. cache)
    end
  end)
end

-- The law ---------------------------------------------------------------------------------------------------------------

checks.equals("mascar:scheduling=false,reexecution=false", "gto", workload)
checks.law("mascar", workload)
checks.law("mascar:reexecution=false", workload)
checks.resumes("mascar", workload, 4)

harness.finish()
