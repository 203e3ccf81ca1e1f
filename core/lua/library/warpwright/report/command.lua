-- warpwright report RUN|SWEEP [--out FILE]: one page of HTML that needs nothing beside itself.
local core = require "warpwright.core"
local folder = require "warpwright.sweep.folder"
local output = require "warpwright.output"

local command = {}

local function usage_error(text, ...) core.user_error(text:format(...) .. "; see warpwright report --help") end

local function read_arguments(args, first)
  local path, out
  local i = first
  while args[i] do
    local value = args[i]:match "^%-%-out=(.*)$"
    if args[i] == "--out" then
      i = i + 1
      value = args[i] or usage_error "--out: expected a value, got nothing"
    end
    if value then
      out = value
    elseif args[i]:sub(1, 1) == "-" then
      usage_error("report: unknown option '%s'; available: --out", args[i])
    elseif path then
      usage_error("report: expected one RUN or SWEEP, got a second: '%s'", args[i])
    else
      path = args[i]
    end
    i = i + 1
  end
  return path or usage_error "report: expected the folder of a run or of a sweep, got nothing", out
end

function command.main(args, first)
  local path, out = read_arguments(args, first)
  path = path:gsub("(.)/+$", "%1")
  out = out or path .. "/report.html"
  local is_sweep = core.is_file(folder.database(path))
  local made = require(is_sweep and "warpwright.report.sweep" or "warpwright.report.run").of(path, out)
  output.write_page("report: --out", out, made:html())
  print("report    " .. out)
  return 0
end

return command
