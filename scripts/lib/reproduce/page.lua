-- Figures as text: numbers, verdicts, and docs/reproduction.md.
local kit = require "scripts.lib.reproduce.kit"
local reasons = require "scripts.lib.reproduce.reasons"

local page = {}

--- Three digits that count.
function page.number(value)
  if not value or value ~= value then return "-" end
  if math.abs(value) >= 100 then return ("%.0f"):format(value) end
  return math.abs(value) >= 10 and ("%.1f"):format(value) or ("%.2f"):format(value)
end

--- " 1.30, paper 1.34" of a headline with numbers.
function page.numbers_of(headline)
  if headline.kind == "holds" then return "" end
  return (": %s, paper %s"):format(page.number(headline.ours), page.number(headline.paper))
end

local verdicts <const> = { "reproduced", "partly", "not reproduced", "not measured" }

local function counts_of(results)
  local counts, all = {}, 0
  for _, verdict in ipairs(verdicts) do counts[verdict] = 0 end
  for _, result in ipairs(results) do
    for _, headline in ipairs(result.table.headlines) do
      local verdict = kit.verdict(headline)
      counts[verdict], all = counts[verdict] + 1, all + 1
    end
  end
  return counts, all
end

--- "73 claims: 51 reproduced, 10 partly, ..."
function page.summary(results)
  local counts, all = counts_of(results)
  local words = {}
  for i, verdict in ipairs(verdicts) do words[i] = ("%d %s"):format(counts[verdict], verdict) end
  return ("%d claims: %s"):format(all, table.concat(words, ", "))
end

local function cell(text) return (tostring(text):gsub("|", "/")) end

local function headline_rows(result, add)
  for _, headline in ipairs(result.table.headlines) do
    local numbers = headline.kind ~= "holds"
    local verdict = kit.verdict(headline)
    local reason = reasons[("%s: %s"):format(result.figure.id, headline.what:gsub("%s*%(.*%)$", ""))] or ""
    add("| %s | %s | %s | %s | %s |", cell(headline.what), numbers and page.number(headline.paper) or "",
      numbers and page.number(headline.ours) or "", verdict, verdict ~= "reproduced" and cell(reason) or "")
  end
end

local function values_table(result, add)
  local t = result.table
  add("| | %s |", table.concat(t.columns, " | "))
  add("|---|%s", ("---|"):rep(#t.columns))
  for _, row in ipairs(t.rows) do
    local cells = {}
    for i, column in ipairs(t.columns) do
      local paper = row.paper and row.paper[column]
      cells[i] = page.number(row.values[column]) .. (paper and (" (%s)"):format(page.number(paper)) or "")
    end
    add("| %s | %s |", row.mean and "**" .. row.name .. "**" or row.name, table.concat(cells, " | "))
  end
end

--- The page. `folder`: of the drawings, beside it. `effort`: of all figures.
function page.markdown(results, options, folder, effort)
  local lines = {}
  local function add(form, ...) lines[#lines + 1] = select("#", ...) > 0 and form:format(...) or form end
  add "# The papers' figures, and ours"
  add ""
  add("Written by `scripts/reproduce%s --page docs/reproduction.md`: do not edit it, but the",
    options.size == "medium" and "" or " --size " .. options.size)
  add "figures and reasons in `scripts/lib/reproduce`. A claim is *reproduced* when the sign is the"
  add "paper's and the size within a third of it, *partly* when only the sign is. Where a paper draws its"
  add "bars and gives no numbers, the claim is what its text says. Numbers in brackets are the paper's; so"
  add "are the diamonds in the drawings."
  add ""
  add("**%s.**", page.summary(results))
  add("%d runs, %.0f minutes of simulation on one processor.", effort.runs, effort.seconds / 60)
  add ""
  for _, result in ipairs(results) do
    local name = result.figure.id:gsub("/", "-")
    add("## %s", result.figure.id)
    add ""
    add("%s.", result.figure.title)
    add ""
    add("![%s](%s/%s.svg)", result.figure.id, folder, name)
    add ""
    if result.table.headlines[1] then
      add "| claim | paper | ours | verdict | why |"
      add "|---|---|---|---|---|"
      headline_rows(result, add)
      add ""
    end
    add("%s%s; %d runs, %.0f s of simulation:", result.figure.unit:sub(1, 1):upper(), result.figure.unit:sub(2), result.effort.runs,
      result.effort.seconds)
    add ""
    values_table(result, add)
    add ""
    if result.table.missing[1] then
      add("Not run: %s.", table.concat(result.table.missing, ", "))
      add ""
    end
  end
  return table.concat(lines, "\n")
end

return page
