-- Random programs on a small machine, against the interpreter; those that differ are made smaller.
local ww = require "warpwright"
local interpreter = require "tests.conformance.interpreter"
local program_text = require "tests.conformance.program_text"
local programs = require "tests.conformance.programs"

local control_flow = {}

local THREADS <const> = 80 -- of a CTA: a warp is not full
local CTAS <const> = 2

local function inputs_of(seed)
  local rng, list = ww.rng(seed), {}
  for i = 1, THREADS * CTAS do list[i] = rng:int(0, 3) == 0 and rng:int(0, 15) or rng:int(0, 0xffffffff) end
  local values = {}
  for i = 0, programs.TABLE - 1 do values[i] = rng:int(0, 0xffffffff) end
  return list, values
end

--- What each thread of a program should leave; nil where one takes too many steps.
local function expected(program, inputs, values)
  local all = {}
  for cta = 0, CTAS - 1 do
    local results = interpreter.run(program, table.move(inputs, cta * THREADS + 1, (cta + 1) * THREADS, 1, {}), values)
    if not results then return nil end
    table.move(results, 1, #results, #all + 1, all)
  end
  return all
end

--- What they leave, or nil and the fault.
local function simulated(gpu, program, inputs, values, size)
  local text = program_text(program)
  local kernels, _, refusals = gpu:load { text = text, name = "program.ptx" }
  if refusals.kernel then return nil, refusals.kernel end
  local from = gpu:upload(ww.array_from("u32", inputs))
  local lookup = gpu:upload(ww.array_from("u32", table.move(values, 0, programs.TABLE - 1, 1, {})))
  local to = gpu:alloc(size * 4)
  gpu:fill(to, 0, size * 4)
  local _, fault = gpu:try_launch(kernels.kernel, { grid = CTAS, block = THREADS, args = { from, lookup, to } })
  local got = gpu:download("u32", to, size)
  for _, address in ipairs { from, lookup, to } do gpu:free(address) end
  if fault then return nil, fault.message end
  return got
end

--- nil where the program does as it should; else what differs. `skipped`: it takes too long.
local function difference(gpu, program)
  local inputs, values = inputs_of(program.seed)
  local want = expected(program, inputs, values)
  if not want then return nil, true end
  local got, fault = simulated(gpu, program, inputs, values, #want)
  if not got then return fault end
  local each = programs.SLOTS + programs.REGISTERS
  for i, value in ipairs(want) do
    if got[i - 1] ~= value then
      local place = (i - 1) % each
      return ("thread %d of CTA %d, %s %d: expected 0x%x, got 0x%x"):format((i - 1) // each % THREADS, (i - 1) // each // THREADS,
        place < programs.SLOTS and "slot" or "register", place < programs.SLOTS and place or place - programs.SLOTS, value, got[i - 1])
    end
  end
end

local function without(list, from, count)
  local shorter = {}
  for at, o in ipairs(list) do
    if at < from or at >= from + count or o.kind == "label" or o.fixed then shorter[#shorter + 1] = o end
  end
  return shorter
end

--- Leaves away operations, many at a time and then single ones, as long as something differs.
local function shrink(gpu, program)
  for _, f in ipairs(program.functions) do
    local count = #f.list
    while count >= 1 do
      local at = 1
      while at <= #f.list do
        local whole = f.list
        f.list = without(whole, at, count)
        local ok, differs = pcall(difference, gpu, program)
        if #f.list == #whole or not (ok and differs) then
          f.list = whole
          at = at + count
        end
      end
      count = count // 2
    end
  end
end

--- Runs `count` programs, those left out that take too long; returns how many threads that were, and how many programs
--- differ. Prints the numbers of these, and writes the first three, made smaller, to `folder`.
function control_flow.run(gpu, count, seed, folder)
  local ran, differ, number = 0, 0, 0
  while ran < count do
    number = number + 1
    local program = programs.new(seed * 1000003 + number)
    local what, skipped = difference(gpu, program)
    if not skipped then ran = ran + 1 end
    if what then
      differ = differ + 1
      print(("program %d of seed %d: %s"):format(number, seed, what))
      if differ <= 3 then
        shrink(gpu, program)
        local path = ("%s/program-%d-%d.ptx"):format(folder, seed, number)
        local file = assert(io.open(path, "w"))
        file:write(program_text(program))
        file:close()
        print(("  made smaller, %s: %s"):format(path, difference(gpu, program)))
      end
    end
  end
  return ran * THREADS * CTAS, differ
end

return control_flow
