-- What the program can be asked to do, in words: for --help, for the man page, for completion in a shell, and for reading the command
-- line.
local help = {}

--- An option: its name, what its value is called or nil for none, what it does, and of which kind the value is, for completion:
-- "config", "workload", "policy", "setting", "file", "folder", or a list of words; and a short name.
local function option(name, value, text, kind, short) return { name = name, value = value, text = text, kind = kind, short = short } end

local of_runs <const> = {
  option("--policy", "POLICY", "the warp scheduling policy; default: as the config says", "policy"),
  option("--set", "PATH=VALUE",
    "a parameter, such as sm[*].l1d.size=32KiB or clock.core=1GHz; may be repeated, the last one wins", "setting"),
  option("--out", "FOLDER", "where the results go; default: out/CONFIG-WORKLOAD-SIZE-POLICY-N", "folder"),
  option("--stats", "WHICH",
    "all (default); summary: of the run and its launches; none; or packed: all, in a small file", { "all", "summary", "none", "packed" }),
  option("--profile", nil, "counts by instruction: issues, slots lost, accesses; for warpwright profile"),
  option("--histograms", "NAME,...",
    "how latencies, queue lengths and resident warps are distributed: all, or names and patterns; for warpwright histograms"),
  option("--stats-every", "N", "a row of statistics in intervals.csv every N core cycles; or every 1launch, 50ctas, 10000,1launch"),
  option("--stats-of", "NAME,...",
    "which: names and patterns of statistics, whose sums or ratios are columns; each:PATTERN makes a column for each that matches"),
  option("--fast-forward", "launch=N,cta=SHARE,warm=M",
    "launches before N, and then this share of the CTAs of N, run without timing; the machine takes over CTAs in mid-flight. "
    .. "warm=M: only the last M launches of it, such as 0.5, leave their lines in the caches"),
  option("--sample", "error=3%",
    "windows alone have timing, as many as the 95% interval of cycles takes; or windows=N of each launch, or budget=5% of the instructions; "
    .. "seed=N, cycles=N beside it (docs/sampling.md)"),
  option("--jobs", "N", "with --sample: parts with timing at a time, each in a process of its own, default 1; changes no result"),
  option("--max-cycles", "N", "stop with an error when a kernel has not ended by core cycle N"),
  option("--threads", "N",
    "how many host threads run the machine at most, default 1; one does where that is faster; auto: as there are cores, up to 8; changes no result"),
  option("--pin", nil, "each of several threads stays on a core of its own, for a run that has the computer alone; changes no result"),
  option("--memory", "BYTES", "device memory, default 4GiB"),
  option("--bounds", "BOUNDS",
    "strict (default; of cuda: hardware): accesses stay within allocations; hardware: within the 2 MiB blocks around them",
    { "strict", "hardware" }),
  option("--memcheck", nil, "finds reads of uninitialised memory, accesses beyond what was allocated, races in shared memory"),
  option("--energy", "TECHNOLOGY", "statistics of the energy, by configs/energy/TECHNOLOGY.lua or a path: fermi_40nm",
    { "fermi_40nm" }),
  option("--order", "ORDER", "the order in which objects are ticked: path, reversed, restless, shuffled:SEED; changes no result",
    { "path", "reversed", "restless", "shuffled:1" }),
  option("--checkpoint-every", "N",
    "a checkpoint in the output folder every N core cycles, as CYCLE.ckpt; or every 30s, 10min, 2h of time; none"),
  option("--checkpoint-at", "N,...", "and at these cycles"),
  option("--keep", "N", "only the newest N of them stay"),
  option("--resume", "FILE",
    "goes on from a checkpoint; what is not given is as it was, and none switches off checkpoints, --stats-every, --keep, --energy. FOLDER: from the newest good one in it", "file"),
  option("--trace", "OBJECTS", "a trace, as text, of these objects: 'sm[3]*,l2[*]'; a * at the end takes in all below (docs/traces.md)"),
  option("--from", "CYCLE", "of the trace: where it begins, default 0"),
  option("--to", "CYCLE", "where it ends, default: with the run"),
  option("--events", "NAMES", "which of its lines, issue,miss; default: all"),
  option("--trace-file", "FILE", "where it goes, compressed when it ends in .gz or .zst; default: trace.txt in the output folder", "file"),
  option("--perfetto", "FILE", "the same window for ui.perfetto.dev, compressed when FILE ends in .gz; without --trace of all objects",
    "file"),
  option("--allow-changes", nil, "with --resume: --policy and --set may differ; says what became of the state"),
}

local of_kernels <const> = {
  option("--kernel", "NAME", "may be left out when the file has one"),
  option("--grid", "X,Y,Z", "CTAs; Y and Z may be left out"),
  option("--block", "X,Y,Z", "threads of each CTA"),
  option("--shared", "BYTES", "dynamic shared memory"),
  option("--arg", "[NAME=]SPEC",
    "an argument, in the order of the parameters or by name; a number or TYPE:NUMBER (f32:1.5); bytes:HEX or file:PATH for a struct; "
    .. "a buffer as TYPE[COUNT]=FILLING (f32[1024]=random:7,-1,1), with one of zeros, fill:X, iota, iota:FROM,STEP, "
    .. "random:SEED,LO,HI, pattern:X,Y,..., file:PATH (then TYPE[] is all of it)"),
  option("--dump", "ARG=FILE", "writes a buffer, by name or number from 0, to a file when the kernel has ended"),
  option("--expect", "ARG=FILE", "compares it with a file; FILE,abs=X,rel=Y allows a difference of abs + rel * |expected|"),
}

local formats <const> = {
  option("--csv", nil, "as CSV"), option("--json", nil, "as JSON"), option("--latex", nil, "as a tabular of LaTeX"),
  option("--table", nil, "as a table, the default"),
}

local function joined(...)
  local list = {}
  for _, part in ipairs { ... } do table.move(part, 1, #part, #list + 1, list) end
  return list
end

--- Each: word, usage lines, what it does, options, `notes` behind them, and `takes`: the kinds of its other words, the last one
-- again and again.
help.commands = {
  {
    word = "run", does = "simulates a workload, or a kernel of a PTX file, on a machine", takes = { "config", "workload" },
    usage = { "run CONFIG WORKLOAD [options]", "run CONFIG FOLDER/kernelslist.g [options]",
      "run CONFIG FILE.ptx --grid X,Y,Z --block X,Y,Z [--arg SPEC ...] [options]", "run --resume FILE|FOLDER [options]" },
    options = joined({ option("--size", "SIZE",
      "small, medium (default) or large; medium,nodes=1000 changes a parameter of it", { "small", "medium", "large" }) }, of_runs,
      of_kernels),
    notes = "--kernel to --expect are of one kernel of a PTX file. kernelslist.g, or a kernel-N.traceg of it (also .traceg.xz), was recorded on a GPU.",
  },
  {
    word = "cuda", does = "runs a CUDA program; its exit status is this one's", takes = { "config", "file" },
    usage = { "cuda CONFIG [options] -- PROGRAM [its arguments]", "cuda --resume FILE|FOLDER [options]" },
    options = joined(of_runs, {
      option("--capability", "MAJOR.MINOR", "the compute capability that the device says it has, default 8.0"),
      option("--launches", "3-7,9",
        "these launches have timing, numbered from 0 as in the statistics; the others just compute"),
    }),
  },
  {
    word = "nvcc", does = "compiles CUDA programs, in the place of nvcc", takes = { "file" },
    usage = { "nvcc [options of nvcc] FILE..." },
    options = { option("--dryrun", nil, "shows the commands and runs none") },
    notes = "make NVCC=\"warpwright nvcc\", or share/warpwright/cuda/bin/nvcc. .cu files are compiled by clang 14, .cpp by g++, .c by gcc, "
      .. "and linked to our CUDA runtime; `warpwright cuda MACHINE -- ./program` runs what comes out. docs/nvcc.md lists what each "
      .. "option of nvcc does.",
  },
  {
    word = "sweep", does = "makes many runs side by side, into one database", takes = { "file" },
    usage = { "sweep FILE.lua [options]", "sweep FILE.lua --dry-run", "sweep FILE.lua --slurm [options] [-- options of sbatch]",
      "sweep --status FOLDER", "sweep --collect FOLDER" },
    options = {
      option("--out", "FOLDER", "where it goes; default: out/sweep-NAME, of FILE's name", "folder"),
      option("--jobs", "N", "runs at a time, also -j N; default: as many as this computer has cores", nil, "-j"),
      option("--stats", "WHICH", "of each run: packed (default), all, summary, none", { "packed", "all", "summary", "none" }),
      option("--checkpoint-every", "N", "a checkpoint of each run every N core cycles, or every 10min"),
      option("--dry-run", nil, "what would run, and for about how long; with --slurm what would be submitted, too"),
      option("--slurm", nil, "submits what is missing as job arrays"),
      option("--runs-per-task", "N", "with --slurm: runs that one task makes, one after the other or, with -j, side by side; default 1"),
      option("--status", nil, "how far the sweep in FOLDER is"),
      option("--collect", nil, "makes results.sqlite anew from the runs' folders"),
    },
    notes = "FILE.lua returns { axes = { config = ..., workload = ..., size = ..., seed = ..., policy = ..., [\"sm[*].l1d.size\"] = ... }, "
      .. "runs = a list of points, keep = function(point), repetitions = N, warm_up = { cycles = N or launches = N, policy = ... } }: each axis a value "
      .. "or a list of values, combined in every way. In the place of a workload, program = \"./spmv graph.mtx\" runs a CUDA program. Ctrl-C or SIGTERM makes a checkpoint of every run at work and stops; the same "
      .. "command goes on. A run whose inputs have changed (program, machine, policy, workload, PTX) is made again. Failed runs keep "
      .. "their error and do not stop the others. Exit status: 0 all runs are there, 1 some failed, 2 an error of the user's, 75 "
      .. "stopped by a signal.",
  },
  {
    word = "query", does = "prints rows of a sweep's database", takes = { "folder" },
    usage = { "query SWEEP [--select COLUMNS] [--where CONDITION] [--group COLUMNS] [--order COLUMNS] [FORMAT]",
      "query SWEEP --sql STATEMENT [FORMAT]" },
    options = joined({
      option("--select", "COLUMNS", "of the view `results`, or statistics by path or pattern"),
      option("--where", "CONDITION", "which runs"), option("--group", "COLUMNS", "rows with the same values become one"),
      option("--order", "COLUMNS", "default: by the number of the run"), option("--sql", "STATEMENT", "a whole statement of SQL"),
    }, formats),
    notes = "FORMAT is one of --csv to --table. COLUMNS and CONDITION are SQL in which statistics may be named by path or pattern: --select 'policy, cycles, "
      .. "sm[*].l1d.misses' --where \"workload = 'spmv'\". The sum of what matches is meant, of ratios that of all parts to all wholes. "
      .. "After a warm-up, since.cycles and since.sm[*].l1d.misses are what the run had since its end. The tables are runs, parameters, launches, stats "
      .. "and the view results, with a row for each run and a column for each axis.",
  },
  {
    word = "compare", does = "tells what differs between two runs, or two sweeps", takes = { "folder", "folder" },
    usage = { "compare A B [--all]" }, options = { option("--all", nil, "every difference, not the largest alone") },
    notes = "SWEEP/N is run N of a sweep. Of runs: what differs in their inputs, and the statistics that differ, those farthest apart first, summed over indices. Of "
      .. "sweeps: the runs whose cycles differ; those of several seeds are one row. +- is half of a 95% interval of B/A, of sampled runs and "
      .. "of several seeds; a difference within it is not significant. Exit status: 0 nothing differs, 1 something does.",
  },
  {
    word = "check", does = "checks that the statistics under a policy, or of a machine, are what they must be, whatever order, threads and resumes",
    takes = { "config", "workload" }, usage = { "check CONFIG WORKLOAD[,WORKLOAD...] [--policy POLICY] [options]",
      "check CONFIG [--policy POLICY] [options] -- PROGRAM [its arguments]" },
    options = {
      option("--policy", "POLICY", "the policy that is checked, with its parameters; without one, the machine, with its classes of your own", "policy"),
      option("--off", "PARAMETERS", "with these, PARAMETER=VALUE,..., the policy has nothing to do: its statistics must be the baseline's"),
      option("--base", "POLICY",
        "the baseline, default: the policy named like the `order` of the one that is checked, or none; without --off the policy itself, an "
        .. "observer, must have its statistics", "policy"),
      option("--size", "SIZE", "default small", { "small", "medium", "large" }),
      option("--set", "PATH=VALUE", "a parameter of the machine; may be repeated", "setting"),
      option("--capability", "MAJOR.MINOR", "of a CUDA program, as `warpwright cuda` takes it"),
      option("--launches", "3-7,9", "these launches of a CUDA program have timing; the others just compute"),
      option("--order", "ORDER,...", "tick orders, default reversed,shuffled:1, of a machine restless, too", { "reversed", "restless", "shuffled:1" }),
      option("--threads", "N,...", "numbers of threads, default 2"),
      option("--checkpoints", "N", "at so many random cycles, each of which is resumed, default 4"),
      option("--seed", "N", "of the random cycles, default 1"),
      option("--jobs", "N", "runs at a time, default: as many as this computer has cores"),
      option("--out", "FOLDER", "keeps the runs there, else they are removed", "folder"),
    },
    notes = "Each run is a process of its own. Where two differ, it says in which statistic, from which cycle on, which commands repeat them, and "
      .. "what often is the cause. A checkpoint that cannot be made names what the policy remembers beside self.state. Counters that "
      .. "never move are warnings. One run more, but of a CUDA program, tells how much of the time is spent in the Lua of policies and classes. A CUDA program "
      .. "runs in the current folder, several at a time: what it writes is to go to the folder in its variable WARPWRIGHT_OUT. Exit status: 0 nothing differs, "
      .. "1 something does, 2 an error of the user's, 75 stopped by a signal.",
  },
  {
    word = "cpi", does = "tells where the cycles of a run went, and which of them make the difference to another", takes = { "folder", "folder" },
    usage = { "cpi RUN [--sms] [--launches]", "cpi RUN RUN" },
    options = { option("--sms", nil, "of each SM as well"),
      option("--launches", nil, "of each launch as well; of a run with --stats-every 1launch") },
    notes = "RUN is the folder of a run with --stats all or packed, or SWEEP/N, run N of a sweep. In every cycle, each issue slot of each scheduler is counted once: "
      .. "a warp issued, there was no warp (idle), none had an instruction (fetch), or those that had waited for arithmetic "
      .. "(scoreboard), for loads and atomics (memory), at barriers, for a pipeline (unit), for the memory pipeline (lsu), for the policy, or for "
      .. "the DMA engine. So the parts add up to the cycles, and those of two runs to their difference.",
  },
  {
    word = "profile", does = "tells which instructions and source lines a run with --profile spent its cycles on", takes = { "folder" },
    usage = { "profile RUN [--top N] [--source | --ptx] [--warps] [--ctas] [--allocations] [--html FILE]" },
    options = { option("--top", "N", "so many instructions or lines of each kernel, default 10; 0: all"),
      option("--source", nil, "by line of the CUDA source, which .loc names, not by instruction"),
      option("--ptx", nil, "all instructions in the order of the PTX"),
      option("--warps", nil, "the warps of a CTA, by number, over all CTAs"),
      option("--ctas", nil, "the CTAs that took the longest, as many as --top says"),
      option("--allocations", nil, "loads, stores and atomics of each allocation of device memory, and how many hit, by cache"),
      option("--html", "FILE", "all of it as one page", "file") },
    notes = "A slot of a scheduler that was lost is put to the instruction of one warp: of those that waited for what it was lost to, the "
      .. "oldest. The slots of all instructions, and those without a warp, add up to the SMs' own.",
  },
  {
    word = "report", does = "writes a page of HTML about a run or a sweep, which needs nothing beside itself", takes = { "folder" },
    usage = { "report RUN|SWEEP [--out FILE]", "report SWEEP [--compare AXIS] [--base VALUE] [--out FILE] [--table|--csv|--json|--latex|--svg]" },
    options = { option("--out", "FILE", "default: report.html in the folder; with --table to --svg standard output", "file"),
      option("--compare", "AXIS", "of a sweep: whose values the speed-ups compare; default policy, or the last axis with several values"),
      option("--base", "VALUE", "of that axis: what the others are compared with; default that of the first run"),
      option("--table", nil, "instead of the page the speed-ups of a sweep alone, as a table"),
      option("--csv", nil, "the same as CSV, with all digits"), option("--json", nil, "the same as JSON"),
      option("--latex", nil, "the same as a tabular of LaTeX"),
      option("--svg", nil, "the same as a picture of bars") },
    notes = "Of a run: the machine with what its parts did, where the cycles went, launches, roofline, caches, DRAM; with --stats-every "
      .. "curves over time, with --profile the hottest lines. Of a sweep: speed-ups with their geometric means, a map of two axes, a "
      .. "scatter of two figures, and a table that sorts.",
  },
  {
    word = "histograms", does = "prints how latencies, queue lengths and resident warps of a run with --histograms are distributed",
    takes = { "folder" }, usage = { "histograms RUN [PATTERN]" }, options = {},
    notes = "Half of the values are at most p50, 90% at most p90, 99% at most p99, and all at most max. Latencies are of loads; lengths "
      .. "count every cycle of every object. From 16 on a bucket holds values that differ by less than an eighth, and p50 to p99 are its "
      .. "last value. With PATTERN: the buckets of each histogram that matches.",
  },
  {
    word = "balance", does = "tells how evenly a run spread its requests over memory controllers and slices of caches", takes = { "folder" },
    usage = { "balance RUN" }, options = {},
    notes = "For each controller and slice: its requests, their share of all, how many found their row open or hit, and how busy its bus was; "
      .. "above them, what the one with the most has over the mean: 1.00 is even. If the run had policy dram_banks, "
      .. "so it does for each bank. RUN is the folder of a run with --stats all or packed.",
  },
  {
    word = "top", does = "shows a run that goes on, as it goes on", takes = { "folder" }, usage = { "top FOLDER [--every SECONDS] [--once]" },
    options = { option("--every", "SECONDS", "between two views, default 1"),
      option("--once", nil, "one view, of all that has happened since the run began") },
    notes = "FOLDER is where the results of the run go. Each view is of the time since the one before: instructions per cycle, where "
      .. "the issue slots of the schedulers went, caches, memory controllers. Ctrl-C leaves; the run does not notice.",
  },
  {
    word = "explain", does = "tells what a memory request or a warp waited for, by the run's trace", takes = { "folder" },
    usage = { "explain FOLDER --request ID", "explain FOLDER --warp SM/WARP --cycle N" },
    options = { option("--request", "ID", "SM.WARP.CYCLE.LINE, as in the trace"), option("--warp", "SM/WARP", "a warp, such as 3/5"),
      option("--cycle", "N", "when") },
    notes = "FOLDER is that of a run with --trace, or the trace itself. docs/traces.md has an example.",
  },
  {
    word = "inspect", does = "prints what a checkpoint holds", takes = { "file" }, usage = { "inspect FILE" }, options = {},
  },
  {
    word = "ptx", does = "prints what the kernels of PTX files need, and whether they can run", takes = { "file" }, usage = { "ptx FILE..." },
    options = {}, notes = "Exit status: 1 when a kernel cannot run.",
  },
  {
    word = "draw", does = "draws a machine as SVG, on standard output", takes = { "config" }, usage = { "draw CONFIG [--set PATH=VALUE ...]" },
    options = { option("--set", "PATH=VALUE", "a parameter of the machine", "setting") },
  },
  {
    word = "stats", does = "prints the names that --stats-of, --histograms and query take on a machine, with units", takes = { "config" },
    usage = { "stats CONFIG [PATTERN...] [--policy POLICY] [--set PATH=VALUE ...]" },
    options = { option("--policy", "POLICY", "whose counters are listed, too", "policy"),
      option("--set", "PATH=VALUE", "a parameter of the machine", "setting") },
    notes = "Nothing runs. PATTERN is one as --stats-of takes it, or a part of a name.",
  },
}

--- Words in front of which no command stands.
help.others = {
  option("--describe", "[CLASS|FILE.lua]",
    "the parameters, ports and statistics of a class, of those that a Lua file declares, or the names of all classes", "class"),
  option("--version", nil, "version and revision"), option("--help", nil, "all of this; COMMAND --help, or help COMMAND: that of one command"),
  option("--traceback", nil, "in front of everything else: errors in Lua code show the calls that led there"),
}

help.signals = "SIGUSR1 makes a checkpoint and goes on, SIGUSR2 shows `warpwright top` how far the run is; SIGTERM, SIGHUP (a lost connection) and SIGINT (Ctrl-C) make one, write the statistics and stop."
help.statuses = {
  { 0, "all went well" }, { 1, "a result was wrong or --memcheck found something" }, { 2, "an error of the user's" },
  { 75, "stopped by a signal" },
}
help.names = "CONFIG, WORKLOAD and POLICY are names (configs/NAME.lua, workloads/NAME/NAME.lua, policies/NAME.lua) or paths."

function help.find(word)
  for _, command in ipairs(help.commands) do
    if command.word == word then return command end
  end
end

-- As text ---------------------------------------------------------------------------------------------------------------------------

local WIDTH <const> = 120

--- Lines of a paragraph, with this much in front of each but the first.
local function wrap(text, first, rest)
  local lines, line = {}, first
  local empty = true
  for word in text:gmatch "%S+" do
    if not empty and #line + 1 + #word > WIDTH then
      lines[#lines + 1] = line
      line, empty = rest, true
    end
    line = line .. (empty and "" or " ") .. word
    empty = false
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n") .. "\n"
end

local COLUMN <const> = 25

local function option_text(o)
  local name = "  " .. o.name .. (o.value and " " .. o.value or "")
  if #name < COLUMN - 1 then return wrap(o.text, name .. (" "):rep(COLUMN - #name), (" "):rep(COLUMN)) end
  return name .. "\n" .. wrap(o.text, (" "):rep(COLUMN), (" "):rep(COLUMN))
end

local function usage_lines(command, first)
  local lines = {}
  for i, usage in ipairs(command.usage) do lines[i] = (i == 1 and first or "       ") .. "warpwright " .. usage .. "\n" end
  return table.concat(lines)
end

--- The help of one command.
function help.of(word)
  local command = help.find(word)
  local parts = { usage_lines(command, "usage: "), "\n", wrap("It " .. command.does .. ".", "", "") }
  if command.options[1] then parts[#parts + 1] = "\noptions:\n" end
  for _, o in ipairs(command.options) do parts[#parts + 1] = option_text(o) end
  if command.notes then parts[#parts + 1] = "\n" .. wrap(command.notes, "", "") end
  return table.concat(parts)
end

--- All of it, the options of the commands left out.
function help.all()
  local parts = { "usage: warpwright SCRIPT.lua [arguments]\n" }
  for _, command in ipairs(help.commands) do
    parts[#parts + 1] = usage_lines(command, "       ")
    parts[#parts + 1] = wrap(command.does, (" "):rep(COLUMN), (" "):rep(COLUMN))
  end
  parts[#parts + 1] = "\nwarpwright COMMAND --help lists its options; a script has its arguments in the table `arg`.\n" .. help.names .. "\n\n"
  for _, o in ipairs(help.others) do parts[#parts + 1] = option_text(o) end
  parts[#parts + 1] = "\n" .. wrap(help.signals, "signals: ", "") .. "\nexit status:"
  for i, status in ipairs(help.statuses) do parts[#parts + 1] = ("%s %d %s"):format(i > 1 and "," or "", status[1], status[2]) end
  parts[#parts + 1] = "\n"
  return table.concat(parts)
end

return help
