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

--- Executes a batch: calls found(entry, cases, differ, text) for each form. `cases`: their number, or less than 0: edges and
--- so many random ones.
function compare.run(gpu, batch, cases, seed, found)
  local results, sources, template = conformance.signature(batch.signature)
  local inputs, count, args, held = {}, nil, { 0 }, {}
  local function hold(address) held[#held + 1], args[#args + 1] = address, address end
  for k = 1, #sources do inputs[k], count = conformance.cases(batch.signature, k - 1, cases, seed) end
  if template and template:find "@" then hold(gpu:alloc(count * 16, 16)) end
  for k = 1, #sources do hold(gpu:upload(ww.array_from("u64", inputs[k]))) end
  args[1] = count
  local outputs = {}
  for _ = 1, #batch.forms * #results do
    local address = gpu:alloc(count * 8)
    gpu:fill(address, 0, count * 8)
    outputs[#outputs + 1], args[#args + 1] = address, address
  end
  local text = kernels.text(texts(batch.forms), results, sources, template)
  local loaded, _, refusals = gpu:load { text = text, name = batch.forms[1].form .. ".ptx" }
  if refusals.cases then error(refusals.cases .. "\n" .. text, 0) end
  gpu:launch(loaded.cases, { grid = (count + THREADS - 1) // THREADS, block = THREADS, args = args })
  for number, entry in ipairs(batch.forms) do
    local got = {}
    for k = 1, #results do
      got[k] = gpu:download("u64", outputs[(number - 1) * #results + k], count):string()
    end
    found(entry, count, conformance.compare(entry.form, batch.signature, inputs, got))
  end
  for _, address in ipairs(held) do gpu:free(address) end
  for _, address in ipairs(outputs) do gpu:free(address) end
end

return compare
