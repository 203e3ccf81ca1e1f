-- How good sampled runs are: errors, intervals, speed. `help` below says how it is called.
local command_line = require "scripts.lib.command_line"
local preparation = require "scripts.lib.preparation"
local processes = require "warpwright.processes"
local runner = require "warpwright.runner"
local sample_options = require "warpwright.sample_options"

local help = [[
usage: scripts/sampling [options] CONFIG WORKLOAD[,WORKLOAD...]

Runs each workload under each policy once with all of its timing, and once sampled for each seed, and prints of each pair:

  launches      how many were sampled, like others, and exact
  timing        part of the instructions that had timing
  error         of the estimate of cycles, in percent of the truth
  interval      half-width of its 95% interval, likewise; * where the truth is outside
  counters      how many of the counters of at least --least events in the exact run are inside their intervals
  speed-up      processor time of the exact run over that of the sampled one, inputs and checks included

and at the end: coverage, mean error, and why launches were exact. Runs that were made are not made again. Where runs fail, the
exit status is 1.

  --sample TEXT        default error=3%
  --policies A,B,...   default gto
  --seeds N            sampled runs of each, default 1
  --size SIZE          of the workloads, default medium
  --least N            default 1000
  --jobs N             runs at a time, default 1
  --folder FOLDER      of the results, default out/sampling
]]

local function percent(value) return 100 * value end

--- Of the counters of launches and objects: inside, and all.
local function covered(exact, sampled, least)
  local inside, all = 0, 0
  for name, truth in pairs(exact.values) do
    local width = sampled.widths[name]
    if math.type(truth) == "integer" and truth >= least and width and not name:find "start_cycle" then
      all = all + 1
      if math.abs(sampled.values[name] - truth) <= width then inside = inside + 1 end
    end
  end
  return inside, all
end

--- Of a pair of runs.
local function figures_of(exact, sampled, least)
  local truth, estimate, width = exact.values["run.cycles"], sampled.values["run.cycles"], sampled.widths["run.cycles"] or 0
  local inside, all = covered(exact, sampled, least)
  return { error = (estimate - truth) / truth, width = width / truth, is_inside = math.abs(estimate - truth) <= width,
    is_estimate = sampled.sampled.exact < sampled.sampled.launches, counters = all > 0 and inside / all or 1,
    speed_up = exact.cpu_seconds / sampled.cpu_seconds, sampled = sampled.sampled }
end

local function print_row(run, f)
  local s = f.sampled
  print(("%-14s %-10s %5d/%d/%d %7.1f%% %+7.2f%% %7.2f%%%s %8.1f%% %7.1fx"):format(run.workload, run.policy, s.sampled, s.like_others,
    s.exact, percent(s.share), percent(f.error), percent(f.width), f.is_inside and " " or "*", percent(f.counters), f.speed_up))
end

local function print_sums(all, reasons)
  local estimates, inside, errors, counters, speed = 0, 0, 0, 0, 0
  for _, f in ipairs(all) do
    if f.is_estimate then
      estimates, inside = estimates + 1, inside + (f.is_inside and 1 or 0)
      errors, counters, speed = errors + math.abs(f.error), counters + f.counters, speed + math.log(f.speed_up)
    end
  end
  print(("\n%d pairs, %d of them with estimates"):format(#all, estimates))
  if estimates > 0 then
    print(("cycles: inside in %d of %d (%.0f%%), mean error %.2f%%; counters: %.1f%% inside; speed-up %.1fx (geometric mean)"):format(inside,
      estimates, percent(inside / estimates), percent(errors / estimates), percent(counters / estimates), math.exp(speed / estimates)))
  end
  if reasons[1] then print "\nlaunches with all of their timing:" end
  for _, line in ipairs(reasons) do print("  " .. line) end
end

--- Why launches of the run were exact, each kind of reason once.
local function add_reasons(reasons, run, lines)
  local seen = {}
  for _, line in ipairs(lines) do
    local kernel, why = line:match "^launch %d+, ([^:]*): exact: (.*)$"
    local key = kernel and kernel .. why:gsub("[%d.]+", "N")
    if key and not seen[key] then
      seen[key] = true
      reasons[#reasons + 1] = ("%s %s, %s: %s"):format(run.workload, run.policy, kernel, why)
    end
  end
end

--- What it loads would count among the inputs of every run: in a process of its own.
local function check(options)
  local path = os.tmpname()
  local function work()
    sample_options.read(options.sample)
    preparation.check(options)
  end
  local problems = processes.run({ options }, { jobs = 1, work = work, name = function() return "check" end, say = function() end,
    problem_path = function() return path end })
  os.remove(path)
  if problems[1] then error((problems[1].problem:gsub("^warpwright: error: ", "")), 0) end
end

local function main(options)
  check(options)
  local pairs_of, all_runs = {}, {}
  for _, workload in ipairs(options.workloads) do
    for _, policy in ipairs(options.policies) do
      local run = { measure = "scripts.lib.sampling_measure", config = options.config, workload = workload, size = options.size, policy = policy }
      all_runs[#all_runs + 1] = run
      for seed = 1, options.seeds do
        local sampled = { sample = ("%s,seed=%d"):format(options.sample, seed) }
        for key, value in pairs(run) do sampled[key] = value end
        all_runs[#all_runs + 1] = sampled
        pairs_of[#pairs_of + 1] = { exact = run, sampled = sampled }
      end
    end
  end
  local runs = runner.new { folder = options.folder, jobs = options.jobs, say = function(line) io.stderr:write(line, "\n") end }
  local problems = runs:run(all_runs)
  for _, problem in ipairs(problems) do print(("%s: %s"):format(runner.name(problem.run), problem.problem)) end
  print(("%-14s %-10s %9s %8s %8s %8s  %9s %8s"):format("workload", "policy", "launches", "timing", "error", "interval", "counters", "speed-up"))
  local all, reasons = {}, {}
  for _, pair in ipairs(pairs_of) do
    local exact, sampled = runs:result(pair.exact), runs:result(pair.sampled)
    if exact and sampled then
      all[#all + 1] = figures_of(exact, sampled, options.least)
      print_row(pair.sampled, all[#all])
      if pair.sampled.sample:find "seed=1$" then add_reasons(reasons, pair.sampled, sampled.sampled.lines) end
    end
  end
  print_sums(all, reasons)
  if problems[1] then os.exit(1) end
end

local function read_arguments(args)
  local options = { sample = "error=3%", policies = { "gto" }, seeds = 1, size = "medium", least = 1000, jobs = 1, folder = "out/sampling" }
  local count = command_line.count(1)
  local words = command_line.read("sampling", args, options, { sample = command_line.text, policies = command_line.policies,
    seeds = count, size = command_line.text, least = count, jobs = count, folder = command_line.text })
  if #words ~= 2 then command_line.expected_arguments("sampling", "CONFIG and WORKLOAD,...", #words) end
  options.config, options.workloads = words[1], command_line.words(words[2])
  return options
end

if command_line.helped(arg, help) then return end
main(read_arguments(arg))
