-- Many things to do side by side, each in a process of its own: which fail, and how far it has come.
local core = require "warpwright.core"
local inputs = require "warpwright.inputs"

local processes = {}

--- "1:05", "2:00:05"
function processes.clock(seconds)
  seconds = math.floor(seconds)
  return seconds < 3600 and ("%d:%02d"):format(seconds // 60, seconds % 60)
    or ("%d:%02d:%02d"):format(seconds // 3600, seconds // 60 % 60, seconds % 60)
end

--- Of a run that a signal stopped, and that goes on when it is started again.
processes.EXIT_STOPPED = 75

--- Where a process says what went wrong when its own file cannot be written, on a full disk, say.
local function spare_path(process) return ("%s/warpwright-problem-%d"):format(os.getenv "TMPDIR" or "/tmp", process) end

--- In the child; never returns. To have been stopped is no problem.
local function be_child(o, item)
  rawset(os, "exit", function() error("os.exit: expected the run's result, got the end of the program", 2) end)
  local ok, problem = xpcall(o.work, core.message_handler, item)
  local status = ok and 0 or type(problem) == "table" and problem.exit_status or 1
  if not ok and status ~= processes.EXIT_STOPPED then
    local text = core.thrown_text(problem) .. "\n"
    if inputs.try_to_write(o.problem_path(item), text) then inputs.try_to_write(spare_path(core.process()), text) end
  end
  core.leave(status)
end

local function problem_of(o, item, process, status, signal)
  local spare = inputs.read_file(spare_path(process))
  if spare then os.remove(spare_path(process)) end
  local text = inputs.read_file(o.problem_path(item)) or spare or signal and ("killed by signal %d"):format(signal)
    or ("exit status %s"):format(status)
  return (text:gsub("%s+$", ""))
end

--- SIGHUP, SIGINT and SIGTERM, by which a child ends that has been asked to stop before it watches signals.
local asks_to_stop <const> = { [1] = true, [2] = true, [15] = true }

local function report(o, state, text)
  local elapsed = core.monotonic_seconds() - state.began
  o.say(("[%d/%d, %s, about %s left] %s"):format(state.done, state.count, processes.clock(elapsed),
    processes.clock(elapsed * (state.count - state.done) // state.done), text))
end

--- processes.run(items, { jobs = how many at once, work = function(item) in the child, problem_path = function(item) of the file
-- for what went wrong, log_path = function(item) of what it prints or nil, name = function(item), say = function(line),
-- lack = function(item) that says what a child that ended well has left undone, or nil,
-- ended = function(item, problem, status) or nil, obstacle = function that says why no more can be started, or nil }). Returns a list
-- of { item =, problem =, status = } of those that failed, and the obstacle that was met. Once the process has been asked to stop
-- (core.supervise), no more are started.
function processes.run(items, o)
  local running, alive, problems, state = {}, 0, {}, { began = core.monotonic_seconds(), done = 0, count = #items }
  local function wait()
    local pid, status, signal = core.wait_for_child()
    local child = running[pid]
    if not child then return end
    running[pid] = nil
    if asks_to_stop[signal] and core.stop_asked() then status = processes.EXIT_STOPPED end
    alive, state.done = alive - 1, state.done + 1
    local problem = status ~= 0 and problem_of(o, child.item, pid, status, signal) or o.lack and o.lack(child.item) or nil
    if problem then problems[#problems + 1] = { item = child.item, problem = problem, status = status } end
    if o.ended then o.ended(child.item, problem, status) end
    local failure = problem and (status == processes.EXIT_STOPPED and "stopped" or "FAILED: " .. problem)
    report(o, state, ("%s: %s"):format(o.name(child.item), failure or processes.clock(core.monotonic_seconds() - child.since)))
  end
  for _, item in ipairs(items) do
    while alive >= o.jobs do wait() end
    state.obstacle = o.obstacle and o.obstacle()
    if core.stop_asked() or state.obstacle then break end
    os.remove(o.problem_path(item))
    local pid = core.fork(o.log_path and o.log_path(item))
    if pid == 0 then be_child(o, item) end
    running[pid] = { item = item, since = core.monotonic_seconds() }
    alive = alive + 1
  end
  while alive > 0 do wait() end
  return problems, state.obstacle
end

return processes
