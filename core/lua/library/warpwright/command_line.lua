-- The command line. Returns a function of the arguments (0 is the program) that returns the exit status.
local arguments = require "warpwright.arguments"
local checkpoint = require "warpwright.checkpoint"
local core = require "warpwright.core"
local help = require "warpwright.help"
local names = require "warpwright.names"
local output = require "warpwright.output"
local run_kernel = require "warpwright.run_kernel"
require "warpwright.loading"

local function usage_error(text, ...) core.user_error(text:format(...) .. "; see warpwright --help") end

--- Does a command get --help, before any "--"? To nvcc it is a word of its own.
local function asks_for_help(args, first)
  if not help.find(args[first]) then return false end
  if args[first + 1] == "-h" or args[first + 1] == "--help" then return true end
  for i = first + 2, args[first] == "nvcc" and 0 or arguments.before_dashes(args, first + 1) do
    if args[i] == "--help" then return true end
  end
  return false
end

--- A number of the command line.
local function whole(word, option, what, text)
  return text and (math.tointeger(tonumber(text)) or arguments.error(word, "%s: expected a %s, got '%s'", option, what, text))
end

--- Options as those of ww.run, the other words, and options of one kernel, of which `run` alone has any, as { option, value, ... }.
local function read_options(word, args, first, last)
  local options, words, given = arguments.read(word, args, first, last)
  local launch = {}
  for _, pair in ipairs(given) do
    if run_kernel.is_option(pair[1]) then
      launch[#launch + 1], options[pair[1]:sub(3)] = pair, nil
    end
  end
  options.jobs = whole(word, "--jobs", "whole number", options.jobs)
  options.max_cycles = whole(word, "--max-cycles", "number of cycles", options.max_cycles)
  return options, words, launch
end

--- The arguments of `run` as the options of ww.run.
local function read_run_arguments(args, first)
  local options, words, launch = read_options("run", args, first, #args)
  if words[3] then
    arguments.error("run", "expected CONFIG and WORKLOAD, got a third word: '%s'; --size and --policy name sizes and policies", words[3])
  elseif #words ~= 2 and not (options.resume and #words == 0) then
    arguments.error("run", "expected CONFIG and WORKLOAD, got %d argument%s", #words, #words == 1 and "" or "s")
  end
  options.config, options.workload = words[1], words[2]
  if words[2] and words[2]:find "%.ptx$" then
    options.workload = run_kernel.name_of(words[2], launch)
  elseif launch[1] then
    arguments.error("run", "%s: expected a PTX file to run, got %s", launch[1][1], words[2] or "a checkpoint")
  end
  return options
end

--- The arguments of `cuda` as the options of cuda.run.
local function read_cuda_arguments(args, first)
  local last, program = arguments.before_dashes(args, first)
  local options, words = read_options("cuda", args, first, last)
  options.arguments = program
  if not options.resume and (#words ~= 1 or not program) or #words > 1 then
    arguments.error("cuda", "expected CONFIG -- PROGRAM, got %d argument%s%s", #words, #words == 1 and "" or "s",
      program and "" or " and no --")
  end
  options.config = words[1]
  return options
end

local function draw(args, first)
  local options, words = arguments.read("draw", args, first)
  io.write(require("warpwright.drawing").of(arguments.one("draw", words, "CONFIG"), options.set))
end

local function print_stat_names(args, first)
  local options, words = arguments.read("stats", args, first)
  local config = words[1] or arguments.error("stats", "expected CONFIG, got nothing")
  require("warpwright.stat_names").print(config, options, table.move(words, 2, #words, 1, {}))
end

local function print_summary(r)
  local function line(name, text, ...) print(("%-20s "):format(name) .. text:format(...)) end
  print(("%s, %s %s, policy %s: %s"):format(r.machine, r.workload, r.size, r.policy,
    r.checks > 0 and "verified" or "nothing was checked"))
  local sampled = r.sampled
  line("cycles", "%d%s", r.cycles, sampled and r:interval "run.cycles" > 0 and (" +-%.0f, estimated"):format(r:interval "run.cycles") or "")
  if sampled then
    line("launches", "%d: %d sampled, %d like others, %d exact; %.1f%% of the instructions with timing", sampled.launches,
      sampled.sampled, sampled.like_others, sampled.exact, 100 * sampled.share_with_timing)
    if sampled.longest_exact then line("longest exact one", "%s", sampled.longest_exact) end
  end
  line("IPC", "%.2f thread, %.3f warp instructions per cycle", r.ipc, r.warp_ipc)
  line("kernels", "%d", #r.launches)
  line("simulated", "%.0f cycles per second, %.2f s", r.cycles_per_second, r.seconds)
  if r.memcheck then line("memcheck", "%s", (require("warpwright.memcheck").summary(r.memcheck):gsub("^memcheck: ", ""))) end
  line("results", "%s", r.out)
end

local function describe(class)
  if class and class:find "%.lua$" then
    for i, name in ipairs(require("warpwright.class").use(class)) do
      if i > 1 then print() end
      core.describe(name)
    end
    return
  end
  if class and core.is_class(class) then return core.describe(class) end
  local classes = {}
  for i, c in ipairs(core.classes()) do classes[i] = c.name end
  if class then usage_error("--describe: no class matches '%s'%s", class, names.available(class, classes)) end
  for _, c in ipairs(core.classes()) do print(("%-20s %s"):format(c.name, c.doc)) end
end

--- After the argument before `at` nothing may follow.
local function expect_end(args, at, what)
  if args[at] then usage_error("%s, got a second: '%s'", what, args[at]) end
end

--- The words that begin a command line, without and with a dash.
local function known_words()
  local words = {}
  for i, command in ipairs(help.commands) do words[i] = command.word end
  return words, { "--describe", "--version", "--help", "--traceback" }
end

local function run_script(args, first)
  local path = args[first]
  if not core.is_file(path) then
    local guess = path == "resume" and "run --resume" or not path:find "[/.]" and names.guess(path, (known_words()))
    if guess then core.user_error(("%s: expected a command or a script, got no such file; did you mean %s?"):format(path, guess)) end
    usage_error("%s: expected a command or a script, got no such file", path)
  end
  local chunk, problem = loadfile(path)
  if not chunk then error(problem, 0) end
  arg = table.move(args, first, #args, 0, { [-1] = args[0] })
  local folder = path:match("^(.*/)") or ""
  package.path = folder .. "?.lua;" .. package.path
  chunk(table.unpack(arg))
end

--- `help` and `help COMMAND`, for --help.
local function print_help(args, first)
  local word = args[first]
  expect_end(args, first + 1, "help: expected one command")
  if word and not help.find(word) then usage_error("help: no command matches '%s'%s", word, names.available(word, (known_words()))) end
  io.write(word and help.of(word) or help.all())
end

--- Commands that look at runs, of which those of a sweep may be named SWEEP/N.
local looks_at_runs <const> = { balance = true, compare = true, cpi = true, histograms = true, profile = true, report = true }

--- Modules whose main(args, first) is the command.
local module_of <const> = { sweep = "sweep.command", query = "sweep.query", compare = "sweep.compare", check = "check.command", cpi = "cpi",
  profile = "profile", report = "report.command", histograms = "histograms", balance = "balance", top = "top", explain = "explain.command",
  nvcc = "nvcc.driver" }

--- What stands behind the word, from args[first] on; each returns the exit status, or nothing: 0.
local commands <const> = {
  ["--help"] = function() io.write(help.all()) end,
  help = print_help,
  ["--complete"] = function(args, first) require("warpwright.completion").print(table.move(args, first, #args, 1, {})) end,
  ["--version"] = function() print(("warpwright %s, revision %s"):format(core.version, core.revision)) end,
  ["--describe"] = function(args, first)
    expect_end(args, first + 1, "--describe: expected one CLASS or FILE.lua")
    describe(args[first])
  end,
  inspect = function(args, first)
    expect_end(args, first + 1, "inspect: expected one checkpoint")
    checkpoint.inspect(args[first] or usage_error("inspect: expected a checkpoint, got nothing"))
  end,
  ptx = function(args, first)
    local paths = table.move(args, first, #args, 1, {})
    if not paths[1] then usage_error "ptx: expected one or more PTX files, got nothing" end
    return require("warpwright.ptx_report").print(paths) and 0 or 1
  end,
  draw = draw,
  stats = print_stat_names,
  run = function(args, first)
    local r = require("warpwright.run").run(read_run_arguments(args, first))
    print_summary(r)
    return r.memcheck and r.memcheck.errors > 0 and 1 or 0
  end,
  cuda = function(args, first) return require("warpwright.cuda").run(read_cuda_arguments(args, first)) end,
}
commands["-h"] = commands["--help"]

local function command_of(word)
  return commands[word] or module_of[word] and require("warpwright." .. module_of[word]).main
end

local function refuse_option(word)
  local words, options = known_words()
  local guess = names.guess(word, options)
  if guess then core.user_error(("warpwright: expected an option or a command, got '%s'; did you mean %s?"):format(word, guess)) end
  usage_error("warpwright: expected %s, %s or a script, got '%s'", table.concat(words, ", "), table.concat(options, ", "), word)
end

return function(args)
  local first = 1
  output.command_line = names.command_line(table.move(args, 0, #args, 1, {}))
  if args[first] == "--traceback" then
    core.want_traceback()
    first = first + 1
  end
  local word = args[first]
  if word == nil then
    io.stderr:write(help.all())
    return 2
  end
  if looks_at_runs[word] then require "warpwright.sweep.numbered_run"(args, first + 1) end
  if asks_for_help(args, first) then
    io.write(help.of(word))
    return 0
  end
  local command = command_of(word)
  if command then return command(args, first + 1) or 0 end
  if word:sub(1, 1) == "-" then refuse_option(word) end
  run_script(args, first)
  return 0
end
