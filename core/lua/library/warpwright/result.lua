-- What a run gives back: totals as fields, every stat by its path, sums and ratios over patterns.
local core = require "warpwright.core"
local names = require "warpwright.names"

local result = {}

local Result = { __name = "result" }

local function ratio(a, b) return b ~= 0 and a / b or 0.0 end

--- The stats that belong to the run and not to an object.
local function run_rows(r)
  local rows = {}
  local function add(name, value, unit, doc, whole)
    rows[#rows + 1] = { name = name, value = value, unit = unit, doc = doc, whole = whole }
  end
  add("run.cycles", r.cycles, "cycles", "Core cycles, those between kernels included")
  add("run.warp_instructions", r.warp_instructions, "instructions", "Issued warp instructions")
  add("run.thread_instructions", r.thread_instructions, "instructions", "The same, counted once per active thread")
  add("run.ipc", r.ipc, "1/cycle", "Thread instructions per core cycle", r.cycles + 0.0)
  add("run.warp_ipc", r.warp_ipc, "1/cycle", "Warp instructions per core cycle", r.cycles + 0.0)
  add("run.launches", #r.launches, "kernels", "Kernels that ran to their end")
  add("run.memory_peak", r.memory_peak, "bytes", "Most device memory allocated at a time")
  for i, launch in ipairs(r.launches) do
    local prefix, kernel = ("launch[%d]."):format(i - 1), launch.kernel
    add(prefix .. "start_cycle", launch.start_cycle, "cycles", kernel .. ": core cycle at which it started")
    add(prefix .. "cycles", launch.cycles, "cycles", kernel .. ": core cycles from start to end")
    add(prefix .. "warp_instructions", launch.warp_instructions, "instructions", kernel .. ": issued")
    add(prefix .. "thread_instructions", launch.thread_instructions, "instructions", kernel .. ": per active thread")
    add(prefix .. "ipc", ratio(launch.thread_instructions, launch.cycles), "1/cycle", kernel .. ": thread instructions",
      launch.cycles + 0.0)
    add(prefix .. "ctas", launch.ctas, "CTAs", kernel .. ": thread blocks")
  end
  return rows
end

--- The fields of a result that belong to the run.
local function run_fields(name, policy, totals, launches)
  return {
    machine = name,
    policy = policy,
    cycles = totals.cycles,
    warp_instructions = totals.warp_instructions,
    thread_instructions = totals.thread_instructions,
    ipc = ratio(totals.thread_instructions, totals.cycles),
    warp_ipc = ratio(totals.warp_instructions, totals.cycles),
    memory_peak = totals.memory_peak,
    seconds = totals.seconds,
    cycles_per_second = ratio(totals.cycles, totals.seconds),
    launches = launches,
    workload = false, size = false, checks = 0, out = false,
    policy_from = 0,
  }
end

--- `totals` and `launches` as the GPU counts them; `machine` is settled; `policy_rows` are the
-- counters of policies, which began at the core cycle `policy_from`.
function result.new(name, policy, totals, launches, machine, policy_rows, policy_from)
  local r = run_fields(name, policy, totals, table.move(launches, 1, #launches, 1, {})) -- the GPU's list grows
  local rows = run_rows(r)
  for _, row in ipairs(machine:stats()) do rows[#rows + 1] = row end
  for _, row in ipairs(policy_rows or {}) do rows[#rows + 1] = row end
  r.policy_from = policy_from or 0
  return result.from_rows(r, rows)
end

--- A result of its totals and its rows { name =, value =, unit =, doc =, whole = of a ratio: value is a part of so much,
-- of_policy = true for counters of policies }.
function result.from_rows(r, rows)
  local by_name = {}
  for _, row in ipairs(rows) do by_name[row.name] = row end
  r.rows, r.by_name = rows, by_name
  return setmetatable(r, Result)
end

local totals <const> = { "cycles", "warp_instructions", "thread_instructions", "seconds" }

--- `row` without what `before`, the same row of an earlier result, had counted. The part of a ratio is a whole number.
local function row_since(row, before)
  local value, whole = row.value, row.whole
  if before and not row.name:find ".longest_" then
    if whole then
      local part = math.floor(value * whole + 0.5) - math.floor(before.value * before.whole + 0.5)
      whole = whole - before.whole
      value = ratio(part, whole)
    else
      value = value - before.value
    end
  end
  return { name = row.name, value = value, unit = row.unit, doc = row.doc, whole = whole }
end

--- r:since(earlier): what was counted after an earlier result of the same run, or before sim:fork. Ratios are those of the time
-- since then; launches, those that ended since. A policy that began since then, and what was not there before, are as they are,
-- and so is what is no sum: the peak of memory, the longest time.
function Result:since(earlier)
  if getmetatable(earlier) ~= Result then core.user_error "result: since(earlier): a result is wanted" end
  if earlier.machine ~= self.machine or earlier.cycles > self.cycles or #earlier.launches > #self.launches then
    core.user_error(("result: since(earlier): the one of %s at cycle %d is none of %s before cycle %d"):format(earlier.machine,
      earlier.cycles, self.machine, self.cycles))
  end
  local since = { memory_peak = self.memory_peak }
  for _, name in ipairs(totals) do since[name] = self[name] - earlier[name] end
  local r = run_fields(self.machine, self.policy, since, { table.unpack(self.launches, #earlier.launches + 1) })
  for _, name in ipairs { "workload", "size", "checks", "out", "policy_from" } do r[name] = self[name] end
  local rows, same_policy = run_rows(r), self.policy_from == earlier.policy_from
  for _, row in ipairs(self.rows) do
    if not (row.name:find "^run%." or row.name:find "^launch%[") then
      rows[#rows + 1] = row_since(row, (same_policy or not row.of_policy) and earlier.by_name[row.name])
    end
  end
  return result.from_rows(r, rows)
end

--- r:stats(): for name, value, unit, doc in r:stats() do ... end, in the order of stats.txt.
function Result:stats()
  local i = 0
  return function()
    i = i + 1
    local row = self.rows[i]
    if row then return row.name, row.value, row.unit, row.doc end
  end
end

--- The sum of the counters that match, or the ratio of all parts to all wholes: the miss rate of all accesses.
local function over_pattern(r, pattern)
  local sum, part, whole, matches, ratios = 0, 0.0, 0.0, 0, 0
  for _, row in ipairs(r.rows) do
    if core.path_matches(pattern, row.name) then
      matches = matches + 1
      if row.whole then
        ratios, part, whole = ratios + 1, part + row.value * row.whole, whole + row.whole
      else
        sum = sum + row.value
      end
    end
  end
  if matches == 0 then return nil end
  if ratios > 0 and ratios < matches then
    core.user_error(("result: '%s' matches counters and ratios, of which there is no sum"):format(pattern))
  end
  return ratios > 0 and ratio(part, whole) or sum
end

local function unknown(r, key)
  local patterns, seen = names.sorted_keys(r), {}
  for _, row in ipairs(r.rows) do
    local pattern = row.name:gsub("%[%d+%]", "[*]")
    if not seen[pattern] then patterns[#patterns + 1] = pattern end
    seen[pattern] = true
  end
  local wanted = tostring(key):gsub("%[%d+%]", "[*]")
  core.user_error(("result: there is no '%s'; near names are %s"):format(tostring(key),
    table.concat(names.nearest(wanted, patterns, 3), ", ")))
end

function Result:__index(key)
  if Result[key] then return Result[key] end
  local row = rawget(self, "by_name")[key]
  if row then return row.value end
  local value = type(key) == "string" and key:find("*", 1, true) and over_pattern(self, key)
  return value or unknown(self, key)
end

return result
