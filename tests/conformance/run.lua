-- Compares every form of instructions with its reference; `help` says how it is called.
local command_line = require "scripts.lib.command_line"
local conformance = require "tests.conformance.conformance"

local help = [[
usage: scripts/conformance [--cases N] [--programs N] [--seed S] [--only TEXT] [--markdown FILE]

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

Exit status 0: no mismatch, and every form has a reference or stands in tests/conformance/elsewhere.lua.
]]

if command_line.helped(arg, help) then return end
local function count(text, _, option) return command_line.whole("conformance", option, text, 0) end
local options = { cases = 10000, programs = 1000, out = ".", seed = 1 }
command_line.read("conformance", arg, options, {
  cases = count, programs = count, out = command_line.text, seed = count, only = command_line.text, page = command_line.text,
})
os.exit(conformance.run(options) and 0 or 1)
