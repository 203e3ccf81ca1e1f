-- The runner of many runs: its results are those of single runs; what is stored is not made again, unless something that it was
-- made of has changed; what is lost is made again.
local ww = require "warpwright"
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local runner = require "warpwright.runner"

local said, folders = nil, 0

local function new_folder()
  folders = folders + 1
  return ("%s/%d"):format(harness.folder(), folders)
end

local function open(folder, jobs)
  said = {}
  return runner.new { folder = folder, jobs = jobs or 2, say = function(line) said[#said + 1] = line end }
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

local vecadd <const> = { config = "gtx480", workload = "vecadd", size = "small,n=4096", policy = "lrr" }
local spmv <const> = { config = "gtx480", workload = "spmv", size = "small,rows=512", policy = "gto", set = { "sms=2" } }

harness.test("a result has the sums and launches of the run", function()
  local runs = open(new_folder())
  harness.equal(#runs:run { vecadd, spmv }, 0, "problems")
  local kept, r = runs:result(spmv), ww.run { config = "gtx480", workload = "spmv", size = "small,rows=512", policy = "gto",
    set = { "sms=2" }, out = false }
  harness.equal(kept.cycles, r.cycles, "cycles")
  harness.equal(kept.sums["sm[*].l1d.misses"], r["sm[*].l1d.misses"], "misses")
  harness.equal(kept.kernels[1].cycles, r.launches[1].cycles, "cycles of the kernel")
  harness.equal(kept.energy.total, r.energy.total, "energy")
  harness.equal(kept.sms, 2, "SMs")
end)

harness.test("a run that ends well without a result has failed", function()
  local runs = runner.new { folder = new_folder(), jobs = 1, say = function() end, simulate = function() core.leave(0) end }
  local problems = runs:run { vecadd }
  harness.equal(#problems, 1, "problems")
  harness.equal(problems[1].problem, "the run ended without a result")
  harness.equal(harness.read(runs:problem_path(vecadd)), "the run ended without a result\n")
end)

harness.test("what is stored is not made again, in whatever list it is", function()
  local folder = new_folder()
  open(folder):run { vecadd }
  local runs = open(folder)
  runs:run { vecadd, vecadd }
  harness.equal(#said, 0, "runs made")
  runs:run { spmv, vecadd, spmv }
  harness.equal(#said, 1, "runs made")
end)

harness.test("a policy that was edited has its runs made again, and no others", function()
  local folder = new_folder()
  local path = harness.folder() .. "/mine.lua"
  local text = 'return require "warpwright.policy" "mine" { doc = "For a test", order = "%s" }\n'
  write(path, text:format "gto")
  local mine = { config = "gtx480", workload = "spmv", size = "small,rows=512", policy = path, set = { "sms=1" } }
  open(folder):run { mine, vecadd }
  local before = open(folder):result(mine).cycles
  write(path, text:format "lrr")
  local runs = open(folder)
  runs:run { mine, vecadd }
  harness.equal(#said, 1, table.concat(said, "\n"))
  assert(runs:result(mine).cycles ~= before, "the edited policy did not run")
end)

harness.test("of scripts, what measures a run counts, and no others", function()
  require "scripts.lib.reproduce.kernels"
  local measured = { config = "gtx480", workload = "spmv", size = "small,rows=512", policy = "gto",
    measure = "scripts.lib.reproduce.replacement" }
  local runs = open(new_folder())
  harness.equal(#runs:run { measured, vecadd }, 0, "problems")
  local files = runs:result(measured).files
  assert(files["home:scripts/lib/reproduce/replacement.lua"] and files["home:scripts/lib/replay.lua"], "its module is left out")
  assert(not files["home:scripts/lib/reproduce/kernels.lua"] and not files["home:scripts/lib/runner.lua"], "another counts")
  for path in pairs(runs:result(vecadd).files) do assert(not path:find "^home:scripts/", path) end
end)

harness.test("another program makes all again", function()
  local folder = new_folder()
  open(folder):run { vecadd }
  local runs = open(folder)
  runs.program = "another"
  runs:run { vecadd }
  harness.equal(#said, 1, "runs made")
end)

harness.test("a file that is cut off is made again", function()
  local folder = new_folder()
  local runs = open(folder)
  runs:run { vecadd }
  local path = runs:path_of(vecadd)
  local text = harness.read(path)
  for _, length in ipairs { 0, 10, #text // 2, #text - 3 } do
    write(path, text:sub(1, length))
    runs = open(folder)
    runs:run { vecadd }
    harness.equal(#said, 1, "runs made")
    assert(runs:result(vecadd).cycles > 0, "no result")
  end
end)

harness.test("a run that fails stops no other, says why, and is tried again", function()
  local folder = new_folder()
  local wrong = { config = "gtx480", workload = "spmv", size = "small", policy = "no_such_policy" }
  for _ = 1, 2 do
    local runs = open(folder)
    local problems = runs:run { wrong, vecadd }
    harness.equal(#problems, 1, "problems")
    assert(problems[1].problem:find("no policy matches 'no_such_policy'", 1, true), problems[1].problem)
    assert(not runs:result(wrong) and runs:result(vecadd))
  end
end)

harness.test("a killed list goes on with what is missing, to the same results", function()
  local folder, list = new_folder(), {}
  for i = 1, 6 do list[i] = { config = "gtx480", workload = "spmv", size = ("small,rows=%d"):format(256 * i), policy = "gto" } end
  local script = harness.folder() .. "/list.lua"
  write(script, ([[
    local runner, list = require "warpwright.runner", {}
    for i = 1, 6 do list[i] = { config = "gtx480", workload = "spmv", size = ("small,rows=%%d"):format(256 * i), policy = "gto" } end
    runner.new { folder = %q, jobs = 1, say = function()
      if list.said then os.execute "kill -KILL $PPID" end
      list.said = true
    end }:run(list)
  ]]):format(folder .. "/runs"))
  harness.run(script)
  local runs = open(folder .. "/runs")
  runs:run(list)
  harness.equal(#said, 4, "runs made after two were done and the list was killed")
  local whole = open(folder .. "/whole")
  whole:run(list)
  for _, run in ipairs(list) do harness.equal(runs:result(run).cycles, whole:result(run).cycles, runner.name(run)) end
end)

harness.finish()
