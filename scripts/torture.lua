-- Looks for machines on which the law does not hold; `help` below says how it is called.
local core = require "warpwright.core"
local case = require "scripts.lib.torture.case"
local child = require "scripts.lib.child"
local command_line = require "scripts.lib.command_line"
local coverage = require "scripts.lib.torture.coverage"
local draw = require "scripts.lib.torture.draw"
local finding = require "scripts.lib.torture.finding"
local leg = require "scripts.lib.torture.leg"
local machine = require "scripts.lib.torture.machine"
local shrink = require "scripts.lib.torture.shrink"
local work = require "scripts.lib.torture.work"

local help = [[
usage: scripts/torture [--machines N] [--seed S] [--minutes M] [--jobs N] [--only N] [--settings FILE]
                       [--resumes N] [--builds B,...] [--build-every N] [--findings N] [--out FOLDER]

Draws machines at random, legal ones, from the rows that --describe prints, with a workload at tiny size and policies.
Stats, device memory and results must be the same in other tick orders, on other threads, saved on the way, resumed in
another process, and in other builds. What differs, crashes or hangs is made smaller, and left as a machine file with
the commands that repeat it.

  --machines N     how many; default 100, with --minutes no limit
  --seed S         of the random numbers, default 1; a machine is known by seed and number
  --minutes M      begins no other machine after so many minutes
  --jobs N         processes at a time; default: as many as there are processors
  --only N         machine N alone, with every comparison in a line
  --settings FILE  the settings in FILE.settings, which a finding leaves, in place of drawn ones
  --resumes N      checkpoints of a machine, each resumed; default 1
  --builds B,...   other builds in build/ that a machine may run in, or '' for none; default: all there are of this
                   revision
  --build-every N  one of so many machines does; default 8
  --findings N     how many different failures are made smaller; default 10
  --out FOLDER     for what is found; default out/torture-SEED, not made when there is nothing

The last line is `N machines, R resumes, D differences, C crashes, H hangs, X refused, S slow`: all but R count machines. A
wrong result is a difference, an error after the first cycle a crash; refused is what ends in an error before it, slow what
goes on issuing, but not to its end within 60 million cycles; it is compared with nothing. Exit status 0: no difference,
crash, or hang.
]]

if command_line.helped(arg, help) then return end

local count <const> = command_line.count

local function words_or_none(text) return command_line.words(text) end

local options = { seed = 1, resumes = 1, ["build-every"] = 8, findings = 10 }
local words = command_line.read("torture", arg, options, {
  machines = count(1), seed = count(0), jobs = count(1), only = count(0), resumes = count(0),
  minutes = function(text, _, option)
    return tonumber(text) or command_line.expected("torture", option, "a number of minutes", text)
  end,
  settings = command_line.text, builds = words_or_none, ["build-every"] = count(1), findings = count(0),
  revision = command_line.flag, out = command_line.text, plant = command_line.text,
  legs = command_line.text, answers = command_line.text,
})
if words[1] then command_line.expected_arguments("torture", "options", #words) end

if options.plant then
  leg.plant_file = options.plant
  leg.plant = assert(dofile(options.plant))
end
if options.revision then -- asked by find_builds() of another build
  print(core.revision)
  return
end
if options.legs then -- asked by leg.execute()
  leg.answer(options.legs, options.answers)
  return
end

-- Builds ------------------------------------------------------------------------------------------

local root = arg[-1]:match "^(.*)/[^/]*/[^/]*$"
local own_build = arg[-1]:match "([^/]*)/[^/]*$"
local known_builds = { "opt", "opt-clang", "debug", "asan", "asan-clang", "tsan", "release" }

--- Other builds of this revision by name, and those that are left out, with the reason.
local function find_builds()
  local programs, found, missing = {}, {}, {}
  for _, name in ipairs(options.builds or known_builds) do
    local program = root and ("%s/%s/warpwright"):format(root, name)
    if name == own_build then
      if options.builds then command_line.expected("torture", "--builds", "builds other than the one that runs", name) end
    elseif not (program and core.is_file(program)) then
      missing[#missing + 1] = name
    else
      local revision = child.output { program, core.home_path "scripts/torture.lua", "--revision" }
      if revision == core.revision .. "\n" then
        programs[name] = program
        found[#found + 1] = name
      else
        missing[#missing + 1] = name .. " (of another revision)"
      end
    end
  end
  return programs, found, missing
end

local programs, builds, missing_builds = find_builds()

-- Jobs --------------------------------------------------------------------------------------------

local jobs = options.jobs or math.tointeger(tonumber(child.output { "nproc" })) or 1
local scratch = os.tmpname()
os.remove(scratch)
core.make_folder(scratch)

local running, alive, started_jobs = {}, 0, 0

--- Starts body(folder) in a child; done(value) is called with what it returned, nil when it died.
local function start(body, done)
  started_jobs = started_jobs + 1
  local folder = ("%s/%d"):format(scratch, started_jobs)
  core.make_folder(folder)
  local pid = core.fork(folder .. "/job-printed")
  if pid == 0 then
    local ok, value = pcall(body, folder)
    if not ok then print(value) end
    local written = ok and pcall(leg.write_file, folder .. "/job", "return " .. leg.literal(value))
    core.leave(written and 0 or 3)
  end
  running[pid] = { folder = folder, done = done }
  alive = alive + 1
end

local function wait()
  local pid, status, signal = core.wait_for_child()
  local job = running[pid]
  if not job then return end
  running[pid] = nil
  alive = alive - 1
  local printed = io.open(job.folder .. "/job-printed", "rb")
  local how = signal and "signal " .. signal or "status " .. tostring(status)
  job.done(leg.read_table(job.folder .. "/job"), ("%s: %s"):format(how, printed and printed:read "a" or ""))
  if printed then printed:close() end
  finding.remove_folder(job.folder)
end

-- Machines ----------------------------------------------------------------------------------------

local counts = { machines = 0, resumes = 0, difference = 0, crash = 0, hang = 0, refused = 0, slow = 0, cycles = 0, builds = {} }
local given = options.settings and (leg.read_table(options.settings)
  or command_line.expected("torture", "--settings", "a file of settings", options.settings))
local seen_keys, shrunk, to_shrink, refusals = {}, 0, {}, {}

local function report(...)
  print((...):format(select(2, ...)))
  io.stdout:flush()
end

local function examine_options(folder)
  return {
    folder = folder, programs = programs, builds = builds, resumes = options.resumes,
    build_every = (options.only or given) and 1 or options["build-every"],
  }
end

local function settings_of(number) return given or draw.settings(options.seed, number) end

--- What the user types to see machine `number` again.
local function repeat_with(number)
  if given then return ("scripts/torture --settings %s"):format(options.settings) end
  return ("scripts/torture --seed %d --only %d"):format(options.seed, number)
end

local function finish_shrinking(number)
  return function(smaller, died)
    if not smaller then
      report("machine %d: shrinking it ended with %s", number, died)
      return
    end
    local folder = options.out or ("out/torture-%d"):format(options.seed)
    os.execute("mkdir -p " .. child.quoted(folder))
    local note = smaller.problem
      or ("%d settings of %d are left after %d runs"):format(#smaller.settings, smaller.before, smaller.runs)
    local path = finding.write(folder, number, smaller.settings, smaller.failure, repeat_with(number), note)
    report("machine %d: %s: %s, in %s: %s", number, smaller.failure.kind, note, path, smaller.failure.what)
  end
end

--- Failures that look alike are made smaller once.
local function want_smaller(number, failure, cycles)
  if seen_keys[failure.key] or shrunk >= options.findings then return end
  seen_keys[failure.key], shrunk = true, shrunk + 1
  to_shrink[#to_shrink + 1] = { number = number, failure = failure, cycles = cycles }
end

local function start_shrinking(job)
  start(function(folder)
    local before = settings_of(job.number)
    local settings, failure, runs, problem = shrink.run(before, job.failure, job.cycles, examine_options(folder))
    failure.printed = failure.printed or job.failure.printed
    return { settings = settings, failure = failure, runs = runs, problem = problem, before = #before }
  end, finish_shrinking(job.number))
end

local function finish_machine(number)
  return function(verdict, died)
    counts.machines = counts.machines + 1
    if not verdict then
      counts.crash = counts.crash + 1
      report("machine %d: crash: its examination ended with %s; repeat with: %s", number, died, repeat_with(number))
      return
    end
    counts.resumes, counts.cycles = counts.resumes + verdict.resumes, counts.cycles + verdict.cycles
    if verdict.refused then
      counts.refused = counts.refused + 1
      refusals[#refusals + 1] = verdict.refused
      if options.only or given then report("machine %d is refused: %s", number, verdict.refused) end
    end
    if verdict.slow then
      counts.slow = counts.slow + 1
      report("machine %d is slow: %s", number, verdict.slow)
    end
    for build in pairs(verdict.builds) do counts.builds[build] = (counts.builds[build] or 0) + 1 end
    local kinds = {}
    for _, failure in ipairs(verdict.failures) do
      if not kinds[failure.kind] then counts[failure.kind] = counts[failure.kind] + 1 end
      kinds[failure.kind] = true
      report("machine %d: %s: %s: %s; repeat with: %s", number, failure.kind, case.mode_text(failure.mode), failure.what,
        repeat_with(number))
    end
    if verdict.failures[1] then want_smaller(number, verdict.failures[1], verdict.cycles) end
  end
end

local function start_machine(number)
  start(function(folder)
    local how = examine_options(folder)
    return case.examine(settings_of(number), options.seed, number, how)
  end, finish_machine(number))
end

-- The loop ----------------------------------------------------------------------------------------

local first = options.only or 1
local last = (options.only or given) and first or options.machines or not options.minutes and 100 or math.maxinteger
local began, number = os.time(), first

local function has_more()
  return number <= last and not (options.minutes and os.time() - began >= 60 * options.minutes)
end

if options.only or given then
  local what = work.of(settings_of(first))
  report("%s%s", machine.text(machine.plan(settings_of(first), what.needs), "torture"),
    ("runs %s, size %s, policy %s"):format(what.name, work.size_text(what), what.policy or "default"))
end

while has_more() or to_shrink[1] or alive > 0 do
  if alive < jobs and to_shrink[1] then
    start_shrinking(table.remove(to_shrink, 1))
  elseif alive < jobs and has_more() then
    start_machine(number)
    number = number + 1
  else
    wait()
  end
end
finding.remove_folder(scratch)

-- The end -----------------------------------------------------------------------------------------

for _, line in ipairs(coverage.lines()) do report("%s", line) end
local ran = {}
for i, build in ipairs(builds) do ran[i] = ("%s (%d machines)"):format(build, counts.builds[build] or 0) end
report("builds: %s against %s; not there: %s", own_build or "this one", ran[1] and table.concat(ran, ", ") or "none",
  missing_builds[1] and table.concat(missing_builds, ", ") or "none")
for i = 1, math.min(3, #refusals) do report("refused, for example: %s", refusals[i]) end
report("%d cycles simulated in the plain runs", counts.cycles)
report("%d machines, %d resumes, %d differences, %d crashes, %d hangs, %d refused, %d slow", counts.machines, counts.resumes,
  counts.difference, counts.crash, counts.hang, counts.refused, counts.slow)
os.exit(counts.difference + counts.crash + counts.hang == 0 and 0 or 1)
