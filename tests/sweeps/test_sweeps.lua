-- Sweeps: which runs a file means; what is there is not run again, whatever killed it; the database is that of the runs.
local ww = require "warpwright"
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local literal = require "warpwright.literal"
local plan = require "warpwright.sweep.plan"
local processes = require "warpwright.processes"
local ratio = require "warpwright.sweep.ratio"

local program <const> = arg[-1]

local sweep_text <const> = [[
return {
  axes = {
    config = "gtx480", workload = { "vecadd", "spmv" }, size = "small", policy = { "lrr", { "swl", limit = { 2, 4 } } },
    sms = 2,
  },
}
]]

local count = 0

--- A new folder, and a file beside it with the text of a sweep.
local function prepare(text)
  count = count + 1
  return harness.write(("sweep%d.lua"):format(count), text), ("%s/out%d"):format(harness.folder(), count)
end

local function sweep(file, folder, ...)
  local status, output = harness.run("sweep", file, "--out", folder, "--jobs", "2", ...)
  return status, output
end

local function query(folder, ...)
  local status, output = harness.run("query", folder, "--csv", ...)
  harness.equal(status, 0, output)
  return output
end

local function points(description)
  local texts = {}
  for i, entry in ipairs(plan.new("test", description).runs) do
    local run = entry.run
    texts[i] = ("%s %s %s %s %s"):format(run.workload, run.size or "-", run.policy or "-", table.concat(run.set or {}, " "),
      run.repetition or 1)
  end
  return table.concat(texts, "; ")
end

-- Labels --------------------------------------------------------------------------------------------------------------------------

harness.test("labels stand for values in the database, tables and reports, and make no run again", function()
  local text <const> = [[return { axes = { config = "gtx480", workload = "vecadd", size = "small", sms = { 1, 2 }, policy = { "gto", "swl:limit=4" } },
    labels = { policy = { ["swl:limit=4"] = "%s" }, sms = { [2] = "two" }, workload = { vecadd = "VA" } } }]]
  local file, folder = prepare(text:format "SWL-4")
  local status, output = sweep(file, folder)
  harness.equal(status, 0, output)
  harness.contains(output, "SWL-4 ")
  harness.contains(query(folder, "--select", "workload, sms, policy, status"), "VA,1,gto,done\n", "VA,two,SWL-4,done\n")
  local _, report = harness.run("report", folder, "--compare", "policy", "--base", "SWL-4", "--csv")
  harness.contains(report, "SWL-4")
  harness.write(file:match "[^/]*$", text:format "four")
  status, output = sweep(file, folder)
  harness.equal(status, 0, output)
  assert(not output:find "left%]", output)
  harness.contains(query(folder, "--select", "policy", "--where", "sms = 'two'"), "gto\n", "four\n")
  local before = harness.read(folder .. "/results.sqlite")
  harness.run("sweep", "--collect", folder)
  assert(harness.read(folder .. "/results.sqlite") == before, "another database, collected")
end)

harness.test("labels are of values that are there, and differ", function()
  for labels, wanted in pairs {
    ["3"] = "labels: expected labels by axis and value, got 3",
    ["{ polic = { gto = 'A' } }"] = "labels: expected an axis of the sweep, got 'polic'",
    ["{ policy = 'A' }"] = "labels: policy: expected labels by value, got 'A'",
    ["{ policy = { gtoo = 'A' } }"] = "labels: policy: no value is 'gtoo'; did you mean gto?",
    ["{ policy = { gto = 3 } }"] = "labels: policy: gto: expected a text, got 3",
    ["{ policy = { gto = 'lrr' } }"] = "labels: policy: expected different labels, got 'lrr' for 'gto' and 'lrr'",
  } do
    local file, folder = prepare(([[return { axes = { config = "gtx480", workload = "vecadd", policy = { "gto", "lrr" } }, labels = %s }]]):format(labels))
    harness.refused(wanted, "sweep", file, "--out", folder)
  end
end)

-- Plans ---------------------------------------------------------------------------------------------------------------------------

harness.test("axes are combined in every way, policies fastest", function()
  harness.equal(points { axes = { config = "m", workload = { "a", "b" }, policy = { "x", "y" } } },
    "a - x  1; a - y  1; b - x  1; b - y  1")
end)

harness.test("a policy's parameters are an axis, the seed is a parameter of the size, other names are settings", function()
  harness.equal(points { axes = { config = "m", workload = "a", policy = { "swl", limit = { 1, 2 }, mode = "x" } } },
    "a - swl:limit=1,mode=x  1; a - swl:limit=2,mode=x  1")
  harness.equal(points { axes = { config = "m", workload = "a", seed = { 3, 4 }, ["l2[*].size"] = "1MiB" } },
    "a medium,seed=3 - l2[*].size=1MiB 1; a medium,seed=4 - l2[*].size=1MiB 1")
end)

harness.test("an axis may have the value false", function()
  local path <const> = "sm[*].l1d.enabled"
  harness.equal(points { axes = { config = "m", workload = "a", [path] = { false, true } },
    runs = { { config = "m", workload = "b", [path] = false } } },
    "a - - sm[*].l1d.enabled=false 1; a - - sm[*].l1d.enabled=true 1; b - - sm[*].l1d.enabled=false 1")
  local described, folder = prepare [[return { axes = { config = "gtx480", workload = "vecadd", size = "small,n=1000", sms = 1,
    ["sm[*].l1d.enabled"] = { false, true } } }]]
  local status, output = harness.run("sweep", described, "--out", folder)
  harness.equal(status, 0, output)
  harness.contains(output, "  1  false  ", "  2  true  ")
end)

harness.test("keep leaves out points, runs add some, repetitions repeat each", function()
  harness.equal(points {
    axes = { config = "m", workload = { "a", "b" }, policy = { "x", "y" } },
    keep = function(point) return point.workload == "a" or point.policy == "y" end,
    runs = { { config = "m", workload = "c", policy = "y" } }, repetitions = 2,
  }, "a - x  1; a - x  2; a - y  1; a - y  2; b - y  1; b - y  2; c - y  1; c - y  2")
end)

harness.test("whole numbers may be written as floats, and mean the same runs", function()
  local function run_of(number)
    return plan.new("test", { axes = { config = "m", workload = "a", max_cycles = { number } }, warm_up = { cycles = number }, repetitions = number })
  end
  harness.equal(literal(run_of(2.0)), literal(run_of(2)))
  harness.equal(ww.run({ config = "gtx480", workload = "vecadd", size = "small", max_cycles = 1e9, out = false }).checks > 0, true)
end)

harness.test("what is wrong with a plan is said with its place and what is legal", function()
  local wrong = {
    [{ axes = { workload = "a" } }] = "test: config: expected a name or a path, got nil",
    [{ axes = { config = "m", workload = {} } }] = "test: axes: workload: expected one value or more, got none",
    [{ axes = { config = "m", workload = { {} } } }] = "test: axes: workload: expected one value or more, got none",
    [{ axes = { config = "m", workload = { nil, "a" } } }] = "test: axes: workload[1]: expected a value, got nil",
    [{ axes = { config = "m", workload = { of = "a" } } }] = "test: axes: workload: expected a value or a list of values, got the key 'of'",
    [{ axes = { config = "m", workload = "a", policy = { "x", nil, "y" } } }] = "test: axes: policy[2]: expected a value, got nil",
    [{ axes = { config = "m", workload = "a", policy = { "x", { "swl", limit = {} } } } }] =
      "test: axes: policy: limit: expected one value or more, got none",
    [{ runs = { { config = "m", workload = "a" }, nil, { config = "m", workload = "b" } } }] = "test: runs[2]: expected a value, got nil",
    [{ runs = {} }] = "test: runs: expected one value or more, got none",
    [{ axis = {} }] = "test: no field matches 'axis'; did you mean axes?",
    [{ axes = { config = "m", workload = "a" }, repetitions = 0 }] = "test: repetitions: expected a whole number from 1 on, got 0",
    [{ axes = { config = "m", workload = "a" }, warm_up = { cycles = 0 } }] = "test: warm_up.cycles: expected 1 cycle or more, got 0",
    [{ axes = { config = "m", workload = "a" }, warm_up = { launches = 0 } }] = "test: warm_up.launches: expected 1 launch or more, got 0",
    [{ axes = { config = "m", workload = "a" }, warm_up = { cycles = 9, launches = 2 } }] = "test: warm_up: expected cycles or launches, got both",
    [{}] = "test: expected axes or runs, got neither",
    [{ axes = { config = "m", workload = "a" }, keep = function() return false end }] = "expected runs, but `keep` keeps none",
  }
  for description, message in pairs(wrong) do
    local ok, problem = pcall(plan.new, "test", description)
    assert(not ok, message)
    harness.contains(tostring(problem), message)
  end
end)

-- Runs ----------------------------------------------------------------------------------------------------------------------------

local file <const>, whole_folder <const> = prepare(sweep_text)
local whole_status, whole_output

--- The folder of this sweep, which the first test that needs it makes.
local function whole()
  if not whole_status then whole_status, whole_output = sweep(file, whole_folder) end
  harness.equal(whole_status, 0, whole_output)
  return whole_folder
end

harness.test("a sweep's database has the figures of single runs", function()
  local r = ww.run { config = "gtx480", workload = "spmv", size = "small", policy = "swl:limit=4", set = { "sms=2" }, out = false }
  harness.equal(query(whole(), "--select", "run, cycles, sm[*].l1d.misses, sm[*].l1d.miss_rate, sm[1].l1d.hits",
    "--where", "run = 6"), ("run,cycles,sm[*].l1d.misses,sm[*].l1d.miss_rate,sm[1].l1d.hits\n"
    .. "6,%d,%d,%.17g,%d\n"):format(r.cycles, r["sm[*].l1d.misses"], r["sm[*].l1d.miss_rate"], r["sm[1].l1d.hits"]))
  harness.equal(query(whole(), "--select", "sm[0..1].l1d.misses, sm[1..1].l1d.miss_rate", "--where", "run = 6"),
    ("sm[0..1].l1d.misses,sm[1..1].l1d.miss_rate\n%d,%.17g\n"):format(r["sm[*].l1d.misses"], r["sm[1].l1d.miss_rate"]))
  harness.equal(query(whole(), "--sql", "select kernel, cycles from launches where run = 6"),
    ("kernel,cycles\n%s,%d\n"):format(r.launches[1].kernel, r.launches[1].cycles))
end)

harness.test("all of a run takes less than 100 KB", function()
  local pipe = assert(io.popen(("du -sb '%s/runs' | cut -f1"):format(whole())))
  local bytes = tonumber(pipe:read "a")
  pipe:close()
  assert(bytes / 6 < 100000, ("%d bytes a run"):format(bytes // 6))
end)

harness.test("what is there is not run again, and the database made anew is the same to the byte", function()
  local before = harness.read(whole() .. "/results.sqlite")
  local status, output = sweep(file, whole())
  harness.equal(status, 0, output)
  assert(not output:find "left%]", output)
  assert(harness.read(whole() .. "/results.sqlite") == before, "another database")
  os.remove(whole() .. "/results.sqlite")
  harness.run("sweep", "--collect", whole())
  assert(harness.read(whole() .. "/results.sqlite") == before, "another database, collected")
end)

harness.test("killed twice with -9, the same command ends with the same database", function()
  local _, folder = prepare ""
  for _, runs in ipairs { 1, 3 } do
    -- The runner says a line for each run that has ended: after so many of them it is killed.
    os.execute(("'%s' sweep '%s' --out '%s' --jobs 1 2>/dev/null | { head -n %d >/dev/null; pkill -9 -f -- '--out %s ' || true; }"):format(
      program, file, folder, runs, folder))
  end
  local _, status_text = harness.run("sweep", "--status", folder)
  harness.contains(status_text, "6 runs: ", " 0 failed")
  local status, output = sweep(file, folder)
  harness.equal(status, 0, output)
  assert(harness.read(folder .. "/results.sqlite") == harness.read(whole() .. "/results.sqlite"), "another database")
end)

harness.test("what killed processes had written of checkpoints is removed with them", function()
  local _, folder = prepare ""
  harness.equal(sweep(file, folder), 0)
  local of_run = ("%s/%s"):format(folder, query(folder, "--select", "folder", "--where", "run = 1"):match "\n([^\n]+)")
  os.remove(of_run .. ".lua")
  for _, name in ipairs { "100.ckpt.tmp-999999999", "100.ckpt" } do assert(io.open(of_run .. "/" .. name, "w")):close() end
  harness.equal(sweep(file, folder), 0)
  assert(not table.concat(core.list_folder(of_run), " "):find("ckpt", 1, true), "a checkpoint")
end)

harness.test("SIGTERM stops the runs with checkpoints, and the same command goes on to the same database", function()
  local long = [[return { axes = { config = "gtx480", workload = "kmeans", size = "medium,iterations=1", sms = 4, policy = { "lrr", "gto" } } }]]
  local other, straight = prepare(long)
  harness.equal(sweep(other, straight), 0, "exit status")
  local _, folder = prepare ""
  local script = harness.write("stop.sh", ([[
'%s' sweep '%s' --out '%s' --jobs 2 > '%s.said' 2>&1 &
sweep=$!
until [ "$(ls '%s'/runs/*/ 2>/dev/null | wc -l)" -ge 1 ]; do sleep 0.02; done
kill -TERM $sweep
wait $sweep
echo $?
]]):format(program, other, folder, folder, folder))
  local pipe = assert(io.popen("sh " .. script))
  local status = tonumber(pipe:read "a")
  pipe:close()
  local said = harness.read(folder .. ".said")
  harness.equal(status, 75, said)
  harness.contains(said, "SIGTERM: stopped; the same command goes on")
  harness.equal(sweep(other, folder), 0, "exit status")
  assert(harness.read(folder .. "/results.sqlite") == harness.read(straight .. "/results.sqlite"), "another database")
end)

harness.test("SIGTERM while the description is checked stops the sweep as later on", function()
  local stopping, folder = prepare(([[return { axes = { config = "gtx480", workload = "vecadd", size = "small,n=1000", sms = 1,
    policy = "%s" } }]]):format(harness.write("stopping.lua", [[
      local state <close> = assert(io.open("/proc/self/stat"))
      os.execute("kill -TERM " .. state:read("a"):match "%) %a (%d+)")
      return require "warpwright.policy" "stopping" { doc = "x", order = "gto" }]])))
  local status, output = sweep(stopping, folder)
  harness.equal(status, 75, output)
  harness.contains(output, "SIGTERM: stopped; the same command goes on")
  assert(not output:find("[1/1", 1, true), output)
end)

harness.test("a run that fails keeps its error, and the others go on", function()
  local text = [[return { axes = { config = "gtx480", workload = "vecadd", size = "small", sms = 1, max_cycles = { 10000000, 1000 } } }]]
  local failing, folder = prepare(text)
  local status, output = sweep(failing, folder)
  harness.equal(status, 1, output)
  harness.contains(output, "2 runs: 1 done, 1 failed", "run 2, gtx480 vecadd small default sms=1: ")
  harness.contains(query(folder, "--select", "run, status, error"), "1,done,\n", "2,failed,", "max_cycles was reached")
  harness.contains(output, "; go on with: warpwright run --resume " .. folder)
  local _, other = prepare(text)
  sweep(failing, other)
  assert(harness.read(folder .. "/results.sqlite") == harness.read(other .. "/results.sqlite"), "another database in another folder")
end)

harness.test("a policy's file that ends the program is an error before anything runs", function()
  local leaving, folder = prepare(([[return { axes = { config = "gtx480", workload = "vecadd", size = "small,n=1000", sms = 1,
    policy = { "gto", "%s" } } }]]):format(harness.write("leaving.lua", "os.exit(0)\n")))
  local status, output = sweep(leaving, folder)
  harness.equal(status, 2, output)
  harness.contains(output, "leaving.lua:1: os.exit: expected ")
end)

harness.test("a misspelt name is an error before anything runs", function()
  local wrong, folder = prepare [[return { axes = { config = "gtx480", workload = { "vecadd", "spmw" }, size = "small" } }]]
  local status, output = sweep(wrong, folder)
  harness.equal(status, 2, output)
  harness.contains(output, "workload: no workload matches 'spmw'; did you mean spmv?")
  harness.equal(#core.list_folder(folder .. "/runs"), 0, "runs")
end)

harness.test("a policy that was edited has its runs made again, and no others", function()
  local policy = harness.folder() .. "/mine.lua"
  local function write(order) harness.write("mine.lua", ('return require "warpwright.policy" "mine" { doc = "x", order = "%s" }\n'):format(order)) end
  write "gto"
  local own, folder = prepare(([[return { axes = { config = "gtx480", workload = "spmv", size = "small", sms = 2,
    policy = { "lrr", "%s" } } }]]):format(policy))
  sweep(own, folder)
  local before = query(folder, "--select", "cycles")
  write "lrr"
  local outdated <const> = "1 of the missing runs have results of another program or of other inputs; the sweep makes them again"
  harness.contains(select(2, harness.run("sweep", "--status", folder)), "2 runs: 1 done, 0 failed, 0 stopped, 1 missing", outdated)
  harness.contains(select(2, harness.run("sweep", "--collect", folder)), outdated)
  local _, output = sweep(own, folder)
  assert(not output:find("of other inputs", 1, true), output)
  harness.contains(output, "[1/1, ")
  local after = query(folder, "--select", "cycles")
  assert(before ~= after, after)
end)

--- An experiment's folder with a sweep of one run, of a policy that counts `step` for each issue, and requires a file beside it.
local function prepare_experiment(name, step)
  core.make_folder(harness.folder() .. "/" .. name)
  harness.write(name .. "/step.lua", ("return %d\n"):format(step))
  harness.write(name .. "/mine.lua", [[
    local step = require "step"
    local mine = require "warpwright.policy" "mine" { doc = "x", scope = "sm", counters = { n = "issues" } }
    function mine:on_issue() self:count("n", step) end
    return mine]])
  harness.write(name .. "/s.lua", [[return { axes = { config = "gtx480", workload = "vecadd", size = "small,n=1000", sms = 1,
    policy = "./mine.lua" } }]])
end

--- The program, run in that folder.
local function run_in(folder, ...)
  local words = {}
  for i, word in ipairs { ... } do words[i] = ("'%s'"):format(word) end
  local pipe = assert(io.popen(("cd '%s/%s' && '%s' %s 2>&1"):format(harness.folder(), folder, core.real_path(program), table.concat(words, " "))))
  local output = pipe:read "a"
  return select(3, pipe:close()), output
end

local function issues_in(folder, out)
  local status, output = run_in(folder, "query", out, "--csv", "--select", "sm[*].mine.n")
  harness.equal(status, 0, output)
  return tonumber(output:match "\n(%d+)")
end

harness.test("in a copy of an experiment's folder the files of the copy decide which runs are there", function()
  prepare_experiment("experiment", 1)
  local status, output = run_in("experiment", "sweep", "s.lua")
  harness.equal(status, 0, output)
  local once = issues_in("experiment", "out/sweep-s")
  local folder <const> = harness.folder()
  assert(os.execute(("cp -r '%s/experiment' '%s/copy'"):format(folder, folder)))
  output = select(2, run_in("copy", "sweep", "s.lua"))
  assert(not output:find("[1/1", 1, true), output)
  harness.contains(select(2, harness.run("sweep", "--status", folder .. "/copy/out/sweep-s")), "1 done")
  prepare_experiment("copy", 2)
  harness.contains(select(2, harness.run("sweep", "--status", folder .. "/copy/out/sweep-s")), "0 done")
  harness.contains(select(2, harness.run("sweep", "--status", folder .. "/experiment/out/sweep-s")), "1 done")
  output = select(2, run_in("copy", "sweep", "s.lua"))
  harness.contains(output, "[1/1")
  harness.equal(issues_in("copy", "out/sweep-s"), 2 * once)
end)

harness.test("an experiment's folder that has moved has its runs", function()
  prepare_experiment("before_move", 1)
  local folder <const> = harness.folder()
  run_in("before_move", "sweep", "s.lua")
  assert(os.rename(folder .. "/before_move", folder .. "/moved"))
  local status, output = run_in("moved", "sweep", "s.lua")
  harness.equal(status, 0, output)
  assert(not output:find("[1/1", 1, true), output)
end)

harness.test("folders whose files of one name differ do not share runs in a folder of results", function()
  prepare_experiment("one", 1)
  prepare_experiment("two", 2)
  run_in("one", "sweep", "s.lua", "--out", "../both")
  local once = issues_in("one", "../both")
  run_in("two", "sweep", "s.lua", "--out", "../both")
  harness.equal(issues_in("two", "../both"), 2 * once)
end)

--- A sweep of one run whose host program is `body`, beside its PTX and a second file of it, other.ptx; and the workload's folder.
local function prepare_host_program(name, body)
  local own = ("%s/%s"):format(harness.folder(), name)
  core.make_folder(own)
  local ptx = harness.read(core.home_path "workloads/vecadd/vecadd.ptx")
  for _, stem in ipairs { "main", "other" } do harness.write(("%s/%s.ptx"):format(name, stem), ptx) end
  harness.write(name .. "/w.lua", ([[
    local w = require("warpwright").workload "w" { doc = "x", ptx = "main.ptx", sizes = { small = {} } }
    local own = %q
    function w:run(gpu)
      %s
      self:check_that("ended", true)
    end
    return w]]):format(own, body))
  local described, folder = prepare(([[return { axes = { config = "gtx480", workload = "%s/w.lua", size = "small", sms = 1 } }]]):format(own))
  return described, folder, own
end

local function edit(path)
  local edited <close> = assert(io.open(path, "a"))
  edited:write "// edited\n"
end

harness.test("PTX that the host program loads is an input of the run, and in its provenance", function()
  local described, folder, own = prepare_host_program("loads", [[gpu:load(own .. "/other.ptx")]])
  local status, output = sweep(described, folder)
  harness.equal(status, 0, output)
  local run = query(folder, "--select", "folder"):match "\n([^\n]+)"
  harness.contains(harness.read(("%s/%s/provenance.txt"):format(folder, run)),
    ("%s %s/other.ptx\n"):format(core.digest(harness.read(own .. "/other.ptx")), own))
  harness.contains(select(2, harness.run("sweep", "--status", folder)), "1 runs: 1 done")
  edit(own .. "/other.ptx")
  harness.contains(select(2, harness.run("sweep", "--status", folder)), "1 runs: 0 done, 0 failed, 0 stopped, 1 missing")
end)

harness.test("a run of which an input is edited while it is at work fails, and names it", function()
  local described, folder, own = prepare_host_program("edited", [[
      local file <close> = assert(io.open(own .. "/main.ptx", "a"))
      file:write "// edited\n"]])
  local status, output = sweep(described, folder)
  harness.equal(status, 1, output)
  harness.contains(output, own .. "/main.ptx has changed while the run was at work; the same command makes it again")
  harness.contains(select(2, harness.run("sweep", "--status", folder)), "1 runs: 0 done, 1 failed, 0 stopped, 0 missing")
end)

harness.test("a run whose input is edited after its end fails, and names it", function()
  local described, folder, own = prepare_host_program("later", "")
  harness.write("later/editor.lua", (harness.read(own .. "/w.lua"):gsub("\"main.ptx\"", '"other.ptx"'):gsub("function w:run%(gpu%)",
    "%0\n" .. [[local file <close> = assert(io.open(own .. "/main.ptx", "a"))
      file:write "// edited\n"]])))
  harness.write("later.lua", (harness.read(described):gsub('workload = "(.-)w%.lua"', 'workload = { "%1w.lua", "%1editor.lua" }')))
  local status, output = harness.run("sweep", harness.folder() .. "/later.lua", "--out", folder, "--jobs", "1")
  harness.equal(status, 1, output)
  harness.contains(output, "2 runs: 1 done, 1 failed, 0 stopped, 0 missing",
    own .. "/main.ptx has changed since the run was made; the same command makes it again")
end)

harness.test("a run that begins after an input was edited is one of the new input", function()
  local described, folder, own = prepare_host_program("before", [[gpu:load(own .. "/other.ptx")]])
  local text = harness.read(described)
  harness.write("before/w.lua", (harness.read(own .. "/w.lua"):gsub("small = {}", "small = { edits = 0 }, first = { edits = 1 }")
    :gsub("run%(gpu%)", "run(gpu, size)"):gsub("self:check_that", [[if size.edits == 1 then
      local file <close> = assert(io.open(own .. "/other.ptx", "a"))
      file:write "// edited\n"
    end
    self:check_that]])))
  harness.write("before.lua", (text:gsub('"small"', '{ "first", "small" }')))
  local status, output = harness.run("sweep", harness.folder() .. "/before.lua", "--out", folder, "--jobs", "1")
  harness.equal(status, 1, output)
  harness.contains(output, "2 runs: 1 done, 1 failed")
end)

harness.test("runs that differ in their policy share a warm-up; that under its policy is as without one", function()
  local text = [[return { axes = { config = "gtx480", workload = "spmv", size = "small", sms = 2, policy = { "gto", "lrr" } }%s }]]
  local plain, folder = prepare(text:format "")
  local warm, warm_folder = prepare(text:format ', warm_up = { cycles = 20000, policy = "gto" }')
  sweep(plain, folder)
  local status, output = sweep(warm, warm_folder)
  harness.equal(status, 0, output)
  harness.contains(output, "[1/1, 0:0", "warm-up gtx480 spmv small gto")
  local cold, warmed = query(folder, "--select", "cycles"), query(warm_folder, "--select", "cycles")
  harness.equal(warmed:match "\n(%d+)", cold:match "\n(%d+)", "cycles under the warm-up's policy")
  assert(warmed ~= cold, "the other policy ran from the start")
  local _, again = sweep(warm, warm_folder)
  assert(not again:find "left%]", again)
end)

harness.test("speed-ups leave out the warm-up that runs share, also where clocks change", function()
  local slower = harness.write("slower.lua", [[
local slower = require "warpwright.policy" "slower" { doc = "A slower core", order = "gto", scope = "machine", period = 10000 }
function slower:on_period() self:set_clock("core", "650MHz") end
return slower]])
  local text = [[return { axes = { config = "gtx480", workload = "spmv", size = "small", sms = 2, ["clock.core"] = "700MHz, 600MHz to 700MHz",
    policy = { "gto", %q } }, warm_up = { cycles = 20000, policy = "gto" } }]]
  for _, case in ipairs { { "lrr", "cycles", "cycles, warm_up_cycles" }, { slower, "simulated seconds", "run.seconds, warm_up_seconds" } } do
    local warm, folder = prepare(text:format(case[1]))
    local status, output = sweep(warm, folder)
    harness.equal(status, 0, output)
    local first, start, second = query(folder, "--csv", "--select", case[3]):match "\n([^,]+),([^,]+)\n([^,]+),"
    local _, csv = harness.run("report", folder, "--csv")
    local wanted, got = (first - start) / (second - start), tonumber(csv:match "\nall,1,([%d.]+)")
    assert(math.abs(got - wanted) < 1e-9 and got ~= 1, ("expected %.17g, got %.17g"):format(wanted, got))
    harness.contains(select(2, harness.run("report", folder, "--table")),
      case[2] .. " of policy gto, over those of each other, all since the warm-up\n")
  end
end)

harness.test("compare leaves out the warm-ups of two sweeps, as their speed-ups do, and says so", function()
  local text = [[return { axes = { config = "gtx480", workload = "spmv", size = "small", sms = 2, policy = "gto", ["l2[*].rop_delay"] = %d }%s,
    labels = { ["l2[*].rop_delay"] = { [%d] = "any" } } }]]
  local warm_up, folders, cycles = ', warm_up = { cycles = 20000, policy = "gto" }', {}, {}
  for i, case in ipairs { { 20, warm_up }, { 60, warm_up }, { 60, "" } } do
    local warm
    warm, folders[i] = prepare(text:format(case[1], case[2], case[1]))
    local status, output = sweep(warm, folders[i])
    harness.equal(status, 0, output)
    local all, of_warm_up = query(folders[i], "--select", "cycles, warm_up_cycles"):match "\n(%d+),(%d*)"
    cycles[i] = { all = tonumber(all), since = all - (tonumber(of_warm_up) or 0) }
  end
  local function row(a, b) return ("  %d  %d  %.3fx\n"):format(a, b, b / a) end
  local _, output = harness.run("compare", folders[1], folders[2])
  harness.contains(output, "cycles are those since the warm-up\n", row(cycles[1].since, cycles[2].since))
  _, output = harness.run("compare", folders[1], folders[3])
  harness.contains(output, "all cycles are compared: A has a warm-up, B has none\n", row(cycles[1].all, cycles[3].all))
end)

--- What a run has counted since its first three launches, made as a script makes it.
local function since_three_launches(policy)
  local sim = ww.build("gtx480", { set = { "sms=2", "clock.core=700MHz, 600MHz to 700MHz" }, policy = "gto" })
  sim:start("bfs", "small")
  sim:run { until_launch = 3 }
  local warm = sim:result()
  if policy ~= "gto" then sim:change { policy = policy } end
  sim:run {}
  return sim:result():since(warm)
end

harness.test("the database has what runs counted since their warm-up, also of a run that was stopped in between", function()
  local marker = harness.folder() .. "/stopped_later"
  local stops = harness.write("stops_later.lua", ([[
local once = require "warpwright.policy" "stops_later" { doc = "A slower core; stops itself once", scope = "machine", order = "gto", period = 1000,
  counters = { periods = "Seen" } }
function once:on_period()
  self:count "periods"
  if self:cycle() > 100000 then self:set_clock("core", "650MHz") end
  if self:cycle() < 150000 or io.open(%q) then return end
  assert(io.open(%q, "w")):close()
  local state <close> = assert(io.open("/proc/self/stat"))
  os.execute("kill -TERM " .. table.concat({ state:read("a"):match "^(%%d+) .*%%) %%a (%%d+)" }, " "))
end
return once]]):format(marker, marker))
  local warm, folder = prepare(([[return { axes = { config = "gtx480", workload = "bfs", size = "small", sms = 2,
    ["clock.core"] = "700MHz, 600MHz to 700MHz", energy = "fermi_40nm", policy = { "gto", "lrr", %q } }, warm_up = { launches = 3, policy = "gto" } }]]):format(stops))
  harness.equal(sweep(warm, folder), 75, "exit status of the sweep that is stopped")
  local status, output = sweep(warm, folder)
  harness.equal(status, 0, output)
  local names = { "cycles", "ipc", "launches", "sm[*].l1d.misses", "sm[*].l1d.miss_rate", "run.seconds", "energy.total", "energy.l1d.data" }
  local columns = {}
  for i, name in ipairs(names) do columns[i] = "since." .. name end
  local rows = query(folder, "--select", table.concat(columns, ", ")):gmatch "\n([^\n]+)"
  for _, policy in ipairs { "gto", "lrr", stops } do
    local r, cells = since_three_launches(policy), rows():gmatch "[^,]+"
    for _, name in ipairs(names) do
      local wanted = name == "launches" and #r.launches or name == "energy.total" and r.energy.total
        or name == "energy.l1d.data" and r.energy.parts["l1d.data"] or r[name]
      local got = tonumber(cells())
      assert(math.abs(got - wanted) <= 1e-9 * wanted, ("%s of %s: expected %.17g, got %.17g"):format(name, policy, wanted, got))
    end
  end
  local periods = query(folder, "--select", "policy, since.dispatcher.stops_later.periods, dispatcher.stops_later.periods", "--where", "dispatcher.stops_later.periods > 0")
  local of_run, all = periods:match ",(%d+),(%d+)\n"
  harness.equal(of_run, all, "periods of a policy that began at the warm-up's end")
end)

harness.test("a query of what was counted since a warm-up names what is missing", function()
  local text = [[return { axes = { config = "gtx480", workload = "bfs", size = "small", sms = 2, policy = "gto" }%s }]]
  local plain, folder = prepare(text:format "")
  sweep(plain, folder)
  harness.refused("query: since.cycles: expected a sweep with a warm_up, got one without", "query", folder, "--select", "since.cycles")
  local warm, warm_folder = prepare(text:format ', warm_up = { launches = 1 }')
  sweep(warm, warm_folder, "--stats", "summary")
  harness.contains(query(warm_folder, "--select", "cycles - warm_up_cycles = since.cycles as same"), "\n1\n")
  harness.refused("query: no column or statistic matches 'since.run.cykles'; did you mean since.run.cycles", "query", warm_folder, "--select", "since.run.cykles")
  local none = folder .. "-none"
  sweep(warm, none, "--stats", "none")
  harness.refused("query: since.cycles: expected a sweep with a warm_up and --stats packed, all or summary, got one without", "query", none,
    "--select", "since.cycles")
end)

harness.test("the beginning without timing is an axis, and such a run is one of ww.run", function()
  local forwarded, folder = prepare [[return { axes = { config = "gtx480", workload = "bfs", size = "small", sms = 2, policy = "gto",
    fast_forward = { "launch=4", "launch=5,cta=0.5" } } }]]
  local status, output = sweep(forwarded, folder)
  harness.equal(status, 0, output)
  local rows = query(folder, "--select", "fast_forward, cycles")
  for _, forward in ipairs { "launch=4", "launch=5,cta=0.5" } do
    local r = ww.run { config = "gtx480", workload = "bfs", size = "small", set = { "sms=2" }, policy = "gto", fast_forward = forward, out = false }
    harness.contains(rows:gsub('"', ""), ("%s,%d\n"):format(forward, r.cycles))
  end
end)

harness.test("a script's rows say what of a run is of the warm-up", function()
  local axes <const> = { config = "gtx480", workload = "bfs", size = "small", sms = 2, policy = { "gto", "lrr" } }
  local alone = ww.run { config = "gtx480", workload = "bfs", size = "small", set = { "sms=2" }, policy = "gto", out = false }
  local first, rows = alone.launches[1], 0
  for row in ww.sweep { axes = axes, warm_up = { launches = 1, policy = "gto" }, out = harness.folder() .. "/rows" } do
    harness.equal(row.warm_up_cycles, first.start_cycle + first.cycles, "cycles of the warm-up")
    assert(math.abs(row.warm_up_seconds * 700e6 - row.warm_up_cycles) < 1e-3, row.warm_up_seconds)
    harness.equal(row.since.cycles, row.result.cycles - row.warm_up_cycles, "cycles since then")
    harness.equal(#row.since.launches, #row.result.launches - 1, "launches since then")
    assert(row.since["sm[*].l1d.misses"] < row.result["sm[*].l1d.misses"], "misses since then")
    rows = rows + 1
  end
  harness.equal(rows, 2, "rows")
end)

harness.test("a warm-up may be so many launches", function()
  local text = [[return { axes = { config = "gtx480", workload = "bfs", size = "small", sms = 2, policy = { "gto", "lrr" } }%s }]]
  local plain, folder = prepare(text:format "")
  local warm, warm_folder = prepare(text:format ', warm_up = { launches = 3, policy = "gto" }')
  sweep(plain, folder)
  local status, output = sweep(warm, warm_folder)
  harness.equal(status, 0, output)
  local cold, warmed = query(folder, "--select", "cycles"), query(warm_folder, "--select", "cycles")
  harness.equal(warmed:match "\n(%d+)", cold:match "\n(%d+)", "cycles under the warm-up's policy")
  assert(warmed ~= cold, "the other policy ran from the start")
  local launches = query(warm_folder, "--select", "launch[0].cycles, launch[1].cycles, launch[2].cycles")
  local first, second = launches:match "\n([%d%s]-)\n([%d%s]-)\n"
  harness.equal(second, first, "cycles of the launches of the warm-up")
  local long, long_folder = prepare(text:format ', warm_up = { launches = 1000 }')
  status, output = sweep(long, long_folder)
  harness.equal(status, 1, output)
  harness.contains(output, "warm_up.launches: expected fewer than the 10 launches of bfs, got 1000")
end)

harness.test("a warm-up that is stopped leaves a checkpoint, and the same command goes on to the same database", function()
  local marker, said = harness.folder() .. "/stopped_once", harness.folder() .. "/periods"
  local policy = harness.write("stops_once.lua", ([[
local once = require "warpwright.policy" "stops_once" { doc = "Stops the sweep in the warm-up, once", scope = "machine", period = 1000 }
function once:on_period()
  local periods <close> = assert(io.open(%q, "a"))
  periods:write(self:cycle(), "\n")
  if self:cycle() < 5000 or io.open(%q) then return end
  assert(io.open(%q, "w")):close()
  local state <close> = assert(io.open("/proc/self/stat"))
  os.execute("kill -TERM " .. table.concat({ state:read("a"):match "^(%%d+) .*%%) %%a (%%d+)" }, " "))
end
return once]]):format(said, marker, marker))
  local stopping, straight = prepare(([[return { axes = { config = "gtx480", workload = "spmv", size = "small", sms = 2, policy = { "gto", "lrr" } },
    warm_up = { cycles = 20000, policy = %q } }]]):format(policy))
  harness.write("stopped_once", "")
  harness.equal(sweep(stopping, straight), 0, "exit status")
  local folder = straight .. "-stopped"
  os.remove(marker)
  os.remove(said)
  local status, output = sweep(stopping, folder)
  harness.equal(status, 75, output)
  harness.contains(output, "stops_once.lua sms=2: stopped\n", "SIGTERM: stopped; the same command goes on")
  harness.contains(select(2, harness.run("sweep", "--status", folder)), "2 runs: 0 done, 0 failed, 2 stopped, 0 missing")
  status, output = sweep(stopping, folder)
  harness.equal(status, 0, output)
  harness.equal(select(2, harness.read(said):gsub("%f[%d]" .. harness.read(said):match "%d+\n", "")), 1, "times that it began")
  assert(harness.read(folder .. "/results.sqlite") == harness.read(straight .. "/results.sqlite"), "another database")
end)

harness.test("what ends by a signal to stop before it watches signals was stopped, and has not failed", function()
  local started = 0
  core.supervise()
  local problems = processes.run({ "first", "second" }, {
    jobs = 2, name = tostring, say = function() end, problem_path = function(item) return ("%s/%s.problem"):format(harness.folder(), item) end,
    work = function() while true do end end,
    obstacle = function()
      started = started + 1
      if started == 2 then core.ask_to_stop() end
    end,
  })
  core.supervise() -- nothing is asked any more
  harness.equal(#problems, 1)
  harness.equal(problems[1].status, processes.EXIT_STOPPED)
end)

harness.test("a warm-up that is longer than the run fails its runs, with the reason", function()
  local long, folder = prepare [[return { axes = { config = "gtx480", workload = "vecadd", size = "small", sms = 2 },
    warm_up = { cycles = 100000000 } }]]
  local status, output = sweep(long, folder)
  harness.equal(status, 1, output)
  harness.contains(output, "its warm-up failed: warm-up gtx480 vecadd small default sms=2: warm_up.cycles: expected fewer than the")
end)

harness.test("a run on a cluster whose warm-up has failed there says so, with the reason", function()
  local long, folder = prepare [[return { axes = { config = "gtx480", workload = "vecadd", size = "small", sms = 2 },
    warm_up = { cycles = 100000000 } }]]
  local bin = harness.folder() .. "/bin"
  core.make_folder(bin)
  harness.write("bin/sbatch", "#!/bin/sh\necho 1\n")
  os.execute(("chmod +x '%s/sbatch'"):format(bin))
  local status, output = harness.run_with(("PATH='%s':$PATH"):format(bin), "sweep", long, "--out", folder, "--slurm")
  harness.equal(status, 0, output)
  local function task(array)
    status, output = harness.run_with("SLURM_ARRAY_TASK_ID=1", "sweep", "--task", array, "--out", folder)
    harness.equal(status, 1, output)
  end
  task "warm-up-1"
  task "run-1"
  local wanted <const> = "its warm-up failed: warm-up gtx480 vecadd small default sms=2: warm_up.cycles: expected fewer than the"
  harness.contains(output, wanted)
  harness.contains(select(2, harness.run("sweep", "--status", folder)), "1 failed", wanted)
end)

harness.test("each file has a folder of its own: names in any script differ, and a second file of one name is refused", function()
  local home, number = harness.folder() .. "/names", 0
  local function run(name)
    number = number + 1
    local path = ("%s/%s"):format(home, name)
    os.execute(("mkdir -p '%s'"):format(path:match "^(.*)/"))
    harness.write("names/" .. name, ('return { axes = { config = "gtx480", workload = "vecadd", size = "small,n=%d", sms = 1 } }'):format(1024 * number))
    local pipe = assert(io.popen(("cd '%s' && '%s' sweep '%s' 2>&1; echo $?"):format(home, core.real_path(program), name)))
    local output = pipe:read "a"
    pipe:close()
    return output
  end
  for _, name in ipairs { "é.lua", "ü.lua", "é.lua", "a b.lua" } do harness.contains(run(name), "results   out/sweep-", "\n0\n") end
  harness.equal(table.concat(core.list_folder(home .. "/out"), " "), "sweep-a_b sweep-é sweep-ü")
  harness.contains(run "a_b.lua", "sweep: expected a folder of its own for a_b.lua, got out/sweep-a_b, which is that of a b.lua; --out names another", "\n2\n")
  harness.contains(run "below/é.lua", "which is that of é.lua", "\n2\n")
  os.remove(home .. "/a b.lua") -- it was given another name
  harness.contains(run "a_b.lua", "results   out/sweep-a_b", "\n0\n")
end)

harness.test("progress takes its times from a clock that nobody sets", function()
  local lines, time, now = {}, os.time, 1000000
  local _ <close> = setmetatable({}, { __close = function() rawset(os, "time", time) end })
  rawset(os, "time", function()
    now = now - 300
    return now
  end)
  processes.run({ 1, 2 }, { jobs = 1, work = function() end, name = tostring, say = function(line) lines[#lines + 1] = line end,
    problem_path = function(item) return ("%s/problem%d"):format(harness.folder(), item) end })
  harness.equal(#lines, 2, "lines")
  for _, line in ipairs(lines) do assert(not line:find "%-%d", line) end
end)

harness.test("-jN is -j N", function()
  local status, output = harness.run("sweep", file, "--out", whole(), "-j3", "--dry-run")
  harness.equal(status, 0, output)
  harness.contains(output, " 3 at a time")
  harness.refused("--jobs: expected a whole number from 1 on, got 'x'", "sweep", file, "-jx")
end)

harness.test("--dry-run says what would run, and runs nothing", function()
  local _, folder = prepare ""
  local status, output = sweep(file, folder, "--dry-run")
  harness.equal(status, 0, output)
  harness.contains(output, "   6  to run   gtx480 spmv small swl:limit=4", "6 runs, 6 to be made, 2 at a time",
    "the time of spmv small, vecadd small, of which none has run yet")
  harness.equal(#core.list_folder(folder .. "/runs"), 0, "runs")
end)

harness.test("--dry-run names some of many workloads of which none has run, and counts the others", function()
  local many = harness.write("many.lua", [[
return { axes = { config = "gtx480", workload = "vecadd", size = "small", seed = { 1, 2, 3, 4, 5, 6, 7 } } }]])
  local status, output = sweep(many, harness.folder() .. "/many", "--dry-run")
  harness.equal(status, 0, output)
  harness.contains(output, "the time of vecadd small,seed=1, vecadd small,seed=2, vecadd small,seed=3 and 4 others, of which none has run yet")
end)

harness.test("ww.sweep gives a row for each run as it finishes", function()
  local script = harness.write("script.lua", ([[
    local ww, cycles = require "warpwright", {}
    for row in ww.sweep { axes = { config = "gtx480", workload = "vecadd", size = "small", sms = 2, policy = { "lrr", "gto" } },
      out = "%s/script", jobs = 1 } do
      print(row.number, row.policy, row.status, row.result.cycles, row.result["sm[*].l1d.misses"])
    end
    local r = ww.run { config = "gtx480", workload = "vecadd", size = "small", policy = "gto", set = { "sms=2" }, out = false }
    print(2, "gto", "done", r.cycles, r["sm[*].l1d.misses"])
  ]]):format(harness.folder()))
  local status, output = harness.run(script)
  harness.equal(status, 0, output)
  local lines = {}
  for line in output:gmatch "[^\n]+" do lines[#lines + 1] = line end
  harness.equal(#lines, 3, output)
  harness.equal(lines[2], lines[3], "the row and a run by itself")
end)

harness.test("a loop over ww.sweep that is left stops its runs, and leaves the database and a folder that is free", function()
  local out = harness.folder() .. "/left"
  local script = harness.write("left.lua", ([[
    local ww, core = require "warpwright", require "warpwright.core"
    local sweep = { axes = { config = "gtx480", workload = "vecadd", size = "small", sms = 2, policy = { "lrr", "gto" }, seed = { 1, 2 } },
      out = %q, jobs = 2 }
    local count = 0
    for row in ww.sweep(sweep) do
      print(row.status)
      break
    end
    print(core.is_file(sweep.out .. "/results.sqlite"))
    for row in ww.sweep(sweep) do count = count + (row.status == "done" and 1 or 0) end
    print(count)
  ]]):format(out))
  local status, output = harness.run(script)
  harness.equal(status, 0, output)
  harness.equal(output, "done\ntrue\n4\n")
end)

harness.test("ww.sweep has the option stats, as the command has", function()
  local text = ([[
    local ww, core = require "warpwright", require "warpwright.core"
    local stats = STATS
    for row in ww.sweep { axes = { config = "gtx480", workload = "vecadd", size = "small", sms = 2 }, out = "%s/" .. stats, stats = stats } do
      print(core.is_file(row.folder .. "/stats.txt"), core.is_file(row.folder .. "/stats.zst"), row.result ~= nil)
    end
  ]]):format(harness.folder())
  local function printed(stats) return select(2, harness.run(harness.write("stats.lua", (text:gsub("STATS", stats))))) end
  harness.equal(printed '"all"', "true\ttrue\ttrue\n")
  harness.equal(printed '"none"', "false\tfalse\tfalse\n")
  harness.refused("stats: expected", harness.write("stats.lua", (text:gsub("STATS", "3"))))
end)

harness.test("the stored machine of a sweep's run is one that runs", function()
  local stem = ("%s/%s/"):format(whole(), query(whole(), "--select", "folder", "--where", "run = 1"):match "\n([^\n]+)")
  local status, output = harness.run("run", stem .. "config.lua.zst", "vecadd", "--size", "small", "--policy", "lrr", "--out",
    harness.folder() .. "/again")
  harness.equal(status, 0, output)
  harness.contains(harness.read(harness.folder() .. "/again/stats.txt"), query(whole(), "--select", "cycles", "--where", "run = 1"):match "\n(%d+)")
  local damaged = harness.write("config.lua.zst", harness.read(stem .. "config.lua.zst"):sub(1, -2))
  harness.refused("expected a whole config.lua.zst, got a damaged one", "run", damaged, "vecadd")
end)

-- Looking at them -----------------------------------------------------------------------------------------------------------------

harness.test("a query that names nothing says what is near", function()
  harness.refused("query: no column or statistic matches 'sm[*].l1d.hitz'; did you mean sm[*].l1d.hits", "query", whole(), "--select",
    "policy, sm[*].l1d.hitz")
  harness.refused("no such column: foo", "query", whole(), "--where", "foo = 1")
  harness.refused("; texts stand in single quotes; available: ", "query", whole(), "--where", "policy = gto")
  harness.refused("did you mean cycles? Available: checks, config, cycles, ", "query", whole(), "--select", "avg(cycls)")
  harness.refused("attempt to write a readonly database", "query", whole(), "--sql", "delete from runs")
  harness.refused("query: expected the folder of a sweep with a results.sqlite", "query", harness.folder())
end)

harness.test("the database has the statistics that the runs wrote in any way, and a query says which were left out", function()
  local function without(choice)
    local described, folder = prepare(sweep_text:gsub('{ "vecadd", "spmv" }', '"vecadd"'))
    local status, output = sweep(described, folder, "--stats", choice)
    harness.equal(status, 0, output)
    return folder
  end
  local select = "policy, sm[*].l1d.misses, sm[*].lsu.accesses_per_load, run.ipc"
  harness.equal(query(without "all", "--select", select), query(whole(), "--select", select, "--where", "workload = 'vecadd'"))
  local summary, none = without "summary", without "none"
  harness.equal(query(summary, "--select", "run.ipc"), query(whole(), "--select", "run.ipc", "--where", "workload = 'vecadd'"))
  harness.refused("query: sm[*].l1d.misses: expected a sweep with --stats packed or all, got one with --stats summary", "query", summary,
    "--select", select)
  harness.refused("query: run.ipc: expected a sweep with --stats packed or all, got one with --stats none", "query", none,
    "--select", "run.ipc")
  harness.refused("query: no column or statistic matches 'run.ipk'; did you mean run.ipc", "query", summary, "--select", "run.ipk")
end)

harness.test("a run without the statistics that are asked for now is made again, one with more is not", function()
  local described, folder = prepare [[return { axes = { config = "gtx480", workload = "vecadd", size = "small,n=1000", sms = 1 } }]]
  sweep(described, folder, "--stats", "none")
  harness.contains(select(2, sweep(described, folder, "--stats", "packed", "--dry-run")), "1 runs, 1 to be made")
  harness.contains(select(2, sweep(described, folder, "--stats", "packed")), "its statistics are those of --stats none; it is made again", "[1/1")
  harness.contains(query(folder, "--select", "run.ipc"), "run.ipc\n")
  for _, fewer in ipairs { "packed", "summary", "none" } do
    local _, output = sweep(described, folder, "--stats", fewer)
    assert(not output:find("[1/1", 1, true), output)
  end
end)

harness.test("query: the size is that of the axis, and the seed stands beside it", function()
  local seeds, folder = prepare [[return { axes = { config = "gtx480", workload = "vecadd", size = "small,n=1000", seed = { 1, 2 }, sms = 1 } }]]
  harness.equal(sweep(seeds, folder), 0, "exit status")
  harness.equal(query(folder, "--select", "size, seed"), 'size,seed\n"small,n=1000",1\n"small,n=1000",2\n')
end)

harness.test("query: a statistic in double quotes is that statistic, and what is none an error", function()
  harness.equal(query(whole(), "--select", '1 - "sm[*].l1d.miss_rate" as x', "--order", "run"),
    query(whole(), "--select", "1 - sm[*].l1d.miss_rate as x", "--order", "run"))
  harness.equal(query(whole(), "--select", 'cycles as "of it"', "--order", '"of it" desc'),
    query(whole(), "--sql", 'select cycles as "of it" from runs order by cycles desc'))
  harness.refused("query: no column or statistic matches 'ipcc'; did you mean ipc", "query", whole(), "--select", '"ipcc"')
  harness.refused("; texts stand in single quotes", "query", whole(), "--where", 'workload = "vecadd"')
  harness.refused("no such column: ipcc", "query", whole(), "--sql", 'select "ipcc" from results')
end)

harness.test("query: what launches cost is named as in stats.txt", function()
  local all = query(whole(), "--sql", "select run, sum(cycles), sum(ctas), sum(thread_instructions) * 1.0 / sum(cycles) from launches group by run")
  local named = query(whole(), "--select", "run, launch[*].cycles, launch[*].ctas, launch[*].ipc")
  harness.equal(named:match "\n(.*)", all:match "\n(.*)")
  harness.equal(query(whole(), "--select", 'launch[0].cycles*2 as x, "launch[0].start_cycle" as y'),
    query(whole(), "--sql", "select cycles * 2 as x, start_cycle as y from launches where launch = 0 order by run"))
  harness.refused("query: no column or statistic matches 'launch[999].cycles'", "query", whole(), "--select", "launch[999].cycles")
  harness.refused("query: no column or statistic matches 'launch[0].cycle'; did you mean launch[*].cycles", "query", whole(),
    "--select", "launch[0].cycle")
  harness.refused("query: no column or statistic matches 'launch[*].start_cycle'", "query", whole(), "--select", "launch[*].start_cycle")
end)

harness.test("query: a pattern is of counters or of ratios, and a * behind it may multiply", function()
  harness.refused("query: sm[*].l1d.miss*: expected counters or ratios, got both", "query", whole(), "--select", "sm[*].l1d.miss*")
  harness.equal(query(whole(), "--select", "sm[*].l1d.misses*2.0/cycles as x"), query(whole(), "--select", "sm[*].l1d.misses * 2.0 / cycles as x"))
  harness.equal(query(whole(), "--select", "sm[*].l1d.misses*sm[0].l1d.misses as x"),
    query(whole(), "--select", "sm[*].l1d.misses * sm[0].l1d.misses as x"))
end)

harness.test("query groups, and writes CSV, JSON and tables", function()
  harness.equal(query(whole(), "--select", "workload, min(cycles) as least, count(*)", "--group", "workload", "--order", "workload"),
    query(whole(), "--sql", 'select workload, min(cycles) as least, count(*) as "count(*)" from runs group by workload order by workload'))
  local _, json = harness.run("query", whole(), "--json", "--select", "run, policy", "--where", "run = 2")
  harness.equal(json, '[\n  {\n    "policy": "swl:limit=2",\n    "run": 2\n  }\n]\n')
  local _, odd = harness.run("query", whole(), "--json", "--sql", "select 1.0 / 3 as x, null as y union all select null, null")
  harness.equal(odd, '[\n  {\n    "x": 0.33333333333333331,\n    "y": null\n  },\n  {\n    "x": null,\n    "y": null\n  }\n]\n')
  local _, text = harness.run("query", whole(), "--select", "run, policy", "--where", "run < 3")
  harness.equal(text, "run  policy\n  1  lrr\n  2  swl:limit=2\n")
end)

harness.test("commands that look at runs take those of a sweep by number", function()
  local function folder_of(run) return whole() .. "/" .. query(whole(), "--select", "folder", "--where", "run = " .. run):match "\n([^\n]+)" end
  for _, command in ipairs { "cpi", "balance", "compare" } do
    local others = command ~= "balance" and 2 or nil
    local status, by_number = harness.run(command, whole() .. "/1", others and whole() .. "/2")
    local wanted, by_folder = harness.run(command, folder_of(1), others and folder_of(2))
    harness.same_text(by_number, by_folder, command)
    harness.equal(status, wanted, command)
    assert(status < 2, by_number)
  end
  local last = query(whole(), "--select", "count(*)"):match "%d+%s*$"
  harness.refused(("/1000: expected a run of the sweep, 1 to %d, got 1000"):format(last), "cpi", whole() .. "/1000")
  harness.refused("expected the folder of a run", "cpi", whole() .. "/none")
end)

harness.test("a run of a sweep that failed says why it has nothing to look at", function()
  local written = harness.write("no_l1.lua", 'return { axes = { config = { "gallery/no_l1", "gallery/private_l1" }, workload = "vecadd", size = "small,n=1024", policy = { "gto", "mrpb" } } }')
  local folder = harness.folder() .. "/no_l1"
  harness.equal(harness.run("sweep", written, "--out", folder), 1, "exit status of the sweep")
  harness.refused("/2: expected a run that has ended, got one that failed: policy mrpb: cache: expected one of data", "cpi", folder .. "/2")
  harness.equal(harness.run("cpi", folder .. "/1"), 0, "exit status for the other run")
end)

harness.test("query writes LaTeX, with its special characters escaped", function()
  local _, tabular = harness.run("query", whole(), "--latex", "--sql",
    "select 'a_b & 5%' as \"x#y\", 1 as n, -0.5 as half union all select '{~^\\<|>}$', 123456789, 2.5e-12")
  harness.equal(tabular, [[
\begin{tabular}{lrr}
\hline
x\#y & n & half \\
\hline
a\_b \& 5\% & $1$ & $-0.5$ \\
\{\textasciitilde{}\textasciicircum{}\textbackslash{}\textless{}\textbar{}\textgreater{}\}\$ & $123456789$ & $2.5\cdot 10^{-12}$ \\
\hline
\end{tabular}
]])
end)

harness.test("query: a quotient of whole numbers that is 0 in each row is told of, with what to write", function()
  local function told(...) return (select(2, harness.run("query", whole(), "--select", ...))) end
  harness.contains(told "launches / cycles as share",
    "query: share is 0 in each row: / of whole numbers gives a whole number; begin with 1.0 *")
  for _, other in ipairs { "1.0 * launches / cycles", "cycles / 2", "run - run", "'a/b', 0", 'run - run as "a/b"' } do
    assert(not told(other):find("whole numbers", 1, true), other)
  end
end)

harness.test("query: names of columns behind AS and in quotes may have spaces, commas and brackets", function()
  local function first(select) return query(whole(), "--where", "run = 1", "--select", select) end
  local function head(select) return first(select):match "^[^\n]*" end
  harness.equal(head 'cycles as "x y", policy AS `p, q`, sms as [s]', 'x y,"p, q",s')
  harness.equal(head "cycles as 'x y'", "x y")
  harness.equal(head 'cycles c, sm[*].l1d.misses misses', "c,misses")
  harness.equal(head '"sms", cycles*2, sm[*].l1d.misses, sm[*].l1d.misses as "sm[*].l1d.hits"', "sms,cycles*2,sm[*].l1d.misses,sm[*].l1d.hits")
  harness.equal(head "*, cycles * 2 as twice", head "*" .. ",twice")
  harness.equal(first [["policy" || ' it''s, ' as x]], 'x\n"lrr it\'s, "\n')
  harness.refused("query: --select: expected columns apart by commas, got 'policy,'", "query", whole(), "--select", "policy,")
  harness.refused("query: sm[3.l1d.hits: expected indices as [3], [*] or [0..3], got '[3.l1d.hits'", "query", whole(), "--select", "sm[3.l1d.hits")
end)

harness.test("options of a sweep and a query that cannot be are refused at once", function()
  local _, folder = prepare ""
  harness.refused("stats: expected all, packed, summary, none, got 'foo'", "sweep", file, "--out", folder, "--stats", "foo")
  harness.refused("checkpoint_every: expected 1 cycle or more", "sweep", file, "--out", folder, "--checkpoint-every", "0")
  harness.refused("sweep: --out: expected a folder, got nothing", "sweep", file, "--out", "")
  harness.refused("query: --where: expected an expression of SQL, got nothing", "query", whole(), "--where", " ")
  harness.refused("query: --json: expected one format, got --csv as well", "query", whole(), "--csv", "--json")
  harness.equal(#core.list_folder(folder), 0, "files")
  core.make_folder(folder)
  core.make_folder(folder .. "/results.sqlite")
  os.execute(("cp '%s/sweep.lua' '%s'"):format(whole(), folder))
  harness.refused(("%s/results.sqlite: expected a file that can be written, got: "):format(folder), "sweep", "--collect", folder)
end)

harness.test("compare: a number that is not whole is the same in a run with nine digits of it and in one with all", function()
  local folders = {}
  for i, stats in ipairs { "all", "packed" } do
    folders[i] = harness.folder() .. "/digits_" .. stats
    harness.run("run", "gtx480", "vecadd", "--size", "small,n=65536", "--policy", "equalizer:mode=energy", "--set", "sms=2", "--stats", stats, "--out", folders[i])
  end
  local mean = harness.read(folders[1] .. "/stats.txt"):match "run.clock.dram.frequency +(%S+)"
  harness.equal(math.type(tonumber(mean)), "integer", "a frequency of nine digits, " .. mean .. ", is")
  local status, output = harness.run("compare", folders[1], folders[2])
  harness.equal(status, 0, output)
  harness.contains(output, "0 of ")
end)

harness.test("compare: the parameter that differs and the statistics that follow; nothing between a run and itself", function()
  local a, b = harness.folder() .. "/run_a", harness.folder() .. "/run_b"
  harness.run("run", "gtx480", "vecadd", "--size", "small", "--out", a)
  harness.run("run", "gtx480", "vecadd", "--size", "small", "--out", b, "--set", "sm[*].l1d.latency=90")
  local status, output = harness.run("compare", a, b)
  harness.equal(status, 1, output)
  harness.contains(output, "sm[*].l1d.latency = 90", "run.cycles", " statistics differ")
  status, output = harness.run("compare", a, a)
  harness.equal(status, 0, output)
  harness.contains(output, "0 of ", "inputs: the same machine")
  status, output = harness.run("compare", whole(), whole())
  harness.equal(status, 0, output)
  harness.contains(output, "6 runs with the same cycles, 0 with others, 0 in one of them only")
  harness.refused("compare: expected two runs or two sweeps, got one of each", "compare", a, whole())
  harness.refused("compare: expected the folder of a run or of a sweep, got '", "compare", harness.folder(), a)
  harness.refused("compare: expected the folder of a run or of a sweep, got 'nothing'", "compare", whole(), "nothing")
  local refusal = harness.refused("compare: expected the folder of a run or of a sweep, got '", "compare", a, harness.folder())
  assert(not refusal:find("inputs", 1, true), refusal)
end)

--- A sweep of vecadd with more axes, on one SM; its folder.
local function vecadd_sweep(axes)
  local described, folder = prepare(('return { axes = { config = "gtx480", workload = "vecadd", sms = 1, %s } }'):format(axes))
  local status, output = sweep(described, folder)
  harness.equal(status, 0, output)
  return folder
end

harness.test("compare: an axis that one sweep has, the same for all runs, pairs them; one with more values keeps them apart, by name", function()
  local plain = vecadd_sweep 'size = "small,n=1000"'
  local function lines(a, b, ...)
    local status, output = harness.run("compare", a, b)
    harness.equal(status, 1, output)
    harness.contains(output, ...)
  end
  local limited = vecadd_sweep 'size = { "small,n=1000", "small,n=2000" }, max_cycles = 1000000'
  lines(plain, limited, "\nmax_cycles: A has none, B 1000000; taken for the same\n1 runs with the same cycles, 0 with others, 1 in one of them only",
    "\nsize=small,n=2000  B\n")
  lines(limited, plain, "\nmax_cycles: A has 1000000, B none; taken for the same\n1 runs with the same cycles, 0 with others, 1 in one of them only")
  local policies = vecadd_sweep 'size = "small,n=1000", policy = { "gto", "lrr" }'
  lines(plain, policies, "\npolicy keeps runs apart: A has none, B gto, lrr\n0 runs with the same cycles, 0 with others, 3 in one of them only",
    "config=gtx480 size=small,n=1000 sms=1 workload=vecadd  A\n")
  local larger = vecadd_sweep 'size = "small,n=2000"'
  lines(plain, larger, "\nsize keeps runs apart: A has small,n=1000, B small,n=2000\n0 runs")
end)

harness.test("compare: a point that is there twice is no second seed", function()
  local twice <const> = 'return { runs = { { config = "gtx480", workload = "vecadd", size = "small,n=1000", sms = 1%s }, { config = "gtx480", '
    .. 'workload = "vecadd", size = "small,n=1000", sms = 1%s } } }'
  local folders = {}
  for i, latency in ipairs { "", ', ["sm[*].l1d.latency"] = 90' } do
    local described
    described, folders[i] = prepare(twice:format(latency, latency))
    harness.equal(sweep(described, folders[i]), 0)
  end
  local _, output = harness.run("compare", folders[1], folders[2])
  harness.contains(output, "0 runs with the same cycles, 2 with others, 0 in one of them only")
  assert(not output:find "seeds", output)
end)

harness.test("compare: a size that is no axis is medium, whatever the seed", function()
  local text <const> = 'return { axes = { config = "gtx480", workload = "vecadd", sms = 1, max_cycles = 1000, %s } }'
  local folders = {}
  for i, axes in ipairs { "seed = { 1, 2 }", 'size = { "small", "medium" }, seed = { 2, 3 }' } do
    local described
    described, folders[i] = prepare(text:format(axes))
    harness.equal(sweep(described, folders[i]), 1) -- they come to max_cycles
  end
  local _, output = harness.run("compare", folders[1], folders[2])
  harness.contains(output, "1 runs with the same cycles, 0 with others, 4 in one of them only",
    "seed=1 size=medium  A\nseed=2 size=small   B\nseed=3 size=small   B\nseed=3 size=medium  B\n")
end)

harness.test("a quotient has the relative half-widths of both in quadrature, and is significant where 1 lies outside", function()
  local function shown(q) return ("%.4f +-%s"):format(q.value, q.half_width and ("%.4f"):format(q.half_width) or "nothing") end
  local exact, wide, narrow = { value = 200 }, { value = 100, half_width = 3 }, { value = 200, half_width = 8 }
  harness.equal(shown(ratio.of(narrow, wide)), "2.0000 +-0.1000")
  harness.equal(shown(ratio.of(exact, wide)), "2.0000 +-0.0600")
  harness.equal(shown(ratio.of(exact, { value = 100 })), "2.0000 +-nothing")
  harness.equal(shown(ratio.mean { ratio.of(narrow, wide), { value = 0.5 } }), "1.0000 +-0.0250")
  -- Of logarithms -x, 0 and x the deviation is x; t is 4.303.
  local seeds = { { value = math.exp(-0.01) }, { value = 1.0 }, { value = math.exp(0.01) } }
  harness.equal(shown(ratio.over_seeds(seeds)), ("1.0000 +-%.4f"):format(4.303 * 0.01 / math.sqrt(3)))
  harness.equal(shown(ratio.over_seeds { { value = 0.9 }, { value = 0.9 } }), "0.9000 +-nothing")
  harness.equal(shown(ratio.over_seeds { { value = 0.9, half_width = 0.018 }, { value = 0.9, half_width = 0.018 } }), "0.9000 +-0.0180")
  for _, seed in ipairs(seeds) do seed.half_width = 0.03 * seed.value end
  harness.equal(shown(ratio.over_seeds(seeds)), ("1.0000 +-%.4f"):format(math.sqrt((4.303 * 0.01) ^ 2 / 3 + 0.03 ^ 2)))
  for value, significant in pairs { [1.06] = true, [1.04] = false, [0.96] = false, [0.94] = true } do
    harness.equal(ratio.is_significant { value = value, half_width = 0.05 }, significant, value)
  end
  harness.equal(ratio.is_significant { value = 1.0001 }, true)
end)

harness.test("compare: runs that differ in their seeds alone are one row, whose interval says whether the quotients of the seeds may be 1", function()
  local text <const> = 'return { axes = { config = "gtx480", workload = { "spmv", "vecadd" }, size = "small", seed = { 1, 2 }, sms = 2%s } }'
  local folders = {}
  for policy, axis in pairs { gto = "", lrr = ', policy = "lrr"' } do
    local described
    described, folders[policy] = prepare(text:format(axis))
    harness.equal(sweep(described, folders[policy]), 0)
  end
  local status, output = harness.run("compare", folders.gto, folders.lrr)
  harness.equal(status, 1, output)
  local function cycles(policy) return { query(folders[policy], "--select", "cycles", "--where", "workload = 'spmv'"):match "\n(%d+)\n(%d+)" } end
  local a, b = cycles "gto", cycles "lrr"
  local first, second = math.log(b[1] / a[1]), math.log(b[2] / a[2])
  local value = math.exp((first + second) / 2)
  local half_width = value * 12.706 * math.abs(first - second) / 2
  assert(half_width > math.abs(value - 1), "a difference that is significant")
  harness.contains(output:gsub(" +", " "), "0 runs with the same cycles, 4 with others", ("workload=spmv, 2 seeds %d %d %.3fx +-%.3f not significant\n"):format(
    math.floor((a[1] + a[2]) / 2 + 0.5), math.floor((b[1] + b[2]) / 2 + 0.5), value, half_width))
  assert(output:find "workload=vecadd, 2 seeds, all alike +%d+ +%d+ +0%.%d+x *\n", output)
end)

harness.test("compare: a run is itself in either file of statistics; ratios are not added up, whatever their values", function()
  local a, packed = harness.folder() .. "/run_all", harness.folder() .. "/run_packed"
  harness.run("run", "gtx480", "vecadd", "--size", "small", "--out", a)
  harness.run("run", "gtx480", "vecadd", "--size", "small", "--out", packed, "--stats", "packed")
  local status, output = harness.run("compare", a, packed)
  harness.equal(status, 0, output)
  local text, idle = harness.read(a .. "/stats.json"), harness.folder() .. "/run_idle"
  local changed, rates = text:gsub('("sm%[%d+%]%.l1d%.miss_rate"): 1,', "%1: 0,")
  assert(rates > 1, "no miss rates of 1")
  core.make_folder(idle)
  harness.write("run_idle/stats.json", changed:gsub('"sm%[0%]%.l1d%.misses": %d+', '"sm[0].l1d.misses": 0'))
  for _, folder in ipairs { a, packed } do
    status, output = harness.run("compare", folder, idle, "--all")
    harness.equal(status, 1, output)
    harness.contains(output, "sm[*].l1d.misses")
    assert(not output:find("miss_rate", 1, true), output)
  end
end)

harness.test("with stats_every, intervals are in the database, and add up to the statistics", function()
  local described, folder = prepare(sweep_text:gsub("axes = {", 'stats_every = 2000, stats_of = "sm[*].slots_issued,sm[*].l1d.miss_rate", axes = {'))
  local status, output = sweep(described, folder)
  harness.equal(status, 0, output)
  harness.equal(query(folder, "--sql", [[
    SELECT count(DISTINCT run), sum(value) = (SELECT sum(value) FROM stats WHERE name GLOB 'sm*.slots_issued'),
      max(to_cycle) = (SELECT max(cycles) FROM runs), min(from_cycle) FROM interval_stats WHERE name = 'sm[*].slots_issued'
  ]]):match "\n(.*)\n", "6,1,1,0")
end)

harness.test("stats_of and histograms may be functions of a point: what one policy counts is no column of the others", function()
  harness.write("own.lua", [[
    local own = require("warpwright.policy") "own" { counters = { hits = "Hits" } }
    function own:on_l1_hit() self:count "hits" end
    return own]])
  local described = [[return {
    axes = { config = "gtx480", workload = "vecadd", size = "small,n=2000", policy = { "gto", "%s/own.lua" } },
    stats_every = 500,
    stats_of = function(point) return point.policy == "gto" and "run.ipc" or { "run.ipc", "sm[*].own.hits" } end,
    histograms = function(point) return point.policy == "gto" and "l2[*].queue" or nil end,
  }]]
  local path, folder = harness.write("of_point.lua", described:format(harness.folder())), harness.folder() .. "/of_point"
  local status, output = sweep(path, folder)
  harness.equal(status, 0, output)
  harness.equal(query(folder, "--sql", [[
    SELECT run, name, count(*) > 1, sum(value) = (SELECT sum(value) FROM stats WHERE stats.run = interval_stats.run AND name GLOB 'sm*.own.hits')
    FROM interval_stats GROUP BY run, name]]):match "\n(.*)", "1,run.ipc,1,\n2,run.ipc,1,0\n2,sm[*].own.hits,1,1\n")
  harness.equal(query(folder, "--sql", "SELECT DISTINCT run, name FROM histograms"), "run,name\n1,l2[*].queue\n")
  local wrong = described:gsub('"run.ipc" or {', "3 or {"):format(harness.folder())
  harness.refused("of_point.lua: histograms: expected all, or names and patterns of histograms, got 3", "sweep",
    harness.write("of_point.lua", (wrong:gsub('"l2%[%*%].queue" or nil', "3 or nil"))), "--out", folder .. "2")
  harness.refused("of_point.lua:4: attempt to index a nil value (field 'none')", "sweep",
    harness.write("of_point.lua", (wrong:gsub("return point.policy", "return point.none.policy", 1))), "--out", folder .. "2")
end)

harness.test("with histograms, buckets and percentiles are in the database", function()
  local described, folder = prepare(sweep_text:gsub("axes = {", 'histograms = "all", axes = {'))
  local status, output = sweep(described, folder)
  harness.equal(status, 0, output)
  harness.equal(query(folder, "--sql", [[
    SELECT count(DISTINCT run), sum(count) = (SELECT sum(value) FROM stats WHERE name GLOB 'sm*.lsu.loads_answered')
    FROM histograms WHERE name GLOB '*lsu.*_latency_*'
  ]]):match "\n(.*)\n", "6,1")
  local path = ("%s/%s"):format(folder, query(folder, "--select", "folder"):match "\n([^\n]+)")
  local listed, rows = select(2, harness.run("histograms", path)), 0
  local found = query(folder, "--sql", "SELECT count, p50, p90, p99, max, unit, name FROM percentiles WHERE run = 1")
  for row in found:gsub("^[^\n]*\n", ""):gmatch "[^\n]+" do
    harness.contains(listed:gsub(" +", " "), (row:gsub(",", " ")) .. "\n")
    rows = rows + 1
  end
  harness.equal(rows, select(2, listed:gsub("\n", "")) - 1)
  harness.refused("histograms: expected all, or names and patterns of histograms, got 3", "sweep",
    (prepare(sweep_text:gsub("axes = {", "histograms = 3, axes = {"))), "--out", folder)
end)

harness.finish()
