-- scripts/torture: drawn machines hold the law; a fault that is planted into its runs is found, told from others, and made
-- smaller; the same seed and number give the same machine.
local draw = require "scripts.lib.torture.draw"
local harness = require "tests.lib.harness"
local leg = require "scripts.lib.torture.leg"
local machine = require "scripts.lib.torture.machine"
local ww = require "warpwright"

--- Runs scripts/torture; returns its exit status, what it printed, and the counts of its last line by word.
local function torture(...)
  local words = { ("WARPWRIGHT='%s' scripts/torture"):format(arg[-1]), ... }
  local pipe = assert(io.popen(table.concat(words, " ") .. " 2>&1"))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  local counts = {}
  for number, word in (output:match "([^\n]*)\n*$"):gmatch "(%d+) (%a+)" do counts[word] = math.tointeger(number) end
  return status, output, counts
end

local out = harness.folder() .. "/out"

--- A planted fault: the body of a function of `settings`, `has` (a setting's value by its name) and `what` is run, which
-- returns the settings of this run.
local function plant(name, body)
  return harness.write(name .. ".lua", ([=[
return function(settings, what)
  local has, changed = {}, {}
  for i, setting in ipairs(settings) do has[setting[1]], changed[i] = setting[2], setting end
  %s
  return changed
end
]=]):format(body))
end

local function planted(name, body, ...)
  return torture("--machines 8 --builds '' --out", ("%s-%s"):format(out, name), "--plant", plant(name, body), ...)
end

--- The one finding that a planted fault left: its machine file, its settings.
local function finding(name)
  local folder = ("%s-%s"):format(out, name)
  local pipe = assert(io.popen(("ls %s/*.lua"):format(folder)))
  local path = pipe:read "l"
  pipe:close()
  return path, harness.read(path), dofile((path:gsub("%.lua$", ".settings")))
end

-- The law -------------------------------------------------------------------------------------------------------------

harness.test("drawn machines give the same stats in any order, on threads, resumed, and in other builds", function()
  local status, output, counts = torture "--machines 10 --seed 6"
  harness.equal(status, 0, output)
  harness.equal(counts.machines, 10)
  assert(counts.resumes >= 9, output)
  harness.equal(counts.refused, 0, output)
end)

harness.test("every parameter of every class and policy is varied, or left out with a reason", function()
  local _, output = torture "--machines 1 --builds ''"
  local varied, all = output:match "varied: (%d+) of (%d+) parameters of classes"
  assert(tonumber(varied) >= 0.9 * tonumber(all), output)
  assert(not output:find("of which its row says nothing", 1, true), output)
end)

harness.test("seed and number give the same machine, others another one", function()
  local function machine_of(words)
    local _, output = torture(words, "--builds ''")
    return output:match "return ww.machine.-\nend%)\nruns [^\n]*"
  end
  local first = machine_of "--seed 9 --only 4"
  assert(first and first == machine_of "--seed 9 --only 4")
  assert(first ~= machine_of "--seed 9 --only 5" and first ~= machine_of "--seed 8 --only 4")
end)

-- Planted faults ------------------------------------------------------------------------------------------------------

harness.test("a parameter that differs in one tick order is found, and the machine made as small as it needs to be", function()
  local status, output, counts = planted("order", [[
    if what.order == "reversed" and not (what.resume or what.checkpoints) and (has.channels or 1) > 1 then
      changed[#changed + 1] = { "l2[*].rop_delay", 77 }
    end]])
  harness.equal(status, 1, output)
  assert(counts.differences > 0 and counts.crashes == 0 and counts.hangs == 0, output)
  local path, text, settings = finding "order"
  harness.contains(text, "-- difference: order reversed, threads 1", "--   channels = 2\n", " --order reversed ")
  assert(#settings <= 3, text)
  ww.run { config = path, workload = "vecadd", size = "small,n=64", out = false }
end)

harness.test("what differs after a resume alone is found", function()
  local status, output, counts = planted("resume", [[
    if what.resume and (has.sms or 1) > 1 then error("planted", 0) end]])
  harness.equal(status, 1, output)
  assert(counts.differences + counts.crashes > 0, output)
  harness.contains(output, "resumed (order", "planted")
end)

harness.test("a process that dies is a crash, and told from a difference", function()
  local status, output, counts = planted("crash", [[
    if what.threads > 1 then
      io.stderr:write("panic at here.c:1: planted\n")
      os.exit(86)
    end]])
  harness.equal(status, 1, output)
  assert(counts.crashes > 0 and counts.differences == 0 and counts.hangs == 0, output)
  harness.contains(output, "panic at here.c:1: planted: exit status 86")
end)

harness.test("a machine that does not go on is a hang", function()
  local stop = harness.write("stop.lua", [[
local stop = require "warpwright.policy" "stop" { doc = "No warp issues", scope = "sm" }
function stop:start() self.sm.may_issue = 0 end
return stop]])
  local status, output, counts = planted("hang", ("changed[#changed + 1] = { 'policy', %q }"):format(stop), "--machines 2")
  harness.equal(status, 1, output)
  harness.equal(counts.hangs, 2, output)
  harness.equal(counts.crashes + counts.differences, 0, output)
  harness.contains(output, "hangs: no progress")
end)

harness.test("a machine that issues to the last of its cycles is slow, one that stopped in the first half hangs", function()
  local races = harness.write("races.settings", [[
return { { "workload", "tests/kernels/racing_kernel.lua" }, { "size.ctas", 8 }, { "size.kernels", 3 } }]])
  local stops = harness.write("stopping.lua", [[
local stops = require "warpwright.policy" "stops" { doc = "No warp issues after a while, but time passes", period = 500 }
function stops:on_period() self.sm.may_issue = 0 end
return stops]])
  local function planted_run(name, policy)
    return torture("--builds '' --settings", races, "--out", ("%s-%s"):format(out, name), "--plant",
      plant(name, ("what.most_cycles = 2000; changed[#changed + 1] = { 'policy', %q }"):format(policy)))
  end
  local status, output, counts = planted_run("slow", "gto")
  harness.equal(status, 0, output)
  harness.equal(counts.slow, 1, output)
  harness.contains(output, "machine 1 is slow: ", "max_cycles was reached")
  status, output, counts = planted_run("stops", stops)
  harness.equal(status, 1, output)
  harness.equal(counts.hangs, 1, output)
  harness.equal(counts.slow, 0, output)
end)

harness.test("loads of what is only read are drawn, on their way past the L1, with segments that the caches there have", function()
  local rows, read_only = {}, 0
  for seed = 1, 400 do
    local settings = draw.settings(seed, 1)
    local get = machine.reader(settings)
    local segments = get("texture", "none") ~= "none" and get("sm[*].lsu.read_only_segment", 0) or 0
    if segments > 0 and get("workload", "") == "tests/kernels/read_only_pairs.lua" then rows[#rows + 1] = settings end
  end
  assert(#rows > 0, "no machine with such loads was drawn")
  for _, settings in ipairs(rows) do
    local outcome = leg.run(leg.of(settings, { order = "path", threads = 1, close = true }))
    harness.equal(outcome.status, "ended", outcome.message)
    for count in outcome.stats:gmatch "lsu%.texture_loads (%d+)" do read_only = read_only + count end
  end
  assert(read_only > 0, "none went by the port for textures")
end)

harness.test("an error before the first cycle is a refusal, a later one is not", function()
  local fails = harness.write("fails.lua", [[
local fails = require "warpwright.policy" "fails" { doc = "Fails late", scope = "machine", period = 40 }
function fails:on_period() error "too late" end
return fails]])
  local status, output, counts = planted("refused", "changed[#changed + 1] = { 'l2[*].ways', 0 }")
  harness.equal(status, 0, output)
  harness.equal(counts.refused, 8, output)
  status, output, counts = planted("late", ("changed[#changed + 1] = { 'policy', %q }"):format(fails), "--machines 2")
  harness.equal(status, 1, output)
  harness.equal(counts.crashes, 2, output)
  harness.contains(output, "an error at cycle", "too late")
end)

harness.test("wrong arguments are named", function()
  for words, wanted in pairs {
    ["--machines none"] = "--machines: expected a whole number from 1 on, got 'none'", ["--mahcines 3"] = "unknown option '--mahcines'",
    ["3"] = "expected options, got 1 argument", ["--settings /nowhere"] = "--settings: expected a file of settings, got '/nowhere'",
  } do
    local status, output = torture(words)
    harness.equal(status, 2, output)
    harness.contains(output, wanted)
  end
end)

harness.finish()
