-- What torture leaves of a failure: a machine file, the commands that repeat it, and the settings.
local case = require "scripts.lib.torture.case"
local child = require "scripts.lib.child"
local leg = require "scripts.lib.torture.leg"
local machine = require "scripts.lib.torture.machine"
local names = require "warpwright.names"
local work = require "scripts.lib.torture.work"

local finding = {}

--- `warpwright run` with the arguments of one run.
local function run_words(program, path, what, mode, out)
  local words = { program, "run", path, what.name, "--size", work.size_text(what) }
  local function add(...) table.move({ ... }, 1, select("#", ...), #words + 1, words) end
  if what.policy then add("--policy", what.policy) end
  if mode.order ~= "path" then add("--order", mode.order) end
  if mode.threads ~= 1 then add("--threads", tostring(mode.threads)) end
  add("--out", out)
  return words
end

--- The commands that show it, a line each.
function finding.commands(path, settings, failure)
  local what, mode = work.of(settings), failure.mode
  if what.traffic then return { ("scripts/torture --settings %s"):format((path:gsub("%.lua$", ".settings"))) } end
  local plain, lines = { order = "path", threads = 1 }, {}
  local function add(words, more)
    if more then table.move(more, 1, #more, #words + 1, words) end
    lines[#lines + 1] = names.command_line(words)
  end
  local function program(there) return ("build/%s/warpwright"):format(there and mode.build or "opt") end
  add(run_words(program(), path, what, plain, "a"))
  if mode.kind == "self" then return lines end
  if mode.kind == "order" or mode.kind == "build" then
    add(run_words(program(true), path, what, mode, "b"))
  else
    add(run_words(program(mode.kind == "resume here"), path, what, mode.saving, "b"), { "--checkpoint-at", tostring(mode.at) })
    if mode.kind ~= "save" then
      local function resume(from, to, how, there, at)
        lines[#lines + 1] = ("%s run --resume %s/*.ckpt --order %s --threads %d%s --out %s"):format(program(there), from,
          how.order, how.threads, at and " --checkpoint-at " .. at or "", to)
      end
      resume("b", "c", mode, mode.kind == "resume there", mode.again and mode.again.at)
      if mode.again then resume("c", "d", mode.again) end
    end
  end
  lines[#lines + 1] = ("diff a/stats.txt %s/stats.txt"):format(mode.again and "d" or mode.kind:find "^resume" and "c" or "b")
  return lines
end

--- Writes FOLDER/NUMBER.lua, a machine with a head that says what is wrong with it, NUMBER.settings
-- for --settings, and NUMBER.txt, what a crashed or hanging run printed; returns the first's path.
function finding.write(folder, number, settings, failure, repeat_with, note)
  local path, what = ("%s/%d.lua"):format(folder, number), work.of(settings)
  local plan = machine.plan(settings, what.needs)
  local lines = {
    ("-- %s: %s\n"):format(failure.kind, case.mode_text(failure.mode)),
    ("-- %s\n"):format(failure.what:gsub("\n", "\n--   ")),
    ("-- Found by %s; %s.\n--\n"):format(repeat_with, note),
  }
  for _, line in ipairs(finding.commands(path, settings, failure)) do lines[#lines + 1] = "--   " .. line .. "\n" end
  lines[#lines + 1] = "--\n-- Settings:\n"
  for _, setting in ipairs(settings) do lines[#lines + 1] = ("--   %s = %s\n"):format(setting[1], tostring(setting[2])) end
  leg.write_file(path, table.concat(lines) .. machine.text(plan, "torture"))
  leg.write_file(("%s/%d.settings"):format(folder, number), "return " .. leg.literal(settings) .. "\n")
  if failure.printed then leg.write_file(("%s/%d.txt"):format(folder, number), failure.printed) end
  return path
end

finding.remove_folder = function(folder) os.execute("rm -rf " .. child.quoted(folder)) end

return finding
