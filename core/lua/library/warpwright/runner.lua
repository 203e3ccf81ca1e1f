-- Many runs side by side, each in a process of its own, each with a file of its own in a folder. A run of which a file is there
-- is not made again, unless something that it was made of has changed: the program, a Lua file that took part, its PTX. So a
-- list of runs that was stopped or killed goes on where it was, and lists may share a folder and runs.
--
-- A run is what ww.run takes: { config =, workload =, size =, policy =, set = a list of "PATH=VALUE" }. `measure`, the name of a
-- module, takes its place where more than the statistics at the end is wanted: the module is a function of the run that returns
-- what is to be kept, a table of numbers, texts and tables.
local ww = require "warpwright"
local core = require "warpwright.core"
local inputs = require "warpwright.inputs"
local literal = require "warpwright.literal"
local names = require "warpwright.names"
local processes = require "warpwright.processes"
local run_kernel = require "warpwright.run_kernel"

local runner = {}

local Runner = {}
Runner.__index = Runner

function Runner:digest_now(path)
  local digest = self.digests[path]
  if digest == nil then
    digest = inputs.digest_of_file(inputs.present_path(path, self.here)) or false
    self.digests[path] = digest
  end
  return digest
end

-- Files of results ----------------------------------------------------------------------------------------------------------------------

--- A workload and its size, or the command line of a PTX file or a CUDA program.
function runner.host_program(run)
  if run.program then return names.command_line(run.program) end
  local line = run_kernel.shown(run.workload)
  return line == run.workload and line .. " " .. (run.size or "medium") or line
end

--- What a run is called: for people, and apart from all others.
function runner.name(run)
  local words = { run.measure and run.measure:match "[^.]*$" or (run.warm_cycles or run.warm_launches) and "warm-up" or false, run.config,
    runner.host_program(run), run.policy or "default" }
  if run.timed then words[#words + 1] = "timed " .. run.timed end
  if run.capability then words[#words + 1] = "capability " .. run.capability end
  for _, entry in ipairs(run.set or {}) do words[#words + 1] = entry end
  if run.fast_forward then words[#words + 1] = "fast forward " .. run.fast_forward end
  if run.sample then words[#words + 1] = "sample " .. run.sample end
  if run.repetition then words[#words + 1] = "#" .. run.repetition end
  if not words[1] then table.remove(words, 1) end
  return table.concat(words, " ")
end

function Runner:path_of(run)
  local name = runner.name(run)
  return ("%s/%s-%s.lua"):format(self.folder, name:gsub("[^%w%-_.]+", "_"):sub(1, 100), core.digest(literal(run)))
end

--- What the file of a run has, of whatever program and inputs, or nil.
local function read_result(path)
  local text = inputs.read_file(path) -- by loadfile() it would count among the files of later runs
  if not text and core.is_file(path) then core.user_error(path .. ": expected a file that can be read") end
  local chunk = text and load(text, "=result", "t", { math = math })
  local ok, result = pcall(chunk or error)
  return ok and type(result) == "table" and type(result.files) == "table" and result or nil
end

--- The first of the files that it was made of which is another now, or nil.
function Runner:changed_file(result)
  for _, path in ipairs(names.sorted_keys(result.files)) do
    if self:digest_now(path) ~= result.files[path] then return path end
  end
end

--- Is it of what is here now?
function Runner:is_current(result) return result.program == self.program and not self:changed_file(result) end

--- The stored result of a run, or nil when there is none of what is here now.
function Runner:stored(run)
  local result = read_result(self:path_of(run))
  return result and self:is_current(result) and result or nil
end

--- Has the run a result that the program or an input that has changed since makes void?
function Runner:is_outdated(run)
  local result = read_result(self:path_of(run))
  return result ~= nil and not self:is_current(result)
end

-- The child ---------------------------------------------------------------------------------------------------------------------

--- Sums of the counters of all objects of a kind, by pattern: "sm[*].l1d.misses". Ratios can be made of these.
local function sums_of(r)
  local sums = {}
  for name, value in r:stats() do
    if math.type(value) == "integer" and not name:find "^launch%[" then
      local pattern = name:gsub("%[%d+%]", "[*]")
      sums[pattern] = (sums[pattern] or 0) + value
    end
  end
  return sums
end

local function sms_of(r)
  local sms = 0
  for name in r:stats() do
    if name:find "^sm%[%d+%]%.warp_instructions$" then sms = sms + 1 end
  end
  return sms
end

--- The launches of each kernel together, in the order of their first ones.
local function kernels_of(r)
  local kernels, by_name = {}, {}
  for _, launch in ipairs(r.launches) do
    local kernel = by_name[launch.kernel]
    if not kernel then
      kernel = { name = launch.kernel, launches = 0, cycles = 0, warp_instructions = 0, thread_instructions = 0 }
      by_name[launch.kernel], kernels[#kernels + 1] = kernel, kernel
    end
    kernel.launches = kernel.launches + 1
    for _, counter in ipairs { "cycles", "warp_instructions", "thread_instructions" } do
      kernel[counter] = kernel[counter] + launch[counter]
    end
  end
  return kernels
end

local function simulate(run)
  local options = { out = false }
  for _, key in ipairs { "config", "workload", "size", "policy", "set", "sample" } do options[key] = run[key] end
  local r = ww.run(options)
  if r.checks == 0 then core.user_error(("%s: expected checks of its results, got none"):format(run.workload)) end
  return {
    cycles = r.cycles, ipc = r.ipc, warp_ipc = r.warp_ipc, warp_instructions = r.warp_instructions,
    thread_instructions = r.thread_instructions, sms = sms_of(r), launches = #r.launches, host_seconds = r.seconds,
    sums = sums_of(r), kernels = kernels_of(r), energy = { total = r.energy.total, parts = r.energy.parts, rows = r.energy.rows },
  }
end

function Runner:make(run)
  local result = run.measure and require(run.measure)(run) or self.simulate(run, self:path_of(run))
  result.run, result.program, result.files = run, self.program, inputs.loaded_files(run, self.apart)
  local before = run.warm_up and (self:stored(self.prior(run)) or core.user_error "expected its warm-up to be there, of what is here now")
  for path, digest in pairs(before and before.files or {}) do result.files[path] = digest end
  if before then result.warm_up_cycles, result.warm_up_seconds = before.cycles, before.simulated end
  self.digests = {}
  local changed = self:changed_file(result)
  if changed then
    core.user_error(("%s has changed while the run was at work; the same command makes it again"):format(inputs.present_path(changed, self.here)))
  end
  inputs.write_file(self:path_of(run), "return " .. literal(result) .. "\n")
end

-- The parent --------------------------------------------------------------------------------------------------------------------

--- Those of the runs that are not stored, each once.
function Runner:missing(runs)
  local missing, seen = {}, {}
  for _, run in ipairs(runs) do
    local path = self:path_of(run)
    if not seen[path] and not self:stored(run) then missing[#missing + 1] = run end
    seen[path] = true
  end
  return missing
end

function Runner:problem_path(run) return self:path_of(run) .. ".problem" end

local ROOM <const> = ("\n"):rep(1 << 17) -- more than a run without checkpoints writes

--- A run without room for its results is made in vain. Nil, or what is wrong with the folder.
function Runner:obstacle()
  local path = ("%s/room-%d"):format(self.folder, core.process())
  local problem = inputs.try_to_write(path, ROOM)
  os.remove(path)
  return problem and ("%s: %s"):format(self.folder, problem:match "[^:]*$":gsub("^%s+", ""))
end

--- Why a run that has ended is not there, which is kept as its problem; nil when it is.
function Runner:lack_of(run)
  if self:stored(run) then return nil end
  local result = read_result(self:path_of(run))
  local changed = result and self:changed_file(result)
  local lack = changed and ("%s has changed since the run was made; the same command makes it again"):format(inputs.present_path(changed, self.here))
    or "the run ended without a result"
  inputs.try_to_write(self:problem_path(run), lack .. "\n")
  return lack
end

--- Makes what is missing of a list of runs. Returns a list of { run =, problem =, status = } for those that failed, and why no more
-- were started, or nil; the others are there. `ended`, or nil, is called with each as it ends.
function Runner:run(runs, ended)
  local problems, obstacle = processes.run(self:missing(runs), {
    jobs = self.jobs, say = self.say, name = runner.name,
    work = function(run) self:make(run) end,
    problem_path = function(run) return self:problem_path(run) end,
    lack = function(run)
      self.digests = {} -- files may have changed since the run began
      return self:lack_of(run)
    end,
    ended = ended,
    log_path = self.log_path, obstacle = function() return self:obstacle() end,
  })
  local is_told = {}
  for i, problem in ipairs(problems) do
    problems[i] = { run = problem.item, problem = problem.problem, status = problem.status }
    is_told[self:path_of(problem.item)] = true
  end
  if obstacle or core.stop_asked() then return problems, obstacle end
  self.digests = {}
  for _, run in ipairs(self:missing(runs)) do -- whose files have changed while others were at work
    if not is_told[self:path_of(run)] then problems[#problems + 1] = { run = run, problem = self:lack_of(run) } end
  end
  return problems, obstacle
end

--- The result of a run that was made; nil when it failed.
function Runner:result(run)
  local path = self:path_of(run)
  if self.results[path] == nil then self.results[path] = self:stored(run) or false end
  return self.results[path] or nil
end

--- runner.new { folder =, jobs = how many at once, say = function of a line }. A file has cycles, ipc, warp_ipc,
-- warp_instructions, thread_instructions, launches, sms, sums = counters by pattern, kernels = { name =, launches =, cycles = ... },
-- energy, host_seconds; or what the run's `measure` returned, or `simulate`, a function of the run and the path of its file.
-- `log_path`: of what a run prints, a function of it; `apart`: a Lua file that takes no part in the runs; `prior`: the run whose
-- inputs are also those of a run with a warm_up, a function of it; `here`: the folder from which runs name files, or the current one.
function runner.new(o)
  return setmetatable({
    folder = o.folder, jobs = o.jobs, say = o.say, simulate = o.simulate or simulate, log_path = o.log_path, apart = o.apart,
    prior = o.prior, here = o.here or ".", made = inputs.make_folders(o.folder), program = inputs.digest_of_program(), digests = {}, results = {},
  }, Runner)
end

return runner
