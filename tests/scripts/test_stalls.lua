-- scripts/stalls: its figures are those of the runs.
local character = require "scripts.lib.character"
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
    near(row.l1_mpki, character.of(r).mpki, "L1 MPKI, of loads")
    assert(row.lsu_slots + row.memory_slots <= 1, "more slots than there are")
  end
  assert(rows[1].fails.mshr > 100 and rows[1].blocked_hit > 0.01, "k-means is stopped at L1")
end)

harness.test("caches count wherever they lie, and what a machine lacks is left out", function()
  local function row_on(config)
    local status, output = harness.run("scripts/stalls.lua", "--json", figures, "--policies", "lrr", "gallery/" .. config, "vecadd")
    harness.equal(status, 0, output)
    return json.decode(harness.read(figures))[1], output
  end
  local row, output = row_on "no_l1"
  harness.equal(row.l1_mpki, nil, "misses of no L1")
  near(row.l2_mpki, 1000 * 2 * 4 * (512 << 10) / 128 / checks.run({ config = "gallery/no_l1", workload = "vecadd", policy = "lrr" }).thread_instructions, "L2 MPKI")
  harness.contains(output, "       -       -       -       - ")
  for _, config in ipairs { "shared_l1", "bus" } do
    row = row_on(config)
    near(row.l1_mpki, row.l2_mpki, config .. ": every line is missed in both")
    assert(row.fails.mshr > 0, config .. ": MSHR fails")
  end
end)

harness.test("bad arguments are named", function()
  for _, case in ipairs {
    { { "gtx480" }, "expected CONFIG and WORKLOAD,..., got 1 argument" },
    { { "--limit", "2", "gtx480", "bfs" }, "unknown option '--limit'" },
    { { "--json", "/no/such/file", "gtx480", "bfs" }, "--json: /no/such/file: No such file or directory" },
    { { "--policies", "", "gtx480", "bfs" }, "--policies: expected names apart by commas, got ''" },
    { { "gtx480", "," }, "expected the names of workloads, got none" },
    { { "gtx480", "vecadd,bfz" }, "no workload matches 'bfz'" },
    { { "--policies", "lrr,gtoo", "gtx480", "vecadd" }, "no policy matches 'gtoo'" },
    { { "gtx480", "bfs", "--size" }, "--size: expected a value, got nothing" },
  } do
    local status, output = harness.run("scripts/stalls.lua", table.unpack(case[1]))
    harness.equal(status, 2, "exit status")
    harness.contains(output, case[2])
    assert(not output:find "cycles", output)
  end
end)

harness.finish()
