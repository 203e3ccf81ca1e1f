-- Kernels that the reference jobs are not like, as jobs on gtx480_gpgpusim4: each buffer element for element.
local harness = require "tests.lib.harness"

local root = harness.folder()
harness.write("job_kernels.ptx", harness.read "tests/kernels/job_kernels.ptx")

--- Runs a job; returns a function that gives a dumped buffer as a list of unsigned numbers.
local function run(text)
  local job = harness.write("test.job", "ptx job_kernels.ptx\n" .. text)
  local status, output = harness.run("scripts/run_job.lua", "--root", root, "gtx480_gpgpusim4", job)
  harness.equal(status, 0, output)
  return function(name)
    local bytes, numbers = harness.read(root .. "/" .. name), {}
    for at = 1, #bytes, 4 do numbers[#numbers + 1] = string.unpack("<I4", bytes, at) end
    return numbers
  end
end

local function same(got, want, what)
  harness.equal(#got, #want, "numbers of " .. what)
  for i = 1, #want do
    if got[i] ~= want[i] then error(("%s[%d]: got %d, want %d"):format(what, i - 1, got[i], want[i]), 2) end
  end
end

harness.test("atomics whose results are used on some paths only: maximum, xor and sum", function()
  local dump = run [[
buf numbers 16384 f32 3
buf results 12 zero
launch combine 16 1 1 256 1 1 0 @results @numbers i:4001
dump numbers numbers.bin
dump results results.bin
]]
  local numbers, maximum, xor, sum = dump "numbers.bin", 0, 0, 0
  for i = 1, 4001 do
    maximum, xor, sum = math.max(maximum, numbers[i] >> 2), xor ~ numbers[i], sum + (numbers[i] >> 2)
  end
  same(dump "results.bin", { maximum, xor, sum & 0xffffffff }, "results")
end)

harness.test("the CTA that is done last sees what all others stored before their fences, twice", function()
  local dump = run [[
buf numbers 40000 f32 5
buf partial 240 zero
buf done 4 zero
buf first 4 zero
buf second 4 zero
launch reduce 60 1 1 128 1 1 0 @numbers @partial @done @first i:10000
launch reduce 60 1 1 128 1 1 0 @numbers @partial @done @second i:7777
dump numbers numbers.bin
dump first first.bin
dump second second.bin
]]
  local numbers = dump "numbers.bin"
  local function sum(n)
    local all = 0
    for i = 1, n do all = all + (numbers[i] & 1023) end
    return all
  end
  same(dump "first.bin", { sum(10000) }, "first")
  same(dump "second.bin", { sum(7777) }, "second")
end)

harness.test("votes sort by four bits, and stably", function()
  local dump = run [[
buf from 32768 f32 7
buf to 32768 raw
launch radix_pass 32 1 1 256 1 1 0 @from @to i:9
dump from from.bin
dump to to.bin
]]
  local from, want = dump "from.bin", {}
  for cta = 0, 31 do
    for digit = 0, 15 do
      for i = 256 * cta + 1, 256 * cta + 256 do
        if from[i] >> 9 & 15 == digit then want[#want + 1] = from[i] end
      end
    end
  end
  same(dump "to.bin", want, "to")
end)

harness.test("arrays in local memory and constant tables that registers index", function()
  local n = 2000
  local dump = run(([[
buf from 8192 f32 9
buf to 8000 raw
launch shuffle 16 1 1 128 1 1 0 @from @to i:%d
dump from from.bin
dump to to.bin
]]):format(n))
  local from, want, steps = dump "from.bin", {}, { [0] = 3, 1, 4, 1, 5, 9, 2, 6 }
  for i = 0, n - 1 do
    local own, sum = {}, 0
    for k = 0, 15 do own[k] = from[(i + k * 37) % n + 1] end
    for k = 0, 15 do
      local number = own[k]
      own[k] = own[number & 15]
      own[number & 15] = (number * 3 + steps[number >> 5 & 7]) & 0xffffffff
    end
    for k = 0, 15 do sum = (sum * 31 + own[k]) & 0xffffffff end
    want[i + 1] = sum
  end
  same(dump "to.bin", want, "to")
end)

harness.finish()
