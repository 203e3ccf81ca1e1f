-- What is refused of classes that are written in Lua, and where an error in one leads.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local count = 0

--- Writes a file that declares class X; `head` is what stands in front of it.
local function class_file(fields, head)
  count = count + 1
  return harness.write(("class%d.lua"):format(count), ([[
local class = require "warpwright.class"
%s
return class "X" {
%s
}]]):format(head or "", fields))
end

local ports = 'ports = { up = { "responder" }, down = { "requester" } },\n'
local idle = "tick = function() end,"

--- The message of building a machine that uses the file, and has `more`.
local function refused(file, more)
  local config = harness.write("refused.lua", ([[
local ww = require "warpwright"
return ww.machine("refused", function(m)
  m:clocks { core = "700MHz" }
  m:use %q
  %s
end)]]):format(file, more or ""))
  local ok, message = pcall(ww.build, config)
  assert(not ok, "it was not refused")
  return message:gsub(harness.folder() .. "/", "")
end

--- The message of a machine in which a source of reads, X, and a sink are in a row; and that machine.
local function failed(fields, options)
  options = options or {}
  local config = harness.write("failed.lua", ([[
local ww = require "warpwright"
return ww.machine("failed", function(m)
  m:clocks { core = "700MHz" }
  m:use %q
  local source = m:TrafficSource "source" { rate = 0.5, limit = 20, posted = %s, writes = %s }
  local x = m:X "x" { %s }
  local sink = m:TrafficSink "sink" { latency = 20 }
  m:wire(source.mem, x.up)
  m:wire(x.down, sink.cpu, { depth = 2 })
end)]]):format(class_file(ports .. fields, options.head), options.posted or "false", options.writes or 0, options.params or ""))
  local sim = ww.build(config)
  local ok, message = pcall(sim.advance, sim, 4000)
  if ok then
    ok, message = pcall(sim.result, sim)
  end
  assert(not ok, "it was not refused")
  return message:gsub(harness.folder() .. "/", ""), sim
end

local function refuses(what, fields, ...)
  local wanted = { ... }
  harness.test("refused: " .. what, function() harness.contains(refused(class_file(fields)), table.unpack(wanted)) end)
end

local function fails(what, body, wanted, options)
  harness.test("an error: " .. what, function()
    local message = failed("state = {}, stats = { seen = { unit = \"x\" } },\ntick = function(self, cycle)\n" .. body .. "\nend", options)
    harness.contains(message, "x (X", wanted)
    assert(not message:find("attempt to", 1, true), message)
  end)
end

-- Declarations ------------------------------------------------------------------------------------------------------------

refuses("no tick", ports, "class X: expected a function tick(self, cycle), got nil")
refuses("no ports", idle, "class X: expected a port or more, got none")
refuses("an unknown field", ports .. idle .. "parms = {}", "class X: no field matches 'parms'; did you mean params?")
refuses("an unknown role", 'ports = { up = { "listener" } },' .. idle, 'class X: ports.up: expected { "responder", ... }', "got 'listener'")
refuses("a row that is none", "ports = { up = 3 }," .. idle, "class X: ports.up: expected a table, got 3")
refuses("a name that is none", 'ports = { ["a-b"] = { "responder" } },' .. idle, "class X: ports: expected { name =", "got 'a-b'")
refuses("a default out of bounds", ports .. idle .. 'params = { n = { 9, min = 1, max = 8 } }',
  "class X: params.n: expected a whole number from 1 to 8, got 9")
refuses("a default of another unit", ports .. idle .. 'params = { n = { "9MHz", unit = "bytes" } }', "class X: params.n: expected bytes", "got '9MHz'")
for what, params in pairs { default = "n = { -5 }", bound = "n = { -5, min = -10, max = 10 }" } do
  refuses("a negative whole number as " .. what, ports .. idle .. "params = { " .. params .. " }", "class X: params.n: expected ",
    " from 0 on", what == "bound" and "(-5.0, a number with a point, may be below), got -10" or ", got -5")
end
refuses("bounds that leave nothing between them", ports .. idle .. "params = { n = { 5, min = 1000, max = 1 } }",
  "class X: params.n: expected a min of up to max = 1, got 1000")
for _, name in ipairs { "state", "count", "params", "answer", "start", "tick", "path", "class" } do
  refuses("a port named " .. name, ('ports = { %s = { "responder" } },'):format(name) .. idle,
    ("class X: ports.%s: expected another name, got one that every object has"):format(name))
end
refuses("a parameter that hides the path of its object", ports .. idle .. "params = { path = { 1 } }",
  "class X: params.path: expected another name, got one that every object has")
refuses("a function of a name that every object has", ports .. idle .. "drop = function() end",
  "class X: function drop: expected another name, got one that every object has")
refuses("a function named as a port", ports .. idle .. "down = function() end", "class X: function down: expected another name, got that of a port")
refuses("a choice that is none", ports .. idle .. 'params = { n = { "c", choices = { "a", "b" } } }', "expected one of a, b, got 'c'")
refuses("a parameter that every class has", ports .. idle .. 'params = { holds = { 1 } }', "class X: params.holds: expected another name")
refuses("a name twice", ports .. idle .. "stats = { up = {} }", "class X: expected each name once, got 'up' twice")
refuses("an array without its parameter", 'ports = { up = { "responder", count = "n" } },' .. idle,
  "class X: ports.up.count: expected a parameter from 1 to 254 or less (min =, max =), got 'n'")
refuses("an event of no port", ports .. idle .. 'hears = { upp = { "evict" } }', "class X: hears: no port matches 'upp'; did you mean up?")
refuses("an event without a function", ports .. idle .. 'hears = { up = { "evict" } }', "hears evict of port up: expected a function on_up_evict, got nil")
refuses("state that is no table", ports .. idle .. "state = 3", "class X: state: expected a table, got 3")
refuses("state that no checkpoint could hold", ports .. idle .. "state = { n = 0, f = { print } }",
  "class X: state.f.1: expected a number, string, boolean or table of them, got a function")
refuses("state by keys that no checkpoint could hold", ports .. idle .. "state = { [print] = 0 }",
  "class X: state: a key: expected a number, string or boolean, got a function")

harness.test("refused: a file without a class, a name of the program's, a wrong value, a wrong port, no such file", function()
  harness.contains(refused(harness.write("none.lua", "return 3")), "none.lua: expected a file that declares a class")
  harness.contains(refused(harness.write("mux.lua", 'return require "warpwright.class" "Mux" {' .. ports .. idle .. "}")),
    "class Mux: expected a name of its own, got that of a class of the program")
  local file = class_file(ports .. idle .. 'params = { n = { 4, unit = "lines", min = 1, max = 8 }, size = { unit = "bytes" } }')
  harness.contains(refused(file, 'm:X "x" { n = 9, size = 1 }'), "refused.lua:5: x.n: expected 1 to 8 (lines), got 9")
  local bare = class_file(ports .. idle .. "params = { n = { min = 1, max = 8 } }")
  harness.contains(refused(bare, 'm:X "x" { n = 9 }'), "x.n: expected 1 to 8, got 9")
  harness.contains(refused(bare, 'm:X "x" {}'), "x.n: expected a value, got none")
  harness.contains(refused(file, 'm:X "x" { n = 1 }'), "x.size: expected a value (bytes), got none")
  harness.contains(refused(file, 'm:X "x" { k = 1, size = 1 }'), "x: no parameter of X matches 'k'; available: holds, n, size")
  harness.contains(refused(file, 'm:wire(m:X "x" { size = 1 }.side, "x.up")'), "x: no member of X matches 'side'")
  harness.contains(refused "no_such_class", "use: no file of classes matches 'no_such_class'; available:", "victim_buffer")
end)

harness.test("an error of a declaration is at the line that declares the class, not where a machine uses its file", function()
  local message = refused(class_file(ports .. "params = 3,"))
  assert(message:find "^class%d+%.lua:3: class X: params: expected a table of rows, got 3", message)
end)

harness.test("an error that Lua finds within a function of its own is at the line that calls it", function()
  harness.contains((failed "tick = function()\nlocal x = 1\nfor _ in ipairs(nil) do end\nend"),
    ".lua:7: x (X), in tick at cycle 0: attempt to index a nil value")
end)

harness.test("refused: a class that a script declares beside what it does", function()
  local script = harness.write("script.lua", ('local ww = require "warpwright"\nww.class "X" { %s %s }'):format(ports, idle))
  local status, output = harness.run(script)
  harness.equal(status, 2, "exit status")
  harness.contains(output, "script.lua:2: class X: expected a declaration in a file of its own")
end)

harness.test("a config may declare a class beside its machine", function()
  local config = harness.write("inline.lua", ([[
local ww = require "warpwright"
ww.class "Inline" { %s tick = function(self) self.up:forward(self.down) self.down:forward() end }
return ww.machine("inline", function(m)
  m:clocks { core = "700MHz" }
  local source = m:TrafficSource "source" { rate = 0.5, limit = 20 }
  local x = m:Inline "x" {}
  local sink = m:TrafficSink "sink" { latency = 20 }
  m:wire(source.mem, x.up)
  m:wire(x.down, sink.cpu)
end)]]):format(ports))
  local sim = ww.build(config)
  harness.equal(sim:advance(4000), "idle", "at the end")
  harness.equal(sim:result()["sink.answered"], 20, "answers")
  harness.contains(sim:config(), ("m:use %q"):format(config))
end)

harness.test("refused: hearing a neighbour by a wire as slow as the quantum, with what makes the quantum so short", function()
  local file = class_file('ports = { up = { "responder" }, down = { "requester" } }, hears = { up = { "evict" } }, on_up_evict = print,' .. idle)
  local function message_of(quantum, up, down)
    local config = harness.write("hears.lua", ([[
local ww = require "warpwright"
return ww.machine("hears", function(m)
  m:clocks { core = "700MHz" }
  %s
  m:use %q
  m:Dispatcher "dispatcher" { sms = 1 }
  m:AddressMap "map" { channels = 1 }
  local sm = m:SM "sm" {}
  m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
  m:X "x" {}
  m:L2 "l2" { size = "64KiB", ways = 4, mshrs = 32 }
  m:MemoryController "mc" {}
  m:wire("dispatcher.sm[0]", "sm.dispatch")
  m:wire("sm.lsu.mem", "sm.l1d.cpu")
  m:wire("sm.l1d.mem", "x.up", { latency = %d })
  m:wire("x.down", "l2.cpu", { latency = %d })
  m:wire("l2.mem", "mc.cpu[0]")
end)]]):format(quantum, file, up, down))
    local sim = ww.build(config)
    local ok, message = pcall(sim.gpu, sim)
    sim:close()
    return ok and "no error" or message
  end
  local expected = "x: hears: expected a wire to sm.l1d of less than the quantum, 1, got one of 1 (cycles of clock core); "
  harness.contains(message_of("", 1, 1), expected .. "m:quantum(2) or --set quantum=2 sets a longer quantum once wires as quick as "
    .. "l2.cpu -> x.down, between sm and l2, have a latency of 2 cycles of clock core or more")
  harness.contains(message_of("m:quantum(1)", 1, 8), expected .. "m:quantum(2) or --set quantum=2 sets a longer quantum")
  harness.equal(message_of("", 1, 8), "no error")
end)

harness.test("an object that asks while it has room for the answer holds as many messages as it may, and no more", function()
  local file = class_file([[
    ports = { down = { "requester" } },
    stats = { asked = {}, full = {}, most = {} },
    start = function(self) self:count("most", self:room()) end,
    tick = function(self)
      local m = self.down:pop()
      if m then assert(m.own and self:room() > 0) end
      if self:room() == 0 then self:count "full" return nil end
      if self.down:can_send() then
        local before = self:room()
        self.down:request { address = 0 }
        assert(self:room() == before - 1)
        self:count "asked"
      end
      return true
    end]])
  local config = harness.write("asks.lua", ([[
local ww = require "warpwright"
return ww.machine("asks", function(m)
  m:clocks { core = "700MHz" }
  m:use %q
  m:wire(m:X "x" { holds = 3 }.down, m:TrafficSink "sink" { latency = 20 }.cpu)
end)]]):format(file))
  local sim = ww.build(config)
  sim:advance(1000)
  local r = sim:result()
  harness.equal(r["x.most"], 3, "room at first")
  assert(r["x.asked"] > 50 and r["x.full"] > 0, ("%d asked, %d times full"):format(r["x.asked"], r["x.full"]))
  assert(r["x.asked"] - r["sink.answered"] <= 3, "more in flight than it holds")
end)

harness.test("a port tells whether it is wired", function()
  local file = class_file([[
    ports = { up = { "responder" }, down = { "requester" }, side = { "requester", optional = true } },
    stats = { at_start = {}, in_tick = {} },
    start = function(self) self:count("at_start", self.up:is_wired() and self.down:is_wired() and not self.side:is_wired() and 1 or 0) end,
    tick = function(self)
      if self.up:peek() then self:count("in_tick", self.down:is_wired() and not self.side:is_wired() and 1 or 0) end
      self.up:forward(self.down)
      self.down:forward()
    end]])
  local config = harness.write("wired.lua", ([[
local ww = require "warpwright"
return ww.machine("wired", function(m)
  m:clocks { core = "700MHz" }
  m:use %q
  m:wire(m:TrafficSource "source" { limit = 1 }.mem, m:X "x" {}.up)
  m:wire("x.down", m:TrafficSink "sink" {}.cpu)
end)]]):format(file))
  local sim = ww.build(config)
  sim:advance(1000)
  local r = sim:result()
  harness.equal(r["x.at_start"], 1, "in start()")
  harness.equal(r["x.in_tick"], 1, "in tick()")
end)

-- Errors at work ------------------------------------------------------------------------------------------------------------

fails("one that is thrown", "if cycle > 5 then error 'on purpose' end", "in tick at cycle 6: on purpose")
fails("a result that is no time", "return 'soon'", "in tick at cycle 0: expected the number of a cycle, true or nil as the result, got 'soon'")
fails("sending nothing", "self.down:send(self.up:pop())", "bad argument #1 to 'send' (table expected, got no value)")
fails("sending where there is no room",
  "local m = self.up:pop() if m then for _ = 1, 3 do self.down:request { address = 0, kind = 'write' } end end",
  "request: expected room behind x.down, got none in this cycle; can_send() says so")
fails("sending twice", "local m = self.up:pop() if m then self.down:send(m) self.down:send(m) end",
  "send: expected a message that is still held, got one that was sent, answered or dropped")
fails("sending what was made up", "local m = self.up:peek() if m then self.down:send(m) end",
  "send: expected a message that pop() returned, got another table")
fails("dropping the answer to a request of its own, which has ended",
  "if cycle == 0 then self.down:request { address = 0 } end local m = self.down:peek() if m and m.own then self:drop(self.down:pop()) end",
  "drop: expected a message that pop() returned, got the answer to a request of its own, which pop() ends")
fails("a request that is sent back", "local m = self.up:pop() if m then self.up:send(m) end",
  "send: expected a port towards memory for a request, got x.up")
fails("an address that was changed", "local m = self.up:pop() if m then m.address = 0 m.address = m.address + 64 self.down:send(m) end",
  "address: expected that of the message as it came")
fails("a class out of bounds", "local m = self.up:pop() if m then m.class = 32 self.down:send(m) end", "class: expected 0 to 31, got 32")
fails("dropping what somebody waits for", "local m = self.up:pop() if m then self:drop(m) end",
  "drop: expected a request that wants no answer, got one that somebody waits for")
fails("answering what wants no answer", "local m = self.up:pop() if m then self:answer(m) end",
  "answer: expected a request that wants an answer; drop() ends it", { posted = "true", writes = 1 })
fails("an answer with a field that there is not", "local m = self.up:pop() if m then self:answer(m, { hits = true }) end",
  "answer: no field matches 'hits'; available: hit")
fails("an answer that hits once", "local m = self.up:pop() if m then self:answer(m, { hit = 1 }) end",
  "answer: hit: expected true or false, got 1")
fails("holding more than there is room for", "self.up:pop() return true", "expected room for another message, got 4 that are held",
  { params = "holds = 4" })
fails("a message that is lost", "self.up:pop()", "expected every message to be sent on, answered or dropped in the end, got the read of")
fails("a statistic that there is not", "self:count 'sen'", "count: no statistic of the class matches 'sen'; did you mean seen?")
fails("a request with a field that there is not", "self.down:request { address = 0, byte = 32 }",
  "request: no field matches 'byte'; available: address, bytes, kind, tag, sm, warp, class")
fails("a request of a kind that there is not", "self.down:request { address = 0, kind = 'atomic' }",
  "request: kind: expected 'read' or 'write', got 'atomic'")
fails("a request off its boundary", "self.down:request { address = 4 }", "request: address: expected a multiple of 128, got 4")
fails("a field that is assigned", "self.last = cycle", "self.last: expected an assignment in start(), got one later; what an object remembers is in self.state")
fails("a parameter that is assigned", "self.params.holds = 2",
  "params.holds: expected no assignment: parameters are as the run gives them to class X; what an object remembers is in self.state")
fails("a statistic that falls below 0", "self:count('seen', 2) self:count('seen', -2) self:count('seen', -1)",
  "count seen: expected a whole number from 0 on, got -1")
fails("the address of a table", "return #tostring({})", "tostring: expected a value whose text is the same in each run, got a table")
fails("random numbers", "return math.random(9)", "math.random: expected numbers that repeat in each run")


-- On a GPU ------------------------------------------------------------------------------------------------------------------

--- gtx480 with an X between each load/store unit and its L1.
local function gpu_with(fields, head)
  count = count + 1
  return harness.write(("gpu%d.lua"):format(count), ([[
local ww = require "warpwright"
local base = require "configs.gtx480"
return ww.machine("gtx480_x", base.options, function(m, o)
  m:use %q
  local seen = {}
  function seen.wire(_, a, b, wire)
    local sm = tostring(a):match "^(sm%%[%%d+%%])%%.lsu%%.mem$"
    if not sm then return m:wire(a, b, wire) end
    local x = m:X (sm .. ".x") {}
    m:wire(a, x.up)
    m:wire(x.down, b)
  end
  setmetatable(seen, { __index = function(_, key) return function(_, ...) return m[key](m, ...) end end })
  base.build(seen, o)
end)]]):format(class_file(ports .. fields, head)))
end

local function run(config, ...)
  count = count + 1
  local out = ("%s/out%d"):format(harness.folder(), count)
  local status, output = harness.run("run", config, "spmv", "--size", "small,rows=64", "--set", "sms=2", "--set", "partitions=2", "--out", out, ...)
  return status, output, out
end

local passes = "tick = function(self) self.up:forward(self.down) self.down:forward() end, passes_on = true,\n"

harness.test("policies see through an object that passes requests on", function()
  for _, policy in ipairs { "mascar", "ccws", "mrpb", "pcal" } do
    local status, output = run(gpu_with(passes), "--policy", policy)
    harness.equal(status, 0, policy .. ": exit status, output " .. output)
  end
end)

harness.test("an error says at which object the search for an L1 ended", function()
  local config = gpu_with((passes:gsub("passes_on = true,", "")))
  for policy, wanted in pairs { mascar = "got none", mrpb = "which matches none" } do
    local status, output = run(config, "--policy", policy)
    harness.equal(status, 2, policy .. ": exit status, output " .. output)
    harness.contains(output, wanted .. "; the search ended at sm[0].x (X), which does not pass requests on")
  end
end)

harness.test("after an error in tick what was counted is written", function()
  local status, output, out = run(gpu_with [[stats = { seen = { unit = "messages" } }, tick = function(self, cycle)
    if self.up:forward(self.down) then self:count "seen" end
    self.down:forward()
    if cycle >= 1200 then self.up:pop() error "stop" end
  end]])
  harness.equal(status, 2, "exit status")
  assert(output:match ": sm%[%d%]%.x %(X%), in tick at cycle 1%d%d%d: stop; launched at", output)
  local seen = harness.read(out .. "/stats.txt"):match "sm%[0%]%.x%.seen +(%d+)"
  assert(tonumber(seen) > 0, "nothing was counted")
end)

harness.test("a tick that does not end is ended by a signal to stop", function()
  local config = gpu_with [[tick = function(self, cycle)
    self.up:forward(self.down)
    self.down:forward()
    if cycle >= 1200 and self.path == "sm[0].x" then
      local file = io.open("/proc/self/stat")
      os.execute("kill -TERM " .. file:read "n")
      while true do end
    end
  end]]
  local status, output = run(config)
  harness.equal(status, 2, "exit status")
  assert(output:match "sm%[0%]%.x %(X%), in tick at cycle 1%d%d%d: SIGTERM: it has not returned in 1 s since, and was ended", output)
end)

local function resumed(fields, head)
  local config = gpu_with(fields, head)
  local status, output, out = run(config, "--checkpoint-at", "1500")
  local path = io.popen("ls " .. out .. "/*.ckpt 2>/dev/null"):read "l"
  return status, output, path, out, config
end

harness.test("memory that no checkpoint holds is found when one is made", function()
  local kept = "tick = function(self) %s self.up:forward(self.down) self.down:forward() end"
  local _, output, path = resumed(kept:format "seen = seen + 1", "local seen = 0")
  harness.contains(output, "sm[0].x (X, ", "seen: expected a local variable to keep its value, got another; what an object remembers is in self.state")
  harness.equal(path, nil, "a checkpoint")
  _, output = resumed(kept:format "seen.n = (seen.n or 0) + 1", "local seen = {}")
  harness.contains(output, "seen: expected a local variable to keep its value")
  _, output = resumed(kept:format "self.state.f = print")
  harness.contains(output, "self.state.f: expected a number, string, boolean or table of them, got a function")
  _, output = resumed(kept:format "self.state = 5")
  harness.contains(output, "self.state: expected a table, got 5")
  _, output = resumed(kept:format "rawset(self, 'seen', 1)")
  harness.contains(output, "self.seen: expected an assignment in start(), got it later; what an object remembers is in self.state")
  _, output = resumed(kept:format "seen = (seen or 0) + 1")
  harness.contains(output, "seen: expected a local variable, got it later")
end)

--- Replaces a text in a file by one as long, or appends.
local function change_file(path, text, by)
  local content = harness.read(path)
  local file = io.open(path, "wb")
  file:write((content:gsub(text, by)))
  file:close()
end

harness.test("a class that has changed is refused on resume, or goes on with its state where that is allowed", function()
  local _, output, path, _, config = resumed("state = { n = 0 }, tick = function(self) self.state.n = self.state.n + 1 self.up:forward(self.down) self.down:forward() end")
  assert(path, output)
  local class = harness.read(config):match 'm:use "([^"]*)"'
  change_file(class, "n %+ 1", "n + 2")
  local status
  status, output = harness.run("run", "--resume", path, "--out", path .. ".a")
  harness.equal(status, 2, "exit status, output " .. output)
  harness.contains(output, class:match "[^/]*$" .. " has changed since it was made")
  status, output = harness.run("run", "--resume", path, "--allow-changes", "--out", path .. ".b")
  harness.equal(status, 0, "exit status, output " .. output)
  change_file(class, "state = {", "stats = { more = {} }, state = {")
  status, output = harness.run("run", "--resume", path, "--allow-changes", "--out", path .. ".c")
  harness.equal(status, 2, "exit status, output " .. output)
  harness.contains(output, "sm[0].x.more: the checkpoint does not have it")
end)

harness.finish()
