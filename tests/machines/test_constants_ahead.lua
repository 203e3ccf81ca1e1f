-- Accesses to the constant cache that hit are done ahead of time, which nobody is to see: not in statistics in between, not when
-- somebody begins to look on, not when a policy changes the cache, not in checkpoints. While somebody looks on, each is done in
-- its own cycles.
local harness = require "tests.lib.harness"

local home <const> = harness.folder()
local FROM <const>, TO <const> = 500, 1300 -- CTAs begin in it

local function run(config, name, ...)
  local folder = ("%s/%s-%s"):format(home, config, name)
  local status, output = harness.run("run", config, "vecadd", "--size", "small,n=65536", "--set", "sms=3", "--out", folder, ...)
  harness.equal(status, 0, output)
  return folder
end

local function resume(name, checkpoint, ...)
  local folder = ("%s/%s"):format(home, name)
  local status, output = harness.run("run", "--resume", checkpoint, "--out", folder, ...)
  harness.equal(status, 0, output)
  return folder
end

local function same(one, other, file) harness.same_text(harness.read(one .. "/" .. file), harness.read(other .. "/" .. file), file) end

-- What the trace shows of load/store units and constant caches.
local function lines_between(trace, from, to)
  local lines = {}
  for line in trace:gmatch "[^\n]+" do
    local cycle, part = line:match "^(%d+) sm%[%d%]%.(%S+)"
    cycle = (part == "lsu" or part == "constant_cache") and tonumber(cycle)
    if cycle and cycle >= from and cycle < to then lines[#lines + 1] = line end
  end
  return table.concat(lines, "\n")
end

-- Changes constant caches at boundaries, and looks on at nothing.
local meddler <const> = harness.write("meddler.lua", [[
local policy = require "warpwright.policy"
local meddler = policy "meddler" { scope = "machine", period = 16 }
function meddler:start() self.state = { turn = 0 } end
function meddler:on_period()
  local turn = self.state.turn + 1
  self.state.turn = turn
  for _, constant in pairs(self.constants) do constant.enabled = turn % 2 ~= 0 end
end
return meddler
]])

for config, quantum in pairs { gtx480 = 16, gtx480_gpgpusim4 = 4 } do
  local rows <const> = "sm[0].constant_cache.accesses,sm[0].constant_cache.hits,sm[0].lsu.constant_loads,sm[0].lsu.loads_answered"
  local intervals <const> = { "--stats-every", quantum, "--stats-of", rows }
  local plain = run(config, "plain", table.unpack(intervals))
  local watched = run(config, "watched", "--trace", "sm[*]*", table.unpack(intervals))

  harness.test(config .. ": statistics are those of a run that somebody looks at in each cycle", function()
    same(plain, watched, "stats.txt")
    same(plain, watched, "intervals.csv")
  end)

  harness.test(config .. ": who begins to look on sees each access where it would stand", function()
    local whole, all = harness.read(watched .. "/trace.txt"), ""
    for from = FROM, TO, 17 * quantum do
      local window = run(config, "window", "--trace", "sm[*]*", "--from", from, "--to", from + 40)
      same(plain, window, "stats.txt")
      local lines = lines_between(harness.read(window .. "/trace.txt"), from, from + 40)
      harness.same_text(lines, lines_between(whole, from, from + 40), "trace from cycle " .. from)
      all = all .. lines
    end
    assert(all:find "constant_cache", "the constant cache does nothing in these cycles")
  end)

  harness.test(config .. ": runs go on from checkpoints in the midst of them", function()
    local cycles = {}
    for cycle = FROM, TO, 9 * quantum do cycles[#cycles + 1] = cycle // quantum * quantum end
    local folder = run(config, "checkpoints", "--checkpoint-at", table.concat(cycles, ","))
    same(plain, folder, "stats.txt")
    for _, cycle in ipairs(cycles) do
      same(plain, resume(config .. "-resumed", ("%s/%d.ckpt"):format(folder, cycle)), "stats.txt")
    end
  end)

  harness.test(config .. ": what a policy changes in the cache counts for accesses that are on their way", function()
    local policy = run(config, "meddler", "--policy", meddler)
    same(policy, run(config, "looks_on", "--policy", meddler, "--trace", "sm[*]*"), "stats.txt")
    assert(harness.read(policy .. "/stats.txt") ~= harness.read(plain .. "/stats.txt"), "the policy changes nothing")
  end)
end

-- Answers of misses that many warps wait for stand in such a wire.
harness.test("a wire back for several answers in a cycle: hits do not overtake others", function()
  local text, wires = harness.read("configs/gtx480.lua"):gsub("m:wire%(sm%.lsu%.constant, constant%.cpu%)",
    "m:wire(sm.lsu.constant, constant.cpu, { latency = 3, depth = 64, back = { latency = 3, depth = 64, width = 4 } })")
  harness.equal(wires, 1)
  local wide = harness.write("wide.lua", text)
  local function with(name, ...)
    local folder = ("%s/%s"):format(home, name)
    local status, output = harness.run("run", wide, "kmeans", "--size", "small", "--set", "sms=2", "--out", folder, ...)
    harness.equal(status, 0, output)
    return folder
  end
  same(with "wide", with("wide-watched", "--trace", "sm[*]*"), "stats.txt")
end)

harness.test("a run goes on with another latency of the constant cache in the midst of them", function()
  local set <const> = "sm[*].constant_cache.latency="
  local folder = run("gtx480_gpgpusim4", "slow", "--set", set .. 30, "--checkpoint-at", "1592,1628,1664,1700")
  for _, cycle in ipairs { 1592, 1628, 1664, 1700 } do
    local checkpoint = ("%s/%d.ckpt"):format(folder, cycle)
    local function with(name, ...) return resume(name, checkpoint, "--allow-changes", "--set", set .. 1, ...) end
    same(with "faster", with("faster-watched", "--trace", "sm[*]*"), "stats.txt")
  end
end)

harness.finish()
