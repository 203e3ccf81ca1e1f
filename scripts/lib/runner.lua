-- Many runs side by side, each in a process of its own, each with a file of its own in a folder. A run of which a file is there
-- is not made again, unless something that it was made of has changed: the program, a Lua file that took part, its PTX. So a
-- list of runs that was stopped or killed goes on where it was, and lists may share a folder and runs.
--
-- A run is what ww.run takes: { config =, workload =, size =, policy =, set = a list of "PATH=VALUE" }. `measure`, the name of a
-- module, takes its place where more than the statistics at the end is wanted: the module is a function of the run that returns
-- what is to be kept, a table of numbers, texts and tables.
local ww = require "warpwright"
local core = require "warpwright.core"
local literal = require "warpwright.literal"
local find = require "warpwright.load"

local runner = {}

local Runner = {}
Runner.__index = Runner

-- What a run is made of -------------------------------------------------------------------------------------------------------------

--- Or nil.
local function read_file(path)
  local file = io.open(path, "rb")
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

local function digest_of_file(path)
  local text = read_file(path)
  return text and core.digest(text)
end

--- Of the program: its C code, and the Lua library, which is read when it starts.
local function digest_of_program()
  local digests, folder = { core.sources }, core.home_path "core/lua/library/"
  digests[2] = digest_of_file(folder .. "warpwright.lua")
  for _, name in ipairs(core.list_folder(folder .. "warpwright")) do
    digests[#digests + 1] = digest_of_file(folder .. "warpwright/" .. name)
  end
  return core.digest(table.concat(digests, " "))
end

--- Files belong to the home folder wherever it is.
local function stored_path(path)
  local home = core.real_path(core.home_path ".") .. "/"
  return path:sub(1, #home) == home and "home:" .. path:sub(#home + 1) or path
end

local function present_path(path)
  local below_home = path:match "^home:(.*)"
  return below_home and core.home_path(below_home) or path
end

--- The file of a module and those that it loads, by path.
local function files_of_module(name)
  local files = { [core.real_path(core.home_path(name:gsub("%.", "/") .. ".lua"))] = true }
  repeat
    local found = false
    for _, row in ipairs(core.noted_files()) do
      if files[row.by] and not files[row.path] then
        files[row.path], found = true, true
      end
    end
  until not found
  return files
end

--- By stored path: the digests of the Lua files that this process has loaded, the library left out. Scripts take no part in a run,
-- but for what measures it.
local function loaded_files(run)
  local files, main = {}, arg and arg[0] and core.real_path(arg[0])
  local measuring = run.measure and files_of_module(run.measure) or {}
  for _, row in ipairs(core.noted_files()) do
    local path = stored_path(row.path)
    if measuring[row.path] or row.path ~= main and not path:find "^home:scripts/" then files[path] = row.digest end
  end
  return files
end

function Runner:digest_now(path)
  local digest = self.digests[path]
  if digest == nil then
    digest = digest_of_file(present_path(path)) or false
    self.digests[path] = digest
  end
  return digest
end

-- Files of results ----------------------------------------------------------------------------------------------------------------------

--- What a run is called: for people, and apart from all others.
function runner.name(run)
  local words = { run.measure and run.measure:match "[^.]*$" or false, run.config, run.workload, run.size or "medium",
    run.policy or "default" }
  for _, entry in ipairs(run.set or {}) do words[#words + 1] = entry end
  if not words[1] then table.remove(words, 1) end
  return table.concat(words, " ")
end

function Runner:path_of(run)
  local name = runner.name(run)
  return ("%s/%s-%s.lua"):format(self.folder, name:gsub("[^%w%-_.]+", "_"):sub(1, 100), core.digest(literal(run)))
end

--- The stored result of a run, or nil when there is none of what is here now.
function Runner:stored(run)
  local text = read_file(self:path_of(run)) -- by loadfile() it would count among the files of later runs
  local chunk = text and load(text, "=result", "t", { math = math })
  local ok, result = pcall(chunk or error)
  if not ok or type(result) ~= "table" or result.program ~= self.program then return nil end
  for path, digest in pairs(result.files) do
    if self:digest_now(path) ~= digest then return nil end
  end
  return result
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
  for _, key in ipairs { "config", "workload", "size", "policy", "set" } do options[key] = run[key] end
  local r = ww.run(options)
  if r.checks == 0 then core.user_error(("%s: expected checks of its results, got none"):format(run.workload)) end
  return {
    cycles = r.cycles, ipc = r.ipc, warp_ipc = r.warp_ipc, warp_instructions = r.warp_instructions,
    thread_instructions = r.thread_instructions, sms = sms_of(r), launches = #r.launches, host_seconds = r.seconds,
    sums = sums_of(r), kernels = kernels_of(r), energy = { total = r.energy.total, parts = r.energy.parts, rows = r.energy.rows },
  }
end

--- Whole or not at all.
local function write_file(path, text)
  local temporary = path .. ".tmp"
  local file = assert(io.open(temporary, "wb"))
  assert(file:write(text))
  assert(file:close())
  assert(os.rename(temporary, path))
end

function Runner:make(run)
  local result = run.measure and require(run.measure)(run) or simulate(run)
  result.run, result.program, result.files = run, self.program, loaded_files(run)
  local ptx = find.get("workload", run.workload).ptx
  result.files[stored_path(core.real_path(ptx))] = digest_of_file(ptx)
  write_file(self:path_of(run), "return " .. literal(result) .. "\n")
end

--- Never returns.
function Runner:be_child(run)
  local ok, problem = xpcall(self.make, core.message_handler, self, run)
  if not ok then pcall(write_file, self:path_of(run) .. ".problem", tostring(problem) .. "\n") end
  core.leave(ok and 0 or 1)
end

-- The parent --------------------------------------------------------------------------------------------------------------------

function Runner:start(run)
  os.remove(self:path_of(run) .. ".problem")
  local pid = core.fork()
  if pid == 0 then self:be_child(run) end
  return { pid = pid, run = run, since = os.time() }
end

function Runner:problem_of(run, status, signal)
  local text = read_file(self:path_of(run) .. ".problem") or signal and ("killed by signal %d"):format(signal)
    or ("exit status %s"):format(status)
  return (text:gsub("%s+$", ""))
end

local function clock(seconds)
  return seconds < 3600 and ("%d:%02d"):format(seconds // 60, seconds % 60)
    or ("%d:%02d:%02d"):format(seconds // 3600, seconds // 60 % 60, seconds % 60)
end

function Runner:report(done, count, began, text)
  local elapsed = os.time() - began
  self.say(("[%d/%d, %s, about %s left] %s"):format(done, count, clock(elapsed), clock(elapsed * (count - done) // done), text))
end

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

--- Makes what is missing of a list of runs. Returns a list of { run =, problem = } for those that failed; the others are there.
function Runner:run(runs)
  local missing, running, alive, done, problems, began = self:missing(runs), {}, 0, 0, {}, os.time()
  local function wait()
    local pid, status, signal = core.wait_for_child()
    local child = running[pid]
    if not child then return end
    running[pid] = nil
    alive, done = alive - 1, done + 1
    local problem = status ~= 0 and self:problem_of(child.run, status, signal)
    if problem then problems[#problems + 1] = { run = child.run, problem = problem } end
    self:report(done, #missing, began, ("%s: %s"):format(runner.name(child.run),
      problem and "FAILED: " .. problem or clock(os.time() - child.since)))
  end
  for _, run in ipairs(missing) do
    while alive >= self.jobs do wait() end
    local child = self:start(run)
    running[child.pid] = child
    alive = alive + 1
  end
  while alive > 0 do wait() end
  return problems
end

--- The result of a run that was made; nil when it failed.
function Runner:result(run)
  local path = self:path_of(run)
  if self.results[path] == nil then self.results[path] = self:stored(run) or false end
  return self.results[path] or nil
end

--- runner.new { folder =, jobs = how many at once, say = function of a line }. A file has cycles, ipc, warp_ipc,
-- warp_instructions, thread_instructions, launches, sms, sums = counters by pattern, kernels = { name =, launches =, cycles = ... },
-- energy, host_seconds; or what the run's `measure` returned.
function runner.new(o)
  for last in (o.folder .. "/"):gmatch "()/" do
    if last > 1 then core.make_folder(o.folder:sub(1, last - 1)) end
  end
  return setmetatable({
    folder = o.folder, jobs = o.jobs, say = o.say, program = digest_of_program(), digests = {}, results = {},
  }, Runner)
end

return runner
