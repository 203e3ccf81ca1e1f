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

--- All of them at one crossbar, or at one Mux before it.
local function wide_machine(network, arbitration)
  return ww.machine("wide", function(m)
    m:clocks { core = "700MHz" }
    m:quantum(4)
    local dispatcher = m:Dispatcher "dispatcher" { sms = 1024 }
    m:AddressMap "map" { channels = 2 }
    local wide = { latency = 4, depth = 32, back = { latency = 4, depth = 32 } }
    local mux = network == "mux" and m:Mux "mux" { up = 1024, arbitration = arbitration }
    local xbar = m:Crossbar "xbar" { up = mux and 1 or 1024, down = 2, arbitration = arbitration }
    if mux then m:wire(mux.down, xbar.up[0], wide) end
    for i = 0, 1023 do
      local sm = m:SM ("sm", i) { warps = 8, ctas = 1, schedulers = 1, registers = 4096 }
      m:wire(dispatcher.sm[i], sm.dispatch, { latency = 4 })
      m:wire(sm.lsu.mem, (mux or xbar).up[i], wide)
    end
    for i = 0, 1 do
      local l2 = m:L2 ("l2", i) { size = "64KiB", ways = 8, mshrs = 32 }
      m:wire(xbar.down[i], l2.cpu, wide)
      m:wire(l2.mem, m:MemoryController ("mc", i) {}.cpu[0])
    end
  end)
end

for _, case in ipairs { { "crossbar", "oldest" }, { "mux", "round_robin" } } do
  local network, arbitration = case[1], case[2]
  harness.test(("1024 ports of one %s, %s: tick orders, threads and resumes change nothing"):format(network, arbitration), function()
    local folder = ("%s/%s-%s"):format(harness.folder(), network, arbitration)
    local function run(name, options)
      options.config, options.workload, options.size = wide_machine(network, arbitration), "vecadd", "small,n=65536"
      options.out = folder .. name
      local r = ww.run(options)
      return r, harness.read(folder .. name .. "/stats.txt")
    end
    local r, stats = run("whole", { checkpoint_at = 2000 })
    local busy = 0
    for i = 64, 1023 do busy = busy + (r[("sm[%d].lsu.load_accesses"):format(i)] > 0 and 1 or 0) end
    assert(busy > 100, "few SMs behind port 64 had work: " .. busy)
    assert(r[network == "mux" and "mux.conflicts" or "xbar.request_conflicts"] > 1000, "no conflicts")
    local _, reversed = run("reversed", { order = "reversed" })
    harness.same_text(reversed, stats, "reversed")
    local _, threads = run("threads", { threads = 2 })
    harness.same_text(threads, stats, "two threads")
    local checkpoint = assert(io.popen("ls " .. folder .. "whole/*.ckpt")):read "l"
    local _, resumed = run("resumed", { resume = checkpoint })
    harness.same_text(resumed, stats, "resumed")
  end)
end

harness.finish()
