-- Classes of objects that are written in Lua: what the shipped ones do cycle by cycle, the same stats whatever the order, the
-- threads and the checkpoints, and what is refused.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local runs = require "tests.lib.policy_runs"

--- A class that asks for what its parameter says, "cycle kind address, ...", and counts when the answers come.
local driver = harness.write("driver.lua", [[
local class = require "warpwright.class"
return class "Driver" {
  doc = "Asks what it is told",
  ports = { mem = { "requester", doc = "What it asks" } },
  params = { script = { "", doc = "cycle kind address, ..." } },
  stats = {
    asked = { unit = "requests", doc = "Requests" }, answers = { unit = "answers", doc = "Answers" },
    last = { unit = "cycles", doc = "Sum of the cycles in which answers came" },
    hits = { unit = "answers", doc = "Of the answers, those that say that they hit" },
  },
  state = { next = 1, list = {} },
  start = function(self)
    for cycle, kind, address in self.params.script:gmatch "(%d+) (%a+) (%w+)" do
      table.insert(self.state.list, { cycle = tonumber(cycle), kind = kind, address = tonumber(address) })
    end
  end,
  tick = function(self, cycle)
    local m = self.mem:pop()
    while m do
      assert(m.own and m.answer and m.tag > 0)
      self:count "answers"
      self:count("last", cycle)
      self:count("hits", m.hit and 1 or 0)
      m = self.mem:pop()
    end
    local due = self.state.list[self.state.next]
    if not due then return nil end
    if due.cycle > cycle then return due.cycle end
    if not self.mem:can_send() then return nil end
    self.mem:request { address = due.address, kind = due.kind, tag = self.state.next }
    self:count "asked"
    self.state.next = self.state.next + 1
    return true
  end,
}]])

--- A machine of a driver and what `middle` puts between it and a sink, with a quantum of a cycle.
local function driven(name, script, middle)
  return harness.write(name .. ".lua", ([[
local ww = require "warpwright"
return ww.machine("driven", function(m)
  m:clocks { core = "700MHz" }
  m:use %q
  local driver = m:Driver "driver" { script = %q }
  local sink = m:TrafficSink "sink" { latency = 20 }
  %s
end)]]):format(driver, script, middle))
end

--- Advances cycle by cycle; returns the values of the stat before cycles 1, 2, ... up to `last`.
local function values_of(sim, stat, last)
  local values = {}
  for cycle = 1, last do
    sim:advance(1)
    values[cycle] = sim:result()[stat]
  end
  return values
end

harness.test("a file of classes that ends the program is refused at the line that does it", function()
  local path = harness.write("leaving.lua", "local x = 3\nif x > 2 then os.exit(0) end")
  harness.refused(path .. ":2: os.exit: expected a file that declares a class, got the end of the program", "run",
    harness.write("uses_leaving.lua", ('return require("warpwright").machine("x", function(m) m:use %q end)'):format(path)), "vecadd")
end)

-- Answers ---------------------------------------------------------------------------------------------------------------

--- Four reads of who is wired to an object that answers them; those of the first line, of which there are two, hit.
local function answered(name, hears, above)
  local answerer = harness.write(name .. "_class.lua", ([[
local class = require "warpwright.class"
return class "Answerer" {
  doc = "Answers; reads of the first line hit",
  ports = { up = { "responder", doc = "From who asks" } },
  stats = { fills = { unit = "fills", doc = "Of the L1 above" }, fill_hits = { unit = "fills", doc = "Of these, hits" } },
  %s
  on_up_fill = function(self, _, _, _, hit)
    self:count "fills"
    self:count("fill_hits", hit)
  end,
  tick = function(self)
    if not self.up:peek() or not self.up:can_send() then return end
    local m = self.up:pop()
    assert(m.hit == nil, "a request has not hit")
    if m.address == 0 then self:answer(m, { hit = true }) elseif m.address == 128 then self:answer(m, { hit = false }) else self:answer(m) end
    return true
  end,
}]]):format(hears))
  local sim = ww.build(driven(name, "0 read 0, 100 read 128, 200 read 256, 300 read 0", ([[
m:use %q
local answerer = m:Answerer "answerer" {}
m:wire(m:TrafficSource "source" { limit = 1 }.mem, sink.cpu)
]]):format(answerer) .. above))
  sim:advance(1000)
  local r = sim:result()
  harness.equal(r["driver.answers"], 4, "answers")
  return r
end

harness.test("a class says of its answers whether they hit", function()
  harness.equal(answered("answering", "", "m:wire(driver.mem, answerer.up)")["driver.hits"], 2, "hits")
end)

harness.test("a cache hears of what it fetches whether a class had it", function()
  local r = answered("answering_l1", 'hears = { up = { "fill" } },', [[
local l1 = m:L1 "l1" { size = 256, ways = 1, mshrs = 4 }
m:wire(driver.mem, l1.cpu)
m:wire(l1.mem, answerer.up)]])
  harness.equal(r["answerer.fills"], 4, "fills")
  harness.equal(r["answerer.fill_hits"], 2, "hits")
end)

-- What the shipped classes do -------------------------------------------------------------------------------------------

for _, order in ipairs { "path", "restless" } do
  harness.test(("a traffic shaper lets requests pass when there are tokens for them, and not a cycle before (%s)"):format(order), function()
    local config = driven("shaped", "0 read 0, 0 read 128, 0 read 256, 0 read 384", [[
  m:use "traffic_shaper"
  local shaper = m:TrafficShaper "shaper" { rate = 16, burst = 288 }
  m:wire(driver.mem, shaper.up)
  m:wire(shaper.down, sink.cpu)
  m:quantum(1)]])
    local requests = values_of(ww.build(config, { order = order }), "shaper.requests", 40)
    -- Sent in cycles 0 to 3, there in 1 to 4. A read costs 8 + 136 bytes: two pass at once, then one every 9 cycles.
    harness.equal(requests[1], 0, "before the first came")
    harness.equal(requests[2], 1, "in cycle 1")
    harness.equal(requests[3], 2, "in cycle 2")
    local third, fourth = nil, nil
    for cycle = 1, 40 do
      if requests[cycle] >= 3 then third = third or cycle - 1 end
      if requests[cycle] >= 4 then fourth = fourth or cycle - 1 end
    end
    harness.equal(third, 10, "the third, when 288 - 144 * 3 bytes are made up for since cycle 1")
    harness.equal(fourth, 19, "the fourth")
  end)
end

harness.test("a request that the bucket cannot hold passes a traffic shaper when it is full", function()
  local config = harness.write("small.lua", [[
local ww = require "warpwright"
return ww.machine("small", function(m)
  m:clocks { core = "700MHz" }
  m:quantum(4)
  m:use "traffic_shaper"
  m:AddressMap "map" { channels = 1 }
  local sm = m:SM ("sm", 0) {}
  local l1 = m:L1 (sm, "l1d") { mshrs = 32, size = "16KiB", ways = 4 }
  local shaper = m:TrafficShaper (sm, "shaper") { burst = 256 } -- an atomic of 128 bytes costs 136, and 136 for its answer
  local l2 = m:L2 ("l2", 0) { mshrs = 32, size = "64KiB", ways = 8 }
  m:wire(m:Dispatcher "dispatcher" { sms = 1 }.sm[0], sm.dispatch, { latency = 4 })
  m:wire(sm.lsu.mem, l1.cpu)
  m:wire(l1.mem, shaper.up)
  m:wire(shaper.down, l2.cpu, { latency = 4 })
  m:wire(l2.mem, m:MemoryController ("mc", 0) {}.cpu[0])
end)]])
  local r = ww.run { config = config, workload = "tests/kernels/racing_kernel.lua", size = "small,ctas=1,threads=32,words=64", out = false }
  assert(r["sm[0].l1d.atomic_bypasses"] > 0, "no atomic passed")
end)

local function answered_at(share, latency, ratio)
  local sim = ww.build(driven("squeezed", "5 read 0", ([[
  m:use "link_compressor"
  local squeeze = m:LinkCompressor "squeeze" { width = 16, share = %d, latency = %d, ratio = %g }
  m:wire(driver.mem, squeeze.up)
  m:wire(squeeze.down, sink.cpu)]]):format(share, latency, ratio)))
  sim:advance(200)
  return sim:result()["driver.last"], sim:result()
end

harness.test("a link compressor moves a line that compresses in as many cycles as its bytes then take", function()
  local plain, r = answered_at(0, 4, 2)
  harness.equal(r["squeeze.bytes_after"], 8 + 136, "bytes of a read and its answer")
  harness.equal(r["squeeze.compressed"], 0, "compressed")
  local squeezed
  squeezed, r = answered_at(1000, 0, 2)
  harness.equal(r["squeeze.bytes_before"], 8 + 136, "bytes before")
  harness.equal(r["squeeze.bytes_after"], 8 + 72, "bytes after")
  harness.equal(r["squeeze.compressed"], 1, "compressed: a read has no data")
  harness.equal(plain - squeezed, 9 - 5, "136 bytes take 9 cycles of 16 bytes, 72 bytes 5")
  harness.equal((answered_at(1000, 3, 2)), squeezed + 3, "with 3 cycles for the compressor")
  harness.equal((answered_at(1000, 0, 128)), squeezed - 4, "9 bytes take one cycle")
end)

--- What a victim buffer of so many lines counts when an L1 of 2 lines in one set is read so.
local function with_victims(script, lines, latency)
  local sim = ww.build(driven("victims", script, ([[
  m:use "victim_buffer"
  local l1 = m:L1 "l1" { size = "256B", ways = 2, line = "128B", mshrs = 4, merges = 4, latency = 1 }
  local victims = m:VictimBuffer "victims" { lines = %d, latency = %d }
  m:wire(driver.mem, l1.cpu)
  m:wire(l1.mem, victims.up)
  m:wire(victims.down, sink.cpu)]]):format(lines, latency or 2)))
  sim:advance(2000)
  local r = sim:result()
  return r, { r["victims.insertions"], r["victims.hits"], r["victims.misses"], r["victims.drops"] }
end

local function equal_lists(got, want)
  harness.equal(table.concat(got, " "), table.concat(want, " "), "insertions, hits, misses, drops")
end

harness.test("a victim buffer answers for a line that the L1 has replaced, and asks nothing below", function()
  local r, counts = with_victims("0 read 0, 100 read 128, 200 read 256", 2) -- 256 replaces 0
  equal_lists(counts, { 1, 0, 3, 0 })
  harness.equal(r["sink.received"], 3, "requests below")
  r, counts = with_victims("0 read 0, 100 read 128, 200 read 256, 300 read 0", 2) -- 0 is a victim, and replaces 128
  equal_lists(counts, { 2, 1, 3, 0 })
  harness.equal(r["sink.received"], 3, "requests below")
  harness.equal(r["driver.answers"], 4, "answers")
end)

harness.test("a victim buffer gives its oldest line up, and one that is written", function()
  local _, counts = with_victims("0 read 0, 100 read 128, 200 read 256, 300 read 384, 400 read 0", 1) -- 128 has displaced 0
  equal_lists(counts, { 3, 0, 5, 0 })
  _, counts = with_victims("0 read 0, 100 read 128, 200 read 256, 300 read 384, 400 read 0", 2)
  equal_lists(counts, { 3, 1, 4, 0 })
  _, counts = with_victims("0 read 0, 100 read 128, 200 read 256, 300 write 0, 400 read 0", 2)
  equal_lists(counts, { 2, 0, 4, 1 })
end)

harness.test("an L2 has a victim buffer, too; a line that it writes back does not stay", function()
  local function counts(script)
    local sim = ww.build(driven("l2_victims", script, [[
  m:use "victim_buffer"
  m:AddressMap "map" { channels = 1 }
  local l2 = m:L2 "l2" { size = "256B", ways = 2, mshrs = 4, merges = 4 }
  local victims = m:L2VictimBuffer "victims" { lines = 2 }
  m:wire(driver.mem, l2.cpu)
  m:wire(l2.mem, victims.up)
  m:wire(victims.down, sink.cpu)]]))
    sim:advance(4000)
    local r = sim:result()
    return { r["victims.insertions"], r["victims.hits"], r["victims.misses"], r["victims.drops"] }
  end
  equal_lists(counts "0 read 0, 500 read 128, 1000 read 256, 1500 read 0", { 2, 1, 3, 0 })
  equal_lists(counts "0 write 0, 500 read 128, 1000 read 256, 1500 read 0", { 2, 0, 3, 1 }) -- a write of a whole line fetches nothing
end)

--- Cycles from a read that hits a victim to its answer.
local function cycles_of_a_hit(latency)
  local first = "0 read 0, 100 read 128, 200 read 256"
  return with_victims(first .. ", 300 read 0", 2, latency)["driver.last"] - with_victims(first, 2, latency)["driver.last"] - 300
end

harness.test("a victim buffer answers in the cycle that its latency says", function()
  -- 1 to the L1, 1 there, 1 to the buffer, 2 in it, 1 back, 1 in the L1, 1 to who asked
  harness.equal(cycles_of_a_hit(2), 8, "cycles from a read to its answer")
  harness.equal(cycles_of_a_hit(9), 15, "with 7 more in the buffer")
end)

-- The law ---------------------------------------------------------------------------------------------------------------

local machine = { "--set", "sms=3", "--set", "partitions=2" }

local function run(...)
  local out = ("%s/run%d"):format(harness.folder(), os.time() + math.random(1 << 40))
  local words = { "run", "gtx480_lua_classes", "kmeans", "--size", "small,points=512", "--out", out }
  table.move(machine, 1, #machine, #words + 1, words)
  for _, word in ipairs { ... } do words[#words + 1] = word end
  local status, output = harness.run(table.unpack(words))
  harness.equal(status, 0, "exit status, output " .. output)
  return harness.read(out .. "/stats.txt"), harness.read(out .. "/stats.json"), out
end

local text, json = run()

for _, words in ipairs { { "--order", "reversed" }, { "--order", "shuffled:7" }, { "--order", "restless" }, { "--threads", "3" },
  { "--threads", "2", "--order", "shuffled:3" } } do
  harness.test(("the same stats with %s"):format(table.concat(words, " ")), function()
    local other_text, other_json = run(table.unpack(words))
    assert(other_text == text, "stats.txt differs")
    assert(other_json == json, "stats.json differs")
  end)
end

harness.test("the same stats when a run is saved and resumed", function()
  local saved_text, _, out = run("--checkpoint-at", "700,3000,9001")
  assert(saved_text == text, "stats.txt differs where checkpoints are made")
  local resumed = 0
  for name in io.popen("ls " .. out):lines() do
    if name:match "%.ckpt$" then
      local status, output = harness.run("run", "--resume", out .. "/" .. name, "--out", out .. "/" .. name .. ".run")
      harness.equal(status, 0, "exit status, output " .. output)
      assert(harness.read(out .. "/" .. name .. ".run/stats.txt") == text, "stats.txt differs after " .. name)
      resumed = resumed + 1
    end
  end
  harness.equal(resumed, 3, "checkpoints")
end)

harness.test("a policy has an instance for each object of a class written in Lua, after a resume, too", function()
  local path = harness.write("of_shapers.lua", [[
local p = require "warpwright.policy" "of_shapers" { scope = "TrafficShaper", period = 500, counters = { requests = "" } }
function p:on_period() self:count("requests", self.object.requests - self.counters.requests) end
return p]])
  local with_policy, _, out = run("--policy", path, "--checkpoint-at", "3000")
  local requests = 0
  for sm = 0, 2 do requests = requests + runs.stat(with_policy, ("sm[%d].shaper.of_shapers.requests"):format(sm)) end
  assert(requests > 0, "no requests")
  local status, output = harness.run("run", "--resume", io.popen("ls " .. out .. "/*.ckpt"):read "l", "--out", out .. "/resumed")
  harness.equal(status, 0, "exit status, output " .. output)
  assert(harness.read(out .. "/resumed/stats.txt") == with_policy, "stats.txt differs")
end)

harness.test("the resolved config builds the same machine", function()
  local _, _, out = run()
  local again = harness.folder() .. "/again"
  local status, output = harness.run("run", out .. "/config.lua", "kmeans", "--size", "small,points=512", "--out", again)
  harness.equal(status, 0, "exit status, output " .. output)
  assert(harness.read(again .. "/stats.txt") == text, "stats.txt differs")
end)

harness.finish()
