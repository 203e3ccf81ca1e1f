-- Sweeps under a real Slurm, started here for the test: the database is that of the local run, whatever became of the tasks.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

local program <const> = arg[-1]

local function is_installed()
  local pipe = assert(io.popen "for program in munged slurmctld slurmd sbatch; do command -v $program; done")
  local _, count = pipe:read("a"):gsub("\n", "")
  pipe:close()
  return count == 4
end

local function slurm_test(name, body)
  harness.test(name, function()
    if not is_installed() then harness.skip "Slurm is not installed (slurmctld slurmd slurm-client munge)" end
    body()
  end)
end

local clusters = 0

--- Runs a shell script on a new cluster. `submit FILE FOLDER...` submits a sweep; `settle` waits until no job is left. Returns its output.
local function on_cluster(script)
  clusters = clusters + 1
  local folder = ("%s/cluster%d"):format(core.real_path(harness.folder()), clusters)
  local path = harness.write("script.sh", ([[
set -eu
cd '%s'
program='%s'
submit() { file=$1 out=$2; shift 2; "$program" sweep "$file" --out "$out" --slurm "$@"; }
settle() { while squeue -h | grep -q .; do sleep 0.2; done; }
%s]]):format(core.real_path ".", core.real_path(program), script))
  local pipe = assert(io.popen(("tests/lib/slurm.sh '%s' sh '%s' 2>&1"):format(folder, path)))
  local output = pipe:read "a"
  assert(pipe:close(), output)
  return output
end

local function write_sweep(name, text)
  local file, folder = harness.write(name .. ".lua", text), core.real_path(harness.folder()) .. "/" .. name
  local status, output = harness.run("sweep", file, "--out", folder .. "-local")
  harness.equal(status, 0, output)
  return file, folder
end

local function same_databases(folder)
  assert(harness.read(folder .. "/results.sqlite") == harness.read(folder .. "-local/results.sqlite"), "another database than the local one")
end

--- A workload whose host program waits before its launch while the file `hold` is there, and says so by a file `hold`-TASK with its
-- process number; and that file.
local hold <const> = core.real_path(harness.folder()) .. "/hold"
local held <const> = harness.write("held.lua", ([[
local ww = require "warpwright"
local core = require "warpwright.core"
local held = ww.workload "held" { doc = "Waits for its test", ptx = "%s", sizes = { small = { n = 1 << 20 } } }
function held:run(gpu, size)
  local hold = "%s"
  local told = ("%%s-%%s"):format(hold, os.getenv "SLURM_ARRAY_TASK_ID")
  if core.is_file(hold) and not core.is_file(told) then
    local file = io.open(told .. ".new", "w")
    file:write(io.open "/proc/self/stat":read "n")
    file:close()
    os.rename(told .. ".new", told)
  end
  while core.is_file(hold) do os.execute "sleep 0.05" end
  local a = gpu:upload(ww.array("f32", size.n):random(1, -1, 1))
  gpu:launch(self.kernels.vecadd, { grid = size.n // 256, block = 256, args = { a, a, gpu:alloc(4 * size.n), size.n } })
end
return held
]]):format(core.real_path "workloads/vecadd/vecadd.ptx", hold))

harness.test("--dry-run shows what would be submitted, also without Slurm, and leaves nothing", function()
  local folder = harness.folder() .. "/dry"
  local file = harness.write("dry.lua", [[return {
    axes = { config = "gtx480", workload = "vecadd", size = "small", policy = { "lrr", "gto", "ccws" } },
    warm_up = { cycles = 500, policy = "lrr" } }]])
  local status, output = harness.run_with("PATH=/usr/bin:/bin", "sweep", file, "--out", folder, "--slurm", "--dry-run", "--runs-per-task", "2",
    "--", "--partition=main")
  harness.equal(status, 0, output)
  local function command(name, options)
    return ("\nsbatch --parsable --job-name='sweep-%s' --output='%s/slurm/%s-%%A_%%a.log' %s '--partition=main' '%s/slurm/%s.sh'\n    #!/bin/sh\n"):format(
      name, folder, name, options, folder, name)
  end
  harness.contains(output, "3 runs, 3 to be made", command("warm-up-1", "--array=1-1"),
    command("run-1", "--array=1-2 --dependency=afterany:warm-up-1"), (" sweep --task 'run-1' --out '%s' &\n"):format(folder),
    command("collect", "--dependency=afterany:run-1"), (" sweep --collect '%s'\n"):format(folder))
  assert(not core.real_path(folder), "it has made the folder")
end)

slurm_test("job arrays within MaxArraySize, behind their warm-ups, give the database of the local run", function()
  local file, folder = write_sweep("arrays", [[return {
    axes = { config = "gtx480", workload = { "vecadd", "spmv" }, size = "small", sms = 2, policy = { "lrr", "gto", "ccws" } },
    warm_up = { cycles = 5000, policy = "lrr" } }]])
  local output = on_cluster(("submit '%s' '%s'; settle; submit '%s' '%s'"):format(file, folder, file, folder))
  -- A task of an array that has begun meanwhile has taken a number of its own.
  assert(output:find "6 of 6 runs submitted as jobs %d+, %d+, %d+, %d+\n", output)
  harness.contains(output, "0 of 6 runs submitted")
  same_databases(folder)
end)

slurm_test("a task that is told to stop is put back into the queue, and goes on from its checkpoint", function()
  local file, folder = write_sweep("requeue", ([[return {
    axes = { config = "gtx480", workload = "%s", size = "small", sms = 4, policy = "lrr" } }]]):format(held))
  local output = on_cluster(([[
rm -f '%s-1'
touch '%s'
submit '%s' '%s'
until test -e '%s-1'; do sleep 0.05; done
scancel --batch --signal=TERM 1_1
sleep 2
rm '%s'
settle
cat '%s'/slurm/run-1-*.log
]]):format(hold, hold, file, folder, hold, hold, folder))
  harness.contains(output, ": stopped")
  local provenance = assert(io.popen(("cat '%s'/runs/*/provenance.txt"):format(folder)))
  local text = provenance:read "a"
  provenance:close()
  harness.contains(text, "resumed from", ".ckpt")
  same_databases(folder)
end)

slurm_test("after a task was killed the same command submits what is missing", function()
  local file, folder = write_sweep("killed", ([[return {
    axes = { config = "gtx480", workload = "%s", size = "small", sms = 4, policy = { "lrr", "gto" } } }]]):format(held))
  local output = on_cluster(([[
rm -f '%s-1'
touch '%s'
submit '%s' '%s'
until test -e '%s-1'; do sleep 0.05; done
parent() { awk '/^PPid/ { print $2 }' /proc/$1/status; }
run=$(cat '%s-1'); task=$(parent $run)
kill -KILL $(parent $task) $task $run
while squeue -h -r -o %%i | grep -qx 1_1; do sleep 0.05; done
rm '%s'
settle
"$program" sweep --status '%s'
submit '%s' '%s'
settle
]]):format(hold, hold, file, folder, hold, hold, hold, folder, file, folder))
  harness.contains(output, "2 runs: 1 done, 0 failed, 0 stopped, 1 missing", "1 of 2 runs submitted")
  same_databases(folder)
end)

slurm_test("tasks of a node that fails are put back into the queue", function()
  local file, folder = write_sweep("node", ([[return {
    axes = { config = "gtx480", workload = "%s", size = "small", sms = 4, policy = "lrr" } }]]):format(held))
  local output = on_cluster(([[
rm -f '%s-1'
touch '%s'
submit '%s' '%s'
until test -e '%s-1'; do sleep 0.05; done
scontrol update nodename=$(hostname -s) state=down reason=test
rm '%s'
sleep 1
squeue -h -r -o 'seen %%i %%T'
scontrol update nodename=$(hostname -s) state=resume || true # it may have come back by itself
scontrol update jobid=1 starttime=now
settle
"$program" sweep --status '%s'
]]):format(hold, hold, file, folder, hold, hold, folder))
  harness.contains(output, "seen 1_1 PENDING", "1 runs: 1 done")
  same_databases(folder)
end)

slurm_test("what sbatch refuses is said", function()
  local file = harness.write("refused.lua", [[return { axes = { config = "gtx480", workload = "vecadd", size = "small" } }]])
  local output = on_cluster(("submit '%s' '%s/refused' -- --partition=none || echo status $?"):format(file, harness.folder()))
  harness.contains(output, "sweep --slurm: sbatch: ", "invalid partition", "status 2")
end)

harness.finish()
