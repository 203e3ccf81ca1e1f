-- scripts/bench.lua and scripts/compare_bench.lua.
local harness = require "harness"
local json = require "scripts.lib.json"

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
  end
  assert(math.abs(job.speed_ratio * 2783 / job.cycles_per_second - 1) < 1e-6, "ratio")
end)

harness.test("runs are repeated", function()
  harness.equal(bench("--only", "reference/fmaloop", "--repeat", "2")[1].runs, 2, "runs")
end)

harness.test("a wrong name is refused", function()
  local status, output = harness.run("scripts/bench.lua", "--only", "nothing")
  harness.equal(status, 2, "exit status")
  harness.contains(output, "reference/fmaloop")
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
  harness.equal(harness.run("scripts/compare_bench.lua", old), 2, "exit status without a second file")
  harness.equal(harness.run("scripts/compare_bench.lua", old, harness.write("bad.json", "[1, ")), 2, "of a bad file")
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
