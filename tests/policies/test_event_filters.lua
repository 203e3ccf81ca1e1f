-- self:only(): a hook is called for the events that its conditions let through, and for no others.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local runs = require "tests.lib.policy_runs"

local policy_file, good, fails, stat = runs.file, runs.good, runs.fails, runs.stat

--- A policy that digests the arguments of each call of a hook. With `filtered` those that come; without it those that `wanted`, a Lua
-- expression, lets through, of all that come.
local function digester(name, how)
  return policy_file(name, ([[
local x = policy "x" { %s, counters = { digest = "", calls = "", others = "" }, params = { filtered = { true } } }
local function is_wanted(%s) return %s end
function x:start()
  if self.params.filtered then self:only("%s", %s) end
end
function x:%s(...)
  if self.params.filtered or is_wanted(...) then
    local digest = self.counters.calls + self.counters.digest
    for i = 1, select("#", ...) do
      local argument = select(i, ...)
      if math.type(argument) == "integer" then digest = (digest * 31 + argument) %% 1000003 end
    end
    self:count("digest", digest - self.counters.digest)
    self:count "calls"
  else
    self:count "others"
  end
end
return x]]):format(how.settings, how.arguments, how.wanted, how.hook, how.only, how.hook))
end

local access <const> = "sm, warp, address, pc, write, class, set, way"
local of_l1 <const>, of_l2 <const> = 'scope = "cache", caches = "data"', 'scope = "l2"'

local cases <const> = {
  { name = "a period of sets", settings = of_l1, hook = "on_miss", arguments = access,
    wanted = "set >= 0 and set % 4 == 1", only = "{ set = { every = 4, at = 1 } }" },
  { name = "-1 is in no period", settings = of_l1, hook = "on_miss", arguments = access,
    wanted = "way >= 0 and way % 4 == 3", only = "{ way = { every = 4, at = 3 } }" },
  { name = "bits of lines", settings = of_l1, hook = "on_hit", arguments = access,
    wanted = "address & 0x180 == 0x100", only = "{ address = { mask = 0x180, is = 0x100 } }" },
  { name = "bounds", settings = of_l1, hook = "on_merge", arguments = access,
    wanted = "warp >= 3 and warp <= 9", only = "{ warp = { from = 3, to = 9 } }" },
  { name = "a number, and a period from a bound on", settings = of_l2, hook = "on_hit", arguments = access,
    wanted = "write == 0 and set >= 9 and set % 3 == 0", only = "{ write = 0, set = { every = 3, from = 9 } }" },
  { name = "one of two", settings = of_l1, hook = "on_miss", arguments = access,
    wanted = "write == 1 or set == 2 and warp % 2 == 0", only = "{ write = 1 }, { set = 2, warp = { every = 2 } }" },
  { name = "what a question is about", settings = of_l1, hook = "insertion", arguments = "set",
    wanted = "set % 8 == 5", only = "{ set = { every = 8, at = 5 } }" },
  { name = "of a list, behind the cache that speaks", settings = 'caches = "data|L2"', hook = "on_cache_evict",
    arguments = "cache, sm, warp, address, class, set", wanted = "set % 4 == 0", only = "{ set = { every = 4 } }" },
  { name = "of a coordinator", settings = 'scope = "machine"', hook = "on_l1_miss", arguments = "l1, " .. access,
    wanted = "set % 16 == 1", only = "{ set = { every = 16, at = 1 } }" },
}

--- All rows, but that of the calls which only the one without a filter has.
local function rows(stats) return runs.without(stats, "x.others") end

local function total(stats, counter)
  local sum = 0
  for value in stats:gmatch("x%." .. counter .. " +(%d+)") do sum = sum + tonumber(value) end
  return sum
end

for i, case in ipairs(cases) do
  harness.test("the calls are those and no others: " .. case.name, function()
    local path = digester("digester" .. i, case)
    local want = good { policy = path .. ":filtered=false" }
    assert(total(want, "calls") > 0 and total(want, "others") > 0, "calls of both kinds")
    harness.same_text(rows(good { policy = path }), rows(want), "filtered")
    harness.same_text(rows(good { policy = path, threads = 2, order = "reversed" }), rows(want), "two threads, reversed")
  end)
end

harness.test("a filter is there after a resume", function()
  local path = digester("resumed", cases[1])
  local want = good { policy = path }
  local middle = stat(want, "run.cycles") // 2
  local _, _, folder = good { policy = path, ["checkpoint-at"] = middle }
  harness.same_text(good { resume = ("%s/%d.ckpt"):format(folder, (middle + 15) // 16 * 16) }, want, "resumed")
end)

--- Limits the warps of an SM while CTAs of some slots start, by a function or bound.
local function limiting(name, start, more)
  return policy_file(name, ([[
local x = policy "x" { counters = { starts = "" } }
function x:start()
  local few = self.sm:setting { warp_limit = 3 }
  self.few = few
  %s
end
%s
return x]]):format(start, more or ""))
end

harness.test("what is bound hears of no others, too", function()
  local want = good { policy = limiting("limits", "", [[function x:on_cta_start(slot)
  if slot % 2 == 1 then self.few() self:count "starts" end
end]]) }
  assert(stat(want, "sm[0].x.starts") > 0, "starts")
  local all = good { policy = limiting("binds_all", [[self:bind("on_cta_start", few, "starts")]]) }
  assert(stat(all, "sm[0].x.starts") > stat(want, "sm[0].x.starts"), "others")
  local bound = limiting("binds", [[self:bind("on_cta_start", few, "starts") self:only("on_cta_start", { slot = { every = 2, at = 1 } })]])
  harness.same_text(good { policy = bound }, want, "bound")
end)

--- As dip: leader sets say how lines enter all others. The leaders' misses come by a hook.
local duel = policy_file("duel", [[
local duel = policy "duel" { scope = "cache", caches = "data", params = { filtered = { true } },
  counters = { usual = "", distant = "", first_to_go = "" } }
function duel:configure(_, path) if self:acts_on(path) then return { replacement = "srrip" } end end
function duel:start()
  self.state.psel = 512
  if not self.params.filtered then return end
  self:only("on_miss", { set = { every = 8 }, way = { from = 0 } }, { set = { every = 8, at = 4 }, way = { from = 0 } })
end
function duel:on_miss(_, _, _, _, _, _, set, way)
  if set < 0 or set % 4 ~= 0 or way < 0 then return end
  local by = set % 8 == 0 and 1 or -1
  self.state.psel = math.max(0, math.min(self.state.psel + by, 1023))
  self:count(by > 0 and "usual" or "distant")
end
function duel:insertion(set, last)
  local is_leader = set % 4 == 0
  if is_leader and set % 8 == 0 or not is_leader and self.state.psel <= 511 then return nil end
  self:count "first_to_go"
  return last
end
return duel]])

harness.test("a policy of sampled sets has the same statistics with a filter and without", function()
  for _, workload in ipairs { "spmv", "kmeans" } do
    local want = good { policy = duel .. ":filtered=false", workload = workload }
    for _, counter in ipairs { "usual", "distant", "first_to_go" } do assert(stat(want, "sm[0].l1d.duel." .. counter) > 0, counter) end
    harness.same_text(good { policy = duel, workload = workload }, want, workload)
  end
end)

--- The policy ship, filtered by Lua.
local function ship_in_lua()
  local text = harness.read "policies/ship.lua"
  local function replaced(pattern, by)
    local count
    text, count = text:gsub(pattern, by)
    assert(count > 0, pattern)
  end
  replaced("self:only%b()", "")
  replaced("(function ship:on_hit%b())", "%1\n  if way < 0 or set %% self.params.sampled ~= 0 then return end")
  replaced("function ship:on_evict%b()", "function ship:on_evict(_, _, _, _, set, _, _, pc, uses)\n"
    .. "  if uses ~= 0 or set %% self.params.sampled ~= 0 then return end\n ")
  return harness.write("ship.lua", text)
end

harness.test("ship has the same statistics as if Lua looked at each event", function()
  local path = ship_in_lua()
  for _, params in ipairs { ":cache=data", ":cache=data|last,sampled=4" } do
    harness.same_text(good { policy = "ship" .. params }, good { policy = path .. params }, params)
  end
end)

checks.resumes("ship:cache=data,sampled=4", "kmeans", 2)

harness.test("conditions that say nothing, or what cannot be, are refused", function()
  local function refused(line, ...)
    fails({ policy = policy_file("refused", ([[
local x = policy "x" { scope = "cache", caches = "data" }
function x:on_hit() end
function x:start()
  %s
end
return x]]):format(line)) }, ...)
  end
  refused("self:only('on_hitt', { set = 1 })", "refused.lua:6: policy x of sm[0].l1d, in start at cycle 0: only: no hook matches 'on_hitt'; did you mean on_hit")
  refused("self:only('on_miss', { set = 1 })", "refused.lua:6: policy ", "only: on_miss: expected a hook that the policy has or has bound, got none")
  refused("self:only('on_hit')", "only: on_hit: expected one or more conditions, { ARGUMENT = condition }, got nil")
  refused("self:only('on_hit', {})", "only: on_hit: expected one or more conditions, { ARGUMENT = condition }, got a table")
  refused("self:only('on_hit', { sett = 1 })", "refused.lua:6: policy ", "only: no argument of on_hit matches 'sett'; did you mean set?")
  refused("self:only('on_hit', { set = {} })", "only: on_hit: set: expected a whole number or { every =, at =, mask =, is =, from =, to = }")
  refused("self:only('on_hit', { set = 'a' })", "only: on_hit: set: expected a whole number or {", "got 'a'")
  refused("self:only('on_hit', { set = { evry = 4 } })", "only: on_hit: set: no field matches 'evry'; did you mean every?")
  refused("self:only('on_hit', { set = { every = 0 } })", "only: on_hit: set.every: expected 1 or more, got 0")
  refused("self:only('on_hit', { set = { every = 4, at = 4 } })", "only: on_hit: set.at: expected 0 to 3, below every, got 4")
  refused("self:only('on_hit', { set = { every = 4, from = -1 } })", "only: on_hit: set.from: expected 0 or more beside every, got -1")
  refused("self:only('on_hit', { set = { every = 4.5 } })", "only: on_hit: set.every: expected a whole number, got 4.5")
  refused("self:only('on_hit', { address = { mask = 128, is = 1 } })", "only: on_hit: address.is: expected bits of mask, 0x80, got 1")
  refused("self:only('on_hit', { address = { from = 128, to = 1 } })", "only: on_hit: address.to: expected 128 or more, as from, got 1")
  refused("self:only('on_hit', { set = 1 }) self:only('on_hit', { set = 2 })", "only: on_hit: expected one call for each hook, got a second one")
  refused("end function x:on_kernel_start() self:only('on_hit', { set = 1 })", "only: expected a call in start()")
end)

harness.finish()
