-- What a run that goes on shows to others: who it is, and on SIGUSR2 how far it is. `warpwright top` reads it.
local core = require "warpwright.core"
local inputs = require "warpwright.inputs"
local output = require "warpwright.output"

local live = {}

-- In the run's folder, while it goes on: "HOST PROCESS"; and all statistics as of the last time somebody asked.
local WHO <const>, STATE <const> = "run.pid", "live.zst"

-- The run's side -----------------------------------------------------------------------------------------------------

local Shown = {}
Shown.__index = Shown

--- Says who runs in a folder, or nothing for nil; for a to-be-closed variable.
function live.announce(folder)
  local shown = setmetatable({ folder = folder, views = 0 }, Shown)
  -- A folder in which nothing can be written any more is found when the results are.
  if folder then inputs.try_to_write(folder .. "/" .. WHO, ("%s %d\n"):format(core.host().name, core.process())) end
  return shown
end

function Shown.__close(shown)
  if not shown.folder then return end
  os.remove(shown.folder .. "/" .. WHO)
  os.remove(shown.folder .. "/" .. STATE)
  shown.folder = nil -- a question may still come
end

--- Rows of the run, which stats of objects follow.
local function run_rows(sim, views)
  local totals, rows = sim:gpu():totals(), core.stats()
  local function add(name, value, unit, text) rows:add(name, value, unit, text or "") end
  add("live.views", views, "views")
  add("live.label", 0, "", (sim.label:gsub("%c", " ")))
  add("live.kernel", 0, "", totals.kernel)
  add("live.ctas", totals.ctas, "CTAs")
  add("live.ctas_done", totals.ctas_done, "CTAs")
  add("live.host_seconds", totals.seconds, "s")
  add("run.cycles", totals.cycles, "cycles")
  add("run.warp_instructions", totals.warp_instructions, "instructions")
  add("run.thread_instructions", totals.thread_instructions, "instructions")
  add("run.launches", #sim:gpu():launches(), "kernels")
  return rows
end

--- Writes how far it is. What cannot be written, nobody sees: the run goes on.
function Shown:show(sim)
  if not self.folder then return end
  self.views = self.views + 1
  sim.machine:settle(false)
  local rows = run_rows(sim, self.views)
  rows:append(sim.machine:stats())
  inputs.try_to_write(self.folder .. "/" .. STATE, output.packed_rows(rows))
end

-- The other side -----------------------------------------------------------------------------------------------------

--- Who runs in a folder: { host =, process = }, or nil when nobody does.
function live.who(folder)
  if not core.folder_is_locked(folder) then return nil end
  local host, process = (inputs.read_file(folder .. "/" .. WHO) or ""):match "^(%S+) (%d+)\n$"
  return host and { host = host, process = math.tointeger(tonumber(process)) }
end

--- What it showed last: visit(name, value, whole, unit, doc) for each row; false when there is nothing.
function live.visit(folder, visit)
  local packed = inputs.read_file(folder .. "/" .. STATE)
  return packed and output.visit_packed_rows(packed, visit)
end

return live
