-- CUDA programs stopped and resumed: started again and answered from the log, they end with the same statistics.
local cuda_programs = require "tests.lib.cuda_programs"
local harness = require "tests.lib.harness"

local function path(name) return harness.folder() .. "/" .. name end

local whole

--- The stats of a run that was not stopped, with checkpoints in launches and between them, in the folder "whole".
local function run_whole()
  local program = cuda_programs.build "api"
  if not whole then
    local status, output = cuda_programs.run("gtx480", "--out", path "whole", "--checkpoint-at", "300,2000,7000,12000,15000", "--", program, "steps")
    harness.equal(status, 0, output)
    whole = harness.read(path "whole/stats.txt")
  end
  return whole
end

local function checkpoints_in(folder)
  local found = {}
  local pipe = assert(io.popen("ls " .. path(folder)))
  for name in pipe:lines() do
    if name:find "%.ckpt$" then found[#found + 1] = path(folder) .. "/" .. name end
  end
  pipe:close()
  return found
end

harness.test("resumed in any launch: the same statistics, with another number of threads", function()
  local stats = run_whole()
  local files = checkpoints_in "whole"
  harness.equal(#files, 5, "checkpoints")
  for i, file in ipairs(files) do
    local out = path("again" .. i)
    local status, output = harness.run("cuda", "--resume", file, "--threads", tostring(i), "--out", out)
    harness.equal(status, 0, output)
    harness.contains(output, "steps: good")
    harness.same_text(harness.read(out .. "/stats.txt"), stats, "stats of " .. file)
  end
end)

harness.test("checkpoints and the log change nothing", function()
  local stats, program = run_whole(), cuda_programs.build "api"
  harness.equal(cuda_programs.run("gtx480", "--out", path "plain", "--", program, "steps"), 0)
  harness.same_text(harness.read(path "plain/stats.txt"), stats, "stats")
end)

harness.test("chunks that the driver API maps, moves and maps elsewhere", function()
  local program = cuda_programs.build "virtual_memory"
  local status, output = cuda_programs.run("gtx480", "--out", path "chunks", "--checkpoint-at", "300,1100,1900", "--", program)
  harness.equal(status, 0, output)
  local files = checkpoints_in "chunks"
  harness.equal(#files, 3, "checkpoints")
  for i, file in ipairs(files) do
    local out = path("chunks" .. i)
    status, output = harness.run("cuda", "--resume", file, "--out", out)
    harness.equal(status, 0, output)
    harness.contains(output, "grows: good")
    harness.same_text(harness.read(out .. "/stats.txt"), harness.read(path "chunks/stats.txt"), "stats of " .. file)
  end
end)

harness.test("a program that gives the device addresses of its own", function()
  if not os.execute "setarch -R true 2>/dev/null" then harness.skip "addresses of programs vary here" end
  local program = cuda_programs.build "api"
  local status, output = cuda_programs.run("gtx480", "--out", path "addresses", "--checkpoint-at", "1000", "--", program, "addresses")
  harness.equal(status, 0, output)
  status, output = harness.run("cuda", "--resume", checkpoints_in "addresses"[1], "--out", path "addresses_again")
  harness.equal(status, 0, output)
  harness.same_text(harness.read(path "addresses_again/stats.txt"), harness.read(path "addresses/stats.txt"), "stats")
end)

harness.test("another folder: the program runs where it ran", function()
  local stats = run_whole()
  local file = checkpoints_in "whole"[2]
  local home = assert(io.popen "pwd"):read "l"
  local pipe = assert(io.popen(("cd / && WARPWRIGHT_HOME='%s' '%s' cuda --resume '%s' --out '%s' 2>&1"):format(home,
    require "warpwright.core".real_path "/proc/self/exe", file, path "elsewhere")))
  local output = pipe:read "a"
  assert(pipe:close(), output)
  harness.same_text(harness.read(path "elsewhere/stats.txt"), stats, "stats")
end)

harness.test("managed variables are those of the checkpoint", function()
  local program = cuda_programs.compile("managed", "sm_70")
  local status, output = cuda_programs.run("gtx480", "--capability", "7.0", "--out", path "managed_run", "--checkpoint-at", "3000,8500,9600",
    "--max-cycles", "100000", "--", program)
  harness.equal(status, 0, output)
  for i, file in ipairs(checkpoints_in "managed_run") do
    status, output = harness.run("cuda", "--resume", file, "--out", path("managed_again" .. i))
    harness.equal(status, 0, output)
    harness.contains(output, "managed: 172 242 213 104 257")
  end
end)

harness.test("killed at once: the last checkpoint goes on to the same end", function()
  local stats, program = run_whole(), cuda_programs.build "api"
  local watch = ([[
'%s' cuda gtx480 --out '%s' --checkpoint-every 1000 -- '%s' steps >/dev/null 2>&1 &
while [ ! -e '%s/4000.ckpt' ] && [ ! -e '%s/4016.ckpt' ] && kill -0 $! 2>/dev/null; do :; done
kill -9 $! 2>/dev/null; wait $! 2>/dev/null; true]]):format(arg[-1], path "killed", program, path "killed", path "killed")
  assert(os.execute(watch))
  local files = checkpoints_in "killed"
  local status, output = harness.run("cuda", "--resume", files[1], "--out", path "revived")
  harness.equal(status, 0, output)
  harness.same_text(harness.read(path "revived/stats.txt"), stats, "stats")
end)

harness.test("with launches that have no timing", function()
  local program = cuda_programs.build "api"
  local status, output = cuda_programs.run("gtx480", "--launches", "2-3,8-", "--checkpoint-at", "300,2500,5000", "--out", path "some", "--", program, "steps")
  harness.equal(status, 0, output)
  local files = checkpoints_in "some"
  harness.equal(#files, 3, "checkpoints")
  for i, file in ipairs(files) do
    local out = path("some" .. i)
    status, output = harness.run("cuda", "--resume", file, "--out", out)
    harness.equal(status, 0, output)
    harness.same_text(harness.read(out .. "/stats.txt"), harness.read(path "some/stats.txt"), "stats of " .. file)
  end
end)

harness.test("a program that does something else is an error that names the call", function()
  run_whole()
  local files = checkpoints_in "whole"
  local late = path "whole/12000.ckpt"
  assert(#files == 5)
  local status, output = harness.run_with("OTHER=1", "cuda", "--resume", late, "--out", path "diverged")
  harness.equal(status, 2, output)
  harness.contains(output, "resume: call ", "expected 'write 4096 bytes at 0x", "got 'alloc 64 bytes'")
end)

harness.test("SIGTERM while the program computes: a checkpoint, if they are asked for, and the way to go on", function()
  local program = cuda_programs.build "api"
  local function stop(...)
    local script = ("%s basic; kill -TERM $PPID; exec sleep 30"):format(program)
    local words = table.pack("gtx480", ...)
    for _, word in ipairs { "--", "/bin/sh", "-c", script } do words[#words + 1] = word end
    return cuda_programs.run(table.unpack(words))
  end
  local status, output = stop("--checkpoint-at=99999999", "--out=" .. path "stopped")
  harness.equal(status, 75, output)
  harness.contains(output, "the CUDA program has not ended: SIGTERM; go on with: warpwright cuda --resume " .. path "stopped/")
  status, output = stop("--out=" .. path "stopped_at_once")
  harness.equal(status, 75, output)
  harness.contains(output, "SIGTERM; no checkpoint was made", "was not asked for checkpoints")
end)

harness.test("a checkpoint of another kind of run, and a run without a log", function()
  cuda_programs.libraries()
  harness.equal(harness.run("run", "gtx480", "kmeans", "--size", "small", "--checkpoint-at", "100", "--out", path "lua"), 0)
  harness.refused("expected a run of a CUDA program, got workload kmeans", "cuda", "--resume", checkpoints_in "lua"[1])
end)

harness.finish()
