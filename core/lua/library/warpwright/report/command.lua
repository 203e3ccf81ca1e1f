-- warpwright report RUN|SWEEP: one page of HTML that needs nothing beside itself.
local core = require "warpwright.core"
local folder = require "warpwright.sweep.folder"
local output = require "warpwright.output"

local command = {}

local function usage_error(text, ...) core.user_error(text:format(...) .. "; see warpwright report --help") end

local takes <const> = { ["--out"] = "out", ["--compare"] = "compare", ["--base"] = "base" }

--- { path =, out =, compare =, base = }
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
    elseif word:sub(1, 1) == "-" then
      usage_error("report: unknown option '%s'; available: --out, --compare, --base", word)
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
  local out = o.out or path .. "/report.html"
  local is_sweep = core.is_file(folder.database(path))
  if not is_sweep and (o.compare or o.base) then
    usage_error("report: %s: expected the folder of a sweep, got %s", o.compare and "--compare" or "--base", path)
  end
  local made = require(is_sweep and "warpwright.report.sweep" or "warpwright.report.run").of(path, out, o)
  output.write_page("report: --out", out, made:html())
  print("report    " .. out)
  return 0
end

return command
