-- Figures as text: numbers, verdicts, and docs/reproduction.md.
local kit = require "scripts.lib.reproduce.kit"
local leading = require "scripts.lib.reproduce.leading"
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

--- "73 claims: 51 reproduced, 10 partly, ..." of a list of verdicts.
local function counted(list)
  local counts, words = {}, {}
  for _, verdict in ipairs(verdicts) do counts[verdict] = 0 end
  for _, verdict in ipairs(list) do counts[verdict] = counts[verdict] + 1 end
  for i, verdict in ipairs(verdicts) do words[i] = ("%d %s"):format(counts[verdict], verdict) end
  return ("%d claims: %s"):format(#list, table.concat(words, ", "))
end

function page.summary(results)
  local list = {}
  for _, result in ipairs(results) do
    for _, headline in ipairs(result.table.headlines) do list[#list + 1] = kit.verdict(headline) end
  end
  return counted(list)
end

local function cell(text) return (tostring(text):gsub("|", "/")) end

--- The name of a claim among `reasons` and `leading`: without what it measured, which stands in
-- brackets at its end.
function page.key(figure, what) return ("%s: %s"):format(figure, (what:gsub("%s*%(.*%)$", ""))) end

--- The reasons of a figure's claims, each once: `number_of[reason]` is where it stands among them.
local function reasons_of(result)
  local list, number_of = {}, {}
  for _, headline in ipairs(result.table.headlines) do
    local reason = kit.verdict(headline) ~= "reproduced" and reasons[page.key(result.figure.id, headline.what)]
    if reason and not number_of[reason] then
      list[#list + 1] = reason
      number_of[reason] = #list
    end
  end
  return list, number_of
end

local function headline_rows(result, number_of, add)
  for _, headline in ipairs(result.table.headlines) do
    local numbers = headline.kind ~= "holds"
    local verdict = kit.verdict(headline)
    local number = verdict ~= "reproduced" and number_of[reasons[page.key(result.figure.id, headline.what)]]
    add("| %s | %s | %s | %s | %s |", cell(headline.what), numbers and page.number(headline.paper) or "",
      numbers and page.number(headline.ours) or "", verdict, number or "")
  end
end

--- An entry of a numbered list, in lines of at most 100 columns. A number and its % stay together.
local function add_entry(number, text, add)
  local mark = number .. ". "
  local line, indent = mark, (" "):rep(#mark)
  for word in text:gsub(" %%", "%%"):gmatch "%S+" do
    word = word:gsub("%%", " %%")
    if #line + #word > 100 then
      add((line:gsub(" $", "")))
      line = indent
    end
    line = line .. word .. " "
  end
  add((line:gsub(" $", "")))
end

local function claims_table(result, add)
  local list, number_of = reasons_of(result)
  add "| claim | paper | ours | verdict | why |"
  add "|---|---|---|---|---|"
  headline_rows(result, number_of, add)
  add ""
  for number, reason in ipairs(list) do add_entry(number, reason .. ".", add) end
  if list[1] then add "" end
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

-- Sections: what the page says of one figure. A page is written from them alone, so that those of
-- figures that were not asked for can stay as they are.

local function section(result, folder)
  local lines = {}
  local function add(form, ...) lines[#lines + 1] = select("#", ...) > 0 and form:format(...) or form end
  local figure, t = result.figure, result.table
  add("## %s", figure.id)
  add ""
  add("%s.", figure.title)
  add ""
  add("![%s](%s/%s.svg)", figure.id, folder, (figure.id:gsub("/", "-")))
  add ""
  if t.headlines[1] then
    claims_table(result, add)
  end
  add("%s%s; %d runs, %.0f s of simulation, %s:", figure.unit:sub(1, 1):upper(), figure.unit:sub(2), result.effort.runs,
    result.effort.seconds, os.date "%Y-%m-%d")
  add ""
  values_table(result, add)
  add ""
  if t.missing[1] then
    add("Not run: %s.", table.concat(t.missing, ", "))
    add ""
  end
  return table.concat(lines, "\n")
end

--- The sections of a page by figure, and what it says of the effort of all figures.
local function read(text)
  local sections = {}
  text = "\n" .. text
  local from, _, id = text:find "\n## (%S+/%S+)\n"
  while from do
    local next_from, _, next_id = text:find("\n## (%S+/%S+)\n", from + 1)
    sections[id] = text:sub(from + 1, next_from and next_from - 1 or -1)
    from, id = next_from, next_id
  end
  return sections, text:match "\n(%d+ runs, %d+ minutes of simulation on one processor%.)\n"
end

--- The claims of a section: { key =, what =, paper =, ours =, verdict = } ...
local function claims_of(id, text)
  local claims = {}
  for what, paper, ours, verdict in text:gmatch "\n| ([^|\n]*) | ([^|\n]*) | ([^|\n]*) | (%l[%l ]+) | [^|\n]* |%f[\n]" do
    if verdict ~= "verdict" then
      claims[#claims + 1] = { key = page.key(id, what), figure = id, what = what, paper = paper, ours = ours, verdict = verdict }
    end
  end
  return claims
end

local function leading_table(claims, add)
  local by_key, rows, reproduced = {}, {}, 0
  for _, claim in ipairs(claims) do by_key[claim.key] = claim end
  for _, key in ipairs(leading) do
    local claim = by_key[key]
    if claim then
      rows[#rows + 1] = ("| %s | %s | %s | %s | %s |"):format(claim.figure, claim.what, claim.paper, claim.ours, claim.verdict)
      if claim.verdict == "reproduced" then reproduced = reproduced + 1 end
    end
  end
  if not rows[1] then return end
  add "## What the papers lead with"
  add ""
  add("What abstracts, conclusions and Table 3 of the papers state: **%d of %d reproduced.** The rows are", reproduced, #rows)
  add "those of the figures below, where the reasons stand."
  add ""
  add "| figure | claim | paper | ours | verdict |"
  add "|---|---|---|---|---|"
  for _, row in ipairs(rows) do add(row) end
  add ""
end

local title <const> = "# The papers' figures, and ours"

--- Was this text written by page.markdown()?
function page.is_one(text) return text:sub(1, #title + 1) == title .. "\n" end

--- The page. `ids`: of all figures, in their order; `folder`: of the drawings, beside it; `effort`:
-- of all figures, or nil; `before`: the text of the page as it was, or nil. Figures without a
-- result have the section that they had.
function page.markdown(results, ids, options, folder, effort, before)
  local lines, claims = {}, {}
  local function add(form, ...) lines[#lines + 1] = select("#", ...) > 0 and form:format(...) or form end
  local sections, effort_before = read(before or "")
  for _, result in ipairs(results) do sections[result.figure.id] = section(result, folder) end
  for _, id in ipairs(ids) do
    local found = sections[id] and claims_of(id, sections[id]) or {}
    table.move(found, 1, #found, #claims + 1, claims)
  end
  local list = {}
  for i, claim in ipairs(claims) do list[i] = claim.verdict end
  add(title)
  add ""
  add("Written by `scripts/reproduce%s --page docs/reproduction.md`: do not edit it, but the",
    options.size == "medium" and "" or " --size " .. options.size)
  add "figures and reasons in `scripts/lib/reproduce`. A claim is *reproduced* when the sign is the"
  add "paper's and the size within a third of it, *partly* when only the sign is. Where a paper draws its"
  add "bars and gives no numbers, the claim is what its text says. Numbers in brackets are the paper's; so"
  add "are the diamonds in the drawings. Figures are measured one by one: each has the day on which it"
  add "was, and those without a day are older than the others."
  add ""
  add("**%s.**", counted(list))
  add(effort and ("%d runs, %.0f minutes of simulation on one processor."):format(effort.runs, effort.seconds / 60) or effort_before or "")
  add ""
  leading_table(claims, add)
  for _, id in ipairs(ids) do
    if sections[id] then add(sections[id]) end
  end
  return table.concat(lines, "\n")
end

return page
