-- Scripts that close a machine, or have finalizers and metamethods do so, while something of it is at work or still held:
-- whatever Lua does, it gets an error and the program does not crash. Each runs in a process of its own.
local harness = require "tests.lib.harness"

local count = 0

--- Runs a script on two built machines, `a` and `b`; what it prints must be `want`.
local function prints(want, body, what)
  count = count + 1
  local path = harness.write(("script%d.lua"):format(count), [[
local ww, core = require "warpwright", require "warpwright.core"
local a, b = ww.build("gtx480", { set = { "sms=1", "partitions=1" } }), ww.build("gtx480", { set = { "sms=1", "partitions=1" } })
local vecadd = "workloads/vecadd/vecadd.ptx"
--- The error without the place in the script.
local function problem(...)
  local ok, text = pcall(...)
  return ok and "no error" or (text:gsub("^%S+%.lua:%d+: ", ""))
end
--- Calls it until a finalizer has run `work` in the middle of it; the last error.
local function in_finalizer(work, call, ...)
  local ran
  collectgarbage("incremental", 1, 1000, 1) -- all garbage at once, whenever anything is made
  collectgarbage()
  setmetatable({}, { __gc = function() work() ran = true end })
  local last
  for _ = 1, 10000 do last = problem(call, ...) if ran then return last end end
  error "no finalizer ran"
end
]] .. body)
  local status, output = harness.run(path)
  harness.equal(status .. ": " .. output, "0: " .. want .. "\n", what or "status and output")
end

-- What is held of a closed machine ------------------------------------------------------------------------------------

harness.test("kernels of a closed machine are refused by another", function()
  prints("launch: the machine of this kernel was closed\tbind_texture: the machine of this kernel was closed\t"
    .. "bind_texture: the machine of this kernel was closed\tkernel of a closed machine", [[
local kernels = a:gpu():load(vecadd)
a:close()
local gpu = b:gpu()
print(problem(gpu.launch, gpu, kernels.vecadd, { grid = 1, block = 1 }), problem(gpu.bind_texture, gpu, kernels.vecadd, "x", 1),
  problem(gpu.bind_texture, gpu, kernels, "x", 1), tostring(kernels.vecadd))]])
end)

harness.test("ports and objects of a closed machine are refused", function()
  local closed = "object: its machine was closed"
  prints((closed .. "\t"):rep(5) .. closed, [[
local lsu, ports = a:object "sm[0].lsu", a:object("xbar").up
local port, one = lsu.mem, ports[0]
a:close()
local m = b.machine
print(problem(m.wire, m, port, "sm[0].lsu.mem"), problem(m.wire, m, "sm[0].lsu.mem", one), problem(m.wire, m, ports, port),
  problem(core.peer, port), problem(tostring, lsu), problem(core.children, lsu))]])
end)

harness.test("a host program that pauses finds its machine closed when it goes on", function()
  for _, cycle in ipairs { 0, 500 } do
    prints("false\tgpu: its machine was closed", ([[
a:start("vecadd", "small,n=4096")
a:run { until_cycle = %d }
local program = a.program
a:close()
local _, ok, text = coroutine.resume(program)
print(ok, (text:gsub("^%%S+%%.lua:%%d+: ", "")))]]):format(cycle))
  end
end)

harness.test("a host program closes its own machine", function()
  prints("gpu: its machine was closed\tno error", [[
local w = ww.workload "closes" { ptx = vecadd, sizes = { small = {} } }
w.ptx = vecadd
function w:run() a:close() end
print(problem(a.run, a, w, "small"), problem(b.run, b, "vecadd", "small,n=256"))]])
end)

harness.test("objects from before a change stay as long as they are held, whatever becomes of the machine", function()
  prints("sm[0]\tsm[0].lsu\tobject: its machine was closed", [[
local sm, again = a:object "sm[0]", b:object "sm[0]"
for _, sim in ipairs { a, b } do
  sim:start("vecadd", "small,n=4096")
  sim:run { until_cycle = 100 }
  sim:change { policy = "gto" }
  sim:change { policy = "lrr" }
end
b:close()
a, b = nil, nil
collectgarbage() collectgarbage()
print(sm.path, sm.lsu.path, problem(tostring, again))]])
end)

-- Finalizers ----------------------------------------------------------------------------------------------------------

harness.test("a finalizer closes the machine that a function is in the middle of", function()
  for _, call in ipairs { "m.stats, m", "m.objects, m", "m.wires, m", "core.parameters, sm", "core.children, sm", "core.policy_counters, m",
    "gpu.download, gpu, 'u8', address, 64", "gpu.load, gpu, vecadd" } do
    prints("closed", ([[
local m, gpu, sm = a.machine, a:gpu(), a:object "sm[0]"
local address = gpu:alloc(64)
local function closed(text) return text:match "was (closed)$" or text end
in_finalizer(function() a:close() end, %s)
print(closed(problem(%s)))]]):format(call, call), call)
  end
end)

harness.test("an error is told although a finalizer has one while it is made", function()
  prints("new.thing: no object matches its parent 'new'", [[
local m = core.machine "m"
m:clock("core", "1GHz")
print(in_finalizer(function() pcall(core.user_error, "another") end, m.add, m, "L2", "new.thing"))]])
end)

-- Metamethods ---------------------------------------------------------------------------------------------------------

harness.test("a metamethod closes the machine that is told what to do", function()
  prints(("gpu: its machine was closed\t"):rep(2) .. "machine: it was closed\t"
    .. [[clock.core: expected a frequency ("700MHz", "1.4GHz"), got a table]], [[ -- nobody asks what its text would be
local function closing(sim, value) return setmetatable({}, { __index = function() sim:close() return value end }) end
local gpu = a:gpu()
local kernels = gpu:load(vecadd)
local c, d, e = core.machine "c", core.machine "d", b:gpu()
print(problem(gpu.launch, gpu, kernels.vecadd, closing(a, 1)), problem(e.texture, e, closing(b, 1)),
  problem(c.wire, c, "x.y", "z.y", closing(c)), problem(d.clock, d, "core", setmetatable({}, { __tostring = function() d:close() return "1GHz" end })))]])
end)

harness.test("options may be inherited", function()
  prints("no error", [[
local gpu = a:gpu()
local kernels = gpu:load(vecadd)
local x = gpu:upload(ww.array("f32", 32))
print(problem(gpu.launch, gpu, kernels.vecadd, setmetatable({ grid = 1 }, { __index = { block = 32, args = { x, x, x, 32 } } })))]])
end)

-- Numbers --------------------------------------------------------------------------------------------------------------

harness.test("a parameter of no bytes holds no number", function()
  local ptx = harness.write("zero.ptx", ".version 6.0\n.target sm_20\n.address_size 64\n.visible .entry zero(.param .b8 a[0])\n{\n  ret;\n}\n")
  prints("kernel zero, argument a: expected an integer of 0 bytes, got 1\tno error", ([[
local gpu = a:gpu()
local kernels = gpu:load %q
print(problem(gpu.launch, gpu, kernels.zero, { grid = 1, block = 1, args = { 1 } }),
  problem(gpu.launch, gpu, kernels.zero, { grid = 1, block = 1, args = { ww.array("u8", 0) } }))]]):format(ptx))
end)

-- Machines out of order -----------------------------------------------------------------------------------------------

harness.test("a machine that is built is wired and set no more", function()
  prints("quantum: machine gtx480 is already built\twire: machine gtx480 is already built\tx: machine gtx480 is already built\t"
    .. "sm[0].schedulers: expected parameters where the object is made, got one later", [[
a:gpu()
local m = a.machine
print(problem(m.quantum, m, 2), problem(m.wire, m, "sm[0].transfers", "sm[0].lsu.mem"), problem(m.add, m, "L2", "x"),
  problem(core.set, a:object "sm[0]", "schedulers", 1))]])
end)

harness.test("objects that are not finished have no ports, and their number is fixed with them", function()
  prints("x.up[0]: the object has no ports yet\tx.up: expected parameters where the object is made, got one later", [[
local m = core.machine "m"
m:clock("core", "1GHz")
local x, y = m:add("Crossbar", "x"), m:add("Crossbar", "y")
core.set(x, "up", 2) core.set(x, "down", 2)
local early = problem(m.wire, m, "x.up[0]", "y.down[0]")
core.finish(x)
print(early, problem(core.set, x, "up", 100))]])
end)

harness.test("a machine that could not be built is not built again", function()
  prints("x.up[0]\tbuild: machine m is already built\tmachine m is not built yet", [[
local m = core.machine "m"
m:clock("core", "1GHz")
local x = m:add("Crossbar", "x")
core.set(x, "up", 1) core.set(x, "down", 1)
core.finish(x)
print(problem(m.run, m, 10):match "^[^:]*", problem(m.run, m, 10), problem(m.settle, m))]])
end)

harness.test("counters are summed without calling what a list of patterns defines", function()
  prints("0\tappend: expected other statistics, got the same", [[
a:gpu()
local patterns = setmetatable({}, { __len = function() a:close() return 1 end })
local rows = a.machine:stats()
print(core.counters(a.machine, { x = patterns }):read().x, problem(rows.append, rows, rows))]])
end)

harness.test("a machine with a kernel in flight is settled as it is, idle or not", function()
  prints("no error\tno error", [[
a:start("vecadd", "small,n=4096")
a:run { until_cycle = 500 }
print(problem(a.machine.settle, a.machine, true), problem(a.run, a, {}))]])
end)

harness.test("a machine whose policy could not be made does not go on", function()
  local policy = harness.write("half.lua", [[
local p = require("warpwright.policy") "half" {}
function p:on_cta_start() end
function p:on_no_such_thing() end
return p]])
  local why <const> = "policy half of sm[0]: no hook matches 'on_no_such_thing'"
  prints(("%s\t%s\t%s"):format(why, why, why), ([[
local sim = ww.build("gtx480", { policy = %q })
local function why(...) return problem(...):match "^[^;]*" end
print(why(sim.gpu, sim), why(sim.run, sim, "vecadd", "small,n=256"), why(sim.result, sim))]]):format(policy))
end)

harness.test("what is thrown at the end of a script may have no text", function()
  local path = harness.write("throws.lua", "error(setmetatable({}, { __tostring = function() error {} end }))")
  harness.refused("it threw a value without text", path)
  path = harness.write("throws2.lua", "error(setmetatable({}, { __index = function() error {} end, __tostring = function() return 'mine' end }))")
  harness.refused("warpwright: error: mine", path)
end)

harness.finish()
