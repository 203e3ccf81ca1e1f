-- warpwright report RUN|SWEEP: one page of HTML that needs nothing beside itself, or the speed-ups of a sweep as text.
local core = require "warpwright.core"
local folder = require "warpwright.sweep.folder"
local output = require "warpwright.output"
local speed_ups = require "warpwright.report.speed_ups"
local sweep_report = require "warpwright.report.sweep"

local command = {}

local function usage_error(text, ...) core.user_error(text:format(...) .. "; see warpwright report --help") end

local takes <const> = { ["--out"] = "out", ["--compare"] = "compare", ["--base"] = "base" }

--- { path =, out =, compare =, base =, format = }
local function read_arguments(args, first)
  local o, i = {}, first
  while args[i] do
    local word = args[i]
    local name, value = word:match "^(%-%-%a+)=(.*)$"
    local option = takes[name or word]
    if option then
      if not value then
        i = i + 1
        value = args[i] or usage_error("%s: expected a value, got nothing", word)
      end
      o[option] = value
    elseif speed_ups.formats[word] then
      o.format = word
    elseif word:sub(1, 1) == "-" then
      usage_error("report: unknown option '%s'; available: --out, --compare, --base, --table, --csv, --json, --svg", word)
    elseif o.path then
      usage_error("report: expected one RUN or SWEEP, got a second: '%s'", word)
    else
      o.path = word
    end
    i = i + 1
  end
  if not o.path then usage_error "report: expected the folder of a run or of a sweep, got nothing" end
  return o
end

function command.main(args, first)
  local o = read_arguments(args, first)
  local path = o.path:gsub("(.)/+$", "%1")
  local is_sweep = core.is_file(folder.database(path))
  local of_sweeps = o.compare and "--compare" or o.base and "--base" or o.format
  if not is_sweep and of_sweeps then usage_error("report: %s: expected the folder of a sweep, got %s", of_sweeps, path) end
  local out, text = o.out or not o.format and path .. "/report.html"
  if o.format then
    text = sweep_report.speed_ups(path, o, o.format)
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
