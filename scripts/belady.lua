-- Misses of the L1 data caches under Belady's optimal replacement, over the traces of runs. `help`
-- below says how it is called.
local ww = require "warpwright"
local core = require "warpwright.core"
local child = require "scripts.lib.child"
local command_line = require "scripts.lib.command_line"
local inputs = require "warpwright.inputs"
local json = require "warpwright.json"
local preparation = require "scripts.lib.preparation"
local replay = require "scripts.lib.replay"

local help = [[
usage: scripts/belady [options] CONFIG WORKLOAD
       scripts/belady [options] --trace FOLDER

Runs a workload under each policy, records what the L1 data caches are asked for, and replays it: as it was measured, under
LRU and under Belady's optimal replacement (OPT). Or replays traces that a run under policy trace_l1 has left in FOLDER.
Misses are those of reads and of writes that take a line. MPKI: per 1000 thread instructions.

Slices of the L2 are not replayed: a trace has the addresses of lines, and a slice chooses its sets by those within the slice;
and it lacks the lines that copies from the host leave there, those that atomics take, and when a request that bypasses drops
its line. How far apart their lines are used again, scripts/reuse_distance tells of them, too.

  measured       what the cache did
  LRU as timed   LRU, each line there when its fill came: the same as measured where the cache replaced by LRU, took its
                 lines on misses, was never switched off and recorded from the first access on; of the measured geometry
  LRU, OPT       each line there at once, so that nothing merges: what is left is replacement

  --policies A,B,...   default lrr,gto,ccws
  --size SIZE          of the workload, default small
  --set PATH=VALUE     changes the machine; may be repeated
  --cache SIZE         of another L1, and --ways N: that one is replayed; sets are then indexed linearly
  --index-masks MASKS  and by these: "0x80,0x100"
  --sms                a row for each SM, too
  --keep FOLDER        leaves the traces there, in a folder for each policy
  --json FILE          writes the figures
]]

local function usage_error(...) command_line.error("belady", ...) end

-- What the replay calls the options.
local options_of_replay = { ["replay.size"] = "--cache", ["replay.ways"] = "--ways", ["replay.index_masks"] = "--index-masks" }

--- Calls the function; its errors name the options.
local function naming_options(call, ...)
  local ok, result = pcall(call, ...)
  if ok then return result end
  usage_error("%s", (core.thrown_text(result):gsub("^.* (replay%.[%w_]+)", options_of_replay)))
end

--- The folder must have traces.
local function replay_folder(options, folder)
  return naming_options(replay.folder, folder, options) or usage_error("%s: expected a folder with traces, got one without", folder)
end

-- Printing ----------------------------------------------------------------------------------------

local function cell(row, kind)
  local counts = row[kind]
  if not counts then return ("%22s"):format "-" end
  local accesses = counts.hits + counts.misses + counts.merges
  return ("%13d %7.2f%%"):format(counts.misses, accesses > 0 and 100 * counts.misses / accesses or 0)
end

local function print_head(width)
  print(("%-" .. width .. "s %11s %22s %22s %22s %22s %18s"):format("", "accesses", "measured misses", "LRU as timed", "LRU",
    "OPT", "MPKI, LRU / OPT"))
end

local function print_row(width, name, row, instructions)
  local counts, mpki = row.measured, ""
  if instructions then
    mpki = ("%8.3f %8.3f"):format(1000 * row.lru.misses / instructions, 1000 * row.optimal.misses / instructions)
  end
  local cells = {}
  for i, kind in ipairs(replay.kinds) do cells[i] = cell(row, kind) end
  print(("%-" .. width .. "s %11d %s %18s"):format(name, counts.hits + counts.misses + counts.merges, table.concat(cells, " "),
    mpki))
  io.stdout:flush()
end

local function print_result(options, width, name, result)
  print_row(width, name, result.all, result.instructions)
  if not options.sms then return end
  for _, row in ipairs(result.rows) do print_row(width, "  " .. row.name, row) end
end

-- Running -----------------------------------------------------------------------------------------

local function run(options, policy, folder)
  local traces = ("%s/%s"):format(folder, (policy:gsub("[^%w_.-]", "_")))
  inputs.make_folders(traces)
  local r = ww.run { config = options.config, workload = options.workload, size = options.size, set = options.set,
    policy = { policy, "trace_l1:folder=" .. traces }, out = false }
  local result = replay_folder(options, traces)
  result.policy, result.cycles, result.instructions = policy, r.cycles, r.thread_instructions
  return result
end

local function check(options)
  preparation.check { config = options.config, set = options.set, size = options.size, workloads = { options.workload },
    policies = options.policies }
  local sim = ww.build(options.config, { set = options.set })
  naming_options(replay.check, sim, options)
  sim:close()
end

local function run_all(options)
  check(options)
  local folder, results, width = options.keep or os.tmpname(), {}, 8
  if not options.keep then os.remove(folder) end
  for _, policy in ipairs(options.policies) do width = math.max(width, #policy) end
  if options.sms then width = math.max(width, 16) end
  print_head(width)
  local ok, problem = pcall(function()
    for i, policy in ipairs(options.policies) do
      results[i] = run(options, policy, folder)
      print_result(options, width, policy, results[i])
    end
  end)
  if not options.keep then os.execute("rm -rf " .. child.quoted(folder)) end
  if not ok then error(problem, 0) end
  return results
end

--- Rogers et al., Figure 10: a good scheduler with LRU against poor ones with OPT.
local function print_claim(results)
  local best
  for _, r in ipairs(results) do
    if not best or r.all.lru.misses / r.instructions < best.all.lru.misses / best.instructions then best = r end
  end
  for _, r in ipairs(results) do
    if r ~= best then
      local lru, optimal = 1000 * best.all.lru.misses / best.instructions, 1000 * r.all.optimal.misses / r.instructions
      print(("%s with LRU %s %s with OPT: %.3f against %.3f MPKI"):format(best.policy,
        lru < optimal and "misses less than" or "does not miss less than", r.policy, lru, optimal))
    end
  end
end

local function main(options)
  local results
  if options.trace then
    local width = options.sms and 16 or 8
    results = { replay_folder(options, options.trace) }
    print_head(width)
    print_result(options, width, "all", results[1])
  else
    results = run_all(options)
    print_claim(results)
  end
  if options.json then json.write(options.json, results) end
end

-- Command line ------------------------------------------------------------------------------------

local readers = {
  policies = command_line.policies, size = command_line.text, set = command_line.list, keep = command_line.text,
  trace = command_line.text, json = command_line.output, sms = command_line.flag, ["index-masks"] = command_line.text,
  cache = function(text) return core.quantity(text, "bytes") end,
  ways = command_line.count(1),
}

local function read_arguments(args)
  local options = { set = {}, size = "small", policies = { "lrr", "gto", "ccws" } }
  local words = command_line.read("belady", args, options, readers)
  if #words ~= (options.trace and 0 or 2) then command_line.expected_arguments("belady", options.trace and "nothing besides --trace FOLDER" or "CONFIG and WORKLOAD, or --trace FOLDER", #words) end
  options.config, options.workload, options.index_masks = words[1], words[2], options["index-masks"]
  return options
end

if command_line.helped(arg, help) then return end
main(read_arguments(arg))
