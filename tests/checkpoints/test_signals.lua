-- Lua that does not return: a signal to stop ends it, with an error that says where it is, and what was counted is
-- written. A function that does return is let finish, and the run stops at the next boundary as always.
local harness = require "tests.lib.harness"
local runs = require "tests.lib.policy_runs"

local stat = runs.stat
local program = arg[-1]

--- In a policy: sends this process a signal. Not with os.execute, during which SIGINT is ignored.
local function send(signal) return ('io.popen("kill -%s $PPID"):close()\n'):format(signal) end

--- Starts the program: these tests wait for processor time to pass. What is not ended by the signal is killed after much more
-- of it: of its own, so that a busy computer kills nothing. Returns a function that waits for its end, and returns exit status,
-- output, stats.txt or nil.
local function started(name, text)
  local out = ("%s/out-%s"):format(harness.folder(), name)
  local pipe = assert(io.popen(("ulimit -t 120; '%s' run gtx480 %s --out '%s' 2>&1"):format(program, text, out)))
  return function()
    local output = pipe:read "a"
    local _, _, status = pipe:close()
    local file = io.open(out .. "/stats.txt", "rb")
    local stats = file and file:read "a"
    if file then file:close() end
    return status, output, stats
  end
end

--- A run under a policy with this function, whose body begins on line 5.
local function looping(name, hook, body, settings, more)
  local path = runs.file(name, ('local x = policy "x" { %s }\nfunction x:%s\n%s\nend return x'):format(settings or "", hook, body))
  return started(name, ("spmv --size small --set sms=2 --set partitions=2 --policy '%s' %s"):format(path, more or ""))
end

harness.write("host.lua", ([[
local ww = require "warpwright"
local w = ww.workload "host" { ptx = %q, sizes = { small = {} } }
function w:run(gpu)
%s
while true do pcall(error) end
end
return w]]):format(".version 3.1\n.target sm_20\n.address_size 64\n.entry nothing() { ret; }\n", send "INT"))

local forever = "while true do end"
local host = started("host", ("'%s/host.lua' --size small"):format(harness.folder()))
local period = looping("period", "on_period()", send "INT" .. forever, "period = 1000")
local start = looping("start", "start()", send "INT" .. forever)

local first_loops = "if self.sm:number() == 0 then " .. send "TERM" .. "end\n"
local many = looping("many", "on_cta_start()", first_loops .. forever, "", "--set sms=8")
local second_loops = ("if self.sm:number() == 1 then\n%swhile true do pcall(function() while true do pcall(error) end end) end end"):format(
  send "TERM")
local protected = {}
for threads = 1, 2 do
  protected[threads] = looping("protected" .. threads, "on_cta_start()", second_loops, "", "--threads " .. threads)
end

harness.test("a hook at a boundary that does not return is ended by SIGINT, with place, cycle and stats", function()
  local status, output, stats = period()
  harness.equal(status, 2, output)
  harness.contains(output, "error: ", "/period.lua:6: policy x of sm[0], in on_period at cycle 1008: SIGINT: it has not returned",
    "; launched at workloads/spmv/spmv.lua:")
  harness.equal(stat(stats, "run.cycles"), 1008)
end)

harness.test("a hook within a cycle is ended on any thread, and no pcall saves it", function()
  for threads = 1, 2 do
    local status, output, stats = protected[threads]()
    harness.equal(status, 2, output)
    harness.contains(output, ("/protected%d.lua:7: policy x of sm[1], in on_cta_start at cycle "):format(threads),
      "SIGTERM: it has not returned")
    assert(stat(stats, "sm[0].ctas_started") > 0)
  end
end)

harness.test("where many hooks do not return, one of them is waited for", function()
  local status, output, stats = many()
  harness.equal(status, 2, output)
  harness.contains(output, "/many.lua:7: policy x of sm[0], in on_cta_start")
  assert(stat(stats, "run.cycles") > 0)
end)

harness.test("start is ended, too", function()
  local status, output = start()
  harness.equal(status, 2, output)
  harness.contains(output, "/start.lua:6: policy x of sm[0], in start at cycle 0: SIGINT: it has not returned")

end)

harness.test("a host program that does not come to a launch is ended, with stats", function()
  local status, output, stats = host()
  harness.equal(status, 2, output)
  harness.contains(output, "/host.lua:10: SIGINT: the host program has not returned")
  harness.equal(stat(stats, "run.cycles"), 0)
end)

harness.write("untimed.lua", ([[
local ww = require "warpwright"
local w = ww.workload "untimed" { ptx = %q, sizes = { small = {} } }
function w:run(gpu)
  local flag = gpu:alloc(4)
  io.popen("kill -" .. os.getenv "WW_SIGNAL" .. " $PPID"):close()
  local launch = { grid = 4, block = 32, args = { flag }, timed = os.getenv "WW_TIMED" == "1" }
  local _, problem = pcall(gpu.launch, gpu, self.kernels.wait, launch)
  gpu:launch(self.kernels.nothing, { grid = 1, block = 32, timed = false }) -- a host program may go on
  error(problem, 0)
end
return w]]):format [[
.version 3.1
.target sm_20
.address_size 64
.entry wait(.param .u64 flag)
{
  .reg .u64 %a;
  .reg .u32 %r;
  .reg .pred %p;
  ld.param.u64 %a, [flag];
again:
  ld.volatile.global.u32 %r, [%a];
  setp.eq.u32 %p, %r, 0;
  @%p bra again;
  ret;
}
.entry nothing() { ret; }
]])

harness.test("a launch without timing that does not end is ended by the first signal, with stats", function()
  local path = harness.folder() .. "/untimed"
  local cases = { { "INT", "0" }, { "TERM", "0" }, { "TERM", "1", "--fast-forward", "launch=0,cta=0.5" } }
  for i, case in ipairs(cases) do
    local out = path .. i
    local status, output = harness.run_with(("WW_SIGNAL=%s WW_TIMED=%s"):format(case[1], case[2]), "run", "gtx480", path .. ".lua",
      "--size", "small", "--set", "sms=2", "--set", "partitions=2", "--out", out, case[3] or "--stats", case[4] or "all")
    harness.equal(status, 75, output)
    harness.contains(output, ("kernel wait has not ended without timing: SIG%s"):format(case[1]))
    local file <close> = assert(io.open(out .. "/stats.txt", "rb"))
    harness.equal(stat(file:read "a", "run.cycles"), 0)
  end
end)

harness.test("a hook that takes its time after a signal finishes, and the run is saved and stops", function()
  local path = runs.file("slow", [[
local x = policy "x" { period = 1000, counters = { calls = "" } }
function x:on_period()
  local signal = os.getenv "WW_SIGNAL"
  self:count "calls"
  if signal and self.counters.calls == 2 and self.sm:number() == 0 then
    io.popen("kill -" .. signal .. " $PPID"):close()
    for i = 1, 10000000 do end
  end
end
return x]])
  local out = harness.folder() .. "/slow"
  local status, output = harness.run_with("WW_SIGNAL=TERM", "run", "gtx480", "spmv", "--size", "small", "--set", "sms=2",
    "--set", "partitions=2", "--policy", path, "--out", out)
  harness.equal(status, 75, output)
  local saved = output:match "SIGTERM: checkpoint (%S+)\n"
  harness.same_text(runs.good { resume = saved }, runs.good { policy = path }, "resumed")
end)

harness.test("SIGHUP, a terminal that is lost, saves the run and stops it; one that is ignored does nothing", function()
  local path = runs.file("lost", [[
local x = policy "x" { period = 1000, counters = { calls = "" } }
function x:on_period()
  self:count "calls"
  if self.counters.calls == 2 and self.sm:number() == 0 then io.popen("kill -HUP $PPID"):close() end
end
return x]])
  local command = ("run gtx480 spmv --size small --set sms=2 --set partitions=2 --policy %s --out %s/lost"):format(path, harness.folder())
  local function said(before)
    local file <close> = io.popen(("%s '%s' %s 2>&1; echo status $?"):format(before, arg[-1], command))
    return file:read "a"
  end
  harness.contains(said "env --default-signal=HUP", "SIGHUP: checkpoint ", "status 75") -- the tests may run under nohup
  local ignored = said "trap '' HUP;"
  harness.contains(ignored, "status 0")
  assert(not ignored:find("SIGHUP", 1, true), ignored)
end)

harness.finish()
