-- The examples of the documents run, and print what the documents say: the small ones that no other test runs.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

--- The blocks of code of a document, in their order, without the indentation of the first line.
local function blocks(document)
  local list = {}
  for text in ("\n" .. harness.read(core.home_path(document))):gmatch "\n```%w*\n(.-)\n```" do list[#list + 1] = text end
  return list
end

--- The first block that contains this text.
local function block(document, part)
  for _, text in ipairs(blocks(document)) do
    if text:find(part, 1, true) then return text end
  end
  error(("%s: no block contains '%s'"):format(document, part), 2)
end

--- Writes a block into the test's folder; the names of other files that are there become paths.
local function write(name, text, ...)
  for _, other in ipairs { ... } do
    text = text:gsub('"' .. other:gsub("%p", "%%%0") .. '"', ('"%s/%s"'):format(harness.folder(), other))
  end
  return harness.write(name, text)
end

local function run(...)
  local status, output = harness.run(...)
  harness.equal(status, 0, "exit status, output " .. output)
  return output
end

--- A folder of results.
local function to(name) return harness.folder() .. "/" .. name end

--- Runs gtx480 into such a folder; returns that.
local function run_to(name, ...)
  run("run", "gtx480", "--out", to(name), ...)
  return to(name)
end

--- All of these lines of a block are lines of the output.
local function has_lines(output, text)
  for line in text:gmatch "[^\n]+" do
    local wanted = line:gsub("%s+$", "")
    assert(wanted == "..." or output:find(wanted, 1, true), "it prints no line " .. wanted)
  end
end

--- What a block shows between this end of a command and the next command.
local function shown(text, command)
  local _, last = text:find(command .. "\n", 1, true)
  assert(last, command)
  return (text:sub(last + 1):gsub("\n%$ .*", ""))
end

harness.test("README.md: the first experiment", function()
  harness.same_text(run(write("first.lua", block("README.md", "L1 KiB    cycles      IPC   L1 miss rate\")"))),
    shown(block("README.md", "$ build/opt/warpwright first.lua"), "first.lua") .. "\n")
end)

harness.test("docs/running.md: cycles of the runs with --set", function()
  local page = harness.read(core.home_path "docs/running.md")
  local wider, off, more = page:match "The runs with `%-%-set` take (%d+), (%d+) %([^)]*%) and (%d+) cycles"
  for cycles, sets in pairs {
    [wider] = { "--set", "sm[*].l1d.size=64KiB" }, [off] = { "--set", "sm[*].l1d.enabled=false" },
    [more] = { "--set", "sms=30", "--set", "partitions=8" },
  } do
    local output = run("run", "gtx480", "kmeans", "--size", "small", "--stats", "none", "--out", to "set", table.unpack(sets))
    harness.equal(output:match "cycles%s+(%d+)", cycles, table.concat(sets, " "))
  end
end)

harness.test("docs/checkpoints.md: variants from a fork point", function()
  harness.same_text(run(write("fork.lua", block("docs/checkpoints.md", "sim:fork {"))), block("docs/checkpoints.md", "lrr\t") .. "\n")
end)

harness.test("docs/measuring.md: an L2 slice alone", function()
  local printed = harness.read(core.home_path "docs/measuring.md"):match "\nprints `([^`]*)`: latency"
  harness.equal(run(write("slice.lua", block("docs/measuring.md", "slice_alone"))), printed .. "\n")
end)

harness.test("docs/lua_classes.md: a first class", function()
  write("delay.lua", block("docs/lua_classes.md", 'return class "Delay"'))
  write("with_delay.lua", block("docs/lua_classes.md", 'ww.machine("with_delay"'))
  local printed = harness.read(core.home_path "docs/lua_classes.md"):match "\nprints `([^`]*)`, 22 cycles"
  local script = block("docs/lua_classes.md", 'ww.build "with_delay.lua"')
  harness.equal(run(write("run.lua", script, "with_delay.lua")), printed .. "\n")
end)

harness.test("docs/policy_interface.md: bimodal insertion", function()
  local head = 'local policy = require "warpwright.policy"\nlocal bip = policy "bip" { doc = "Bimodal", scope = "cache", caches = "data" }\n'
  local path = write("bip.lua", head .. block("docs/policy_interface.md", "function bip:insertion") .. "\nreturn bip\n")
  for _, replacement in ipairs { "lru", "srrip" } do
    run("run", "gtx480", "kmeans", "--size", "small", "--policy", path, "--set", "sm[*].l1d.replacement=" .. replacement, "--out", to "bip")
  end
end)

harness.test("configs/README.md: a variant", function()
  run("run", write("fast_l2.lua", block("configs/README.md", 'ww.variant("fast_l2"')), "vecadd", "--size", "small", "--out", to "fast")
  run("run", write("with_l3.lua", block("configs/README.md", 'ww.variant("with_l3"')), "vecadd", "--size", "small", "--out", to "with_l3")
end)

harness.test("policies/README.md: both versions of a scheduler", function()
  for _, part in ipairs { "params = { ctas =", "params = { interval =" } do
    local path = write("few_ctas.lua", block("policies/README.md", part))
    run("run", "gtx480", "kmeans", "--size", "small", "--policy", path, "--out", to "few")
  end
end)

harness.test("docs/policy_interface.md: an error in a hook", function()
  local text = block("policies/README.md", "params = { interval ="):gsub(", before = 0", "")
  local wanted = block("docs/policy_interface.md", "on_cta_strat"):match "few_ctas.lua:%d+: policy few_ctas of sm%[0%], in .*$":gsub("\n%s+", " ")
  local path = write("few_ctas.lua", text)
  local output = harness.refused("attempt to perform arithmetic", "run", "gtx480", "kmeans", "--size", "small", "--policy", path, "--out", to "wrong")
  harness.contains(output, (wanted:match "^(.-); launched at"), wanted:match "workloads/.*$")
end)

harness.test("docs/seeing.md: where the cycles went, over time, distributions, by instruction", function()
  local a = run_to("a", "kmeans", "--size", "small", "--policy", "gto")
  local b = run_to("b", "kmeans", "--size", "small", "--policy", "mascar")
  has_lines(run("cpi", a, b), shown(block("docs/seeing.md", "$ warpwright cpi a b"), "cpi a b"))
  local c = run_to("c", "bfs", "--size", "small", "--stats-every", "20000,1launch", "--stats-of", "run.ipc,sm[*].l1d.miss_rate,mc[*].reads")
  has_lines(harness.read(c .. "/intervals.csv"), shown(block("docs/seeing.md", "c/intervals.csv"), "c/intervals.csv"))
  local e = run_to("e", "spmv", "--size", "small", "--histograms", "all")
  has_lines(run("histograms", e), shown(block("docs/seeing.md", "$ warpwright histograms e"), "histograms e"))
  local d = run_to("d", "kmeans", "--size", "small", "--profile")
  has_lines(run("profile", d, "--top", "5"), shown(block("docs/seeing.md", "$ warpwright profile d"), "profile d --top 5"))
end)

harness.test("docs/traces.md: what happens to a request, why a warp waits", function()
  local first = run_to("t", "vecadd", "--size", "small", "--trace", "*", "--to", "2000")
  has_lines(harness.read(first .. "/trace.txt"), block("docs/traces.md", "398 sm[1].lsu send"))
  local second = run_to("u", "spmv", "--size", "small", "--trace", "*", "--from", "2000", "--to", "4000")
  has_lines(run("explain", second, "--warp", "0/3", "--cycle", "3000"):gsub("%s*\n", "\n"), (block("docs/traces.md", "warp 0/3 in cycle 3000"):gsub("\n    %.%.%.", "")))
end)

harness.test("docs/lua.md: what each of two kernels had that share SMs", function()
  local text = run(write("side.lua", block("docs/lua.md", "What each of these kernels had")))
  harness.same_text(text, shown(block("docs/lua.md", "$ build/opt/warpwright side.lua"), "side.lua") .. "\n")
end)

harness.test("docs/policy_interface.md: the policy that shares SMs by what kernels make of them, on the same kernels", function()
  local slicer = write("slicer.lua", block("docs/policy_interface.md", 'policy "slicer"'))
  local script = block("docs/lua.md", "What each of these kernels had"):gsub('"gto"', ('sharing == "slicer" and "gto+%s" or "gto"'):format(slicer))
    :gsub('%["dispatcher.sharing"%] = sharing', '["dispatcher.sharing"] = sharing ~= "slicer" and sharing or nil')
    :gsub('{ "in_order", "evenly" }', '{ "slicer" }')
  local text = run(write("sliced.lua", script))
  local cycles, speedup = text:match "count_inside +(%d+) cycles", text:match "weighted speed%-up (%S+)"
  local page = harness.read(core.home_path "docs/policy_interface.md"):gsub("%s+", " ")
  harness.contains(page, ("have a weighted speed-up of %s so, and both have ended after %s,%s cycles"):format(speedup, cycles:sub(1, -4), cycles:sub(-3)))
end)

harness.finish()
