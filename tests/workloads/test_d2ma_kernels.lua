-- The kernels that copy tiles to shared memory: each version computes what its reference does, the D2MA version by as many
-- transfers as the plain one has tiles, and it resumes from a checkpoint.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local oracle = require "scripts.lib.resume_oracle"

local config = "gtx480_d2ma"

local function run(workload, size, version)
  size = ("small,version=%s%s"):format(version, size and "," .. size or "")
  local r = ww.run { config = config, workload = workload, size = size, out = false }
  assert(r.checks > 0, "nothing was checked")
  return r
end

-- Each with the tiles that a small run copies: CTAs times tiles of each.
local kernels = {
  { "saxpy", nil, 192 * 2 },
  { "saxpy", "indexed=1", 192 * 2 },
  { "sgemv", nil, 30 * 1 },
  { "sgemv", "part=32", 30 * 4 },
  { "sgemv", "part=128", 30 * 1 },
  { "dct8x8", nil, 6 * 6 },
  { "matmul", nil, 6 * 8 * 8 * 2 },
  { "haar", nil, 128 + 1 },
  { "transpose", "order=rows", 8 * 8 },
  { "transpose", "order=diagonal", 8 * 8 },
  { "walsh", nil, 64 },
  { "filter", "filter=gauss", 8 * 16 },
  { "filter", "filter=mean", 8 * 16 },
  { "filter", "filter=sobel", 8 * 16 },
  { "pathfinder", nil, 30 * 2 },
  { "lud", "kernel=internal", 2 * (25 + 16 + 9 + 4 + 1) },
  { "lud", "kernel=diagonal", 6 },
}

for _, kernel in ipairs(kernels) do
  local workload, size, tiles = kernel[1], kernel[2], kernel[3]
  harness.test(("%s %s, plain and d2ma"):format(workload, size or ""), function()
    local plain, d2ma = run(workload, size, "plain"), run(workload, size, "d2ma")
    harness.equal(plain["sm[*].tiles"], tiles, "tiles of the plain version")
    harness.equal(plain["sm[*].dma.transfers"], 0, "transfers of the plain version")
    harness.equal(d2ma["sm[*].dma.transfers"], tiles, "transfers")
    harness.equal(d2ma["sm[*].tiles"], 0, "tiles of the d2ma version")
  end)
end

harness.test("sgemv, cudadma", function()
  local r = run("sgemv", "n=512", "cudadma")
  harness.equal(r["sm[*].dma.transfers"], 0, "transfers")
  harness.equal(r["sm[*].barriers"], 30 * 4 * (2 * 4 + 2), "arrivals: 30 CTAs, 4 parts, each of 5 warps twice")
end)

harness.test("sgemv, cudadma with one buffer: it hands it to and fro as the other does, and takes longer", function()
  local ahead, single = run("sgemv", "n=512,part=32", "cudadma"), run("sgemv", "n=512,part=32", "cudadma_single")
  for _, r in ipairs { ahead, single } do harness.equal(r["sm[*].barriers"], 30 * 16 * (2 * 4 + 2), "arrivals, of 16 parts") end
  assert(single.cycles > 1.1 * ahead.cycles, ("%d cycles, %d with a part ahead"):format(single.cycles, ahead.cycles))
end)

harness.test("there is no other version", function()
  local ok, problem = pcall(run, "sgemv", nil, "hand")
  harness.equal(ok, false, "ran")
  harness.contains(tostring(problem), "no kernel matches 'sgemv_hand'", "sgemv_plain, sgemv_d2ma, sgemv_cudadma")
end)

for _, case in ipairs { { "matmul", "version=d2ma" }, { "filter", "filter=sobel,version=d2ma" } } do
  harness.test(case[1] .. " resumes in the midst of transfers", function()
    local lines = {}
    local straight = oracle.case {
      folder = harness.folder(), jobs = 2, threaded = 30, seed = 1, config = config, workload = case[1],
      size = "small," .. case[2], policy = "gto", report = function(line) lines[#lines + 1] = line end,
    }
    if not straight.problem then straight:resume_everywhere(4) end
    straight:close()
    assert(straight.unequal == 0, table.concat(lines, "\n"))
    harness.equal(straight.resumes, 4, "resumes")
  end)
end

harness.finish()
