-- The DMA engine on a whole machine: every mode element for element; no tick order, thread or checkpoint in mid-transfer
-- changes anything; engines that nobody uses change nothing.
local ww = require "warpwright"
local core = require "warpwright.core"
local harness = require "harness"
local oracle = require "scripts.lib.resume_oracle"

local words = 1024 -- of a buffer

--- Bytes of shared memory after a transfer, as a programmer would copy them: `tile` is a list of bytes.
local function copy_plainly(tile, data, from, t)
  local flat = t.mode ~= 2
  local rows, pitch, stride = flat and 1 or t.rows, t.pitch, t.mode == 1 and t.pitch or 1
  local to, done = 0, 0
  for row = -t.halo_rows, rows + t.halo_rows - 1 do
    for column = -t.halo_columns, t.columns + t.halo_columns - 1 do
      local beyond = (row < 0 and t.borders & 1 ~= 0) or (row >= rows and t.borders & 2 ~= 0)
        or (column < 0 and t.borders & 4 ~= 0) or (column >= t.columns and t.borders & 8 ~= 0)
      local at = from + ((flat and 0 or row * pitch) + column * stride) * t.bytes
      for i = 0, t.bytes - 1 do
        tile[to + i] = beyond and t.constant >> 8 * i & 255 or data[at + i]
      end
      to, done = to + t.bytes, done + 1
      if t.padded > 0 and done % t.padded == 0 then to = to + t.blank end
    end
  end
end

local function packed(t)
  local struct = ww.array("u32", 12)
  for i, name in ipairs { "mode", "bytes", "rows", "columns", "pitch", "padded", "blank", "halo_rows", "halo_columns",
    "borders" } do struct[i - 1] = t[name] end
  struct[10], struct[11] = t.constant & 0xffffffff, t.constant >> 32
  return struct
end

local start, step = 4096, 320 -- the first tile's place, and bytes from tile to tile

--- Launches the kernel and compares all that it leaves.
local function transfer(workload, gpu, t, ctas, rounds)
  local count = ctas * rounds
  local data = ww.array("u8", 65536 + step * count):random(t.seed, 0, 255)
  local from, to = gpu:upload(data), gpu:alloc(4 * words * count)
  gpu:launch(workload.kernels.transfer, { grid = ctas, block = 96, args = { from + start, to, rounds, step, packed(t) } })
  local got = gpu:download("u8", to, 4 * words * count)
  for cta = 0, ctas - 1 do
    local tiles = { {}, {} }
    for i = 0, rounds - 1 do
      local index, tile = cta * rounds + i, tiles[i % 2 + 1]
      copy_plainly(tile, data, start + index * step, t)
      for byte = 0, 4 * words - 1 do
        local want = tile[byte] or 0
        if got[index * 4 * words + byte] ~= want then
          workload:check_that(("tile %d, byte %d: %d, want %d"):format(index, byte,
            got[index * 4 * words + byte], want), false)
          return
        end
      end
    end
  end
  workload:check_that("tiles", true)
end

--- A random transfer of a mode: flat, strided, 2D, padded flat, padded 2D, with a halo.
local function any(kind, seed)
  local rng = ww.rng(seed)
  local t = { mode = 0, bytes = 1 << rng:int(0, 3), rows = 1, pitch = 0, padded = 0, blank = 0, halo_rows = 0,
    halo_columns = 0, borders = 0, constant = rng:int(0, 1 << 62), seed = seed }
  t.columns = rng:int(1, 256)
  if kind == "strided" then t.mode, t.pitch = 1, rng:int(0, 12) end
  if kind == "2d" or kind == "padded 2d" or kind == "halo" then
    t.mode, t.rows, t.columns = 2, rng:int(1, 9), rng:int(1, 20)
    t.pitch = t.columns + rng:int(0, 30)
  end
  if kind == "padded" or kind == "padded 2d" then t.padded, t.blank = rng:int(4, 40), t.bytes * rng:int(0, 4) end
  if kind == "halo" then
    t.halo_rows, t.halo_columns, t.borders = rng:int(0, 2), rng:int(0, 3), rng:int(0, 15)
    t.pitch = t.pitch + 6
  end
  return t
end

local transfers = ww.workload "transfers" { ptx = "dma_kernel.ptx", sizes = { small = {} } }

for _, kind in ipairs { "flat", "strided", "2d", "padded", "padded 2d", "halo" } do
  harness.test(kind .. " transfers bring every element to its place", function()
    function transfers:run(gpu)
      for seed = 1, 6 do transfer(self, gpu, any(kind, seed), 3, 3) end
    end
    local run = ww.run { config = "gtx480_d2ma", workload = transfers, set = { sms = 2, partitions = 2 },
      out = harness.folder() .. "/" .. kind }
    harness.equal(run["sm[*].dma.transfers"], 6 * 3 * 3, "transfers")
    assert(run["sm[*].dma_squashes"] > 0, "no load came before its data")
  end)
end

-- Without the check loads read what was there before: the same transfers are wrong.
harness.test("without the check a kernel computes with stale data", function()
  function transfers:run(gpu) transfer(self, gpu, any("flat", 1), 3, 3) end
  local out = harness.folder() .. "/stale"
  local ok, problem = pcall(ww.run, { config = "gtx480_d2ma", workload = transfers, out = out,
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
local beside = arg[0]:match "^(.*/)" or ""
harness.write("dma_kernel.ptx", harness.read(beside .. "dma_kernel.ptx"))
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
  harness.contains(output, "kernel transfer, PTX line", "an intrinsic of the DMA engine, but sm[0] has none")
end)

harness.finish()
