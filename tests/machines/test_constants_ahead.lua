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
      local resumed = ("%s/%s-resumed"):format(home, config)
      local status, output = harness.run("run", "--resume", ("%s/%d.ckpt"):format(folder, cycle), "--out", resumed)
      harness.equal(status, 0, output)
      same(plain, resumed, "stats.txt")
    end
  end)

  harness.test(config .. ": what a policy changes in the cache counts for accesses that are on their way", function()
    local policy = run(config, "meddler", "--policy", meddler)
    same(policy, run(config, "looks_on", "--policy", meddler, "--trace", "sm[*]*"), "stats.txt")
    assert(harness.read(policy .. "/stats.txt") ~= harness.read(plain .. "/stats.txt"), "the policy changes nothing")
  end)
end

harness.finish()
