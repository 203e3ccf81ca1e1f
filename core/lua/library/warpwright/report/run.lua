-- The report of one run: what it was, where its cycles went, what each part of the machine did.
local balance = require "warpwright.balance"
local core = require "warpwright.core"
local cpi = require "warpwright.cpi"
local energy = require "warpwright.energy"
local histograms = require "warpwright.histograms"
local page = require "warpwright.report.page"
local profile = require "warpwright.profile"
local stored_run = require "warpwright.stored_run"

local run_report = {}

local function missing(how) return ('<p class=missing>%s</p>\n'):format(page.escape(how)) end

-- Sums over patterns -----------------------------------------------------------------------------------------------------

--- { order = patterns, sums =, counts = } over all statistics; ratios are averages over objects.
local function by_pattern(run)
  local found = { order = {}, sums = {}, counts = {} }
  for _, name in ipairs(run.list) do
    local pattern, value = name:gsub("%[%d+%]", "[*]"), run.values[name]
    if type(value) == "number" and value == value then
      if not found.sums[pattern] then
        found.order[#found.order + 1], found.sums[pattern], found.counts[pattern] = pattern, 0, 0
      end
      found.sums[pattern], found.counts[pattern] = found.sums[pattern] + value, found.counts[pattern] + 1
    end
  end
  return found
end

--- Objects, as patterns or by path, that have all of these statistics.
local function with_all(order, has, ...)
  local found = {}
  for _, name in ipairs(order) do
    local object = name:match("^(.*)%." .. ((...):gsub("%p", "%%%0")) .. "$")
    local all = object ~= nil
    for i = 2, select("#", ...) do all = all and has(object .. "." .. select(i, ...)) end
    if all then found[#found + 1] = object end
  end
  return found
end

-- Sections ---------------------------------------------------------------------------------------------------------------

local function summary(run)
  local values, rows = run.values, {}
  local function add(name, value) if value ~= nil then rows[#rows + 1] = { name, page.plain(value) } end end
  local function add_statistic(name, statistic)
    local width = run.half_widths[statistic]
    add(name, width and ("%s +-%.3g, estimated"):format(page.plain(values[statistic]), width) or values[statistic])
  end
  for _, name in ipairs { "machine", "workload", "size", "policy", "status" } do add(name, run.provenance[name]) end
  add_statistic("core cycles", "run.cycles")
  add_statistic("simulated seconds", "run.seconds")
  add_statistic("thread instructions per cycle", "run.ipc")
  add_statistic("warp instructions per cycle", "run.warp_ipc")
  add("launches", values["run.launches"])
  for _, name in ipairs { "checks passed", "warpwright", "date", "host seconds" } do add(name, run.provenance[name]) end
  local estimated = next(run.half_widths) and page.paragraph("Estimated by sampling (%s): all numbers of this page but those of launches, CTAs "
    .. "and warp instructions of the whole run are estimates; +- is half of a 95%% interval.", run.provenance.sampled or "?") or ""
  return estimated .. page.table({ "", "" }, rows)
end

--- Rows of stacks with a column for each component that any of them has lost slots to. heads: the first cells of each row, which end
-- with its cycles, by stack.
local function shares(columns, heads, stacks, order, options)
  local rows = heads
  for _, component in ipairs(order) do
    local is_there = false
    for _, stack in ipairs(stacks) do is_there = is_there or (stack.parts[component] or 0) > 0 end
    if is_there then
      columns[#columns + 1] = component
      for i, stack in ipairs(stacks) do
        table.insert(rows[i], stack.all > 0 and page.share((stack.parts[component] or 0) / stack.all) or "-")
      end
    end
  end
  options.class = "narrow" .. (#rows > 8 and " sortable" or "")
  return page.table(columns, rows, options)
end

--- The name of a stack's kernel; of kernels that were launched together those of all. nil behind the last launch.
local function kernels_of(run, stack)
  local names = {}
  for number = stack.launch, stack.last or stack.launch do
    local launch = run.launches[number + 1]
    names[#names + 1] = launch and launch.kernel
  end
  return names[1] and table.concat(names, " + ")
end

--- The launches of each name of a kernel together, in the order of their first ones.
local function by_kernel(run, launch_stacks, order)
  local stacks, of_kernel, heads = {}, {}, {}
  for _, launch in ipairs(launch_stacks) do
    local kernel = kernels_of(run, launch) or "after the last launch"
    local at = of_kernel[kernel]
    if not at then
      at = #stacks + 1
      of_kernel[kernel], stacks[at], heads[at] = at, { parts = {}, all = 0 }, { kernel, 0, 0 }
    end
    local stack, head = stacks[at], heads[at]
    head[2], head[3], stack.all = head[2] + 1, head[3] + launch.cycles, stack.all + launch.all
    for _, component in ipairs(order) do stack.parts[component] = (stack.parts[component] or 0) + (launch.parts[component] or 0) end
  end
  if of_kernel["after the last launch"] then heads[of_kernel["after the last launch"]][2] = "" end
  return shares({ "kernel", "launches", "cycles" }, heads, stacks, order,
    { id = "kernel-stacks", caption = "the launches of each name of a kernel together, with what lies before each of them" })
end

local function by_launch(run, stacks, order)
  local heads = {}
  for i, stack in ipairs(stacks) do
    heads[i] = { stack.launch, kernels_of(run, stack) or "", stack.cycles }
  end
  return shares({ "launch", "kernel", "cycles" }, heads, stacks, order, { id = "stack-by-launch" })
end

local function parts_of(run)
  if not run.stacks then return missing(("By kernel and by launch: %s."):format(run.stack_order)) end
  return by_kernel(run, run.stacks, run.stack_order) .. by_launch(run, run.stacks, run.stack_order)
end

local function cycles(run)
  local whole = cpi.whole_of(run.list, run.values)
  if whole.all == 0 then return missing "No statistics of SMs: run it with --stats all or packed." end
  local total, instructions, rows = run.values["run.cycles"], run.values["run.warp_instructions"], {}
  for _, component in ipairs(whole.order) do
    local slots = whole.parts[component]
    if slots > 0 then
      rows[#rows + 1] = { component, slots * total / whole.all, page.share(slots / whole.all, 2), instructions > 0 and slots / instructions or "" }
    end
  end
  rows[#rows + 1] = { "all", total, "", instructions > 0 and whole.all / instructions or "" }
  run.stacks, run.stack_order = cpi.of_launches(run.path)
  return page.table({ "issue slots", "cycles", "share", "CPI" }, rows, { id = "stack" }) .. parts_of(run)
end

local MOST_LAUNCHES <const> = 12 -- that are columns

--- Where the dispatcher has count_by_kernel: what each launch had of SMs, caches and controllers, and what is of none.
local function had(run)
  local columns, rows = { "" }, {}
  for i, launch in ipairs(run.launches) do columns[i + 1] = ("%d: %s"):format(i - 1, launch.kernel) end
  columns[#columns + 1] = "no kernel"
  for _, name in ipairs(run.list) do
    local of_none = name:match "^run%.no_kernel%.(.*)$"
    local row, is_there = { of_none }, false
    for i = 0, of_none and #run.launches or -1 do
      row[i + 2] = i < #run.launches and run.values[("launch[%d].%s"):format(i, of_none)] or run.values[name]
      is_there = is_there or row[i + 2] ~= 0
    end
    if is_there then rows[#rows + 1] = row end
  end
  if not rows[1] then return "" end
  if #run.launches > MOST_LAUNCHES then
    return page.paragraph("What each launch had is among the statistics; here it stands for up to %d launches.", MOST_LAUNCHES)
  end
  return page.table(columns, rows, { id = "kernel-counts", caption = "what each launch had of SMs, caches and memory controllers" })
end

local function launches(run)
  local rows = {}
  for i, launch in ipairs(run.launches) do
    rows[i] = { i - 1, launch.kernel, launch.start_cycle, launch.cycles, page.share(launch.cycles / math.max(1, run.values["run.cycles"])),
      launch.ctas, launch.ctas_per_sm or "", launch.limited_by or "", launch.warp_instructions, launch.cycles > 0 and launch.thread_instructions / launch.cycles or "" }
  end
  if not rows[1] then return missing "No kernel ran to its end." end
  return page.table({ "launch", "kernel", "start", "cycles", "share", "CTAs", "CTAs per SM", "limited by", "warp instructions", "IPC" }, rows,
    { id = "launch-table", class = #rows > 8 and "sortable" or nil }) .. had(run)
end

local function energy_of_launches(run, total)
  local rows = {}
  for i, stack in ipairs(run.stacks or {}) do
    rows[i] = stack.joules and { stack.launch, kernels_of(run, stack) or "after the last launch", stack.cycles, stack.joules,
      page.share(stack.joules / total) }
  end
  if not rows[1] then
    return missing "By launch: expected intervals that end with each launch; run it with --stats-every 1launch and without --stats-of."
  end
  return page.table({ "launch", "kernel", "cycles", "joules", "share" }, rows, { id = "energy-by-launch", class = #rows > 8 and "sortable" or nil })
end

local function energies(run)
  local total, rows = run.values["energy.total"], {}
  if not total or total == 0 then return missing "No energies: run it with --energy fermi_40nm." end
  local products, is_product = "", {}
  for _, product in ipairs(energy.products) do
    local value = run.values["energy." .. product.name]
    is_product[product.name] = true
    if value then products = products .. page.paragraph("%s: %s %s", product.doc, page.plain(value), product.unit) end
  end
  for _, name in ipairs(run.list) do
    local part, joules = name:match "^energy%.(.*)$", run.values[name]
    if part and joules > 0 and not is_product[part] then rows[#rows + 1] = { part, joules, page.share(joules / total) } end
  end
  return page.table({ "", "joules", "share" }, rows, { id = "energy-table" }) .. products .. energy_of_launches(run, total)
end

--- The places, from 0 on, of the issue slots among the columns of intervals, of objects that have all of them: shares add up to 1.
local function slots_among(columns)
  local known, places = {}, {}
  for _, name in ipairs(columns) do known[name] = true end
  for i, name in ipairs(columns) do
    local object = name:match "^(.*)%.slots_[%w_]+$"
    local is_whole = object and known[object .. ".slots_issued"]
    for _, cause in ipairs(profile.causes) do is_whole = is_whole and known[("%s.slots_%s"):format(object, cause)] end
    if is_whole then places[#places + 1] = i - 1 end
  end
  return places
end

local function intervals(run, data)
  local found = stored_run.read_intervals(run.path)
  if not found and core.is_file(run.path .. "/intervals.csv") then return missing "Its intervals.csv is damaged." end
  if not found or not found[1] then
    return missing "No intervals: run it with --stats-every 10000, or 10000,1launch."
  end
  local columns, rows = {}, {}
  for column in (io.lines(run.path .. "/intervals.csv")() or ""):gmatch "[^,]+" do columns[#columns + 1] = column end
  columns = table.move(columns, 4, #columns, 1, {})
  for i, row in ipairs(found) do
    rows[i] = { row.from, row.to, row.launch or "" }
    for c, name in ipairs(columns) do rows[i][3 + c] = row[name] or "" end
  end
  data.intervals = { columns = columns, rows = rows, slots = slots_among(columns) }
  return ('<p>%d intervals; <code>intervals.csv</code> has them all.</p>\n<div id=draw-intervals></div>\n'):format(#rows)
end

-- The roofline: thread instructions a cycle over thread instructions for each byte of DRAM, both logarithmic ---------------

local LANES <const> = 32

local function roofline_facts(run)
  local bytes, peak = 0, 0
  for _, object in ipairs(with_all(run.list, function(name) return run.values[name] ~= nil end, "useful_utilisation", "read_bytes", "write_bytes")) do
    local moved, share = run.values[object .. ".read_bytes"] + run.values[object .. ".write_bytes"], run.values[object .. ".useful_utilisation"]
    bytes = bytes + moved
    if share > 0 then peak = peak + moved / share end
  end
  local slots = cpi.whole_of(run.list, run.values).all
  local total = run.values["run.cycles"]
  if bytes == 0 or peak == 0 or total == 0 or slots == 0 or run.values["run.thread_instructions"] == 0 then return nil end
  return { peak_ipc = LANES * slots / total, peak_bytes = peak / total, ipc = run.values["run.ipc"],
    intensity = run.values["run.thread_instructions"] / bytes, bytes = bytes / total }
end

local function roofline_svg(f)
  local width, height, left, bottom = 560, 300, 60, 250
  local ridge = f.peak_ipc / f.peak_bytes
  local low, high = math.min(f.intensity, ridge) / 8, math.max(f.intensity, ridge) * 8
  local top, least = f.peak_ipc * 2, math.min(f.ipc, low * f.peak_bytes) / 2
  local function x(value) return left + math.log(value / low) / math.log(high / low) * (width - left - 20) end
  local function y(value) return bottom - math.log(value / least) / math.log(top / least) * (bottom - 20) end
  local lines = { ('<svg class=chart viewBox="0 0 %d %d" role=img style="max-width:36rem"><title>Roofline</title>'):format(width, height) }
  local function add(form, ...) lines[#lines + 1] = form:format(...) end
  add('<path class=axis d="M%d 20V%dH%d"/>', left, bottom, width - 20)
  add('<path class=series d="M%.1f %.1fL%.1f %.1fH%d"/>', x(low), y(low * f.peak_bytes), x(ridge), y(f.peak_ipc), width - 20)
  add('<circle cx="%.1f" cy="%.1f" r="5" fill="currentColor"/>', x(f.intensity), y(f.ipc))
  add('<text x="%.1f" y="%.1f">the run: %.4g</text>', x(f.intensity) + 9, y(f.ipc) + 4, f.ipc)
  add('<text x="%d" y="%.1f" text-anchor=end>issue: %.4g</text>', width - 24, y(f.peak_ipc) - 6, f.peak_ipc)
  local middle = math.sqrt(low * ridge)
  add('<text x="%.1f" y="%.1f">DRAM: %.4g bytes a cycle</text>', x(middle) + 10, y(middle * f.peak_bytes) + 12, f.peak_bytes)
  add('<text x="%d" y="%d" text-anchor=middle>thread instructions for each byte of DRAM (logarithmic): %.4g</text>', (left + width) // 2, bottom + 24, f.intensity)
  add('<text x="20" y="%d" text-anchor=middle transform="rotate(-90 20 %d)">thread instructions a cycle</text>', bottom // 2, bottom // 2)
  return table.concat(lines, "\n") .. "</svg>\n"
end

local function roofline(run)
  local facts = roofline_facts(run)
  if not facts then return missing "No instruction was executed, nothing was read from or written to DRAM, or there are no statistics of it." end
  local limit = math.min(facts.peak_ipc, facts.intensity * facts.peak_bytes)
  return roofline_svg(facts) .. page.table({ "", "the run", "limit", "of it" }, {
    { "thread instructions a cycle", facts.ipc, limit, page.share(facts.ipc / limit) },
    { "DRAM bytes a core cycle", facts.bytes, facts.peak_bytes, page.share(facts.bytes / facts.peak_bytes) },
  })
end

-- Caches, DRAM, what stood still ------------------------------------------------------------------------------------------

local fails <const> = { { "line", "line_fail_cycles" }, { "MSHR", "mshr_entry_fail_cycles" }, { "merge", "mshr_merge_fail_cycles" },
  { "miss queue", "miss_queue_fail_cycles" } }

local function caches(run)
  local sums, counts, rows = run.patterns.sums, run.patterns.counts, {}
  for _, cache in ipairs(with_all(run.patterns.order, function(name) return sums[name] ~= nil end, "hits", "misses", "accesses")) do
    local function of(name) return sums[cache .. "." .. name] or 0 end
    local accesses = of "accesses"
    if accesses > 0 then
      local cells = { cache, counts[cache .. ".hits"], accesses, page.share(of "hits" / accesses), page.share(of "merges" / accesses),
        page.share(of "misses" / accesses), of "evictions", of "write_backs" }
      for _, fail in ipairs(fails) do
        cells[#cells + 1] = of(fail[2]) / math.max(1, run.values["run.cycles"]) / counts[cache .. ".hits"] * 100
      end
      rows[#rows + 1] = cells
    end
  end
  if not rows[1] then return missing "No cache was accessed, or there are no statistics of caches." end
  local columns = { "cache", "of them", "accesses", "hits", "merges", "misses", "evictions", "write-backs" }
  for _, fail in ipairs(fails) do columns[#columns + 1] = fail[1] .. " fail %" end
  return page.table(columns, rows, { id = "cache-table", caption = "fail: share of its cycles in which the tags stood at this reservation fail" })
end

local function dram(run)
  local rows, values = {}, run.values
  for i, mc in ipairs(with_all(run.list, function(name) return values[name] ~= nil end, "bandwidth_utilisation", "row_hit_rate", "reads")) do
    local function of(name) return values[("%s.%s"):format(mc, name)] end
    rows[i] = { mc, of "reads", of "writes", page.share(of "bandwidth_utilisation"), page.share(of "row_hit_rate"), of "row_conflicts",
      of "activates", of "average_queue_entries", of "average_read_latency" }
  end
  if not rows[1] then return missing "No memory controller, or no statistics of them." end
  return page.table({ "controller", "reads", "writes", "bus busy", "row hits", "row conflicts", "activates", "in queue", "read latency" },
    rows, { id = "dram-table" })
end

local function spread(run)
  local parts = {}
  for i, group in ipairs(balance.of(run.list, run.values)) do
    local columns, rows = { "", group.columns[1], "share", table.unpack(group.columns, 2) }, {}
    for k, row in ipairs(group.rows) do
      rows[k] = { row.path, row.requests, page.share(row.share) }
      for c = 2, #group.columns do rows[k][c + 2] = page.share(row.shares[c - 1]) end
    end
    parts[i] = page.table(columns, rows, { id = "balance-" .. i, caption = balance.title(group), class = #rows > 8 and "sortable" or nil })
  end
  return parts[1] and table.concat(parts) or missing "No requests at several controllers or slices, or no statistics of them."
end

local function stood_still(run)
  local rows = {}
  for _, pattern in ipairs(run.patterns.order) do
    local is_stop = pattern:find "fail_cycles$" or pattern:find "stall_cycles$" or pattern:find "full_cycles$"
      or pattern:find "bank_conflict_cycles$"
    local each = is_stop and run.patterns.sums[pattern] / run.patterns.counts[pattern] or 0
    if each > 0 then rows[#rows + 1] = { pattern, each, page.share(each / math.max(1, run.values["run.cycles"])) } end
  end
  table.sort(rows, function(a, b)
    if a[2] ~= b[2] then return a[2] > b[2] end
    return a[1] < b[1]
  end)
  if not rows[1] then return missing "Nothing." end
  return page.table({ "", "cycles of each object", "of the run's" }, table.move(rows, 1, math.min(#rows, 15), 1, {}))
end

local function hot_lines(run)
  local tables = profile.hottest(run.path, 20)
  if not tables then return missing "No profile: run it with --profile." end
  local parts, beginning = {}, stored_run.beginning_of(run.path, "profile")
  for i, of in ipairs(tables) do
    for _, row in ipairs(of.rows) do
      row[2] = page.share(tonumber((row[2]:gsub("%%", ""))) / 100, 2)
      table.insert(row, 3, table.remove(row, #of.columns)) -- what it is, where it is seen first
    end
    table.insert(of.columns, 3, table.remove(of.columns))
    parts[i] = ("<h3>%s: %d slots%s</h3>\n"):format(page.escape(of.kernel), of.slots, page.escape(beginning)) .. page.table(of.columns, of.rows)
  end
  return table.concat(parts)
end

--- A bar for each bucket, of the fullest one's height; the buckets lie beside each other whatever they hold.
local function bucket_picture(one)
  local most, width, bars = 1, 150, {}
  for _, bucket in ipairs(one.buckets) do most = math.max(most, bucket.count) end
  local each = width / math.max(1, #one.buckets)
  for i, bucket in ipairs(one.buckets) do
    local height = 22 * bucket.count / most
    bars[i] = ('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="currentColor"/>'):format((i - 1) * each, 22 - height,
      math.max(0.5, each - 0.5), height)
  end
  return { html = ('<svg width=%d height=22 role=img><title>%d buckets from %s to %s</title>%s</svg>'):format(width, #one.buckets,
    page.plain(one.buckets[1] and one.buckets[1].from or 0), page.plain(one.max or 0), table.concat(bars)) }
end

local function distributions(run)
  local list, rows = histograms.read(run.path), {}
  if list == nil then return missing "No histograms: run it with --histograms all." end
  if not list then return missing "Its histograms.csv is damaged." end
  for i, one in ipairs(list) do
    rows[i] = { one.name, one.unit, one.count, one.p50 or "", one.p90 or "", one.p99 or "", one.max or "", bucket_picture(one) }
  end
  local beginning = stored_run.beginning_of(run.path, "histograms")
  return page.table({ "", "unit", "count", "p50", "p90", "p99", "largest", "buckets" }, rows, { id = "histogram-table",
    class = #rows > 8 and "sortable" or nil, caption = beginning ~= "" and "counted" .. beginning or nil })
end

-- The machine ---------------------------------------------------------------------------------------------------------------

--- What an object did: the first of these of which it has statistics.
local function note_of_run(run)
  local sums, counts = run.patterns.sums, run.patterns.counts
  return function(path)
    local pattern = path:gsub("%[%d+%]", "[*]")
    local function of(name) return sums[pattern .. "." .. name] end
    local function mean(name) return of(name) and of(name) / counts[pattern .. "." .. name] end
    local total = run.values["run.cycles"]
    if of "slots_issued" then
      local slots = 0
      for _, name in ipairs(run.patterns.order) do
        if name:sub(1, #pattern + 7) == pattern .. ".slots_" then slots = slots + sums[name] end
      end
      return slots > 0 and { text = ("issues %.1f %%"):format(100 * of "slots_issued" / slots), share = of "slots_issued" / slots } or nil
    elseif of "bandwidth_utilisation" then
      return { text = ("bus busy %.1f %%"):format(100 * mean "bandwidth_utilisation"), share = mean "bandwidth_utilisation" }
    elseif of "hits" and of "accesses" and of "accesses" > 0 then
      return { text = ("hits %.1f %%"):format(100 * of "hits" / of "accesses"), share = of "hits" / of "accesses" }
    elseif of "stall_cycles" and total > 0 then
      return { text = ("stalls %.1f %%"):format(100 * mean "stall_cycles" / total), share = mean "stall_cycles" / total }
    end
  end
end

local function picture(run)
  local text = stored_run.read_config(run.path)
  if not text then return missing "No config.lua." end
  local ok, svg = pcall(function()
    local path = os.tmpname()
    local file = assert(io.open(path, "wb"))
    file:write(text)
    file:close()
    local machine, drawing, load = require "warpwright.machine", require "warpwright.drawing", require "warpwright.load"
    local built, drawn = pcall(function()
      local description = load.get("config", path)
      local m = machine.build(description, {})
      local found = drawing.svg(run.provenance.machine or description.name, m, note_of_run(run))
      m:close()
      return found
    end)
    os.remove(path)
    assert(built, drawn)
    return drawn
  end)
  if not ok then return missing("The machine of config.lua cannot be built here: " .. tostring(svg)) end
  return '<div class=machine>' .. svg .. '</div>\n<p>In each box: what its objects did, as a number and as a bar.</p>\n'
end

-- The whole -----------------------------------------------------------------------------------------------------------------

--- The report of the run in a folder, as a page.
function run_report.of(path)
  local run = { path = path, provenance = stored_run.read_provenance(path) }
  run.list, run.values, run.half_widths = stored_run.read_stats(path, "report", "the folder of a run that has ended, or of a sweep")
  if not run.values["run.cycles"] or not run.values["run.ipc"] then core.user_error(("report: %s: expected the statistics of a run, got others"):format(path)) end
  run.patterns, run.launches = by_pattern(run), stored_run.read_launches(path)
  local made = page.new(("%s, %s %s, %s"):format(run.provenance.machine or "?", run.provenance.workload or "?",
    (run.provenance.size or "?"):match "^%S+", run.provenance.policy or "?"))
  made:section("summary", "Summary", summary(run))
  made:section("cycles", "Where the cycles went", cycles(run))
  made:section("stood-still", "What stood still", stood_still(run))
  made:section("machine", "The machine", picture(run))
  made:section("over-time", "Over time", intervals(run, made.data))
  made:section("launches", "Launches", launches(run))
  made:section("roofline", "Roofline", roofline(run))
  made:section("caches", "Caches", caches(run))
  made:section("dram", "DRAM", dram(run))
  made:section("balance", "Balance of controllers and slices", spread(run))
  made:section("energy", "Energy", energies(run))
  made:section("distributions", "Distributions", distributions(run))
  made:section("lines", "Hottest lines", hot_lines(run))
  return made
end

return run_report
