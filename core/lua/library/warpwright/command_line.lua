-- The command line. Returns a function of the arguments (0 is the program) that returns the exit status.
local checkpoint = require "warpwright.checkpoint"
local core = require "warpwright.core"
local help = require "warpwright.help"
local names = require "warpwright.names"
local output = require "warpwright.output"
local run_kernel = require "warpwright.run_kernel"
require "warpwright.loading"

local run_options = {
  ["--size"] = "size",
  ["--policy"] = "policy",
  ["--set"] = "set",
  ["--out"] = "out",
  ["--max-cycles"] = "max_cycles",
  ["--memory"] = "memory",
  ["--bounds"] = "bounds",
  ["--energy"] = "energy",
  ["--order"] = "order",
  ["--threads"] = "threads",
  ["--pin"] = "pin",
  ["--checkpoint-every"] = "checkpoint_every",
  ["--checkpoint-at"] = "checkpoint_at",
  ["--keep"] = "keep",
  ["--resume"] = "resume",
  ["--allow-changes"] = "allow_changes",
  ["--memcheck"] = "memcheck",
  ["--profile"] = "profile",
  ["--histograms"] = "histograms",
  ["--fast-forward"] = "fast_forward",
  ["--sample"] = "sample",
  ["--jobs"] = "jobs",
  ["--stats"] = "stats",
  ["--stats-every"] = "stats_every",
  ["--stats-of"] = "stats_of",
  ["--trace"] = "trace",
  ["--from"] = "from",
  ["--to"] = "to",
  ["--events"] = "events",
  ["--trace-file"] = "trace_file",
  ["--perfetto"] = "perfetto",
}
local run_option_list = {
  "--size", "--policy", "--set", "--out", "--max-cycles", "--memory", "--energy", "--order", "--threads", "--pin", "--checkpoint-every",
  "--checkpoint-at", "--keep", "--resume", "--allow-changes", "--bounds", "--memcheck", "--profile", "--stats", "--stats-every",
  "--stats-of", "--histograms", "--fast-forward", "--sample", "--jobs", "--trace", "--from", "--to", "--events", "--trace-file", "--perfetto",
  table.unpack(run_kernel.option_list),
}

--- Options without a value.
local flags = { ["--allow-changes"] = true, ["--memcheck"] = true, ["--profile"] = true, ["--pin"] = true }

local function usage_error(text, ...) core.user_error(text:format(...) .. "; see warpwright --help") end

--- Options of `word`, from args[first] to args[last], as those of ww.run, and what else there is; then those of one kernel, of
-- which `run` alone has any. `legal`: by the option, the name that it has there; `list`: for messages.
local function read_options(word, args, first, last, legal, list)
  local options, positional, launch = { set = {} }, {}, {}
  local i = first
  while i <= last do
    local argument = args[i]
    if argument:sub(1, 1) == "-" then
      local name, value = argument:match("^(%-%-[^=]+)=(.*)$")
      name = name or argument
      local option = legal[name]
      local is_of_launch = word == "run" and run_kernel.is_option(name)
      if legal[argument] and flags[argument] then value = true end
      if not option and not is_of_launch then usage_error("%s: unknown option '%s'%s", word, name, names.available(name, list)) end
      if not value then
        i = i + 1
        value = i <= last and args[i] or usage_error("%s: expected a value, got nothing", name)
      end
      if is_of_launch then
        launch[#launch + 1] = { name, value }
      elseif option == "set" then
        table.insert(options.set, value)
      else
        options[option] = value
      end
    else
      positional[#positional + 1] = argument
    end
    i = i + 1
  end
  if options.jobs then
    options.jobs = math.tointeger(tonumber(options.jobs)) or usage_error("--jobs: expected a whole number, got '%s'", options.jobs)
  end
  if options.max_cycles then
    options.max_cycles = math.tointeger(tonumber(options.max_cycles))
      or usage_error("--max-cycles: expected a number of cycles, got '%s'", options.max_cycles)
  end
  return options, positional, launch
end

--- The arguments of `run` as the options of ww.run.
local function read_run_arguments(args, first)
  local options, positional, launch = read_options("run", args, first, #args, run_options, run_option_list)
  if #positional ~= 2 and not (options.resume and #positional == 0) then
    usage_error("run: expected CONFIG and WORKLOAD, got %d argument%s", #positional, #positional == 1 and "" or "s")
  end
  options.config, options.workload = positional[1], positional[2]
  if positional[2] and positional[2]:find "%.ptx$" then
    options.workload = run_kernel.name_of(positional[2], launch)
  elseif launch[1] then
    usage_error("%s: expected a PTX file to run, got %s", launch[1][1], positional[2] or "a checkpoint")
  end
  return options
end

--- The options of `run` and `cuda` together as those of `cuda`.
local function cuda_options()
  local legal, list = { ["--capability"] = "capability", ["--launches"] = "launches" }, { "--capability", "--launches" }
  for _, option in ipairs(run_option_list) do
    if option ~= "--size" and not run_kernel.is_option(option) then
      legal[option] = run_options[option]
      list[#list + 1] = option
    end
  end
  return legal, list
end

--- The arguments of `cuda` as the options of cuda.run.
local function read_cuda_arguments(args, first)
  local last, legal, list = #args, cuda_options()
  for i = #args, first, -1 do
    if args[i] == "--" then last = i - 1 end
  end
  local options, positional = read_options("cuda", args, first, last, legal, list)
  if last < #args then options.arguments = table.move(args, last + 2, #args, 1, {}) end
  if not options.resume and (#positional ~= 1 or not options.arguments) or #positional > 1 then
    usage_error("cuda: expected CONFIG -- PROGRAM, got %d argument%s%s", #positional, #positional == 1 and "" or "s",
      options.arguments and "" or " and no --")
  end
  options.config = positional[1]
  return options
end

--- The arguments of `draw` and `stats` behind their options: CONFIG, and for the latter patterns.
local function read_machine_arguments(word, args, first, legal, list)
  local options, positional = read_options(word, args, first, #args, legal, list)
  if not positional[1] then core.user_error(("%s: expected CONFIG, got nothing; see warpwright %s --help"):format(word, word)) end
  return options, table.remove(positional, 1), positional
end

local function draw(args, first)
  local options, config, others = read_machine_arguments("draw", args, first, { ["--set"] = "set" }, { "--set" })
  if others[1] then usage_error("draw: expected one CONFIG, got a second: '%s'", others[1]) end
  io.write(require("warpwright.drawing").of(config, options.set))
end

local function print_stat_names(args, first)
  local legal = { ["--policy"] = "policy", ["--set"] = "set" }
  local options, config, patterns = read_machine_arguments("stats", args, first, legal, { "--policy", "--set" })
  require("warpwright.stat_names").print(config, options, patterns)
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

local function run_script(args, first)
  local path = args[first]
  if not core.is_file(path) then usage_error("%s: expected a script, got no such file", path) end
  local chunk, problem = loadfile(path)
  if not chunk then error(problem, 0) end
  arg = table.move(args, first, #args, 0, { [-1] = args[0] })
  local folder = path:match("^(.*/)") or ""
  package.path = folder .. "?.lua;" .. package.path
  chunk(table.unpack(arg))
end

return function(args)
  local first = 1
  output.command_line = table.concat(args, " ", 0)
  if args[first] == "--traceback" then
    core.want_traceback()
    first = first + 1
  end
  local word = args[first]
  if word == nil then
    io.stderr:write(help.all())
    return 2
  elseif word == "--help" or word == "-h" then
    io.write(help.all())
  elseif help.find(word) and (args[first + 1] == "--help" or args[first + 1] == "-h") then
    io.write(help.of(word))
  elseif word == "--complete" then
    require("warpwright.completion").print(table.move(args, first + 1, #args, 1, {}))
  elseif word == "--version" then
    print(("warpwright %s, revision %s"):format(core.version, core.revision))
  elseif word == "--describe" then
    expect_end(args, first + 2, "--describe: expected one CLASS or FILE.lua")
    describe(args[first + 1])
  elseif word == "inspect" then
    expect_end(args, first + 2, "inspect: expected one checkpoint")
    checkpoint.inspect(args[first + 1] or usage_error("inspect: expected a checkpoint, got nothing"))
  elseif word == "ptx" then
    local paths = table.move(args, first + 1, #args, 1, {})
    if not paths[1] then usage_error "ptx: expected one or more PTX files, got nothing" end
    return require("warpwright.ptx_report").print(paths) and 0 or 1
  elseif word == "draw" then
    draw(args, first + 1)
  elseif word == "stats" then
    print_stat_names(args, first + 1)
  elseif word == "run" then
    local r = require("warpwright.run").run(read_run_arguments(args, first + 1))
    print_summary(r)
    return r.memcheck and r.memcheck.errors > 0 and 1 or 0
  elseif word == "sweep" then
    return require("warpwright.sweep.command").main(args, first + 1)
  elseif word == "query" then
    return require("warpwright.sweep.query").main(args, first + 1)
  elseif word == "compare" then
    return require("warpwright.sweep.compare").main(args, first + 1)
  elseif word == "cpi" then
    return require("warpwright.cpi").main(args, first + 1)
  elseif word == "profile" then
    return require("warpwright.profile").main(args, first + 1)
  elseif word == "report" then
    return require("warpwright.report.command").main(args, first + 1)
  elseif word == "histograms" then
    return require("warpwright.histograms").main(args, first + 1)
  elseif word == "balance" then
    return require("warpwright.balance").main(args, first + 1)
  elseif word == "top" then
    return require("warpwright.top").main(args, first + 1)
  elseif word == "explain" then
    return require("warpwright.explain.command").main(args, first + 1)
  elseif word == "nvcc" then
    return require("warpwright.nvcc.driver").main(args, first + 1)
  elseif word == "cuda" then
    return require("warpwright.cuda").run(read_cuda_arguments(args, first + 1))
  elseif word:sub(1, 1) == "-" then
    local words = {}
    for i, command in ipairs(help.commands) do words[i] = command.word end
    usage_error("warpwright: expected %s, --describe, --version, --help, --traceback or a script, got '%s'", table.concat(words, ", "), word)
  else
    run_script(args, first)
  end
  return 0
end
