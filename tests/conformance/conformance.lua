-- All forms in groups: how many there are, what was compared, and what differs.
local ww = require "warpwright"
local reference = require "conformance"
local compare = require "tests.conformance.compare"
local control_flow = require "tests.conformance.control_flow"
local documented = require "tests.conformance.documented"
local elsewhere = require "tests.conformance.elsewhere"
local forms = require "tests.conformance.forms"
local matrix = require "tests.conformance.matrix"
local page = require "tests.conformance.page"
local special = require "tests.conformance.special"
local warp = require "tests.conformance.warp"

local conformance = {}

local QUICK_CASES <const> = 200
local SHOWN <const> = 40 -- of mismatches, unless they are those of silicon

--- Why a form or row needs no reference here; nil: it needs one.
local function reason_of(form)
  for _, entry in ipairs(elsewhere) do
    if form == entry[1] or not entry.whole and form:sub(1, #entry[1]) == entry[1] then return entry[2] end
  end
end

--- Every form by how it stands: `compared` is a list of {form, group, signatures}, the others map reasons to lists of forms.
function conformance.survey(rows)
  local all, prose = forms.all(rows)
  local survey = { compared = {}, across_lanes = {}, addresses = {}, not_in_isa = {}, elsewhere = {}, unknown = {} }
  local function note(list, reason, form)
    if not list[reason] then
      list[reason] = {}
      list[#list + 1] = reason
    end
    table.insert(list[reason], form)
  end
  for _, form in ipairs(all) do
    local standing, group, signatures = reference.find(form)
    local reason = reason_of(form)
    if standing == "compared" then
      table.insert(survey.compared, { form = form, group = group, signatures = signatures })
    elseif standing == "not in the ISA" then
      note(survey.not_in_isa, group, form)
    elseif special.forms[form] then
      table.insert(survey.addresses, { form = form })
    elseif warp.takes(form) then
      table.insert(survey.across_lanes, { form = form })
    elseif reason then
      note(survey.elsewhere, reason, form)
    else
      survey.unknown[#survey.unknown + 1] = form
    end
  end
  for _, row in ipairs(prose) do
    local reason = reason_of(row)
    if reason then
      note(survey.elsewhere, reason, row)
    else
      survey.unknown[#survey.unknown + 1] = row
    end
  end
  return survey
end

--- Counts by group, in the order of the first form of each.
local function new_tally(most)
  local tally = { order = {}, groups = {}, shown = 0 }
  local function say(...)
    tally.shown = tally.shown + 1
    if tally.shown <= most then print((...):format(select(2, ...))) end
  end
  --- `outcome`: cases, differ and text; on a GPU of silicon apart and apart_text, or refusal.
  function tally:add(group, form, outcome)
    local counts = self.groups[group]
    if not counts then
      counts = { group = group, forms = 0, cases = 0, differ = 0, apart = 0, refused = 0, seen = {} }
      self.groups[group] = counts
      self.order[#self.order + 1] = counts
    end
    if not counts.seen[form] then counts.forms = counts.forms + 1 end
    counts.seen[form] = true
    counts.cases, counts.differ = counts.cases + outcome.cases, counts.differ + outcome.differ
    counts.apart = counts.apart + (outcome.apart or 0)
    if outcome.differ > 0 then say("%s: %d of %d cases differ; the first: %s", form, outcome.differ, outcome.cases, outcome.text) end
    if outcome.apart and outcome.apart > 0 then
      say("%s: %d of %d cases have other bits; the first: %s", form, outcome.apart, outcome.cases, outcome.apart_text)
    end
    if outcome.refusal then
      counts.refused = counts.refused + 1
      say("%s: refused: %s", form, outcome.refusal:gsub("%s+", " "))
    end
  end
  --- A function for those that call found(form, cases, differ, text).
  function tally:into(group)
    return function(form, cases, differ, text, more)
      local outcome = more or {}
      outcome.cases, outcome.differ, outcome.text = cases, differ, text
      self:add(group, form, outcome)
    end
  end
  return tally
end

--- Those of a list that are this part's.
local function part_of(list, options)
  local mine = {}
  for i, entry in ipairs(list) do
    if i % options.parts == options.part % options.parts then mine[#mine + 1] = entry end
  end
  return mine
end

local function compare_forms(gpu, list, options, tally)
  local cases = options.cases > 0 and -options.cases or QUICK_CASES
  for _, batch in ipairs(part_of(compare.batches(list), options)) do
    compare.run(gpu, batch, cases, options.seed, function(entry, outcome) tally:add(entry.group, entry.form, outcome) end,
      options.simulated)
  end
end

local function compare_lanes(gpu, list, options, tally)
  local warps = options.cases > 0 and options.cases // 32 + 1 or 12
  local found = tally:into(warp.GROUP)
  for _, entry in ipairs(part_of(list, options)) do found(entry.form, warp.compare(gpu, entry.form, warps, options.seed, options.gpu)) end
end

local function compare_special(gpu, sms, options, tally)
  special.registers(gpu, sms, tally:into "special registers")
  special.addresses(gpu, tally:into "addresses of spaces")
  special.atomics(gpu, options.seed, tally:into "atomics of all threads")
end

local function compare_programs(gpu, options, tally)
  local programs = options.programs // options.parts
  local threads, wrong = control_flow.run(gpu, programs, options.seed + options.part - 1, options.out)
  tally:add("random programs", "", { cases = threads, differ = wrong, text = "see above" })
  tally.groups["random programs"].forms = programs
end

local function print_table(tally, write, has_silicon)
  local extra = has_silicon and " %d | %d |" or ""
  local function line(name, counts)
    write(("| %s | %d | %d | %d |" .. extra):format(name, counts.forms, counts.cases, counts.differ, counts.apart, counts.refused))
  end
  write("| group | forms | cases | mismatches |" .. (has_silicon and " other bits than simulated | refused |" or ""))
  write("|---|---:|---:|---:|" .. (has_silicon and "---:|---:|" or ""))
  local all = { forms = 0, cases = 0, differ = 0, apart = 0, refused = 0 }
  for _, counts in ipairs(tally.order) do
    line(counts.group, counts)
    for key, sum in pairs(all) do all[key] = sum + counts[key] end
  end
  line("**all**", all)
  return all.differ
end

local function print_reasons(title, list, write)
  write(("\n%s\n\n| | forms | such as |\n|---|---:|---|"):format(title))
  for _, reason in ipairs(list) do
    local first = list[reason][1]:gsub("%s+$", ""):gsub("|", "/")
    write(("| %s | %d | `%s`%s |"):format(reason, #list[reason], #first < 50 and first or first:sub(1, 46) .. " ...",
      #list[reason] > 1 and " ..." or ""))
  end
end

local function only(list, text)
  local chosen = {}
  for _, entry in ipairs(list) do
    if entry.form:find(text, 1, true) then chosen[#chosen + 1] = entry end
  end
  return chosen
end

--- The GPU that executes the kernels, and how many SMs it has.
local function gpu_of(options)
  local sim = ww.build("gallery/private_l1", {})
  if not options.gpu then return sim:gpu(), #sim:objects "SM" end
  local silicon = require("tests.conformance.nvidia_gpu").open()
  print(silicon.name .. "\n")
  options.simulated = sim:gpu()
  return silicon, silicon.sms
end

--- Prints tables; true when nothing differs and every form has a reference, or a reason to have none.
function conformance.run(options)
  local survey = conformance.survey(reference.rows())
  local tally, lines = new_tally(options.gpu and math.huge or SHOWN), {}
  local gpu, sms = gpu_of(options)
  if options.only then
    survey.compared, survey.across_lanes = only(survey.compared, options.only), only(survey.across_lanes, options.only)
  end
  compare_forms(gpu, survey.compared, options, tally)
  compare_lanes(gpu, survey.across_lanes, options, tally)
  if not options.only then
    if options.part == 1 then compare_special(gpu, sms, options, tally) end
    matrix.run(gpu, options, math.max(options.cases, QUICK_CASES), tally:into "mma")
    if options.programs > 0 then compare_programs(gpu, options, tally) end
  end
  local function write(line)
    lines[#lines + 1] = line
    print(line)
  end
  local differ = print_table(tally, write, options.gpu)
  if options.gpu then return differ == 0 end
  print_reasons("## Compared elsewhere, or without a result", survey.elsewhere, write)
  print_reasons("## Taken by the decoder, and not in the PTX ISA", survey.not_in_isa, write)
  if options.page then
    local file = assert(io.open(options.page, "w"))
    file:write(page.head, table.concat(lines, "\n"), "\n\n", page.silicon)
    file:close()
  end
  for _, form in ipairs(survey.unknown) do
    print(("%s: no reference; write one in tests/conformance, or add a line to tests/conformance/elsewhere.lua"):format(form))
  end
  local wrong = documented(reference.rows())
  for _, line in ipairs(wrong) do print(line) end
  return differ == 0 and #survey.unknown == 0 and #wrong == 0
end

return conformance
