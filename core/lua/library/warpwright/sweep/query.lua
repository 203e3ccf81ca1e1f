-- warpwright query: rows of a sweep's database. Columns are those of its view `results`, and statistics by path or pattern
-- ("sm[*].l1d.misses"): the sum of the counters that match, or of ratios all parts to all wholes.
local arguments = require "warpwright.arguments"
local core = require "warpwright.core"
local folder = require "warpwright.sweep.folder"
local names = require "warpwright.names"
local note = require "warpwright.note"
local text_table = require "warpwright.sweep.table"

local query = {}

--- The database of a sweep's folder, or the file itself.
local function open(path)
  local file = core.is_file(path) and path or folder.database(path)
  if not core.is_file(file) then names.expected("query", "the folder of a sweep with a results.sqlite, or such a file", path) end
  return core.open_database(file, false)
end

function query.sql(path, sql)
  local statement = open(path):prepare(sql)
  return statement:columns(), statement:rows()
end

local function has_rows(file, sql) return file:prepare(sql .. " LIMIT 1"):rows()[1] ~= nil end

-- Since the warm-up ---------------------------------------------------------------------------------------------------------------------

--- Columns of the view that are statistics, too, and so are there since the warm-up.
local of_run <const> = { cycles = true, ipc = true, warp_ipc = true, warp_instructions = true, thread_instructions = true, launches = true,
  memory_peak = true }

local function knows_since(file) return has_rows(file, "SELECT 1 FROM sqlite_master WHERE name = 'counts_since'") end

--- Of "since.NAME" the table, and the statistic that is meant; of any other name the table of whole runs, and the name.
local function table_of(pattern)
  local inner = pattern:match "^since%.(.+)$"
  if not inner then return "counts", pattern end
  return "counts_since", of_run[inner] and "run." .. inner or inner
end

--- Why nothing is counted since a warm-up.
local function refuse_since(file, pattern)
  local has_warm_up = knows_since(file) and has_rows(file, "SELECT 1 FROM runs WHERE warm_up_cycles IS NOT NULL")
  core.user_error(("query: %s: expected a sweep with a warm_up%s, got one without"):format(pattern,
    has_warm_up and " and --stats packed, all or summary" or ""))
end

-- Expressions -------------------------------------------------------------------------------------------------------------------------

local function sql_text(text) return "'" .. text:gsub("'", "''") .. "'" end

--- A GLOB in which brackets stand for themselves.
local function glob_of(pattern) return (pattern:gsub("%[", "\1"):gsub("%]", "\2"):gsub("\1", "[[]"):gsub("\2", "[]]")) end

--- What SQL asks of a name for the pattern.
local function condition(pattern)
  if not names.is_pattern(pattern) then return "name = " .. sql_text(pattern) end
  if pattern:find("..", 1, true) then return ("path_matches(%s, name)"):format(sql_text(pattern)) end
  local only_indices = not pattern:find "%[%d" and not pattern:gsub("%[%*%]", ""):find("*", 1, true)
  return only_indices and "pattern = " .. sql_text(pattern) or "name GLOB " .. sql_text(glob_of(pattern))
end

--- The choice of --stats that has left this statistic out, or nil.
local function choice_without(file, pattern)
  if not has_rows(file, "SELECT 1 FROM runs WHERE status = 'done'") then return nil end
  if not has_rows(file, "SELECT 1 FROM names") then return "none" end
  return not pattern:find "^run%." and not has_rows(file, "SELECT 1 FROM names WHERE name NOT GLOB 'run.*'") and "summary" or nil
end

--- What launches cost stands in a table of its own. Of one launch, and of sums over all.
local of_launch <const> = {
  cycles = "SUM(cycles)", ctas = "SUM(ctas)", warp_instructions = "SUM(warp_instructions)",
  thread_instructions = "SUM(thread_instructions)", ipc = "SUM(thread_instructions) * 1.0 / SUM(cycles)",
}

--- Of launch[N].cycles and its like: what SQL selects, and of which launches; nil of anything else.
local function launch_column(pattern)
  local number, field = pattern:match "^launch%[([%d*]+)%]%.([%w_]+)$"
  if number == "*" then return of_launch[field], "1" end
  if not math.tointeger(tonumber(number)) then return nil end
  return of_launch[field] or field == "start_cycle" and field or nil, "launch = " .. number
end

--- Of the run of the row; nil where no run has such launches.
local function cost_of_launch(file, pattern)
  local column, where = launch_column(pattern)
  if not column or not has_rows(file, "SELECT 1 FROM launches WHERE " .. where) then return nil end
  return ("(SELECT %s FROM launches WHERE launches.run = results.run AND %s)"):format(column, where)
end

--- What may stand in the place of a name that nothing has.
local function known_names(file, is_since)
  local known, prefix = {}, is_since and "since." or ""
  for i, row in ipairs(file:prepare("SELECT DISTINCT pattern FROM names"):rows()) do known[i] = prefix .. row[1] end
  if is_since then
    for _, name in ipairs(names.sorted_keys(of_run)) do known[#known + 1] = prefix .. name end
    return known
  end
  for _, row in ipairs(file:prepare("SELECT name FROM pragma_table_info('results')"):rows()) do known[#known + 1] = row[1] end
  for _, name in ipairs { "cycles", "ctas", "ipc", "start_cycle", "thread_instructions", "warp_instructions" } do
    known[#known + 1] = "launch[*]." .. name
  end
  return known
end

local function unknown_statistic(file, pattern, is_since, is_quoted)
  names.check_indices("query", pattern)
  local choice = choice_without(file, is_since and select(2, table_of(pattern)) or pattern)
  if choice then
    core.user_error(("query: %s: expected a sweep with --stats packed or all, got one with --stats %s: sweep into another folder"):format(
      pattern, choice))
  end
  core.user_error(("query: no column or statistic matches '%s'%s%s"):format(pattern,
    names.did_you_mean(pattern:gsub("%[%d+%]", "[*]"), known_names(file, is_since), 3), is_quoted and "; texts stand in single quotes" or ""))
end

--- Of the run of the row. A pattern that matches nothing is an error, and so is one of counters and ratios.
local function statistic(file, given, is_quoted)
  local cost = cost_of_launch(file, given)
  if cost then return cost end
  local counts, pattern = table_of(given)
  local where, is_since = condition(pattern), counts ~= "counts"
  if is_since and not (knows_since(file) and has_rows(file, "SELECT 1 FROM counts_since")) then refuse_since(file, given) end
  if not has_rows(file, "SELECT 1 FROM names WHERE " .. where) then unknown_statistic(file, given, is_since, is_quoted) end
  local counted = ("SELECT 1 FROM %s JOIN names USING (name_id) WHERE %s AND whole IS "):format(counts, where)
  if has_rows(file, counted .. "NULL") and has_rows(file, counted .. "NOT NULL") then
    core.user_error(("query: %s: expected counters or ratios, got both"):format(pattern))
  end
  return ("(SELECT CASE WHEN COUNT(whole) THEN SUM(value * whole) / SUM(whole) ELSE SUM(value) END FROM %s c JOIN names USING (name_id) "
    .. "WHERE c.run = results.run AND %s)"):format(counts, where)
end

local function columns_of(file)
  local statement = file:prepare "SELECT * FROM results LIMIT 0"
  local columns = {}
  for _, name in ipairs(statement:columns()) do columns[name] = true end
  return columns
end

--- A path without what a * behind a whole name multiplies it by.
local function without_factors(file, path, columns)
  local shorter = path
  while shorter and not columns[shorter] and not cost_of_launch(file, shorter) and not has_rows(file, "SELECT 1 FROM names WHERE " .. condition(select(2, table_of(shorter)))) do
    shorter = shorter:match "^(.*[%w_%]])%*"
  end
  return shorter or path
end

--- Paths, in double quotes or without, become what they mean: a column where one has the name, else a statistic. Other texts in
-- quotes stay, and so does a name that is given by AS, which is a column from then on.
local function translate(file, expression, columns)
  local parts, at, gives_name = {}, 1, false
  while at <= #expression do
    local name = expression:match('^"([^"]*)"', at)
    local quoted = name and '"' .. name .. '"' or expression:match("^'[^']*'", at) or expression:match("^`[^`]*`", at)
    local path = expression:match("^[%a_][%w_]*%f[%.%[][%w_%.%[%]%*]*", at)
    local word = expression:match("^[%w_]+%.?%d*", at)
    path = path and without_factors(file, path, columns)
    local token = quoted or path or word or expression:sub(at, at)
    local asked = not gives_name and (name or path)
    if gives_name and (name or word) then columns[name or word] = true end
    parts[#parts + 1] = asked and (columns[asked] and '"' .. asked .. '"' or statistic(file, asked, name)) or token
    gives_name = token:lower() == "as" or gives_name and token:find "^%s" ~= nil
    at = at + #token
  end
  return table.concat(parts)
end

--- What stands between commas outside of brackets and quotes.
local function split(text)
  local parts, depth, from, quote = {}, 0, 1, nil
  for at = 1, #text do
    local c = text:sub(at, at)
    if quote then
      quote = c ~= quote and quote or nil
    elseif c == "'" or c == '"' or c == "`" then
      quote = c
    elseif c == "(" then
      depth = depth + 1
    elseif c == ")" then
      depth = depth - 1
    elseif c == "," and depth == 0 then
      parts[#parts + 1] = text:sub(from, at - 1)
      from = at + 1
    end
  end
  parts[#parts + 1] = text:sub(from)
  for i, part in ipairs(parts) do parts[i] = part:match "^%s*(.-)%s*$" end
  return parts
end

--- SQLite says which name is no column, and not what was meant.
local function prepare(file, sql, columns)
  local ok, statement = pcall(file.prepare, file, sql)
  if ok then return statement end
  local problem = core.thrown_text(statement)
  local wrong = problem:match "no such column: ([%w_]+)"
  local hint = wrong and "; texts stand in single quotes" .. names.available(wrong, names.sorted_keys(columns)) or ""
  core.user_error(problem .. hint)
end

--- Does a column of SQL have a name by itself, that behind its AS or that of a column of the view? Others are called by their text.
local function is_named(file, sql, columns)
  local found = prepare(file, ("SELECT %s FROM results LIMIT 0"):format(sql), columns):columns()
  return found[1] ~= sql
end

--- query.rows(path of a sweep, { select =, where =, group =, order = }): the names of the columns, and rows.
function query.rows(path, o)
  local file = open(path)
  local columns, selected = columns_of(file), {}
  for i, expression in ipairs(split(o.select or "*")) do
    if expression == "" then core.user_error(("query: --select: expected columns apart by commas, got '%s'"):format(o.select)) end
    local sql = translate(file, expression, columns)
    selected[i] = sql == expression and sql or is_named(file, sql, columns) and sql or ('%s AS "%s"'):format(sql, expression:gsub('"', '""'))
  end
  local words = { "SELECT ", table.concat(selected, ", "), " FROM results" }
  for _, clause in ipairs { { "where", " WHERE " }, { "group", " GROUP BY " }, { "order", " ORDER BY " } } do
    local given = o[clause[1]]
    if given then words[#words + 1] = clause[2] .. translate(file, given, columns) end
  end
  if not o.order and not o.group then words[#words + 1] = " ORDER BY run" end
  local statement = prepare(file, table.concat(words), columns)
  return statement:columns(), statement:rows()
end

--- Of whole numbers SQL's / makes a whole number: a share that is 0 in all rows was most likely meant to be one.
local function note_whole_quotients(selected, columns, rows)
  local expressions = split(selected)
  if #expressions ~= #columns or not rows[1] then return end -- with *, columns are none of ours
  for c, expression in ipairs(expressions) do
    local is_quotient = expression:gsub("'[^']*'", ""):gsub('"[^"]*"', ""):find("/", 1, true) ~= nil
    for _, row in ipairs(rows) do is_quotient = is_quotient and math.type(row[c]) == "integer" and row[c] == 0 end
    if is_quotient then
      note("query: %s is 0 in each row: / of whole numbers gives a whole number; begin with 1.0 *", columns[c])
    end
  end
end

-- The command -----------------------------------------------------------------------------------------------------------------------------

local formats <const> = {
  ["--csv"] = text_table.csv, ["--json"] = text_table.json, ["--latex"] = text_table.latex, ["--table"] = text_table.text,
}
function query.main(args, first)
  local o, words, given = arguments.read("query", args, first)
  for _, pair in ipairs(given) do
    if not formats[pair[1]] and not pair[2]:find "%S" then
      arguments.error("query", "%s: expected an expression of SQL, got nothing", pair[1])
    end
  end
  local path, format = arguments.one("query", words, "SWEEP"), arguments.chosen("query", given, formats) or text_table.text
  local columns, rows
  if o.sql then
    columns, rows = query.sql(path, o.sql)
  else
    columns, rows = query.rows(path, o)
    note_whole_quotients(o.select or "*", columns, rows)
  end
  io.write(format(columns, rows))
  return 0
end

return query
