-- The dispatcher's count_by_kernel: what each kernel had adds up to the statistics, is its own, and changes nothing.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local ww = require "warpwright"

local home <const> = harness.folder()

-- multiply: rounds of arithmetic, then a word of each thread is written. stream: each thread loads a word of each of so many
-- tiles and adds them up. fill: each thread writes a word.
local ptx = harness.write("counted.ptx", [[
.version 4.2
.target sm_20
.address_size 64
.visible .entry multiply(.param .u64 out, .param .u32 rounds)
{
    .reg .u32 %r<8>;
    .reg .u64 %rd<4>;
    .reg .pred %p;
    ld.param.u64 %rd0, [out];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    mov.u32 %r6, 0;
LOOP:
    mad.lo.u32 %r6, %r6, 3, %r5;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra LOOP;
    mul.wide.u32 %rd1, %r5, 4;
    add.u64 %rd2, %rd0, %rd1;
    st.global.u32 [%rd2], %r6;
    ret;
}
.visible .entry stream(.param .u64 in, .param .u32 tiles)
{
    .reg .u32 %r<10>;
    .reg .u64 %rd<4>;
    .reg .pred %p;
    ld.param.u64 %rd0, [in];
    ld.param.u32 %r1, [tiles];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mul.lo.u32 %r7, %r3, 4;
    mad.lo.u32 %r5, %r2, %r1, 0;
    mad.lo.u32 %r5, %r5, %r3, %r4;
    mul.wide.u32 %rd1, %r5, 4;
    add.u64 %rd2, %rd0, %rd1;
    cvt.u64.u32 %rd3, %r7;
    mov.u32 %r6, 0;
LOOP:
    ld.global.u32 %r8, [%rd2];
    add.u32 %r6, %r6, %r8;
    add.u64 %rd2, %rd2, %rd3;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra LOOP;
    ret;
}
]])

local GRID <const>, THREADS <const>, TILES <const> = 60, 128, 24

--- A workload of a script's own that launches these.
local function workload(name, launches)
  return harness.write(name .. ".lua", ([[
local ww = require "warpwright"
local w = ww.workload %q { ptx = %q, sizes = { small = {} } }
local GRID <const>, THREADS <const>, TILES <const> = %d, %d, %d
function w:run(gpu)
  local function multiply(rounds) return { kernel = self.kernels.multiply, grid = GRID, block = THREADS,
    args = { gpu:alloc(4 * GRID * THREADS), rounds } } end
  local function stream() return { kernel = self.kernels.stream, grid = GRID, block = THREADS,
    args = { gpu:upload(ww.array("u32", GRID * THREADS * TILES)), TILES } } end
  %s
end
return w]]):format(name, ptx, GRID, THREADS, TILES, launches))
end

local beside <const> = workload("beside", "gpu:launch_together { multiply(400), stream() }")

local function run(options)
  local all = { config = "gtx480", workload = beside, out = false, policy = "gto" }
  for key, value in pairs(options) do all[key] = value end
  all.set = { ["dispatcher.count_by_kernel"] = true }
  for key, value in pairs(options.set or {}) do all.set[key] = value end
  return ww.run(all)
end

--- Of objects whose paths differ in their indices.
local function sums_of_objects(r)
  local sums = {}
  for name, value in r:stats() do
    local plain = name:gsub("%[%d+%]", ""):gsub("%.", "_")
    sums[plain] = (sums[plain] or 0) + value
  end
  return sums
end

--- An error unless what launches had and what is of none is what the objects have counted. Returns how much was compared.
local function check_sums(r, what)
  local wanted, compared = sums_of_objects(r), 0
  for _, column in ipairs(r.by_kernel.columns) do
    local sum = r["run.no_kernel." .. column.name]
    for i, launch in ipairs(r.launches) do
      sum = sum + launch[column.name]
      harness.equal(r[("launch[%d].%s"):format(i - 1, column.name)], launch[column.name], column.name)
    end
    if not column.name:find "active_cycles$" then
      harness.equal(sum, wanted[column.name], ("%s: %s"):format(what, column.name))
      compared = compared + 1
    end
  end
  for _, launch in ipairs(r.launches) do
    local counted = 0
    for name, value in pairs(launch) do counted = counted + (name:find "._warp_instructions$" and value or 0) end
    harness.equal(counted, launch.warp_instructions, what .. ": instructions of the launch")
  end
  return compared
end

local ways <const> = {
  { "SMs of their own", { ["dispatcher.sharing"] = "evenly" } },
  { "within SMs, evenly", { ["dispatcher.sharing"] = "evenly", ["dispatcher.kernels_per_sm"] = 2 } },
  { "within SMs, in order", { ["dispatcher.kernels_per_sm"] = 2 } },
}

harness.test("what kernels side by side had adds up to the statistics, within SMs and on SMs of their own", function()
  for _, way in ipairs(ways) do
    local r = run { set = way[2] }
    assert(check_sums(r, way[1]) > 40, way[1])
    local multiply, stream = r.launches[1], r.launches[2]
    harness.equal(stream.sm_l1d_read_hits + stream.sm_l1d_read_misses + stream.sm_l1d_read_merges,
      GRID * THREADS // 32 * TILES, way[1] .. ": reads of the one that streams")
    harness.equal(multiply.sm_l1d_read_hits + multiply.sm_l1d_read_misses + multiply.sm_l1d_read_merges, 0,
      way[1] .. ": reads of the other")
    harness.equal(multiply.sm_ctas_started, GRID, way[1])
    harness.equal(stream.mc_read_bytes, 4 * GRID * THREADS * TILES, way[1] .. ": bytes that it streams")
    assert(stream.sm_slots_memory > multiply.sm_slots_memory, way[1])
    assert(stream.sm_lsu_average_load_latency > 100, way[1])
  end
end)

harness.test("kernels one after the other, and those of other machines, too", function()
  for _, one in ipairs { { "gtx480", "bfs" }, { "gtx480_d2ma", "conv2d" }, { "gallery/l3", "backprop" }, { "gallery/shared_l1", "spmv" },
    { "gallery/heterogeneous", "histogram" }, { "medic", "spmv" } } do
    check_sums(run { config = one[1], workload = one[2], size = "small" }, table.concat(one, " "))
  end
end)
harness.test("a line is written back for the kernel that wrote it, whoever makes room for his own", function()
  local turns = workload("turns", [[
  for _, launch in ipairs { multiply(1), stream() } do
    local kernel = launch.kernel
    launch.kernel = nil
    gpu:launch(kernel, launch)
  end]])
  local r = run { workload = turns, set = { ["l2[*].size"] = "16KiB" } }
  local multiply, stream = r.launches[1], r.launches[2]
  check_sums(r, "turns")
  assert(r["l2[*].write_backs"] > 0)
  harness.equal(multiply.mc_write_bytes, r["mc[*].write_bytes"], "bytes of the one that writes")
  harness.equal(multiply.l2_write_backs, r["l2[*].write_backs"], "lines")
  harness.equal(stream.mc_writes, 0, "writes of the other")
  assert(r["mc[*].write_bytes"] >= 4 * GRID * THREADS * 9 // 10, r["mc[*].write_bytes"])
end)

harness.test("a launch that was refused takes no other's counts", function()
  local refused = workload("refused", [[
  local launch = stream()
  launch.kernel = nil
  pcall(gpu.launch, gpu, self.kernels.multiply, { grid = 1, block = 4096, args = { 0, 1 } })
  gpu:launch(self.kernels.stream, launch)]])
  local r = run { workload = refused }
  check_sums(r, "refused")
  harness.equal(r["launch[0].mc_read_bytes"], r["mc[*].read_bytes"])
  harness.equal(r["run.no_kernel.mc_read_bytes"], 0)
end)

--- stats.txt without what host time and the counts by kernel add.
local function plain_stats(folder)
  local lines = {}
  for line in harness.read(folder .. "/stats.txt"):gmatch "[^\n]+" do
    local counted = line:find "^launch%[%d+%]%.sm_" or line:find "^launch%[%d+%]%.l2_" or line:find "^launch%[%d+%]%.mc_" or line:find "^run%.no_kernel"
    if not counted then lines[#lines + 1] = line:gsub(" +", " ") end
  end
  return table.concat(lines, "\n")
end

harness.test("the other statistics are those of a run without, and all the same on two threads, in another order and after a resume", function()
  for _, way in ipairs(ways) do
    local function out(name) return ("%s/%s %s"):format(home, way[1], name) end
    run { set = way[2], out = out "straight", checkpoint_at = "2000,9000" }
    local whole = harness.read(out "straight" .. "/stats.txt")
    local without = { ["dispatcher.count_by_kernel"] = false }
    for name, value in pairs(way[2]) do without[name] = value end
    ww.run { config = "gtx480", workload = beside, policy = "gto", set = without, out = out "without" }
    harness.same_text(plain_stats(out "straight"), plain_stats(out "without"), way[1])
    local function cpi(name) return select(2, harness.run("cpi", out(name))) end
    harness.same_text(cpi "straight", cpi "without", "what reads statistics by pattern")
    run { set = way[2], out = out "threads", threads = 2 }
    harness.same_text(harness.read(out "threads" .. "/stats.txt"), whole, way[1])
    run { set = way[2], out = out "shuffled", order = "shuffled:3" }
    harness.same_text(harness.read(out "shuffled" .. "/stats.txt"), whole, way[1])
    local resumed = 0
    for _, name in ipairs(core.list_folder(out "straight")) do
      if name:find "%.ckpt$" then
        ww.run { resume = out "straight" .. "/" .. name, out = out "resumed" }
        harness.same_text(harness.read(out "resumed" .. "/stats.txt"), whole, ("%s, %s"):format(way[1], name))
        resumed = resumed + 1
      end
    end
    harness.equal(resumed, 2, "checkpoints")
  end
end)

harness.test("the page of a run has a table of it, and that of a run without has none", function()
  for _, counts in ipairs { true, false } do
    local folder = ("%s/page %s"):format(home, counts)
    run { set = { ["dispatcher.count_by_kernel"] = counts }, out = folder }
    harness.equal(harness.run("report", folder), 0)
    local page = harness.read(folder .. "/report.html")
    harness.equal(page:find('id="kernel-counts"', 1, true) ~= nil, counts)
    local row = ("<td>mc_read_bytes</td>.-%d"):format(4 * GRID * THREADS * TILES)
    harness.equal(page:find(row) ~= nil, counts, row)
  end
end)

harness.test("a sweep's database has it", function()
  local file = harness.write("counted.lua", ([[
return { axes = { config = "gtx480", workload = %q, size = "small", policy = "gto", ["dispatcher.count_by_kernel"] = true } }
]]):format(beside))
  local status, text = harness.run("sweep", file, "--out", home .. "/sweep")
  harness.equal(status, 0, text)
  local _, rows = harness.run("query", home .. "/sweep", "--csv", "--select",
    "launch[1].mc_read_bytes, launch[*].l2_misses + run.no_kernel.l2_misses - l2[*].misses AS rest")
  harness.equal(rows:match "\n(.*)$", ("%d,0\n"):format(4 * GRID * THREADS * TILES))
end)

harness.test("from a checkpoint of a run without, it counts from there on", function()
  local folder = home .. "/plain"
  ww.run { config = "gtx480", workload = beside, policy = "gto", out = folder, checkpoint_at = "9000" }
  for _, name in ipairs(core.list_folder(folder)) do
    if name:find "%.ckpt$" then
      local r = ww.run { resume = folder .. "/" .. name, set = { ["dispatcher.count_by_kernel"] = true }, out = false, allow_changes = true }
      local counted = r.launches[1].sm_warp_instructions
      assert(counted > 0 and counted < r.launches[1].warp_instructions, counted)
      assert(r.launches[2].sm_l1d_misses > 0)
    end
  end
end)

--- A policy of the dispatcher: the path of its file. `hook`: what it does there.
local function policy_of(name, hook, body)
  return harness.write(name .. ".lua", ([[
local policy = require "warpwright.policy"
local p = policy %q { scope = "dispatcher", period = 500,
  counters = { multiply = "instructions", stream = "bytes", most = "kernels that have counts" } }
function p:start() self.state = {} end
function p:%s
  %s
end
return p]]):format(name, hook, body))
end

harness.test("a policy is told in its period what each kernel has had, the same on two threads, in another order and after a resume", function()
  local path = policy_of("listens", "on_period()", [[
  local d, counters = self.dispatcher, self.counters
  if d:kernels() == 0 then return end
  self:count("multiply", d:count_of(0, "sm_warp_instructions") - counters.multiply)
  self:count("stream", d:count_of(1, "mc_read_bytes") - counters.stream)
  if not d:count_of(2, "mc_read_bytes") then self:count("most", 2 - counters.most) end]])
  local set = { ["dispatcher.kernels_per_sm"] = 2, ["dispatcher.sharing"] = "evenly" }
  local function heard(options)
    options.policy, options.set = "gto+" .. path, not options.resume and set or nil
    local r = options.resume and ww.run { resume = options.resume, out = false } or run(options)
    return table.concat({ r["dispatcher.listens.multiply"], r["dispatcher.listens.stream"], r["dispatcher.listens.most"] }, " "), r
  end
  local folder = home .. "/listens"
  local whole, r = heard { out = folder, checkpoint_at = "4000" }
  local multiply, stream = whole:match "^(%d+) (%d+) 2$"
  multiply, stream = tonumber(multiply), tonumber(stream)
  assert(multiply > r.launches[1].warp_instructions // 2 and multiply <= r.launches[1].warp_instructions, whole)
  harness.equal(stream, r.launches[2].mc_read_bytes)
  harness.equal(heard { threads = 2 }, whole)
  harness.equal(heard { order = "reversed" }, whole)
  for _, name in ipairs(core.list_folder(folder)) do
    if name:find "%.ckpt$" then harness.equal(heard { resume = folder .. "/" .. name }, whole) end
  end
end)

harness.test("it is refused what there is not, and in the midst of a cycle", function()
  local function refuses(wanted, name, hook, body, set)
    local ok, message = pcall(run, { policy = "gto+" .. policy_of(name, hook, body), set = set })
    assert(not ok, wanted)
    harness.contains(tostring(message), wanted)
  end
  local counts <const> = "self.dispatcher:count_of(0, %q)"
  refuses("dispatcher:count_of: name: expected a count of a launch, such as sm_warp_instructions, got 'l3_misses'", "misnames",
    "on_kernel_end()", counts:format "l3_misses")
  refuses("dispatcher:count_of: name: expected a text, got 7", "numbers", "on_kernel_end()", "self.dispatcher:count_of(0, 7)")
  refuses("dispatcher:count_of: expected a dispatcher with count_by_kernel, got one without", "lacks", "on_kernel_end()",
    counts:format "l2_misses", { ["dispatcher.count_by_kernel"] = false })
  refuses("expected a call from on_period or where kernels start and end, got one in the midst of a cycle", "interrupts",
    "on_cta_end()", counts:format "l2_misses")
  refuses("count_of", "asks", "next_kernel()", counts:format "l2_misses", { ["dispatcher.kernels_per_sm"] = 2 })
end)

harness.test("what was counted since an earlier result is that of the launches since then", function()
  local sim = ww.build("gtx480", { policy = "gto", set = { ["dispatcher.count_by_kernel"] = true } })
  local gpu = sim:gpu()
  local kernels = gpu:load(ptx)
  local out = gpu:alloc(4 * GRID * THREADS)
  local first = gpu:launch(kernels.multiply, { grid = GRID, block = THREADS, args = { out, 3 } })
  harness.equal(first.sm_warp_instructions, nil, "in what a host program has")
  local earlier = sim:result()
  gpu:launch(kernels.multiply, { grid = GRID // 2, block = THREADS, args = { out, 3 } })
  local since = sim:result():since(earlier)
  harness.equal(#since.launches, 1)
  harness.equal(since["launch[0].sm_ctas_started"], GRID // 2)
  harness.equal(earlier["launch[0].sm_ctas_started"], GRID)
end)

harness.test("what a kernel had stays as it is when another one runs, its code included", function()
  local sim = ww.build("gtx480_gpgpusim4", { policy = "gto", set = { ["dispatcher.count_by_kernel"] = true } })
  local gpu = sim:gpu()
  local kernels = gpu:load(ptx)
  local out = gpu:alloc(4 * GRID * THREADS)
  gpu:launch(kernels.multiply, { grid = GRID, block = THREADS, args = { out, 3 } })
  local before = sim:result()
  gpu:launch(kernels.stream, { grid = 1, block = THREADS, args = { out, 3 } })
  local after, compared = sim:result(), 0
  for _, column in ipairs(after.by_kernel.columns) do
    harness.equal(after.launches[1][column.name], before.launches[1][column.name], column.name)
    compared = compared + (before.launches[1][column.name] > 0 and 1 or 0)
  end
  assert(compared > 10, compared)
  assert(after["sm[*].fetch_misses"] > before["sm[*].fetch_misses"], "it fetches no code")
end)

harness.test("transfers of the DMA engine are those of the kernel that asked for them", function()
  local sim = ww.build("gtx480_d2ma", { set = { ["dispatcher.count_by_kernel"] = true } })
  sim:run("haar", "small,version=d2ma")
  local whole = sim:result()
  harness.equal(#whole.launches, 2)
  sim = ww.build("gtx480_d2ma", { set = { ["dispatcher.count_by_kernel"] = true } })
  sim:start("haar", "small,version=d2ma")
  sim:run { until_cycle = whole.launches[2].start_cycle }
  local first = sim:result().launches
  harness.equal(#first, 1)
  for _, name in ipairs { "l2_read_hits", "l2_read_misses", "sm_l1d_read_misses" } do
    harness.equal(whole.launches[1][name], first[1][name], name)
  end
end)

harness.test("it goes on in a machine that takes the place of another, and in forks, or begins there", function()
  local function begin(counts)
    local sim = ww.build("gtx480", { policy = "gto", set = { ["dispatcher.count_by_kernel"] = counts, ["dispatcher.kernels_per_sm"] = 2 } })
    sim:start(beside)
    assert(not sim:run { until_cycle = 4000 })
    return sim
  end
  local function finish(sim)
    assert(sim:run {})
    return sim:result()
  end
  local function text(r)
    local lines = {}
    for name, value in r:stats() do lines[#lines + 1] = not name:find "^run%.s" and ("%s %s"):format(name, value) or nil end
    return table.concat(lines, "\n")
  end
  local whole, sim = text(finish(begin(true))), begin(true)
  sim:change {}
  harness.same_text(text(finish(sim)), whole, "changed in nothing")
  sim = begin(true)
  sim:change { set = { ["l2[*].size"] = "32KiB", ["sm[*].l1d.size"] = "8KiB" } }
  check_sums(finish(sim), "with smaller caches")
  for _, r in ipairs(begin(true):fork { { name = "same" }, { name = "lrr", policy = "lrr" }, out = home .. "/forks" }) do
    check_sums(r, r.policy)
  end
  sim = begin(false)
  sim:change { set = { ["dispatcher.count_by_kernel"] = true } }
  local r = finish(sim)
  for i, launch in ipairs(r.launches) do
    assert(launch.sm_warp_instructions > 0 and launch.sm_warp_instructions < launch.warp_instructions, i)
  end
  sim = begin(true)
  sim:change { set = { ["dispatcher.count_by_kernel"] = false } }
  harness.equal(rawget(finish(sim), "by_kernel"), nil)
end)

harness.test("what cannot go with it is refused", function()
  local function refuses(wanted, call, ...)
    local ok, message = pcall(call, ...)
    assert(not ok, wanted)
    harness.contains(tostring(message), wanted)
  end
  refuses("sample: expected a dispatcher without count_by_kernel, got one with it", run, { workload = "spmv", size = "small", sample = "error=20%" })
end)

harness.finish()
