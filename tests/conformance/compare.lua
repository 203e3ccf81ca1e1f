-- Runs kernels of forms on a small machine, and compares what they store with the reference.
local ww = require "warpwright"
local conformance = require "conformance"
local kernels = require "tests.conformance.kernels"

local compare = {}

local FORMS_PER_KERNEL <const> = 24
local THREADS <const> = 256

-- What stands for a source as a constant in the text, by its kind.
local CONSTANTS <const> = {
  i16 = "-3", i32 = "2147483649", i64 = "-3", nz16 = "-3", nz32 = "2147483649", nz64 = "-3", amount = "7", f32 = "0fBFC00000",
  f64 = "0dBFF8000000000000",
}

--- The signatures of a form and, where its last source may be a constant, those with one.
local function with_constants(signatures)
  local all = { table.unpack(signatures) }
  for _, signature in ipairs(signatures) do
    local front, last = signature:match "^(.*:.*,)(%w+)$"
    if front and CONSTANTS[last] then all[#all + 1] = front .. "#" .. CONSTANTS[last] end
  end
  return all
end

--- Forms that can share a kernel: {signature, forms}.
function compare.batches(list)
  local batches, open = {}, {}
  for _, entry in ipairs(list) do
    for _, signature in ipairs(with_constants(entry.signatures)) do
      local batch = open[signature]
      if not batch or #batch.forms == FORMS_PER_KERNEL then
        batch = { signature = signature, forms = {} }
        batches[#batches + 1] = batch
        open[signature] = batch
      end
      batch.forms[#batch.forms + 1] = entry
    end
  end
  return batches
end

local function texts(list)
  local names = {}
  for i, entry in ipairs(list) do names[i] = entry.form end
  return names
end

--- What a GPU leaves of each form of a batch, a list of strings; nil and why it does not execute the text.
local function execute(gpu, batch, text, inputs, count, results)
  local args, held = { count }, {}
  local function hold(address)
    held[#held + 1], args[#args + 1] = address, address
    return address
  end
  if batch.signature:find "@" then hold(gpu:alloc(count * 16, 16)) end
  for _, input in ipairs(inputs) do hold(gpu:upload(ww.array_from("u64", input))) end
  local outputs = {}
  for i = 1, #batch.forms * results do
    outputs[i] = hold(gpu:alloc(count * 8))
    gpu:fill(outputs[i], 0, count * 8)
  end
  local loaded, _, refusals = gpu:load { text = text, name = batch.forms[1].form .. ".ptx" }
  local refusal, got = refusals.cases, {}
  -- What the same launch has stored `ld.global.nc` may miss: the launch before has left the same there.
  for _ = 1, refusal and 0 or text:find "%.nc[. ]" and 2 or 1 do
    local _, fault = gpu:try_launch(loaded.cases, { grid = (count + THREADS - 1) // THREADS, block = THREADS, args = args })
    refusal = refusal or fault and fault.message
  end
  for number = 1, refusal and 0 or #batch.forms do
    got[number] = {}
    for k = 1, results do got[number][k] = gpu:download("u64", outputs[(number - 1) * results + k], count):string() end
  end
  for _, address in ipairs(held) do gpu:free(address) end
  if refusal then return nil, refusal end
  return got
end

--- How many cases two GPUs leave other bits of, and the first.
local function apart(inputs, mine, simulated)
  local count, first = conformance.apart(mine, simulated)
  if count == 0 then return 0 end
  local values = {}
  for k, list in ipairs { inputs, mine, simulated } do
    values[k] = {}
    for i, bytes in ipairs(list) do values[k][i] = ("0x%x"):format((("<I8"):unpack(bytes, first * 8 + 1))) end
    values[k] = table.concat(values[k], ", ")
  end
  return count, ("%s: %s, simulated %s"):format(table.unpack(values))
end

--- Executes a batch: calls found(entry, {cases, differ, text, apart, apart_text, refusal}) for each form. `cases`: their number,
--- or less than 0: edges and so many random ones. `simulated`: another GPU, of which what has other bits is counted apart, and
--- then a form may be refused.
function compare.run(gpu, batch, cases, seed, found, simulated)
  local results, sources, template = conformance.signature(batch.signature)
  local inputs, count = {}, nil
  for k = 1, #sources do inputs[k], count = conformance.cases(batch.signature, k - 1, cases, seed) end
  local text = kernels.text(texts(batch.forms), results, sources, template)
  local all, refusal = execute(gpu, batch, text, inputs, count, #results)
  if refusal and not simulated then error(refusal .. "\n" .. text, 0) end
  if refusal and #batch.forms > 1 then
    for _, entry in ipairs(batch.forms) do
      compare.run(gpu, { signature = batch.signature, forms = { entry } }, cases, seed, found, simulated)
    end
    return
  elseif refusal then
    found(batch.forms[1], { cases = 0, differ = 0, refusal = refusal })
    return
  end
  local others = simulated and assert(execute(simulated, batch, text, inputs, count, #results))
  for number, entry in ipairs(batch.forms) do
    local outcome = { cases = count }
    outcome.differ, outcome.text = conformance.compare(entry.form, batch.signature, inputs, all[number])
    if others then outcome.apart, outcome.apart_text = apart(inputs, all[number], others[number]) end
    found(entry, outcome)
  end
end

return compare
