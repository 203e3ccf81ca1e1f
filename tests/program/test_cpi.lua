-- `warpwright cpi`: every cycle of every issue slot is counted once, so stacks and their differences add up.
local harness = require "tests.lib.harness"
local ww = require "warpwright"

local home <const> = harness.folder()

local function run(name, options)
  local all = { config = "gtx480", workload = "bfs", size = "small", set = { sms = 2 }, out = ("%s/%s"):format(home, name) }
  for key, value in pairs(options or {}) do all[key] = value end
  return ww.run(all), all.out
end

local function cpi(...)
  local status, output = harness.run("cpi", ...)
  harness.equal(status, 0, output)
  return output
end

--- The cycles of a table's components, column `number` of the numbers behind them.
local function column(output, number)
  local sum, all = 0, nil
  for line in output:gmatch "[^\n]+" do
    local name, rest = line:match "^  (%l+) +(.*)$"
    local i = 0
    for value in (rest or ""):gmatch "[+-]?%d+%.?%d*" do
      i = i + 1
      if i == number and name == "all" then all = tonumber(value) end
      if i == number and name ~= "all" then sum = sum + tonumber(value) end
    end
  end
  return sum, all
end

harness.test("the slots of an SM add up to the cycles of its schedulers, whatever runs under whatever policy", function()
  for _, workload in ipairs { "spmv", "sgemm", "bfs" } do
    for _, policy in ipairs { "lrr", "mascar", "swl:limit=2" } do
      local r = ww.run { config = "gtx480", workload = workload, size = "small", policy = policy, set = { sms = 3 }, out = false }
      for sm = 0, 2 do
        harness.equal(r[("sm[%d].slots_*"):format(sm)], 2 * r.cycles, ("%s %s sm[%d]"):format(workload, policy, sm))
      end
    end
  end
end)

local gto <const>, a <const> = run("gto", { policy = "gto", stats_every = "30000,1launch" })
local swl <const>, b <const> = run("swl", { policy = "swl:limit=1", stats = "packed" })

harness.test("a stack adds up to the cycles of the run, its CPI to that of a slot", function()
  local output = cpi(a)
  harness.contains(output, ("gtx480 bfs small gto: %d cycles, CPI of a slot %.3f\n"):format(gto.cycles,
    4 * gto.cycles / gto.warp_instructions), ("\n  memory %s%.1f "):format((" "):rep(13), gto["sm[*].slots_memory"] / 4))
  assert(math.abs(column(output, 1) - gto.cycles) < 1, output)
  assert(math.abs(column(output, 3) - 4 * gto.cycles / gto.warp_instructions) < 0.01, output)
end)

harness.test("cycles in which stores drain behind the last kernel are left out, and no others are scaled", function()
  local stores = {}
  for i = 0, 15 do stores[i + 1] = ("st.global.u32 [%%d2+%d], %%r1;"):format(i * 0x20000) end
  local storing = harness.write("storing.lua", ([=[
local w = require("warpwright").workload "storing" { sizes = { small = {} }, ptx = [[
.version 7.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 out)
{ .reg .b32 %%r<9>; .reg .b64 %%d<3>;
  ld.param.u64 %%d1, [out]; mov.u32 %%r2, %%ctaid.x; mov.u32 %%r3, %%ntid.x; mov.u32 %%r1, %%tid.x; mad.lo.u32 %%r4, %%r2, %%r3, %%r1;
  mul.wide.u32 %%d2, %%r4, 4; add.u64 %%d2, %%d2, %%d1; %s ret; }
]] }
function w:run(gpu) gpu:launch(self.kernels.k, { grid = 120, block = 256, args = { gpu:alloc(1 << 22) } }) end
return w
]=]):format(table.concat(stores, " ")))
  local r, out = run("storing", { workload = storing, set = {} })
  assert(r["sm[0].slots_*"] > 2 * r.cycles + 100, r["sm[0].slots_*"] .. " slots in " .. r.cycles)
  local output = cpi(out)
  harness.contains(output, (" %d cycles, CPI of a slot %.3f\n"):format(r.cycles, 30 * r.cycles / r.warp_instructions),
    ("%.1f "):format(r["sm[*].slots_issued"] / 30), ("%.1f "):format(r["sm[*].slots_lsu"] / 30))
  assert(math.abs(column(output, 1) - r.cycles) < 1, output)
end)

harness.test("the difference of two stacks adds up to the difference in cycles", function()
  local output = cpi(a, b)
  local first, second, difference = column(output, 1), column(output, 2), column(output, 3)
  local _, all = column(output, 3)
  assert(math.abs(first - gto.cycles) < 1 and math.abs(second - swl.cycles) < 1, output)
  assert(math.abs(difference - (swl.cycles - gto.cycles)) < 1, output)
  harness.equal(all, swl.cycles - gto.cycles)
  assert(output:find "\n  policy +0%.0 +%d", output)
  harness.contains(output, "  sm[*].l1d.mshr_entry_fail_cycles")
end)

harness.test("--launches: the cycles of each, of intervals that end with them; --sms: each SM", function()
  local output = cpi(a, "--launches", "--sms")
  for i, launch in ipairs(gto.launches) do harness.contains(output, ("\nlaunch %d %s%d "):format(i - 1, (" "):rep(12 - #tostring(launch.cycles)), launch.cycles)) end
  harness.contains(output, "\nsm[0] ", "\nsm[1] ")
  harness.refused("expected intervals.csv, got none; run it with --stats-every 1launch", "cpi", b, "--launches")
  local _, cut = run("cut", { stats_every = 50000 })
  harness.refused("expected intervals that end with each launch; run it with --stats-every 1launch", "cpi", cut, "--launches")
end)

harness.test("--launches wants all issue slots in the intervals, and names those that are missing", function()
  local _, some = run("some", { workload = "vecadd", size = "small,n=512", stats_every = "1launch", stats_of = "run.ipc,sm[*].slots_idle" })
  harness.refused(("cpi: %s: expected all issue slots in intervals.csv, got no sm[*].slots_issued, sm[*].slots_fetch, "):format(some), "cpi", some,
    "--launches")
  local _, slots = run("slots", { workload = "vecadd", size = "small,n=512", stats_every = "1launch",
    stats_of = "sm[*].slots_issued,sm[*].slots_idle,sm[*].slots_fetch,sm[*].slots_scoreboard,sm[*].slots_memory,sm[*].slots_barrier,"
      .. "sm[*].slots_unit,sm[*].slots_lsu,sm[*].slots_policy,sm[*].slots_dma" })
  harness.contains(cpi(slots, "--launches"), "\nlaunch 0 ")
end)

local several_launches <const> = harness.write("several.lua", ([[
local w = require("warpwright").workload "several" { doc = "Launches with and without timing.", ptx = "%s/workloads/vecadd/vecadd.ptx",
  sizes = { small = {} } }
function w:run(gpu)
  local a = gpu:alloc(4096)
  for i, timed in ipairs { true, false, true, true } do
    gpu:launch(self.kernels.vecadd, { grid = i, block = 256, timed = timed, args = { a, a, a, 1024 } })
  end
end
return w
]]):format(require("warpwright.core").real_path "."))

--- The cycles of each line of --launches, and its share of issued slots.
local function lines_of(output)
  local found = {}
  for number, cycles, issued in output:gmatch "\nlaunch (%d+) +(%d+) +(%S+)" do found[#found + 1] = { tonumber(number), tonumber(cycles), issued } end
  return found
end

harness.test("--launches: those that took no cycles are among them, and none behind them is lost", function()
  for name, fast_forward in pairs { untimed = false, forward = "launch=2" } do
    local r, out = run(name, { workload = several_launches, stats_every = "1launch", fast_forward = fast_forward or nil })
    local lines = lines_of(cpi(out, "--launches"))
    harness.equal(#lines, 4)
    for i, line in ipairs(lines) do
      harness.equal(line[1], i - 1)
      harness.equal(line[2], r.launches[i].cycles)
      harness.equal(line[3] == "-", r.launches[i].cycles == 0, line[3])
    end
  end
end)

harness.test("--launches of a run that has intervals from a checkpoint on: the launches from there on", function()
  local whole = run("whole_run", { workload = several_launches, checkpoint_at = "1000" })
  local second = whole.launches[3]
  assert(whole.launches[1].cycles < 1000 and 1000 < second.start_cycle + second.cycles)
  local out = home .. "/later"
  ww.run { resume = home .. "/whole_run", stats_every = "1launch", out = out }
  local lines = lines_of(cpi(out, "--launches"))
  harness.equal(#lines, 2)
  harness.equal(lines[1][1], 2)
  assert(lines[1][2] > 0 and lines[1][2] < second.cycles, lines[1][2])
  harness.equal(lines[2][2], whole.launches[4].cycles)
end)

harness.test("what a policy counts under the name of an issue slot is no part of a stack", function()
  local policy = harness.write("counting.lua", [[
local p = require("warpwright.policy") "counting" { doc = "Counts.", counters = { slots_idle = "No slots." } }
function p:on_cta_start() self:count("slots_idle", 1000000) end
return p
]])
  local r, out = run("counting", { workload = "vecadd", size = "small,n=512", policy = policy })
  local output = cpi(out, "--sms")
  assert(math.abs(column(output, 1) - r.cycles) < 1, output)
  assert(not output:find "counting[ .]slots", output)
  harness.equal(select(2, output:gsub("\nsm%[%d%]", "")), 2)
end)

harness.test("what has no stack is refused", function()
  harness.refused("cpi: expected the folders of one run or two, got 0", "cpi")
  harness.refused("cpi: expected the folder of a run, got '", "cpi", home)
  harness.refused("cpi: --sms and --launches are of one run, got two", "cpi", a, b, "--sms")
  local _, none = run("none", { workload = "vecadd", size = "small,n=512", stats = "none" })
  for _, command in ipairs { "cpi", "report", "compare" } do
    harness.refused(("%s: %s: expected the statistics of a run, got a run with --stats none; run it with --stats all or packed"):format(command, none),
      command, none, command == "compare" and a or nil)
  end
  local _, summary = run("summary", { stats = "summary" })
  harness.refused("cpi: " .. summary .. ": expected statistics of SMs, got none: run it with --stats all or packed", "cpi", summary)
end)

harness.test("damaged statistics are told by their file", function()
  local _, out = run("whole", { workload = "vecadd", size = "small,n=512" })
  local text, damaged = harness.read(out .. "/stats.json"), home .. "/damaged"
  os.execute(("mkdir '%s'"):format(damaged))
  harness.write("damaged/provenance.txt", harness.read(out .. "/provenance.txt"))
  for _, changed in ipairs { (text:gsub('(slots_issued": )%d+', "%1{}")), (text:gsub('(slots_idle": )%d+', '%1"x"')), (text:gsub('(cycles": )%d+', "%1[]")) } do
    assert(changed ~= text)
    harness.write("damaged/stats.json", changed)
    harness.refused(damaged .. "/stats.json: expected statistics, got a damaged file", "cpi", damaged)
  end
  harness.write("damaged/stats.json", (text:gsub("run.cycles", "run.cicles")))
  harness.refused(("cpi: %s: expected the statistic run.cycles, got a damaged file"):format(damaged), "cpi", damaged)
end)

harness.finish()
