-- What r["pattern"] of a result gives: sums of counters, ratios of all parts to all wholes; also of variants.
local core = require "warpwright.core"
local ww = require "warpwright"
local harness = require "tests.lib.harness"

-- The two SMs get other numbers of accesses, and other shares of them miss.
local function run() return ww.run { config = "gtx480", workload = "bfs", size = "small", set = { sms = 2, partitions = 2 } } end

local function rate(r, sm)
  local l1d = sm .. ".l1d."
  return r[l1d .. "misses"] / (r[l1d .. "hits"] + r[l1d .. "misses"] + r[l1d .. "merges"])
end

harness.test("a pattern of counters gives their sum, of rates that of all accesses", function()
  local r = run()
  harness.equal(r["sm[*].l1d.misses"], r["sm[0].l1d.misses"] + r["sm[1].l1d.misses"], "misses")
  harness.equal(r["sm[0].l1d.miss_rate"], rate(r, "sm[0]"), "one rate")
  local whole, mean = rate(r, "sm[*]"), (rate(r, "sm[0]") + rate(r, "sm[1]")) / 2
  assert(math.abs(whole - mean) > 1e-6, "the SMs are too much alike to tell")
  assert(math.abs(r["sm[*].l1d.miss_rate"] - whole) < 1e-12, ("%.9f, not %.9f"):format(r["sm[*].l1d.miss_rate"], whole))
  local instructions, cycles = r.thread_instructions, r["sm[*].slots_*"] / 2 -- of two schedulers each
  assert(math.abs(r["sm[*].ipc"] - instructions / cycles) < 1e-9, ("%.9f, %.9f"):format(r["sm[*].ipc"], instructions / cycles))
end)

harness.test("old names of parameters and statistics mean those of today", function()
  local set = { "sms=2", "partitions=2", "l2[*].class_keeps=1,0", "sm[*].l1d.passing_limit=1" }
  local old = ww.run { config = "gtx480", workload = "bfs", size = "small", set = set }
  local stalls = old["sm[*].l1d.bypassed_stalls"]
  assert(stalls > 0, "the limit of one bypassed request in flight has stopped nobody")
  harness.equal(old["sm[*].l1d.passing_stalls"], stalls)
  harness.equal(old["l2[*].sheltered"], old["l2[*].protected_evictions"])
  set[3], set[4] = "l2[*].retention_priority=1,0", "sm[*].l1d.bypassed_limit=1"
  harness.equal(ww.run { config = "gtx480", workload = "bfs", size = "small", set = set }.cycles, old.cycles)
end)

harness.test("of objects that have seen nothing a rate is 0", function()
  harness.equal(run()["sm[*].texture_cache.miss_rate"], 0.0)
end)

harness.test("counters and rates under one pattern are refused", function()
  local good, message = pcall(function() return run()["sm[0].l1d.*"] end)
  assert(not good)
  harness.contains(tostring(message), "result: sm[0].l1d.*: expected counters or ratios, got both")
end)

harness.test("a variant's rates are those of a run", function()
  local sim = ww.build("gtx480", { set = { sms = 2, partitions = 2 } })
  sim:start("bfs", "small")
  assert(not sim:run { until_cycle = 5000 })
  local variants = sim:fork { { name = "same" } }
  local r = variants[1] or variants.same
  harness.equal(r["sm[*].l1d.miss_rate"], run()["sm[*].l1d.miss_rate"], "miss rate")
  sim:close()
end)

harness.test("a result that was asked for before changes none: neither launches without timing nor clocks that change", function()
  local function text_of(r)
    local lines = {}
    for name, value in r:stats() do lines[#lines + 1] = ("%s %s"):format(name, value) end
    return table.concat(lines, "\n")
  end
  for _, options in ipairs { { fast_forward = "launch=1" }, { policy = "equalizer", fast_forward = "launch=1" } } do
    local sim = ww.build("gtx480", options)
    sim:run("vecadd", "small")
    local first = sim:result()
    harness.equal(first.cycles, 0)
    harness.same_text(text_of(sim:result()), text_of(first))
    sim:close()
  end
end)

harness.test("since refuses results of another run", function()
  local first = ww.run { config = "gtx480", workload = "vecadd", size = "small,n=1024", out = false }
  local good, message = pcall(function() return run():since(first) end)
  assert(not good)
  harness.contains(tostring(message), "since: expected a result of the same run, got one of another run on gtx480")
end)

harness.test("a run without sampling has no interval, under the names of fields, too", function()
  harness.equal(run():interval "cycles", 0.0)
end)

harness.test("a machine without SMs has a result before it runs", function()
  local sim = ww.build(ww.machine("alone", function(m)
    m:clocks { core = "700MHz" }
    local source, sink = m:TrafficSource "source" { rate = 0.2 }, m:TrafficSink "sink" {}
    m:wire(source.mem, sink.cpu)
  end))
  local before = sim:result()
  harness.equal(before.cycles, 0)
  sim:advance(1000)
  local since = sim:result():since(before)
  assert(since.cycles >= 1000 and since["sink.answered"] > 0)
  sim:close()
end)

-- Rows ----------------------------------------------------------------------------------------------------------------

local odd_rows = {
  { "run.cycles", 12, "cycles", "Core cycles" },
  { "a.float", 1 / 3, "events", "A policy's", nil, true },
  { "a.nan", 0 / 0, "", "No number" },
  { "a.infinite", -math.huge, "1/cycle", "Nor this" },
  { "a.rate", 0.25, "1", "A ratio", 8.0 },
  { "a.large", math.mininteger, "B", "The least" },
  { ("long"):rep(20) .. '."quoted"\\\n', 7, "a unit that is long", "Its name\tis wide" },
}

local function rows_of(list)
  local rows = core.stats()
  for _, row in ipairs(list) do rows:add(table.unpack(row, 1, 6)) end
  return rows
end

local function number(value)
  if math.type(value) == "integer" then return ("%d"):format(value) end
  return value ~= value and "nan" or ("%.9g"):format(value)
end

harness.test("rows are written as they were added, in columns and as JSON", function()
  local rows, lines, members = rows_of(odd_rows), {}, {}
  harness.equal(#rows, #odd_rows, "rows")
  for i, row in ipairs(odd_rows) do
    local name, value, unit, doc, whole, of_policy = rows:row(i)
    harness.equal(name .. unit .. doc .. number(value), row[1] .. row[3] .. row[4] .. number(row[2]), "row " .. i)
    harness.equal(math.type(value), math.type(row[2]), "type of row " .. i)
    harness.equal(whole, row[5], "whole of row " .. i)
    harness.equal(of_policy, row[6] or false, "policy of row " .. i)
    lines[i] = ("%-60s  %20s  %-19s  %s\n"):format(name, number(value), unit, doc)
    local json = value == value and value ~= -math.huge and number(value) or "null"
    members[i] = ('  "%s": %s'):format(name:gsub('["\\\n]', { ['"'] = "\\u0022", ["\\"] = "\\u005c", ["\n"] = "\\u000a" }), json)
  end
  harness.equal(rows:row(#rows + 1), nil, "a row behind the last")
  harness.equal(rows:text(), table.concat(lines), "text")
  harness.equal(rows:json "  ", table.concat(members, ",\n"), "JSON")
  harness.equal(core.stats():text() .. core.stats():json "", "", "without rows")
end)

harness.test("rows are found by name, the last one of a name, also after more came", function()
  local rows = core.stats()
  for i = 1, 1000 do
    rows:add(("o[%d].count"):format(i % 900), i, "", "")
    if i % 100 == 0 then harness.equal(rows:value(("o[%d].count"):format(i % 900)), i, "the last") end
  end
  harness.equal(rows:value "o[50].count", 950, "the second of a name")
  harness.equal(rows:value "o[900].count", nil, "a name that there is not")
  harness.equal(core.stats():value "o[0].count", nil, "among none")
  local matches, ratios, sum = rows:over "o[*].count"
  harness.equal(("%d %d %d"):format(matches, ratios, sum), "1000 0 500500", "matches")
end)

harness.test("differences of rows keep integers, leave ratios of the time between, and policies of their own", function()
  local before = rows_of { { "a.n", 3, "", "" }, { "a.f", 0.5, "", "" }, { "a.rate", 0.5, "", "", 8.0 },
    { "a.longest_wait", 9, "", "" }, { "p.count", 2, "", "", nil, true } }
  local now = rows_of { { "run.cycles", 5, "", "" }, { "launch[0].cycles", 5, "", "" }, { "a.n", 10, "", "" }, { "a.f", 2, "", "" },
    { "a.rate", 0.75, "", "", 16.0 }, { "a.longest_wait", 12, "", "" }, { "p.count", 7, "", "", nil, true }, { "a.new", 4, "", "" } }
  local function values(rows)
    local list = {}
    for i = 1, #rows do
      local name, value, _, _, whole = rows:row(i)
      list[i] = name .. "=" .. tostring(value) .. (whole and " of " .. whole or "")
    end
    return table.concat(list, ", ")
  end
  harness.equal(values(now:since(before, true)), "a.n=7, a.f=1.5, a.rate=1.0 of 8.0, a.longest_wait=12, p.count=5, a.new=4")
  harness.equal(values(now:since(before, false)), "a.n=7, a.f=1.5, a.rate=1.0 of 8.0, a.longest_wait=12, p.count=7, a.new=4")
  harness.equal(values(before:since(before, true)), "a.n=0, a.f=0.0, a.rate=0.0 of 0.0, a.longest_wait=9, p.count=0")
end)

harness.test("a result allocates little of Lua's memory, and results that nobody holds are collected", function()
  local sim = ww.build "gtx480"
  sim:gpu()
  collectgarbage()
  local before, alive, count = collectgarbage "count", setmetatable({}, { __mode = "v" }), 0
  local first = sim:result()
  harness.equal(first["sm[0].l1d.hits"], 0)
  local each = collectgarbage "count" - before
  assert(each < 64, ("%.1f KiB a result"):format(each))
  local ballast = {} -- so that the collector would not come for little
  for i = 1, 200000 do ballast[i] = { i } end
  collectgarbage()
  for i = 1, 500 do alive[i] = sim:result().rows end
  for _ in pairs(alive) do count = count + 1 end
  assert(count < 250, count .. " of 500 are alive")
end)

-- Counters ------------------------------------------------------------------------------------------------------------

local patterns = {
  l1_misses = "sm[*].l1d.misses",
  accesses = { "sm[*].l1d.hits", "sm[*].l1d.misses", "sm[*].l1d.merges" },
  one_sm = "sm[1].slots_*",
  memory = "mc[*].cycles",
}

--- The same of the rows of a result.
local function expected(r)
  local sums = {}
  for name, list in pairs(patterns) do
    sums[name] = 0
    for _, pattern in ipairs(type(list) == "table" and list or { list }) do sums[name] = sums[name] + r[pattern] end
  end
  return sums
end

harness.test("counters are at any time the sums of the rows of a result", function()
  local sim = ww.build("gtx480", { set = { sms = 2, partitions = 2 } })
  local counters = sim:counters(patterns)
  for name, value in pairs(counters:read()) do harness.equal(value, 0, name .. " of a new machine") end
  sim:start("bfs", "small")
  for _, cycle in ipairs { 5000, 20000, 1 << 40 } do
    sim:run { until_cycle = cycle }
    local read, names = counters:read(), 0
    for name, value in pairs(expected(sim:result())) do
      harness.equal(read[name], value, ("%s at cycle %d"):format(name, cycle))
      names = names + 1
    end
    harness.equal(names, 4, "sums")
  end
  assert(counters:read().l1_misses > 1000)
  sim:close()
  local good, message = pcall(counters.read, counters)
  assert(not good)
  harness.contains(tostring(message), "machine: it was closed")
end)

harness.test("counters go on with the machine that a change makes", function()
  local sim = ww.build("gtx480", { set = { sms = 2, partitions = 2 }, policy = "ccws" })
  local counters, parts = sim:counters(patterns), sim:counters { insertions = "sm[*].vta.insertions" }
  sim:start("bfs", "small")
  assert(not sim:run { until_cycle = 20000 })
  assert(parts:read().insertions > 0)
  sim:change { policy = "lrr" }
  sim:run {}
  for name, value in pairs(expected(sim:result())) do harness.equal(counters:read()[name], value, name) end
  local good, message = pcall(parts.read, parts)
  assert(not good)
  harness.contains(tostring(message), "counters: no counter matches 'sm[*].vta.insertions' on machine gtx480 any more")
  sim:close()
end)

harness.test("reading counters allocates nothing but the table of the sums", function()
  local sim = ww.build "gtx480"
  sim:gpu()
  local counters = sim:counters(patterns)
  counters:read()
  collectgarbage()
  collectgarbage "stop"
  local before = collectgarbage "count"
  for _ = 1, 100 do counters:read() end
  local each = (collectgarbage "count" - before) / 100
  collectgarbage "restart"
  assert(each < 0.5, ("%.2f KiB a read"):format(each))
end)

harness.test("counters that there are not are refused", function()
  local sim = ww.build("gtx480", { set = { sms = 2, partitions = 2 } })
  local function refused(wrong, ...)
    local good, message = pcall(sim.counters, sim, wrong)
    assert(not good)
    harness.contains(tostring(message), ...)
  end
  refused({ a = "sm[*].l1d.mises" }, "counters: no counter matches 'sm[*].l1d.mises' on machine gtx480", "did you mean sm[*].l1d.misses")
  refused({ a = "sm[*].l1d.miss_rate" }, "expected counters, got 'sm[*].l1d.miss_rate', which is a ratio")
  refused({ a = { "l2[*].hits", "l2[9].hits" } }, "matches 'l2[9].hits'")
  refused({ a = 7 }, "counters: a: expected a pattern, got 7")
  refused({ "l2[*].hits" }, "expected a name for each pattern, got none for 'l2[*].hits'")
  refused("l2[*].hits", "counters: expected { name = pattern ... }, got 'l2[*].hits'")
  sim:close()
end)

-- Since ---------------------------------------------------------------------------------------------------------------

local counting = harness.write("counting.lua", [[
local policy = require "warpwright.policy"
local p = policy "counting" { period = 100, counters = { periods = "Periods" } }
function p:on_period() self:count "periods" end
return p]])

local function warm_machine(policy)
  local sim = ww.build("gtx480", { policy = policy, set = { sms = 2, partitions = 2 } })
  sim:start("bfs", "small")
  assert(not sim:run { until_cycle = 20000 })
  return sim, sim:result()
end

--- `since` has the differences of all counters of the objects, and the ratios that follow from them.
local function check_difference(since, now, before)
  local counters, ratios = 0, 0
  for name, value in since:stats() do
    if math.type(value) == "integer" and name:find "^[^rl][^.]*%[" then
      counters = counters + 1
      harness.equal(value, now[name] - before[name], name)
    elseif name:find "miss_rate$" and not name:find "read_" then
      ratios = ratios + 1
      local at = name:gsub("miss_rate$", "")
      local lookups = since[at .. "hits"] + since[at .. "misses"] + since[at .. "merges"]
      harness.equal(value, lookups > 0 and since[at .. "misses"] / lookups or 0.0, name)
    end
  end
  assert(counters > 500 and ratios >= 8, ("%d counters, %d ratios"):format(counters, ratios))
end

harness.test("what came since an earlier result is the difference of counters, and the ratios of the difference", function()
  local sim, before = warm_machine(counting)
  sim:run {}
  local now = sim:result()
  local since = now:since(before)
  check_difference(since, now, before)
  harness.equal(since.cycles, now.cycles - 20000, "cycles")
  harness.equal(since["run.cycles"], since.cycles, "the row of cycles")
  harness.equal(since.ipc, (now.thread_instructions - before.thread_instructions) / since.cycles, "ipc")
  harness.equal(since["run.ipc"], since.ipc, "the row of ipc")
  harness.equal(#since.launches, #now.launches - #before.launches, "launches")
  assert(#before.launches > 0 and since["launch[0].start_cycle"] == now.launches[#before.launches + 1].start_cycle)
  harness.equal(since["sm[0].counting.periods"], now["sm[0].counting.periods"] - before["sm[0].counting.periods"], "the policy's")
  assert(before["sm[0].counting.periods"] == 200, before["sm[0].counting.periods"])
  harness.equal(since.memory_peak, now.memory_peak, "peak")
  harness.equal(now:since(now)["sm[*].l1d.*s"], 0, "since itself")
  harness.equal(since:since(now:since(now)).cycles, since.cycles, "since nothing")
end)

harness.test("of a variant it is what it made of the rest, and a policy that began there is whole", function()
  local sim, before = warm_machine(counting)
  local same, named = table.unpack(sim:fork { { name = "same" }, { name = "named", policy = counting }, out = false })
  for _, r in ipairs { same, named } do
    harness.equal(r:since(before).cycles, r.cycles - 20000, "cycles")
    harness.equal(r:since(before)["sm[0].l1d.misses"], r["sm[0].l1d.misses"] - before["sm[0].l1d.misses"], "misses")
    harness.equal(r:since(before)["sm[0].counting.periods"], r["sm[0].counting.periods"] - 200, "the policy that went on")
  end
  sim, before = warm_machine("gto")
  local anew = sim:fork({ { name = "anew", policy = counting }, out = false })[1]
  harness.equal(anew:since(before)["sm[0].counting.periods"], anew["sm[0].counting.periods"], "the policy that began")
  harness.equal(anew["sm[0].counting.periods"], same["sm[0].counting.periods"] - 200, "its periods")
end)

harness.test("since a result that is none of this run before is refused", function()
  local sim, before = warm_machine(nil)
  sim:run {}
  local function refused(r, earlier, why)
    local good, message = pcall(r.since, r, earlier)
    assert(not good)
    harness.contains(tostring(message), why)
  end
  refused(before, sim:result(), "since: expected a result of gtx480 before cycle 20000, got one of gtx480 at cycle ")
  refused(before, 20000, "since: expected a result, got ")
end)

-- Launches --------------------------------------------------------------------------------------------------------------

harness.test("a launch says how many CTAs the largest SM holds, and what keeps it from holding more", function()
  local sim = ww.build("gtx480", { set = { "sms=2", "partitions=1", "sm[0].ctas=3" } })
  local gpu = sim:gpu()
  local vecadd, nothing = gpu:load "workloads/vecadd/vecadd.ptx".vecadd, gpu:upload(ww.array("f32", 1))
  local launched = {
    { "CTA slots", 8, { grid = 40, block = 32 } },
    { "warps", 6, { grid = 40, block = 256 } },
    { "registers", 4, { grid = 40, block = 256, registers = 32 } },
    { "shared memory", 2, { grid = 40, block = 32, shared = 20000 } },
    { "grid", 6, { grid = 8, block = 256 } },
  }
  for i, row in ipairs(launched) do
    local limit, ctas, launch = table.unpack(row)
    launch.args = { nothing, nothing, nothing, 0 }
    local cost = gpu:launch(vecadd, launch)
    harness.equal(cost.limited_by, limit)
    harness.equal(cost.ctas_per_sm, ctas, limit)
    harness.equal(sim:result()[("launch[%d].ctas_per_sm"):format(i - 1)], ctas, "the statistic where limited by " .. limit)
  end
end)

harness.finish()
