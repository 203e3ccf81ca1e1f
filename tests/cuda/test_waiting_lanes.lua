-- Lanes that wait for other lanes of their warp make progress, in programs for GPUs on which they do.
local cuda_programs = require "tests.lib.cuda_programs"
local harness = require "tests.lib.harness"

local folder = harness.folder()

--- Runs the program with these options; returns the text of its stats.json.
local function passes(name, path, ...)
  local out, words = ("%s/%s"):format(folder, name), { "gtx480", "--max-cycles", "20000000", ... }
  table.move({ "--out", out, "--", path }, 1, 4, #words + 1, words)
  local status, output = cuda_programs.run(table.unpack(words))
  harness.equal(status, 0, output)
  harness.contains(output, "waiting_lanes: 11 checks, 0 failed")
  return harness.read(out .. "/stats.json")
end

harness.test("locks, flags, tickets and chains among the lanes of a warp end, the same in any order and with threads", function()
  local path = cuda_programs.compile("waiting_lanes", "sm_75")
  local stats = passes("plain", path)
  harness.equal(passes("reversed", path, "--order", "reversed"), stats)
  harness.equal(passes("shuffled", path, "--order", "shuffled:1", "--threads", "2"), stats)
  passes("lrr", path, "--policy", "lrr")
end)

--- Of the launches of a run.
local function cycles(stats)
  local sum = 0
  for launch in stats:gmatch '"cycles": (%d+)' do sum = sum + tonumber(launch) end
  return sum
end

harness.test("a policy that lets warps sleep makes no lanes wait for others that would sleep with them", function()
  local path = cuda_programs.compile("waiting_lanes", "sm_75")
  local gto, bows = cycles(passes("gto", path, "--policy", "gto")), cycles(passes("bows", path, "--policy", "bows"))
  assert(bows < gto, ("%d cycles, %d under gto"):format(bows, gto))
  passes("limit", path, "--policy", "swl:limit=1")
end)

harness.test("they end without timing", function()
  local path = cuda_programs.compile("waiting_lanes", "sm_75")
  passes("untimed", path, "--fast-forward", "launch=99")
end)

harness.test("a run that stops while lanes wait goes on to the same statistics", function()
  local path = cuda_programs.compile("waiting_lanes", "sm_75")
  local stats = passes("checkpoints", path, "--checkpoint-at", "3200,32000,192000")
  for _, cycle in ipairs { 3200, 32000, 192000 } do
    local out = ("%s/resumed-%d"):format(folder, cycle)
    local status, output = cuda_programs.run("--resume", ("%s/checkpoints/%d.ckpt"):format(folder, cycle), "--out", out)
    harness.equal(status, 0, output)
    harness.equal(harness.read(out .. "/stats.json"), stats)
  end
end)

harness.test("lanes of programs for older GPUs wait for ever, as there", function()
  local path = cuda_programs.compile("waiting_lanes", "sm_60")
  local status, output = cuda_programs.run("gtx480", "--max-cycles", "300000", "--out", folder .. "/older", "--", path)
  harness.equal(status, 2, output)
  harness.contains(output, "a_lock_for_all", "has not ended by cycle 300000")
end)

harness.finish()
