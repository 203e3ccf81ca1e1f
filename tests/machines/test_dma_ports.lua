-- DMA engines that share the port of an L1 through a network, and what that port refuses.
local harness = require "tests.lib.harness"
local oracle = require "scripts.lib.resume_oracle"

--- A machine of two SMs with an engine each and one L1 for both. `engines` wires the engines to it, `more` is further text.
local function shared(name, engines, more)
  return harness.write(name .. ".lua", ([[
local ww = require "warpwright"
return ww.machine("shared", function(m)
  m:clocks { core = "700MHz" }
  m:quantum(8)
  m:Dispatcher "dispatcher" { sms = 2 }
  m:AddressMap "map" { channels = 1 }
  for i = 0, 1 do
    local sm = m:SM ("sm", i) {}
    m:DmaEngine (sm, "dma") {}
  end
  m:L1 "l1" { size = "32KiB", ways = 4, mshrs = 64 }
  m:L2 "l2" { size = "128KiB", ways = 16, mshrs = 32 }
  m:MemoryController "mc" {}
  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
  m:wire("sm[*].transfers", "sm[*].dma.sm")
  m:join("sm[*].lsu.mem", "l1.cpu")
  %s
  %s
  m:wire("l2.mem", "mc.cpu[0]")
end)]]):format(engines, more or [[m:wire("l1.mem", "l2.cpu", { latency = 8, depth = 32 })]]))
end

local joined = [[m:join("sm[*].dma.mem", "l1.dma")]]
local crossbar = [[m:Crossbar "xbar" { up = 2, down = 1 }
  for i = 0, 1 do m:wire(("sm[%d].dma.mem"):format(i), ("xbar.up[%d]"):format(i)) end
  m:wire("xbar.down[0]", "l1.dma")]]
local in_lua = [[m:use "link_compressor"
  for i = 0, 1 do m:LinkCompressor("comp", i) {} end
  m:wire("sm[*].dma.mem", "comp[*].up")
  m:join("comp[*].down", "l1.dma")]]

local function run(machine, name, ...)
  local out = harness.folder() .. "/" .. name
  local status, output = harness.run("run", machine, "sgemv", "--size", "small,version=d2ma", "--out", out, ...)
  return status, output, status == 0 and harness.read(out .. "/stats.json")
end

for _, case in ipairs { { "a Mux", joined }, { "a Crossbar", crossbar }, { "objects in Lua and a Mux", in_lua } } do
  harness.test("answers to engines behind " .. case[1] .. " go to the engine that has asked, in any order and on two threads", function()
    local machine = shared("shared", case[2])
    local status, output, stats = run(machine, "path")
    harness.equal(status, 0, "exit status, output " .. output)
    harness.contains(output, ": verified")
    for _, order in ipairs { "reversed", "shuffled:3", "restless" } do
      local _, text, other = run(machine, "order", "--order", order)
      assert(other == stats, order .. ": other stats, output " .. text)
    end
    local _, text, other = run(machine, "threads", "--threads", "2")
    assert(other == stats, "two threads: other stats, output " .. text)
  end)
end

harness.test("runs with answers to both engines in flight resume", function()
  local lines = {}
  local case = oracle.case {
    folder = harness.folder(), jobs = 2, threaded = 30, seed = 1, config = shared("resumed", joined), workload = "sgemv",
    size = "small,version=d2ma", report = function(line) lines[#lines + 1] = line end,
  }
  if not case.problem then case:resume_everywhere(4) end
  case:close()
  harness.equal(case.problem, nil, "problem")
  assert(case.unequal == 0, table.concat(lines, "\n"))
  harness.equal(case.resumes, 4, "resumes")
end)

harness.test("the networks on both sides of the port are one way", function()
  local function behind(levels)
    local below = { [[m:wire("l1.mem", "mux[0].up[0]", { latency = 8 })]] }
    for i = 0, levels - 1 do
      table.insert(below, 1, ([[m:Mux ("mux", %d) { up = 1 }]]):format(i))
      below[#below + 1] = ([[m:wire("mux[%d].down", "%s")]]):format(i, i < levels - 1 and ("mux[%d].up[0]"):format(i + 1) or "l2.cpu")
    end
    return table.concat(below, "\n  ")
  end
  local status, output = run(shared("four", joined, behind(3)), "four")
  harness.equal(status, 0, "exit status, output " .. output)
  status, output = run(shared("five", joined, behind(4)), "five")
  harness.equal(status, 2, "exit status, output " .. output)
  harness.contains(output, ": expected at most 4 networks (Mux, Crossbar, Router) on the way of a request, got 5")
end)

local function refused_at_port(name, wires)
  harness.test(name, function()
    local machine = harness.write("refused.lua", ([[
local ww = require "warpwright"
return ww.variant("v", "gallery/private_l1", function(m)
  m:base()
  %s
end)]]):format(wires))
    local status, output = harness.run("run", machine, "vecadd", "--size", "small,n=1024", "--out", harness.folder() .. "/out")
    harness.equal(status, 2, "exit status, output " .. output)
    harness.contains(output, "l1.dma: expected reads of a DMA engine, got a write of ", "; other accesses go to l1.cpu")
  end)
end

local l1 = [[m:L1 "l1" { size = "16KiB", ways = 4, mshrs = 32 } m:TrafficSink "sink" {} m:TrafficSource "cpu" { rate = 0.01 }
  m:wire("cpu.mem", "l1.cpu") m:wire("l1.mem", "sink.cpu")]]
refused_at_port("the port of an engine refuses writes of a source of traffic", l1 .. [[
  m:TrafficSource "source" { rate = 0.1, writes = 0.5 } m:wire("source.mem", "l1.dma")]])
refused_at_port("the port of an engine refuses what an L1 sends on", l1 .. [[
  m:L1 "above" { size = "16KiB", ways = 4, mshrs = 32 } m:TrafficSource "source" { rate = 0.1, writes = 0.5 }
  m:wire("source.mem", "above.cpu") m:wire("above.mem", "l1.dma")]])

harness.finish()
