-- scripts/bench.lua, scripts/compare_bench.lua and scripts/cycle_cost.lua.
local harness = require "tests.lib.harness"
local json = require "warpwright.json"
local gpgpusim = require "workloads.reference.gpgpusim"

local function bench(...)
  local path = harness.folder() .. "/bench.json"
  local status, output = harness.run("scripts/bench.lua", "--quick", "--out", path, ...)
  harness.equal(status, 0, output)
  return json.decode(harness.read(path)), output
end

harness.test("workloads and jobs are measured, jobs beside GPGPU-Sim", function()
  local list, output = bench("--only", "vecadd", "--only", "reference/fmaloop")
  harness.equal(#list, 2, "items")
  harness.contains(output, "reference/fmaloop", "72545")
  local workload, job = list[1], list[2]
  harness.equal(workload.name, "vecadd", "name")
  harness.equal(workload.size, "small", "size")
  harness.equal(workload.speed_ratio, nil, "ratio of a workload")
  harness.equal(job.warp_instructions, 1627200, "warp instructions")
  for _, item in ipairs(list) do
    assert(item.cycles > 1000 and item.seconds > 0 and item.warp_instructions_per_second > 0)
    assert(math.abs(item.cycles_per_second * item.seconds / item.cycles - 1) < 1e-6, "cycles per second")
    assert(item.peak_bytes > item.device_bytes, "peak memory")
    assert(item.process_seconds > 0)
  end
  assert(math.abs(job.process_ratio * job.process_seconds / gpgpusim.jobs.fmaloop.seconds - 1) < 1e-6, "ratio of the processes")
  assert(math.abs(job.speed_ratio * 2783 / job.cycles_per_second - 1) < 1e-6, "ratio")
end)

harness.test("a job of many launches is measured", function()
  local launches = bench("--only", "launches")[1]
  harness.equal(launches.warp_instructions % 500, 0)
  assert(launches.warp_instructions >= 500 * 32 * 10 and launches.process_ratio == nil)
end)

harness.test("runs are repeated", function()
  harness.equal(bench("--only", "reference/fmaloop", "--repeat", "2")[1].runs, 2, "runs")
end)

harness.test("a wrong name is refused", function()
  local status, output = harness.run("scripts/bench.lua", "--only", "nothing")
  harness.equal(status, 2, "exit status")
  harness.contains(output, "reference/fmaloop")
end)

-- Counting, with a valgrind that runs the program as it is and finds these counts: 100 + 300 + 2600 instructions of the
-- program and 1000 of a library, and calls, whose cost is not of the line that calls.
local counts = [[
# callgrind format
positions: instr line
events: Ir
summary: 4000

ob=/somewhere/warpwright
fl=/home/core/sim/link.h
fn=sim_run
0x10 5 100
cfn=other
calls=1 0x18 7
0x14 6 3900
0x18 7 300
0x20 8 2000
0x20 9 600
ob=/usr/lib/libc.so.6
fn=memcpy
0x10 0 1000
totals: 4000
]]

local addr2line = [[
0x0000000000000010
/home/core/sim/link.h:5
/home/core/warpwright/core/gpu/lsu/lsu.c:9 (discriminator 3)
/home/core/warpwright/core/sim/sim.c:9
0x0000000000000018
/home/core/warpwright/mem/cache/cache.c:1
0x0000000000000020
??:?
]]

--- Runs a script with these tools in the place of the real ones.
local function run_with_tools(...)
  local folder = harness.folder()
  harness.write("counts", counts)
  harness.write("places", addr2line)
  harness.write("valgrind", [[
#!/bin/sh
while :; do
  case $1 in
  --callgrind-out-file=*) out=${1#*=} ;;
  --toggle-collect=sim_run\* | -*) ;;
  *) break ;;
  esac
  shift
done
cat "${0%/*}/counts" >"$out"
exec "$@"
]])
  harness.write("addr2line", [[
#!/bin/sh
cat >"${0%/*}/asked"
cat "${0%/*}/places"
]])
  assert(os.execute(("chmod +x %s/valgrind %s/addr2line"):format(folder, folder)))
  local words = { ("PATH='%s':\"$PATH\" '%s'"):format(folder, arg[-1]) }
  for _, word in ipairs { ... } do words[#words + 1] = "'" .. word .. "'" end
  local pipe = assert(io.popen(table.concat(words, " ") .. " 2>&1"))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  return status, output
end

harness.test("the host's instructions per cycle are counted in the small run", function()
  local path = harness.folder() .. "/counted.json"
  local status, output = run_with_tools("scripts/bench.lua", "--quick", "--only", "vecadd", "--count", arg[-1], "--out", path)
  harness.equal(status, 0, output)
  local item = json.decode(harness.read(path))[1]
  assert(math.abs(item.host_instructions_per_cycle * item.cycles / 4000 - 1) < 1e-6, "instructions per cycle")
  harness.contains(output, "host instr.", "per cycle")
end)

harness.test("without a program for valgrind there is no count", function()
  local list, output = bench("--only", "vecadd")
  harness.equal(list[1].host_instructions_per_cycle, nil, "field")
  assert(output:find "\nvecadd[^\n]* %- ", output)
end)

harness.test("a program that does not run under valgrind is an error", function()
  local status, output = run_with_tools("scripts/bench.lua", "--quick", "--only", "vecadd", "--count", "/no/program")
  harness.equal(status, 2, "exit status")
  harness.contains(output, "/no/program failed under valgrind", "march=x86-64-v3")
end)

harness.test("an instruction counts for the innermost file that is no header", function()
  local status, output = run_with_tools("scripts/cycle_cost.lua", "--files", "vecadd")
  harness.equal(status, 0, output)
  for file, percent in pairs { ["core/gpu/lsu/lsu.c"] = "2.5%", ["mem/cache/cache.c"] = "7.5%", ["%?"] = "65.0%",
    ["/usr/lib/libc.so.6"] = "25.0%", ["in all"] = "100.0%" } do
    assert(output:find("\n" .. file .. " +%d+ +" .. percent:gsub("%%", "%%%%") .. "\n"), file .. ": " .. output)
  end
  harness.equal(harness.read(harness.folder() .. "/asked"), "0x10\n0x18\n0x20\n", "addresses")
end)

harness.test("files are added up by the parts of the simulator", function()
  local status, output = run_with_tools("scripts/cycle_cost.lua", "vecadd")
  harness.equal(status, 0, output)
  local at = 1
  for _, line in ipairs { "load/store unit +%d+ +2.5%%", "L1, constant caches, L2 +%d+ +7.5%%", "C library +%d+ +25.0%%",
    "other +%d+ +65.0%%", "in all +%d+ +100.0%%" } do
    local first, last = output:find("\n" .. line .. "\n", at)
    assert(first, line .. ": " .. output)
    at = last
  end
  harness.equal(run_with_tools("scripts/cycle_cost.lua", "--what"), 2, "exit status of an unknown option")
  harness.equal(run_with_tools("scripts/cycle_cost.lua", "nothing"), 2, "exit status of an unknown item")
end)

harness.test("two files are compared item by item", function()
  local function item(name, cycles, speed)
    return { name = name, cycles = cycles, warp_instructions = 5, thread_instructions = 50, cycles_per_second = speed,
      peak_bytes = 100 }
  end
  local old = harness.write("old.json", json.encode { item("a", 100, 1000), item("b", 100, 1000), item("c", 1, 1) })
  local new = harness.write("new.json", json.encode { item("a", 100, 1040), item("b", 90, 2000), item("d", 1, 1) })
  local status, output = harness.run("scripts/compare_bench.lua", old, new)
  harness.equal(status, 0, output)
  harness.contains(output, "c: gone", "d: new", "1 of 2 items unchanged within 5 %", "-10.0 %", "+100.0 %")
  harness.equal(output:find "a\n", nil, "the unchanged item")
  harness.equal(output:find "host", nil, "counts that neither has")
  harness.equal(harness.run("scripts/compare_bench.lua", old), 2, "exit status without a second file")
  harness.equal(harness.run("scripts/compare_bench.lua", old, harness.write("bad.json", "[1, ")), 2, "of a bad file")
  for _, other in ipairs { '{"name": "a"}', "[]", "[3]", '[{"name": "a"}]', '[{"name": "a", "cycles": 5}]',
    (harness.read(old):gsub('"peak_bytes": 100', '"peak_bytes": "x"', 1)), (harness.read(old):gsub("thread_instructions", "x", 1)) } do
    harness.refused("bad.json: expected a file of scripts/bench.lua, got another", "scripts/compare_bench.lua", old, harness.write("bad.json", other))
  end
end)

harness.test("the host's instructions per cycle count as changed from a thousandth on", function()
  local function item(name, host)
    return { name = name, cycles = 100, warp_instructions = 5, thread_instructions = 50, cycles_per_second = 1000,
      peak_bytes = 100, host_instructions_per_cycle = host }
  end
  local old = harness.write("old.json", json.encode { item("a", 10000), item("b", 10000), item("c", 10000) })
  local new = harness.write("new.json", json.encode { item("a", 10009), item("b", 9800), item "c" })
  local status, output = harness.run("scripts/compare_bench.lua", old, new)
  harness.equal(status, 0, output)
  harness.contains(output, "b\n  host_instructions_per_cycle", "10000 ->           9800     -2.0 %",
    "2 of 3 items unchanged", "host instructions per cycle over 2 items: 0.990 times")
end)

harness.test("shell scripts say with --help what they do, and do nothing", function()
  for _, name in ipairs { "test", "demo", "cuda_demo", "setup", "ptx", "tidy-check", "format-check", "libdevice" } do
    local pipe = assert(io.popen(("PATH=/usr/bin:/bin timeout -s KILL 20 scripts/%s --help"):format(name)))
    local words = pipe:read "a"
    assert(pipe:close(), name)
    local head = harness.read("scripts/" .. name):match "\n# ([^\n]*)"
    harness.equal(words:sub(1, #head), head, name)
    assert(not words:find("compile ", 1, true) and not words:find("\nset -eu", 1, true), words)
  end
end)

harness.test("scripts without options have help, and a mistake in their arguments is one of the user", function()
  for _, name in ipairs { "checkpoint_cost", "my_first_experiment", "plot_policies", "compare_bench", "compile_library", "libdevice_lengths" } do
    local status, output = harness.run(("scripts/%s.lua"):format(name), "--help")
    harness.equal(status, 0, output)
    harness.equal(output:match "^usage: [%w/]*warpwright scripts/([%w_]+)%.lua", name, "usage")
  end
  local pipe = assert(io.popen(("WARPWRIGHT='%s' scripts/cycle_cost --help"):format(arg[-1])))
  harness.contains(pipe:read "a", "usage: scripts/cycle_cost [--files]")
  assert(pipe:close(), "exit status of scripts/cycle_cost --help")
  harness.refused("expected FILE, got 0 arguments", "scripts/compile_library.lua")
  harness.refused("expected FOLDER, got 0 arguments", "scripts/libdevice_lengths.lua")
  local output = harness.refused("/no/such/plot.svg: No such file or directory", "scripts/plot_policies.lua", "docs/results.md", "/no/such/plot.svg")
  assert(not output:find(".tmp", 1, true), output)
end)

harness.test("JSON that is written is read again", function()
  local list = { 1, 2.5, -3e10, "x", true, false }
  local value = { text = 'a "quoted"\n\\ line', list = list, empty = {}, deep = { { a = 1 } } }
  local again = json.decode(json.encode(value))
  harness.equal(again.text, value.text, "text")
  for i, member in ipairs(list) do harness.equal(again.list[i], member, "member " .. i) end
  harness.equal(next(again.empty), nil, "empty list")
  harness.equal(again.deep[1].a, 1, "nested")
  harness.equal(json.encode(0 / 0), "null\n", "NaN")
  harness.equal(json.decode '{"a": null, "b": "\\u0041\\/"}'.b, "A/", "escapes")
end)

harness.finish()
