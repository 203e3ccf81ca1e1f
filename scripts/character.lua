-- Measures what kind of load a workload is: L1 hits, instructions per L1 miss, misses per kilo-instruction. `help` below says
-- how it is called.
local ww = require "warpwright"
local character = require "scripts.lib.character"
local command_line = require "scripts.lib.command_line"

local help = [[
usage: warpwright scripts/character.lua [options] WORKLOAD...

Runs workloads and prints a row of a Markdown table for each run:

  hits           L1 hits of all loads, in percent; beside it merges, loads of a line that was in flight
  instr/miss     warp instructions per L1 line miss (Mascar: above 30 is "compute")
  MPKI           L1 misses per thousand thread instructions (DWT-PRIC: above 10 is "thrashing")
  IPC            thread instructions per cycle

  --config CONFIG      default: gtx480
  --policy A,B,...     default: gto
  --size SIZE          default: small
  --set PATH=VALUE     a parameter of the machine; may be repeated
]]

local function usage_error(...) command_line.error("character", ...) end

local options = { config = "gtx480", policies = { "gto" }, size = "small", set = {}, workloads = {} }
local i = 1
while arg[i] do
  local word = arg[i]
  if word == "--help" then
    print(help)
    return
  elseif word:find "^%-%-" then
    local value = arg[i + 1]
    if not value then usage_error("%s: expected a value", word) end
    i = i + 1
    if word == "--config" then
      options.config = value
    elseif word == "--policy" then
      options.policies = {}
      for policy in value:gmatch "[^,]+" do options.policies[#options.policies + 1] = policy end
    elseif word == "--size" then
      options.size = value
    elseif word == "--set" then
      options.set[#options.set + 1] = value
    else
      usage_error("unknown option '%s'; available: --config, --policy, --size, --set, --help", word)
    end
  else
    options.workloads[#options.workloads + 1] = word
  end
  i = i + 1
end
if #options.workloads == 0 then usage_error("expected the names of workloads; see --help") end

print(character.head)
for _, workload in ipairs(options.workloads) do
  for _, policy in ipairs(options.policies) do
    local r = ww.run {
      config = options.config, workload = workload, size = options.size, policy = policy, set = options.set, out = false,
    }
    print(character.row(r))
    io.stdout:flush()
  end
end
