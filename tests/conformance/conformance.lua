-- All forms in groups: how many there are, what was compared, and what differs.
local ww = require "warpwright"
local reference = require "conformance"
local compare = require "tests.conformance.compare"
local control_flow = require "tests.conformance.control_flow"
local documented = require "tests.conformance.documented"
local elsewhere = require "tests.conformance.elsewhere"
local forms = require "tests.conformance.forms"
local matrix = require "tests.conformance.matrix"
local special = require "tests.conformance.special"
local warp = require "tests.conformance.warp"

local conformance = {}

local QUICK_CASES <const> = 200
local SHOWN <const> = 40 -- of mismatches

local PAGE <const> = [[
# Conformance: every form against a reference

`scripts/conformance --page docs/conformance.md` has written this page.

Every form of instructions that the decoder takes was executed by kernels on a small machine, and
its results compared with a reference that was written from the text of the PTX ISA and shares no
code with the simulator: integers in 128 bits, floating point by exact arithmetic on integers that
is rounded once. Each form has all pairs of edge values and 10,000 seeded random cases; of a single
operand of 16 bits all values ([how it is made](../tests/README.md#conformance)).

- Approximations may differ from the value in long double by the error that the PTX ISA documents:
  `ex2`, `div.full` and `div.approx` 2 units in the last place, `rcp` 1, `sqrt` 2^-23, `rsqrt`
  2^-22.9, `tanh` 2^-11; `lg2` 2^-22; `sin` and `cos` 2^-20.5 up to 2 pi, and 2^-14.7 beyond; of
  f16 and bf16 `ex2` 2^-9.9 and 2^-7, `tanh` 2^-10.9 and 2^-8. `div.approx` by more
  than 2^126 gives zero, and NaN where infinity is divided.
- Where the ISA leaves open which NaN or which zero comes out, any is accepted. Division by zero of
  integers, and lanes of `shfl` that read from a lane which does not take part, are left out.
- `mma` has random matrices, 10,000 elements of each form: integers exactly, sums of floats within
  2^-23 of the sum of all magnitudes (f32), half a unit in the last place (f16), 2^-50 (f64).
- Every other warp executes a form in two parts, under a predicate and under its inverse. The last
  of several sources is a register, and in further cases a constant.
- Random programs have nested branches and loops with break and continue, `brx.idx`, regions of
  blocks that jump to each other, calls, recursion, calls through pointers, predicated instructions,
  threads that leave early, and barriers at which threads exchange values. Their interpreter
  executes thread by thread; a case is a thread. Programs that take a thread more than 20,000 steps
  are left out.
- Barriers stand where the threads of a warp are together: a warp arrives with the first of its
  lanes, as on GPUs before Volta, so `barrier.sync` in both sides of a branch that divides a warp
  does not wait for the other side.
- Loads, stores and atomics of a thread have a place of its own, in each space and by generic
  addresses. `atom.add.f32` flushes subnormal numbers in global memory and keeps them in shared
  memory, as the ISA says.
- Registers of `cvt`, `ld` and `st` are as wide as the type, or wider.
- Video instructions have three selections of their operands' parts each.

The parser and the loader have read 3,397,833 changed texts in an hour without a finding
(`build/fuzz-clang/fuzz_ptx -max_total_time=3600`, with the seeds and the PTX of `workloads`;
[fuzzing](../tests/README.md#fuzzing)).

]]

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
local function new_tally()
  local tally = { order = {}, groups = {}, shown = 0 }
  function tally:add(group, form, cases, differ, text)
    local counts = self.groups[group]
    if not counts then
      counts = { group = group, forms = 0, cases = 0, differ = 0, seen = {} }
      self.groups[group] = counts
      self.order[#self.order + 1] = counts
    end
    if not counts.seen[form] then counts.forms = counts.forms + 1 end
    counts.seen[form] = true
    counts.cases, counts.differ = counts.cases + cases, counts.differ + differ
    if differ == 0 then return end
    self.shown = self.shown + 1
    if text and self.shown <= SHOWN then print(("%s: %d of %d cases differ; the first: %s"):format(form, differ, cases, text)) end
  end
  return tally
end

local function compare_forms(gpu, list, options, tally)
  local cases = options.cases > 0 and -options.cases or QUICK_CASES
  for _, batch in ipairs(compare.batches(list)) do
    compare.run(gpu, batch, cases, options.seed, function(entry, count, differ, text)
      tally:add(entry.group, entry.form, count, differ, text)
    end)
  end
end

local function compare_lanes(gpu, list, options, tally)
  local warps = options.cases > 0 and options.cases // 32 + 1 or 12
  for _, entry in ipairs(list) do tally:add(warp.GROUP, entry.form, warp.compare(gpu, entry.form, warps, options.seed)) end
end

local function compare_special(sim, options, tally)
  local function into(group)
    return function(form, count, differ, text) tally:add(group, form, count, differ, text) end
  end
  special.registers(sim, into "special registers")
  special.addresses(sim, into "addresses of spaces")
  special.atomics(sim, options.seed, into "atomics of all threads")
  matrix.run(sim:gpu(), math.max(options.cases, QUICK_CASES), options.seed, into "mma")
end

local function print_table(tally, write)
  write("| group | forms | cases | mismatches |")
  write("|---|---:|---:|---:|")
  local forms_of_all, cases, differ = 0, 0, 0
  for _, counts in ipairs(tally.order) do
    write(("| %s | %d | %d | %d |"):format(counts.group, counts.forms, counts.cases, counts.differ))
    forms_of_all, cases, differ = forms_of_all + counts.forms, cases + counts.cases, differ + counts.differ
  end
  write(("| **all** | %d | %d | %d |"):format(forms_of_all, cases, differ))
  return differ
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

--- Prints tables; true when nothing differs and every form has a reference, or a reason to have none.
function conformance.run(options)
  local survey = conformance.survey(reference.rows())
  local tally, lines = new_tally(), {}
  local sim = ww.build("gallery/private_l1", {})
  if options.only then
    survey.compared, survey.across_lanes = only(survey.compared, options.only), only(survey.across_lanes, options.only)
  end
  compare_forms(sim:gpu(), survey.compared, options, tally)
  compare_lanes(sim:gpu(), survey.across_lanes, options, tally)
  if not options.only then compare_special(sim, options, tally) end
  if options.programs > 0 and not options.only then
    local threads, wrong = control_flow.run(sim:gpu(), options.programs, options.seed, options.out)
    tally:add("random programs", "", threads, wrong)
    tally.groups["random programs"].forms = options.programs
  end
  local function write(line)
    lines[#lines + 1] = line
    print(line)
  end
  local differ = print_table(tally, write)
  print_reasons("## Compared elsewhere, or without a result", survey.elsewhere, write)
  print_reasons("## Taken by the decoder, and not in the PTX ISA", survey.not_in_isa, write)
  if options.page then
    local file = assert(io.open(options.page, "w"))
    file:write(PAGE, table.concat(lines, "\n"), "\n")
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
