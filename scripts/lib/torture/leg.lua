-- One run of a machine, in a process of its own: in some tick order, on some threads, saved on the
-- way or resumed.
local core = require "warpwright.core"
local loader = require "warpwright.load"
local machine = require "scripts.lib.torture.machine"
local names = require "warpwright.names"
local oracle = require "scripts.lib.resume_oracle"
local work = require "scripts.lib.torture.work"
local workload = require "warpwright.workload"
local ww = require "warpwright"

local leg = {}

-- The run -----------------------------------------------------------------------------------------

local most_cycles <const> = 60000000 -- thirty times as many as are taken for a hang; a test's fault may plant another number

--- The workload as it is, with the digest of device memory in `seen` when it has ended.
local function digesting(name, seen)
  local inner = loader.get("workload", work.path(name))
  local outer = ww.workload(inner.name) { doc = inner.doc, ptx = inner.ptx_text or inner.ptx, sizes = inner.sizes }
  outer.ptx, outer.ptx_text = inner.ptx, inner.ptx_text
  function outer:run(gpu, size)
    local instance = setmetatable({ kernels = self.kernels, checks = 0 }, { __index = inner })
    instance:run(gpu, size)
    self.checks, seen.digest = instance.checks, gpu:digest()
  end
  return outer
end

--- Runs to the end, with checkpoints made on the way: { { at = cycle, path = } ... }. A run that comes to its second half
-- leaves in `seen` how many instructions had issued by then.
local function run_to_the_end(sim, w, size, what, seen)
  local half = (what.most_cycles or most_cycles) // 2
  sim:start(w, size)
  for _, checkpoint in ipairs(what.checkpoints or {}) do
    if sim:run { until_cycle = checkpoint.at } then break end
    sim:checkpoint(checkpoint.path)
  end
  if sim:gpu():totals().cycles < half and not sim:run { until_cycle = half } then
    seen.issued = sim:gpu():totals().warp_instructions
  end
  local _, checks = sim:run {}
  return checks
end

local function number_text(value) return math.type(value) == "integer" and tostring(value) or ("%.17g"):format(value) end

local function stats_text(r)
  local lines = {}
  for name, value in r:stats() do lines[#lines + 1] = ("%s %s\n"):format(name, number_text(value)) end
  return table.concat(lines)
end

--- A machine without SMs, for some cycles.
local function run_traffic(what, outcome)
  local sim = ww.build(machine.description(what.plan), { order = what.order, threads = what.threads })
  sim:advance(what.work.traffic)
  outcome.cycles, outcome.stats = sim.cycles, stats_text(sim:result())
  if what.close then sim:close() end
end

--- With the plan of its settings and the work on it.
function leg.of(settings, what)
  what.settings, what.work = settings, work.of(settings)
  what.plan = machine.plan(settings, what.work.needs)
  return what
end

--- For tests of torture itself: a function of a list of settings and of what is run, which returns
-- other settings.
leg.plant = nil

--- nil: it is neither. A machine is slow that has issued instructions in the second half of the cycles that it may take, other
-- than those of warps which wait for each other.
local function hang_or_slow(message, sim, seen)
  if message:find("hangs: no progress since", 1, true) then return "hang" end
  if not message:find("max_cycles was reached", 1, true) then return nil end
  local waits = message:find "warps? spins?, warp"
  return not waits and seen.issued and sim:gpu():totals().warp_instructions > seen.issued and "slow" or "hang"
end

--- Runs it here: { settings, plan, work, order, threads, checkpoints, resume, close = is the
-- machine closed at the end? }. Returns { status =, message =, cycles =, checks =, digest =, stats
-- = }; status is
--   ended     all went well
--   wrong     a check of the workload failed
--   refused   an error before the first cycle
--   hang      nothing moved, or it did not come to its end
--   slow      it did not either, but was on its way
--   error     an error later
function leg.run(what)
  local outcome, seen, sim = { cycles = 0 }, {}, nil
  local ok, problem = pcall(function()
    if leg.plant then what = leg.of(leg.plant(what.settings, what), what) end
    if what.work.traffic then return run_traffic(what, outcome) end
    sim = ww.build(machine.description(what.plan), {
      policy = what.work.policy, order = what.order, threads = what.threads, memory = "64MiB",
    })
    local gpu = sim:gpu()
    gpu:set_cycle_limit(what.most_cycles or most_cycles)
    local w, size = digesting(what.work.name, seen), work.size_text(what.work)
    if what.resume then sim:resume(what.resume) end
    outcome.checks = run_to_the_end(sim, w, size, what, seen)
    outcome.stats = stats_text(sim:result())
  end)
  if sim then
    local counted, cycles = pcall(function() return sim:gpu():totals().cycles end)
    outcome.cycles = counted and cycles or 0
  end
  outcome.digest = seen.digest
  outcome.message = not ok and tostring(problem) or nil
  outcome.status = ok and "ended" or workload.is_failure(problem) and "wrong" or hang_or_slow(outcome.message, sim, seen)
    or outcome.cycles == 0 and not what.resume and "refused" or "error"
  if sim and what.close then sim:close() end -- else the process ends
  return outcome
end

-- In a process of its own -------------------------------------------------------------------------

--- Plain data as Lua text.
function leg.literal(value)
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) ~= "table" then return math.type(value) == "float" and ("%a"):format(value) or tostring(value) end
  local parts = {}
  for _, key in ipairs(names.sorted_keys(value)) do
    parts[#parts + 1] = ("[%s]=%s"):format(leg.literal(key), leg.literal(value[key]))
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

function leg.write_file(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

--- The table that such a text in a file makes; nil when it is not there or not whole.
function leg.read_table(path)
  local chunk = load(oracle.read_file(path) or "", path, "t", { math = math }) -- which is no file that takes part in a run
  local ok, value = pcall(chunk or error)
  return ok and value or nil
end

--- Runs body() in a child, which prints to `printed`. Returns the table that body() returned, or
-- nil, and the signal that ended the child, or nil, and its exit status.
function leg.in_child(body, answer, printed)
  local pid = core.fork(printed)
  if pid == 0 then
    local ok, value = pcall(body)
    if not ok then print(value) end
    local written = ok and pcall(leg.write_file, answer, "return " .. leg.literal(value))
    core.leave(written and 0 or 3)
  end
  local child, status, signal
  repeat child, status, signal = core.wait_for_child() until child == pid
  local value = leg.read_table(answer)
  os.remove(answer)
  return value, signal, status
end

--- The line of what a crashed process printed that says why.
local function why_of(text)
  for _, beginning in ipairs { "panic at ", "ERROR: %w+Sanitizer", "WARNING: %w+Sanitizer", "runtime error: " } do
    local line = text:match(beginning .. "[^\n]*")
    if line then return line end
  end
  return text:match "([^\n]+)\n*$" or "it printed nothing"
end

local function crashed(signal, status, text)
  if signal == 24 then return { status = "hang", message = "it took more time than a process may have", cycles = 0 } end
  local how = signal and "killed by signal " .. signal or "exit status " .. tostring(status)
  return { status = "crash", message = ("%s: %s"):format(why_of(text), how), printed = text, cycles = 0 }
end

--- Runs it in a child that knows nothing of runs before.
function leg.fork(what, folder)
  local printed, answer = folder .. "/printed", folder .. "/answer"
  local outcome, signal, status = leg.in_child(function() return leg.run(what) end, answer, printed)
  local text = oracle.read_file(printed) or ""
  os.remove(printed)
  -- The thread sanitizer reports a race, and the process goes on.
  if not outcome or text:find "WARNING: %w+Sanitizer" then return crashed(signal, status, text) end
  if outcome.status == "hang" then outcome.printed = text end
  return outcome
end

--- Runs a list of them in a new process of another program, each in a child of it.
function leg.execute(program, list, folder)
  local asked, answered, printed = folder .. "/legs", folder .. "/answers", folder .. "/printed-there"
  local bare = {}
  for i, what in ipairs(list) do
    bare[i] = { settings = what.settings, order = what.order, threads = what.threads, checkpoints = what.checkpoints,
      resume = what.resume }
  end
  leg.write_file(asked, "return " .. leg.literal(bare))
  local words = { program, core.home_path "scripts/torture.lua", "--legs", asked, "--answers", answered }
  if leg.plant_file then table.move({ "--plant", leg.plant_file }, 1, 2, #words + 1, words) end
  local _, kind, status = os.execute(("%s >%s 2>&1"):format(names.command_line(words), names.command_line { printed }))
  local outcomes, text = leg.read_table(answered), oracle.read_file(printed) or ""
  for _, path in ipairs { asked, answered, printed } do os.remove(path) end
  if outcomes then return outcomes end
  outcomes = {}
  for i in ipairs(list) do outcomes[i] = crashed(kind == "signal" and status, status, text) end
  return outcomes
end

--- The other side of it.
function leg.answer(asked, answered)
  local outcomes = {}
  for i, what in ipairs(leg.read_table(asked)) do
    what.close = true
    outcomes[i] = leg.fork(leg.of(what.settings, what), answered:match "^(.*)/")
  end
  leg.write_file(answered, "return " .. leg.literal(outcomes))
end

-- Comparing ---------------------------------------------------------------------------------------

local function values_of(stats)
  local values = {}
  for name, value in stats:gmatch "(%S+) (%S+)\n" do values[name] = value end
  return values
end

--- The stats that differ, sorted: { { name =, got =, want = } ... }.
local function differing_stats(got, want)
  local all, other = values_of(want), values_of(got)
  for name in pairs(other) do all[name] = all[name] or "nothing" end
  local list = {}
  for _, name in ipairs(names.sorted_keys(all)) do
    if other[name] ~= all[name] then list[#list + 1] = { name = name, got = other[name] or "nothing", want = all[name] } end
  end
  return list
end

--- How an outcome differs from the one of the plain run: nil, or { kind =, what = text, key = what
-- is alike about all differences of one cause }.
function leg.difference(got, want)
  if got.status ~= want.status or got.message ~= want.message then
    local function name(outcome) return outcome.status .. (outcome.message and ": " .. outcome.message or "") end
    return { kind = "difference", what = ("expected %s, got %s"):format(name(want), name(got)), key = got.status .. "/" .. want.status }
  end
  if got.stats ~= want.stats then
    local list, shown, counters, seen = differing_stats(got.stats, want.stats), {}, {}, {}
    for i, row in ipairs(list) do
      if i <= 4 then shown[i] = ("%s: expected %s, got %s"):format(row.name, row.want, row.got) end
      local counter = row.name:match "[^.]+$"
      if not seen[counter] then counters[#counters + 1] = counter end
      seen[counter] = true
    end
    if #list > 4 then shown[5] = ("and %d more"):format(#list - 4) end
    local ended_otherwise = want.cycles ~= got.cycles
    table.sort(counters)
    return {
      kind = "difference", what = table.concat(shown, "; "), counters = counters,
      key = ended_otherwise and "cycles" or table.concat(counters, " ", 1, math.min(3, #counters)),
    }
  end
  if got.digest ~= want.digest then
    return { kind = "difference", key = "memory",
      what = ("digest of device memory: expected %s, got %s"):format(tostring(want.digest), tostring(got.digest)) }
  end
  if got.checks ~= want.checks then
    return { kind = "difference", key = "checks", what = ("expected %s checks, got %s"):format(want.checks, got.checks) }
  end
end

--- What is wrong with an outcome by itself: nil, or as above; kind is "difference" (a wrong
-- result), "crash" or "hang".
function leg.fault(outcome)
  local kind = ({ wrong = "difference", hang = "hang", crash = "crash", error = "crash" })[outcome.status]
  if not kind then return nil end
  local what = outcome.message
  if outcome.status == "error" then what = ("an error at cycle %d: %s"):format(outcome.cycles, what) end
  return { kind = kind, what = what, key = outcome.status .. " " .. what:gsub("%d+", "N"), printed = outcome.printed }
end

return leg
