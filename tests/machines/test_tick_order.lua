-- The order in which objects are ticked, and repetition, change no byte of the stats, on any machine.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

-- What depends on the order in one cycle shows in a few thousand.
local size_of <const> = {
  vecadd = "small,n=131072", sgemm = "small,k=32", spmv = "small,rows=4096,longest=12", kmeans = "small,iterations=1,features=8",
  bfs = "small,nodes=4096", gesummv = "small,columns=16",
}

local function stats_of(config, workload, order)
  local out = ("%s/%s-%s-%s"):format(harness.folder(), config, workload, order)
  ww.run { config = config, workload = workload, size = size_of[workload], out = out, order = order }
  return harness.read(out .. "/stats.txt"), harness.read(out .. "/stats.json")
end

local all = { "vecadd", "sgemm", "spmv", "kmeans", "bfs", "gesummv" }

for _, case in ipairs { { "gtx480", all }, { "gtx480_gpgpusim4", all }, { "fx5800_l1", { "kmeans", "bfs" } } } do
  local config = case[1]
  for _, workload in ipairs(case[2]) do
    local text, json = stats_of(config, workload, "path")
    for _, order in ipairs { "path", "reversed", "shuffled:1", "restless" } do
      harness.test(("%s on %s ticked in order %s"):format(workload, config, order), function()
        local other_text, other_json = stats_of(config, workload, order)
        assert(other_text == text, "stats.txt differs")
        assert(other_json == json, "stats.json differs")
      end)
    end
  end
end

-- What is answered at the end fills a wire of one place: who takes it pokes a sender that has its turn in the same cycle.
local narrow = ww.machine("narrow", function(m)
  m:clocks { core = "500MHz", dram = "700MHz" }
  m:quantum(4)
  m:use "link_compressor"
  m:Dispatcher "dispatcher" { sms = 1 }
  m:SM "sm[0]" {}
  m:L1 "sm[0].l1d" { size = "16KiB", ways = 4, mshrs = 32 }
  m:L1 "constant_cache[0]" { size = "8KiB", ways = 2, mshrs = 8 }
  m:Crossbar "xbar" { up = 2, down = 2 }
  m:AddressMap "map" { channels = 1, slice_mask = "0x80", slices_per_channel = 2 }
  m:MemoryController "mc[0]" { clock = "dram", ports = 2 }
  m:wire("dispatcher.sm[0]", "sm[0].dispatch", { latency = 4 })
  m:wire("sm[0].lsu.mem", "sm[0].l1d.cpu")
  m:wire("sm[0].lsu.constant", "constant_cache[0].cpu", { back = { latency = 1 }, latency = 2 })
  m:wire("sm[0].l1d.mem", "xbar.up[0]", { latency = 4 })
  m:wire("constant_cache[0].mem", "xbar.up[1]", { latency = 4 })
  for i = 0, 1 do
    m:L2(("l2[%d]"):format(i)) { size = "64KiB", ways = 8, mshrs = 32 }
    m:LinkCompressor(("squeeze[%d]"):format(i)) {}
    m:wire(("xbar.down[%d]"):format(i), ("l2[%d].cpu"):format(i), { latency = 4 })
    m:wire(("l2[%d].mem"):format(i), ("squeeze[%d].up"):format(i), { back = { depth = 1, latency = 1 }, latency = 1 })
    m:wire(("squeeze[%d].down"):format(i), ("mc[0].cpu[%d]"):format(i))
  end
end)

harness.test("a machine is idle in the same quantum, whoever has had a turn before it was poked", function()
  local function run(order)
    local out = ("%s/narrow-%s"):format(harness.folder(), order)
    ww.run {
      config = narrow, workload = "tests/kernels/job_kernels.lua", size = "small,ctas=1,kernel=reduce", out = out, order = order,
    }
    return harness.read(out .. "/stats.txt")
  end
  local stats = run "path"
  for _, order in ipairs { "reversed", "shuffled:1", "restless" } do harness.same_text(run(order), stats, order) end
end)

-- The last answer comes to the slice in the last cycle of a quantum. A slice that sleeps has it then; one that does not could do
-- that cycle a cycle before, ahead of time.
local last_cycle = ww.machine("last_cycle", function(m)
  m:clocks { core = "700MHz" }
  m:quantum(2)
  m:Dispatcher "dispatcher" { sms = 1 }
  m:AddressMap "map" { channels = 1 }
  m:SM "sm[0]" {}
  m:L1 "sm[0].l1d" { size = "16KiB", ways = 4, mshrs = 32 }
  m:L2 "l2[0]" { size = "64KiB", ways = 8, mshrs = 32 }
  m:MemoryController "mc[0]" {}
  m:wire("dispatcher.sm[0]", "sm[0].dispatch", { latency = 2 })
  m:wire("sm[0].lsu.mem", "sm[0].l1d.cpu")
  m:wire("sm[0].l1d.mem", "l2[0].cpu", { latency = 2 })
  m:wire("l2[0].mem", "mc[0].cpu[0]", { latency = 4, back = { latency = 10 } })
end)

harness.test("a machine whose objects do not sleep is idle in the same quantum, whatever could be done ahead of time", function()
  local function run(order, points)
    local out = ("%s/last_cycle-%s-%d"):format(harness.folder(), order, points)
    ww.run { config = last_cycle, workload = "kmeans", order = order, out = out,
      size = ("small,clusters=2,features=2,iterations=1,points=%d"):format(points) }
    return harness.read(out .. "/stats.txt")
  end
  for points = 2, 8 do harness.same_text(run("restless", points), run("path", points), points .. " points") end
end)

harness.finish()
