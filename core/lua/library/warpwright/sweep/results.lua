-- What the folder of a run of a sweep holds, read as a whole: a run of which a file is damaged has no results.
local core = require "warpwright.core"
local histograms = require "warpwright.histograms"
local inputs = require "warpwright.inputs"
local output = require "warpwright.output"

local results = {}

--- A function that visits every statistic, as output.visit_packed_rows() does; nil where they are damaged. A run with --stats none
-- has no file.
local function read_stats(path, choice)
  local packed = inputs.read_file(path)
  if not packed then return choice == "none" and function() end or nil end
  local text = output.unpacked_rows(packed)
  return text and function(visit) output.visit_rows(text, visit) end
end

--- The cells of a line of intervals.csv behind from, to and launch; nil unless there are `count`, or any number for nil.
local function cells_of(rest, count)
  local cells = {}
  for cell in ((rest or "") .. ","):gmatch "([^,]*)," do cells[#cells + 1] = cell end
  return rest and (not count or #cells == count) and cells or nil
end

--- { columns =, rows = { { from =, to =, launch = or nil, cells = } ... } }, both empty without a file; nil where it is damaged.
local function read_intervals(path)
  local text, rows = inputs.read_file(path), {}
  if not text then return { columns = {}, rows = rows } end
  if text:sub(-1) ~= "\n" then return nil end -- cut off
  local lines = text:gmatch "[^\n]+"
  local head = lines() or ""
  local columns = cells_of(head:match "^from,to,launch,(.*)$")
  for line in lines do
    local from, to, launch, rest = line:match "^(%d+),(%d+),(%d*),(.*)$"
    local cells = columns and cells_of(rest, #columns)
    if not cells then return nil end
    rows[#rows + 1] = { from = tonumber(from), to = tonumber(to), launch = tonumber(launch), cells = cells }
  end
  return columns and { columns = columns, rows = rows }
end

--- results.read(folder of a run, what the runner stored of it): { visit_stats = function(visit), visit_since = the same of what was counted
-- since a warm-up, or nil, intervals =, histograms = }; or nil, and which file is damaged.
function results.read(path, stored)
  local has_warm_up = stored.warm_up_cycles ~= nil
  local found = { visit_stats = read_stats(path .. "/stats.zst", stored.stats),
    visit_since = has_warm_up and read_stats(path .. "/since.zst", stored.stats) or nil,
    intervals = read_intervals(path .. "/intervals.csv"),
    histograms = histograms.read(path) }
  local function damage(name, what)
    local got = core.is_file(path .. "/" .. name) and "a damaged file" or "no such file"
    return nil, ("%s/%s: expected %s, got %s"):format(path, name, what, got)
  end
  if not found.visit_stats then return damage("stats.zst", "statistics") end
  if has_warm_up and not found.visit_since then return damage("since.zst", "statistics") end
  if not found.intervals then return damage("intervals.csv", "intervals") end
  if found.histograms == false then return damage(histograms.FILE, "histograms") end
  found.histograms = found.histograms or {}
  return found
end

return results
