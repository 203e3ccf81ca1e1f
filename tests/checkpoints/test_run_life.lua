-- A run that is stopped, moved, gone on with: which checkpoint is taken, which stay, and that the statistics are those of the run
-- that nothing happened to.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

local home <const> = harness.folder()
local set <const> = { "--set", "sms=2" }

local function run(...)
  local status, output = harness.run("run", ...)
  return status, output
end

local function passes(...)
  local status, output = run(...)
  harness.equal(status, 0, output)
  return output
end

local function checkpoints(folder)
  local cycles = {}
  for _, name in ipairs(core.list_folder(folder)) do
    cycles[#cycles + 1] = math.tointeger(tonumber(name:match "^(%d+)%.ckpt$"))
  end
  table.sort(cycles)
  return cycles
end

local straight <const> = home .. "/straight"
passes("gtx480", "spmv", "--size", "small", set[1], set[2], "--out", straight)
local wanted <const> = harness.read(straight .. "/stats.txt")

local function same_stats(folder) harness.same_text(harness.read(folder .. "/stats.txt"), wanted, folder) end

harness.test("--keep N leaves the newest N", function()
  local folder = home .. "/keep"
  passes("gtx480", "spmv", "--size", "small", set[1], set[2], "--checkpoint-every", "20000", "--keep", "2", "--out", folder)
  local all, kept = math.tointeger(tonumber(wanted:match "run%.cycles +(%d+)")) // 20000, checkpoints(folder)
  assert(all > 3, "too few checkpoints to see it")
  harness.equal(#kept, 2, "checkpoints")
  harness.equal(kept[2], all * 20000, "the newest")
  harness.equal(kept[1], (all - 1) * 20000, "the one before")
  same_stats(folder)
end)

harness.test("a checkpoint at a cycle that never comes is told of, and one that was made is not", function()
  local folder, told = home .. "/beyond", "checkpoint_at: no checkpoint was made at "
  local cycles = wanted:match "run%.cycles +(%d+)"
  local output = passes("gtx480", "spmv", "--size", "small", set[1], set[2], "--checkpoint-at", "90000000,20000,80000000", "--out", folder)
  harness.contains(output, told .. ("90000000, 80000000: the run ended at cycle %s\n"):format(cycles))
  output = passes("--resume", folder .. "/20000.ckpt", "--checkpoint-at", "10000,30000", "--out", folder .. "2")
  assert(not output:find(told, 1, true), output)
  harness.equal(checkpoints(folder .. "2")[1], 30000, "the one that comes")
  same_stats(folder .. "2")
end)

harness.test("--resume FOLDER goes on there from the newest checkpoint, and past a damaged one from that before", function()
  local folder = home .. "/keep"
  local newest = checkpoints(folder)[2]
  os.remove(folder .. "/stats.txt")
  local output = passes("--resume", folder)
  harness.contains(output, "results              " .. folder)
  same_stats(folder)
  harness.contains(harness.read(folder .. "/provenance.txt"), ("/%d.ckpt"):format(newest))
  local path = ("%s/%d.ckpt"):format(folder, newest)
  local bytes = harness.read(path)
  local file = assert(io.open(path, "wb"))
  file:write(bytes:sub(1, #bytes // 2))
  file:close()
  output = passes("--resume", folder)
  harness.contains(output, ("checkpoint %s: "):format(path))
  harness.contains(harness.read(folder .. "/provenance.txt"), ("/%d.ckpt"):format(newest - 20000))
  same_stats(folder)
end)

harness.test("a run that goes on in its folder removes what killed ones had begun to write there, and nothing else", function()
  local folder = home .. "/keep"
  harness.write("keep/12345.ckpt.tmp-999999999", "the beginning of a checkpoint")
  harness.write("keep/notes.ckpt.tmp-1", "mine")
  passes("--resume", folder)
  local left = {}
  for _, name in ipairs(core.list_folder(folder)) do left[#left + 1] = name:match "tmp.*" end
  harness.equal(table.concat(left, " "), "tmp-1")
end)

harness.test("a folder without checkpoints is an error", function()
  harness.refused(("checkpoint %s: expected a checkpoint, or a folder with one, got a folder without"):format(straight), "run",
    "--resume", straight)
end)

harness.test("--max-cycles leaves a checkpoint, from which the run goes on", function()
  local folder = home .. "/the limit"
  local output = harness.refused("max_cycles was reached", "run", "gtx480", "spmv", "--size", "small", set[1], set[2], "--max-cycles",
    "30000", "--out", folder)
  local cycles = checkpoints(folder)
  harness.equal(#cycles, 1, "checkpoints")
  assert(cycles[1] >= 30000 and cycles[1] < 30000 + 64, "at cycle " .. cycles[1])
  harness.contains(output, ("go on with: warpwright run --resume '%s/%d.ckpt'"):format(folder, cycles[1]))
  passes("--resume", folder)
  same_stats(folder)
end)

harness.test("--checkpoint-every with a time: a checkpoint when the clock rings, and the run is what it was", function()
  local script = harness.write("ring.lua", [[
    local ww = require "warpwright"
    local w = dofile "workloads/spmv/spmv.lua"
    local run = w.run
    function w.run(...)
      os.execute "kill -ALRM $PPID" -- what the clock does every two hours
      return run(...)
    end
    ww.run { config = "gtx480", workload = w, size = "small", set = { "sms=2" }, checkpoint_every = "2h", out = arg[1] }
  ]])
  local status, output = harness.run(script, home .. "/timed")
  harness.equal(status, 0, output)
  harness.equal(#checkpoints(home .. "/timed"), 1, "checkpoints")
  same_stats(home .. "/timed")
end)

harness.test("what is wrong with a time or a number is said", function()
  for _, wrong in ipairs { "0s", "5parsecs", "min", "-3", "0" } do
    harness.refused(("checkpoint_every: expected 1 cycle or more, or a time such as 10min, got '%s'"):format(wrong), "run", "gtx480",
      "vecadd", "--checkpoint-every=" .. wrong)
  end
  harness.refused("keep: expected a whole number from 1 on, got '0'", "run", "gtx480", "vecadd", "--keep", "0")
  harness.contains(passes("gtx480", "vecadd", "--size", "small,n=1024", "--keep", "2", "--out", home .. "/keep_alone"),
    "keep: no checkpoint_every or checkpoint_at is given: checkpoints are made by signals alone\n")
end)

harness.test("a checkpoint of files named from one folder resumes from another", function()
  local folder = home .. "/elsewhere"
  assert(os.execute("mkdir -p " .. folder .. "/policies"))
  local text = 'return require "warpwright.policy" "mine" { doc = "x", order = "lrr", params = { f = { 1, doc = "x" } } }\n'
  harness.write("elsewhere/policies/mine.lua", text)
  harness.write("elsewhere/policies/a+b:c.lua", text)
  local program = core.real_path(arg[-1])
  local command = "cd '%s' && '%s' run gtx480 spmv --size small --set sms=2 --policy '%s' --out '%s/out' 2>&1"
  for _, policy in ipairs { "policies/mine.lua", "gto+./policies/a+b:c.lua:f=3", "./policies/a+b:c.lua:f=3+gto" } do
    local pipe = assert(io.popen(command:format(folder, program, policy, folder) .. " --checkpoint-at 20000"))
    local output = pipe:read "a"
    assert(pipe:close(), output)
    passes("--resume", folder .. "/out/20000.ckpt", "--out", home .. "/resumed")
    harness.same_text(harness.read(home .. "/resumed/stats.txt"), harness.read(folder .. "/out/stats.txt"), policy)
  end
end)

harness.test("a run of a variant, whose base is named from its folder, goes on from another folder", function()
  local folder, program = home .. "/of_base", core.real_path(arg[-1])
  assert(os.execute("mkdir -p " .. folder))
  harness.write("of_base/base.lua", 'return require "warpwright".variant("base", "gtx480", { sms = 2 }, function() end)\n')
  harness.write("of_base/half.lua", [[
local ww = require "warpwright"
return ww.variant("half", "base.lua", function(m) m:clock("slow", "350MHz") m:change("l2[1]", { clock = "slow" }) end)
]])
  assert(os.execute(("cd %s && %s run half.lua spmv --size small --checkpoint-at 20000 --out out > said"):format(folder, program)))
  passes("--resume", folder .. "/out/20000.ckpt", "--out", home .. "/resumed")
  harness.same_text(harness.read(home .. "/resumed/stats.txt"), harness.read(folder .. "/out/stats.txt"), "stats")
  passes(folder .. "/half.lua", "spmv", "--size", "small", "--out", home .. "/anew")
  harness.same_text(harness.read(home .. "/anew/stats.txt"), harness.read(folder .. "/out/stats.txt"), "stats")
end)

--- The first run of a folder makes checkpoints at 20000 and 30000; another one comes into it.
local function shared(name, ...)
  local folder = ("%s/shared_%s"):format(home, name)
  passes("gtx480", "spmv", "--size", "small", "--set", "sms=2", "--checkpoint-at", "20000,30000", "--out", folder)
  return folder, passes("gtx480", "spmv", "--size", "small", "--set", "sms=2", "--out", folder, ...)
end

local function names_in(folder)
  local found = {}
  for _, name in ipairs(core.list_folder(folder)) do
    if name:find "%.ckpt" then found[#found + 1] = name end
  end
  return table.concat(found, " ")
end

harness.test("a workload whose path has a newline and a backslash in it resumes", function()
  local folder, out = home .. "/two\nlines\\n", home .. "/lines"
  core.make_folder(folder)
  harness.write("two\nlines\\n/host.lua", [[
local w = require "warpwright".workload "host" { ptx = false, sizes = { small = {} } }
function w:run(gpu)
  local a = gpu:alloc(512)
  gpu:launch(gpu:load("workloads/vecadd/vecadd.ptx").vecadd, { grid = 1, block = 128, args = { a, a, a, 128 } })
end
return w]])
  passes("gtx480", folder .. "/host.lua", set[1], set[2], "--checkpoint-at", "100", "--out", out)
  passes("--resume", out)
end)

harness.test("checkpoints of another run in a run's folder get another name, and --resume FOLDER goes on with the run", function()
  local folder, output = shared("policy", "--policy", "lrr", "--checkpoint-at", "10000")
  harness.contains(output, "shared_policy: checkpoints of another run are kept as 30000.ckpt.old, 20000.ckpt.old")
  harness.equal(names_in(folder), "10000.ckpt 20000.ckpt.old 30000.ckpt.old")
  local stats = harness.read(folder .. "/stats.txt")
  harness.contains(passes("--resume", folder), "policy lrr")
  harness.same_text(harness.read(folder .. "/stats.txt"), stats, "stats")
  passes("--resume", folder .. "/30000.ckpt.old", "--out", home .. "/from_old")
  same_stats(home .. "/from_old")
end)

harness.test("--keep counts no checkpoints of another run", function()
  local folder = shared("keep", "--policy", "lrr", "--checkpoint-at", "10000,16000", "--keep", "1")
  harness.equal(names_in(folder), "16000.ckpt 20000.ckpt.old 30000.ckpt.old")
end)

harness.test("the checkpoints of a run that begins once more keep their names, those of one with another parameter do not", function()
  harness.equal(names_in((shared "same")), "20000.ckpt 30000.ckpt")
  local folder = shared("set", "--set", "sm[*].l1d.latency=50")
  harness.equal(names_in(folder), "20000.ckpt.old 30000.ckpt.old")
  passes("gtx480", "spmv", "--size", "small", "--set", "sms=2", "--checkpoint-at", "20000", "--out", folder)
  passes("gtx480", "spmv", "--size", "small", "--set", "sms=3", "--out", folder)
  harness.equal(names_in(folder), "20000.ckpt.old 20000.ckpt.old2 30000.ckpt.old")
end)

harness.test("a run that goes on as another sets aside what lies beyond its first cycle", function()
  local folder = home .. "/forked"
  passes("gtx480", "spmv", "--size", "small", "--set", "sms=2", "--checkpoint-at", "10000,20000,30000", "--out", folder)
  passes("--resume", folder .. "/20000.ckpt", "--allow-changes", "--policy", "lrr", "--checkpoint-at", "none", "--out", folder)
  harness.equal(names_in(folder), "10000.ckpt 20000.ckpt 30000.ckpt.old")
end)

harness.test("sim:write gives a script's run the folder of warpwright run", function()
  local script = harness.write("script.lua", ([[
    local ww = require "warpwright"
    local sim = ww.build("gtx480", { set = { "sms=2" } })
    sim:run("spmv", "small")
    print(sim:write("%s/scripted").out)
  ]]):format(home))
  local status, output = harness.run(script)
  harness.equal(status, 0, output)
  same_stats(home .. "/scripted")
  harness.same_text(harness.read(home .. "/scripted/config.lua"), harness.read(straight .. "/config.lua"), "config")
  harness.contains(harness.read(home .. "/scripted/provenance.txt"), "status             completed", "size               small")
end)

harness.test("a resume goes on with checkpoints, energy and the form of statistics, until they are switched off", function()
  local first, files = harness.folder() .. "/kept", nil
  local function names_after(...)
    local status, output = harness.run("run", ...)
    harness.equal(status, 0, output)
    files = table.concat(core.list_folder(first), " ")
  end
  names_after("gtx480", "bfs", "--size", "small", "--set", "sms=2", "--checkpoint-every", "10000", "--keep", "2", "--energy", "fermi_40nm", "--stats",
    "packed", "--out", first)
  local expected, newest = files, nil
  for cycle in files:gmatch "(%d+)%.ckpt" do newest = math.max(newest or 0, math.tointeger(cycle)) end
  local middle = harness.folder() .. "/middle"
  harness.equal(harness.run("run", "gtx480", "bfs", "--size", "small", "--set", "sms=2", "--max-cycles", "15000", "--checkpoint-every", "10000",
    "--keep", "2", "--energy", "fermi_40nm", "--stats", "packed", "--out", middle), 2, "exit status")
  first = middle
  names_after("--resume", middle .. "/10000.ckpt", "--out", middle)
  harness.equal(files, expected)
  harness.contains(core.unpacked(harness.read(middle .. "/stats.zst"), 1 << 24), "energy")
  first = harness.folder() .. "/off"
  names_after("--resume", ("%s/%d.ckpt"):format(middle, newest), "--checkpoint-every", "none", "--energy", "none", "--stats", "all", "--out", first)
  assert(not files:find "ckpt", files)
  assert(not harness.read(first .. "/stats.txt"):find "energy", "energy is not off")
end)

harness.test("a resume from another folder has the policy that it had, and says nothing of another", function()
  local folder, program = harness.folder() .. "/there", core.real_path "build/opt/warpwright"
  core.make_folder(folder)
  harness.write("there/own.lua", 'local own = require "warpwright.policy" "own" { period = 5000 } function own:on_period() end return own')
  assert(os.execute(("cd %s && %s run gtx480 spmv --size small --set sms=2 --policy own.lua --checkpoint-at 10000 --out r > said"):format(folder, program)))
  local status, output = harness.run("run", "--resume", folder .. "/r/10000.ckpt", "--out", folder .. "/s")
  harness.equal(status, 0, output)
  assert(not output:find("what it knew is dropped", 1, true), output)
end)

harness.test("a resume with other bounds than the run had is an error that names them", function()
  local folder = home .. "/bounds"
  passes("gtx480", "spmv", "--size", "small", "--set", "sms=2", "--bounds", "hardware", "--checkpoint-at", "10000", "--out", folder)
  harness.refused("bounds: expected hardware as in the checkpoint, got strict", "run", "--resume", folder .. "/10000.ckpt", "--bounds", "strict")
end)

harness.finish()
