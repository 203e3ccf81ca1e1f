-- scripts/d2ma: its arithmetic against single runs, its table, and that a run that fails stops no other.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local json = require "warpwright.json"

local function compare(...)
  local path = harness.folder() .. "/results.json"
  os.remove(path)
  local status, output = harness.run("scripts/d2ma.lua", "--json", path, ...)
  return status, output, status ~= 2 and json.decode(harness.read(path))
end

local function close(got, want, what)
  assert(math.abs(got - want) <= 1e-6 * math.abs(want), ("%s: got %s, want %s"):format(what, tostring(got), tostring(want)))
end

local function run(workload, size)
  return ww.run { config = "gtx480_d2ma", workload = workload, size = size, out = false }
end

harness.test("figures are those of the runs, LUD's only those of its kernel", function()
  local status, output, results = compare("--size", "small", "--only", "SGEMV,LUD2,SAXPY")
  harness.equal(status, 0, output)
  harness.equal(#results.kernels, 3, "kernels")
  local plain, d2ma = run("sgemv", "small,version=plain"), run("sgemv", "small,version=d2ma")
  local cudadma = run("sgemv", "small,version=cudadma")
  local sgemv, lud2, saxpy = table.unpack(results.kernels)
  close(sgemv.speedup, plain.launches[1].cycles / d2ma.launches[1].cycles, "speed-up")
  close(sgemv.cudadma_speedup, plain.launches[1].cycles / cudadma.launches[1].cycles, "speed-up of CudaDMA")
  close(sgemv.instructions, 1 - d2ma.warp_instructions / plain.warp_instructions, "instructions saved")
  close(sgemv.plain.transfer, plain["sm[*].tile_cycles"] / 30, "cycles of a tile")
  close(sgemv.d2ma.transfer, d2ma["sm[*].dma.memory_cycles"] / 30, "cycles of a transfer by the old name")
  close(sgemv.d2ma.transfer, d2ma["sm[*].dma.transfer_cycles"] / 30, "cycles of a transfer")
  close(sgemv.d2ma.agen, d2ma["sm[*].dma.agen_cycles"] / 30, "cycles before its first request")
  close(sgemv.d2ma.mem, d2ma["sm[*].dma.mem_cycles"] / 30, "cycles after that")
  close(sgemv.plain.agen + sgemv.plain.mem, sgemv.plain.transfer, "cycles of a tile")
  close(sgemv.transfer, 1 - sgemv.d2ma.transfer / sgemv.plain.transfer, "transfer time saved")
  close(sgemv.plain_stalled, plain["sm[*].tile_stall_cycles"] / (15 * plain.launches[1].cycles), "stalled")

  local sum = 0
  for _, launch in ipairs(run("lud", "small,kernel=diagonal,version=plain").launches) do
    if launch.kernel == "lud_diagonal_plain" then sum = sum + launch.cycles end
  end
  harness.equal(lud2.plain.cycles, sum, "cycles of LUD2")
  close(results.means.speedup, math.sqrt(sgemv.speedup * lud2.speedup), "mean, without SAXPY")
  close(results.means.transfer, (sgemv.transfer + lud2.transfer) / 2, "mean of the transfer time saved")
  assert(saxpy.speedup > 0)
end)

harness.test("the table stands beside the paper's figures", function()
  local status, output = compare("--size", "small", "--only", "PATH,SGEMV,SAXPY")
  harness.equal(status, 0, output)
  harness.contains(output, "\nkernel ", "\nPATH ", "\nSGEMV ", "\nmean ", "Case study, section 5.3\nSAXPY ", "CudaDMA ")
  assert(output:find "\nPATH +%d%.%d%dx +1%.02x ", output)
  assert(output:find "\nmean +%d%.%d%dx +1%.36x +%-?%d+ %% +7 %% ", output)
end)

harness.test("a run that fails is shown and does not stop the others", function()
  local status, output, results = compare("--size", "small,m=3840", "--only", "FW,SGEMV")
  harness.equal(status, 1, output)
  harness.contains(output, "FAILED: ", "matches 'm'")
  harness.equal(results.kernels[1].speedup, nil, "speed-up of the run that failed")
  close(results.means.speedup, results.kernels[2].speedup, "mean of the others")
end)

harness.test("SMs may have any name", function()
  local machine = harness.write("cores.lua", [[
    local ww = require "warpwright"
    return ww.machine("cores", function(m)
      m:clocks { core = "700MHz" }
      m:Dispatcher "dispatcher" { sms = 2 }
      m:AddressMap "map" { channels = 1 }
      local net = m:Crossbar "net" { up = 2, down = 1 }
      for i = 0, 1 do
        local sm = m:SM ("core", i) {}
        local l1d, dma = m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }, m:DmaEngine (sm, "dma") { buffers = 4 }
        m:wire(("dispatcher.sm[%d]"):format(i), sm.dispatch, { latency = 8 })
        m:wire(sm.lsu.mem, l1d.cpu)
        m:wire(sm.transfers, dma.sm)
        m:wire(dma.mem, l1d.dma)
        m:wire(l1d.mem, net.up[i], { latency = 8, depth = 32 })
      end
      m:wire(net.down[0], m:TrafficSink "ram" { latency = 100 }.cpu, { latency = 8, depth = 32 })
    end)
  ]])
  local status, output, results = compare("--size", "small", "--only", "SAXPY", "--config", machine)
  harness.equal(status, 0, output)
  local plain = ww.run { config = machine, workload = "saxpy", size = "small,version=plain", out = false }
  close(results.kernels[1].plain.stalled, plain["core[*].tile_stall_cycles"] / (2 * plain.launches[1].cycles), "stalled")
  close(results.kernels[1].plain.transfer, plain["core[*].tile_cycles"] / plain["core[*].tiles"], "cycles of a tile")
end)

harness.test("wrong options are refused", function()
  for _, case in ipairs { { "--size" }, { "--sise", "small" }, { "--only", "DCT,FOO" } } do
    local status, output = harness.run("scripts/d2ma.lua", table.unpack(case))
    harness.equal(status, 2, output)
    harness.contains(output, "error: ", case[1])
  end
end)

harness.finish()
