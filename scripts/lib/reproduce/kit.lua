-- What figures are made of: runs of kernels under policies, a value of each, means, and headlines
-- with a verdict.
--
-- A figure is { id = "mascar/9", title =, unit =, runs = function(options) -> list of runs, compute
-- = function(result_of, options) -> table }, where result_of gives the result of a run or nil. Its
-- table: columns = names, rows = { { name =, values = { by column }, mean = is it one, paper = { by
-- column } } ... }, headlines = { { what =, paper =, ours =, kind =, reason = } ... }, missing =
-- names of kernels that could not be run.
local core = require "warpwright.core"
local energy = require "warpwright.energy"

local kit = {}

-- Runs --------------------------------------------------------------------------------------------

local function joined(...)
  local words = {}
  for i = 1, select("#", ...) do
    local word = select(i, ...)
    if word and word ~= "" then words[#words + 1] = word end
  end
  return table.concat(words, ",")
end

local function size_of(kernel, series, options)
  local own = series.size or ""
  if options.size == "small" then return joined(kernel.small_base or "small", kernel.small, kernel.size, own) end
  if options.size ~= "medium" then return joined(options.size, kernel.size, own) end
  return joined(kernel.base or "medium", kernel.medium, kernel.size, own)
end

--- Is its workload there?
function kit.exists(kernel)
  return core.is_file(core.home_path(("workloads/%s/%s.lua"):format(kernel.workload, kernel.workload)))
end

--- The run of a kernel for a series { name =, policy =, config =, set =, size =, measure = }.
function kit.run(figure, kernel, series, options)
  return {
    config = series.config or figure.config, workload = kernel.workload, size = size_of(kernel, series, options),
    policy = series.policy, set = series.set or figure.set, measure = series.measure,
    sample = not series.measure and options.sample or nil,
  }
end

--- The runs among which the fastest counts, or the only one.
local function candidates(series)
  if not series.best_of then return { series } end
  local list = {}
  for i, policy in ipairs(series.best_of) do
    list[i] = { name = series.name, policy = policy, config = series.config, set = series.set, size = series.size }
  end
  return list
end

-- Values ------------------------------------------------------------------------------------------

--- Cycles, and so on, of the launches that count.
function kit.of_launches(r, kernel, counter, version)
  if not kernel.launches then return counter == "cycles" and r.cycles or r[counter] end
  local pattern, sum = kernel.launches:gsub("VERSION", version or ""), 0
  for _, launched in ipairs(r.kernels) do
    if launched.name:find(pattern) then sum = sum + launched[counter] end
  end
  return sum
end

function kit.cycles(r, kernel, series) return kit.of_launches(r, kernel, "cycles", series and series.version) end

--- Of a series over the base; the work is the same, so that it is the ratio of IPCs, too.
function kit.speedup(r, base, kernel, series, base_series)
  return kit.cycles(base, kernel, base_series) / kit.cycles(r, kernel, series)
end

function kit.ratio(a, b) return b ~= 0 and a / b or 0.0 end

--- A value as text, "-" where there is none.
function kit.shown(value, form) return value and (form or "%.2f"):format(value) or "-" end

--- The sum of counters of a result, by pattern; those that a machine does not have count nothing.
function kit.sum(r, ...)
  local sum = 0
  for _, pattern in ipairs { ... } do sum = sum + (r.sums[pattern] or 0) end
  return sum
end

local means = {}

function means.arithmetic(values)
  local sum = 0
  for _, value in ipairs(values) do sum = sum + value end
  return sum / #values
end

function means.geometric(values)
  local sum = 0
  for _, value in ipairs(values) do sum = sum + math.log(value) end
  return math.exp(sum / #values)
end

function means.harmonic(values)
  local sum = 0
  for _, value in ipairs(values) do sum = sum + 1 / value end
  return #values / sum
end

--- Of values without gaps; nil of none.
function kit.mean(kind, values) return values[1] and means[kind](values) or nil end

-- Headlines ---------------------------------------------------------------------------------------

--- The verdict on a headline. Kinds: "gain", a factor whose distance from 1 is the effect; "share",
-- a quantity; "holds", true or false. Reproduced: the sign, and within a third of the size.
function kit.verdict(headline)
  local ours, paper = headline.ours, headline.paper
  if ours == nil then return "not measured" end
  if headline.kind == "holds" then return ours and "reproduced" or "not reproduced" end
  local effect, wanted = ours, paper
  if headline.kind == "gain" then
    effect, wanted = ours - 1, paper - 1
  end
  local part = effect / wanted
  if part >= 2 / 3 and part <= 4 / 3 then return "reproduced" end
  return part > 0 and "partly" or "not reproduced"
end

-- Energy ------------------------------------------------------------------------------------------

--- A figure of what becomes of a mean of ratios of energies when a number of the technology is half
-- of what it is, and half as much again. o: id, title, config, kernels, series and base as of bars;
-- ratio = function(energies of the series and of the base, result, result of the base, kernel).
function kit.sensitivity(o)
  local bars = kit.bars { config = o.config, kernels = o.kernels, base = o.base, series = { o.series }, value = function() return 0 end }
  local function mean(results, factors)
    local ratios = {}
    for i, pair in ipairs(results) do
      local r, base = pair[1], pair[2]
      ratios[i] = o.ratio(energy.scaled(r.energy, factors), energy.scaled(base.energy, factors), r, base, pair[3])
    end
    return kit.mean("geometric", ratios)
  end
  function o.compute(result_of, options)
    local results, t = {}, { columns = { "as it is", "half", "half more" }, rows = {}, headlines = {}, missing = {} }
    for _, kernel in ipairs(o.kernels) do
      local exists = kit.exists(kernel)
      local r = exists and result_of(kit.run(o, kernel, o.series, options))
      local base = exists and result_of(kit.run(o, kernel, o.base, options))
      if r and base then results[#results + 1] = { r, base, kernel } end
    end
    for _, number in ipairs(results[1] and energy.numbers or {}) do
      t.rows[#t.rows + 1] = { name = number, values = {
        ["as it is"] = mean(results, {}), half = mean(results, { [number] = 0.5 }), ["half more"] = mean(results, { [number] = 1.5 }),
      } }
    end
    return t
  end
  o.runs = bars.runs
  return o
end

-- Bars --------------------------------------------------------------------------------------------

--- The result that counts for a kernel and a series: of several the fastest.
local function result_for(figure, kernel, series, options, result_of)
  local best
  for _, candidate in ipairs(candidates(series)) do
    local r = result_of(kit.run(figure, kernel, candidate, options))
    if r and (not best or kit.cycles(r, kernel, series) < kit.cycles(best, kernel, series)) then best = r end
  end
  return best
end

local function value_row(figure, kernel, options, result_of)
  local row = { name = kernel.name, group = kernel.group, values = {}, paper = figure.paper and figure.paper[kernel.name] }
  local base = figure.base and result_for(figure, kernel, figure.base, options, result_of)
  for _, series in ipairs(figure.series) do
    local r = result_for(figure, kernel, series, options, result_of)
    if r and (base or not figure.base) then
      row.values[series.name] = (series.value or figure.value)(r, base, kernel, series, figure.base)
    end
  end
  return row
end

--- A row with the means of some rows. `incomplete`: kernels of the figure's set are not among them.
local function mean_row(figure, name, rows, group)
  local wanted = 0
  for _, kernel in ipairs(figure.whole_set) do
    if not group or kernel.group == group then wanted = wanted + 1 end
  end
  local row = { name = name, mean = true, values = {}, paper = figure.paper and figure.paper[name], incomplete = #rows < wanted }
  for _, series in ipairs(figure.series) do
    local values = {}
    for _, one in ipairs(rows) do values[#values + 1] = one.values[series.name] end
    row.values[series.name] = kit.mean(figure.mean, values)
  end
  return row
end

local function rows_with_means(figure, rows)
  if not figure.mean then return rows end
  local found, groups = table.move(rows, 1, #rows, 1, {}), {}
  for _, row in ipairs(rows) do
    local group = row.group
    if group and not groups[group] then
      groups[group] = {}
      groups[#groups + 1] = group
    end
    if group then table.insert(groups[group], row) end
  end
  for _, group in ipairs(#groups > 1 and groups or {}) do
    found[#found + 1] = mean_row(figure, "mean, " .. group, groups[group], group)
  end
  found[#found + 1] = mean_row(figure, "mean", rows)
  return found
end

--- A figure of bars: kernels by series. o: id, title, unit, config, kernels, series = { { name =,
-- policy = or best_of = } ... }, base = a series or nil, value = function(result, result of base,
-- kernel, series, base), mean = a kind, paper = { [kernel or "mean" or "mean, GROUP"] = { [series]
-- = value } }, headlines = function(by_name), where by_name[row][series] is a value. Means of some
-- of the kernels alone are shown, but no headline is measured by them.
function kit.bars(o)
  o.whole_set = o.kernels
  function o.runs(options)
    local runs, all = {}, { table.unpack(o.series) }
    all[#all + 1] = o.base
    for _, kernel in ipairs(o.kernels) do
      for _, series in ipairs(kit.exists(kernel) and all or {}) do
        for _, candidate in ipairs(candidates(series)) do runs[#runs + 1] = kit.run(o, kernel, candidate, options) end
      end
    end
    return runs
  end

  function o.compute(result_of, options)
    local t = { columns = {}, rows = {}, missing = {} }
    for i, series in ipairs(o.series) do t.columns[i] = series.name end
    for _, kernel in ipairs(o.kernels) do
      local row = kit.exists(kernel) and value_row(o, kernel, options, result_of)
      if row and next(row.values) then
        t.rows[#t.rows + 1] = row
      else
        t.missing[#t.missing + 1] = kernel.name
      end
    end
    t.rows = rows_with_means(o, t.rows)
    local by_name = setmetatable({}, { __index = function() return {} end })
    for _, row in ipairs(t.rows) do by_name[row.name] = not row.incomplete and row.values or nil end
    t.headlines = o.headlines and o.headlines(by_name, t) or {}
    return t
  end
  return o
end

return kit
