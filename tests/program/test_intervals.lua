-- --stats-every: intervals.csv adds up, ends where it should, and is the same whatever happens to the run.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local ww = require "warpwright"

local home <const> = harness.folder()
--- The file as rows of cells by column; numbers where they are.
local function read(folder)
  local text, rows, names = harness.read(folder .. "/intervals.csv"), {}, nil
  for line in text:gmatch "[^\n]+" do
    local cells, i, row = {}, 0, {}
    for cell in (line .. ","):gmatch "([^,]*)," do
      i = i + 1
      cells[i] = cell
      if names then row[names[i]] = tonumber(cell) or cell end
    end
    if names then
      harness.equal(i, #names, "cells")
      rows[#rows + 1] = row
    end
    names = names or cells
  end
  return rows, names, text
end

local function sum(rows, name)
  local all = 0
  for _, row in ipairs(rows) do all = all + row[name] end
  return all
end

local function run(name, options)
  local all = { config = "gtx480", workload = "spmv", size = "small", set = { sms = 2 }, out = ("%s/%s"):format(home, name),
    stats_every = 5000, stats_of = "run.warp_instructions,run.warp_ipc,sm[*].l1d.hits,sm[*].l1d.misses,sm[*].l1d.merges,"
      .. "sm[*].l1d.miss_rate,each:sm[*].slots_issued,mc[*].reads" }
  for key, value in pairs(options or {}) do all[key] = value or nil end
  return ww.run(all)
end

local whole <const> = run "whole"
local rows, names, text = read(home .. "/whole")

harness.test("intervals follow each other, each ends at the first boundary from a multiple on, and they add up", function()
  local before = 0
  for i, row in ipairs(rows) do
    harness.equal(row.from, before, "from")
    if i < #rows then
      assert(row.to >= 5000 * i and row.to < 5000 * i + 16, row.to)
      harness.equal(row.launch, 0)
    end
    before = row.to
  end
  harness.equal(before, whole.cycles)
  harness.equal(rows[#rows].launch, "")
  assert(#rows > 20)
  harness.equal(sum(rows, "run.warp_instructions"), whole.warp_instructions)
  for _, name in ipairs { "sm[*].l1d.hits", "sm[*].l1d.misses", "sm[*].l1d.merges", "sm[0].slots_issued", "sm[1].slots_issued", "mc[*].reads" } do
    harness.equal(sum(rows, name), whole[name], name)
  end
  harness.equal(table.concat(names, " ", 1, 5), "from to launch run.warp_instructions run.warp_ipc")
end)

harness.test("a ratio is that of the interval, over all that matches; nothing where its whole did not grow", function()
  for _, row in ipairs(rows) do
    local misses = row["sm[*].l1d.misses"]
    local all = row["sm[*].l1d.hits"] + misses + row["sm[*].l1d.merges"]
    assert(all == 0 and row["sm[*].l1d.miss_rate"] == "" or math.abs(row["sm[*].l1d.miss_rate"] - misses / all) < 1e-8)
    assert(math.abs(row["run.warp_ipc"] - row["run.warp_instructions"] / (row.to - row.from)) < 1e-8)
    harness.equal(row["sm[0].slots_issued"] + row["sm[1].slots_issued"], row["run.warp_instructions"])
  end
end)

harness.test("statistics and intervals are the same on two threads, in another order, and without each other", function()
  local stats = harness.read(home .. "/whole/stats.txt")
  for name, options in pairs { threads = { threads = 2 }, order = { order = "shuffled:7" }, without = { stats_every = false, stats_of = false } } do
    run(name, options)
    harness.same_text(harness.read(("%s/%s/stats.txt"):format(home, name)), stats, name)
    if name ~= "without" then harness.same_text(harness.read(("%s/%s/intervals.csv"):format(home, name)), text, name) end
  end
  harness.equal(core.is_file(home .. "/without/intervals.csv"), false)
end)

harness.test("a run that was stopped within an interval and goes on, there or elsewhere, has the same intervals", function()
  run("stopped", { checkpoint_at = "7001,33333" })
  for i, cycle in ipairs { 7008, 33344 } do
    local path = ("%s/stopped/%d.ckpt"):format(home, cycle)
    local folder = ("%s/resumed%d"):format(home, i)
    ww.run { resume = path, out = folder }
    harness.same_text(harness.read(folder .. "/intervals.csv"), text, folder)
  end
  -- What was written after the checkpoint is written again.
  os.remove(home .. "/stopped/33344.ckpt")
  ww.run { resume = home .. "/stopped" }
  harness.same_text(harness.read(home .. "/stopped/intervals.csv"), text)
end)

harness.test("one that goes on with other columns begins where it goes on", function()
  local folder = home .. "/other"
  local r = ww.run { resume = home .. "/stopped/7008.ckpt", out = folder, stats_every = 50000, stats_of = "sm[*].slots_issued" }
  local other = read(folder)
  harness.equal(other[1].from, 7008)
  harness.equal(other[1].to, 50000)
  local before = rows[1]["run.warp_instructions"] + rows[2]["run.warp_instructions"]
  local counted = sum(other, "sm[*].slots_issued")
  assert(counted < r.warp_instructions - rows[1]["run.warp_instructions"] and counted > r.warp_instructions - before)
end)

harness.test("what a policy counts is a column like any other, also after a resume", function()
  local policy = harness.write("counting.lua", [[
local p = require("warpwright.policy") "counting" { doc = "Counts.", counters = { ctas = "CTAs begun.", pairs = "Twice as many." } }
function p:on_cta_start() self:count "ctas" self:count("pairs", 2) end
return p
]])
  local columns = "sm[*].counting.pairs,sm[*].ctas_finished,each:sm[*].counting.ctas"
  local r = run("counting", { policy = policy, stats_of = columns, checkpoint_at = "112000" })
  local counted, heads, written = read(home .. "/counting")
  harness.equal(table.concat(heads, " ", 4), "sm[*].counting.pairs sm[*].ctas_finished sm[0].counting.ctas sm[1].counting.ctas")
  for _, name in ipairs { "sm[*].counting.pairs", "sm[*].ctas_finished", "sm[0].counting.ctas", "sm[1].counting.ctas" } do
    harness.equal(sum(counted, name), r[name], name)
  end
  assert(counted[1]["sm[*].counting.pairs"] > 0 and counted[26]["sm[*].counting.pairs"] > 0, written)
  for _, row in ipairs(counted) do
    harness.equal(row["sm[*].counting.pairs"], 2 * (row["sm[0].counting.ctas"] + row["sm[1].counting.ctas"]))
  end
  ww.run { resume = home .. "/counting", out = home .. "/counting_on" }
  harness.same_text(harness.read(home .. "/counting_on/intervals.csv"), written)
  harness.refused("stats_of: no statistic matches 'sm[*].counting.ctsa'; did you mean sm[*].counting.ctas", "run", "gtx480", "spmv", "--size",
    "small", "--policy", policy, "--out", home .. "/refused", "--stats-every", "100", "--stats-of", "sm[*].counting.ctsa")
end)

harness.test("by launches, and by CTAs over launches", function()
  local launches = { workload = "bfs", stats_every = "1launch", stats_of = "run.thread_instructions,sm[*].ctas_finished" }
  local r = run("launches", launches)
  local found = read(home .. "/launches")
  harness.equal(#found, #r.launches)
  for i, row in ipairs(found) do
    harness.equal(row.launch, i - 1)
    harness.equal(row.to - row.from, r.launches[i].cycles)
    harness.equal(row["run.thread_instructions"], r.launches[i].thread_instructions)
    harness.equal(row["sm[*].ctas_finished"], r.launches[i].ctas)
  end
  run("ctas", { workload = "bfs", stats_every = "40ctas", stats_of = "sm[*].ctas_finished", checkpoint_at = 50000 })
  found = read(home .. "/ctas")
  for i = 1, #found - 1 do
    local ctas = found[i]["sm[*].ctas_finished"]
    assert(ctas >= 40 and ctas <= 42, ctas) -- as many as end in the quantum
  end
  harness.equal(sum(found, "sm[*].ctas_finished"), sum(read(home .. "/launches"), "sm[*].ctas_finished"))
  ww.run { resume = home .. "/ctas", out = home .. "/ctas_resumed" }
  harness.same_text(harness.read(home .. "/ctas_resumed/intervals.csv"), harness.read(home .. "/ctas/intervals.csv"))
end)

harness.test("without --stats-of the columns are those that most machines have", function()
  run("default", { stats_of = false, stats_every = "100000" })
  local _, default = read(home .. "/default")
  local all = table.concat(default, " ")
  harness.contains(all, "run.ipc", "sm[*].slots_memory", "sm[*].l1d.miss_rate", "l2[*].miss_rate", "mc[*].row_hit_rate", "sm[*].lsu.average_load_latency")
end)

harness.test("a float that is whole is a number of cycles", function()
  run("float", { stats_every = 5e3 })
  harness.same_text(harness.read(home .. "/float/intervals.csv"), text)
  local ok, problem = pcall(run, "refused", { stats_every = 0.5 })
  assert(not ok)
  harness.contains(tostring(problem), "stats_every: expected cycles, launches or CTAs")
end)

harness.test("what cannot be is refused", function()
  local function refused(wanted, ...)
    harness.refused(wanted, "run", "gtx480", "spmv", "--size", "small", "--set", "sms=2", "--out", home .. "/refused", ...)
  end
  for _, wrong in ipairs { "0", "-5", "often", "5weeks", "10,,20", "1launch,x", "3000,20000", "1cta,2ctas", "99999999999999999999" } do
    refused("stats_every: expected cycles, launches or CTAs, each once, such as 10000, 1launch or 50ctas, got", "--stats-every=" .. wrong)
  end
  refused("stats_of: expected stats_every with it, got none", "--stats-of", "run.ipc")
  refused("stats_of: no statistic matches 'sm[*].slots_isued'; did you mean sm[*].slots_issued", "--stats-every", "100", "--stats-of",
    "run.ipc,sm[*].slots_isued")
  refused("stats_of: expected names or patterns of statistics, got ''", "--stats-every", "100", "--stats-of", "")
  refused("stats_of: no statistic matches 'nothing'", "--stats-every", "100", "--stats-of", "nothing")
  refused("stats_of: sm[*].l1d.*: expected counters or ratios, got both", "--stats-every", "100", "--stats-of", "sm[*].l1d.*")
end)

harness.finish()
