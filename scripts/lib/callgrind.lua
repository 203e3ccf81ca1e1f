-- The instructions that this computer executes for the simulation proper, counted by callgrind:
-- exact to a few millionths, and the same on a busy machine. Making inputs, start-up and checking
-- results are left out: callgrind collects while sim_run() of core/sim/sim.c runs.
local core = require "warpwright.core"
local child = require "scripts.lib.child"

local callgrind = {}

--- Flags for visit_instructions().
callgrind.each_instruction = { "--dump-instr=yes", "--compress-strings=no", "--compress-pos=no" }

--- Runs one item of scripts/bench.lua, small, with `program`. Returns what it printed, and what
-- callgrind wrote. `flags`: further options of callgrind.
function callgrind.run(program, item, config, flags)
  local path = os.tmpname()
  local words = { "valgrind", "-q", "--tool=callgrind", "--toggle-collect=sim_run*",
    "--callgrind-out-file=" .. path }
  for _, flag in ipairs(flags or {}) do words[#words + 1] = flag end
  for _, word in ipairs { program, core.home_path "scripts/bench.lua", "--item", item, "--size", "small", "--config", config } do
    words[#words + 1] = word
  end
  local printed = child.output(words)
  local file = io.open(path, "rb")
  local counts = file and file:read "a" or ""
  if file then file:close() end
  os.remove(path)
  if not printed then error(("callgrind: %s failed under valgrind; a build with march=x86-64-v3 helps"):format(program), 0) end
  return printed, counts
end

--- All instructions of a run.
function callgrind.total(counts)
  local total = math.tointeger(tonumber(counts:match "\ntotals: (%d+)")) or 0
  if total == 0 then error("callgrind: expected a build with a function sim_run, got one without", 0) end
  return total
end

--- Calls visit(object, address, count) for the instructions of a run with each_instruction: the
-- file of the program or library that they lie in, where ("0x1234"), and how often they ran.
function callgrind.visit_instructions(counts, visit)
  local object, called = nil, false
  for line in counts:gmatch "[^\n]+" do
    local address, count = line:match "^(0x%x+) %S+ (%d+)$"
    if not address then
      object = line:match "^ob=(.*)" or object
      called = called or line:sub(1, 6) == "calls="
    elseif called then
      called = false -- the cost of a call is that of the callee's own lines
    else
      visit(object, address, math.tointeger(tonumber(count)))
    end
  end
end

return callgrind
