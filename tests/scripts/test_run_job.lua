-- scripts/run_job: what buffers hold, what kernels compute from them, what is printed, and what bad jobs are told.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local buffers = require "scripts.lib.buffers"
local jobs = require "scripts.lib.job"
local job_runner = require "scripts.lib.job_runner"
local json = require "warpwright.json"

local program = arg[-1]
local reference = "workloads/reference"
local root = harness.folder()
harness.write("reference.ptx", harness.read(reference .. "/kernels/reference.ptx"))

local function run_job(...) return harness.run("scripts/run_job.lua", "--root", root, ...) end

--- Runs a job of this text; returns what it printed and its JSON figures.
local function run_text(text, ...)
  local job, figures = harness.write("test.job", text), root .. "/figures.json"
  local status, output = run_job("gtx480", job, "--json", figures, ...)
  if status ~= 0 then error(output, 2) end
  return output, json.decode(harness.read(figures))[1]
end

-- The inputs once more, from their definition.

local function as_f32(value) return (string.unpack("<f", string.pack("<f", value))) end

local function f32_inputs(count, seed)
  local values, s = {}, seed
  for i = 1, count do
    s = s * 6364136223846793005 + 1442695040888963407
    values[i] = ((s >> 32) >> 8) / 2 ^ 24
  end
  return values
end

local function unpack_xz(path)
  local pipe = assert(io.popen("xz -d -c '" .. path .. "'"))
  local text = pipe:read "a"
  assert(pipe:close())
  return text
end

local function near(got, want, relative, what)
  if math.abs(got - want) > relative * math.abs(want) then
    error(("%s: got %.9g, want %.9g"):format(what, got, want), 2)
  end
end

harness.test("vecadd adds the f32 inputs bit for bit, and dump and sum show it", function()
  local n = 1000
  local output, figures = run_text(([[
# a comment
ptx reference.ptx   # and another
buf a %d f32 1
buf b %d f32 -2
buf c %d zero
launch vecadd 4 1 1 256 1 1 0 @a @b @c i:%d
sum c
dump c c.bin
]]):format(4 * n, 4 * n, 4 * n, n))
  local a, b, c, sum = f32_inputs(n, 1), f32_inputs(n, -2), harness.read(root .. "/c.bin"), 0
  harness.equal(#c, 4 * n, "bytes of c.bin")
  for i = 1, n do
    local got = string.unpack("<f", c, 4 * i - 3)
    harness.equal(got, as_f32(a[i] + b[i]), "c[" .. i .. "]")
    sum = sum + got
  end
  near(figures.sums[1].f32, sum, 1e-8, "sum of c")
  harness.contains(output, ("sum of c: %.9g as f32"):format(sum), "1 vecadd", "total")
end)

--- How many hundreds of Lua's instructions a call takes.
local function lua_steps(action, ...)
  local hundreds = 0
  debug.sethook(function() hundreds = hundreds + 1 end, "", 100)
  action(...)
  debug.sethook()
  return hundreds
end

harness.test("no input takes a step of Lua for each of its elements", function()
  local gpu = ww.build("gtx480", { set = { sms = 1, partitions = 1 } }):gpu()
  local address, text = gpu:alloc(1 << 16), ("\0\1\2\255"):rep(1 << 14)
  local function few(...) assert(lua_steps(...) < 10) end
  few(buffers.write_f32, gpu, address, 1 << 14, 1)
  few(buffers.upload, gpu, address, text)
  few(buffers.save, gpu, address, #text - 3, root .. "/saved.bin")
  assert(harness.read(root .. "/saved.bin") == text:sub(1, -4), "other bytes than were uploaded")
end)

harness.test("numbers that are written by pieces go on where the piece before ended", function()
  local count = 2 * 65536 + 3
  local gpu = ww.build("gtx480", { set = { sms = 1, partitions = 1 } }):gpu()
  local address, wanted = gpu:alloc(4 * count + 4), f32_inputs(count, 5)
  gpu:fill(address, 255, 4 * count + 4)
  buffers.write_f32(gpu, address, count, 5)
  local got = gpu:download("f32", address, count)
  for i = 1, count do
    if got[i - 1] ~= wanted[i] then harness.equal(got[i - 1], wanted[i], "number " .. i) end
  end
  harness.equal(gpu:download("u32", address + 4 * count, 1)[0], 0xffffffff, "what lies behind")
end)

harness.test("sgemm16 gives the sum of the product", function()
  local n = 64
  local _, figures = run_text(([[
ptx reference.ptx
buf a %d f32 1
buf b %d f32 2
buf c %d raw
launch sgemm16 4 4 1 16 16 1 0 @a @b @c i:%d
sum c
]]):format(4 * n * n, 4 * n * n, 4 * n * n, n))
  local a, b, want = f32_inputs(n * n, 1), f32_inputs(n * n, 2), 0
  for k = 1, n do
    local column, row = 0, 0
    for i = 1, n do
      column, row = column + a[(i - 1) * n + k], row + b[(k - 1) * n + i]
    end
    want = want + column * row
  end
  near(figures.sums[1].f32, want, 1e-5, "sum of c")
end)

harness.test("float arguments reach syrk", function()
  local n = 32
  local _, figures = run_text(([[
ptx reference.ptx
buf a %d f32 1
buf c %d f32 2
launch syrk 1 4 1 32 8 1 0 @a @c i:%d i:%d f:1.5 f:2
sum c
]]):format(4 * n * n, 4 * n * n, n, n))
  local a, c, want = f32_inputs(n * n, 1), f32_inputs(n * n, 2), 0
  for k = 1, n do
    local column = 0
    for i = 1, n do column = column + a[(i - 1) * n + k] end
    want = want + 1.5 * column * column
  end
  for i = 1, n * n do want = want + 2 * c[i] end
  near(figures.sums[1].f32, want, 1e-5, "sum of c")
end)

harness.test("the spmv job multiplies the matrix of the compressed files", function()
  local figures_file = root .. "/spmv.json"
  local status, output = harness.run("scripts/run_job.lua", "--root", reference, "--regs", reference .. "/regs.txt",
    "--json", figures_file, "gtx480", reference .. "/jobs/spmv.job")
  harness.equal(status, 0, output)
  local columns = unpack_xz(reference .. "/data/spmv_col.bin.xz")
  local values = unpack_xz(reference .. "/data/spmv_val.bin.xz")
  local x, want = f32_inputs(16384, 5), 0
  for at = 1, #columns, 4 do
    want = want + string.unpack("<f", values, at) * x[string.unpack("<i4", columns, at) + 1]
  end
  local figures = json.decode(harness.read(figures_file))[1]
  near(figures.sums[1].f32, want, 1e-5, "sum of y")
  harness.equal(figures.warp_instructions, 355942, "warp instructions")
end)

--- The cells of a chase buffer in the order in which its pointers visit them.
local function visit(bytes, base, cells)
  local order, address = {}, base
  for i = 1, cells do
    order[i] = address
    address = string.unpack("<i8", bytes, address - base + 1)
  end
  harness.equal(address, base, "the last pointer")
  return order
end

harness.test("buffers lie in a row from 0xc0000000, and chases go through all their cells", function()
  run_text [[
ptx reference.ptx
buf first 1 zero
buf p 1000 chase 104 0
buf q 8192 chase 128 9
buf o 8 raw
launch chase_l1 1 1 1 1 1 1 0 @q @o i:3
dump p p.bin
dump q q.bin
dump o o.bin
]]
  local in_order = visit(harness.read(root .. "/p.bin"), 0xc0000100, 9)
  for i, address in ipairs(in_order) do harness.equal(address, 0xc0000100 + 104 * (i - 1), "cell " .. i) end

  local shuffled, seen, moved = visit(harness.read(root .. "/q.bin"), 0xc0000500, 64), {}, 0
  for i, address in ipairs(shuffled) do
    harness.equal((address - 0xc0000500) % 128, 0, "offset in the cell")
    harness.equal(seen[address], nil, "earlier visit of a cell")
    seen[address] = true
    if address ~= 0xc0000500 + 128 * (i - 1) then moved = moved + 1 end
  end
  assert(moved > 32, "the order is not shuffled")
  local ended = string.unpack("<i8", harness.read(root .. "/o.bin"))
  harness.equal(ended, shuffled[3 * 16 + 1], "where the kernel's chase ended")
end)

harness.test("a shuffled chase has the order of its definition", function()
  run_text "buf p 40 chase 8 3\ndump p p.bin\n"
  local p, s = { [0] = 0, 1, 2, 3, 4 }, 3
  for i = 4, 2, -1 do
    s = s * 6364136223846793005 + 1442695040888963407
    local j = 1 + (s >> 32) % i
    p[i], p[j] = p[j], p[i]
  end
  for k, address in ipairs(visit(harness.read(root .. "/p.bin"), 0xc0000000, 5)) do
    harness.equal(address, 0xc0000000 + 8 * p[k - 1], "visit " .. k)
  end
end)

local two_launches = [[
ptx reference.ptx
buf o 4096 zero
launch fmaloop 2 1 1 256 1 1 0 @o i:4
launch fmaloop 4 1 1 256 1 1 0 @o i:4
]]

harness.test("launches are measured one by one, and add up", function()
  local _, r = run_text(two_launches)
  local first, second = r.launches[1], r.launches[2]
  harness.equal(#r.launches, 2, "launches")
  harness.equal(second.warp_instructions, 2 * first.warp_instructions, "warp instructions of twice the CTAs")
  for _, name in ipairs { "cycles", "warp_instructions", "thread_instructions" } do
    harness.equal(r[name], first[name] + second[name], name)
  end
  harness.equal(first.l1d_miss_rate, 1, "the stores miss in L1")
  assert(second.l2_miss_rate < first.l2_miss_rate, "the second launch finds half of its lines in L2")
end)

--- The counters of all objects of a name, row by row.
local function summed(sim, object, name)
  local sum = 0
  for path, value in sim:result():stats() do
    if path:match "([%w_]+)[%[%]%d]*%.[%w_]+$" == object and path:match "[%w_]+$" == name then sum = sum + value end
  end
  return sum
end

harness.test("the rates of a launch are those of the counters of all objects", function()
  local _, r = run_text(two_launches, "--set", "sms=2")
  local sim = ww.build("gtx480", { set = { sms = 2 } })
  local gpu, before = sim:gpu(), {}
  local o, kernels = gpu:alloc(4096), gpu:load(root .. "/reference.ptx")
  gpu:fill(o, 0, 4096)
  for i, ctas in ipairs { 2, 4 } do
    gpu:launch(kernels.fmaloop, { grid = ctas, block = 256, args = { o, 4 } })
    local function since(object, name)
      local key, now = object .. name, summed(sim, object, name)
      local count = now - (before[key] or 0)
      before[key] = now
      return count
    end
    local hits, misses, merges = since("l2", "hits"), since("l2", "misses"), since("l2", "merges")
    near(r.launches[i].l2_miss_rate, misses / (hits + misses + merges), 1e-8, "L2 miss rate of launch " .. i)
    local busy, cycles = since("mc", "data_bus_cycles"), since("mc", "cycles")
    near(r.launches[i].dram_busy, busy / cycles, 1e-8, "DRAM of launch " .. i)
  end
  sim:close()
end)

--- What a job of so many launches takes of Lua's memory, in KiB.
local function allocated(launches)
  local text = "ptx reference.ptx\nbuf o 4096 zero\n" .. ("launch fmaloop 1 1 1 32 1 1 0 @o i:1\n"):rep(launches)
  local parsed = jobs.read(harness.write("long.job", text))
  collectgarbage()
  collectgarbage "stop"
  local before = collectgarbage "count"
  job_runner.run("gtx480", parsed, { root = root })
  local after = collectgarbage "count"
  collectgarbage "restart"
  return after - before
end

harness.test("a launch more costs a few kilobytes, however many statistics there are", function()
  local each = (allocated(60) - allocated(20)) / 40
  assert(each < 16, ("%.1f KiB a launch"):format(each))
end)

harness.test("--regs limits how many CTAs an SM holds", function()
  local job = two_launches:gsub("4096", "61440"):gsub("fmaloop 2", "fmaloop 60")
  harness.write("one.txt", "# none\nfmaloop 20\n")
  harness.write("other.txt", "fmaloop 128 # one CTA of 256 threads fits 32768 registers\n")
  local _, few = run_text(job, "--regs", root .. "/one.txt")
  local _, many = run_text(job, "--regs", root .. "/other.txt")
  harness.equal(few.warp_instructions, many.warp_instructions, "warp instructions")
  assert(few.cycles < many.cycles, "fewer registers, more CTAs at a time")
end)

harness.test("--policy and --set change the machine", function()
  local output, r = run_text(two_launches, "--policy", "lrr", "--set", "clock.dram=500MHz")
  harness.equal(r.policy, "lrr", "policy")
  harness.contains(output, "policy lrr")
  local _, refusal = run_job("--set", "no_such=1", "gtx480", harness.write("test.job", two_launches))
  harness.contains(refusal, "no_such")
end)

harness.test("every buffer is a copy from the host, which a machine may keep in its L2", function()
  for _, contents in ipairs { "zero", "f32 1", "chase 128 0" } do
    local job = harness.write("copied.job", ([[
ptx reference.ptx
buf a 65536 %s
buf o 64 raw
launch rdstream 1 1 1 256 1 1 0 @a @o i:16384
]]):format(contents))
    local rates, figures = {}, root .. "/figures.json"
    for _, keeps in ipairs { "true", "false" } do
      local status, output = run_job("gtx480", job, "--json", figures, "--set", "l2[*].host_copies=" .. keeps)
      harness.equal(status, 0, output)
      rates[keeps] = json.decode(harness.read(figures))[1].l2_miss_rate
    end
    assert(rates["true"] < 0.05 and rates["false"] > 0.9, ("%s: L2 miss rates of %g and %g"):format(contents, rates["true"], rates["false"]))
  end
end)

harness.test("several jobs run on a machine each, also through scripts/run_job", function()
  harness.write("one.job", two_launches)
  local command = "WARPWRIGHT='%s' scripts/run_job --root '%s' --threads 1 gtx480 '%s/one.job' '%s/one.job' 2>&1"
  local pipe = assert(io.popen(command:format(program, root, root, root)))
  local text = pipe:read "a"
  assert(pipe:close(), text)
  local first, second = text:match "(total%s+%d+%s+%d+).*(total%s+%d+%s+%d+)"
  harness.equal(first, second, "totals of the same job")
end)

--- A job that must be refused, with all of these in the message.
local function refused(text, ...)
  local job = harness.write("bad.job", text)
  local status, output = run_job("gtx480", job)
  harness.equal(status, 2, "exit status of: " .. text)
  harness.contains(output, ...)
end

harness.test("bad lines are named with file, number and what is legal", function()
  refused("ptx reference.ptx\nfrobnicate 1\n", "bad.job:2: ", "'frobnicate'", "expected ptx, buf, launch, sum, dump")
  refused("buf a 12\n", "bad.job:1: ", "buf: expected the contents, got nothing")
  refused("buf a twelve zero\n", "bad.job:1: ", "'twelve'")
  refused("buf a 16 ones\n", "bad.job:1: ", "'ones'", "zero, raw, f32, file or chase")
  refused("buf a 16 zero\n\nbuf a 16 zero\n", "bad.job:3: ", "got 'a', which line 1 defines")
  refused("buf a 16 zero zero\n", "bad.job:1: ", "expected the end of the line, got 'zero'")
  refused("buf a 18 f32 1\n", "bad.job:1: ", "got 18")
  refused("buf a 64 chase 12 1\n", "bad.job:1: ", "multiple of 8")
  refused("sum a\n", "bad.job:1: ", "no buffer above this line matches 'a'")
  refused("ptx reference.ptx\nlaunch fmaloop 1 1 1 0 1 1 0\n", "bad.job:2: ", "bx: expected a whole number from 1 on, got '0'")
  refused("buf a 16 zero\nlaunch fmaloop 1 1 1 1 1 1 0 @a 64\n", "bad.job:2: ", "i:INTEGER, f:FLOAT), got '64'")
  refused("launch fmaloop 1 1 1 1 1 1 0 @b i:1\n", "bad.job:1: ", "no buffer above this line matches 'b'")
end)

harness.test("missing files, kernels and arguments are named with the job's line", function()
  refused("ptx missing.ptx\n", "bad.job:1: ", "missing.ptx")
  refused("buf a 16 file missing.bin\n", "bad.job:1: ", "missing.bin", "missing.bin.xz")
  refused("buf a 5000000000 zero\n", "bad.job:1: ", "5000000000 bytes")
  harness.write("short.bin", "four")
  refused("buf a 16 file short.bin\n", "bad.job:1: ", "short.bin: expected 16 bytes for the buffer, got 4")
  harness.write("broken.bin.xz", "this is not compressed")
  refused("buf a 16 file broken.bin\n", "broken.bin.xz")
  refused("ptx reference.ptx\nlaunch nothing 1 1 1 1 1 1 0\n", "bad.job:2: ", "'nothing'", "fmaloop, rdstream, sgemm16")
  refused("launch nothing 1 1 1 1 1 1 0\n", "bad.job:1: ", "the file has no ptx directive")
  refused("ptx reference.ptx\nlaunch fmaloop 1 1 1 1 1 1 0 i:1\n", "bad.job:2: kernel fmaloop", "args: expected 2")
  refused("buf a 16 zero\ndump a no/such/folder.bin\nsum a\n", "bad.job:2: ", "no/such/folder.bin", "sum of a: 0 ")
end)

harness.test("a launch of a kernel with unsupported statements is refused before anything runs", function()
  harness.write("mixed.ptx", [[
.version 7.0
.target sm_20
.address_size 64
.visible .entry good() { ret; }
.visible .entry bad() { .reg .b32 %r<3>;
 frobnicate.b32 %r1, %r2; ret; }
]])
  refused("ptx mixed.ptx\nlaunch good 1 1 1 32 1 1 0\nlaunch bad 1 1 1 32 1 1 0\n", "bad.job:3: kernel bad cannot be launched: ",
    "mixed.ptx:6: frobnicate.b32 %r1, %r2: ")
  local status, output = run_job("gtx480", harness.write("good.job", "ptx mixed.ptx\nlaunch good 1 1 1 32 1 1 0\n"))
  harness.equal(status, 0, "exit status, output " .. output)
end)

harness.test("wrong options are refused", function()
  local job = harness.write("fine.job", two_launches)
  local function wrong(wanted, ...)
    local status, output = run_job(...)
    harness.equal(status, 2, "exit status")
    harness.contains(output, wanted)
  end
  wrong("'--nothing'", "--nothing", "1", "gtx480", job)
  wrong("expected a value, got nothing", "gtx480", job, "--json")
  wrong("run_job: expected CONFIG and JOB..., got 1 argument", "gtx480")
  wrong("threads: ", "--threads", "0", "gtx480", job)
  wrong("config: no config matches 'gtx481'", "gtx481", job)
  wrong("no.job", "gtx480", root .. "/no.job")
  wrong("missing.txt", "--regs", root .. "/missing.txt", "gtx480", job)
  wrong("bad.txt:1: ", "--regs", harness.write("bad.txt", "fmaloop many\n"), "gtx480", job)
end)

harness.finish()
