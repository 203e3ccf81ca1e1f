-- scripts/best_swl: the sweep over limits, its end, its choice, its errors.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local sweep_checks = require "tests.lib.sweep_checks"

-- 24 CTAs of 8 warps: two for most SMs, so that no scheduler has more than eight warps.
harness.test("every limit is tried until one is never reached, and the best is named", function()
  local output, found = sweep_checks.figures("best_swl", "--size", "small", "gtx480", "kmeans")
  harness.equal(#found.rows, 8, "limits tried")
  for i, row in ipairs(found.rows) do
    harness.equal(row.limit, i, "limit")
    harness.contains(output, ("\n%-6d %10d "):format(i, row.cycles))
  end
  harness.equal(found.rows[8].cycles, found.base.cycles, "cycles under a limit that is not reached")
  local best = sweep_checks.best_row(found, "limit")
  harness.contains(output, ("best: %d warps per scheduler, %d cycles, "):format(best.limit, best.cycles))
end)

harness.test("a row is the run under swl with that limit", function()
  local _, found = sweep_checks.figures("best_swl", "--size", "small", "--limits", "3,1", "--set", "sms=4", "gtx480", "spmv")
  for i, limit in ipairs { 3, 1 } do
    local r = checks.run { workload = "spmv", policy = "swl:limit=" .. limit, set = { sms = 4 } }
    harness.equal(found.rows[i].limit, limit, "limit")
    harness.equal(found.rows[i].cycles, r.cycles, "cycles")
  end
end)

harness.test("where every limit is worse than none, that is said; caches count wherever they lie, or are left out", function()
  local output, found = sweep_checks.figures("best_swl", "--size", "small", "--limits", "2", "gallery/no_l1", "vecadd")
  harness.equal(found.base.miss_rate, nil, "miss rate of no L1")
  harness.contains(output, "\nnone ", "              -     1.00x\n")
  local cycles, speed_up = found.rows[1].cycles, found.base.cycles / found.rows[1].cycles
  assert(speed_up < 1)
  harness.contains(output, ("\nbest: none; of these limits: 2 warps per scheduler, %d cycles, %.2fx\n"):format(cycles, speed_up))
  local _, shared = sweep_checks.figures("best_swl", "--size", "small", "--limits", "6", "gallery/shared_l1", "vecadd")
  harness.equal(shared.base.miss_rate, 1, "miss rate of the shared L1s")
end)

harness.test("bad arguments are named", function()
  sweep_checks.refuses("best_swl", {
    { { "gtx480" }, "expected CONFIG and WORKLOAD" },
    { { "--limits", "0", "gtx480", "kmeans" }, "--limits: expected a number of warps, got '0'" },
    { { "--size" }, "--size: expected a value, got nothing" },
    { { "--json", "/no/such/file", "gtx480", "kmeans" }, "--json: /no/such/file: No such file or directory" },
    { { "--json", "/", "gtx480", "kmeans" }, "--json: /: Is a directory" },
    { { "--fast", "gtx480", "kmeans" }, "unknown option '--fast'" },
  })
end)

harness.test("what is wrong with the machine or the workload is said before a limit is sought, and names no line", function()
  for _, case in ipairs {
    { { "--set", "foo=3", "gtx480", "kmeans" }, "error: set: no object or parameter matches 'foo' on machine gtx480" },
    { { "gtx481", "kmeans" }, "error: config: no config matches 'gtx481'; did you mean gtx480?" },
    { { "gtx480", "kmean" }, "error: workload: no workload matches 'kmean'; did you mean kmeans?" },
  } do harness.refused(case[2], "scripts/best_swl.lua", table.unpack(case[1])) end
end)

harness.finish()
