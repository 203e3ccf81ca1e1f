-- One drawn machine: every comparison that its runs must stand.
local core = require "warpwright.core"
local draw = require "scripts.lib.torture.draw"
local leg = require "scripts.lib.torture.leg"
local rows = require "scripts.lib.torture.rows"
local work = require "scripts.lib.torture.work"

local case = {}

-- What is compared --------------------------------------------------------------------------------

--- What a comparison is about; a failure has it as `mode`, by which it is repeated and made
-- smaller:
--   self     the plain run, alone
--   order    a run in another order, on threads, against the plain one
--   save     a run with checkpoints on the way, against the plain one
--   resume   a run that goes on from one of these; with `again` it is saved later, and resumed once more
--   build    the plain run in another build
--   resume there, resume here: a checkpoint of this build resumed in another one, or the other way round
local function mode_text(mode)
  local function run(what) return ("order %s, threads %d"):format(what.order, what.threads) end
  if mode.kind == "self" then return "the plain run" end
  if mode.kind == "order" then return run(mode) end
  if mode.kind == "build" then return ("build %s (%s)"):format(mode.build, run(mode)) end
  local saved = ("saved at cycle %d (%s)"):format(mode.at, run(mode.saving))
  if mode.kind == "save" then return saved end
  local text = ("%s, resumed (%s)%s"):format(saved, run(mode), mode.build and (", %s %s"):format(mode.kind, mode.build) or "")
  if mode.again then text = ("%s, saved at cycle %d, resumed (%s)"):format(text, mode.again.at, run(mode.again)) end
  return text
end

case.mode_text = mode_text

local function any_order(rng)
  local order = rows.pick(rng, { "path", "path", "reversed", "shuffled" })
  return order == "shuffled" and "shuffled:" .. rng:int(1, 1000) or order
end

local function any_run(rng) return { order = any_order(rng), threads = rows.pick(rng, { 1, 1, 2, 3 }) } end

-- Running the modes -------------------------------------------------------------------------------

local Examination = {}
Examination.__index = Examination

--- Of a machine by its settings. `options`: folder, programs = other builds by name.
function case.examination(settings, options)
  return setmetatable({ settings = settings, options = options, folder = options.folder, resumes = 0, saved = 0 }, Examination)
end

function Examination:run(what, program)
  local whole = leg.of(self.settings, what)
  if program then return leg.execute(program, { whole }, self.folder)[1] end
  return leg.fork(whole, self.folder)
end

--- The plain run, made once.
function Examination:plain()
  self.base = self.base or self:run { order = "path", threads = 1 }
  return self.base
end

--- How an outcome is not as the plain one, or has a fault of its own; nil when all is well.
function Examination:compare(outcome, mode)
  local failure = leg.difference(outcome, self:plain())
  if not failure then return nil end
  failure = leg.fault(outcome) or failure
  failure.mode = mode
  return failure
end

--- A run, from its start or from the checkpoint `resume`, that is saved at cycle `at`. Returns the
-- checkpoint's path, or nil when the run had ended by then, and how the run ended.
function Examination:save(run, at, resume, program)
  self.saved = self.saved + 1
  local path = ("%s/%d.ckpt"):format(self.folder, self.saved)
  local outcome = self:run({
    order = run.order, threads = run.threads, resume = resume, checkpoints = { { at = at, path = path } },
  }, program)
  return core.is_file(path) and path, outcome
end

--- Goes on from a checkpoint; returns what is wrong, or nil.
function Examination:resume(path, mode, program)
  self.resumes = self.resumes + 1
  if not mode.again then
    return self:compare(self:run({ order = mode.order, threads = mode.threads, resume = path }, program), mode)
  end
  local later, outcome = self:save(mode, mode.again.at, path, program)
  local failure = self:compare(outcome, mode)
  if later and not failure then
    self.resumes = self.resumes + 1
    failure = self:compare(self:run { order = mode.again.order, threads = mode.again.threads, resume = later }, mode)
  end
  if later then os.remove(later) end
  return failure
end

--- One comparison again: nil, or what is wrong.
function Examination:probe(mode)
  local fault = leg.fault(self:plain())
  if fault then
    fault.mode = { kind = "self" }
    return fault
  end
  if self:plain().status ~= "ended" or mode.kind == "self" then return nil end
  local program = mode.build and self.options.programs[mode.build]
  if mode.kind == "order" then return self:compare(self:run { order = mode.order, threads = mode.threads }, mode) end
  if mode.kind == "build" then return self:compare(self:run({ order = mode.order, threads = mode.threads }, program), mode) end
  local path, outcome = self:save(mode.saving, mode.at, nil, mode.kind == "resume here" and program or nil)
  local failure = self:compare(outcome, { kind = "save", at = mode.at, saving = mode.saving })
  if path and not failure and mode.kind ~= "save" then
    failure = self:resume(path, mode, mode.kind == "resume there" and program or nil)
  end
  if path then os.remove(path) end
  return failure
end

-- All of them -------------------------------------------------------------------------------------

local most_restless <const> = 60000 -- cycles of a run that ticks every object in each of them

--- The comparisons of machine `number` of a seed, whose plain run took so many cycles; other builds
-- for a sample. A machine without SMs makes no checkpoints.
local function modes_of(seed, number, cycles, is_traffic, options)
  local rng, modes = draw.random("legs", seed, number), {}
  local function add(mode) modes[#modes + 1] = mode end
  add { kind = "order", order = "reversed", threads = 1 }
  add { kind = "order", order = "shuffled:" .. rng:int(1, 1000), threads = rows.pick(rng, { 1, 2, 3 }) }
  if cycles < most_restless then add { kind = "order", order = "restless", threads = 1 } end
  if cycles > 1 and not is_traffic then
    for _ = 1, options.resumes do
      local how, at, again = any_run(rng), rng:int(1, cycles - 1), nil
      if rows.chance(rng, 25) and at + 1 < cycles then
        again = any_run(rng)
        again.at = rng:int(at + 1, cycles - 1)
      end
      add { kind = "resume", at = at, saving = any_run(rng), order = how.order, threads = how.threads, again = again }
    end
  end
  if #options.builds > 0 and number % options.build_every == 0 then
    local build, here = options.builds[number // options.build_every % #options.builds + 1], any_run(rng)
    add { kind = "build", build = build, order = "path", threads = build == "tsan" and 2 or 1 } -- which looks for races
    if cycles > 1 and not is_traffic then
      add { kind = rows.pick(rng, { "resume there", "resume here" }), build = build, at = rng:int(1, cycles - 1),
        saving = any_run(rng), order = here.order, threads = here.threads }
    end
  end
  return modes
end

--- Examines it: { refused = message }, { slow = message } or { failures = { { kind, what, key, mode } ... }, resumes =,
-- cycles =, builds = how many runs in other builds }.
function case.examine(settings, seed, number, options)
  local examination = case.examination(settings, options)
  local plain = examination:plain()
  local verdict = { failures = {}, cycles = plain.cycles, builds = {}, resumes = 0 }
  if plain.status == "refused" or plain.status == "slow" then
    verdict[plain.status] = plain.message
    return verdict
  end
  local first = examination:probe { kind = "self" }
  verdict.failures[1] = first
  for _, mode in ipairs(first and {} or modes_of(seed, number, plain.cycles, work.of(settings).traffic, options)) do
    local failure = examination:probe(mode)
    verdict.failures[#verdict.failures + 1] = failure
    if mode.build then verdict.builds[mode.build] = true end
    if options.verbose then options.verbose(mode, failure) end
  end
  verdict.resumes = examination.resumes
  return verdict
end

return case
