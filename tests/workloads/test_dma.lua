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

harness.test("intrinsics on a machine without engines are an error at launch", function()
  local status, output = harness.run("run", "gtx480", busy, "--size", "small", "--out", harness.folder() .. "/none")
  harness.equal(status, 2, "exit status")
  harness.contains(output, "kernel transfer, PTX line", "expected a DmaEngine at the port transfers of sm[0]")
end)

harness.finish()
