-- Runs of a sweep by their numbers on a command line: SWEEP/3 stands for the folder of run 3.
local core = require "warpwright.core"
local folder = require "warpwright.sweep.folder"

--- The folder that a word means, or nil where it is no such name.
local function folder_of(word)
  local sweep, number = word:match "^(.+)/(%d+)$"
  if not sweep or core.real_path(word) or not core.is_file(folder.database(sweep)) then return nil end
  local file = core.open_database(folder.database(sweep), false)
  local last = file:prepare("SELECT MAX(run) FROM results"):rows()[1][1]
  local row = file:prepare(("SELECT folder, status, error FROM results WHERE run = %s"):format(number)):rows()[1]
  if not row then core.user_error(("%s: expected a run of the sweep, 1 to %d, got %s"):format(word, last, number)) end
  if not row[1] then core.user_error(("%s: expected a run that has ended, got one without results"):format(word)) end
  local path = sweep .. "/" .. row[1]
  if row[2] == "failed" and not (core.is_file(path .. "/stats.zst") or core.is_file(path .. "/stats.json")) then
    core.user_error(("%s: expected a run that has ended, got one that failed: %s"):format(word, row[3]))
  end
  return path
end

--- Puts folders in the place of such words, from `first` on.
return function(args, first)
  for i = first, #args do args[i] = folder_of(args[i]) or args[i] end
end
