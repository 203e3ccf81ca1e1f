-- warpwright explain FOLDER: what a memory request or a warp waited for, in words, by the run's trace.
local arguments = require "warpwright.arguments"
local core = require "warpwright.core"
local trace_lines = require "warpwright.explain.trace_lines"
local tracing = require "warpwright.tracing"

local command = {}

local function usage_error(...) arguments.error("explain", ...) end

local function read_arguments(args, first)
  local o, words = arguments.read("explain", args, first)
  o.run = arguments.one("explain", words, "FOLDER", "the FOLDER of a run, or a trace")
  if (o.request ~= nil) == (o.warp ~= nil) then usage_error("expected --request or --warp, got %s", o.warp and "both" or "neither") end
  if (o.warp ~= nil) ~= (o.cycle ~= nil) then usage_error "expected --warp and --cycle together, got one of them" end
  return o
end

--- The trace of a run, or the file itself.
local function find_trace(run)
  if core.is_file(run) then return trace_lines.open("explain", run) end
  if not core.real_path(run) then core.user_error(("explain: %s: expected the folder of a run, got no such folder"):format(run)) end
  local path = run .. "/" .. tracing.FILE
  if not core.is_file(path) then
    core.user_error(("explain: %s: expected a run with a trace, got no %s; run it with --trace '*' --from CYCLE --to CYCLE, or name the trace")
      :format(run, tracing.FILE))
  end
  return trace_lines.open("explain", path)
end

function command.main(args, first)
  local given = read_arguments(args, first)
  local id, warp, cycle = given.request, given.warp, math.tointeger(tonumber(given.cycle))
  if id and not id:find "^%-?%d+%.%-?%d+%.%d+%.%x+$" then
    usage_error("--request: expected SM.WARP.CYCLE.LINE as in the trace, got '%s'", id)
  end
  if warp and not warp:find "^%d%d?%d?%d?/%d%d?%d?$" then usage_error("--warp: expected SM/WARP, such as 3/5, got '%s'", warp) end
  if warp and (not cycle or cycle < 0) then usage_error("--cycle: expected a core cycle, 0 or more, got '%s'", given.cycle) end
  local trace = find_trace(given.run)
  if id then
    require("warpwright.explain.request").explain(trace, id, print)
  else
    require("warpwright.explain.warp").explain(trace, warp, cycle, print)
  end
  return 0
end

return command
