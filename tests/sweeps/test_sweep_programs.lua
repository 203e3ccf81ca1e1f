-- Sweeps of CUDA programs: what their runs are, what makes them again, stops, warm-ups and mistakes.
local core = require "warpwright.core"
local cuda_programs = require "tests.lib.cuda_programs"
local harness = require "tests.lib.harness"
local names = require "warpwright.names"

local count = 0

--- A file with the text of a sweep, and a new folder beside it.
local function prepare(text)
  count = count + 1
  return harness.write(("sweep%d.lua"):format(count), text), ("%s/out%d"):format(harness.folder(), count)
end

local function sweep(file, folder, ...) return harness.run("sweep", file, "--out", folder, "--jobs", "2", ...) end

local function query(folder, ...)
  local status, output = harness.run("query", folder, "--csv", ...)
  harness.equal(status, 0, output)
  return output
end

local function write_script(name, text)
  local path = harness.write(name, "#!/bin/sh\n" .. text)
  os.execute("chmod +x " .. path)
  return path
end

harness.test("a command line is split as a shell does it", function()
  for text, words in pairs { ["a b"] = { "a", "b" }, [" a  'b c' "] = { "a", "b c" }, ['"a \\" b"'] = { 'a " b' }, ["a\\ b"] = { "a b" },
    ["''"] = { "" }, ["'it'\\''s'"] = { "it's" }, ["a'b'\"c\""] = { "abc" }, ["'\\'"] = { "\\" } } do
    harness.equal(table.concat(names.words_of_shell(text), "|"), table.concat(words, "|"), text)
    harness.equal(table.concat(names.words_of_shell(names.command_line(words)), "|"), table.concat(words, "|"), "again: " .. text)
  end
  harness.equal(names.words_of_shell "a 'b", nil)
  harness.equal(#names.words_of_shell " ", 0)
end)

harness.test("each program and policy is a run, with the statistics that warpwright cuda has", function()
  local program = cuda_programs.build "api"
  local file, folder = prepare(([[return { axes = { config = "gtx480", program = { "%s steps", { "%s", "volumes" } },
    policy = { "gto", "lrr" } } }]]):format(program, program))
  local status, output = sweep(file, folder)
  harness.equal(status, 0, output)
  harness.contains(query(folder, "--select", "workload, size, program, policy, status, launches > 1 as several"),
    ("api,cuda,%s steps,gto,done,1\n"):format(program), ("api,cuda,%s volumes,lrr,done,"):format(program))
  local alone = harness.folder() .. "/alone"
  harness.equal(cuda_programs.run("gtx480", "--policy", "lrr", "--out", alone, "--", program, "steps"), 0)
  local run = query(folder, "--select", "folder", "--where", "program like '%steps' and policy = 'lrr'"):match "\n([^\n]+)"
  status, output = harness.run("compare", alone, folder .. "/" .. run)
  harness.contains(output, "0 of ")
  harness.contains(harness.read(("%s/%s/provenance.txt"):format(folder, run)), ("program            %s steps\n"):format(program))
  harness.contains(harness.read(("%s/%s.log"):format(folder, run)), "steps: good")
  harness.equal(status, 0, output)
end)

harness.test("what a program writes into the folder that it is told of stays beside its run's results", function()
  local script = write_script("writes.sh", ('%s basic && echo "$1" > "$WARPWRIGHT_OUT/word.txt"\n'):format(cuda_programs.build "api"))
  local file, folder = prepare(([[return { axes = { config = "gtx480", program = { "%s one", "%s two" } } }]]):format(script, script))
  local status, output = sweep(file, folder)
  harness.equal(status, 0, output)
  local number = 0
  for run in query(folder, "--select", "folder"):gmatch "runs/[^\n]+" do
    number = number + 1
    harness.equal(harness.read(("%s/%s/word.txt"):format(folder, run)), number == 1 and "one\n" or "two\n")
  end
  harness.equal(number, 2, "runs")
end)

harness.test("launches without timing and the capability are axes", function()
  local program = cuda_programs.build "api"
  local file, folder = prepare(([[return { axes = { config = "gtx480", program = "%s steps", timed = { "0-", "1" },
    capability = { "7.0", "8.0" } } }]]):format(program))
  local status, output = sweep(file, folder)
  harness.equal(status, 0, output)
  local cycles = {}
  for timed, capability, of in query(folder, "--select", "timed, capability, cycles"):gmatch "([%d-]+),([%d.]+),(%d+)\n" do
    cycles[timed .. " on " .. capability] = tonumber(of)
  end
  assert(cycles["1 on 7.0"] < cycles["0- on 7.0"] and cycles["1 on 8.0"] == cycles["1 on 7.0"], output)
end)

harness.test("a program that ends with another status than 0 is a run that failed, and is tried again", function()
  local program = cuda_programs.build "api"
  local given = harness.write("given.txt", "3")
  local script = write_script("judge.sh", ("%s basic && exit $(cat \"$1\")\n"):format(program))
  local file, folder = prepare(([[return { axes = { config = "gtx480", program = "%s %s" } }]]):format(script, given))
  local status, output = sweep(file, folder)
  harness.equal(status, 1, output)
  harness.contains(query(folder, "--select", "status, error"), ("failed,\"%s %s: expected the program to end with 0, got 3\"\n"):format(script, given))
  harness.write("given.txt", "0")
  status, output = sweep(file, folder)
  harness.equal(status, 0, output)
end)

harness.test("a changed program, and a changed file that its arguments name, are made again", function()
  local program = cuda_programs.build "api"
  local argument = harness.write("argument.txt", "steps")
  local script = write_script("reads.sh", ("%s $(cat \"$1\")\n"):format(program))
  local file, folder = prepare(([[return { axes = { config = "gtx480", program = "%s %s" } }]]):format(script, argument))
  local function missing()
    return tonumber(select(2, harness.run("sweep", "--status", folder)):match "(%d+) missing")
  end
  harness.equal(sweep(file, folder), 0)
  harness.equal(missing(), 0)
  harness.write("argument.txt", "steps ")
  harness.equal(missing(), 1, "missing, with another argument")
  harness.write("argument.txt", "steps")
  harness.equal(missing(), 0)
  write_script("reads.sh", ("exec %s $(cat \"$1\")\n"):format(program))
  harness.equal(missing(), 1, "missing, with another program")
end)

--- A policy that sends the sweep SIGTERM in cycle 5000 of its run, once.
local function stopping_policy(marker)
  return harness.write("stops_once.lua", ([[
local once = require "warpwright.policy" "stops_once" { doc = "Stops the sweep, once", scope = "machine", period = 1000 }
function once:on_period()
  if self:cycle() < 5000 or io.open(%q) then return end
  assert(io.open(%q, "w")):close()
  local state <close> = assert(io.open("/proc/self/stat"))
  os.execute("kill -TERM " .. table.concat({ state:read("a"):match "^(%%d+) .*%%) %%a (%%d+)" }, " "))
end
return once]]):format(marker, marker))
end

harness.test("a run that is stopped in the middle of a program leaves a checkpoint, and goes on to the same database", function()
  local program, marker = cuda_programs.build "api", harness.folder() .. "/stopped_once"
  local file, straight = prepare(([[return { axes = { config = "gtx480", program = "%s steps", policy = "%s" } }]]):format(program,
    stopping_policy(marker)))
  harness.write("stopped_once", "")
  harness.equal(sweep(file, straight), 0)
  local folder = straight .. "-stopped"
  os.remove(marker)
  local status, output = sweep(file, folder)
  harness.equal(status, 75, output)
  harness.contains(select(2, harness.run("sweep", "--status", folder)), "1 runs: 0 done, 0 failed, 1 stopped, 0 missing")
  status, output = sweep(file, folder)
  harness.equal(status, 0, output)
  assert(harness.read(folder .. "/results.sqlite") == harness.read(straight .. "/results.sqlite"), "another database")
end)

harness.test("policies take over from the warm-up of a program", function()
  local program = cuda_programs.build "api"
  local file, folder = prepare(([[return { axes = { config = "gtx480", program = "%s steps", policy = { "gto", "lrr" } },
    warm_up = { cycles = 8000, policy = "gto" } }]]):format(program))
  local status, output = sweep(file, folder)
  harness.equal(status, 0, output)
  local alone = harness.folder() .. "/alone_gto"
  harness.equal(cuda_programs.run("gtx480", "--policy", "gto", "--stats", "summary", "--out", alone, "--", program, "steps"), 0)
  local cycles = harness.read(alone .. "/stats.txt"):match "run.cycles%s+(%d+)"
  harness.equal(query(folder, "--select", "cycles", "--where", "policy = 'gto'"):match "\n(%d+)", cycles, "cycles, by way of the warm-up")
end)

harness.test("a kernel of a PTX file is a workload with its launch, as a line or word by word", function()
  local vecadd = core.home_path "workloads/vecadd/vecadd.ptx"
  local file, folder = prepare(([[return { axes = { config = "gtx480", policy = { "gto", "lrr" },
    workload = { "%s --grid 8 --block 128 --arg f32[1024]=iota --arg 'f32[1024]' --arg f32[1024] --arg 1024",
      { "%s", "--grid", "4", "--block", "128", "--arg", "f32[512]", "--arg", "f32[512]", "--arg", "f32[512]", "--arg", "512" } } } }]]):format(
    vecadd, vecadd))
  local status, output = sweep(file, folder)
  harness.equal(status, 0, output)
  local rows = query(folder, "--select", "workload, policy, status, warp_instructions")
  harness.contains(rows, "iota --arg 'f32[1024]' --arg f32[1024] --arg 1024,gto,done,704\n", "--arg 512,lrr,done,352\n")
end)

--- Axes beside config, and what is said of them.
local wrong <const> = {
  { 'program = { "./none" }', "program: expected a file, or a name in PATH, got './none'" },
  { 'program = "none_in_path"', "program: expected a file, or a name in PATH, got 'none_in_path'" },
  { 'program = ""', "program: expected a command line, its quotes closed, got ''" },
  { [[program = "a 'b"]], [[program: expected a command line, its quotes closed, got 'a 'b']] },
  { 'program = { { "a", 3 } }', "program: expected a command line, word by word, got 3" },
  { 'program = { {} }', "program: expected one value or more, got none" },
  { 'program = "true", workload = "spmv"', "expected runs with workload and no program, got one with both" },
  { 'program = "true", size = "small"', "expected runs with size and no program, got one with both" },
  { 'program = "true", timed = { "0-", "x" }', "expected numbers of launches from 0 on, such as 3-7,9 or 3-, got 'x'" },
  { 'program = "true", capability = "eight"', "expected a compute capability, such as 8.0, got 'eight'" },
  { 'workload = "none.ptx --grid 8 --block 128"', "run: no PTX file matches 'none.ptx'" },
  { 'workload = "none.ptx --grid \'8"', "workload: expected a command line, its quotes closed, got" },
  { 'workload = "spmv", timed = "1"', "expected runs with timed and a program, got one without" },
  { 'workload = "spmv", capability = "8.0"', "expected runs with capability and a program, got one without" },
}

harness.test("what no program can be is refused before anything runs", function()
  cuda_programs.libraries()
  for _, case in ipairs(wrong) do
    local file, folder = prepare(("return { axes = { config = 'gtx480', %s } }"):format(case[1]))
    harness.refused(case[2], "sweep", file, "--out", folder)
  end
end)

harness.finish()
