-- Host threads change no byte of the stats, of any workload, policy or machine; nor what is reported of a kernel fault.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local workloads = { "vecadd", "sgemm", "spmv", "kmeans", "bfs", "gesummv" }

local function stats_of(options, threads, pin)
  local out = ("%s/%s-%s-%s-%d"):format(harness.folder(), options.config, options.workload, options.policy, threads)
  ww.run {
    config = options.config, workload = options.workload, policy = options.policy, size = "small", out = out,
    order = options.order, threads = threads, pin = pin,
  }
  return harness.read(out .. "/stats.txt")
end

local function compare(config, workload, policy, counts)
  local options = { config = config, workload = workload, policy = policy }
  local want = stats_of(options, 1)
  for _, threads in ipairs(counts) do
    harness.test(("%s on %s under %s with %d threads"):format(workload, config, policy, threads), function()
      assert(stats_of(options, threads) == want, "stats.txt differs")
    end)
  end
end

for _, workload in ipairs(workloads) do
  compare("gtx480", workload, "gto", { 2, 3, 4, 8 })
  compare("gtx480", workload, "lrr", { 2, 3, 4, 8 })
  compare("gtx480_gpgpusim4", workload, "gto", { 2 })
end

harness.test("a tick order and threads together change nothing", function()
  local want = stats_of({ config = "gtx480", workload = "bfs", policy = "gto" }, 1)
  for _, order in ipairs { "reversed", "shuffled:3" } do
    assert(stats_of({ config = "gtx480", workload = "bfs", policy = "gto", order = order }, 3) == want,
      "stats.txt differs in order " .. order)
  end
end)

harness.test("threads that stay on their cores change nothing", function()
  local options = { config = "gtx480", workload = "bfs", policy = "gto" }
  local nproc <close> = assert(io.popen "nproc")
  if nproc:read "n" < 2 then harness.skip "a computer with one core" end
  assert(stats_of(options, 2, true) == stats_of(options, 1), "stats.txt differs")
end)

-- Every CTA stores out of bounds in its first instructions: many SMs fault in the same quantum.
local fault = [[
.version 2.3
.target sm_20
.address_size 64
.visible .entry fault(.param .u64 out)
{
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  st.global.u64 [%rd1+1048576], %rd1;
  ret;
}
]]

harness.test("a kernel fault is the same one with any number of threads", function()
  local host = harness.write("fault.lua", [[
local ww = require "warpwright"
local w = ww.workload "fault" { ptx = "fault.ptx", sizes = { small = {} } }
function w:run(gpu)
  gpu:launch(self.kernels.fault, { grid = 60, block = 32, args = { gpu:alloc(64) } })
end
return w
]])
  harness.write("fault.ptx", fault)
  local texts = {}
  for i, threads in ipairs { 1, 2, 8 } do
    local status, output = harness.run("run", "gtx480", host, "--size", "small", "--threads", tostring(threads), "--out",
      harness.folder() .. "/fault-out")
    harness.equal(status, 2, "exit status")
    harness.contains(output, "kernel fault, PTX line")
    texts[i] = output
  end
  harness.equal(texts[2], texts[1], "message with 2 threads")
  harness.equal(texts[3], texts[1], "message with 8 threads")
end)

harness.test("a number of threads that is none is refused", function()
  for _, bad in ipairs { "0", "-1", "two", "257", "1.5" } do
    local status, output = harness.run("run", "gtx480", "vecadd", "--size", "small", "--threads", bad)
    harness.equal(status, 2, "exit status of --threads " .. bad)
    harness.contains(output, "threads: ")
  end
end)

harness.finish()
