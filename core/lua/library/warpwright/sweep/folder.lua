-- The folder of a sweep: sweep.lua, its runs; runs/, a file and a folder for each of them; results.sqlite, made of these.
local checkpoint = require "warpwright.checkpoint"
local core = require "warpwright.core"
local inputs = require "warpwright.inputs"
local literal = require "warpwright.literal"
local names = require "warpwright.names"

local folder = {}

--- What the sweep is, for those who look at it later: the list of runs.
function folder.write_plan(path, plan, file)
  local list = {}
  for i, entry in ipairs(plan.runs) do list[i] = { point = entry.point, shown = entry.shown, repetition = entry.repetition, run = entry.run } end
  inputs.write_file(path .. "/sweep.lua", "return " .. literal { runs = list, axes = plan.axes, file = file, name = plan.name or "",
    here = inputs.way_to_here(path) } .. "\n")
end

--- As write_plan() writes it?
local function is_plan(plan)
  if type(plan) ~= "table" or type(plan.runs) ~= "table" or type(plan.axes) ~= "table" then return false end
  for _, axis in ipairs(plan.axes) do
    if type(axis) ~= "string" then return false end
  end
  for _, entry in ipairs(plan.runs) do
    local run = type(entry) == "table" and type(entry.point) == "table" and type(entry.repetition) == "number" and entry.run
    if type(run) ~= "table" or type(run.config) ~= "string" or type(run.workload) ~= "string" then return false end
  end
  return true
end

--- Or nil when it is no folder of a sweep.
function folder.read_plan(path)
  local text = inputs.read_file(path .. "/sweep.lua")
  local chunk = text and load(text, "=sweep", "t", { math = math })
  local ok, plan = pcall(chunk or error)
  if not ok or not is_plan(plan) then return nil end
  for i, entry in ipairs(plan.runs) do entry.number = i end
  local here = type(plan.here) == "string" and plan.here or core.real_path "."
  plan.here = here:sub(1, 1) == "/" and here or path .. "/" .. here
  return plan
end

--- The same, or an error.
function folder.require_plan(path)
  return folder.read_plan(path) or names.expected("sweep", "the folder of a sweep, with its sweep.lua", path)
end

function folder.runs(path) return path .. "/runs" end

function folder.database(path) return path .. "/results.sqlite" end

--- Those of a run that no process works at, and what killed ones had written of others.
function folder.remove_checkpoints(path)
  for _, cycle in ipairs(checkpoint.cycles_in(path)) do os.remove(("%s/%d.ckpt"):format(path, cycle)) end
  checkpoint.remove_unfinished(path)
end

return folder
