-- warpwright stats: the names that --stats-of, --histograms and warpwright query take on a machine, under a policy. Nothing runs.
local core = require "warpwright.core"
local energy = require "warpwright.energy"
local interval_energies = require "warpwright.interval_energies"
local intervals = require "warpwright.intervals"
local names = require "warpwright.names"
local simulation = require "warpwright.simulation"
local text_table = require "warpwright.sweep.table"

local stat_names = {}

--- Names with [*] for every index, each once: { pattern, unit, doc } ... of { name =, unit =, doc = } ...
local function by_pattern(list)
  local rows, seen = {}, {}
  for _, one in ipairs(list) do
    local pattern = one.name:gsub("%[%d+%]", "[*]")
    if not seen[pattern] then rows[#rows + 1] = { pattern, one.unit, one.doc } end
    seen[pattern] = true
  end
  return rows
end

--- A launch stands for those of a run, which there is none of.
local function statistics(sim)
  local r, list = sim:result(), {}
  r.launches[1] = { kernel = "KERNEL", start_cycle = 0, cycles = 0, warp_instructions = 0, thread_instructions = 0, ctas = 0,
    ctas_per_sm = 0, limited_by = "LIMIT" }
  for name, _, unit, doc in r:stats() do list[#list + 1] = { name = name, unit = unit, doc = doc } end
  return list
end

local function energies(sim)
  local list = {}
  for i, name in ipairs(interval_energies.names(sim.machine)) do list[i] = { name = name, unit = "J" } end
  return list
end

--- { title =, list = } of each of those who take names.
local function sections(config, options)
  local sim = simulation.build(config, options)
  core.start_histograms(sim:gpu())
  local over_time, of_whole_run = {}, {}
  for _, one in ipairs(statistics(sim)) do table.insert(intervals.is_column(one.name) and over_time or of_whole_run, one) end
  for _, product in ipairs(energy.products) do
    of_whole_run[#of_whole_run + 1] = { name = "energy." .. product.name, unit = product.unit, doc = product.doc .. "; with --energy" }
  end
  local found = {
    { title = "statistics: --stats-of, warpwright query, scripts", list = over_time },
    { title = "of whole runs: warpwright query, scripts", list = of_whole_run },
    { title = "energies: --stats-of; of runs with --energy, warpwright query and scripts", list = energies(sim) },
    { title = "histograms: --histograms", list = core.histograms(sim:gpu()) },
  }
  sim:close()
  return found
end

local function matches(one, pattern)
  return core.path_matches(pattern, one.name) or one.name:gsub("%[%d+%]", "[*]"):find(pattern, 1, true)
end

--- Those of a list that any of the patterns matches; without patterns, all.
local function chosen_of(list, patterns)
  local chosen = {}
  for _, one in ipairs(list) do
    local is_wanted = not patterns[1]
    for _, pattern in ipairs(patterns) do is_wanted = is_wanted or matches(one, pattern) end
    if is_wanted then chosen[#chosen + 1] = one end
  end
  return chosen
end

--- An error for a pattern that matches nothing.
local function check(found, pattern)
  local known = {}
  for _, section in ipairs(found) do
    if chosen_of(section.list, { pattern })[1] then return end
    for _, row in ipairs(by_pattern(section.list)) do known[#known + 1] = row[1] end
  end
  names.check_indices("stats", pattern)
  core.user_error(("stats: no name matches '%s'%s"):format(pattern, names.did_you_mean((pattern:gsub("%[%d+%]", "[*]")), known, 3)))
end

--- `options`: as of ww.build; `patterns`: as --stats-of takes them, or parts of names; none: all.
function stat_names.print(config, options, patterns)
  local found, texts = sections(config, options), {}
  for i, pattern in ipairs(patterns) do
    patterns[i] = core.current_name(pattern) or pattern
    check(found, patterns[i])
  end
  for _, section in ipairs(found) do
    local rows = by_pattern(chosen_of(section.list, patterns))
    if rows[1] then texts[#texts + 1] = section.title .. "\n" .. text_table.text({ "name", "unit", "" }, rows) end
  end
  io.write(table.concat(texts, "\n"))
end

return stat_names
