-- Compares policies over the workloads: speed-ups, how often each did something, and what it costs
-- to simulate. `help` below says how it is called.
local ww = require "warpwright"
local core = require "warpwright.core"
local load = require "warpwright.load"
local names = require "warpwright.names"
local policy = require "warpwright.policy"
local child = require "scripts.lib.child"
local command_line = require "scripts.lib.command_line"
local json = require "warpwright.json"
local preparation = require "scripts.lib.preparation"

local help = [[
usage: scripts/policies [options]

Runs every policy in policies/ but trace_l1 over the workloads, each run in a process of its own, and prints the
speed-ups over lrr and over gto, by simulated time, with the geometric mean of each policy, what each counted (its counters
and those of its parts, summed over all instances), and how many cycles a second are simulated, relative to gto: by the
processor's time in the kernels. A run that fails is shown and leaves a gap; the mean is that of the others. The exit status
is then 1.

  --policies A,B,...   these, as run's --policy takes them: ccws:k_throttle=4,base_score=50,swl,lrr+ccws is three
  --workloads A,B,...  default: kmeans, spmv, bfs, gesummv, sgemm, vecadd
  --size SIZE          small, medium (default) or large
  --config CONFIG      default: gtx480
  --set PATH=VALUE     a parameter of the machine; may be repeated
  --jobs N             runs at a time, default 1
  --json FILE          all results, in numbers

lrr and gto run in any case.
]]

local baselines = { "lrr", "gto" }

-- One run, in a process of its own ----------------------------------------------------------------

--- The workload, and a table in which `seconds` is the processor's time in its kernels.
local function timed(name)
  local inner, spent = load.get("workload", name), { seconds = 0 }
  local outer = ww.workload(inner.name) { doc = inner.doc, ptx = inner.ptx, sizes = inner.sizes }
  outer.ptx, outer.ptx_text = inner.ptx, inner.ptx_text
  function outer:run(gpu, size)
    local proxy = setmetatable({}, {
      __index = function(_, method)
        return function(_, ...)
          local start = os.clock()
          local results = table.pack(gpu[method](gpu, ...))
          if method == "launch" then spent.seconds = spent.seconds + os.clock() - start end
          return table.unpack(results, 1, results.n)
        end
      end,
    })
    local instance = setmetatable({ kernels = self.kernels, checks = 0 }, { __index = inner })
    inner.run(instance, proxy, size)
    self.checks = instance.checks
  end
  return outer, spent
end

--- Which rows of the stats belong to the policies: { ["ccws."] = name of a policy, ["vta."] = of a
-- part }.
local function prefixes_of(specification)
  local prefixes = {}
  for _, entry in ipairs(policy.chain(specification, function(what) return load.get("policy", what) end)) do
    prefixes[entry.definition.name] = "counter"
    for _, part in ipairs(entry.definition.parts) do prefixes[part.name] = "part" end
  end
  return prefixes
end

--- What of the path of a row's object names a policy or a part, wherever that stands below an SM, a
-- cache or the machine; or nil.
local function owner_in(path, prefixes)
  local rest = path:match "%.(.*)$"
  while rest and not prefixes[rest] do rest = rest:match "%.(.*)$" end
  return rest
end

--- Sums over the instances: list of { name = "vta.hits", value = }. Of parts, only what is not
-- zero.
local function triggers(r, prefixes)
  local found, by_name = {}, {}
  for name, value in r:stats() do
    local path, counter = name:match "^(.*)%.([%w_]+)$"
    local prefix = path and owner_in(path, prefixes)
    local kind = prefixes[prefix]
    if kind and math.type(value) == "integer" and (kind == "counter" or value ~= 0) then
      local key = prefix .. "." .. counter
      if not by_name[key] then
        by_name[key] = { name = key, value = 0 }
        found[#found + 1] = by_name[key]
      end
      by_name[key].value = by_name[key].value + value
    end
  end
  return found
end

--- What the child process does: writes the figures of one run into a file.
local function run_one(options)
  local workload, spent = timed(options.run)
  local r = ww.run { config = options.config, workload = workload, size = options.size, policy = options.policy,
    set = options.set, out = false }
  json.write(options.result, { cycles = r.cycles, simulated_seconds = r["run.seconds"], seconds = spent.seconds, verified = r.checks > 0,
    triggers = triggers(r, prefixes_of(options.policy)) })
end

-- All runs ----------------------------------------------------------------------------------------

local function start(options, run)
  run.result = os.tmpname()
  local words = { arg[-1], arg[0], "--run", run.workload, "--policy", run.policy, "--size", options.size, "--config",
    options.config, "--result", run.result }
  for _, setting in ipairs(options.set) do
    words[#words + 1] = "--set"
    words[#words + 1] = setting
  end
  for i, word in ipairs(words) do words[i] = child.quoted(word) end
  print(("running %s, %s, on %s under %s"):format(run.workload, options.size, options.config, run.policy))
  io.stdout:flush()
  run.pipe = assert(io.popen(table.concat(words, " ") .. " 2>&1"))
end

local function finish(run)
  local text = run.pipe:read "a"
  local _, kind, status = run.pipe:close()
  local file = io.open(run.result, "rb")
  local figures = file and file:read "a" or ""
  if file then file:close() end
  os.remove(run.result)
  run.pipe, run.result = nil, nil
  if kind == "exit" and status == 0 and figures ~= "" then
    local decoded = json.decode(figures)
    for _, name in ipairs(names.sorted_keys(decoded)) do run[name] = decoded[name] end
  else
    local last = text:match "([^\n]+)\n*$" or ("%s %s"):format(kind, tostring(status))
    run.problem = last:gsub("^warpwright: error: ", ""):gsub("^[^ ]*scripts/policies%.lua:%d+: ", "")
    print(("FAILED: %s"):format(run.problem))
  end
end

--- The results by policy and workload.
local function run_all(options)
  local runs, by_policy = {}, {}
  for _, workload in ipairs(options.workloads) do
    for _, name in ipairs(options.policies) do
      local run = { workload = workload, policy = name }
      runs[#runs + 1] = run
      by_policy[name] = by_policy[name] or {}
      by_policy[name][workload] = run
    end
  end
  for i = 1, #runs + options.jobs do
    if i > options.jobs then finish(runs[i - options.jobs]) end
    if runs[i] then start(options, runs[i]) end
  end
  return runs, by_policy
end

-- Figures -----------------------------------------------------------------------------------------

local function ratio(a, b) return a and b and b ~= 0 and a / b or nil end

local function add_figures(runs, by_policy)
  for _, run in ipairs(runs) do
    for _, baseline in ipairs(baselines) do
      run["speedup_over_" .. baseline] = ratio(by_policy[baseline][run.workload].simulated_seconds, run.simulated_seconds)
    end
    run.cycles_per_second = ratio(run.cycles, run.seconds)
  end
  for _, run in ipairs(runs) do
    run.relative_speed = ratio(run.cycles_per_second, by_policy.gto[run.workload].cycles_per_second)
  end
end

local function geometric_mean(options, results, figure)
  local sum, count = 0, 0
  for _, workload in ipairs(options.workloads) do
    local value = results[workload][figure]
    if value then sum, count = sum + math.log(value), count + 1 end
  end
  return count > 0 and math.exp(sum / count) or nil
end

-- Printing ----------------------------------------------------------------------------------------

local function first_width(rows)
  local width = 6
  for _, name in ipairs(rows) do width = math.max(width, #name) end
  return width
end

local function line(width, first, cells)
  local texts = { ("%-" .. width .. "s"):format(first) }
  for _, cell in ipairs(cells) do texts[#texts + 1] = ("%11s"):format(cell) end
  print(table.concat(texts, " "))
end

local function print_figures(options, by_policy, title, figure)
  local width, head = first_width(options.policies), table.move(options.workloads, 1, #options.workloads, 1, {})
  head[#head + 1] = "geo. mean"
  print("\n" .. title)
  line(width, "policy", head)
  for _, name in ipairs(options.policies) do
    local cells, mean = {}, geometric_mean(options, by_policy[name], figure)
    for i, workload in ipairs(options.workloads) do
      local value = by_policy[name][workload][figure]
      cells[i] = value and ("%.3f"):format(value) or "-"
    end
    cells[#cells + 1] = mean and ("%.3f"):format(mean) or "-"
    line(width, name, cells)
  end
end

--- Rows of what a policy counted: { name =, [workload] = value }, in the order of their first
-- appearance.
local function trigger_rows(options, results)
  local rows, by_name = {}, {}
  for _, workload in ipairs(options.workloads) do
    for _, trigger in ipairs(results[workload].triggers or {}) do
      if not by_name[trigger.name] then
        by_name[trigger.name] = { name = trigger.name }
        rows[#rows + 1] = by_name[trigger.name]
      end
      by_name[trigger.name][workload] = trigger.value
    end
  end
  return rows
end

local function print_triggers(options, by_policy)
  local rows, labels = {}, {}
  for _, name in ipairs(options.policies) do
    for _, row in ipairs(trigger_rows(options, by_policy[name])) do
      row.label = row.name:sub(1, #name + 1) == name .. "." and row.name or ("%s: %s"):format(name, row.name)
      row.results = by_policy[name]
      rows[#rows + 1], labels[#labels + 1] = row, row.label
    end
  end
  if not rows[1] then return end
  print "\nWhat they counted, in all instances"
  line(first_width(labels), "", options.workloads)
  for _, row in ipairs(rows) do
    local cells = {}
    for i, workload in ipairs(options.workloads) do
      cells[i] = row.results[workload].problem and "-" or ("%d"):format(row[workload] or 0)
    end
    line(first_width(labels), row.label, cells)
  end
end

local function print_failures(runs)
  local any = false
  for _, run in ipairs(runs) do
    if run.problem then
      if not any then print "\nFailed" end
      any = true
      print(("%s under %s: %s"):format(run.workload, run.policy, run.problem))
    end
  end
  return any
end

local function write_json(options, runs, by_policy)
  local means = {}
  for i, name in ipairs(options.policies) do
    means[i] = { policy = name }
    for _, figure in ipairs { "speedup_over_lrr", "speedup_over_gto", "relative_speed" } do
      means[i][figure] = geometric_mean(options, by_policy[name], figure)
    end
  end
  json.write(options.json, { config = options.config, size = options.size, set = options.set, runs = runs,
    geometric_means = means })
  print("\nwritten to " .. options.json)
end

local function compare(options)
  local runs, by_policy = run_all(options)
  add_figures(runs, by_policy)
  print_figures(options, by_policy, "Speed-up over lrr", "speedup_over_lrr")
  print_figures(options, by_policy, "Speed-up over gto", "speedup_over_gto")
  print_figures(options, by_policy, "Simulated cycles per second, relative to gto", "relative_speed")
  print_triggers(options, by_policy)
  local any_failed = print_failures(runs)
  if options.json then write_json(options, runs, by_policy) end
  if any_failed then os.exit(1) end
end

-- Command line ------------------------------------------------------------------------------------

--- Without the one that writes files, the same for every workload.
local function every_policy()
  local found = {}
  for _, entry in ipairs(core.list_folder(core.home_path "policies")) do
    local name = entry:match "^(.*)%.lua$"
    if name ~= "trace_l1" then found[#found + 1] = name end
  end
  return found
end

local function with_baselines(policies)
  local all, seen = {}, {}
  for _, list in ipairs { baselines, policies } do
    for _, name in ipairs(list) do
      if not seen[name] then all[#all + 1] = name end
      seen[name] = true
    end
  end
  return all
end

local readers = {
  policies = command_line.policies, workloads = command_line.words, set = command_line.list, size = command_line.text,
  config = command_line.text, jobs = command_line.count(1), json = command_line.output,
  run = command_line.text, policy = command_line.text, result = command_line.text, -- between its processes
}

local function read_arguments(args)
  local options = { set = {}, size = "medium", config = "gtx480", jobs = 1,
    workloads = { "kmeans", "spmv", "bfs", "gesummv", "sgemm", "vecadd" } }
  local words = command_line.read("policies", args, options, readers)
  if words[1] then command_line.expected_arguments("policies", "options", #words) end
  options.policies = with_baselines(options.policies or every_policy())
  if options.run then return options end
  local size = options.size:match "^[^,]*" -- which parameters it has, its run says
  for _, name in ipairs(options.workloads) do preparation.check_workload(name, size) end
  preparation.find("config", options.config)
  preparation.check_policy_names(options.policies) -- whether each suits the machine, its run says
  return options
end

if command_line.helped(arg, help) then return end
local options = read_arguments(arg)
if options.run then
  run_one(options)
else
  compare(options)
end
