-- Measures what kind of load a workload is: L1 hits, instructions per L1 miss, misses per
-- kilo-instruction. `help` below says how it is called.
local ww = require "warpwright"
local character = require "scripts.lib.character"
local command_line = require "scripts.lib.command_line"

local script <const> = "character.lua"
local help = [[
usage: warpwright scripts/character.lua [options] WORKLOAD...
       warpwright scripts/character.lua --update FILE [--config CONFIG]

Runs workloads and prints a row of a Markdown table for each run:

  hits           L1 hits of all loads, in percent; beside it merges, loads of a line that was in flight
  instr/miss     warp instructions per L1 line miss (Mascar: above 30 is "compute")
  MPKI           L1 misses of loads per thousand thread instructions (DWT-PRIC: above 10 is "thrashing")
  IPC            thread instructions per cycle

A - stands for what needs an L1 data cache (l1d) where the machine has none.

  --config CONFIG      default: gtx480
  --policy A,B,...     default: gto
  --size SIZE          default: small
  --set PATH=VALUE     a parameter of the machine; may be repeated

  --update FILE        runs what the rows of FILE's tables name (workloads/CHARACTER.md), those of CONFIG alone where one is
                       given, and writes their figures anew
]]

-- Runs --------------------------------------------------------------------------------------------

local function measure(workload, size, config, policy, set)
  return ww.run { config = config, workload = workload, size = size, policy = policy, set = set, out = false }
end

local function print_rows(options, workloads)
  print(character.head)
  for _, workload in ipairs(workloads) do
    for _, policy in ipairs(options.policy) do
      print(character.row(measure(workload, options.size or "small", options.config or "gtx480", policy, options.set)))
      io.stdout:flush()
    end
  end
end

local function read_file(path)
  local file, problem = io.open(path, "rb")
  if not file then command_line.error(script, "--update: %s", problem) end
  local text = file:read "a"
  file:close()
  return text
end

local function write_file(path, text)
  local file <close> = assert(io.open(path, "wb"))
  assert(file:write(text))
end

--- The file is written after each run: what was measured stays when a later one fails.
local function update(path, wanted)
  local text, figures, rows = read_file(path), {}, {}
  local function key(...) return table.concat({ ... }, " ") end
  character.updated(text, function(...)
    if not wanted or select(3, ...) == wanted then rows[#rows + 1] = { ... } end
  end)
  for _, row in ipairs(rows) do
    local name = key(table.unpack(row))
    figures[name] = character.figures(measure(table.unpack(row)))
    print(name .. ": " .. figures[name])
    io.stdout:flush()
    write_file(path, character.updated(text, function(...) return figures[key(...)] end))
  end
end

-- Command line ------------------------------------------------------------------------------------

if command_line.helped(arg, help) then return end
local options = { set = {}, policy = { "gto" } }
local workloads = command_line.read(script, arg, options, {
  config = command_line.text, policy = command_line.policies, size = command_line.text, set = command_line.list,
  update = command_line.text,
})
if options.update then
  if workloads[1] then command_line.expected_arguments(script, "no words beside --update", #workloads) end
  update(options.update, options.config)
else
  if not workloads[1] then command_line.expected_arguments(script, "the names of workloads", 0) end
  print_rows(options, workloads)
end
