-- As many SMs as a machine may have, and one more.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

--- Tiny SMs, 32 of which share a Mux; the Muxes meet at a crossbar.
local function machine_of(sms)
  return ww.machine("many", function(m)
    m:clocks { core = "700MHz" }
    m:quantum(4)
    local dispatcher = m:Dispatcher "dispatcher" { sms = sms }
    m:AddressMap "map" { channels = 2 }
    local groups = (sms + 31) // 32
    local xbar = m:Crossbar "xbar" { up = groups, down = 2 }
    for g = 0, groups - 1 do
      local first, count = 32 * g, math.min(32, sms - 32 * g)
      local mux = m:Mux ("mux", g) { up = count }
      for i = first, first + count - 1 do
        local sm = m:SM ("sm", i) { warps = 8, ctas = 1, schedulers = 1, registers = 4096 }
        m:wire(dispatcher.sm[i], sm.dispatch, { latency = 4 })
        m:wire(sm.lsu.mem, mux.up[i - first])
      end
      m:wire(mux.down, xbar.up[g], { latency = 4, depth = 32, back = { latency = 4, depth = 32 } })
    end
    for s = 0, 1 do
      local l2 = m:L2 ("l2", s) { size = "64KiB", ways = 8, mshrs = 32 }
      m:wire(xbar.down[s], l2.cpu, { latency = 4, depth = 32, back = { latency = 4, depth = 32 } })
      m:wire(l2.mem, m:MemoryController ("mc", s) {}.cpu[0])
    end
  end)
end

harness.test("a kernel runs on 1024 SMs, each of which has a CTA", function()
  local result = ww.run { config = machine_of(1024), workload = "vecadd", size = "small,n=262144",
    out = harness.folder() .. "/out" }
  local busy = 0
  for i = 0, 1023 do busy = busy + (result[("sm[%d].ctas_finished"):format(i)] > 0 and 1 or 0) end
  harness.equal(busy, 1024, "SMs that had a CTA")
end)

harness.test("1025 SMs are refused", function()
  local ok, problem = pcall(ww.build, machine_of(1025))
  harness.equal(ok, false, "ok")
  harness.contains(problem, "dispatcher.sms: expected", "1024", "1025")
end)

harness.finish()
