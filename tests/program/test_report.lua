-- `warpwright report`: the numbers on the page are those of the run or the sweep, and nothing of them can break the page.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local json = require "warpwright.json"
local ratio = require "warpwright.sweep.ratio"
local stored_run = require "warpwright.stored_run"
local ww = require "warpwright"

local home <const> = harness.folder()
local folder <const> = home .. "/run"
local run <const> = ww.run { config = "gtx480", workload = "bfs", size = "small", set = { sms = 2 }, policy = "gto", out = folder, profile = true,
  histograms = "all", stats_every = "20000,1launch" }

local function report(path, ...)
  local status, output = harness.run("report", path, ...)
  harness.equal(status, 0, output)
  return harness.read(output:match "report +([^\n]+)\n")
end

--- What the page holds for its script.
local function data_of(page)
  return json.decode(page:match '<script type="application/json" id=data>(.-)</script>')
end

--- A table of the page by its id: rows of cells as text.
local function table_of(page, id)
  local rows, html = {}, page:match('<table id="' .. id:gsub("%p", "%%%0") .. '".-</table>')
  for row in html:gmatch "<tr>(.-)</tr>" do
    local cells = {}
    for cell in row:gmatch "<td[^>]*>(.-)</td>" do cells[#cells + 1] = cell:gsub("<[^>]*>", "") end
    if cells[1] then rows[#rows + 1] = cells end
  end
  return rows
end

local page <const> = report(folder)

harness.test("the stack, the caches, DRAM and the launches of a run are those of its statistics", function()
  local all = 0
  for _, row in ipairs(table_of(page, "stack")) do
    if row[1] ~= "all" then
      all = all + tonumber(row[2])
      harness.equal(row[2], ("%.6g"):format(run["sm[*].slots_" .. row[1]] / 4), row[1])
    else
      harness.equal(tonumber(row[2]), run.cycles)
    end
  end
  assert(math.abs(all - run.cycles) < 2, all)
  local by_launch = table_of(page, "stack-by-launch")
  harness.equal(#by_launch, #run.launches)
  for i, row in ipairs(by_launch) do
    harness.equal(tonumber(row[3]), run.launches[i].cycles)
    local percent = 0
    for c = 4, #row do percent = percent + tonumber(row[c]:match "[%d.]+") end
    assert(math.abs(percent - 100) < 0.6, percent)
  end
  for _, row in ipairs(table_of(page, "cache-table")) do
    harness.equal(tonumber(row[3]), run[row[1] .. ".accesses"], row[1])
    harness.equal(row[4], ("%.1f %%"):format(100 * run[row[1] .. ".hits"] / run[row[1] .. ".accesses"]), row[1])
  end
  local controllers = table_of(page, "dram-table")
  harness.equal(#controllers, 6)
  for _, row in ipairs(controllers) do harness.equal(tonumber(row[2]), run[row[1] .. ".reads"]) end
  local launches = table_of(page, "launch-table")
  harness.equal(#launches, #run.launches)
  for i, row in ipairs(launches) do
    harness.equal(row[2], run.launches[i].kernel)
    harness.equal(tonumber(row[4]), run.launches[i].cycles)
    harness.equal(tonumber(row[7]), run.launches[i].ctas_per_sm)
    harness.equal(row[8], run.launches[i].limited_by)
  end
end)

--- Shares of the stacks of kernels on a page: { [kernel] = { launches =, cycles =, [component] = text } }.
local function stacks_of(text)
  local columns, stacks = {}, {}
  for name in text:match('<table id="kernel%-stacks".-</thead>'):gmatch "<th[^>]*>(.-)</th>" do columns[#columns + 1] = name end
  for _, row in ipairs(table_of(text, "kernel-stacks")) do
    local stack = {}
    for c = 2, #columns do stack[columns[c]] = row[c] end
    stacks[row[1]] = stack
  end
  return stacks
end

harness.test("stacks of kernels are those of all their launches", function()
  local stack = stacks_of(page)[run.launches[1].kernel]
  harness.equal(stack.launches .. " " .. stack.cycles, ("%d %d"):format(#run.launches, run.cycles))
  for _, component in ipairs { "issued", "idle", "memory", "lsu" } do
    local share = 100 * run["sm[*].slots_" .. component] / run["sm[*].slots_*"]
    harness.equal(stack[component], ("%.1f %%"):format(share), component)
  end
  local two = home .. "/two"
  local both = ww.run { config = "gtx480", workload = "backprop", size = "small", set = { sms = 2 }, out = two, stats_every = "1launch" }
  local stacks, rows = stacks_of(report(two)), stored_run.read_intervals(two)
  harness.equal(#both.launches, 2)
  for i, launch in ipairs(both.launches) do
    local slots = 0
    for name, value in pairs(rows[i]) do slots = slots + (name:find "%.slots_" and value or 0) end
    harness.equal(tonumber(stacks[launch.kernel].cycles), rows[i].to - rows[i].from)
    harness.equal(stacks[launch.kernel].issued, ("%.1f %%"):format(100 * rows[i]["sm[*].slots_issued"] / slots), launch.kernel)
  end
end)

harness.test("kernels of one name in several modules are told apart, also in packed statistics and after a resume", function()
  local path = harness.write("one_name.lua", ([[
local w = require("warpwright").workload "one_name" { doc = "Modules with a kernel of one name.", ptx = "%s/workloads/vecadd/vecadd.ptx",
  sizes = { small = {} } }
function w:run(gpu)
  local a, kernels = gpu:alloc(4096), { self.kernels.vecadd, gpu:load(self.ptx).vecadd }
  for _, i in ipairs { 2, 1, 2 } do gpu:launch(kernels[i], { grid = i, block = 32, args = { a, a, a, 1024 } }) end
end
return w
]]):format(core.real_path "."))
  local out, options = home .. "/one_name", { config = "gtx480", workload = path, size = "small", set = { sms = 2 }, stats_every = "1launch" }
  local function check(of)
    local stacks = stacks_of(report(of))
    harness.equal(stacks["vecadd (module 2)"].launches, "2")
    harness.equal(stacks.vecadd.launches, "1")
    harness.equal(table_of(report(of), "launch-table")[3][2], "vecadd (module 2)")
  end
  for _, stats in ipairs { "all", "packed" } do
    options.stats, options.out, options.checkpoint_at = stats, out .. stats, "100"
    local r = ww.run(options)
    harness.equal(("%s %s %s"):format(r.launches[1].module, r.launches[2].module, r.launches[2].kernel), "2 nil vecadd")
    check(options.out)
  end
  ww.run { resume = out .. "packed", out = out .. "resumed" }
  check(out .. "resumed")
end)

harness.test("the stack of a machine with two kinds of SM is that of both, each component once", function()
  local config = harness.write("two_kinds.lua", [[
return require("warpwright").machine("two_kinds", function(m)
  m:clocks { core = "700MHz" }
  m:quantum(1)
  m:Dispatcher "dispatcher" { sms = 2 }
  m:AddressMap "map" { channels = 2 }
  for i, name in ipairs { "big", "little" } do
    local sm = m:SM (name, 0) { warps = 16, schedulers = 3 - i }
    local memory = m:TrafficSink ("ram", i - 1) { latency = 100 }
    m:wire(("dispatcher.sm[%d]"):format(i - 1), sm.dispatch, { latency = 8 })
    m:wire(sm.lsu.mem, memory.cpu, { latency = 4 })
  end
end)
]])
  local r = ww.run { config = config, workload = "vecadd", size = "small,n=4096", out = home .. "/two_kinds", stats_every = "1launch" }
  local made, seen = report(home .. "/two_kinds"), {}
  for _, row in ipairs(table_of(made, "stack")) do
    assert(not seen[row[1]], row[1])
    seen[row[1]] = row[1] == "all" or row[2]
  end
  local issued = (r["big[*].slots_issued"] + r["little[*].slots_issued"]) / 3
  harness.equal(seen.issued, ("%.6g"):format(issued))
  harness.equal(tonumber(table_of(made, "stack-by-launch")[1][3]), r.cycles)
end)

harness.test("launches that took no cycles are in the tables of launches, and those behind them", function()
  local workload = harness.write("several.lua", ([[
local w = require("warpwright").workload "several" { doc = "Launches with and without timing.", ptx = "%s/workloads/vecadd/vecadd.ptx",
  sizes = { small = {} } }
function w:run(gpu)
  local a = gpu:alloc(4096)
  for i, timed in ipairs { true, false, true } do
    gpu:launch(self.kernels.vecadd, { grid = i, block = 256, timed = timed, args = { a, a, a, 1024 } })
  end
end
return w
]]):format(core.real_path "."))
  local r = ww.run { config = "gtx480", workload = workload, size = "small", set = { sms = 1 }, out = home .. "/several", stats_every = "1launch" }
  local made = report(home .. "/several")
  local by_launch = table_of(made, "stack-by-launch")
  harness.equal(#by_launch, 3)
  for i, row in ipairs(by_launch) do harness.equal(tonumber(row[3]), r.launches[i].cycles) end
  harness.equal(by_launch[2][4], "-")
  harness.equal(table_of(made, "kernel-stacks")[1][2], "3")
end)

harness.test("intervals without all issue slots make no stacks of launches; the page names the missing ones", function()
  ww.run { config = "gtx480", workload = "vecadd", size = "small,n=512", set = { sms = 1 }, out = home .. "/some", stats_every = "1launch",
    stats_of = "sm[*].slots_idle" }
  local made = report(home .. "/some")
  harness.contains(made, "By kernel and by launch: expected all issue slots in intervals.csv, got no sm[*].slots_issued, ")
  assert(not made:find('id="stack-by-launch"', 1, true))
  harness.equal(#data_of(made).intervals.slots, 0)
end)

harness.test("energies of a run are those of its statistics, and those of its launches add up to them", function()
  local out = harness.folder() .. "/energies"
  local r = ww.run { config = "gtx480", workload = "bfs", size = "small", set = { sms = 2 }, energy = "fermi_40nm", stats_every = "1launch", out = out }
  local text = report(out)
  local rows, sum = table_of(text, "energy-table"), 0.0
  harness.equal(rows[1][1], "total")
  harness.equal(rows[1][2], ("%.6g"):format(r["energy.total"]))
  local by_launch = table_of(text, "energy-by-launch")
  harness.equal(#by_launch, #r.launches)
  for i, row in ipairs(by_launch) do
    harness.equal(row[2], r.launches[i].kernel)
    sum = sum + tonumber(row[4])
  end
  assert(math.abs(sum - r["energy.total"]) < 1e-4 * sum, sum)
  ww.run { config = "gtx480", workload = "bfs", size = "small", set = { sms = 2 }, energy = "fermi_40nm", stats_every = "1launch",
    stats_of = "run.ipc", out = out .. "2" }
  harness.contains(report(out .. "2"), "By launch: expected intervals that end with each launch; run it with --stats-every 1launch")
end)

harness.test("distributions are those of the run's histograms", function()
  local rows, by_name = table_of(page, "histogram-table"), {}
  for _, row in ipairs(rows) do by_name[row[1]] = row end
  local _, output = harness.run("histograms", folder)
  local compared = 0
  for count, p50, unit, name in output:gmatch "\n *(%d+) +(%d+) +%d+ +%d+ +%d+ +(%S+) +([^\n]+)" do
    local row = by_name[name]
    if row then
      compared = compared + 1
      harness.equal(("%s %s %s"):format(row[2], row[3], row[4]), ("%s %s %s"):format(unit, count, p50), name)
    end
  end
  assert(compared > 5, output)
end)

harness.test("curves have the intervals, and the machine says what its parts did", function()
  local intervals, rows = data_of(page).intervals, -1
  for line in io.lines(folder .. "/intervals.csv") do
    rows = rows + 1
    if rows > 0 then harness.equal(("%d,%d"):format(intervals.rows[rows][1], intervals.rows[rows][2]), line:match "^%d+,%d+") end
  end
  harness.equal(#intervals.rows, rows)
  harness.equal(#intervals.rows[1], 3 + #intervals.columns)
  harness.equal(#intervals.slots, 10)
  for _, place in ipairs(intervals.slots) do harness.contains(intervals.columns[place + 1], "sm[*].slots_") end
  harness.contains(page, ("issues %.1f %%"):format(100 * run["sm[*].slots_issued"] / run["sm[*].slots_*"]), "<svg", "Roofline", "lost to")
end)

harness.test("of packed statistics the page is the same but for what was not asked for, and says how to ask", function()
  local packed = home .. "/packed"
  ww.run { config = "gtx480", workload = "bfs", size = "small", set = { sms = 2 }, policy = "gto", out = packed, stats = "packed" }
  local other = report(packed, "--out", home .. "/other.html")
  for _, id in ipairs { "stack", "cache-table", "dram-table", "launch-table" } do
    local pattern = '<table id="' .. id:gsub("%p", "%%%0") .. '".-</table>'
    harness.same_text(other:match(pattern), (page:match(pattern)), id)
  end
  harness.contains(other, "run it with --stats-every 10000", "run it with --profile")
  ww.run { config = "gtx480", workload = "bfs", size = "small", set = { sms = 2 }, out = home .. "/summary", stats = "summary" }
  harness.contains(report(home .. "/summary"), "run it with --stats all or packed", "No cache was accessed")
end)

harness.test("of a sampled run the page says that it shows estimates, with their intervals and the names of kernels", function()
  local function sampled(stats)
    local r = ww.run { config = "gtx480", workload = "vecadd", size = "medium,n=5000000", out = home .. "/sampled-" .. stats, stats = stats,
      sample = "windows=3" }
    return report(r.out), r:interval "run.cycles", r.cycles
  end
  local of_all, width, cycles = sampled "all"
  assert(width > 0, "all of it was exact")
  harness.contains(of_all, "Estimated by sampling (windows=3)", ("%d +-%.3g, estimated"):format(cycles, width))
  local of_packed = sampled "packed"
  for _, section in ipairs { "summary", "launches" } do
    local function text_in(html) return html:match(('<section id="%s">.-</section>'):format(section)):gsub("<tr><td>host seconds.-</tr>", "")
      :gsub("<tr><td>date.-</tr>", "") end
    harness.same_text(text_in(of_packed), (text_in(of_all)), section)
  end
  harness.equal(table_of(of_packed, "launch-table")[1][2], "vecadd")
  harness.equal(page:find "Estimated", nil)
end)

harness.test("names from elsewhere cannot break the page", function()
  local hostile = home .. "/hostile"
  core.make_folder(hostile)
  local evil = "</script><script>alert(1)</script>&amp;\"'"
  harness.write("hostile/stats.json", harness.read(folder .. "/stats.json"):gsub('"kernel": "[^"]*"', '"kernel": "' .. evil:gsub('"', '\\"') .. '"')
    :gsub('"sm%[0%]', '"' .. "<b>" .. "sm[0]"))
  harness.write("hostile/provenance.txt", ("machine            %s\npolicy             %s\n"):format(evil, evil))
  harness.write("hostile/intervals.csv", ("from,to,launch,%s\n0,10,0,1\n"):format(evil))
  harness.write("hostile/config.lua", "error '" .. "<i>no</i>" .. "'")
  local text = report(hostile)
  assert(not text:find("alert(1)</script>", 1, true) and not text:find("<b>", 1, true) and not text:find("<i>", 1, true), "raw")
  harness.equal(data_of(text).intervals.columns[1], evil)
  harness.contains(text, "cannot be built here")
end)

harness.test("JSON and pages are UTF-8, whatever the files' names are", function()
  local policy = harness.write("lat\xe9.lua", harness.read(core.home_path "policies/gto.lua"))
  local out = home .. "/latin"
  ww.run { config = "gtx480", workload = "vecadd", size = "small", set = { sms = 2 }, policy = policy, out = out }
  local text = harness.read(out .. "/stats.json")
  assert(utf8.len(text), "stats.json")
  harness.contains(text, "lat\u{FFFD}")
  text = report(out)
  assert(utf8.len(text), "report.html")
  harness.contains(text, "lat\u{FFFD}")
  harness.equal(json.encode { "\xe9\xa0\xff", "\u{e9}\xe9" }, '[\n  "\u{FFFD}\u{FFFD}\u{FFFD}",\n  "\u{e9}\u{FFFD}"\n]\n')
end)

--- A copy of the run's folder with a file in it replaced.
local function changed(name, file, text)
  core.make_folder(home .. "/" .. name)
  for _, each in ipairs { "stats.json", "provenance.txt", "config.lua", "intervals.csv" } do
    harness.write(name .. "/" .. each, each == file and text or harness.read(folder .. "/" .. each))
  end
  return home .. "/" .. name
end

harness.test("what is damaged is named, and the rest is there", function()
  local text = report(changed("cut", "intervals.csv", "from,to,launch,run.ipc\n0,10,0\n"))
  harness.contains(text, "Its intervals.csv is damaged", 'id="cache-table"', "By kernel and by launch")
  text = report(changed("empty", "intervals.csv", "from,to,launch,run.ipc\n"))
  harness.contains(text, "run it with --stats-every 10000", 'id="cache-table"')
  for i, damaged in ipairs { '{\n  "stats": {', '{"stats": 3,\n    "a": 1}', "3", harness.read(folder .. "/stats.json"):sub(1, 5000) } do
    harness.refused("stats.json: expected statistics, got a damaged file", "report", changed("damaged" .. i, "stats.json", damaged))
  end
  local whole, folder_of = harness.read(folder .. "/stats.json"), 0
  for _, launches in ipairs { "5", "[5]", '["x"]', "[{}]", '[{"kernel": {}, "start_cycle": 0, "cycles": 1}]' } do
    folder_of = folder_of + 1
    local text_of = whole:gsub('"launches": %[.-\n  %]', '"launches": ' .. launches, 1)
    harness.refused("stats.json: expected statistics, got a damaged file", "report", changed("launches" .. folder_of, "stats.json", text_of))
  end
  harness.refused("expected the statistics of a run, got others", "report", changed("no_ipc", "stats.json", (whole:gsub("run%.ipc", "run.icp"))))
end)

harness.test("of a run without an instruction there is no roofline, and no number that is none", function()
  local text = harness.read(folder .. "/stats.json"):gsub('("run%.[%w_]*instructions"): %d+', "%1: 0"):gsub('("run%.[%w_]*ipc"): [%d.]+', "%1: 0")
  text = report(changed("idle", "stats.json", text))
  harness.contains(text, "No instruction was executed")
  assert(not text:find("[ \"-]nan[ \"%%]") and not text:find "[ \"-]inf[ \"%%]", "nan or inf")
end)

harness.test("what is no run is refused", function()
  harness.refused("report: expected the folder of a run that has ended, or of a sweep, got '", "report", home)
  harness.refused("report: expected the folder of a run or of a sweep, got nothing", "report")
  harness.refused("report: expected one RUN or SWEEP, got a second", "report", folder, folder)
  harness.refused("/nowhere/page.html", "report", folder, "--out", home .. "/nowhere/page.html")
end)

-- A sweep ----------------------------------------------------------------------------------------------------------------

local sweep <const> = home .. "/sweep"
local described <const> = harness.write("few.lua", [[
return { axes = { config = "gtx480", workload = { "spmv", "bfs" }, size = "small", sms = 2,
  ["sm[*].l1d.size"] = { "16KiB", "32KiB" }, policy = { "lrr", "gto" } } }
]])
harness.equal(harness.run("sweep", described, "--out", sweep, "--jobs", "2"), 0)
local of_sweep <const> = report(sweep)

--- Rows of a query.
local function query(sql)
  local rows = {}
  local statement = core.open_database(sweep .. "/results.sqlite", false):prepare(sql)
  for i, row in ipairs(statement:rows()) do rows[i] = row end
  return rows
end

harness.test("speed-ups of a sweep are quotients of its cycles, with their geometric mean", function()
  local rows, product = table_of(of_sweep, "speed-ups"), 1.0
  local cycles = query "SELECT cycles FROM runs ORDER BY run"
  harness.equal(#rows, 5)
  for i = 1, 4 do
    local up = cycles[2 * i - 1][1] / cycles[2 * i][1]
    harness.equal(rows[i][3], ("%.3f"):format(up), rows[i][1])
    product = product * up
  end
  harness.equal(rows[1][1], "spmv, 16KiB")
  harness.equal(rows[5][3], ("%.3f"):format(product ^ 0.25))
end)

harness.test("the compared axis and what it is compared with can be chosen", function()
  local out = harness.folder() .. "/sizes.html"
  local status, output = harness.run("report", sweep, "--compare", "sm[*].l1d.size", "--base=32KiB", "--out", out)
  harness.equal(status, 0, output)
  local text = harness.read(out)
  local rows = table_of(text, "speed-ups")
  harness.contains(text, "cycles of sm[*].l1d.size 32KiB")
  local cycles = query [[SELECT workload, policy, MAX(cycles * (size = '32KiB')), MAX(cycles * (size = '16KiB')) FROM
    (SELECT workload, policy, cycles, "sm[*].l1d.size" AS size FROM results) GROUP BY workload, policy]]
  harness.equal(#rows, #cycles + 1)
  local by_name = {}
  for _, row in ipairs(rows) do by_name[row[1]] = row end
  for _, row in ipairs(cycles) do
    local cells = by_name[("%s, %s"):format(row[1], row[2])]
    harness.equal(cells[2], "1.000")
    harness.equal(cells[3], ("%.3f"):format(row[3] / row[4]))
  end
  harness.refused("report: --compare: no axis with several values is 'sise'; available: workload, sm[*].l1d.size, policy", "report", sweep,
    "--compare", "sise")
  harness.refused("report: --base: no value is 'x'", "report", sweep, "--base", "x")
end)

--- The speed-ups of a sweep with these axes and this choice, and the page.
local function speed_ups_of(name, definition)
  local out = harness.folder() .. "/" .. name
  local status, output = harness.run("sweep", harness.write(name .. ".lua", definition), "--out", out)
  harness.equal(status, 0, output)
  status, output = harness.run("report", out)
  harness.equal(status, 0, output)
  local text = harness.read(out .. "/report.html")
  return table_of(text, "speed-ups"), text
end

harness.test("the speed-ups alone are a table, CSV, JSON or bars, on standard output or in a file", function()
  local cycles, csv = query "SELECT cycles FROM runs ORDER BY run", { "workload,sm[*].l1d.size,lrr,gto\n" }
  local rows, logarithms = { "spmv, 16KiB", "spmv, 32KiB", "bfs, 16KiB", "bfs, 32KiB" }, 0.0
  for i, name in ipairs(rows) do
    local up = cycles[2 * i - 1][1] / cycles[2 * i][1]
    csv[i + 1], logarithms = ('%s,1,%.17g\n'):format((name:gsub(", ", ",")), up), logarithms + math.log(up)
  end
  local mean = math.exp(logarithms / 4)
  csv[6] = ("geometric mean,,1,%.17g\n"):format(mean)
  local status, output = harness.run("report", sweep, "--csv")
  harness.equal(status, 0, output)
  harness.same_text(output, table.concat(csv))
  local out = home .. "/speed_ups.json"
  harness.equal(harness.run("report", sweep, "--json", "--out", out), 0)
  local first = json.decode(harness.read(out))[1]
  harness.equal(first.gto, cycles[1][1] / cycles[2][1])
  harness.equal(first.workload .. first["sm[*].l1d.size"], "spmv16KiB")
  local _, text = harness.run("report", sweep, "--table", "--base", "gto")
  harness.contains(text, "cycles of policy gto, over those of each other\n\nworkload, sm[*].l1d.size  gto    lrr\n",
    ("\nspmv, 16KiB               1.000  %.3f\n"):format(cycles[2][1] / cycles[1][1]))
  local _, tabular = harness.run("report", sweep, "--latex", "--base", "gto")
  harness.contains(tabular, "% cycles of policy gto, over those of each other\n\\begin{tabular}{lrr}\n\\hline\n"
    .. "workload, sm[*].l1d.size & gto & lrr \\\\\n\\hline\n",
    ("\nspmv, 16KiB & $1.000$ & $%.3f$ \\\\\n"):format(cycles[2][1] / cycles[1][1]),
    ("\n\\hline\ngeometric mean & $1.000$ & $%.3f$ \\\\\n\\hline\n\\end{tabular}\n"):format(1 / mean))
  local _, picture = harness.run("report", sweep, "--svg")
  harness.contains(picture, "<svg ", "</svg>\n", ">policy gto</text>", ">speed-up over lrr</text>", ">bfs, 32KiB</text>")
  local lengths = {}
  for width in picture:gmatch '<rect x="[%d%.]+" y="[%d%.]+" width="([%d%.]+)"' do lengths[#lengths + 1] = tonumber(width) end
  harness.equal(#lengths, 5, "bars")
  for i, name in ipairs(rows) do
    local wanted = lengths[5] * cycles[2 * i - 1][1] / cycles[2 * i][1] / mean
    assert(math.abs(lengths[i] - wanted) < 0.2, name)
  end
end)

harness.test("speed-ups over seeds say as CSV and as bars of how many, and their intervals", function()
  speed_ups_of("few_seeds", [[return { axes = { config = "gtx480", workload = "spmv", size = "small", sms = 2, seed = { 1, 2 },
    policy = { "gto", "lrr" } } }]])
  local cycles = core.open_database(home .. "/few_seeds/results.sqlite", false):prepare("SELECT cycles FROM runs ORDER BY run"):rows()
  local up = ratio.over_seeds { { value = cycles[1][1] / cycles[2][1] }, { value = cycles[3][1] / cycles[4][1] } }
  local _, output = harness.run("report", home .. "/few_seeds", "--csv")
  harness.contains(output, ("runs,seeds,gto,gto +-,lrr,lrr +-\nall,2,1,,%.17g,%.17g\ngeometric mean,,"):format(up.value, up.half_width))
  local _, tabular = harness.run("report", home .. "/few_seeds", "--latex")
  harness.contains(tabular, ("\nall, 2 seeds & $1.000$ & $%.3f \\pm %.3f$%s \\\\\n"):format(up.value, up.half_width,
    ratio.is_significant(up) and "" or "~$\\sim$"))
  local _, picture = harness.run("report", home .. "/few_seeds", "--svg")
  harness.contains(picture, (">%.3f +-%.3f"):format(up.value, up.half_width), ">all, 2 seeds</text>")
end)

harness.test("speed-ups alone are refused of a run, and where nothing can be compared", function()
  harness.refused(("report: --svg: expected the folder of a sweep, got %s"):format(folder), "report", folder, "--svg")
  local one = home .. "/one"
  local description = harness.write("one.lua", [[return { axes = { config = "gtx480", workload = "vecadd", size = "small,n=1000" } }]])
  harness.equal(harness.run("sweep", description, "--out", one), 0)
  harness.refused(("report: %s: expected runs that can be compared, got none"):format(one), "report", one, "--csv")
end)

harness.test("means of speed-ups are over the rows that have all of them", function()
  local rows = speed_ups_of("part", [[return { axes = { config = "gtx480", workload = { "vecadd", "fast_walsh" }, size = "small",
    policy = { "gto", "lrr", "ccws" } },
    keep = function(p) return p.workload == "vecadd" or p.policy ~= "ccws" end }]])
  harness.equal(rows[3][1], "geometric mean, 1 of 2 rows")
  for column = 2, 4 do harness.equal(rows[3][column], rows[1][column]) end
end)

harness.test("speed-ups over several seeds are one row with an interval, which the mean has, too", function()
  local rows, text = speed_ups_of("seeds", [[return { axes = { config = "gtx480", workload = { "spmv", "vecadd" }, size = "small", sms = 2,
    seed = { 1, 2, 3 }, policy = { "gto", "lrr" } } }]])
  harness.contains(text, "+- is half of a 95% interval, ~ not significant: 1 lies in it")
  harness.equal(#rows, 3)
  harness.equal(rows[1][1], "spmv, 3 seeds")
  harness.equal(rows[2][1], "vecadd, 3 seeds, all alike")
  local quotients = {}
  local cycles = core.open_database(home .. "/seeds/results.sqlite", false):prepare("SELECT cycles FROM runs WHERE workload = 'spmv' ORDER BY run"):rows()
  for i = 1, 3 do quotients[i] = { value = cycles[2 * i - 1][1] / cycles[2 * i][1] } end
  local wanted = ratio.over_seeds(quotients)
  harness.equal(rows[1][3], ("%.3f +-%.3f"):format(wanted.value, wanted.half_width))
  local other, mean = tonumber(rows[2][3]:match "^%S+"), rows[3][3]
  harness.equal(rows[1][2], "1.000")
  local value, half_width = mean:match "^(%S+) %+%-(%S+)$"
  assert(math.abs(value - math.sqrt(wanted.value * other)) < 0.002, mean)
  assert(math.abs(half_width - value * wanted.half_width / wanted.value / 2) < 0.002, mean)
end)

harness.test("where core clocks differ, speed-ups are of simulated time", function()
  local rows, text = speed_ups_of("clocks", [[return { axes = { config = "gtx480", workload = "vecadd", size = "small", policy = "gto",
    ["clock.core"] = { "350MHz", "700MHz" }, quantum = 7 } }]])
  harness.contains(text, "simulated seconds of clock.core 350MHz")
  local up = tonumber(rows[1][3])
  assert(up > 1 and up < 2, up)
end)

harness.test("where a policy changes the core clock, speed-ups are of simulated time", function()
  local slow = harness.write("slow.lua", [[
local slow = require "warpwright.policy" "slow" { doc = "Halves the core clock", scope = "machine", period = 1000 }
function slow:configure(class, path)
  if class == "clock" and path == "core" then return { frequency = "700MHz, 350MHz to 700MHz" } end
end
function slow:on_period() self:set_clock("core", "350MHz") end
return slow]])
  local rows, text = speed_ups_of("moving_clock", ([[return { axes = { config = "gtx480", workload = "vecadd", size = "small", sms = 2,
    policy = { "gto", "lrr", %q } } }]]):format(slow))
  harness.contains(text, "simulated seconds of policy gto")
  local file = core.open_database(home .. "/moving_clock/results.sqlite", false)
  local seconds = file:prepare("SELECT value FROM stats WHERE name = 'run.seconds' ORDER BY run"):rows()
  local cycles = file:prepare("SELECT cycles FROM runs ORDER BY run"):rows()
  for i = 2, 3 do harness.equal(rows[1][i + 1], ("%.3f"):format(seconds[1][1] / seconds[i][1])) end
  assert(seconds[3][1] / seconds[1][1] > 1.5 * cycles[3][1] / cycles[1][1], "the clock was not changed")
  file:close()
end)

harness.test("a policy that fails everywhere has no mean, and the others have theirs", function()
  local fails = harness.write("fails.lua", [[
local fails = require "warpwright.policy" "fails" { doc = "Fails late", scope = "machine", period = 1000 }
function fails:on_period() error "no" end
return fails]])
  local out = home .. "/one_fails"
  harness.equal(harness.run("sweep", harness.write("one_fails.lua", ([[return { axes = { config = "gtx480",
    workload = { "vecadd", "transpose" }, size = "small", sms = 2, policy = { "gto", "lrr", %q } } }]]):format(fails)), "--out", out), 1)
  local _, output = harness.run("report", out, "--table")
  harness.contains(output, "\ngeometric mean  ")
  assert(output:match "\ngeometric mean +1.000 +%d%.%d+ +-\n$", output)
end)

harness.test("all runs and their figures are those of the database", function()
  local rows, data = table_of(of_sweep, "runs"), data_of(of_sweep).sweep
  local wanted = query [[SELECT runs.run, cycles, (SELECT SUM(value * whole) / SUM(whole) FROM counts JOIN names USING (name_id)
    WHERE pattern = 'sm[*].l1d.miss_rate' AND counts.run = runs.run) FROM runs ORDER BY run]]
  harness.equal(#rows, #wanted)
  for i, row in ipairs(wanted) do
    harness.equal(tonumber(rows[i][1]), row[1])
    harness.equal(data.runs[i].cycles, row[2])
    assert(math.abs(data.runs[i]["sm[*].l1d.miss_rate"] - row[3]) < 1e-8)
  end
  harness.equal(table.concat(data.axes, " "), "workload sm[*].l1d.size policy")
end)

harness.test("of a sweep with sampled runs the page says so, and which runs are estimated", function()
  local file, out = harness.write("sampled.lua", [[
    return { axes = { config = "gtx480", workload = "vecadd", size = { "medium,n=5000000", "small" }, sample = "windows=3" } }
  ]]), home .. "/sampled-sweep"
  harness.equal(harness.run("sweep", file, "--out", out, "--jobs", "2"), 0)
  local text = report(out)
  harness.contains(text, "Estimated by sampling: the figures of 1 of these runs", ">cycles +-</th>")
  local rows = table_of(text, "runs")
  local first, second = rows[1], rows[2]
  harness.equal(#first, #second)
  assert(tonumber(first[#first - 1]) > 0, first[#first - 1])
  harness.equal(second[#second - 1], "")
  assert(not of_sweep:find("Estimated", 1, true) and not of_sweep:find("+-", 1, true), "exact runs")
end)

-- In a browser -----------------------------------------------------------------------------------------------------------

local has_browser <const> = os.execute "command -v chromium >/dev/null 2>&1"

--- The page as the browser has made it, and what it said on its console.
local function in_browser(file)
  local command = ("HOME='%s' chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=4000 --enable-logging=stderr --dump-dom 'file://%s' 2>'%s'"):format(
    home, file, home .. "/browser.txt")
  local pipe = assert(io.popen(command))
  local dom = pipe:read "a"
  pipe:close()
  local said = {}
  for line in harness.read(home .. "/browser.txt"):gmatch "[^\n]+" do
    if line:find("CONSOLE", 1, true) then said[#said + 1] = line end
  end
  return dom, table.concat(said, "\n")
end

harness.test("a page that cannot be written whole is an error, and a device stays one", function()
  local full = home .. "/full"
  assert(os.execute(("ln -s /dev/full '%s'"):format(full)))
  harness.refused(("report: --out: %s: expected a file that can be written, got: No space left on device"):format(full), "report", folder,
    "--out", full)
  assert(os.execute(("test -c '%s'"):format(full)), "it was replaced")
end)

harness.test("a page takes the place of no result of a run or a sweep", function()
  for path, file in pairs { [folder] = "stats.json", [sweep] = "results.sqlite" } do
    local before = harness.read(("%s/%s"):format(path, file))
    harness.refused(("report: --out: expected a name that no file of a run or a sweep has, got '%s/%s'"):format(path, file), "report", path, "--out",
      ("%s/%s"):format(path, file))
    assert(harness.read(("%s/%s"):format(path, file)) == before, file)
  end
  report(folder, "--out", home .. "/stats.json") -- where no result is
end)

harness.test("in a browser the script draws all of it without an error, and the map has the database's means", function()
  if not has_browser then harness.skip "no chromium" end
  local dom, said = in_browser(folder .. "/report.html")
  harness.equal(said, "")
  harness.contains(dom, "where the issue slots went", "run.ipc - cycles 0 to " .. run.cycles)
  dom, said = in_browser(sweep .. "/report.html")
  harness.equal(said, "")
  for _, row in ipairs(query "SELECT CAST(ROUND(AVG(cycles)) AS INTEGER) FROM runs GROUP BY workload, policy") do
    assert(dom:find(('<td class="number"[^>]*>%d</td>'):format(row[1])), row[1])
  end
  harness.contains(dom, "<circle", 'title="sort"')
end)

--- A copy of a page in which a script has done something, as the browser has made it.
local function after(file, script)
  local text = harness.read(file)
  return in_browser(harness.write("clicked.html", text .. "<script>" .. script .. "</script>\n"))
end

harness.test("in a browser a table is sorted by sizes and numbers, cells without a value last, and filtered by words", function()
  if not has_browser then harness.skip "no chromium" end
  local text = [[<table class=sortable><thead><tr><th>size</thead><tbody><tr><td>128KiB<tr><td><tr><td>1MiB<tr><td>16KiB<tr><td>900B<tr><td>auto</tbody></table>]]
  local short = harness.write("short.html", (of_sweep:gsub('<section id="all%-runs">.-</section>', function() return text end)))
  local function order(clicks)
    local dom, said = after(short, ("const b = document.querySelector('th button');") .. ("b.click();"):rep(clicks))
    harness.equal(said, "")
    local found = {}
    for cell in dom:match('<table class="sortable".-</table>'):gmatch "<td>(.-)</td>" do found[#found + 1] = cell:match "%S+" or "none" end
    return table.concat(found, " ")
  end
  harness.equal(order(1), "900B 16KiB 128KiB 1MiB auto none")
  harness.equal(order(2), "1MiB 128KiB 16KiB 900B auto none")
  local dom = after(sweep .. "/report.html", "const f = document.querySelector('input'); f.value = 'SPMV gto'; f.dispatchEvent(new Event('input'));")
  local shown = 0
  for row in dom:match('<table id="runs".-</table>'):match("<tbody>.*"):gmatch "<tr>(.-)</tr>" do
    shown = shown + 1
    harness.contains(row, "spmv", "gto")
  end
  harness.equal(shown, 2)
end)

harness.finish()
