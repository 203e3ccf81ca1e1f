-- One workload under the policy that is checked: its runs, and whether their statistics are as they must be.
local core = require "warpwright.core"
local difference = require "warpwright.check.difference"
local legs = require "warpwright.check.legs"
local names = require "warpwright.names"
local processes = require "warpwright.processes"
local simulation = require "warpwright.simulation"
local stored_run = require "warpwright.stored_run"

local Case = { __name = "case" }
Case.__index = Case

-- What often is wrong with the policy, by what differed.
local causes <const> = {
  again = "the same command gives other statistics in another process: `pairs` or `next` goes over a table in an order that differs from run to "
    .. "run (use ipairs, or sort the keys), or a file or the environment was read",
  order = "what one object does in a cycle depends on whether another has had its turn: questions of two objects (`pick` of an SM, `l1_bypass`) "
    .. "use the same entry of self.state, or a question counts its calls and another function reads that in the same cycle",
  restless = "a class of the machine's own: its tick returns a later cycle than that of its next work, or a tick that comes too early changes something",
  threads = "instances share something beside `shares`: a file, or a library in C",
  saved = "none known: a checkpoint must not change a run, whatever the policy does; please report it",
  resumed = "`#` of a list with holes, or a table of self.state that is kept elsewhere, too",
  off = "the policy acts although its trigger is off (its counters say where), `order`, `first` or configure() change the machine, or its "
    .. "baseline is another: --base",
}

--- Of a workload, or of a CUDA program by its name; the folders of its runs are in `folder`. `how`: config, policy, off, base, size, set,
-- orders, threads, checkpoints, seed, jobs as the command was told; cuda = the program's words, capability, launches, or nil; told = {}; say = function(line); program and shown_folder, for commands that are shown.
local function new(workload, folder, how)
  return setmetatable({ workload = workload, folder = folder, how = how, differences = 0, comparisons = 0, warnings = 0,
    differing = {} }, Case)
end

function Case:say(text, ...) self.how.say(text:format(...)) end

-- Legs ---------------------------------------------------------------------------------------------------------------

--- A leg from the start of the run; `word` names its folder.
function Case:leg(word, policy, options)
  local leg = { config = self.how.config, workload = self.workload, size = not self.how.cuda and self.how.size or nil, set = self.how.set,
    policy = policy, cuda = self.how.cuda, capability = self.how.capability, launches = self.how.launches }
  for name, value in pairs(options or {}) do leg[name] = value end
  leg.out = ("%s/%s-%s"):format(self.folder, self.workload:match "[^/]*$":gsub("%.lua$", ""):gsub("[^%w_]", "-"), word:gsub("[^%w_]", "-"))
  return leg
end

local Stopped <const> = { __tostring = function() return "check: stopped by a signal" end }

function Case:run(list)
  legs.run(list, self.how.jobs)
  for _, leg in ipairs(list) do
    if core.stop_asked() or leg.status == processes.EXIT_STOPPED then error(setmetatable({ exit_status = processes.EXIT_STOPPED }, Stopped)) end
  end
end

--- "--order reversed --threads 2"
local function words_of(options)
  local words = {}
  for _, name in ipairs { "order", "threads" } do
    if options[name] then words[#words + 1] = ("--%s %s"):format(name, options[name]) end
  end
  return table.concat(words, " ")
end

-- Comparing ------------------------------------------------------------------------------------------------------------

local function rows_of(leg) return difference.rows_of_text(leg.stats or "") end

--- How two legs differ, as a sentence, and as difference.of() has it; nil: they do not.
local function compare(comparison)
  local leg = comparison.leg
  local problem = legs.failure(leg)
  if problem then return problem end
  local found = difference.of(rows_of(leg), rows_of(comparison.want), comparison.has_own)
  return found and difference.text(found), found
end

--- The same leg once more, with rows over time if it runs from the start.
local function once_more(leg, every, columns)
  local again = {}
  for name, value in pairs(leg) do again[name] = value end
  again.out = leg.out .. "-again"
  if not leg.resume and columns[1] then again["stats-every"], again["stats-of"] = every, table.concat(columns, ",") end
  return again
end

local MOST_COLUMNS <const>, ROWS <const> = 40, 400

--- Counters of objects that differ.
local function columns_of(found)
  local columns = {}
  for _, name in ipairs(found) do
    local want, got = found.want[name], found.got[name]
    if #columns < MOST_COLUMNS and want and got and math.tointeger(tonumber(want)) and name:find "%]" and not name:find "^launch%[" then
      columns[#columns + 1] = name
    end
  end
  return columns
end

--- The first rows of two runs over time that differ: from, to, column, both values.
local function first_row(want, got, columns)
  for i, row in ipairs(want or {}) do
    local other = (got or {})[i]
    if not other then return nil end
    for _, column in ipairs(columns) do
      if row[column] ~= other[column] then return row.from, row.to, column, row[column], other[column] end
    end
  end
end

--- Runs both legs again: are they as they were? And if both run from the start, when do they begin to differ?
function Case:look_again(comparison, found)
  local columns, every = columns_of(found), math.max(1, legs.cycles_of(comparison.want) // ROWS)
  local want, got = once_more(comparison.want, every, columns), once_more(comparison.leg, every, columns)
  self:run { want, got }
  local is_repeated = not difference.of(rows_of(want), rows_of(comparison.want)) and not difference.of(rows_of(got), rows_of(comparison.leg))
  if comparison.leg.resume or not columns[1] or legs.failure(want) or legs.failure(got) then return is_repeated end
  return is_repeated, first_row(stored_run.read_intervals(want.out), stored_run.read_intervals(got.out), columns)
end

--- How a user makes the two runs again.
function Case:say_commands(comparison)
  local program, folder = self.how.program, self.how.shown_folder
  self:say "      the two runs, and all that differs:"
  local list = { comparison.want, comparison.leg }
  if comparison.before then table.insert(list, 2, comparison.before) end
  for _, leg in ipairs(list) do self:say("        %s", legs.command(leg, program, folder)) end
  self:say("        %s compare %s", program, names.command_line { legs.shown(comparison.want, folder), legs.shown(comparison.leg, folder) })
end

--- The first difference of a cause is looked into; where runs do not repeat, one is.
function Case:say_difference(comparison, problem, found)
  self.differences = self.differences + 1
  self:say("      %s", problem)
  local cause = comparison.cause
  if found and (self.how.told.again or self.how.told[cause]) then return end
  if found then
    local is_repeated, from, to, column, want, got = self:look_again(comparison, found)
    if from then self:say("      first in cycles %d to %d: %s: %d, and %d", from, to, column, want, got) end
    if not is_repeated then cause = "again" end
    self.how.told[cause] = true
  end
  self:say_commands(comparison)
  if found then self:say("      often the cause: %s", causes[cause]) end
end

--- { name =, leg =, want = the leg whose statistics it must have, cause =, has_own =, before = a leg that made its checkpoint }
function Case:compare(comparison)
  self.comparisons = self.comparisons + 1
  local problem, found = compare(comparison)
  self:say("  %-56s %s", comparison.name, problem and "DIFFERS" or "the same")
  if problem then self:say_difference(comparison, problem, found) end
  self.differing[comparison.leg.order or ""] = self.differing[comparison.leg.order or ""] or problem
end

-- The checks -----------------------------------------------------------------------------------------------------------

--- The runs from start to end: the policy again, in other orders, on threads; off, and its baseline.
function Case:plan()
  local how, list = self.how, {}
  self.straight = self:leg("policy", how.policy)
  local function add(cause, options)
    local words = words_of(options)
    list[#list + 1] = { name = words == "" and "the same command again" or words, cause = cause, want = self.straight,
      leg = self:leg(words == "" and "twice" or words:gsub("%-%-", ""), how.policy, options) }
  end
  add("again", {})
  for _, order in ipairs(how.orders) do add(order == "restless" and order or "order", { order = order }) end
  for _, threads in ipairs(how.threads) do add("threads", { threads = threads }) end
  if how.off then
    self.base = self:leg("base", how.base)
    list[#list + 1] = { name = ("%s is %s"):format(how.off, how.base or "the machine without a policy"), cause = "off", want = self.base,
      leg = how.off == how.policy and self.straight or self:leg("off", how.off), has_own = true }
  end
  return list
end

--- Runs of CUDA programs end with a notice of where their results are.
local function is_summary(leg, line) return leg.cuda and line:find("; results in " .. leg.out, 1, true) end

--- Why the first run, or its baseline, gives nothing to compare.
function Case:say_failure(leg)
  for line in leg.text:gmatch "[^\n]+" do
    if not is_summary(leg, line) then self:say("  %s", line) end
  end
  if leg.cuda and leg.stats then self:say("  the program ended with %s, expected 0", tostring(leg.status)) end
  self:say("  again with: %s", legs.command(leg, self.how.program, self.how.shown_folder))
  return leg.status == 2 and 2 or 1
end

--- What the program told beside the results: that nothing acts, say.
function Case:say_notes(leg)
  for note in leg.text:gmatch "warpwright: ([^\n]*)\n" do
    local is_warning = not is_summary(leg, note)
    self.warnings = self.warnings + (is_warning and 1 or 0)
    if is_warning then self:say("  warning: %s", note) end
  end
end

--- Or nil: the run is too short for any.
function Case:checkpoint_cycles()
  local count = math.min(self.how.checkpoints, legs.most_checkpoints(legs.cycles_of(self.straight)))
  if count < 1 then return nil end
  return legs.random_cycles(legs.random(self.how.seed, self.workload), self.straight, count)
end

--- A checkpoint that was not made says what of the policy's memory is in none.
function Case:say_unsaved(leg)
  local seen = {}
  for cycle, problem in leg.text:gmatch "checkpoint at cycle (%d+): ([^\n]*); the run goes on" do
    local what = problem:gsub("%[%d+%]", "[*]")
    if not seen[what] then
      self:say("  %-56s NOT SAVED", "checkpoint at cycle " .. cycle)
      self:say("      %s", problem)
      self:say("      again with: %s", legs.command(leg, self.how.program, self.how.shown_folder))
      self.differences = self.differences + 1
    end
    seen[what] = true
  end
end

--- Each checkpoint resumes in a way of its own: as it was made, in another order, on threads, in both.
function Case:ways_to_resume()
  local how, ways = self.how, { {} }
  if how.orders[1] then ways[#ways + 1] = { order = how.orders[1] } end
  if how.threads[1] then ways[#ways + 1] = { threads = how.threads[1] } end
  if how.orders[1] and how.threads[1] then ways[#ways + 1] = { order = how.orders[#how.orders], threads = how.threads[#how.threads] } end
  return ways
end

function Case:check_resumes()
  if self.how.checkpoints == 0 then return end
  local cycles = self:checkpoint_cycles()
  if not cycles then return self:say("  %-56s too short for checkpoints", "") end
  local saving = self:leg("saved", self.how.policy, { ["checkpoint-at"] = table.concat(cycles, ",") })
  self:run { saving }
  self:compare { name = ("with %d checkpoint%s"):format(#cycles, #cycles == 1 and "" or "s"), leg = saving, want = self.straight, cause = "saved" }
  self:say_unsaved(saving)
  self:compare_resumes(saving)
end

function Case:compare_resumes(saving)
  local list, ways, resumed = {}, self:ways_to_resume(), {}
  for i, checkpoint in ipairs(legs.checkpoints(saving.out)) do
    local way = ways[(i - 1) % #ways + 1]
    local leg = self:leg("resumed-" .. checkpoint.cycle)
    resumed[i] = { resume = checkpoint.path, cuda = self.how.cuda, order = way.order, threads = way.threads, out = leg.out }
    local words, of_order = words_of(way), way.order and self.differing[way.order]
    list[i] = { name = ("resumed from %d%s%s"):format(checkpoint.cycle, words == "" and "" or ", ", words), leg = resumed[i], want = self.straight,
      before = saving, cause = of_order and "order" or "resumed" }
  end
  self:run(resumed)
  for _, comparison in ipairs(list) do self:compare(comparison) end
end

--- Adds the counters of all instances to `sums`, by "POLICY.COUNTER".
function Case:add_counters(sums)
  for _, row in ipairs(rows_of(self.straight)) do
    local counter = row[1]:match "([^.]+%.[^.]+)$"
    if sums[counter] then sums[counter] = sums[counter] + tonumber(row[2]) end
  end
end

local FEWEST_LOOKS <const> = 50

--- One more run, in this process and alone, in which a timer looks how often Lua is at work, once the instances are made. No comparison
-- depends on it. A CUDA program would print what it prints among the lines of the command.
function Case:say_share_of_lua()
  if self.how.cuda then return end
  local sim = simulation.build(self.how.config, { set = self.how.set, policy = self.how.policy })
  sim:gpu()
  core.begin_lua_share()
  local ok, problem = pcall(sim.run, sim, self.workload, self.how.size)
  local in_lua, looks = core.end_lua_share()
  sim:close()
  if not ok then error(problem, 0) end
  local share = looks < FEWEST_LOOKS and "too short to say" or ("%.0f%% of the time of a run"):format(100 * in_lua / looks)
  self:say("  %-56s %s", self.how.policy and "in the Lua of policies" or "in the Lua of classes", share)
end

--- A mechanism that changes no statistic has not been tried.
function Case:warn_of_nothing()
  if not self.base or self.how.off == self.how.policy or legs.failure(self.base) then return end
  if difference.of(rows_of(self.straight), rows_of(self.base), true) then return end
  self.warnings = self.warnings + 1
  self:say("  warning: %s has the statistics of %s, too: nothing acted", self.how.policy, self.how.base or "the machine without a policy")
end

--- Does all of it. Returns nil, or the exit status when the policy or its baseline does not run at all.
function Case:check(sums)
  local list = self:plan()
  local first = { self.straight, self.base }
  for _, comparison in ipairs(list) do
    if comparison.leg ~= self.straight then first[#first + 1] = comparison.leg end
  end
  self:run(first)
  for _, leg in ipairs { self.straight, self.base } do
    if legs.failure(leg) then return self:say_failure(leg) end
  end
  self:say("%s, %s: %d cycles", self.workload, self.how.cuda and "cuda" or self.how.size, legs.cycles_of(self.straight))
  self:say_notes(self.straight)
  for _, comparison in ipairs(list) do self:compare(comparison) end
  self:check_resumes()
  self:warn_of_nothing()
  self:say_share_of_lua()
  self:add_counters(sums)
end

return new
