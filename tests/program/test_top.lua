-- `warpwright top`: what a run that goes on shows, and that it stays what it is.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local live = require "warpwright.live"
local runs = require "tests.lib.policy_runs"
local top = require "warpwright.top"

local home <const>, program <const> = harness.folder(), arg[-1]

-- Runs that ask themselves: a policy that does so, or that does anything else for as long --------------------------------

local function asking(name, command)
  return runs.file(name, ([[
local x = policy "x" { period = 4000 }
function x:on_period()
  if self.sm:number() == 0 then io.popen(%q):close() end
end
return x]]):format(command))
end

local function run_small(folder, policy, threads)
  local status, output = harness.run("run", "gtx480", "spmv", "--size", "small", "--set", "sms=4", "--policy", policy, "--threads",
    tostring(threads or 1), "--out", folder)
  harness.equal(status, 0, output)
  return harness.read(folder .. "/stats.txt"), output
end

--- Of the policy's parameters, provenance and description nothing is in there.
local quiet <const> = run_small(home .. "/quiet", asking("quiet", "true $PPID"))

harness.test("a run that is looked at every 4,000 cycles has the statistics of one that is not, on one thread and on two", function()
  for threads = 1, 2 do
    local folder = home .. "/asked" .. threads
    local policy = asking("asked" .. threads, ("kill -USR2 $PPID; cp '%s/live.zst' '%s/kept%d.zst' 2>/dev/null"):format(folder, home, threads))
    harness.same_text((run_small(folder, policy, threads):gsub("asked%d", "quiet")), quiet, folder)
  end
end)

harness.test("it shows the kernel, its CTAs, and counters as of one boundary that add up", function()
  core.make_folder(home .. "/seen")
  harness.write("seen/live.zst", harness.read(home .. "/kept1.zst"))
  local values, texts = {}, {}
  assert(live.visit(home .. "/seen", function(name, value, _, _, doc) values[name], texts[name] = value, doc end))
  harness.contains(texts["live.label"], "gtx480 spmv small ")
  harness.contains(texts["live.kernel"], "spmv")
  assert(values["live.views"] > 3 and values["run.cycles"] > 12000, "one of the later views")
  local done, issued = 0, 0
  for i = 0, 3 do
    local sm = ("sm[%d]."):format(i)
    done = done + values[sm .. "ctas_finished"]
    issued = issued + values[sm .. "warp_instructions"]
    local slots = 0
    for name, value in pairs(values) do
      if name:sub(1, #sm + 6) == sm .. "slots_" then slots = slots + value end
    end
    harness.equal(slots, 2 * values["run.cycles"], "slots of the two schedulers of " .. sm)
  end
  harness.equal(done, values["live.ctas_done"], "CTAs done")
  assert(done <= values["live.ctas"])
  harness.equal(issued, values["run.warp_instructions"], "instructions")

  local accesses, hits = 0, 0
  for i = 0, 3 do
    accesses = accesses + values[("sm[%d].l1d.accesses"):format(i)]
    hits = hits + values[("sm[%d].l1d.hits"):format(i)]
  end
  local page = top.page(home .. "/seen")
  harness.contains(page, ("IPC %.3f of threads"):format(values["run.thread_instructions"] / values["run.cycles"]), "\n  memory ",
    ("\n  issued         %5.1f %%"):format(100 * issued / (8 * values["run.cycles"])))
  local shown_accesses, shown_hits = page:match "\n  sm%[%*%]%.l1d +(%d+) +[%d.]+ +([%d.]+) %%"
  harness.equal(tonumber(shown_accesses), accesses, "accesses")
  harness.equal(shown_hits, ("%.1f"):format(100 * hits / accesses), "hits")
end)

harness.test("what belongs to a run that goes on is gone when it has ended", function()
  harness.equal(table.concat(core.list_folder(home .. "/asked1"), " "), "config.lua provenance.txt stats.json stats.txt")
end)

harness.test("a question does not make the run forget a checkpoint", function()
  local folder = home .. "/both"
  local _, output = run_small(folder, asking("both", ("[ -e '%s/done' ] || kill -USR2 $PPID; kill -USR1 $PPID; kill -USR2 $PPID; touch '%s/done'"):format(
    home, home)))
  harness.contains(output, "SIGUSR1: checkpoint " .. folder)
end)

-- A run that goes on until it is told --------------------------------------------------------------------------------

local told <const> = home .. "/told"
harness.write("until_told.lua", ([[
local core, ww = require "warpwright.core", require "warpwright"
local w = ww.workload "until_told" { ptx = %q, sizes = { small = {} } }
function w:run(gpu)
  local kernel = gpu:load(w.ptx).nothing
  repeat gpu:launch(kernel, { grid = 64, block = 256 }) until core.is_file %q
end
return w]]):format(home .. "/nothing.ptx", told))
harness.write("nothing.ptx", [[
.version 3.1
.target sm_20
.address_size 64
.entry nothing() {
  .reg .u32 %r<2>;
  mov.u32 %r0, %tid.x;
  add.u32 %r1, %r0, %r0;
  ret;
}
]])

--- Its folder, who it is, and a function that lets it end.
local function until_told(name)
  os.remove(told)
  local folder = ("%s/%s"):format(home, name)
  local pipe = assert(io.popen(("'%s' run gtx480 '%s/until_told.lua' --size small --set sms=2 --out '%s' 2>&1"):format(program, home, folder)))
  while not (core.real_path(folder) and live.who(folder)) do core.sleep(0.005) end
  return folder, live.who(folder), function()
    harness.write("told", "")
    local output = pipe:read "a"
    assert(pipe:close(), output)
  end
end

harness.test("top --once prints what was since the run began; without, top goes on until the run ends", function()
  local folder, who, finish = until_told "watched"
  harness.equal(who.host, core.host().name)
  local status, output = harness.run("top", folder, "--once", "--every=86400s") -- which is how long it would wait for an answer
  harness.equal(status, 0, output)
  harness.contains(output, "gtx480 until_told small default\ncycle ", "IPC ", "controllers ", "  mc[*] ")
  local pipe = assert(io.popen(("'%s' top '%s' --every 0.1 2>&1"):format(program, folder)))
  local first = pipe:read "l"
  finish()
  harness.contains(first, "gtx480 until_told small default")
  harness.contains(pipe:read "a", "cycle ", "/watched: the run has ended\n")
  assert(pipe:close())
  harness.refused("top: " .. folder .. ": expected a run that goes on, got one that has ended", "top", folder)
end)

harness.test("of an empty folder and of none, top says what there is; of wrong arguments, what is legal", function()
  core.make_folder(home .. "/empty")
  harness.refused("expected a run that goes on, got none", "top", home .. "/empty")
  harness.refused("expected the folder of a run, got no such folder", "top", home .. "/nowhere")
  harness.refused("--every: expected 0.1 s to a day, got '0'", "top", home, "--every", "0")
  harness.refused("top: expected the FOLDER of a run, got nothing; see warpwright top --help", "top")
end)

harness.test("of a sweep's folder, top names the runs at work", function()
  for _, folder in ipairs { "/sweep", "/sweep/runs", "/sweep/runs/ended" } do core.make_folder(home .. folder) end
  harness.write("sweep/sweep.lua", "")
  harness.write("sweep/runs/one.log", "")
  harness.refused("top: " .. home .. "/sweep: expected a run that goes on, got a sweep; at work: no run of it", "top", home .. "/sweep")
  local folder, _, finish = until_told "sweep/runs/one"
  harness.refused("expected a run that goes on, got a sweep; at work: " .. folder .. "\n", "top", home .. "/sweep")
  finish()
end)

harness.test("no process is asked because a run that was killed had its number, nor one of another computer", function()
  local stale = home .. "/stale"
  core.make_folder(stale)
  local pipe = assert(io.popen("sleep 600 & echo $!; wait", "r"))
  local other = pipe:read "n"
  harness.write("stale/run.pid", ("%s %d\n"):format(core.host().name, other))
  harness.refused("expected a run that goes on, got none", "top", stale)
  local lock = core.lock_folder(stale)
  harness.write("stale/run.pid", ("elsewhere %d\n"):format(other))
  harness.refused("expected a run on this computer", "top", stale)
  os.remove(stale .. "/run.pid")
  harness.refused("got one that shows nothing: a script drives it", "top", stale)
  lock:close()
  assert(os.execute(("kill %d"):format(other)), "it was asked, and died of it")
  pipe:close()
end)

harness.test("a process that is no run ignores the question", function() assert(core.ask_to_show(core.process())) end)

harness.finish()
