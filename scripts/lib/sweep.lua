-- Sweeps over a policy's parameter: runs a workload without it and under each of some values, and names the best. For
-- scripts/best_swl and scripts/best_rand_byp.
local ww = require "warpwright"
local json = require "scripts.lib.json"

local sweep = {}

local options_help = [[
  --size SIZE          of the workload, default medium
  --set PATH=VALUE     changes the machine; may be repeated
  --with POLICY        another policy beside it, such as pric; may be repeated
  --json FILE          writes the figures
]]

local function usage_error(spec, text, ...)
  error(("%s: %s; see scripts/%s --help"):format(spec.name, text:format(...), spec.name), 0)
end

-- Runs ------------------------------------------------------------------------------------------------------------------

--- Every counter.
local function text_of(r)
  local lines = {}
  for name, value in r:stats() do lines[#lines + 1] = name .. " " .. tostring(value) end
  return table.concat(lines, "\n")
end

local function run(spec, options, value)
  local policies = { value and spec.policy(value) or "gto" }
  for _, policy in ipairs(options.with) do policies[#policies + 1] = policy end
  local r = ww.run {
    config = options.config, workload = options.workload, size = options.size, set = options.set,
    policy = table.concat(policies, "+"), out = false,
  }
  return { [spec.parameter] = value, cycles = r.cycles, ipc = r.ipc, miss_rate = r[spec.miss_rate.stat] }, text_of(r)
end

-- Table -----------------------------------------------------------------------------------------------------------------

local function print_row(name, row, base)
  print(("%-6s %10d %8.1f %14.3f %8.2fx"):format(name, row.cycles, row.ipc, row.miss_rate, base.cycles / row.cycles))
  io.stdout:flush()
end

--- Returns the row without the policy and those of the values.
local function run_all(spec, options)
  print(("%-6s %10s %8s %14s %9s"):format(spec.parameter, "cycles", "IPC", spec.miss_rate.name, "speed-up"))
  local base, base_text = run(spec, options)
  local rows = {}
  print_row("none", base, base)
  for i, value in ipairs(options.values or spec.all_values(options)) do
    local row, text = run(spec, options, value)
    rows[i] = row
    print_row(tostring(value), row, base)
    if spec.ends_without_effect and text == base_text and not options.values then break end
  end
  return base, rows
end

--- Of equally good ones the last.
local function best_of(rows)
  local best
  for _, row in ipairs(rows) do
    if not best or row.cycles <= best.cycles then best = row end
  end
  return best
end

-- Command line ----------------------------------------------------------------------------------------------------------

local readers = {
  ["--size"] = function(o, text) o.size = text end,
  ["--set"] = function(o, text) table.insert(o.set, text) end,
  ["--with"] = function(o, text) table.insert(o.with, text) end,
  ["--json"] = function(o, text) o.json = text end,
}

local function read_values(spec, text)
  local values = {}
  for word in (text .. ","):gmatch "([^,]*)," do
    local value = spec.read_value(word)
    if not value then usage_error(spec, "--%ss: '%s' is not %s", spec.parameter, word, spec.values_are) end
    values[#values + 1] = value
  end
  return values
end

local function read_arguments(spec, args)
  local options, words, i = { set = {}, with = {} }, {}, 1
  while args[i] do
    local is_values = args[i] == ("--%ss"):format(spec.parameter)
    if readers[args[i]] or is_values then
      if not args[i + 1] then usage_error(spec, "%s: a value must follow", args[i]) end
      if is_values then options.values = read_values(spec, args[i + 1]) else readers[args[i]](options, args[i + 1]) end
      i = i + 2
    else
      if args[i]:sub(1, 1) == "-" then usage_error(spec, "unknown option '%s'", args[i]) end
      words[#words + 1] = args[i]
      i = i + 1
    end
  end
  if #words ~= 2 then usage_error(spec, "a config and a workload are wanted") end
  options.config, options.workload = words[1], words[2]
  return options
end

--- spec: name = of the script, help = text before the options, parameter = "limit", values_are = what its values are, read_value =
-- function of a text, all_values = function of the options, policy = function of a value, best = what is printed of the
-- best, a format; miss_rate = { name =, stat = } for the table; ends_without_effect = a value under which every counter is
-- as without the policy ends the sweep.
function sweep.main(spec, args)
  if args[1] == "--help" or args[1] == "-h" then
    io.write(("usage: scripts/%s [options] CONFIG WORKLOAD\n\n"):format(spec.name), spec.help, "\n",
      ("  --%-18s only these\n"):format(spec.parameter .. "s A,B,..."), options_help)
    return
  end
  local options = read_arguments(spec, args)
  local base, rows = run_all(spec, options)
  local best = best_of(rows)
  print(("best: " .. spec.best .. ", %d cycles, %.2fx"):format(best[spec.parameter], best.cycles, base.cycles / best.cycles))
  if not options.json then return end
  local file, problem = io.open(options.json, "wb")
  if not file then error(problem, 0) end
  file:write(json.encode { base = base, rows = rows, best = best[spec.parameter] })
  file:close()
end

return sweep
