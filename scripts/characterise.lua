-- Measures a machine with the microbenchmarks of workloads/micro; `help` below says how it is
-- called.
local ww = require "warpwright"
local inputs = require "warpwright.inputs"
local output = require "warpwright.output"
local command_line = require "scripts.lib.command_line"
local machine = require "scripts.lib.characterise_machine"
local measure = require "scripts.lib.characterise_measure"
local plot = require "scripts.lib.characterise_plot"
local preparation = require "scripts.lib.preparation"
local json = require "warpwright.json"

local sections = {}
for _, part in ipairs { "latency", "bandwidth", "sm" } do
  for _, section in ipairs(require("scripts.lib.characterise_" .. part)) do sections[#sections + 1] = section end
end

local function section_names()
  local names = {}
  for i, section in ipairs(sections) do names[i] = section.name end
  return names
end

--- What may be asked for: sections, or the measurements of one.
local function part_names(name)
  for _, section in ipairs(sections) do
    if section.name == name then
      local names = {}
      for i, row in ipairs(section.rows) do names[i] = ("%s.%s"):format(name, row.id) end
      return names
    end
  end
  return section_names()
end

local help = [[
usage: scripts/characterise [--set PATH=VALUE]... [--only PART[,PART]...]... [--json FILE] [--svg FILE] CONFIG

Measures latencies, throughputs, bandwidths and limits of a machine with the microbenchmarks of workloads/micro, prints
a table and draws a plot. Beside what was measured stand the values that the config gives as its reference, and what
the machine's parameters allow, with what limited the measurement and the part of the time in which that was busy.

  --set PATH=VALUE   a parameter of the machine; may be repeated
  --only PART        this section, or this measurement of one, such as latency.l2, by its id in rows.json; may be repeated.
                     Sections are ]] .. table.concat(section_names(), ", ") .. [[

  --json FILE        the rows of the table; default: rows.json in the output folder
  --svg FILE         the plot; default: plot.svg in the output folder

The output folder is the next free out/characterise-CONFIG-N; it is made unless both files are named.
]]

-- Measuring ---------------------------------------------------------------------------------------

local lacking = {
  l1 = "no L1 is wired to the load/store units",
  texture_cache = "no texture cache is wired to the load/store units",
  crossbar = "the machine has no Crossbar",
  l2 = "the machine has no L2",
  dram = "the machine has no MemoryController",
}

--- What a measurement gives; without a value, the reason.
local function measured(target, row)
  if row.needs and not target.facts.parts[row.needs] then return { reason = lacking[row.needs] } end
  local ok, result = pcall(row.measure, target)
  if ok then return result end
  return { reason = measure.refusal(result) or error(result, 0) }
end

--- A row of the table.
local function take(target, section, row)
  local m = measured(target, row)
  local id = section.name .. "." .. row.id
  local reference = target.description.reference and target.description.reference[id]
  local unit = row.unit or section.unit
  local is_rate = unit == "GB/s" or unit == "ops/cycle"
  return {
    section = section.name,
    id = id,
    name = row.name,
    unit = unit,
    x = m.x or row.x,
    value = m.value,
    reason = m.reason,
    reference = reference,
    error = reference and m.value and measure.relative_error(m.value, reference),
    theoretical = m.theoretical,
    percent = is_rate and m.theoretical and 100 * m.value / m.theoretical or nil,
    limiters = m.limiters,
  }
end

-- Printing ----------------------------------------------------------------------------------------

local columns = "%-11s %-44s %9s %-10s %9s %8s %11s %8s  %s"

local forms = { cycles = "%.2f", ["GB/s"] = "%.1f", ["ops/cycle"] = "%.2f", CTAs = "%d", ["per load"] = "%.2f" }

-- What stands beside the name of a row.
local in_brackets = { bandwidth = " (%d)", dram = " (%.2f)" }

local function reference_text(reference)
  if not reference then return "" end
  return type(reference) == "number" and ("%g"):format(reference) or ("%g-%g"):format(table.unpack(reference))
end

local function line_of(row)
  local function text(form, value) return value and form:format(value) or "" end
  local form, notes = forms[row.unit], { row.reason }
  for i, limiter in ipairs(row.limiters or {}) do notes[i] = ("%s %.0f %%"):format(limiter.name, 100 * limiter.busy) end
  local name = row.name
  if row.x and in_brackets[row.section] then name = name .. in_brackets[row.section]:format(row.x) end
  local line = columns:format(row.section, name, row.value and form:format(row.value) or "-", row.unit,
    reference_text(row.reference), text("%+.1f %%", row.error and 100 * row.error), text(form, row.theoretical),
    text("%.1f %%", row.percent), table.concat(notes, ", "))
  return (line:gsub("%s+$", ""))
end

local head = columns:format("section", "measurement", "value", "unit", "reference", "error", "theoretical", "percent",
  "limiter")

--- Prints lines and keeps them.
local function printer()
  local lines = {}
  return function(line)
    lines[#lines + 1] = line
    print(line)
    io.stdout:flush()
  end, lines
end

-- Command line ------------------------------------------------------------------------------------

local options = { ["--set"] = "set", ["--only"] = "only", ["--json"] = "json", ["--svg"] = "svg" }

local function read_arguments(args)
  local given, i = { set = {}, only = {} }, 1
  while args[i] do
    local word = args[i]
    if word:sub(1, 1) == "-" then
      local name, value = word:match "^(%-%-[^=]+)=(.*)$"
      name = name or word
      local option = options[name] or command_line.unknown_option("characterise", name)
      if not value then
        i = i + 1
        value = command_line.value("characterise", name, args[i])
      end
      if option == "set" then
        table.insert(given.set, value)
      elseif option == "only" then
        for wanted in value:gmatch "[^,]+" do table.insert(given.only, wanted) end
      else
        given[option] = value
      end
    else
      given[#given + 1] = word
    end
    i = i + 1
  end
  if #given ~= 1 then command_line.expected_arguments("characterise", "CONFIG", #given) end
  return given
end

--- The sections and rows that are to run, in their own order: a list of { section =, rows = }.
local function wanted_parts(only)
  local wanted, list = {}, {}
  for _, name in ipairs(only) do wanted[name] = true end
  local unknown = table.move(only, 1, #only, 1, {})
  local function takes(name)
    for i = #unknown, 1, -1 do
      if unknown[i] == name then table.remove(unknown, i) end
    end
    return wanted[name]
  end
  for _, section in ipairs(sections) do
    local is_whole, rows = takes(section.name) or not only[1], {}
    for _, row in ipairs(section.rows) do
      if takes(section.name .. "." .. row.id) or is_whole then rows[#rows + 1] = row end
    end
    if rows[1] then list[#list + 1] = { section = section, rows = rows } end
  end
  if unknown[1] then
    local section = unknown[1]:match "^(%w+)%."
    command_line.no_match("characterise", "--only", section and "part" or "section", unknown[1], part_names(section))
  end
  return list
end

local function open_file(path)
  local file, problem = io.open(path, "wb")
  if not file then error("characterise: " .. problem, 0) end
  return file
end

--- Builds the machine once: wrong configs and overrides are found before anything runs.
local function make_target(given)
  local description = preparation.find("config", given[1])
  local sim = ww.build(description, { set = given.set })
  sim:gpu()
  local target = {
    description = description,
    set = given.set,
    facts = machine.facts(sim.machine),
    config = sim:config(),
  }
  sim:close()
  return target
end

local function characterise(given)
  local wanted, target, rows = wanted_parts(given.only), make_target(given), {}
  local json_file, svg_file = given.json and open_file(given.json), given.svg and open_file(given.svg)
  local say, lines = printer()
  local name = target.description.name
  say(name .. (given.set[1] and " with " .. table.concat(given.set, ", ") or ""))
  for _, part in ipairs(wanted) do
    say("\n" .. part.section.title)
    say(head)
    for _, row in ipairs(part.rows) do
      rows[#rows + 1] = take(target, part.section, row)
      say(line_of(rows[#rows]))
    end
  end
  local folder = not (json_file and svg_file) and output.open(nil, { "characterise", name }).path
  local function write(file, path, default, text)
    path = path or folder and folder .. "/" .. default
    if not path then return end
    local problem = inputs.try_to_fill(file or open_file(path), path, text)
    if problem then error("characterise: " .. problem, 0) end
  end
  write(json_file, given.json, "rows.json", json.encode(rows))
  write(svg_file, given.svg, "plot.svg", plot.svg(name, rows))
  write(nil, nil, "table.txt", table.concat(lines, "\n") .. "\n")
  write(nil, nil, "config.lua", target.config)
  if folder then print("\nwritten to " .. folder) end
end

if arg[1] == "--help" or arg[1] == "-h" then
  io.write(help)
  return
end

characterise(read_arguments(arg))
