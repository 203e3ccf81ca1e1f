-- What a run gives back: totals as fields, every stat by its path, sums and ratios over patterns.
local core = require "warpwright.core"
local energy = require "warpwright.energy"
local kernel_counts = require "warpwright.kernel_counts"
local later = require "warpwright.later"
local load = require "warpwright.load"
local machine = require "warpwright.machine"
local names = require "warpwright.names"

local sampled_result = later "warpwright.sampled_result"

local result = {}

local Result = { __name = "result" }

local function ratio(a, b) return b ~= 0 and a / b or 0.0 end

--- The name of a launch's kernel; of several modules with a kernel of that name all but the first are told apart.
function result.kernel_of(launch)
  return launch.module and ("%s (module %d)"):format(launch.kernel, launch.module) or launch.kernel
end

--- Simulated time.
local function seconds_of(r) return rawget(r, "simulated") or r.cycles / r.structure.core_hertz end

--- The stats that belong to the run and not to an object.
local function run_rows(r)
  local rows = core.stats()
  local counts = rawget(r, "by_kernel")
  local function add(name, value, unit, doc, whole) rows:add(name, value, unit, doc, whole) end
  add("run.cycles", r.cycles, "cycles", "Core cycles, those between kernels included; not those in which messages drain behind the last one")
  if rawget(r, "structure") then add("run.seconds", seconds_of(r), "s", "Simulated time: run.cycles at the core clock, whatever it was in each") end
  for _, clock in ipairs(rawget(r, "clocks") or {}) do
    local prefix = ("run.clock.%s."):format(clock.name)
    add(prefix .. "cycles", clock.cycles, "cycles", "Of this clock")
    add(prefix .. "frequency", ratio(clock.cycles, r.simulated), "Hz", "Mean, over the simulated time", r.simulated)
    add(prefix .. "changes", clock.changes, "changes", "Times that its frequency changed")
  end
  add("run.warp_instructions", r.warp_instructions, "instructions", "Issued warp instructions")
  add("run.thread_instructions", r.thread_instructions, "instructions", "The same, counted once per active thread")
  add("run.ipc", r.ipc, "1/cycle", "Thread instructions per core cycle", r.cycles + 0.0)
  add("run.warp_ipc", r.warp_ipc, "1/cycle", "Warp instructions per core cycle", r.cycles + 0.0)
  add("run.launches", #r.launches, "kernels", "Kernels that ended, by a fault of theirs or without")
  add("run.memory_peak", r.memory_peak, "bytes", "Most device memory allocated at a time")
  for i, launch in ipairs(r.launches) do
    local prefix, kernel = ("launch[%d]."):format(i - 1), result.kernel_of(launch)
    add(prefix .. "start_cycle", launch.start_cycle, "cycles", kernel .. ": core cycle at which it started")
    add(prefix .. "cycles", launch.cycles, "cycles", kernel .. ": core cycles from start to end")
    add(prefix .. "warp_instructions", launch.warp_instructions, "instructions", kernel .. ": issued")
    add(prefix .. "thread_instructions", launch.thread_instructions, "instructions", kernel .. ": per active thread")
    add(prefix .. "ipc", ratio(launch.thread_instructions, launch.cycles), "1/cycle", kernel .. ": thread instructions",
      launch.cycles + 0.0)
    add(prefix .. "ctas", launch.ctas, "CTAs", kernel .. ": thread blocks")
    add(prefix .. "ctas_per_sm", launch.ctas_per_sm, "CTAs", ("%s: that an SM holds at most, limited by %s"):format(kernel, launch.limited_by))
    if launch.together then
      add(prefix .. "together", launch.together, "launch", kernel .. ": the first of the launches that were launched together")
    end
    if launch.tenant then add(prefix .. "tenant", launch.tenant, "tenant", kernel .. ": whose it was") end
    if counts then kernel_counts.add_rows(rows, prefix, kernel, counts, launch) end
  end
  if counts and counts.none then kernel_counts.add_rows(rows, "run.no_kernel.", "of no kernel", counts, counts.none) end
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
    simulated = totals.simulated,
    clocks = totals.clocks,
    printed = totals.printed or "", -- of kernels that have not ended
    cycles_per_second = ratio(totals.cycles, totals.seconds),
    launches = launches,
    workload = false, size = false, checks = 0, out = false, memcheck = false, profile = false, histograms = false, sampled = false,
    policy_from = 0, origin = false, -- which run it is of; false: any
  }
end

--- A result of its totals and the statistics of objects and policies, a core.stats(). Those of the run come in front of them
-- once somebody asks: there are seven for each launch.
local function with_counted(r, counted)
  r.counted = counted
  return setmetatable(r, Result)
end

--- `totals` and `launches` as the GPU counts them; `built` is the machine, settled; `policy_rows` are the counters of
-- policies, which began at the core cycle `policy_from`; `counted`: a core.stats() in place of what the machine has counted.
function result.new(name, policy, totals, launches, built, policy_rows, policy_from, counted)
  local r = run_fields(name, policy, totals, table.move(launches, 1, #launches, 1, {})) -- the GPU's list grows
  r.structure = energy.structure(machine.all_objects(built))
  r.structure.core_hertz, r.structure.clocks = built:clocks()[1].hertz, built:clocks()
  r.by_kernel = totals.by_kernel
  if r.by_kernel then r.launches = kernel_counts.with_fields(r.launches, r.by_kernel) end
  counted = counted or built:stats()
  for _, row in ipairs(policy_rows or {}) do counted:add(row.name, row.value, row.unit, row.doc, nil, true) end
  r.policy_from = policy_from or 0
  return with_counted(r, counted)
end

--- A result of its totals and all its statistics, a core.stats().
function result.from_rows(r, rows)
  r.rows = rows
  return setmetatable(r, Result)
end

--- All statistics of a result, a core.stats().
local function rows_of(r)
  local rows = rawget(r, "rows")
  if not rows then
    rows = run_rows(r)
    rows:append(rawget(r, "counted"))
    r.rows, r.counted = rows, nil
  end
  return rows
end

--- What was counted at each frequency, { { frequency =, seconds =, counters = } ... }, less what had been earlier.
local function shares_since(shares, earlier)
  local list, by_frequency = {}, {}
  local function add(some, sign)
    for _, share in ipairs(some) do
      local sum = by_frequency[share.frequency]
      if not sum then
        sum = { frequency = share.frequency, seconds = 0.0, counters = {} }
        by_frequency[share.frequency], list[#list + 1] = sum, sum
      end
      sum.seconds = sum.seconds + sign * share.seconds
      for name, count in pairs(share.counters) do sum.counters[name] = (sum.counters[name] or 0) + sign * count end
    end
  end
  add(shares, 1)
  add(earlier, -1)
  return list
end

local totals <const> = { "cycles", "warp_instructions", "thread_instructions", "seconds" }

--- r:since(earlier): what was counted after an earlier result of the same run, or before sim:fork. Ratios are those of the time
-- since then; launches, those that ended since. A policy that began since then, and what was not there before, are as they are,
-- and so is what is no sum: the peak of memory, the longest time.
function Result:since(earlier)
  if getmetatable(earlier) ~= Result then names.expected("since", "a result", earlier) end
  if self.sampled or earlier.sampled then core.user_error "since: expected exact results, got one that is estimated by sampling" end
  if self.origin and earlier.origin and earlier.origin ~= self.origin then
    core.user_error(("since: expected a result of the same run, got one of another run on %s"):format(earlier.machine))
  end
  if earlier.machine ~= self.machine or earlier.cycles > self.cycles or #earlier.launches > #self.launches then
    core.user_error(("since: expected a result of %s before cycle %d, got one of %s at cycle %d"):format(self.machine, self.cycles,
      earlier.machine, earlier.cycles))
  end
  local since = { memory_peak = self.memory_peak }
  for _, name in ipairs(totals) do since[name] = self[name] - earlier[name] end
  if rawget(self, "clocks") then
    since.simulated, since.clocks = self.simulated - earlier.simulated, {}
    for i, clock in ipairs(self.clocks) do
      local before = earlier.clocks[i]
      since.clocks[i] = { name = clock.name, cycles = clock.cycles - before.cycles, changes = clock.changes - before.changes,
        shares = shares_since(clock.shares, before.shares) }
    end
  end
  local r = run_fields(self.machine, self.policy, since, { table.unpack(self.launches, #earlier.launches + 1) })
  for _, name in ipairs { "workload", "size", "checks", "out", "policy_from", "structure", "memcheck", "origin" } do r[name] = self[name] end
  local counts = rawget(self, "by_kernel")
  r.by_kernel = counts and { columns = counts.columns, ticks_per_cycle = counts.ticks_per_cycle }
  with_counted(r, rows_of(self):since(rows_of(earlier), self.policy_from == earlier.policy_from))
  local technology = rawget(self, "technology")
  if technology then result.add_energy(r, technology) end
  return r
end

--- r:summary(): the statistics of the run and of its launches, a core.stats().
function Result:summary() return run_rows(self) end

--- r:stats(): for name, value, unit, doc in r:stats() do ... end, in the order of stats.txt.
function Result:stats()
  local rows, i = rows_of(self), 0
  return function()
    i = i + 1
    local name, value, unit, doc = rows:row(i)
    return name, value, unit, doc
  end
end

--- By clock, its frequency, or what its objects have counted at each that it has had.
local function clocks_of(r)
  local by_name = {}
  for _, clock in ipairs(rawget(r, "clocks") or r.structure.clocks) do by_name[clock.name] = clock end
  return by_name
end

--- r:energy_by(technology): the energy of the run, as energy.of says, by the energies of a file in configs/energy, a path, or
-- what ww.technology makes.
function Result:energy_by(technology)
  local rows = rows_of(self)
  return energy.of(self.structure, load.get("technology", technology), function(name) return rows:value(name) end, seconds_of(self),
    clocks_of(self))
end

--- r.energy: by the technology that the run named; calculated when it is first asked for.
local function energy_of(r)
  local e = rawget(r, "energies") or r:energy_by(rawget(r, "technology") or energy.default_technology)
  r.energies = e
  return e
end

--- Energies among the statistics, for runs that name a technology.
function result.add_energy(r, technology)
  r.technology = technology
  energy.add_rows(rows_of(r), energy_of(r))
end

--- The sum of the counters that match, or the ratio of all parts to all wholes: the miss rate of all accesses.
local function over_pattern(r, pattern)
  local matches, ratios, sum, part, whole = rows_of(r):over(pattern)
  if matches == 0 then return nil end
  if ratios > 0 and ratios < matches then
    core.user_error(("result: %s: expected counters or ratios, got both"):format(pattern))
  end
  return ratios > 0 and ratio(part, whole) or sum
end

local function unknown(r, key)
  local patterns, seen = { "energy" }, { by_kernel = true, sampled = true, origin = true, rows = true, counted = true, structure = true, energies = true, simulated = true, clocks = true }
  for _, field in ipairs(names.sorted_keys(r)) do
    if not seen[field] then patterns[#patterns + 1] = field end
  end
  for name in r:stats() do
    local pattern = name:gsub("%[%d+%]", "[*]")
    if not seen[pattern] then patterns[#patterns + 1] = pattern end
    seen[pattern] = true
  end
  local wanted = tostring(key):gsub("%[%d+%]", "[*]")
  core.user_error(("result: no field or statistic matches '%s'%s"):format(tostring(key), names.did_you_mean(wanted, patterns, 3)))
end

--- Of counters that match: they err together at worst, so their half-widths add up.
local function interval_over(r, pattern, widths)
  local rows, sum = rows_of(r), 0.0
  local matches, ratios = rows:over(pattern)
  if matches == 0 then unknown(r, pattern) end
  if ratios > 0 then core.user_error(("interval: %s: expected counters or a single ratio, got a pattern of ratios"):format(pattern)) end
  for i = 1, #rows do
    local name = rows:row(i)
    if core.path_matches(pattern, name) then sum = sum + (widths[name] or 0.0) end
  end
  return sum
end

--- r:interval(name): the half-width of the 95% interval of a statistic of a sampled run, or of the sum of the counters that match a
-- pattern; 0 of what is exact.
function Result:interval(name)
  if type(name) ~= "string" then names.expected("interval", "the name of a statistic", name) end
  local widths = self.sampled and sampled_result.widths(self) or {}
  if math.type(rawget(self, name)) and rows_of(self):value("run." .. name) then name = "run." .. name end -- r:interval "cycles"
  for _, known in ipairs { name, core.current_name(name) } do
    if rows_of(self):value(known) then return widths[known] or 0.0 end
  end
  return interval_over(self, core.current_name(name) or name, widths)
end

function Result:__index(key)
  if Result[key] then return Result[key] end
  if key == "rows" then return rows_of(self) end
  if key == "energy" then return energy_of(self) end
  local function counted(name) return rows_of(self):value(name) or names.is_pattern(name) and over_pattern(self, name) end
  local current = type(key) == "string" and core.current_name(key)
  return type(key) == "string" and counted(key) or current and counted(current) or unknown(self, key)
end

names.guard_methods(Result, "r:", "a result")

return result
