-- warpwright report RUN|SWEEP: one page of HTML that needs nothing beside itself, or the speed-ups of a sweep as text.
local arguments = require "warpwright.arguments"
local core = require "warpwright.core"
local folder = require "warpwright.sweep.folder"
local output = require "warpwright.output"
local speed_ups = require "warpwright.report.speed_ups"
local sweep_report = require "warpwright.report.sweep"

local command = {}

function command.main(args, first)
  local o, words, given = arguments.read("report", args, first)
  local format = arguments.chosen("report", given, speed_ups.formats)
  local path = arguments.one("report", words, "RUN or SWEEP", "the folder of a run or of a sweep"):gsub("(.)/+$", "%1")
  local is_sweep = core.is_file(folder.database(path))
  for _, pair in ipairs(given) do
    if not is_sweep and pair[1] ~= "--out" then
      arguments.error("report", "%s: expected the folder of a sweep, got %s", pair[1], path)
    end
  end
  local out, text = o.out or not format and path .. "/report.html"
  if format then
    text = format(sweep_report.speed_ups(path, o))
  else
    text = (is_sweep and sweep_report or require "warpwright.report.run").of(path, out, o):html()
  end
  if not out then
    io.write(text)
    return 0
  end
  output.write_page("report: --out", out, text)
  print("report    " .. out)
  return 0
end

return command
