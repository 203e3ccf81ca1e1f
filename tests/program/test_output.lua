-- Where results go: what cannot be written is told before the run, a folder is one run's at a time, and output that is lost
-- is an error.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local inputs = require "warpwright.inputs"

local program = arg[-1]
local folder = harness.folder()

local small = { "vecadd", "--size", "small,n=1024", "--set", "sms=1" }

local function run_into(out, ...) return harness.run("run", "gtx480", table.unpack(small), "--out", out, ...) end

--- Runs a command line of the shell; returns its exit status and output.
local function shell(text, ...)
  local pipe = assert(io.popen(("(%s) 2>&1"):format(text:format(...))))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  return status, output
end

--- A host program that runs `body` and then nothing else.
local function workload(name, body)
  return harness.write(name .. ".lua", ([[
local ww = require "warpwright"
local w = ww.workload %q { ptx = %q, sizes = { small = {} } }
function w:run(gpu)
%s
end
return w
]]):format(name, ".version 3.1\n.target sm_20\n.address_size 64\n.entry nothing() { ret; }\n", body))
end

-- Folders that cannot be ----------------------------------------------------------------------------------------------

harness.test("an output folder that is a file is told before the run", function()
  local path = harness.write("file", "mine")
  local status, output = run_into(path)
  harness.equal(status, 2, output)
  harness.equal(output, ("warpwright: error: out: expected a folder, got '%s': Not a directory\n"):format(path))
  harness.equal(harness.read(path), "mine")
end)

harness.test("a folder below a file is told before the run", function()
  local status, output = run_into(harness.write("file", "mine") .. "/below")
  harness.equal(status, 2, output)
  harness.equal(output, ("warpwright: error: cannot make the folder %s/file/below: Not a directory\n"):format(folder))
end)

harness.test("a folder that cannot be written to is told before the run", function()
  -- Root writes anywhere by this capability alone; another user might not reach the program's own folder.
  local bound = select(2, shell "id -u") == "0\n" and "setpriv --inh-caps=-dac_override --bounding-set=-dac_override" or ""
  if shell(bound .. " true") ~= 0 then harness.skip "this user may not give up the right to write anywhere" end
  local out = folder .. "/closed"
  shell("mkdir %s && chmod 555 %s", out, out)
  local status, output = shell("%s '%s' run gtx480 %s --out %s", bound, program, table.concat(small, " "), out)
  shell("chmod 755 %s", out)
  harness.equal(status, 2, output)
  harness.equal(output, ("warpwright: error: out: expected a folder that can be written to, got '%s': Permission denied\n"):format(out))
end)

harness.test("out = a number is told with the script's line", function()
  harness.refused("out.lua:2: out: expected a folder or false, got 3", harness.write("out.lua",
    'local ww = require "warpwright"\nww.run { config = "gtx480", workload = "vecadd", size = "small,n=1024", out = 3 }'))
end)

harness.test("options of a wrong type are told with the script's line", function()
  for option, wanted in pairs { ["order = {}"] = "order: expected a tick order", ["resume = true"] = "resume: expected a checkpoint, or a folder with one, got true",
    ['out = ""'] = "out: expected a folder or false, got ''" } do
    harness.refused("wrong.lua:2: " .. wanted, harness.write("wrong.lua",
      ('local ww = require "warpwright"\nww.run { config = "gtx480", workload = "vecadd", size = "small,n=1024", %s }'):format(option)))
  end
end)

harness.test("set = a text is told with the script's line", function()
  harness.refused("set.lua:2: set: expected a table, got 'sms=3'", harness.write("set.lua",
    'local ww = require "warpwright"\nww.run { config = "gtx480", workload = "vecadd", size = "small,n=1024", set = "sms=3", out = false }'))
end)

harness.test("results replace all of those of another run in their folder, but for its checkpoints", function()
  local out = folder .. "/again"
  local status, output = shell("'%s' run gtx480 kmeans --size small --out %s --profile --histograms all --memcheck --stats-every 20000 --checkpoint-at 30000 --trace 'sm[0]' --to 200", program, out)
  harness.equal(status, 0, output)
  shell("'%s' report %s", program, out)
  local kept = { ["30000.ckpt"] = true, ["config.lua"] = true, ["provenance.txt"] = true, ["stats.json"] = true, ["stats.txt"] = true }
  for _, name in ipairs { "profile.csv", "histograms.csv", "memcheck.txt", "intervals.csv", "trace.txt", "report.html" } do
    assert(core.is_file(out .. "/" .. name), name)
  end
  status, output = shell("'%s' run gtx480 vecadd --size small,n=1024 --out %s", program, out)
  harness.equal(status, 0, output)
  for _, name in ipairs(core.list_folder(out)) do assert(kept[name], name) end
  status, output = shell("'%s' run gtx480 vecadd --size small,n=2048 --out %s --stats packed", program, out)
  harness.equal(status, 0, output)
  assert(core.is_file(out .. "/stats.zst") and not core.is_file(out .. "/stats.json"), "statistics of two runs")
end)

-- A folder is one run's at a time -------------------------------------------------------------------------------------

local second = ("'%s' run gtx480 %s"):format(program, table.concat(small, " "))
local taken = "out: expected a folder that no other run writes to, got '%s', to which one does"

harness.test("a second run into the folder of one that has not ended is refused, and the first ends as it would", function()
  local out = folder .. "/shared"
  local path = workload("first", ([[
  local pipe = io.popen(%q)
  io.open(%q, "w"):write(pipe:read "a"):close()
  self:check_that("the second is refused", select(3, pipe:close()) == 2)]]):format(second .. " --out " .. out .. " 2>&1", folder .. "/second"))
  local status, output = harness.run("run", "gtx480", path, "--out", out)
  harness.equal(status, 0, output)
  harness.equal(harness.read(folder .. "/second"), "warpwright: error: " .. taken:format(out) .. "\n")
  harness.contains(harness.read(out .. "/stats.json"), '"workload": "first"')
  status, output = run_into(out)
  harness.equal(status, 0, output)
end)

harness.test("a run that was killed keeps nobody from its folder", function()
  local out = folder .. "/killed"
  local status = harness.run("run", "gtx480", workload("killed", '  io.popen("kill -9 $PPID"):close()'), "--out", out)
  assert(status == "killed by signal 9" or status == 128 + 9, status)
  local output
  status, output = run_into(out)
  harness.equal(status, 0, output)
end)

harness.test("a script's runs may follow each other into a folder, whatever became of them, and not be in each other", function()
  local path = harness.write("runs.lua", ([[
local ww = require "warpwright"
local options = { config = "gtx480", workload = "vecadd", size = "small,n=1024", set = { "sms=1" }, out = %q }
ww.run(options)
options.max_cycles = 10
assert(not pcall(ww.run, options))
options.max_cycles = nil
options.workload, options.size = %q, "small"
local ok, problem = pcall(ww.run, options)
print(ok, problem)
options.workload = "vecadd"
print(ww.run(options).checks)
]]):format(folder .. "/many", workload("inner", ([[
  ww.run { config = "gtx480", workload = "vecadd", size = "small,n=1024", out = %q }]]):format(folder .. "/many"))))
  local status, output = harness.run(path)
  harness.equal(status, 0, output)
  harness.contains(output, "false\t", "inner.lua:8: " .. taken:format(folder .. "/many"), "\n2\n")
end)

harness.test("a variant of sim:fork has its folder to itself, and gives it back", function()
  local path = harness.write("fork.lua", ([[
local ww = require "warpwright"
local sim = ww.build("gtx480", { set = { "sms=1" } })
sim:start("vecadd", "small,n=1024")
sim:run { until_cycle = 16 }
for _ = 1, 2 do assert(#sim:fork { { name = "a" }, { name = "b" }, out = %q } == 2) end
local lock <close> = require("warpwright.core").lock_folder(%q)
sim:fork { { name = "a" }, { name = "b" }, out = %q }
]]):format(folder .. "/fork", folder .. "/fork/b", folder .. "/fork"))
  harness.refused("fork.lua:7: " .. taken:format(folder .. "/fork/b"), path)
end)

-- What is printed ----------------------------------------------------------------------------------------------------

--- Which of the writes failed, and why, the C library may have forgotten by then.
local function says_so(output, what)
  assert(output:find "^warpwright: error: stdout: expected all output to be written, got: [^\n]+\n$", what .. ": " .. output)
end

harness.test("output that a full device does not take is an error", function()
  for _, words in ipairs { "--help", "--describe L1", "--version", ("run gtx480 %s --out %s/full"):format(table.concat(small, " "), folder) } do
    local status, output = shell("'%s' %s > /dev/full", program, words)
    harness.equal(status, 2, words)
    says_so(output, words)
  end
end)

harness.test("a comparison that a full device does not take ends with an error's status, not that of a difference", function()
  for _, name in ipairs { "vecadd", "saxpy" } do
    harness.equal(harness.run("run", "gtx480", name, "--size", "small", "--out", ("%s/compared_%s"):format(folder, name)), 0)
  end
  local words = ("compare %s/compared_vecadd %s/compared_saxpy"):format(folder, folder)
  harness.equal(shell("'%s' %s > /dev/null", program, words), 1)
  local status, output = shell("'%s' %s > /dev/full", program, words)
  harness.equal(status, 2)
  says_so(output, words)
end)

harness.test("so is what a script printed, however it ends", function()
  for _, case in ipairs { { 'print "x"', 2 }, { 'io.write "x"', 2 }, { 'print "x" os.exit(0)', 2 }, { 'io.write "x" os.exit(true, true)', 2 },
    { 'print "x" os.exit(7)', 7 } } do
    local status, output = shell("'%s' %s > /dev/full", program, harness.write("printing.lua", case[1]))
    harness.equal(status, case[2], case[1])
    says_so(output, case[1])
  end
end)

harness.test("a closed stdout is an error only for what prints", function()
  local status, output = shell("'%s' --version >&-", program)
  harness.equal(status, 2, output)
  says_so(output, "closed")
  harness.equal(shell("'%s' %s >&-", program, harness.write("silent.lua", "local x = 1")), 0)
  harness.equal(shell("'%s' %s >&-", program, harness.write("silent.lua", "os.exit(5)")), 5)
end)

harness.test("a run that gets no more memory says so, wherever it needs it, and is not taken for a bug", function()
  local out, ended_for_it = folder .. "/memory", 0
  for kib = 34000, 84000, 5000 do
    local status, output = shell("ulimit -v %d; '%s' run gtx480 vecadd --size small,n=1024 --memory 16MiB --profile --histograms all --trace 'sm[0]' "
      .. "--checkpoint-every 500 --stats packed --out %s", kib, program, out)
    assert(status == 0 or status == 2, ("%d KiB: status %s: %s"):format(kib, status, output))
    if output:find "error: memory: expected more of this computer" then ended_for_it = ended_for_it + 1 end
  end
  assert(ended_for_it > 0, "no limit was met")
end)

harness.test("what killed writers left beside a file is gone when it is written again, and nothing else", function()
  local room, host = folder .. "/left", core.host().name
  core.make_folder(room)
  local dead, alive, elsewhere = ("x.txt.%s-99999999.tmp"):format(host), ("x.txt.%s-1.tmp"):format(host), "x.txt.elsewhere-99999999.tmp"
  local other = ("y.txt.%s-99999999.tmp"):format(host)
  for _, name in ipairs { dead, alive, elsewhere, other, "x.txt.tmp" } do harness.write("left/" .. name, "") end
  inputs.write_file(room .. "/x.txt", "new")
  local left = { alive, elsewhere, other, "x.txt", "x.txt.tmp" }
  table.sort(left)
  harness.equal(table.concat(core.list_folder(room), " "), table.concat(left, " "))
  inputs.write_file(room .. "/y.txt", "new")
  assert(not core.is_file(room .. "/" .. other), "the other file's is left")
end)

harness.test("the command line in provenance.txt is quoted as a shell takes it", function()
  local out = harness.folder() .. "/with blanks"
  local status, output = harness.run("run", "gtx480", "vecadd", "--size", "small,n=1024", "--set", "sm[*].warps=24", "--out", out)
  harness.equal(status, 0, output)
  harness.contains(harness.read(out .. "/provenance.txt"), (" run gtx480 vecadd --size small,n=1024 --set 'sm[*].warps=24' --out '%s'\n"):format(out))
end)

harness.finish()
