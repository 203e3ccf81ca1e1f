-- Speed-ups of a sweep: what each value of an axis took, beside that of another value, over runs that are the same but for it.
local core = require "warpwright.core"
local names = require "warpwright.names"
local page = require "warpwright.report.page"
local ratio = require "warpwright.sweep.ratio"
local stored_run = require "warpwright.stored_run"
local svg = require "warpwright.svg"
local text_table = require "warpwright.sweep.table"

local speed_ups = {}

local function text_of(value) return value == nil and "" or page.plain(value) end

--- The values of an axis in the order of the runs.
function speed_ups.values_of(found, axis)
  local values, seen = {}, {}
  for _, run in ipairs(found.runs) do
    local value = text_of(run[axis])
    if not seen[value] then values[#values + 1] = value end
    seen[value] = true
  end
  return values
end

--- A quotient in words; a ~ says that 1 lies in its interval.
function speed_ups.text(quotient)
  local text = ("%.3f"):format(quotient.value)
  if quotient.half_width then text = ("%s +-%.3f"):format(text, quotient.half_width) end
  return ratio.is_significant(quotient) and text or text .. " ~"
end

-- What is compared ------------------------------------------------------------------------------------------------------------

local function varied_axes(found)
  local varied = {}
  for _, axis in ipairs(found.axes) do
    if #speed_ups.values_of(found, axis) > 1 then varied[#varied + 1] = axis end
  end
  return varied
end

--- What was asked for; else the policies; where there is one, the last axis that has several values.
local function compared_axis(varied, asked)
  local is_varied = {}
  for _, axis in ipairs(varied) do is_varied[axis] = true end
  if asked and not is_varied[asked] then
    core.user_error(("report: --compare: no axis with several values is '%s'%s"):format(asked, names.available(asked, varied)))
  end
  return asked or is_varied.policy and "policy" or varied[#varied]
end

--- The values of an axis, that which the others are compared with first: the one asked for, else that of the first run.
local function from_base(values, asked)
  local list = { asked or values[1] }
  for _, value in ipairs(values) do
    if value ~= list[1] then list[#list + 1] = value end
  end
  if #list > #values then core.user_error(("report: --base: no value is '%s'%s"):format(asked, names.available(asked, values))) end
  return list
end

-- What runs took --------------------------------------------------------------------------------------------------------------

--- How many core cycles a second a run had; of a run without statistics by the config that it left: nil where it has left none, false where
-- its clock may change.
local function core_hertz(path, run)
  local seconds = run["run.seconds"]
  if seconds then return run.cycles / seconds end
  local number, unit, range = (stored_run.read_config(path .. "/" .. run.folder) or ""):match 'core = "([%d%.]+)([kMG]?)Hz([^"]*)"'
  return number and range == "" and tonumber(number) * ({ [""] = 1, k = 1e3, M = 1e6, G = 1e9 })[unit] or number and false
end

--- Beyond the rounding of the seconds.
local function is_other(hertz, first) return math.abs(hertz - first) > 1e-9 * first end

--- By run, what it took, as a quantity; what that is: cycles, or seconds where the core clocks of the runs differ or change; and since
-- when, in words. What runs have in common, the warm-up of a sweep, is left out: it would bring all quotients nearer to 1.
local function durations(found)
  local cycles, seconds, first, differs, since = {}, {}, nil, false, ""
  for _, run in ipairs(found.runs) do
    if run.cycles then
      local hertz = core_hertz(found.path, run)
      cycles[run] = { value = run.cycles - (run.warm_up_cycles or 0), half_width = run.half_width }
      if hertz then
        first = first or hertz
        seconds[run] = { value = run.cycles / hertz - (run.warm_up_seconds or 0), half_width = run.half_width and run.half_width / hertz }
      end
      differs = differs or hertz == false or hertz and is_other(hertz, first)
      if run.warm_up_cycles then since = ", all since the warm-up" end
    end
  end
  return differs and seconds or cycles, differs and "simulated seconds" or "cycles", since
end

--- Runs that differ in the compared axis and in their seeds alone, as rows { name =, words = of it, by axis, seeds = of those that ended, took = { [value of the axis] =
-- { [seed] = what it took } } }; of repetitions the first.
local function rows_of(found, axes, compared, took)
  local rows, by_name = {}, {}
  for _, run in ipairs(found.runs) do
    local words, seed, value = {}, compared ~= "seed" and text_of(run.seed) or "", text_of(run[compared])
    for i, axis in ipairs(axes) do words[i] = text_of(run[axis]) end
    local name = words[1] and table.concat(words, ", ") or "all"
    local row = by_name[name] or { name = name, words = words, seeds = {}, took = {} }
    if not by_name[name] then
      by_name[name], rows[#rows + 1] = row, row
    end
    if took[run] and not row.seeds[seed] then
      row.seeds[seed] = true
      row.seeds[#row.seeds + 1] = seed
    end
    row.took[value] = row.took[value] or {}
    row.took[value][seed] = row.took[value][seed] or took[run]
  end
  return rows
end

-- Quotients ---------------------------------------------------------------------------------------------------------------------

--- Of a row, what `base` took over what `value` took, seed by seed; nil without two runs to compare.
local function quotient_of(row, base, value)
  local quotients, bases, others = {}, row.took[base] or {}, row.took[value] or {}
  for _, seed in ipairs(row.seeds) do
    local a, b = bases[seed], others[seed]
    if a and b and a.value > 0 and b.value > 0 then
      quotients[#quotients + 1] = base == value and { value = 1.0 } or ratio.of(a, b)
    end
  end
  return base == value and quotients[1] or ratio.over_seeds(quotients)
end

--- Do all seeds of a row take the same, whatever the value?
local function are_alike(row)
  local all = true
  for _, by_seed in pairs(row.took) do
    local took = {}
    for _, seed in ipairs(row.seeds) do took[#took + 1] = by_seed[seed] end
    all = all and (not took[2] or ratio.are_alike(took))
  end
  return all
end

--- Those that any of the rows has a speed-up for.
local function values_that_ran(rows, values)
  local list = {}
  for _, value in ipairs(values) do
    local is_there = false
    for _, row in ipairs(rows) do is_there = is_there or row.speed[value] ~= nil end
    list[#list + 1] = is_there and value or nil
  end
  return list
end

--- Over the rows that have a speed-up for each value that ran at all, so that all means are of the same runs.
local function mean_of(rows, values)
  local whole, speed = {}, {}
  values = values_that_ran(rows, values)
  for _, row in ipairs(rows) do
    local is_whole = true
    for _, value in ipairs(values) do is_whole = is_whole and row.speed[value] ~= nil end
    if is_whole then whole[#whole + 1] = row end
  end
  for _, value in ipairs(values) do
    local quotients = {}
    for i, row in ipairs(whole) do quotients[i] = row.speed[value] end
    speed[value] = quotients[1] and ratio.mean(quotients)
  end
  local name = #whole == #rows and "geometric mean" or ("geometric mean, %d of %d rows"):format(#whole, #rows)
  return { name = name, words = { name }, label = name, seeds = {}, speed = speed }
end

--- Of what the database of a sweep has, { path =, axes =, runs = }, where an axis `compare` and a value `base` of it were asked for, or
-- nil: { compared = an axis, values = of it, the base first, of_rows = the axes that names of rows are of, axes = these as a list, rows =
-- { { name =, words = its parts by axis, label = the name with its seeds, seeds = list, speed = { [value] = a quotient or nil } } ... }, the last one the mean, caption =, has_intervals =,
-- has_seeds = }; or { missing = why }.
function speed_ups.of(found, compare, base)
  local varied = varied_axes(found)
  local compared = compared_axis(varied, compare)
  if not compared then return { missing = "One point: nothing to compare." } end
  local axes, took, unit, since = {}, durations(found)
  for _, axis in ipairs(varied) do
    if axis ~= compared and axis ~= "seed" then axes[#axes + 1] = axis end
  end
  local values, rows = from_base(speed_ups.values_of(found, compared), base), rows_of(found, axes, compared, took)
  local is_any, has_intervals, has_seeds = false, false, false
  for _, row in ipairs(rows) do
    row.speed = {}
    for _, value in ipairs(values) do row.speed[value] = quotient_of(row, values[1], value) end
    row.label = row.seeds[2] and ("%s, %s"):format(row.name, ratio.seeds_text(#row.seeds, are_alike(row))) or row.name
    has_seeds = has_seeds or row.seeds[2] ~= nil
    for _, quotient in pairs(row.speed) do is_any, has_intervals = true, has_intervals or quotient.half_width ~= nil end
  end
  if not is_any then return { missing = "No two runs that ended can be compared." } end
  rows[#rows + 1] = mean_of(rows, values)
  local caption = ("%s of %s %s, over those of each other%s"):format(unit, compared, values[1], since)
  if has_intervals then caption = caption .. "; +- is half of a 95% interval, ~ not significant: 1 lies in it" end
  return { compared = compared, values = values, of_rows = axes[1] and table.concat(axes, ", ") or "runs", axes = axes, rows = rows,
    caption = caption, has_intervals = has_intervals,
    has_seeds = has_seeds }
end

-- As text -----------------------------------------------------------------------------------------------------------------------

local function as_table(ups)
  local rows = {}
  for i, row in ipairs(ups.rows) do
    rows[i] = { row.label }
    for c, value in ipairs(ups.values) do rows[i][c + 1] = row.speed[value] and speed_ups.text(row.speed[value]) or "-" end
  end
  return ("%s\n\n%s"):format(ups.caption, text_table.text({ ups.of_rows, table.unpack(ups.values) }, rows))
end

local function latex_of(quotient)
  if not quotient then return { latex = "-" } end
  local text = ("%.3f"):format(quotient.value)
  if quotient.half_width then text = ("%s \\pm %.3f"):format(text, quotient.half_width) end
  return { latex = ratio.is_significant(quotient) and "$" .. text .. "$" or "$" .. text .. "$~$\\sim$" }
end

local function as_latex(ups)
  local rows = {}
  for i, row in ipairs(ups.rows) do
    rows[i] = { row.label }
    for c, value in ipairs(ups.values) do rows[i][c + 1] = latex_of(row.speed[value]) end
  end
  return text_table.latex({ ups.of_rows, table.unpack(ups.values) }, rows, true, ups.caption)
end

--- A writer of rows as `write` does, with all digits: a column for each axis and each value, where there are intervals one for its
-- half-width, too.
local function as_rows(write)
  return function(ups)
    local columns, rows = table.move(ups.axes, 1, #ups.axes, 1, {}), {}
    if not columns[1] then columns[1] = ups.of_rows end
    for i, row in ipairs(ups.rows) do
      rows[i] = table.move(row.words[1] and row.words or { row.name }, 1, #columns, 1, {})
      rows[i][#columns + 1] = row.seeds[1] and #row.seeds or nil
    end
    if ups.has_seeds then columns[#columns + 1] = "seeds" end
    for _, value in ipairs(ups.values) do
      local at = #columns + 1
      columns[at], columns[at + 1] = value, ups.has_intervals and value .. " +-" or nil
      for i, row in ipairs(ups.rows) do
        local quotient = row.speed[value] or {}
        rows[i][at], rows[i][at + 1] = quotient.value, quotient.half_width
      end
    end
    return write(columns, rows)
  end
end

local panels_beside <const>, bars_width <const>, bar_height <const>, letter_width <const> = 3, 300, 22, 6.2

--- A panel for each value, with a bar for each row.
local function as_svg(ups)
  local canvas, longest, count = svg.canvas(), 0, #ups.values - 1
  for _, row in ipairs(ups.rows) do longest = math.max(longest, utf8.len(row.label) or #row.label) end
  local labels = 12 + math.ceil(letter_width * longest)
  local width, height = labels + bars_width, 80 + bar_height * #ups.rows
  for i = 1, count do
    local value, bars = ups.values[i + 1], {}
    for b, row in ipairs(ups.rows) do
      local quotient = row.speed[value]
      bars[b] = { name = row.label, value = quotient and quotient.value, half_width = quotient and quotient.half_width,
        text = quotient and speed_ups.text(quotient) }
    end
    canvas:bars({ x = 8 + (i - 1) % panels_beside * width, y = (i - 1) // panels_beside * height, width = width - 40, height = height },
      { title = ("%s %s"):format(ups.compared, value), unit = "speed-up over " .. ups.values[1], labels = labels, bars = bars })
  end
  return canvas:document(16 + math.min(count, panels_beside) * width, math.ceil(count / panels_beside) * height)
end

--- How they are written, by option: functions of what speed_ups.of() returns.
speed_ups.formats = {
  ["--table"] = as_table, ["--csv"] = as_rows(text_table.csv), ["--json"] = as_rows(text_table.json), ["--latex"] = as_latex, ["--svg"] = as_svg,
}

return speed_ups
