-- warpwright stats: the names that it lists are those of a run, and those that the options take.
local harness = require "tests.lib.harness"
local ww = require "warpwright"

--- The names under a title that begins with this.
local function listed(text, title)
  local found, is_below = {}, false
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    if line:find "^%S.*: " and not line:find "  " then
      is_below = line:find(title, 1, true) == 1
    elseif is_below and line ~= "" and not line:find "^name " then
      found[#found + 1] = line:match "^%S+"
    end
  end
  assert(found[1], title .. " has no names")
  return found
end

local function joined(...)
  local all = {}
  for _, list in ipairs { ... } do table.move(list, 1, #list, #all + 1, all) end
  table.sort(all)
  return table.concat(all, "\n")
end

local function stats(...)
  local status, text = harness.run("stats", ...)
  harness.equal(status, 0, text)
  return text
end

local text <const> = stats("gtx480", "--set", "sms=2", "--policy", "mascar")
local over_time <const>, whole <const> = listed(text, "statistics:"), listed(text, "of whole runs:")
local energies <const>, histograms <const> = listed(text, "energies:"), listed(text, "histograms:")
table.move(energies, 1, #energies, #over_time + 1, over_time)

local out <const> = harness.folder() .. "/run"
local r <const> = ww.run { config = "gtx480", workload = "vecadd", size = "small", set = { sms = 2 }, policy = "mascar", energy = "fermi_40nm",
  stats_every = "1launch", stats_of = over_time, histograms = histograms, out = out }

harness.test("stats lists the statistics of a run with its policy and its energies, each pattern once", function()
  local patterns, seen = {}, {}
  for name in r:stats() do
    local pattern = name:gsub("%[%d+%]", "[*]")
    if not seen[pattern] then patterns[#patterns + 1] = pattern end
    seen[pattern] = true
  end
  harness.same_text(joined(over_time, whole), joined(patterns))
  harness.contains(text, "sm[*].mascar.owners ")
end)

harness.test("each name under --stats-of can be a column, and those of whole runs cannot", function()
  local head = harness.read(out .. "/intervals.csv"):match "^[^\n]*"
  harness.equal(head, "from,to,launch," .. table.concat(over_time, ","))
  for _, name in ipairs(whole) do
    harness.refused("no statistic matches", "run", "gtx480", "vecadd", "--size", "small", "--set", "sms=2", "--stats-every", "1launch", "--stats-of", name,
      "--out", harness.folder() .. "/refused")
  end
end)

harness.test("what a run counts under --histograms all is among the histograms that are listed", function()
  local known = {}
  for _, name in ipairs(histograms) do known[name] = true end
  local all = ww.run { config = "gtx480", workload = "vecadd", size = "small", set = { sms = 2 }, histograms = "all", out = false }.histograms
  for _, one in ipairs(all) do assert(known[one.name], one.name) end
end)

harness.test("a pattern, or a part of a name, chooses; units and descriptions stand beside", function()
  harness.equal(stats("gtx480", "mc[3].row_hit_rate", "average_load_lat"), [[
statistics: --stats-of, warpwright query, scripts
name                            unit
sm[*].lsu.average_load_latency  cycles    First access to last answer, in core cycles
mc[*].row_hit_rate              fraction  Served requests that found their row open
]])
end)

harness.test("what matches nothing is refused, with names that are near", function()
  harness.refused("stats: no name matches 'mc[*].row_hut_rate'; did you mean mc[*].row_hit_rate", "stats", "gtx480", "run.ipc", "mc[*].row_hut_rate")
  harness.refused("stats: mc[.reads: expected indices as [3], [*] or [0..3], got '[.reads'", "stats", "gtx480", "mc[.reads")
  harness.refused("stats: expected CONFIG, got nothing; see warpwright stats --help", "stats", "--policy", "gto")
end)

harness.finish()
