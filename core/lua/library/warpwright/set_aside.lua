-- Checkpoints of another run that lie in the folder of a run which begins: they are kept under another name, so that --resume FOLDER
-- goes on with this run, and --keep counts its checkpoints alone.
local checkpoint = require "warpwright.checkpoint"
local core = require "warpwright.core"
local names = require "warpwright.names"
local note = require "warpwright.note"
local sources = require "warpwright.sources"

--- Is it a checkpoint of the run that begins? What cannot be read is not known to be another's.
local function is_of_run(path, choices, w, size)
  local good, saved = pcall(checkpoint.read_run, path)
  if not good then return true end
  for _, name in ipairs(names.sorted_keys(w.choices or {})) do
    if tostring(w.choices[name]) ~= saved[name] then return false end
  end
  return saved.machine == choices.machine and saved.workload_name == w.name and saved.size == size
    and checkpoint.found(saved, "policy") == choices.policy and saved["config digest"] == choices["config digest"]
    and not sources.differences(saved.files, choices.sources)[1]
end

local function free_name(path)
  local name, n = path .. ".old", 1
  while core.is_file(name) do
    n = n + 1
    name = ("%s.old%d"):format(path, n)
  end
  return name
end

--- set_aside(folder, sim.choices, workload, label of its size, the checkpoint that it goes on from or nil): a run that goes on may be
-- another than the one before, and has taken the place of what lies beyond its first cycle.
return function(folder, choices, w, size, resumed)
  sources.set_workload(choices.sources, w)
  local from, moved = resumed and math.tointeger(tonumber(checkpoint.read_run(resumed).cycle)) or 0, {}
  for _, cycle in ipairs(checkpoint.cycles_in(folder)) do
    local path = ("%s/%d.ckpt"):format(folder, cycle)
    if cycle > from and not is_of_run(path, choices, w, size) then
      local name = free_name(path)
      if os.rename(path, name) then moved[#moved + 1] = name:match "[^/]*$" end
    end
  end
  if moved[1] then note("out: %s: checkpoints of another run are kept as %s", folder, table.concat(moved, ", ")) end
end
