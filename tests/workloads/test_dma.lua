-- The DMA engine on a whole machine: every mode element for element; no tick order, thread or checkpoint in mid-transfer
-- changes anything; engines that nobody uses change nothing.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local transfers = require "tests.kernels.dma_kernel"
local oracle = require "scripts.lib.resume_oracle"

for _, kind in ipairs { "flat", "strided", "2d", "padded", "padded 2d", "halo" } do
  harness.test(kind .. " transfers bring every element to its place", function()
    local run = ww.run { config = "gtx480_d2ma", workload = transfers, size = { "small", kind = kind }, set = { sms = 2, partitions = 2 },
      out = harness.folder() .. "/" .. kind }
    harness.equal(run["sm[*].dma.transfers"], 6 * 3 * 3, "transfers")
    assert(run["sm[*].dma_squashes"] > 0, "no load came before its data")
  end)
end

harness.test("a policy hears of an issue once, and of none that the engine takes back", function()
  local counting = harness.write("counting.lua", [[
local counting = require "warpwright.policy" "counting" { doc = "Counts issues", order = "gto", counters = { issues = "Heard of" } }
function counting:on_issue() self:count "issues" end
return counting]])
  local run = ww.run { config = "gtx480_d2ma", workload = transfers, size = "small", policy = counting, set = { sms = 2, partitions = 2 },
    out = false }
  assert(run["sm[*].dma_squashes"] > 0, "nothing was taken back")
  harness.equal(run["sm[*].counting.issues"], run["sm[*].warp_instructions"], "issues")
end)

-- Without the check loads read what was there before: the same transfers are wrong.
harness.test("without the check a kernel computes with stale data", function()
  local out = harness.folder() .. "/stale"
  local ok, problem = pcall(ww.run, { config = "gtx480_d2ma", workload = transfers, size = "small,transfers=1", out = out,
    set = { sms = 2, partitions = 2, ["sm[*].dma.check"] = false } })
  assert(not ok, "the results are right")
  harness.contains(tostring(problem), "tile 0")
end)

-- Rows of the engine are left out: its own, and those that SM and L1 count of it.
local function without_engine(stats)
  local kept = {}
  for line in stats:gmatch "[^\n]+" do
    if not line:find "%.dma%." then kept[#kept + 1] = line:gsub("%s+", " ") end
  end
  return table.concat(kept, "\n")
end

harness.test("engines that nobody uses change nothing", function()
  for _, workload in ipairs { "sgemm", "spmv" } do
    local stats = {}
    for i, engines in ipairs { true, false } do
      local out = ("%s/%s-%d"):format(harness.folder(), workload, i)
      ww.run { config = "gtx480_d2ma", workload = workload, size = "small", out = out, set = { engines = engines } }
      stats[i] = without_engine(harness.read(out .. "/stats.txt"))
    end
    assert(stats[1] == stats[2], workload .. ": stats differ")
  end
end)

-- Many CTAs with two buffers each, so that transfers are in flight nearly always.
local file = [[
local ww = require "warpwright"
local w = ww.workload "busy_engines" { ptx = "dma_kernel.ptx", sizes = { small = {} } }
function w:run(gpu)
  local data = ww.array("u8", 1 << 20):random(1, 0, 255)
  local struct = ww.array("u32", 12)
  for i, value in ipairs { 2, 4, 14, 14, 200, 0, 0, 1, 1, 5, 7, 0 } do struct[i - 1] = value end
  local from, to = gpu:upload(data), gpu:alloc(4096 * 64 * 6)
  gpu:launch(self.kernels.transfer, { grid = 64, block = 128, args = { from + 4096, to, 6, 256, struct } })
  local x = data[4096 + 6 * 256] | data[4096 + 6 * 256 + 1] << 8
  self:check("first inner element of CTA 1", gpu:download("u32", to + 4 * (1024 * 6 + 17), 1)[0] & 0xffff, x)
end
return w
]]
harness.write("dma_kernel.ptx", harness.read "tests/kernels/dma_kernel.ptx")
local busy = harness.write("busy_engines.lua", file)

harness.test("runs that are saved in mid-transfer end as those that were not", function()
  local lines = {}
  local case = oracle.case {
    folder = harness.folder(), jobs = 2, threaded = 30, seed = 3, config = "gtx480_d2ma", workload = busy,
    size = "small", policy = "gto", report = function(line) lines[#lines + 1] = line end,
  }
  if not case.problem then case:resume_everywhere(8) end
  case:close()
  assert(case.unequal == 0 and not case.problem, case.problem or table.concat(lines, "\n"))
  harness.equal(case.resumes, 8, "resumes")
end)

harness.test("threads and tick orders change nothing", function()
  local first
  for i, options in ipairs { { order = "path" }, { order = "reversed" }, { order = "shuffled:7" }, { threads = 2 } } do
    local out = ("%s/order-%d"):format(harness.folder(), i)
    ww.run { config = "gtx480_d2ma", workload = busy, size = "small", out = out, order = options.order,
      threads = options.threads }
    local stats = harness.read(out .. "/stats.txt")
    first = first or stats
    assert(stats == first, "stats.txt differs")
  end
  assert(tonumber(first:match "sm%[0%]%.l1d%.dma_requests +(%d+)") > 0)
end)

-- Each CTA has a tile brought by the engine and one by a bulk copy. Of the first, bulk copies are made while it is in flight:
-- to global memory, added to global memory, and within shared memory.
harness.write("mixed.ptx", [[
.version 8.0
.target sm_90
.address_size 64
.extern .func dma_configure_flat_unit_stride (.param .b64 a, .param .b64 b, .param .b32 c, .param .b32 d);
.visible .entry mixed(.param .u64 pa, .param .u64 pb, .param .u64 pout, .param .u64 pcopy, .param .u64 psum)
{
    .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %d<12>;
    .shared .align 128 .b8 tile[1024];
    .shared .align 128 .b8 stage[1024];
    .shared .align 128 .b8 moved[1024];
    .shared .align 8 .b64 full;
    ld.param.u64 %d1, [pa]; ld.param.u64 %d2, [pb]; ld.param.u64 %d3, [pout]; ld.param.u64 %d4, [pcopy]; ld.param.u64 %d9, [psum];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;
    mul.wide.u32 %d5, %r1, 1024;
    add.u64 %d1, %d1, %d5; add.u64 %d2, %d2, %d5; add.u64 %d3, %d3, %d5; add.u64 %d4, %d4, %d5; add.u64 %d9, %d9, %d5;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 mbarrier.init.shared::cta.b64 [full], 1;
    bar.sync 0;
    mov.u32 %r3, tile; mov.u32 %r4, stage; mov.u32 %r5, moved; mov.u32 %r6, full;
    cvt.u64.u32 %d6, %r3; cvta.shared.u64 %d6, %d6;
    {
    .param .b64 a; .param .b64 b; .param .b32 c; .param .b32 d;
    st.param.b64 [a], %d6; st.param.b64 [b], %d1; st.param.b32 [c], 256; st.param.b32 [d], 0;
    call.uni dma_configure_flat_unit_stride, (a, b, c, d);
    }
    @!%p1 bra WAIT;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r6], 2048;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%d2], 1024, [%r6];
    // ORDER
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r6], 0;
    @!%p2 bra WAIT;
    shl.b32 %r7, %r2, 2;
    add.u32 %r3, %r3, %r7; add.u32 %r4, %r4, %r7; add.u32 %r5, %r5, %r7;
    ld.shared.u32 %r8, [%r3]; ld.shared.u32 %r9, [%r4]; ld.shared.u32 %r10, [%r5];
    mad.lo.u32 %r8, %r9, 3, %r8; mad.lo.u32 %r8, %r10, 5, %r8;
    cvt.u64.u32 %d7, %r7; add.u64 %d3, %d3, %d7;
    st.global.u32 [%d3], %r8;
    ret;
}
]])
local mixed = harness.write("mixed.lua", [[
local ww = require "warpwright"
local w = ww.workload "mixed" { ptx = "mixed.ptx", sizes = { small = { first = "" } } }
local ctas, copies = 24, {
  copy = "cp.async.bulk.global.shared::cta.bulk_group [%d4], [%r3], 1024;",
  sum = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d9], [%r3], 1024;",
  move = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r3], 1024, [%r6];",
}
function w:run(gpu, size)
  local first, count = size.first, 256 * ctas
  local order = { copies[first] }
  for _, name in ipairs { "copy", "sum", "move" } do order[#order + 1] = name ~= first and copies[name] or nil end
  local file <close> = io.open(debug.getinfo(1, "S").source:match "^@(.*)mixed.lua$" .. "mixed.ptx")
  local kernels = gpu:load { name = "mixed.ptx", text = (file:read "a":gsub("// ORDER", { ["// ORDER"] = table.concat(order, "\n") })) }
  local a, b = ww.array("u32", count):random(1, 0, 1000000), ww.array("u32", count):random(2, 0, 1000000)
  local want, sum = ww.array("u32", count), ww.array("u32", count)
  for i = 0, count - 1 do want:set(i, 6 * a[i] + 3 * b[i]); sum:set(i, a[i] + 7) end
  local out, copy, sums = gpu:alloc(4 * count), gpu:alloc(4 * count), gpu:upload(ww.array("u32", count):fill(7))
  gpu:launch(kernels.mixed, { grid = ctas, block = 256, args = { gpu:upload(a), gpu:upload(b), out, copy, sums } })
  self:check("words", gpu:download("u32", out, count), want)
  self:check("copy", gpu:download("u32", copy, count), a)
  self:check("sum", gpu:download("u32", sums, count), sum)
end
return w
]])

for _, first in ipairs { "copy", "sum", "move" } do
  harness.test("bulk copies and transfers side by side: what is copied from a tile in flight is what comes, by " .. first, function()
    local run = ww.run { config = "gtx480_d2ma", workload = mixed, size = { "small", first = first }, set = { sms = 2, partitions = 2 },
      out = harness.folder() .. "/mixed-" .. first }
    harness.equal(run["sm[*].dma.transfers"], 24, "transfers")
    assert(run["sm[*].dma_squashes"] > 0, "no copy came before its data")
  end)
end

harness.test("intrinsics on a machine without engines are an error at launch", function()
  local status, output = harness.run("run", "gtx480", busy, "--size", "small", "--out", harness.folder() .. "/none")
  harness.equal(status, 2, "exit status")
  harness.contains(output, "kernel transfer, PTX line", "expected a DmaEngine at the port transfers of sm[0]")
end)

harness.finish()
