-- Runs of which each is a process of its own, as a user would start it: what compares runs from outside stands on them. A leg is
-- { config =, workload =, file = the workload's where it is another than the name, cuda = in its place the words of a CUDA program, out =,
-- resume = a checkpoint in place of these } with options of the command line by name (["checkpoint-at"] =); once it has run it has status, text (that it printed), stats, json.
local core = require "warpwright.core"
local inputs = require "warpwright.inputs"
local names = require "warpwright.names"

local legs = {}

local options_of_leg <const> = { "resume", "size", "policy", "threads", "order", "checkpoint-at", "checkpoint-every", "stats-every",
  "stats-of", "capability", "launches" }

--- The arguments of `warpwright` with this output folder; a checkpoint says what it is of.
local function arguments(leg, workload, out)
  local words = { leg.cuda and "cuda" or "run" }
  if not leg.resume then
    words[2] = leg.config
    if not leg.cuda then words[3] = workload end
  end
  for _, name in ipairs(options_of_leg) do
    if leg[name] then
      words[#words + 1] = "--" .. name
      words[#words + 1] = tostring(leg[name])
    end
  end
  for _, setting in ipairs(leg.set or {}) do
    words[#words + 1] = "--set"
    words[#words + 1] = setting
  end
  words[#words + 1] = "--out"
  words[#words + 1] = out
  if leg.cuda and not leg.resume then
    words[#words + 1] = "--"
    table.move(leg.cuda, 1, #leg.cuda, #words + 1, words)
  end
  return words
end

--- The last `count` names of a path, below `folder`, or as they are where it is "".
local function moved(path, count, folder)
  local rest = path:match("[^/]+" .. ("/[^/]+"):rep(count - 1) .. "$")
  return folder == "" and rest or folder .. "/" .. rest
end

--- Its output folder, as the command has it.
function legs.shown(leg, folder) return moved(leg.out, 1, folder) end

--- What a user types for this leg; the output folders are in `folder`, or in the current one where it is "".
function legs.command(leg, program, folder)
  local words = arguments(leg, leg.workload, legs.shown(leg, folder))
  for i, word in ipairs(words) do
    if word == leg.resume then words[i] = moved(word, 2, folder) end
  end
  return ("%s %s"):format(names.shell_word(program), names.command_line(words))
end

--- The words of the command that runs this leg.
function legs.words_of(leg)
  local words = arguments(leg, leg.file or leg.workload, leg.out)
  table.insert(words, 1, (core.real_path "/proc/self/exe"))
  return words
end

local function start(leg) return assert(io.popen(names.command_line(legs.words_of(leg)) .. " 2>&1")) end

local function finish(leg, pipe)
  leg.text = pipe:read "a"
  local _, kind, status = pipe:close()
  leg.status = kind == "exit" and status or "signal " .. tostring(status)
  leg.stats = inputs.read_file(leg.out .. "/stats.txt")
  leg.json = inputs.read_file(leg.out .. "/stats.json")
end

--- Runs the legs of a list, `jobs` at a time. Once the process has been asked to stop (core.supervise), no more are started.
function legs.run(list, jobs)
  local pipes = {}
  for i = 1, #list + jobs do
    local leg = list[i - jobs]
    if leg and pipes[leg] then finish(leg, pipes[leg]) end
    if list[i] and not core.stop_asked() then pipes[list[i]] = start(list[i]) end
  end
end

--- Why it did not come to its end, or nil.
function legs.failure(leg)
  if leg.status ~= 0 then return ("it ended with %s: %s"):format(leg.status, leg.text:match "([^\n]*)\n*$") end
end

--- The checkpoints in a folder, { cycle =, path = } in order of cycles.
function legs.checkpoints(folder)
  local found = {}
  for _, name in ipairs(core.list_folder(folder)) do
    local cycle = name:match "^(%d+)%.ckpt$"
    if cycle then found[#found + 1] = { cycle = math.tointeger(cycle), path = folder .. "/" .. name } end
  end
  table.sort(found, function(a, b) return a.cycle < b.cycle end)
  return found
end

-- Random choices -----------------------------------------------------------------------------------------------------

--- A generator for this text: the same numbers for the same text.
function legs.random(...)
  local words = { ... }
  for i, word in ipairs(words) do words[i] = tostring(word) end
  return core.rng(tonumber(core.digest(table.concat(words, " ")):sub(1, 15), 16))
end

function legs.cycles_of(leg) return math.tointeger(leg.stats:match "run%.cycles +(%d+)") end

--- Cycles at which something begins or ends: first and last one of every launch.
local function launch_edges(stats)
  local edges = {}
  for start_cycle, cycles in stats:gmatch "launch%[%d+%]%.start_cycle +(%d+).-launch%[%d+%]%.cycles +(%d+)" do
    edges[#edges + 1] = math.tointeger(start_cycle)
    edges[#edges + 1] = start_cycle + math.tointeger(cycles)
  end
  return edges
end

-- So far apart that each cycle is rounded up to another quantum, and the last one does not fall behind the run's end.
local apart <const> = 64

local function is_apart(cycles, cycle)
  for _, other in ipairs(cycles) do
    if math.abs(other - cycle) < apart then return false end
  end
  return true
end

--- At most so many checkpoints a run of so many cycles has room for.
function legs.most_checkpoints(cycles) return (cycles - apart) // (4 * apart) end

--- `count` cycles of a run that has ended, in order, most of them anywhere, some close to where a launch begins or ends.
function legs.random_cycles(rng, leg, count)
  local last = legs.cycles_of(leg) - apart
  local edges, cycles = launch_edges(leg.stats), {}
  if legs.most_checkpoints(last + apart) < count then
    core.user_error(("expected a run of %d cycles or more for %d checkpoints, got %d"):format(4 * apart * count + apart, count, last + apart))
  end
  while #cycles < count do
    local cycle = rng:int(1, last)
    if rng:int(1, 5) == 1 then
      cycle = math.max(1, math.min(last, edges[rng:int(1, #edges)] + rng:int(-apart, apart)))
    end
    if is_apart(cycles, cycle) then cycles[#cycles + 1] = cycle end
  end
  table.sort(cycles)
  return cycles
end

return legs
