-- Objects that have work of their own beside the SMs: a run ends when its kernels have ended and what was in flight has been
-- answered, whatever the order, the threads and the checkpoints. Slow wires are no hang.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local oracle = require "scripts.lib.resume_oracle"

--- A machine of two SMs on one L2. `more` is further text; mux.up[2] is free for it when `up` is 3.
local function machine(name, more, up, latency)
  return harness.write(name .. ".lua", ([[
local ww = require "warpwright"
return ww.machine(%q, function(m)
  m:clocks { core = "700MHz", dram = "924MHz" }
  m:quantum(8)
  m:Dispatcher "dispatcher" { sms = 2 }
  m:AddressMap "map" { channels = 1 }
  for i = 0, 1 do
    local sm = m:SM ("sm", i) {}
    m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
  end
  m:Mux "mux" { up = %d }
  m:L2 "l2" { size = "128KiB", ways = 16, mshrs = 32 }
  m:MemoryController "mc" { clock = "dram" }
  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
  m:wire("sm[*].lsu.mem", "sm[*].l1d.cpu", { latency = %d })
  for i = 0, 1 do m:wire(("sm[%%d].l1d.mem"):format(i), ("mux.up[%%d]"):format(i), { latency = 8, depth = 32 }) end
  m:wire("mux.down", "l2.cpu", { latency = 2 })
  m:wire("l2.mem", "mc.cpu[0]")
  %s
end)]]):format(name, up or 2, latency or 1, more))
end

local function run(path, ...)
  local out = harness.folder() .. "/out"
  local status, output = harness.run("run", path, "vecadd", "--size", "small,n=4096", "--out", out, ...)
  return status, output, status == 0 and harness.read(out .. "/stats.json")
end

local shared = [[m:TrafficSource "source" { rate = 0.05, writes = 0.3, posted = true, base = "1GiB", footprint = "1MiB" }
  m:wire("source.mem", "mux.up[2]", { latency = 8, depth = 32 })]]
local apart = [[m:TrafficSource "source" { rate = 0.001 } m:TrafficSink "sink" {} m:wire("source.mem", "sink.cpu")]]

local function ends(name, path)
  harness.test(name, function()
    local status, output, stats = run(path)
    harness.equal(status, 0, "exit status, output " .. output)
    harness.contains(output, ": verified")
    for _, option in ipairs { "--order=reversed", "--order=shuffled:3", "--order=restless", "--threads=2" } do
      local _, text, other = run(path, option:match "^(.-)=", option:match "=(.*)")
      assert(other == stats, option .. ": other stats, output " .. text)
    end
  end)
end

ends("a source of traffic to a sink of its own beside SMs", machine("apart", apart))
ends("a source whose next request would come long after the kernels",
  machine("rare", (apart:gsub("0.001", "1e-6, limit = 20, seed = 5"))))
ends("a source of traffic to the L2 of the SMs", machine("shared", shared, 3))

harness.test("a source rests after the kernels and goes on with the next one", function()
  local path = machine("shared", shared, 3)
  local w = ww.workload "twice" { ptx = "../kernels/thrashing_kernel.ptx", sizes = { small = {} } }
  local sent = {}
  local sim
  function w:run(gpu)
    local data, sums = gpu:alloc(4 * 32 * 128), gpu:alloc(4 * 128)
    for i = 1, 2 do
      gpu:launch(self.kernels.thrash, { grid = 1, block = 128, args = { data, sums, 100 } })
      gpu:drain()
      sent[i] = sim:counters { sent = "source.sent" }:read().sent
    end
  end
  sim = ww.build(path)
  sim:start(w, "small")
  sim:run {}
  local result = sim:result()
  assert(sent[1] > 0 and sent[2] > sent[1], "requests sent: " .. table.concat(sent, ", "))
  harness.equal(result["source.sent"], sent[2], "requests sent at the end")
  sim:close()
end)

harness.test("runs with background traffic resume", function()
  local lines = {}
  local case = oracle.case {
    folder = harness.folder(), jobs = 2, threaded = 30, seed = 1, config = machine("shared", shared, 3), workload = "vecadd",
    size = "small,n=4096", report = function(line) lines[#lines + 1] = line end,
  }
  if not case.problem then case:resume_everywhere(3) end
  case:close()
  harness.equal(case.problem, nil, "problem")
  assert(case.unequal == 0, table.concat(lines, "\n"))
end)

local ticker = harness.write("ticker.lua", [[
return require "warpwright.class" "Ticker" {
  doc = "Counts cycles", ports = { mem = { "requester", doc = "Not used" } },
  stats = { ticks = { unit = "cycles", doc = "Cycles" } },
  tick = function(self, cycle) self:count "ticks" return cycle + 1 end,
}]])
local asker = harness.write("asker.lua", [[
return require "warpwright.class" "Asker" {
  doc = "Asks for ever", ports = { mem = { "requester", doc = "What it asks" } },
  tick = function(self, cycle)
    while self.mem:pop() do end
    if self.mem:can_send() then self.mem:request { address = 0, kind = "read", tag = 1 } end
    return cycle + 100
  end,
}]])

ends("an object in Lua that counts cycles for ever",
  machine("ticking", ([[m:use %q m:Ticker "ticker" {} m:TrafficSink "sink" {} m:wire("ticker.mem", "sink.cpu")]]):format(ticker)))

harness.test("an object in Lua that makes requests for ever is named", function()
  local path = machine("asking", ([[m:use %q m:Asker "asker" {} m:TrafficSink "sink" {} m:wire("asker.mem", "sink.cpu")]]):format(asker))
  local status, output = run(path)
  harness.equal(status, 2, "exit status, output " .. output)
  harness.contains(output, "asker: expected no more requests after the last kernel, which ended in cycle ")
end)

harness.test("a wire that is slower than the limit of a hang", function()
  local status, output = run(machine("slow", "", 2, 3000000))
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(output, ": verified")
end)

harness.finish()
