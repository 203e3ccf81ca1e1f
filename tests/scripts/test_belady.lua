-- Traces of the L1 data caches and scripts/belady: the replay agrees with the run, and damaged traces are refused.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local json = require "warpwright.json"

local figures = harness.folder() .. "/figures.json"

local function belady(...)
  local status, output = harness.run("scripts/belady.lua", "--json", figures, ...)
  harness.equal(status, 0, output)
  return json.decode(harness.read(figures)), output
end

local function same(counts, other, what)
  for _, name in ipairs { "hits", "misses", "merges" } do harness.equal(counts[name], other[name], what .. ": " .. name) end
end

-- The caches replace by LRU: with the fills when they came, the replay is the run.
for _, workload in ipairs { "kmeans", "bfs" } do
  harness.test("LRU as timed is what was measured, cache by cache, on " .. workload, function()
    local found, output = belady("--policies", "lrr,ccws", "gtx480", workload)
    if workload == "kmeans" then harness.contains(output, "ccws with LRU misses less than lrr with OPT") end
    for _, result in ipairs(found) do
      local r = checks.run { workload = workload, policy = result.policy }
      harness.equal(result.cycles, r.cycles, "cycles, with and without a trace")
      harness.equal(#result.rows, 15, "caches")
      for i, row in ipairs(result.rows) do
        harness.equal(row.name, ("sm[%d].l1d"):format(i - 1), "cache")
        same(row.measured, row.timed, row.name)
        harness.equal(row.measured.misses, r[row.name .. ".read_misses"], row.name .. ": misses in the stats")
        harness.equal(row.measured.merges, r[row.name .. ".read_merges"], row.name .. ": merges in the stats")
        assert(row.optimal.misses <= row.lru.misses, row.name .. ": OPT misses more than LRU")
      end
    end
  end)
end

harness.test("a cache that cannot be is refused before the first run, by the name of the option", function()
  for wanted, words in pairs {
    ["belady: --cache: expected a multiple of 3 ways x 128 B, got 16384 B"] = { "--ways", "3" },
    ["belady: --cache: expected a multiple of 4 ways x 128 B, got 5 B"] = { "--cache", "5" },
    ["belady: --ways: expected 1 to 4096, got 5000"] = { "--ways", "5000" },
    ["belady: --ways: expected 1 to 4096, got 4294967300"] = { "--ways", "4294967300" },
    ["belady: --index-masks: expected a mask of address bits for each index bit"] = { "--index-masks", "zz" },
    ["no workload matches 'vecad'"] = { "gtx480", "vecad" },
  } do
    if words[1]:find "^%-%-" then table.move({ "gtx480", "vecadd" }, 1, 2, 3, words) end
    local output = harness.refused(wanted, "scripts/belady.lua", table.unpack(words))
    assert(not output:find "accesses", output)
  end
end)

harness.test("and with another index and four sectors", function()
  local found = belady("--policies", "lrr+pric", "--set", "sm[*].l1d.sectors=4", "gtx480", "bfs")
  same(found[1].all.measured, found[1].all.timed, "all")
end)

harness.test("and where stores leave their lines", function()
  local found = belady("--policies", "gto", harness.write("through.lua", [[
return require("warpwright").variant("through", "gtx480", function(m)
  m:change("sm[*].l1d", { write_policy = "through", size = "2KiB", ways = 2 })
end)]]), "bfs")
  same(found[1].all.measured, found[1].all.timed, "all")
end)

-- 16 warps read 32 lines each, 100 times, 512 lines in a cache of 128: LRU never hits. Of a loop over n lines with room for
-- m, the best keeps m - 1 of them: (m - 1) / (n - 1) of the accesses hit, here in each of 32 sets, 16 lines for 4 ways.
harness.test("of a loop over too many lines, OPT keeps a part", function()
  local keep = harness.folder() .. "/kept"
  checks.run { workload = checks.thrashing, policy = "lrr+trace_l1:folder=" .. keep, set = { sms = 1 } }
  local all = belady("--trace", keep)[1].all
  assert(all.lru.misses > 0.99 * 51200, "LRU hits")
  local want = 3 / 15 * 51200
  assert(math.abs(all.optimal.hits - want) < 0.02 * 51200, ("%d hits, want about %d"):format(all.optimal.hits, want))
  local larger = belady("--trace", keep, "--cache", "64KiB", "--ways", "4")[1].all
  harness.equal(larger.optimal.misses, 512, "misses with room for all")
  harness.equal(larger.lru.misses, 512, "misses of LRU with room for all")
  harness.equal(larger.timed, nil, "timed LRU of another cache")
end)

harness.test("damaged traces and bad arguments are named", function()
  local keep = harness.folder() .. "/damaged"
  checks.run { workload = "vecadd", policy = "gto+trace_l1:folder=" .. keep, set = { sms = 1 } }
  local path = keep .. "/sm[0].l1d.trace"
  local whole = harness.read(path)
  for _, case in ipairs {
    { whole:sub(1, #whole - 20), "truncated" },
    { whole:sub(1, 1100) .. "\0\0\0\0" .. whole:sub(1105), "damaged: block 0" },
    { "no trace", "truncated" }, { ("no trace"):rep(200), "not a trace" },
  } do
    local file = assert(io.open(path, "wb"))
    file:write(case[1])
    file:close()
    local status, output = harness.run("scripts/belady.lua", "--trace", keep)
    harness.equal(status, 2, "exit status")
    harness.contains(output, path, case[2])
  end
  for _, case in ipairs {
    { { "gtx480" }, "expected CONFIG and WORKLOAD" },
    { { "--trace", "/nowhere" }, "expected a folder with traces" },
    { { "--cache", "1000", "--trace", keep }, "--cache: expected a multiple" },
    { { "--ways", "5000", "--trace", keep }, "--ways: expected 1 to 4096, got 5000" },
    { { "--limit", "2" }, "unknown option '--limit'" },
  } do
    local file = assert(io.open(path, "wb"))
    file:write(whole)
    file:close()
    local status, output = harness.run("scripts/belady.lua", table.unpack(case[1]))
    harness.equal(status, 2, "exit status")
    harness.contains(output, case[2])
  end
end)

harness.test("a folder that cannot be written to ends the run", function()
  local status, output = harness.run("run", "gtx480", "vecadd", "--size", "small", "--policy", "gto+trace_l1:folder=/proc/none",
    "--out", harness.folder() .. "/run")
  harness.equal(status, 2, "exit status")
  harness.contains(output, ".trace: /proc/none/sm[", "].l1d.trace: No such file or directory")
end)

local recording = "gto+trace_l1:folder=" .. harness.folder() .. "/all"
checks.equals(recording, "gto", "bfs")
checks.resumes(recording, "kmeans", 2)

harness.test("threads and tick order change no byte of the traces", function()
  local function traces(order, threads)
    local folder = ("%s/%s%d"):format(harness.folder(), order, threads)
    checks.run { workload = "bfs", policy = "gto+trace_l1:folder=" .. folder, set = { sms = 3 }, order = order, threads = threads }
    local texts = {}
    for i = 0, 2 do texts[#texts + 1] = harness.read(("%s/sm[%d].l1d.trace"):format(folder, i)) end
    return table.concat(texts)
  end
  assert(traces("path", 1) == traces("reversed", 2), "the traces differ")
end)

harness.finish()
