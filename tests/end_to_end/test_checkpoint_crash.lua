-- Runs that are killed, stopped, or cannot write: every checkpoint that is there resumes to the stats of a run that was
-- never stopped, and a run that cannot save goes on. scripts/soak --kill kills more.
local core = require "warpwright.core"
local harness = require "harness"
local oracle = require "scripts.lib.resume_oracle"

local program = arg[-1]

--- Runs a command line of the shell; returns its exit status and output.
local function shell(text, ...)
  local pipe = assert(io.popen(("(%s) 2>&1"):format(text:format(...))))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  return status, output
end

local function stats_of(out) return harness.read(out .. "/stats.txt") end

local function straight(name, ...)
  local out = harness.folder() .. "/" .. name
  local status, output = harness.run("run", "gtx480", ...)
  harness.equal(status, 0, output)
  return stats_of(out)
end

local function names_in(folder, pattern)
  local found = {}
  for _, name in ipairs(core.list_folder(folder)) do
    if name:find(pattern) then found[#found + 1] = name end
  end
  return found
end

-- Kills --------------------------------------------------------------------------------------------------------------

for _, case in ipairs { { "bfs", "gto" }, { "kmeans", "lrr" } } do
  local workload, policy = case[1], case[2]
  harness.test(("every checkpoint of a killed run of %s resumes"):format(workload), function()
    local lines = {}
    local runs = oracle.case {
      folder = harness.folder(), jobs = 2, threaded = 0, seed = 1, config = "gtx480", workload = workload,
      size = "small", policy = policy, report = function(line) lines[#lines + 1] = line end,
    }
    local killed = runs:kill_often(10)
    assert(runs.unequal == 0, table.concat(lines, "\n"))
    assert(killed >= 3 and runs.resumes >= 5, ("only %d of 10 runs were killed, only %d checkpoints were left"):format(
      killed, runs.resumes))
  end)
end

harness.test("a checkpoint that is written over and over is whole whenever the writer is killed", function()
  local out, path = harness.folder() .. "/over", harness.folder() .. "/over.ckpt"
  local want = straight("over", "bfs", "--size", "small,nodes=1024", "--set", "sms=4", "--out", out)
  local script = harness.write("over.lua", [[
local ww = require "warpwright"
local sim = ww.build("gtx480", { set = { "sms=4" } })
sim:start("bfs", "small,nodes=1024")
local cycle, ended = 0, false
repeat
  cycle = cycle + arg[2]
  ended = sim:run { until_cycle = cycle }
  sim:checkpoint(arg[1])
until ended
]])
  local random, killed, cycles = oracle.random("over"), 0, {}
  for _ = 1, 10 do
    if oracle.run_and_kill({ program, script, path, "16" }, 0.05 + 0.4 * random:float()) then killed = killed + 1 end
    if core.is_file(path) then
      local status, output = harness.run("run", "--resume", path, "--out", out)
      harness.equal(status, 0, output)
      harness.equal(stats_of(out), want, "stats.txt")
      local _, text = harness.run("inspect", path)
      cycles[text:match "cycle = (%d+)"] = true
    end
  end
  assert(killed >= 3 and next(cycles), killed .. " killed")
  harness.equal(harness.run(script, path, "4096"), 0, "exit status")
  harness.equal(#names_in(harness.folder(), "^over%.ckpt%.tmp"), 0, "temporaries after a run that was not killed")
end)

-- Runs that cannot save ----------------------------------------------------------------------------------------------

-- What it writes is random numbers, which do not compress: later checkpoints are larger.
local growing = "gtx480 vecadd --size small,n=600000 --checkpoint-every 5000"
local growing_stats = straight("growing", "vecadd", "--size", "small,n=600000", "--out", harness.folder() .. "/growing")

--- The run said that it could not save `least` times or more, ended verified, and what it saved before resumes.
local function went_on(out, status, output, least)
  harness.equal(status, 0, output)
  harness.contains(output, "warpwright: checkpoint at cycle ", "; the run goes on", "verified")
  local _, failed = output:gsub("; the run goes on\n", "")
  assert(failed >= least, output)
  harness.equal(stats_of(out), growing_stats, "stats.txt")
  harness.equal(#names_in(out, "%.tmp"), 0, "temporaries")
  local saved = oracle.checkpoints(out)
  assert(saved[1], "no checkpoint was written before: " .. output)
  for _, checkpoint in ipairs(saved) do
    local resumed, text = harness.run("run", "--resume", checkpoint.path, "--out", harness.folder() .. "/resumed")
    harness.equal(resumed, 0, text)
    harness.equal(stats_of(harness.folder() .. "/resumed"), growing_stats, "stats.txt after a resume")
  end
end

harness.test("a run that may write no larger files goes on without its later checkpoints", function()
  local out = harness.folder() .. "/limited"
  local status, output = shell("ulimit -f 3000; '%s' run %s --out %s", program, growing, out)
  went_on(out, status, output, 1)
end)

local is_root = select(2, shell "id -u") == "0\n"

harness.test("a run on a disk that fills up goes on without its later checkpoints", function()
  local disk = harness.folder() .. "/disk"
  core.make_folder(disk)
  -- Room for two checkpoints of 0.9 and 1.3 MB and for the results, and not for a third of 1.7 MB.
  if not is_root or shell("mount -t tmpfs -o size=3500k none %s", disk) ~= 0 then return end -- not permitted here
  local ok, problem = pcall(function()
    local out = disk .. "/out"
    local status, output = shell("'%s' run %s --out %s", program, growing, out)
    went_on(out, status, output, 1)
    harness.contains(output, "No space left on device")
  end)
  shell("umount %s", disk)
  assert(ok, problem)
end)

harness.test("a run whose folder cannot be written to for a while goes on, and saves again", function()
  local out, log = harness.folder() .. "/locked", harness.folder() .. "/locked.log"
  core.make_folder(out)
  -- Root writes anywhere by this capability alone; another user might not reach the program's own folder.
  local bound = is_root and "setpriv --inh-caps=-dac_override --bounding-set=-dac_override" or ""
  if is_root and shell(bound .. " true") ~= 0 then return end
  local status = shell([[
%s '%s' run gtx480 kmeans --size medium,points=32768 --checkpoint-every 20000 --out %s > %s 2>&1 & pid=$!
until ls %s/*.ckpt > /dev/null 2>&1 || ! kill -0 $pid; do sleep 0.01; done
chmod 555 %s
until grep 'goes on' %s > /dev/null || ! kill -0 $pid; do sleep 0.01; done
chmod 755 %s
wait $pid]], bound, program, out, log, out, out, log, out)
  local output = harness.read(log)
  harness.equal(status, 0, output)
  harness.contains(output, "make a file in its folder: Permission denied; the run goes on", "verified")
  local cycles = oracle.checkpoints(out)
  local failed = tonumber(output:match "checkpoint at cycle (%d+)")
  assert(cycles[1].cycle < failed and cycles[#cycles].cycle > failed, output)
end)

-- Signals ------------------------------------------------------------------------------------------------------------

local long = "gtx480 kmeans --size medium,points=32768"
local long_stats = straight("long", "kmeans", "--size", "medium,points=32768", "--out", harness.folder() .. "/long")

--- Starts a run that writes a checkpoint at `cycle`, and does `then_do` with $pid once that is there. Returns its exit
-- status and output.
local function once_running(words, out, cycle, then_do)
  local log = harness.folder() .. "/signal.log"
  local status = shell([[
'%s' run %s --checkpoint-at %d --out %s > %s 2>&1 & pid=$!
until ls %s/%d.ckpt > /dev/null 2>&1 || ! kill -0 $pid; do sleep 0.01; done
%s
wait $pid]], program, words, cycle, out, log, out, cycle, then_do)
  return status, harness.read(log)
end

harness.test("SIGUSR1 makes a checkpoint and the run ends as without it", function()
  local out = harness.folder() .. "/usr1"
  local status, output = once_running(long, out, 16000, "kill -USR1 $pid; sleep 0.2; kill -USR1 $pid")
  harness.equal(status, 0, output)
  harness.equal(stats_of(out), long_stats, "stats.txt")
  local told = 0
  for path in output:gmatch "SIGUSR1: checkpoint (%S+)\n" do
    told = told + 1
    local resumed, text = harness.run("run", "--resume", path, "--out", harness.folder() .. "/resumed")
    harness.equal(resumed, 0, text)
    harness.equal(stats_of(harness.folder() .. "/resumed"), long_stats, "stats.txt after a resume")
  end
  assert(told >= 1, output)
end)

for _, signal in ipairs { "TERM", "INT" } do
  harness.test(("SIG%s stops a run three times, and it ends as if it had never been stopped"):format(signal), function()
    local words, cycle = long, 16000
    for i = 1, 3 do
      local out = ("%s/%s-%d"):format(harness.folder(), signal, i)
      local status, output = once_running(words, out, cycle, ("kill -%s $pid"):format(signal))
      harness.equal(status, 75, "exit status, " .. output)
      local saved = output:match "go on with: warpwright run %-%-resume (%S+)\n"
      assert(saved, output)
      harness.contains(output, ("SIG%s: checkpoint %s\n"):format(signal, saved))
      harness.contains(harness.read(out .. "/provenance.txt"), "SIG" .. signal)
      local stopped_at = math.tointeger(saved:match "(%d+)%.ckpt$")
      harness.equal(math.tointeger(stats_of(out):match "run%.cycles +(%d+)"), stopped_at, "cycles in stats.txt")
      words, cycle = "--resume " .. saved, stopped_at + 16000
    end
    local out = harness.folder() .. "/" .. signal
    local status, output = shell("'%s' run %s --out %s", program, words, out)
    harness.equal(status, 0, output)
    harness.contains(output, "verified")
    harness.equal(stats_of(out), long_stats, "stats.txt")
  end)
end

harness.test("a second SIGINT kills at once", function()
  -- The two may arrive as one, when this computer is busy: then the run stops in order, and another one is tried.
  local statuses = {}
  for i = 1, 10 do
    local out = ("%s/twice-%d"):format(harness.folder(), i)
    local status = once_running("gtx480 vecadd", out, 16000, "kill -INT $pid; sleep 0.02; kill -INT $pid")
    if status == 128 + 2 then return end
    statuses[i] = status
    harness.equal(status, 75, "exit status")
  end
  error("it was never killed: " .. table.concat(statuses, " "))
end)

harness.test("a request to save does not make a request to stop forgotten", function()
  local out = harness.folder() .. "/both"
  local status, output = once_running("gtx480 vecadd", out, 16000, "kill -TERM $pid; kill -USR1 $pid")
  harness.equal(status, 75, output)
end)

harness.test("a signal without an output folder stops the run and says that nothing was saved", function()
  local script = harness.write("no_folder.lua", [[
local ww = require "warpwright"
local function stopping(w)
  local inner = w.run
  function w:run(gpu, size)
    os.execute("kill -TERM " .. arg[1])
    inner(self, gpu, size)
  end
  return w
end
ww.run { config = "gtx480", workload = stopping(require("warpwright.load").get("workload", "vecadd")), size = "small",
  out = false }
]])
  local status, output = shell("exec sh -c 'exec \"%s\" %s $$'", program, script)
  harness.equal(status, 75, output)
  harness.contains(output, "there is no checkpoint")
end)

harness.finish()
