-- The oracle of checkpoints: a run that is saved at some cycle and resumed in another process ends
-- as the run that was never stopped, in every byte of its stats and of device memory, whatever the
-- threads and the tick order on either side.
local ww = require "warpwright"
local core = require "warpwright.core"
local load = require "warpwright.load"
local child = require "scripts.lib.child"
local inputs = require "warpwright.inputs"
local names = require "warpwright.names"

--- With what legs have: run(), checkpoints(), quote() ...
local oracle = setmetatable({ read_file = inputs.read_file }, { __index = require "warpwright.check.legs" })

-- Legs: one process each --------------------------------------------------------------------------

local digest_line = "digest of device memory: "

--- The workload of this name, which prints what is in device memory when it has ended.
function oracle.digesting(name)
  local inner = load.get("workload", name)
  local outer = ww.workload(inner.name) { doc = inner.doc, ptx = inner.ptx, sizes = inner.sizes }
  outer.ptx = inner.ptx -- from the current folder, and not from this file's
  function outer:run(gpu, size)
    local instance = setmetatable({ kernels = self.kernels, checks = 0 }, { __index = inner })
    instance:run(gpu, size)
    self.checks = instance.checks
    print(digest_line .. gpu:digest())
  end
  return outer
end

--- A workload file in `folder` for oracle.digesting(name); returns its path.
function oracle.write_workload(folder, name)
  local path = ("%s/%s.lua"):format(folder, name:gsub("[^%w_]", "_"))
  local file = assert(io.open(path, "wb"))
  file:write(("return require('scripts.lib.resume_oracle').digesting(%q)\n"):format(name))
  file:close()
  return path
end

--- What a user types for this leg, in the folder of all output folders.
local function command(leg) return oracle.command(leg, "warpwright", "") end

-- Comparing ---------------------------------------------------------------------------------------

--- The first lines of two texts that differ in more than the widths of their columns.
local function first_difference(got, want)
  local next_want = want:gmatch "[^\n]*"
  for line in got:gmatch "[^\n]*" do
    local wanted = (next_want() or "nothing"):gsub("%s+", " ")
    line = line:gsub("%s+", " ")
    if line ~= wanted then return ("expected '%s', got '%s'"):format(wanted, line) end
  end
  return "lines are missing"
end

local function digest_of(leg) return leg.text:match(digest_line .. "(%x+)") end

--- Why a leg that ran to its end is not as the straight run, or nil.
function oracle.difference(leg, straight)
  local failure = oracle.failure(leg)
  if failure then return failure end
  if not leg.text:find(": verified\n", 1, true) then return "it was not verified" end
  local got, want = digest_of(leg), digest_of(straight)
  if got ~= want then return ("digest of device memory: expected %s, got %s"):format(want, got) end
  if leg.stats ~= straight.stats then return "stats.txt: " .. first_difference(leg.stats or "", straight.stats) end
  if leg.json ~= straight.json then return "stats.json: " .. first_difference(leg.json or "", straight.json) end
end

-- One case: a workload on a machine under a policy ------------------------------------------------

local Case = { __name = "case" }
Case.__index = Case

--- oracle.case { folder =, jobs =, threaded = of 100 legs, how many run on more than one thread,
-- config =, workload =, size =, policy =, set = a list of "path=value", seed =, newest = how many
-- checkpoints of a killed run resume (all unless given), report = function(line) }: with the
-- straight run made; case.problem when even that failed.
function oracle.case(options)
  local case = setmetatable({ resumes = 0, unequal = 0, legs = 0 }, Case)
  for name, value in pairs(options) do case[name] = value end
  case.name = ("%s %s %s %s"):format(case.config, case.workload, case.size, case.policy)
  case.rng = oracle.random(case.seed, (case.name:gsub("[^%s]*/", ""))) -- the same wherever a policy's file lies
  case.file = oracle.write_workload(case.folder, case.workload)
  case.straight = case:leg {}
  oracle.run({ case.straight }, 1)
  case.problem = oracle.difference(case.straight, case.straight)
  if case.problem then case:mismatch({ case.straight }, case.problem) end
  return case
end

--- A leg from the start of the run.
function Case:leg(leg)
  leg.config, leg.workload, leg.file, leg.size, leg.policy, leg.set = self.config, self.workload, self.file, self.size, self.policy,
    self.set
  self.legs = self.legs + 1
  leg.out = ("%s/%s-%d"):format(self.folder, self.name:gsub("[^%w_]", "-"), self.legs)
  return leg
end

--- A leg from a checkpoint.
function Case:resumed_leg(checkpoint)
  self.legs = self.legs + 1
  return {
    resume = checkpoint.path,
    out = ("%s/%s-%d"):format(self.folder, self.name:gsub("[^%w_]", "-"), self.legs),
  }
end

local orders = { "path", "reversed", "shuffled:" }

--- Chooses how a leg runs, which must not matter.
function Case:shake(leg)
  local rng = self.rng
  leg.threads = rng:int(1, 100) <= self.threaded and rng:int(2, 3) or 1
  leg.order = orders[rng:int(1, #orders)]
  if leg.order == "shuffled:" then leg.order = leg.order .. rng:int(1, 1000) end
  return leg
end

--- Tells that the last of these legs, each resumed from the one before, is not as it should be.
function Case:mismatch(legs, problem)
  self.unequal = self.unequal + 1
  local commands = {}
  for i, leg in ipairs(legs) do commands[i] = command(leg) end
  self.report(("UNEQUAL %s, seed %d: %s; repeat with: %s"):format(self.name, self.seed, problem,
    table.concat(commands, " && ")))
end

--- Compares a leg to which the legs `before` led.
function Case:compare(leg, before)
  if leg.resume then self.resumes = self.resumes + 1 end
  local problem = oracle.difference(leg, self.straight)
  if not problem then return true end
  local legs = table.move(before, 1, #before, 1, {})
  legs[#legs + 1] = leg
  self:mismatch(legs, problem)
  return false
end

function Case:remove(legs)
  local folders = {}
  for i, leg in ipairs(legs) do folders[i] = leg.out end
  os.execute("rm -rf " .. names.command_line(folders))
end

function Case:close() self:remove { self.straight } end

--- One run with checkpoints at `count` random cycles, which must end as the straight one, and a
-- resume from each.
function Case:resume_everywhere(count)
  local cycles = oracle.random_cycles(self.rng, self.straight, count)
  local saving = self:shake(self:leg { ["checkpoint-at"] = table.concat(cycles, ",") })
  oracle.run({ saving }, 1)
  self:compare(saving, {})
  local legs = {}
  for i, checkpoint in ipairs(oracle.checkpoints(saving.out)) do
    legs[i] = self:shake(self:resumed_leg(checkpoint))
  end
  oracle.run(legs, self.jobs)
  for _, leg in ipairs(legs) do self:compare(leg, { saving }) end
  table.insert(legs, saving)
  self:remove(legs)
end

--- A chain: saved, resumed in a new process, which saves later, and so on; every process must end
-- as the straight run.
function Case:resume_in_a_chain(length)
  local cycles, legs, from = oracle.random_cycles(self.rng, self.straight, length), {}, nil
  for i = 1, length + 1 do
    local leg = self:shake(from and self:resumed_leg(from) or self:leg {})
    leg["checkpoint-at"] = cycles[i]
    oracle.run({ leg }, 1)
    local good = self:compare(leg, legs)
    legs[i] = leg
    from = oracle.checkpoints(leg.out)[1]
    if not good or not from then break end
  end
  self:remove(legs)
end

-- Kills -------------------------------------------------------------------------------------------

--- Runs the program and kills it with SIGKILL so many seconds after `ready`, a condition of the
-- shell, holds. Returns whether it was still running.
function oracle.run_and_kill(words, ready, seconds)
  local killing = ("%s >/dev/null 2>&1 & pid=$!; until %s || ! kill -0 $pid; do sleep 0.01; done; sleep %.3f; kill -9 $pid; wait $pid")
    :format(names.command_line(words), ready, seconds)
  local _, _, status = os.execute(("(%s) 2>/dev/null"):format(killing))
  return status == 128 + 9
end

--- Files that a killed process was writing.
local function temporaries(folder)
  local found = {}
  for _, name in ipairs(core.list_folder(folder)) do
    if name:find "%.ckpt%.tmp" then found[#found + 1] = { path = folder .. "/" .. name } end
  end
  return found
end

--- A temporary is whole, or it is refused.
local function is_refused(leg)
  return leg.status == 2 and leg.text:find(("checkpoint %s: "):format(leg.resume), 1, true) ~= nil
end

local checkpoints_of_a_run = 8

--- Kills a run that saves often, so many seconds after it has saved so often; every checkpoint that
-- is there then (or the case's newest ones, the only ones that the kill can have met) resumes and
-- ends as the straight run. Returns whether it was killed before its end.
local function kill_once(case, interval, saved, seconds)
  local leg = case:shake(case:leg { ["checkpoint-every"] = interval })
  local ready = saved == 0 and "true" or ("{ set -- %s/*.ckpt; [ -e \"$1\" ] && [ $# -ge %d ]; }"):format(child.quoted(leg.out), saved)
  local killed = oracle.run_and_kill(oracle.words_of(leg), ready, seconds)
  local legs, saved_by = {}, oracle.checkpoints(leg.out)
  for i = math.max(1, #saved_by - (case.newest or #saved_by) + 1), #saved_by do
    legs[#legs + 1] = case:shake(case:resumed_leg(saved_by[i]))
  end
  local whole = #legs
  for _, temporary in ipairs(temporaries(leg.out)) do legs[#legs + 1] = case:resumed_leg(temporary) end
  oracle.run(legs, case.jobs)
  for i, resumed in ipairs(legs) do
    if i <= whole or not is_refused(resumed) then case:compare(resumed, { leg }) end
  end
  table.insert(legs, leg)
  case:remove(legs)
  return killed
end

--- So many runs, killed at random moments; returns how many of them before their end.
function Case:kill_often(times)
  local cycles = math.tointeger(self.straight.stats:match "run%.cycles +(%d+)")
  local seconds = tonumber(self.straight.text:match "simulated[^\n]* ([%d.]+) s\n")
  local killed = 0
  for _ = 1, times do
    local saved = self.rng:int(0, checkpoints_of_a_run - 2)
    if kill_once(self, cycles // checkpoints_of_a_run + 1, saved, 1.5 * seconds / checkpoints_of_a_run * self.rng:float()) then
      killed = killed + 1
    end
  end
  return killed
end

return oracle
