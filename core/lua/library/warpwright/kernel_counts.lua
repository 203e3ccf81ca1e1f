-- What each kernel had of a machine that others use, too, where the dispatcher's count_by_kernel is set: fields of the launches
-- of a result, and its statistics.
local kernel_counts = {}

local function ratio(part, whole) return whole ~= 0 and part / whole or 0.0 end

--- Ratios of the columns: visit(name, part, whole, unit, doc). Those of caches are of all that looked lines up.
local function visit_ratios(counts, values, visit)
  for _, column in ipairs(counts.columns) do
    local cache = column.name:match "^(.*)_read_misses$"
    if cache then
      local function of(result) return values[cache .. result] end
      visit(cache .. "_miss_rate", of "_misses", of "_hits" + of "_misses" + of "_merges", "fraction", "misses / (hits + misses + merges)")
      visit(cache .. "_read_miss_rate", of "_read_misses", of "_read_hits" + of "_read_misses" + of "_read_merges", "fraction",
        "As miss_rate, of reads alone")
    end
    local lsu = column.name:match "^(.*)_load_latency_ticks$"
    if lsu then
      visit(lsu .. "_average_load_latency", values[column.name], values[lsu .. "_loads_answered"] * counts.ticks_per_cycle, "cycles",
        "First access to last answer, in core cycles")
    end
  end
end

--- The launches of a result, each with what it had: launch.l2_misses. `counts`: of core.kernel_counts(). Tables that host
-- programs have stay as they are: what they know must not depend on what was in flight at a checkpoint.
function kernel_counts.with_fields(launches, counts)
  local list = {}
  for i, launch in ipairs(launches) do
    local fields, values = {}, counts.launches[i]
    for name, value in pairs(launch) do fields[name] = value end
    for name, value in pairs(values) do fields[name] = value end
    visit_ratios(counts, values, function(name, part, whole) fields[name] = ratio(part, whole) end)
    list[i] = fields
  end
  return list
end

--- Adds them to statistics, a core.stats(): of a launch, or of none.
function kernel_counts.add_rows(rows, prefix, kernel, counts, values)
  for _, column in ipairs(counts.columns) do
    rows:add(prefix .. column.name, values[column.name], column.unit, ("%s: %s"):format(kernel, column.doc))
  end
  visit_ratios(counts, values, function(name, part, whole, unit, doc)
    rows:add(prefix .. name, ratio(part, whole), unit, ("%s: %s"):format(kernel, doc), whole + 0.0)
  end)
end

return kernel_counts
