-- warpwright top FOLDER: a run that goes on, as it goes on.
--
-- It asks the run to show its statistics, again and again, and prints what happened between two of these views. The run is asked at
-- boundaries of quanta, where a checkpoint could be made as well: it stays what it is.
local arguments = require "warpwright.arguments"
local core = require "warpwright.core"
local live = require "warpwright.live"

local top = {}

local function usage_error(...) arguments.error("top", ...) end

-- Views --------------------------------------------------------------------------------------------------------------
-- { label =, kernel = texts, sums = { pattern -> value of a counter, or part of a ratio }, wholes = { pattern -> of a ratio },
-- counts = { pattern -> objects }, order = patterns }

--- What the run in a folder shows now, or nil.
local function read_view(folder)
  local view = { sums = {}, wholes = {}, counts = {}, order = {} }
  local whole_file = live.visit(folder, function(name, value, whole, _, doc)
    if name == "live.label" then view.label = doc end
    if name == "live.kernel" then view.kernel = doc end
    local pattern = name:gsub("%[%d+%]", "[*]")
    if not view.counts[pattern] then
      view.order[#view.order + 1] = pattern
      view.counts[pattern], view.sums[pattern] = 0, 0
    end
    view.counts[pattern] = view.counts[pattern] + 1
    view.sums[pattern] = view.sums[pattern] + (whole and whole ~= 0 and value * whole or not whole and value or 0)
    view.wholes[pattern] = whole and (view.wholes[pattern] or 0) + whole
  end)
  return whole_file and view or nil
end

local Change = {}
Change.__index = Change

--- From one view to the next; from the beginning without the first.
local function change_of(before, now) return setmetatable({ before = before, now = now }, Change) end

--- Of a counter: how much it grew, summed over all objects. Of none: 0.
function Change:sum(pattern)
  return (self.now.sums[pattern] or 0) - (self.before and self.before.sums[pattern] or 0)
end

--- Of a ratio, over that time: nil when its whole did not change.
function Change:ratio(pattern)
  local whole = (self.now.wholes[pattern] or 0) - (self.before and self.before.wholes[pattern] or 0)
  return whole > 0 and self:sum(pattern) / whole or nil
end

--- Of two counters.
function Change:quotient(part, whole)
  local divisor = self:sum(whole)
  return divisor > 0 and self:sum(part) / divisor or nil
end

--- Prefixes of the patterns that end so, in the machine's order.
function Change:objects_with(...)
  local found = {}
  for _, pattern in ipairs(self.now.order) do
    local object = pattern:match("^(.*)%." .. (...):gsub("%p", "%%%0") .. "$")
    local has_all = object ~= nil
    for i = 2, select("#", ...) do has_all = has_all and self.now.sums[object .. "." .. select(i, ...)] ~= nil end
    if has_all then found[#found + 1] = object end
  end
  return found
end

-- Pages --------------------------------------------------------------------------------------------------------------

local WIDTH <const> = 40

local function bar(fraction)
  local full = math.floor(math.max(0, math.min(1, fraction)) * WIDTH + 0.5)
  return ("#"):rep(full) .. ("."):rep(WIDTH - full)
end

local function percent(fraction) return fraction and ("%5.1f %%"):format(100 * fraction) or "     -" end

local function number(value, form) return value and (form or "%.1f"):format(value) or "-" end

local function head(change, lines)
  local now, cycles, seconds = change.now, change:sum "run.cycles", change:sum "live.host_seconds"
  local function add(text, ...) lines[#lines + 1] = text:format(...) end
  add("%s", now.label or "")
  add("cycle %d, launches done: %d, %s cycles per second", now.sums["run.cycles"], now.sums["run.launches"],
    number(seconds > 0 and cycles / seconds or nil, "%.0f"))
  if now.kernel and now.kernel ~= "" then
    local done, all = now.sums["live.ctas_done"], now.sums["live.ctas"]
    add("kernel %s, CTA %d of %d  %s", now.kernel, done, all, bar(all > 0 and done / all or 0))
  end
  local function a_cycle(pattern) return number(cycles > 0 and change:sum(pattern) / cycles or nil, "%.3f") end
  add("IPC %s of threads, %s of warps", a_cycle "run.thread_instructions", a_cycle "run.warp_instructions")
end

--- Where the slots of the schedulers went.
local function slots(change, lines)
  local names, sums, all = {}, {}, 0
  for _, pattern in ipairs(change.now.order) do
    local name = pattern:match "%.slots_([%w_]+)$"
    if name then
      if not sums[name] then names[#names + 1], sums[name] = name, 0 end
      sums[name] = sums[name] + change:sum(pattern)
      all = all + change:sum(pattern)
    end
  end
  if all == 0 then return end
  lines[#lines + 1] = ""
  lines[#lines + 1] = "issue slots"
  for _, name in ipairs(names) do
    lines[#lines + 1] = ("  %-14s %s %s"):format(name, percent(sums[name] / all), bar(sums[name] / all))
  end
end

local stops <const> = { "line_fail_cycles", "mshr_entry_fail_cycles", "mshr_merge_fail_cycles", "miss_queue_fail_cycles" }

--- The share of its cycles for which a cache's tags stopped at a reservation fail.
local function stopped_share(change, cache, cycles)
  local stopped = 0
  for _, name in ipairs(stops) do stopped = stopped + change:sum(cache .. "." .. name) end
  return cycles > 0 and stopped / cycles / change.now.counts[cache .. ".hits"] or nil
end

local function caches(change, lines)
  local cycles, rows = change:sum "run.cycles", {}
  for _, cache in ipairs(change:objects_with("hits", "misses", "accesses")) do
    local accesses = change:sum(cache .. ".accesses")
    if accesses > 0 then
      rows[#rows + 1] = ("  %-22s %12d %10.1f  %s  %s  %s"):format(cache, accesses, 1000 * accesses / math.max(1, cycles),
        percent(change:quotient(cache .. ".hits", cache .. ".accesses")),
        percent(change:quotient(cache .. ".misses", cache .. ".accesses")), percent(stopped_share(change, cache, cycles)))
    end
  end
  if not rows[1] then return end
  lines[#lines + 1] = ""
  lines[#lines + 1] = ("%-24s %12s %10s  %7s  %7s  %7s"):format("caches", "accesses", "/kcycle", "hits", "misses", "stopped")
  table.move(rows, 1, #rows, #lines + 1, lines)
end

local function controllers(change, lines)
  local rows = {}
  for _, mc in ipairs(change:objects_with("bandwidth_utilisation", "row_hit_rate", "average_queue_entries")) do
    rows[#rows + 1] = ("  %-22s %12d %10s  %s  %s  %7s"):format(mc, change:sum(mc .. ".reads") + change:sum(mc .. ".writes"),
      number(change:ratio(mc .. ".average_queue_entries")), percent(change:ratio(mc .. ".bandwidth_utilisation")),
      percent(change:ratio(mc .. ".row_hit_rate")), number(change:ratio(mc .. ".average_read_latency"), "%.0f"))
  end
  if not rows[1] then return end
  lines[#lines + 1] = ""
  lines[#lines + 1] = ("%-24s %12s %10s  %7s  %7s  %7s"):format("controllers", "requests", "in queue", "bus", "row hit", "latency")
  table.move(rows, 1, #rows, #lines + 1, lines)
end

--- Lines of what happened from one view to the next, or since the run began.
local function page(before, view)
  local change, lines = change_of(before, view), {}
  head(change, lines)
  slots(change, lines)
  caches(change, lines)
  controllers(change, lines)
  return lines
end

--- The page of what the run in a folder showed last, of all since it began.
function top.page(folder) return table.concat(page(nil, read_view(folder)), "\n") end

-- The terminal -------------------------------------------------------------------------------------------------------

local Screen = {}
Screen.__index = Screen

--- Over the page before, on a terminal; below it elsewhere.
function Screen:draw(lines)
  local on_terminal = core.prints_to_terminal()
  if on_terminal and self.shown then
    io.write(("\27[%dA"):format(self.shown))
  elseif self.shown then
    io.write "\n"
  end
  for _, line in ipairs(lines) do io.write(line, on_terminal and "\27[K\n" or "\n") end
  if on_terminal then io.write "\27[J" end
  io.stdout:flush()
  self.shown = #lines
end

-- The command --------------------------------------------------------------------------------------------------------

local LOOK_SECONDS <const> = 0.02

--- Asks the run for a view that is not the one before; nil when it gave none in that time.
local function next_view(folder, who, before, seconds)
  local good, problem = core.ask_to_show(who.process)
  if not good then core.user_error(("top: %s: process %d cannot be asked: %s"):format(folder, who.process, problem)) end
  for _ = 1, math.ceil(seconds / LOOK_SECONDS) do
    core.sleep(LOOK_SECONDS)
    local view = read_view(folder)
    if view and (not before or view.sums["live.views"] ~= before.sums["live.views"]) then return view end
    if not live.who(folder) then return nil end
  end
end

local function read_arguments(args, first)
  local options, words = arguments.read("top", args, first)
  local every = options.every and (tonumber((options.every:gsub("s$", ""))) or 0) or 1.0
  if every < 0.1 or every > 86400 then usage_error("--every: expected 0.1 s to a day, got '%s'", options.every) end
  options.every, options.folder = every, arguments.one("top", words, "FOLDER", "the FOLDER of a run")
  return options
end

local runs_named <const> = 3

--- "a sweep; at work: FOLDER/runs/NAME, ... and 4 more"
local function sweep_at_work(folder)
  local at_work = {}
  for _, name in ipairs(core.list_folder(folder .. "/runs")) do
    local path = ("%s/runs/%s"):format(folder, name)
    if core.real_path(path .. "/.") and live.who(path) then at_work[#at_work + 1] = path end
  end
  local more = #at_work - runs_named
  return ("a sweep; at work: %s%s"):format(at_work[1] and table.concat(at_work, ", ", 1, math.min(#at_work, runs_named)) or "no run of it",
    more > 0 and (" and %d more"):format(more) or "")
end

--- Who runs in the folder; an error where nobody does, or does so elsewhere.
local function find_run(folder)
  if not core.real_path(folder) then core.user_error(("top: %s: expected the folder of a run, got no such folder"):format(folder)) end
  local who = live.who(folder)
  if not who then
    core.user_error(("top: %s: expected a run that goes on, got %s"):format(folder,
      core.is_file(folder .. "/sweep.lua") and sweep_at_work(folder)
      or core.folder_is_locked(folder) and "one that shows nothing: a script drives it"
      or core.is_file(folder .. "/provenance.txt") and "one that has ended" or "none"))
  end
  local here = core.host().name
  if who.host ~= here then
    core.user_error(("top: %s: expected a run on this computer, %s, got one on %s"):format(folder, here, who.host))
  end
  return who
end

--- Watches until the run ends, or once.
function top.main(args, first)
  local options = read_arguments(args, first)
  local folder, screen, before = options.folder, setmetatable({}, Screen), nil
  local who = find_run(folder)
  while who do
    local view = next_view(folder, who, before, math.max(options.every, 1))
    if view then
      screen:draw(page(before, view))
      before = view
    elseif not before and live.who(folder) then
      screen:draw { "no kernel runs: the host program is at work" }
    end
    if options.once and view then return 0 end
    if view then core.sleep(options.every) end
    who = live.who(folder)
  end
  print(("%s: the run has ended"):format(folder))
  return 0
end

return top
