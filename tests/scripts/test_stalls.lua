-- scripts/stalls: its figures are those of the runs.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local json = require "warpwright.json"

local figures = harness.folder() .. "/figures.json"

local function near(got, want, what)
  if math.abs(got - want) > 1e-6 * math.max(1, math.abs(want)) then error(("%s: %g, want %g"):format(what, got, want), 2) end
end

harness.test("figures are the counters of the run, per cycle of a kernel and SM", function()
  local status, output = harness.run("scripts/stalls.lua", "--json", figures, "--policies", "lrr,swl:limit=4", "--set", "sms=5",
    "gtx480", "kmeans,bfs")
  harness.equal(status, 0, output)
  local rows = json.decode(harness.read(figures))
  harness.equal(#rows, 4, "rows")
  for i, want in ipairs { { "kmeans", "lrr" }, { "kmeans", "swl:limit=4" }, { "bfs", "lrr" }, { "bfs", "swl:limit=4" } } do
    local row, cycles = rows[i], 0
    harness.equal(row.workload, want[1], "workload")
    harness.equal(row.policy, want[2], "policy")
    local r = checks.run { workload = want[1], policy = want[2],
      set = { sms = 5, ["sm[*].l1d.watch_blocked_hits"] = "true" } }
    for _, launch in ipairs(r.launches) do cycles = cycles + launch.cycles end
    harness.equal(row.cycles, cycles, "cycles")
    near(row.fails.mshr, 1000 * checks.sum(r, "sm.l1d.mshr_entry_fail_cycles") / cycles / 5, "MSHR fails")
    near(row.fails.line, 1000 * checks.sum(r, "sm.l1d.line_fail_cycles") / cycles / 5, "line fails")
    near(row.lsu_stall, checks.sum(r, "sm.lsu.stall_cycles") / cycles / 5, "LSU stalls")
    near(row.blocked_hit, checks.sum(r, "sm.l1d.blocked_hit_cycles") / cycles / 5, "blocked hits")
    near(row.l1_mpki, 1000 * checks.sum(r, "sm.l1d.misses") / r.thread_instructions, "L1 MPKI")
    assert(row.lsu_slots + row.memory_slots <= 1, "more slots than there are")
  end
  assert(rows[1].fails.mshr > 100 and rows[1].blocked_hit > 0.01, "k-means is stopped at L1")
end)

harness.test("bad arguments are named", function()
  for _, case in ipairs {
    { { "gtx480" }, "expected CONFIG and WORKLOAD,..., got 1 argument" },
    { { "--limit", "2", "gtx480", "bfs" }, "unknown option '--limit'" },
    { { "gtx480", "bfs", "--size" }, "--size: expected a value, got nothing" },
  } do
    local status, output = harness.run("scripts/stalls.lua", table.unpack(case[1]))
    harness.equal(status, 2, "exit status")
    harness.contains(output, case[2])
  end
end)

harness.finish()
