-- Runs that are killed, stopped, or cannot write: the checkpoints that are there resume to the stats of a run that was
-- never stopped, and a run that cannot save goes on. Earlier checkpoints of a killed run, which were closed when it wrote
-- later ones, are those of test_resume; scripts/soak --kill resumes them, too, and kills more.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
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

local most_tries <const> = 200

for _, case in ipairs { { "bfs", "gto" }, { "kmeans", "lrr" } } do
  local workload, policy = case[1], case[2]
  harness.test(("the last checkpoints of a killed run of %s resume"):format(workload), function()
    local lines = {}
    local runs = oracle.case {
      folder = harness.folder(), jobs = 2, threaded = 0, seed = 1, config = "gtx480", workload = workload,
      size = "small", policy = policy, newest = 2, report = function(line) lines[#lines + 1] = line end,
    }
    local killed = runs:kill_often(4)
    for _ = 1, most_tries do -- runs that had ended before they were killed, since this computer is busy
      if killed >= 3 and runs.resumes >= 5 then break end
      killed = killed + runs:kill_often(1)
    end
    assert(runs.unequal == 0, table.concat(lines, "\n"))
    assert(killed >= 3 and runs.resumes >= 5, ("only %d runs were killed, only %d checkpoints were left"):format(killed,
      runs.resumes))
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
  for i = 1, most_tries do
    if i > 10 and killed >= 3 then break end
    if oracle.run_and_kill({ program, script, path, "16" }, ("[ -e %s ]"):format(path), 0.05 + 0.4 * random:float()) then
      killed = killed + 1
    end
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
  if not is_root or shell("mount -t tmpfs -o size=3500k none %s", disk) ~= 0 then
    harness.skip "this user may not mount a file system"
  end
  local ok, problem = pcall(function()
    local out = disk .. "/out"
    local status, output = shell("'%s' run %s --out %s", program, growing, out)
    went_on(out, status, output, 1)
    harness.contains(output, "No space left on device")
  end)
  shell("umount %s", disk)
  assert(ok, problem)
end)

-- Runs that do something to themselves in the middle, however busy this computer is ---------------------------------------

-- Under it a run does what the environment says: lines "CYCLE COMMAND" of commands of the shell, each begun when the one before
-- has ended, as soon as the core clock has passed that cycle.
local acting = harness.write("acting.lua", [[
local policy = require "warpwright.policy"
local acting = policy "acting" { scope = "machine", period = 4000 }
function acting:start() self.state.done = 0 end
function acting:on_period()
  for cycle, command in (os.getenv "WW_ACTIONS" or ""):gmatch "(%d+) ([^\n]+)" do
    cycle = tonumber(cycle)
    if cycle > self.state.done and self:cycle() >= cycle then
      self.state.done = cycle
      io.popen(command):close()
    end
  end
end
return acting]])

--- Runs the program with these actions, { { cycle, command } ... }; returns its exit status and output.
local function run_acting(actions, text, ...)
  local lines = {}
  for i, action in ipairs(actions) do lines[i] = ("%d %s"):format(action[1], action[2]) end
  return shell("WW_ACTIONS='%s' exec %s", table.concat(lines, "\n"), text:format(...))
end

--- Sends this signal to the program.
local function sending(signal) return ("kill -%s $PPID"):format(signal) end

local long = ("gtx480 kmeans --size medium,points=32768 --policy %s"):format(acting)
local long_out = harness.folder() .. "/long"
harness.equal(run_acting({}, "'%s' run %s --out %s", program, long, long_out), 0, "exit status")
local long_stats = stats_of(long_out)

harness.test("a run whose folder cannot be written to for a while goes on, and saves again", function()
  -- Root writes anywhere by this capability alone; another user might not reach the program's own folder.
  local bound = is_root and "setpriv --inh-caps=-dac_override --bounding-set=-dac_override" or ""
  if is_root and shell(bound .. " true") ~= 0 then harness.skip "root may not give up the right to write anywhere" end
  local out = harness.folder() .. "/locked"
  local status, output = run_acting({ { 30000, "chmod 555 " .. out }, { 50000, "chmod 755 " .. out } },
    "%s '%s' run %s --checkpoint-every 20000 --out %s", bound, program, long, out)
  harness.equal(status, 0, output)
  harness.contains(output, "checkpoint at cycle 40000: ", "make a file in its folder: Permission denied; the run goes on", "verified")
  local cycles = {}
  for i, checkpoint in ipairs(oracle.checkpoints(out)) do cycles[i] = checkpoint.cycle end
  harness.contains(table.concat(cycles, " "), "20000 60000 ")
  harness.equal(stats_of(out), long_stats, "stats.txt")
end)

-- Signals ------------------------------------------------------------------------------------------------------------

harness.test("SIGUSR1 makes a checkpoint and the run ends as without it", function()
  local out = harness.folder() .. "/usr1"
  local status, output = run_acting({ { 16000, sending "USR1" }, { 80000, sending "USR1" } }, "'%s' run %s --out %s", program, long, out)
  harness.equal(status, 0, output)
  harness.equal(stats_of(out), long_stats, "stats.txt")
  local told = 0
  for path in output:gmatch "SIGUSR1: checkpoint (%S+)\n" do
    told = told + 1
    local resumed, text = harness.run("run", "--resume", path, "--out", harness.folder() .. "/resumed")
    harness.equal(resumed, 0, text)
    harness.equal(stats_of(harness.folder() .. "/resumed"), long_stats, "stats.txt after a resume")
  end
  harness.equal(told, 2, output)
end)

for _, signal in ipairs { "TERM", "INT" } do
  harness.test(("SIG%s stops a run three times, and it ends as if it had never been stopped"):format(signal), function()
    local words, cycle = long, 16000
    for i = 1, 3 do
      local out = ("%s/%s-%d"):format(harness.folder(), signal, i)
      local status, output = run_acting({ { cycle, sending(signal) } }, "'%s' run %s --out %s", program, words, out)
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

harness.test("a SIGINT half a second after the first kills at once", function()
  local status, output = run_acting({ { 15999, sending "INT" }, { 16000, "sleep 0.6; " .. sending "INT" } }, "'%s' run %s --out %s",
    program, long, harness.folder() .. "/twice")
  assert(status == 2 or status == 128 + 2, ("status %s, %s"):format(status, output)) -- by signal 2
  harness.equal(#oracle.checkpoints(harness.folder() .. "/twice"), 0, "checkpoints")
  assert(not core.is_file(harness.folder() .. "/twice/stats.txt"), "it wrote stats")
end)

harness.test("two at once, as timeout sends them, stop the run as one does", function()
  local out = harness.folder() .. "/two"
  local status, output = run_acting({ { 16000, sending "TERM" .. "; " .. sending "TERM" } }, "'%s' run %s --out %s", program, long, out)
  harness.equal(status, 75, output)
  harness.equal(#oracle.checkpoints(out), 1, "checkpoints")
end)

harness.test("a request to save does not make a request to stop forgotten", function()
  local status, output = run_acting({ { 15999, sending "TERM" }, { 16000, sending "USR1" } }, "'%s' run %s --out %s", program, long,
    harness.folder() .. "/both")
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
  harness.contains(output, "no checkpoint was made")
end)

harness.finish()
