-- Mistakes in the description of a sweep are found before its first run, with the file, and the line where it is certain.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

local HEAD <const> = [[
return {
  axes = {
    config = "gtx480", workload = "vecadd", size = "small",
    sms = 2,
]]

--- What stands behind HEAD, from line 5 on, and what is said behind the file's name.
local wrong <const> = {
  { '["sm[*].l1d.sise"] = { "16KiB", "32KiB" } } }', ":5: set: no object or parameter matches 'sm[*].l1d.sise' on machine gtx480; did you mean sm[*].l1d.size" },
  { '["sm[*].l1d.size"] = {\n"16KiB",\n"lots" } } }', ":7: sm[*].l1d.size = lots: set: sm[0].l1d.size: expected bytes" },
  { '["sm[*].l1d.latency"] = { 30, 0 },\npolicy = { "gto", "lrr" } } }', ":5: sm[*].l1d.latency = 0: set: sm[0].l1d.latency: expected 1 to 1024 (cycles), got 0" },
  { 'policy = { "gto",\n"gtoo" } } }', ":6: policy: no policy matches 'gtoo'; did you mean gto?" },
  { 'policy = {\n{ "swl", limit = { 2, 0 } } } } }', ":5: policy swl: limit: expected a whole number from 1 to 64, got '0'" },
  { 'policy = { "swl", limt = 2 } } }', ":5: policy swl: no parameter matches 'limt'; did you mean limit?" },
  { 'seed = { 1, "x" } } }', ":5: size of workload vecadd: seed: expected a whole number, got 'x'" },
  { 'memory = "5XB" } }', ":5: memory = 5XB: expected bytes" },
  { 'max_cycles = { 1000, "many" } } }', ":5: max_cycles: expected 1 cycle or more, got 'many'" },
  { 'max_cycles = { 1000, 0 } } }', ":5: max_cycles: expected 1 cycle or more, got 0" },
  { 'bounds = "wide" } }', ":5: bounds: expected" },
  { 'energy = "fermi" } }', ":5: energy: no technology matches 'fermi'; available: fermi_40nm" },
  { 'sample = { "error=3%", "errors=3%" } } }', ":5: sample: expected error=3%" },
  { 'fast_forward = { "launch=2", "lunch=2" } } }', ":5: fast_forward: expected launch=N" },
  { 'polic = { "gto",\n"lrr" } } }', ":5: axes: no axis matches 'polic'; did you mean policy?" },
  { 'seeds = { 1, 2 } } }', ":5: axes: no axis matches 'seeds'; did you mean seed?" },
  { 'seeds = { 1, 2 },\npolic = "gto" } }', ":5: axes: no axis matches 'seeds'; did you mean seed?" },
  { 'policy = { "gto", "lrr",\n"gto" } } }', ": axes: policy: expected different values, got 'gto' twice" },
  { '}, warm_up = { cycles = 10, policy = "gtoo" } }', ":5: policy: no policy matches 'gtoo'" },
  { '}, warm_up = { cycles = 10, policy = 3 } }', ": warm_up.policy: expected the name of a policy, got 3" },
  { '},\nstats_every = 1000,\nstats_of = "sm[*].nothing" }', ":7: stats_of: no statistic matches 'sm[*].nothing'" },
  { '},\nhistograms = "nothing" }', ":6: histograms: no histogram matches 'nothing'" },
  { '},\nhistograms = 3 }', ": histograms: expected all, or names and patterns of histograms, got 3" },
  { '},\nstats_every = "often" }', ": stats_every: expected" },
  { 'sample = "error=3%" }, warm_up = { cycles = 10 } }', ": warm_up: expected runs without sample, got one with it" },
  { 'fast_forward = "launch=1" }, warm_up = { cycles = 10 } }', ": warm_up: expected runs without fast_forward, got one with it" },
  { '}, keep = 3 }', ": keep: expected a function of a point, got 3" },
  { '}, runs = 3 }', ": runs: expected a list of runs, { { config =, workload = ... } ... }, got 3" },
  { '}, runs = { config = "gtx480", workload = "spmv" } }', ": runs: expected a list of runs, { { config =, workload = ... } ... }, got the key 'config'" },
  { '}, name = 3 }', ": name: expected a text, got 3" },
  { '}, runs = { 3 } }', ": runs[1]: expected a table of axes, got 3" },
  { '}, runs = { { config = "gtx480",\nworkload = "spmw" } } }', ":6: workload: no workload matches 'spmw'; did you mean spmv?" },
}

for i, case in ipairs(wrong) do
  harness.test(("before the first run: %s"):format(case[2]), function()
    local file, folder = harness.write(("wrong%d.lua"):format(i), HEAD .. case[1]), ("%s/out%d"):format(harness.folder(), i)
    harness.refused(("error: %s%s"):format(file, case[2]), "sweep", file, "--out", folder)
    harness.refused(("error: %s%s"):format(file, case[2]), "sweep", file, "--out", folder, "--dry-run")
    harness.equal(core.real_path(folder), nil, "the folder")
  end)
end

harness.test("a refused sweep leaves a folder that was there, and what is in it", function()
  local file, folder = harness.write("wrong.lua", HEAD .. '} , keep = 3 }'), harness.folder() .. "/there"
  core.make_folder(folder)
  harness.refused("keep: expected a function", "sweep", file, "--out", folder)
  file = harness.write("gtoo.lua", HEAD .. 'policy = "gtoo" } }')
  harness.refused("no policy matches 'gtoo'", "sweep", file, "--out", folder)
  harness.equal(core.real_path(folder) ~= nil, true, "the folder")
end)

harness.test("a file that ends the program is refused at the line that does it", function()
  local file = harness.write("ends.lua", 'local x = 3\nif x > 2 then os.exit() end\nreturn {}')
  harness.refused(("error: %s:2: os.exit: expected a file that returns a sweep"):format(file), "sweep", file)
end)

harness.test("a keep that ends the program is refused at the line that does it, in a file and in a script", function()
  local sweep = [[{ axes = { config = "gtx480", workload = "vecadd" },%s
    keep = function() os.exit(0) end }]]
  local file = harness.write("keep_ends.lua", "return " .. sweep:format "")
  harness.refused(("error: %s:2: os.exit: expected the function's result, got the end of the program"):format(file), "sweep", file)
  local script = harness.write("keep_ends_script.lua", ('require "warpwright".sweep ' .. sweep):format(' out = "kept",'))
  harness.refused(("error: %s:2: os.exit: expected the function's result"):format(script), script)
end)

harness.test("values that are wrong only beside others fail their runs, and the others go on", function()
  local file = harness.write("beside.lua", HEAD .. [==[ ["sm[*].l1d.size"] = { "16KiB", "12KiB" }, ["sm[*].l1d.ways"] = { 4, 3 } },
    keep = function(p) return p["sm[*].l1d.size"] ~= "12KiB" or p["sm[*].l1d.ways"] == 3 end }]==])
  local status, output = harness.run("sweep", file, "--out", harness.folder() .. "/beside")
  harness.equal(status, 1, output)
  harness.contains(output, "3 runs: 2 done, 1 failed", "size=16KiB sm[*].l1d.ways=3 sms=2: ")
end)

harness.test("a value that is wrong on one of several machines fails its runs there, and one that is wrong on all is refused", function()
  local function sweep(name, machine, rest)
    local axes = 'return { axes = { config = { "%s", "gtx480" }, workload = "vecadd", size = "small", %s'
    return "sweep", harness.write(name .. ".lua", axes:format(machine, rest)), "--out", ("%s/%s"):format(harness.folder(), name)
  end
  for _, case in ipairs {
    { "4 runs: 3 done, 1 failed", "policies", "gallery/no_l1", 'policy = { "lrr", "ccws" } } }' },
    { "2 runs: 1 done, 1 failed", "statistics", "gallery/no_l1", '}, stats_every = 10000, stats_of = "sm[*].l1d.misses" }' },
    { "2 runs: 1 done, 1 failed", "histograms", "gallery/bus", '}, histograms = "xbar.input_queue" }' },
  } do
    local status, output = harness.run(sweep(table.unpack(case, 2)))
    harness.equal(status, 1, output)
    harness.contains(output, case[1], case[3] .. " vecadd small")
  end
  harness.refused("policy swl: limit: expected a whole number from 1 to 64, got '99'",
    sweep("on_all", "gallery/no_l1", 'policy = { "lrr", "swl:limit=99" } } }'))
end)

harness.test("a path that is none from the current folder, and one beside the file that has it, is refused with both", function()
  harness.write("beside.lua", "return 3\n")
  local hint = "no file matches './beside.lua'; paths are from the current folder, and there is " .. harness.folder() .. "/beside.lua\n"
  for axis, what in pairs { config = "config", policy = "policy" } do
    local axes = { config = "gtx480", workload = "vecadd", policy = "gto" }
    axes[axis] = "./beside.lua"
    local text = ('return { axes = { config = %q, workload = %q, policy = %q } }'):format(axes.config, axes.workload, axes.policy)
    harness.refused(("named.lua:1: %s: %s"):format(what, hint), "sweep", harness.write("named.lua", text), "--out", harness.folder() .. "/named")
  end
  harness.refused("script.lua:1: config: " .. hint,
    harness.write("script.lua", 'require("warpwright").run { config = "./beside.lua", workload = "vecadd", out = false }'))
end)

harness.test("a script's sweep is refused before its first run, too", function()
  local script = harness.write("script.lua", ([[
    for _ in require("warpwright").sweep { out = "%s/script", axes = { config = "gtx480", workload = "vecadd", ["sm[*].l1d.sise"] = 3 } } do
      print "a run"
    end
  ]]):format(harness.folder()))
  local output = harness.refused("ww.sweep: set: no object or parameter matches 'sm[*].l1d.sise'", script)
  assert(not output:find "a run", output)
end)

harness.finish()
