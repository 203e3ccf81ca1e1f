-- What a run with --profile has counted by instruction: its files, and warpwright profile, which reads them.
local arguments = require "warpwright.arguments"
local core = require "warpwright.core"
local csv = require "warpwright.csv"
local inputs = require "warpwright.inputs"
local output = require "warpwright.output"
local stored_run = require "warpwright.stored_run"
local text_table = require "warpwright.sweep.table"

local profile = {}

local function usage_error(...) arguments.error("profile", ...) end

-- Files of a run's folder ---------------------------------------------------------------------------------------------

--- Causes of lost slots, in the order of the SM's statistics.
profile.causes = { "idle", "fetch", "scoreboard", "memory", "barrier", "unit", "lsu", "policy", "dma" }

local results <const> = { "hits", "misses", "merges" }

local function slot_columns(columns)
  for _, name in ipairs { "issues", "threads" } do columns[#columns + 1] = name end
  for _, cause in ipairs(profile.causes) do columns[#columns + 1] = "lost_" .. cause end
  return columns
end

local function add_slots(row, of)
  row[#row + 1] = of.issues
  row[#row + 1] = of.threads
  for _, cause in ipairs(profile.causes) do row[#row + 1] = of.slots[cause] end
  return row
end

local function instructions_csv(found)
  local columns, rows = slot_columns { "kernel", "pc", "line", "file", "source_line", "opcode", "text" }, {}
  for _, group in ipairs(found.groups) do
    for _, name in ipairs(results) do columns[#columns + 1] = ("%s.%s"):format(group, name) end
  end
  for _, kernel in ipairs(found.kernels) do
    for _, of in ipairs(kernel.instructions) do
      local row = add_slots({ kernel.name, of.pc or "", of.line or "", of.file or "", of.source_line or "", of.opcode or "",
        of.text or "" }, of)
      for _, accesses in ipairs(of.accesses) do
        for _, name in ipairs(results) do row[#row + 1] = accesses and accesses[name] or 0 end
      end
      rows[#rows + 1] = row
    end
  end
  return text_table.csv(columns, rows)
end

local function warps_csv(found)
  local columns, rows = slot_columns { "kernel", "warp" }, {}
  for _, kernel in ipairs(found.kernels) do
    for i, of in ipairs(kernel.warps) do rows[#rows + 1] = add_slots({ kernel.name, i - 1 }, of) end
  end
  return text_table.csv(columns, rows)
end

local cta_columns <const> = { "launch", "x", "y", "z", "sm", "slot", "from", "to", "warp_instructions" }

local function ctas_csv(found)
  local rows = {}
  for i, cta in ipairs(found.ctas) do
    rows[i] = {}
    for c, name in ipairs(cta_columns) do rows[i][c] = cta[name] or "" end
  end
  return text_table.csv(cta_columns, rows)
end

local access_columns <const> = { "loads", "stores", "atomics", "hits", "misses", "merges" }

local function allocations_csv(found)
  local columns, rows = { "allocation", "address", "bytes", "name" }, {}
  for _, group in ipairs(found.groups) do
    for _, name in ipairs(access_columns) do columns[#columns + 1] = ("%s.%s"):format(group, name) end
  end
  for i, of in ipairs(found.allocations) do
    rows[i] = { i - 1, of.address and ("0x%x"):format(of.address) or "", of.bytes or "", of.name }
    for _, accesses in ipairs(of.accesses) do
      for _, name in ipairs(access_columns) do table.insert(rows[i], accesses and accesses[name] or 0) end
    end
  end
  return text_table.csv(columns, rows)
end

--- `found`: of core.profile().
function profile.files(found)
  return {
    { name = "profile.csv", text = instructions_csv(found) },
    { name = "profile_warps.csv", text = warps_csv(found) },
    { name = "profile_ctas.csv", text = ctas_csv(found) },
    { name = "profile_allocations.csv", text = allocations_csv(found) },
  }
end

-- Reading them --------------------------------------------------------------------------------------------------------

--- Columns that each file must have: whole numbers, those that may be empty, and others. Each group of caches has so many beside
-- them.
local contents <const> = {
  ["profile.csv"] = { numbers = slot_columns {}, or_nothing = { "pc", "line", "source_line" }, others = { "kernel", "file", "text" }, counts = 3 },
  ["profile_warps.csv"] = { numbers = slot_columns { "warp" }, or_nothing = {}, others = { "kernel" } },
  ["profile_ctas.csv"] = { numbers = { "launch", "x", "y", "z", "slot", "from", "warp_instructions" }, or_nothing = { "to" }, others = { "sm" } },
  ["profile_allocations.csv"] = { numbers = { "allocation" }, or_nothing = { "address", "bytes" }, others = { "name" }, counts = 6 },
}

local is_count_of_cache <const> = { hits = true, misses = true, merges = true, loads = true, stores = true, atomics = true }

local function is_row(row, wanted)
  for _, column in ipairs(wanted.numbers) do
    if math.type(row[column]) ~= "integer" then return false end
  end
  for _, column in ipairs(wanted.or_nothing) do
    if row[column] ~= "" and math.type(row[column]) ~= "integer" then return false end
  end
  for _, column in ipairs(wanted.others) do
    if row[column] == nil then return false end
  end
  for column, value in pairs(row) do
    local is_of_cache = column:match "%.(%l+)$"
    if is_count_of_cache[is_of_cache] and math.type(value) ~= "integer" then return false end
  end
  return true
end

--- What a run has written; nil without the file, false where it is damaged.
local function read_rows(path, name)
  local rows, columns = csv.read(path .. "/" .. name)
  for _, row in ipairs(rows or {}) do
    if not is_row(row, contents[name]) then return false end
  end
  local of_group = {} -- hits come with misses and merges, those of allocations with loads, stores and atomics, too
  for _, column in ipairs(columns or {}) do
    local group, count = column:match "^(.*)%.(%l+)$"
    if is_count_of_cache[count] then of_group[group] = (of_group[group] or 0) + 1 end
  end
  for _, count in pairs(of_group) do
    if count ~= contents[name].counts then return false end
  end
  return rows, columns
end

--- Rows by column, numbers where they are; and the columns.
local function read_csv(path, name)
  local rows, columns = read_rows(path, name)
  if rows == nil then core.user_error(("profile: %s: expected a run with --profile, got no %s"):format(path, name)) end
  if not rows then core.user_error(("profile: %s/%s: expected what a run has written, got a damaged file"):format(path, name)) end
  return rows, columns
end

--- Its slots: issued and lost.
local function slots_of(row)
  local all = row.issues
  for _, cause in ipairs(profile.causes) do all = all + row["lost_" .. cause] end
  return all
end

--- Groups of caches that the columns name.
local function groups_of(columns)
  local groups = {}
  for _, column in ipairs(columns) do groups[#groups + 1] = column:match "^(.*)%.hits$" end
  return groups
end

--- { name =, rows =, all = slots, issues = } of each kernel, in order; those of one name are told apart by where their pc begins again.
local function kernels_of(rows)
  local kernels = {}
  local last
  for _, row in ipairs(rows) do
    if not last or row.pc == 0 or row.kernel ~= last.name then
      last = { name = row.kernel, rows = {}, all = 0, issues = 0 }
      kernels[#kernels + 1] = last
    end
    last.rows[#last.rows + 1] = row
    last.all, last.issues = last.all + slots_of(row), last.issues + row.issues
  end
  return kernels
end

--- Gives each of them its rows of profile_warps.csv, which has the kernels in the same order; one that issued nothing has none there.
local function give_warps(kernels, rows)
  local i = 1
  for _, kernel in ipairs(kernels) do
    kernel.warps = {}
    while kernel.issues > 0 and rows[i] and rows[i].kernel == kernel.name and (rows[i].warp > 0 or not kernel.warps[1]) do
      kernel.warps[#kernel.warps + 1] = rows[i]
      i = i + 1
    end
  end
end

--- By line of the source: a row for each, with the sums of its instructions.
local function by_source(kernel)
  local lines, found = {}, {}
  for _, row in ipairs(kernel.rows) do
    local key = row.pc == "" and "" or row.file ~= "" and ("%s:%d"):format(row.file, row.source_line) or "?"
    local line = found[key]
    if not line then
      line = { pc = row.pc, file = row.file, source_line = row.source_line, place = key }
      found[key] = line
      lines[#lines + 1] = line
    end
    for column, value in pairs(row) do
      if column == "issues" or column == "threads" or column:find "^lost_" or column:find "%.hits$" or column:find "%.misses$"
        or column:find "%.merges$" then
        line[column] = (line[column] or 0) + value
      end
    end
  end
  return lines
end

--- The text of a line of a source file, where it is found.
local function source_text(cache, row)
  if row.file == nil or row.file == "" then return "" end
  if cache[row.file] == nil then
    local lines = {}
    for line in ((inputs.read_file(row.file) or "") .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
    cache[row.file] = lines
  end
  return ((cache[row.file][row.source_line] or ""):gsub("^%s+", ""))
end

-- Tables --------------------------------------------------------------------------------------------------------------

--- "lsu 80% memory 15%": what its lost slots went to.
local function lost_text(row)
  local list, all = {}, slots_of(row)
  for _, cause in ipairs(profile.causes) do
    local slots = row["lost_" .. cause]
    if slots > 0.005 * all then list[#list + 1] = { cause = cause, slots = slots } end
  end
  table.sort(list, function(a, b)
    if a.slots ~= b.slots then return a.slots > b.slots end
    return a.cause < b.cause
  end)
  local words = {}
  for i = 1, math.min(2, #list) do words[i] = ("%s %.0f%%"):format(list[i].cause, 100 * list[i].slots / all) end
  return table.concat(words, " ")
end

local function accesses_of(row, group) return row[group .. ".hits"] + row[group .. ".misses"] + row[group .. ".merges"] end

--- Groups in which a kernel's instructions have counted anything.
local function groups_at_work(kernel, groups)
  local found = {}
  for _, group in ipairs(groups) do
    for _, row in ipairs(kernel.rows) do
      if accesses_of(row, group) > 0 then
        found[#found + 1] = group
        break
      end
    end
  end
  return found
end

local function columns_of(groups, last)
  local columns = { "slots", "share", "issues", "lanes", "lost to" }
  for i, group in ipairs(groups) do
    if i == 1 then columns[#columns + 1] = "accesses" end
    columns[#columns + 1] = group .. " hits"
  end
  columns[#columns + 1] = last
  return columns
end

--- A row of the table: of an instruction, a line of the source, a warp.
local function cells_of_row(row, all, groups, last)
  local slots = slots_of(row)
  local cells = { slots, ("%.2f%%"):format(all > 0 and 100 * slots / all or 0), row.issues,
    row.issues > 0 and ("%.1f"):format(row.threads / row.issues) or "", lost_text(row) }
  for i, group in ipairs(groups) do
    local accesses = accesses_of(row, group)
    if i == 1 then cells[#cells + 1] = row.issues > 0 and accesses > 0 and ("%.2f"):format(accesses / row.issues) or "" end
    cells[#cells + 1] = accesses > 0 and ("%.1f%%"):format(100 * row[group .. ".hits"] / accesses) or ""
  end
  cells[#cells + 1] = last
  return cells
end

local function hottest(rows, count)
  local sorted = table.move(rows, 1, #rows, 1, {})
  table.sort(sorted, function(a, b)
    local of_a, of_b = slots_of(a), slots_of(b)
    if of_a ~= of_b then return of_a > of_b end
    return (tonumber(a.pc) or math.huge) < (tonumber(b.pc) or math.huge)
  end)
  while count > 0 and #sorted > count or sorted[1] and slots_of(sorted[#sorted]) == 0 do sorted[#sorted] = nil end
  return sorted
end

local NOBODY <const> = "(no warp)"

--- The columns and rows of a kernel's table, as options say.
local function table_of(kernel, groups, options, sources)
  local rows, at_work = {}, groups_at_work(kernel, groups)
  local list = options.source and by_source(kernel) or kernel.rows
  for i, row in ipairs(options.ptx and list or hottest(list, options.top)) do
    local place = row.pc == "" and NOBODY
      or options.source and ("%s  %s"):format(row.place == "?" and "(no .loc)" or row.place, source_text(sources, row))
      or ("%d: %s"):format(row.line, row.text)
    rows[i] = cells_of_row(row, kernel.all, at_work, place)
  end
  return columns_of(at_work, options.source and "source line" or "PTX line"), rows
end

local function warps_table(kernel)
  local list, all = {}, 0
  for _, row in ipairs(kernel.warps) do all = all + slots_of(row) end
  for i, row in ipairs(kernel.warps) do list[i] = cells_of_row(row, all, {}, row.warp) end
  return columns_of({}, "warp of its CTA"), list
end

local function ctas_table(rows, count)
  local list = {}
  for _, row in ipairs(rows) do
    if row.to ~= "" then
      list[#list + 1] = { row.launch, ("(%d, %d, %d)"):format(row.x, row.y, row.z), row.sm, row.slot, row.from, row.to, row.to - row.from,
        row.warp_instructions }
    end
  end
  table.sort(list, function(a, b)
    if a[7] ~= b[7] then return a[7] > b[7] end
    return a[5] < b[5] or a[5] == b[5] and a[3] < b[3] or a[5] == b[5] and a[3] == b[3] and a[4] < b[4]
  end)
  while count > 0 and #list > count do list[#list] = nil end
  return { "launch", "CTA", "SM", "slot", "from", "to", "cycles", "warp instructions" }, list
end

--- Columns { head =, get = function(row) } of a group of caches: the kinds of accesses that any allocation has, and how many hit.
local function access_columns_of(rows, group)
  local columns = {}
  for _, name in ipairs { "loads", "stores", "atomics" } do
    local column, all = ("%s.%s"):format(group, name), 0
    for _, row in ipairs(rows) do all = all + row[column] end
    if all > 0 then columns[#columns + 1] = { head = ("%s %s"):format(group, name), get = function(row) return row[column] end } end
  end
  columns[#columns + 1] = { head = group .. " hits", get = function(row)
    local accesses = accesses_of(row, group)
    return accesses > 0 and ("%.1f%%"):format(100 * row[group .. ".hits"] / accesses) or ""
  end }
  return columns
end

local function allocations_table(rows, groups)
  local heads, list = {}, {}
  for i in ipairs(rows) do list[i] = {} end
  for _, group in ipairs(groups_at_work({ rows = rows }, groups)) do
    for _, column in ipairs(access_columns_of(rows, group)) do
      heads[#heads + 1] = column.head
      for i, row in ipairs(rows) do table.insert(list[i], column.get(row)) end
    end
  end
  for _, name in ipairs { "bytes", "address", "allocation" } do heads[#heads + 1] = name end
  for i, row in ipairs(rows) do
    local is_one = row.address ~= ""
    table.insert(list[i], row.bytes)
    table.insert(list[i], is_one and ("0x%x"):format(row.address) or "")
    table.insert(list[i], is_one and row.name or "(no allocation)")
  end
  return heads, list
end

--- Of a run's folder, for reports: { kernel =, slots =, columns =, rows = } of each kernel, by source line where it has any; nil
-- without a profile.
function profile.hottest(path, count)
  if not core.is_file(path .. "/profile.csv") then return nil end
  local rows, columns = read_csv(path, "profile.csv")
  local groups, tables, sources = groups_of(columns), {}, {}
  for i, kernel in ipairs(kernels_of(rows)) do
    local has_lines = false
    for _, row in ipairs(kernel.rows) do has_lines = has_lines or row.file ~= "" end
    local heads, cells = table_of(kernel, groups, { source = has_lines, top = count }, sources)
    tables[i] = { kernel = kernel.name, slots = kernel.all, columns = heads, rows = cells }
  end
  return tables
end

-- As a page -----------------------------------------------------------------------------------------------------------

local function escape(text)
  return (tostring(text):gsub("[<>&\"]", { ["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;", ['"'] = "&quot;" }))
end

local STYLE <const> = [[
body { font: 14px system-ui, sans-serif; margin: 2em; color-scheme: light dark; }
table { border-collapse: collapse; margin-bottom: 2em; }
th, td { padding: 2px 8px; text-align: right; border-bottom: 1px solid #8884; vertical-align: top; }
th:last-child, td:last-child, td.text { text-align: left; }
td:last-child { font-family: monospace; white-space: pre-wrap; }
td.share { background: linear-gradient(to right, #e0803080 var(--share), transparent var(--share)); }
@media print { body { margin: 0; } }
]]

local function html_table(columns, rows)
  local lines = { "<table><thead><tr>" }
  for _, name in ipairs(columns) do lines[#lines + 1] = ("<th scope=col>%s</th>"):format(escape(name)) end
  lines[#lines + 1] = "</tr></thead><tbody>\n"
  for _, row in ipairs(rows) do
    lines[#lines + 1] = "<tr>"
    for c, cell in ipairs(row) do
      local share = columns[c] == "share" and (' class=share style="--share:%s"'):format(escape(cell)) or ""
      lines[#lines + 1] = ("<td%s%s>%s</td>"):format(share, columns[c] == "lost to" and " class=text" or "", escape(cell))
    end
    lines[#lines + 1] = "</tr>\n"
  end
  lines[#lines + 1] = "</tbody></table>\n"
  return table.concat(lines)
end

local function page(path, kernels, groups, ctas, allocations, beginning)
  local parts, sources = {}, {}
  local function add(text, ...) parts[#parts + 1] = select("#", ...) > 0 and text:format(...) or text end
  add("<!doctype html>\n<html lang=en><meta charset=utf-8><title>Profile of %s</title>\n<style>\n%s</style>\n<h1>Profile of %s</h1>\n",
    escape(path), STYLE, escape(path))
  for _, kernel in ipairs(kernels) do
    add("<h2>Kernel %s: %d slots%s</h2>\n<h3>Source lines</h3>\n", escape(kernel.name), kernel.all, escape(beginning))
    add((html_table(table_of(kernel, groups, { source = true, top = 0 }, sources))))
    add "<h3>PTX</h3>\n"
    add((html_table(table_of(kernel, groups, { ptx = true, top = 0 }, sources))))
    add "<h3>Warps</h3>\n"
    add((html_table(warps_table(kernel))))
  end
  add "<h2>Allocations</h2>\n"
  add((html_table(allocations_table(allocations, groups))))
  add "<h2>The 50 CTAs that took the longest</h2>\n"
  add((html_table(ctas_table(ctas, 50))))
  return table.concat(parts)
end

-- The command ---------------------------------------------------------------------------------------------------------

local function read_arguments(args, first)
  local options, words = arguments.read("profile", args, first)
  local top = math.tointeger(tonumber(options.top or 10))
  if not top or top < 0 then usage_error("--top: expected a number from 0 on, got '%s'", options.top) end
  if options.source and options.ptx then usage_error "expected --source or --ptx, got both" end
  options.top, options.path = top, arguments.one("profile", words, "RUN", "the folder of a run")
  return options
end

function profile.main(args, first)
  local options = read_arguments(args, first)
  local rows, columns = read_csv(options.path, "profile.csv")
  local warps, ctas = read_csv(options.path, "profile_warps.csv"), read_csv(options.path, "profile_ctas.csv")
  local allocations = (options.allocations or options.html) and read_csv(options.path, "profile_allocations.csv")
  local kernels, groups, sources = kernels_of(rows), groups_of(columns), {}
  local beginning = stored_run.beginning_of(options.path, "profile")
  give_warps(kernels, warps)
  if options.html then
    output.write_page("profile: --html", options.html, page(options.path, kernels, groups, ctas, allocations, beginning))
    return 0
  end
  for i, kernel in ipairs(kernels) do
    print(("%skernel %s: %d slots%s"):format(i > 1 and "\n" or "", kernel.name, kernel.all, beginning))
    io.write(text_table.text(table_of(kernel, groups, options, sources)))
    if options.warps then io.write("\n", text_table.text(warps_table(kernel))) end
  end
  if options.allocations then io.write("\n", text_table.text(allocations_table(allocations, groups))) end
  if options.ctas then io.write("\n", text_table.text(ctas_table(ctas, options.top))) end
  return 0
end

return profile
