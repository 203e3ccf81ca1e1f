-- Machines that nobody built before: other hierarchies from the same parts run the same kernels rightly, and obey the law
-- of tick order.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

--- Six SMs, two partitions. `first_level(m, sms)` returns the ports that go to the network, one each; the SMs' load/store
--- units are wired by it.
local function machine(name, first_level)
  return ww.machine(name, function(m)
    m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
    m:quantum(8)
    local sms = {}
    local dispatcher = m:Dispatcher "dispatcher" { sms = 6 }
    m:AddressMap "map" { channels = 2 }
    for i = 0, 5 do
      sms[i] = m:SM ("sm", i) {}
      m:wire(dispatcher.sm[i], sms[i].dispatch, { latency = 8 })
    end
    local ports = first_level(m, sms)
    local xbar = m:Crossbar "xbar" { up = #ports, down = 2, clock = "icnt" }
    for k, port in ipairs(ports) do
      m:wire(port, xbar.up[k - 1], { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
    end
    for c = 0, 1 do
      local l2 = m:L2 ("l2", c) { size = "128KiB", ways = 16, mshrs = 32 }
      m:wire(xbar.down[c], l2.cpu, { latency = 16, depth = 32, back = { latency = 8, depth = 32 } })
      m:wire(l2.mem, m:MemoryController ("mc", c) { clock = "dram" }.cpu[0])
    end
  end)
end

local machines = {
  machine("no_l1", function(_, sms)
    local ports = {}
    for i = 0, 5 do ports[#ports + 1] = sms[i].lsu.mem end
    return ports
  end),

  machine("l1_of_three_sms", function(m, sms)
    local ports = {}
    for group = 0, 1 do
      local mux = m:Mux ("mux", group) { up = 3 }
      local l1 = m:L1 ("l1d", group) { size = "48KiB", ways = 6, mshrs = 64 }
      for k = 0, 2 do m:wire(sms[3 * group + k].lsu.mem, mux.up[k]) end
      m:wire(mux.down, l1.cpu)
      ports[#ports + 1] = l1.mem
    end
    return ports
  end),

  machine("two_levels_before_the_network", function(m, sms)
    local ports = {}
    for i = 0, 5 do
      local small = m:L1 (sms[i], "l1d") { size = "4KiB", ways = 4, mshrs = 8 }
      local large = m:L1 (sms[i], "l15") { size = "64KiB", ways = 8, mshrs = 32, latency = 20 }
      m:wire(sms[i].lsu.mem, small.cpu)
      m:wire(small.mem, large.cpu)
      ports[#ports + 1] = large.mem
    end
    return ports
  end),
}

for _, config in ipairs(machines) do
  for _, workload in ipairs { "kmeans", "sgemm", "bfs" } do
    local want
    for _, order in ipairs { "path", "reversed", "shuffled:7" } do
      harness.test(("%s on %s, order %s"):format(workload, config.name, order), function()
        local out = ("%s/%s-%s"):format(harness.folder(), workload, order:gsub(":", "-"))
        local r = ww.run { config = config, workload = workload, size = "small", order = order, out = out }
        assert(r.checks > 0, "nothing was checked")
        local stats = harness.read(out .. "/stats.txt")
        want = want or stats
        assert(stats == want, "stats.txt differs")
      end)
    end
  end
end

harness.test("unlike SMs: each holds the CTAs that fit it, none of those that do not", function()
  for _, forward in ipairs { false, "cta=0.5", "launch=1" } do
    local r = ww.run { config = "gallery/heterogeneous", workload = "histo", size = "small,kernel=main", out = false, fast_forward = forward or nil }
    assert(r.checks > 0, "nothing was checked")
    harness.equal(r["sm[2].ctas_started"] + r["sm[3].ctas_started"], 0, "CTAs of 24 warps on SMs of 16")
    assert(forward == "launch=1" or r["sm[0].ctas_started"] > 0)
  end
end)

harness.finish()
