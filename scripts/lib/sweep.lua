-- Sweeps over a policy's parameter: runs a workload without it and under each of some values, and
-- names the best. For scripts/best_swl and scripts/best_rand_byp.
local ww = require "warpwright"
local command_line = require "scripts.lib.command_line"
local json = require "warpwright.json"
local parts = require "scripts.lib.parts"
local preparation = require "scripts.lib.preparation"

local sweep = {}

local options_help = [[
  --size SIZE          of the workload, default medium
  --set PATH=VALUE     changes the machine; may be repeated
  --with POLICY        another policy beside it, such as pric; may be repeated
  --json FILE          writes the figures

A - stands for the miss rate of a cache (l1d, l2) where the machine has none.
]]

-- Runs --------------------------------------------------------------------------------------------

--- Every counter.
local function text_of(r)
  local lines = {}
  for name, value in r:stats() do lines[#lines + 1] = name .. " " .. tostring(value) end
  return table.concat(lines, "\n")
end

local function policy_of(spec, options, value)
  local policies = { value and spec.policy(value) or "gto" }
  for _, policy in ipairs(options.with) do policies[#policies + 1] = policy end
  return table.concat(policies, "+")
end

local function run(spec, options, value)
  local r = ww.run {
    config = options.config, workload = options.workload, size = options.size, set = options.set,
    policy = policy_of(spec, options, value), out = false,
  }
  local miss_rate = parts.ratio(r, spec.miss_rate.of, spec.miss_rate.ratio)
  return { [spec.parameter] = value, cycles = r.cycles, ipc = r.ipc, miss_rate = miss_rate }, text_of(r)
end

-- Table -------------------------------------------------------------------------------------------

local function print_row(name, row, base)
  local miss_rate = row.miss_rate and ("%.3f"):format(row.miss_rate) or "-"
  print(("%-6s %10d %8.1f %14s %8.2fx"):format(name, row.cycles, row.ipc, miss_rate, base.cycles / row.cycles))
  io.stdout:flush()
end

--- Returns the row without the policy and those of the values.
local function run_all(spec, options)
  preparation.check { config = options.config, set = options.set, size = options.size or "medium", workloads = { options.workload },
    policies = { policy_of(spec, options) } }
  local values = options.values or spec.all_values(options)
  preparation.check_policies(options.config, options.set, { policy_of(spec, options, values[1]) })
  print(("%-6s %10s %8s %14s %9s"):format(spec.parameter, "cycles", "IPC", spec.miss_rate.name, "speed-up"))
  local base, base_text = run(spec, options)
  local rows = {}
  print_row("none", base, base)
  for i, value in ipairs(values) do
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

-- Command line ------------------------------------------------------------------------------------

local function read_values(spec, text)
  local values = {}
  for word in (text .. ","):gmatch "([^,]*)," do
    local value = spec.read_value(word)
    if not value then command_line.expected(spec.name, ("--%ss"):format(spec.parameter), spec.values_are, word) end
    values[#values + 1] = value
  end
  return values
end

local function read_arguments(spec, args)
  local options, values = { set = {}, with = {} }, spec.parameter .. "s"
  local words = command_line.read(spec.name, args, options, {
    size = command_line.text, set = command_line.list, with = command_line.list, json = command_line.output,
    [values] = function(text) return read_values(spec, text) end,
  })
  if #words ~= 2 then command_line.expected_arguments(spec.name, "CONFIG and WORKLOAD", #words) end
  options.config, options.workload, options.values = words[1], words[2], options[values]
  return options
end

--- spec: name = of the script, help = text before the options, parameter = "limit", values_are =
-- what its values are, read_value = function of a text, all_values = function of the options,
-- policy = function of a value, best = what is printed of the best, a format; miss_rate = { name =,
-- of = kind of part, ratio = } for the table; ends_without_effect = a value under which every
-- counter is as without the policy ends the sweep.
function sweep.main(spec, args)
  local help = ("usage: scripts/%s [options] CONFIG WORKLOAD\n\n%s\n  --%-18s only these\n%s"):format(spec.name, spec.help,
    spec.parameter .. "s A,B,...", options_help)
  if command_line.helped(args, help) then return end
  local options = read_arguments(spec, args)
  local base, rows = run_all(spec, options)
  local best = best_of(rows)
  local heading = best.cycles > base.cycles and ("best: none; of these %ss: "):format(spec.parameter) or "best: "
  print((heading .. spec.best .. ", %d cycles, %.2fx"):format(best[spec.parameter], best.cycles, base.cycles / best.cycles))
  if options.json then json.write(options.json, { base = base, rows = rows, best = best[spec.parameter] }) end
end

return sweep
