-- Compares every form of instructions with its reference; `help` says how it is called.
local command_line = require "scripts.lib.command_line"
local conformance = require "tests.conformance.conformance"

local help = [[
usage: scripts/conformance [--cases N] [--programs N] [--seed S] [--only TEXT] [--page FILE]
                           [--part K/N] [--gpu]

Executes every form of instructions that the decoder takes on a small machine, and compares what it computes with a
reference that shares no code with the simulator: all pairs of edge values, and random ones; of a single operand of 16
bits all values. Then random programs, against an interpreter of single threads. Prints a table of groups.

  --cases N        random cases of a form, default 10000; with 0 a quick selection
  --programs N     random programs, default 1000; of those that differ it prints the numbers, and leaves three in --out,
                   made smaller
  --seed S         of the random numbers, default 1
  --only TEXT      forms whose text contains this, and no programs
  --out FOLDER     default: the current one
  --page FILE      writes docs/conformance.md there
  --part K/N       every N-th of the batches of forms, for N processes, and an N-th of the programs
  --gpu            on this computer's NVIDIA GPU in place of the simulated machine: what the reference says of silicon. Forms
                   that it refuses are listed, and in how many cases it leaves other bits than the simulated machine does,
                   where both may

Exit status 0: no mismatch, and every form has a reference or stands in tests/conformance/elsewhere.lua.
]]

if command_line.helped(arg, help) then return end
local function count(text, _, option) return command_line.whole("conformance", option, text, 0) end
local function part(text, _, option)
  local k, n = text:match "^(%d+)/(%d+)$"
  k, n = math.tointeger(k), math.tointeger(n)
  if not k or k < 1 or k > n then command_line.expected("conformance", option, "K/N with K from 1 to N", text) end
  return { k, n }
end
local options = { cases = 10000, programs = 1000, out = ".", seed = 1, part = { 1, 1 } }
command_line.read("conformance", arg, options, {
  cases = count, programs = count, out = command_line.text, seed = count, only = command_line.text, page = command_line.text,
  part = part, gpu = command_line.flag,
})
if options.gpu and options.page then error("conformance: --page: expected a comparison with the simulated machine, got --gpu", 0) end
options.part, options.parts = table.unpack(options.part)
os.exit(conformance.run(options) and 0 or 1)
