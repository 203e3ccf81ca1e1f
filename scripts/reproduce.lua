-- Figures of five papers, beside the papers' own numbers. `help` below says how it is called.
local child = require "scripts.lib.child"
local command_line = require "scripts.lib.command_line"
local core = require "warpwright.core"
local draw = require "scripts.lib.reproduce.draw"
local inputs = require "warpwright.inputs"
local kit = require "scripts.lib.reproduce.kit"
local page = require "scripts.lib.reproduce.page"
local processes = require "warpwright.processes"
local runner = require "warpwright.runner"

local help = [==[
usage: scripts/reproduce [options] [PAPER[/FIGURE]]...

Runs what figures need, several runs at a time, and prints ours beside the papers' numbers, with a verdict on what the papers
say of each: reproduced (the sign, and within a third of the size), partly, not reproduced. Without a name: all figures.

A run that was made is not made again unless the program, its Lua files or its PTX have changed. So the same command goes on
where it was stopped or killed.

  --list            the figures
  --size SIZE       of the workloads, default medium; small takes minutes, and its figures mean little
  --sample TEXT     estimates runs by sampling, error=3% say (docs/sampling.md); figures that measure more than statistics are exact
  --jobs N          runs at a time, default: as many as this computer has processors
  --kernels A,B     only these kernels, by the papers' names
  --folder FOLDER   of the results, default out/reproduce
  --svg FOLDER      draws each figure, with the paper's values where its text gives them
  --page FILE       writes it as Markdown, the drawings in a folder beside it: docs/reproduction.md. What FILE says of other
                    figures stays
]==]

local papers <const> = { "mascar", "medic", "ccws", "d2ma", "dwt_pric", "matrix" }

local function all_figures()
  local figures = {}
  for _, paper in ipairs(papers) do
    table.move(require("scripts.lib.reproduce." .. paper), 1, 64, #figures + 1, figures)
  end
  return figures
end

--- Those whose names were given: "mascar", "mascar/9".
local function chosen(figures, words)
  if not words[1] then return figures end
  local found, ids = {}, {}
  for _, word in ipairs(words) do
    local count = #found
    for i, figure in ipairs(figures) do
      ids[i] = figure.id
      if figure.id == word or figure.id:match "^[^/]*" == word then found[#found + 1] = figure end
    end
    if #found == count then command_line.no_match("reproduce", "FIGURE", "figure", word, ids) end
  end
  return found
end

--- Keeps the kernels that were named.
local function restrict(figures, wanted)
  if not wanted then return end
  local is_wanted, known, names = {}, {}, {}
  for _, name in ipairs(wanted) do is_wanted[name] = true end
  for _, figure in ipairs(figures) do
    local kept = {}
    for _, kernel in ipairs(figure.kernels) do
      if not known[kernel.name] then names[#names + 1] = kernel.name end
      known[kernel.name] = true
      if is_wanted[kernel.name] then kept[#kept + 1] = kernel end
    end
    figure.kernels = kept
  end
  for _, name in ipairs(wanted) do
    if not known[name] then command_line.no_match("reproduce", "--kernels", "kernel", name, names) end
  end
end

local function write(path, text)
  local problem = inputs.try_to_write(path, text)
  if problem then error("reproduce: " .. problem, 0) end
end

-- Printing ----------------------------------------------------------------------------------------

local function print_table(t)
  local width = 10
  for _, row in ipairs(t.rows) do width = math.max(width, #row.name) end
  local cells = { ("%-" .. width .. "s"):format "" }
  for i, column in ipairs(t.columns) do cells[i + 1] = ("%10s"):format(column) end
  print(table.concat(cells, "  "))
  for _, row in ipairs(t.rows) do
    cells = { ("%-" .. width .. "s"):format(row.name) }
    for i, column in ipairs(t.columns) do
      cells[i + 1] = ("%" .. math.max(10, #column) .. "s"):format(page.number(row.values[column]))
    end
    print(table.concat(cells, "  "))
  end
  if t.missing[1] then print("not run: " .. table.concat(t.missing, ", ")) end
end

local function print_figure(figure, t)
  print(("\n%s: %s (%s)"):format(figure.id, figure.title, figure.unit))
  print_table(t)
  for _, headline in ipairs(t.headlines) do
    print(("  %-16s %s%s"):format(kit.verdict(headline) .. ":", headline.what, page.numbers_of(headline)))
  end
end

--- Runs that failed alike as one line.
local function print_problems(problems)
  local counts, order = {}, {}
  for _, problem in ipairs(problems) do
    local text = ("%s: %s"):format(problem.run.workload, problem.problem)
    if not counts[text] then order[#order + 1] = text end
    counts[text] = (counts[text] or 0) + 1
  end
  for _, text in ipairs(order) do print(("FAILED, %d run%s of %s"):format(counts[text], counts[text] == 1 and "" or "s", text)) end
end

-- Main --------------------------------------------------------------------------------------------

local function processors() return math.tointeger(tonumber(child.output { "nproc" } or "1")) or 1 end

local function run_all(figures, options)
  local runs = {}
  for _, figure in ipairs(figures) do table.move(figure.runs(options), 1, 1 << 16, #runs + 1, runs) end
  local kept = runner.new { folder = options.folder, jobs = options.jobs, say = function(line)
    print(line)
    io.stdout:flush()
  end }
  core.supervise()
  return kept, kept:run(runs)
end

--- How many runs figures have, each counted once, and how long the simulation of those that are
-- there took, in seconds of one processor.
local function effort_of(figures, options, result_of)
  local seen, count, seconds = {}, 0, 0.0
  for _, figure in ipairs(figures) do
    for _, run in ipairs(figure.runs(options)) do
      local r, name = result_of(run), runner.name(run)
      if r and not seen[name] then
        seen[name] = true
        count, seconds = count + 1, seconds + (r.host_seconds or 0)
      end
    end
  end
  return { runs = count, seconds = seconds }
end

local function main(options, words)
  local every = all_figures()
  local figures = chosen(every, words)
  if options.list then
    for _, figure in ipairs(figures) do print(("%-20s %s"):format(figure.id, figure.title)) end
    return
  end
  restrict(figures, options.kernels)
  if options.sample and options.page then command_line.error("reproduce", "--page: expected exact runs, got --sample") end
  local before = options.page and inputs.read_file(options.page)
  if before and before ~= "" and not page.is_one(before) then
    command_line.error("reproduce", "--page: expected a page that it wrote, or a new one, got %s, which is another file", options.page)
  end
  local kept, problems = run_all(figures, options)
  if core.stop_asked() then
    print(("%s: stopped; the same command goes on"):format(core.stop_asked()))
    os.exit(processes.EXIT_STOPPED)
  end
  local results = {}
  local function result_of(run) return kept:result(run) end
  for i, figure in ipairs(figures) do
    local t = figure.compute(result_of, options)
    results[i] = { figure = figure, table = t, effort = effort_of({ figure }, options, result_of) }
    if options.sample then print(("\nestimated by sampling, %s:"):format(options.sample)) end
    print_figure(figure, t)
    if options.svg then
      inputs.make_folders(options.svg)
      write(("%s/%s.svg"):format(options.svg, (figure.id:gsub("/", "-"))), draw.svg(figure, t))
    end
  end
  print("\n" .. page.summary(results))
  if options.page then
    local folder = options.page:gsub("%.md$", "")
    inputs.make_folders(folder)
    for _, result in ipairs(results) do
      write(("%s/%s.svg"):format(folder, (result.figure.id:gsub("/", "-"))), draw.svg(result.figure, result.table))
    end
    local ids = {}
    for i, figure in ipairs(every) do ids[i] = figure.id end
    local effort = #figures == #every and effort_of(figures, options, result_of)
    write(options.page, page.markdown(results, ids, options, folder:match "[^/]*$", effort, before))
  end
  if problems[1] then
    print_problems(problems)
    os.exit(1)
  end
end

if command_line.helped(arg, help) then return end
local options = { size = "medium", folder = "out/reproduce" }
local words = command_line.read("reproduce", arg, options, {
  list = command_line.flag, size = command_line.text, sample = command_line.text, folder = command_line.text, svg = command_line.text,
  page = command_line.text, kernels = command_line.words, jobs = command_line.count(1),
})
options.jobs = options.jobs or processors()
main(options, words)
