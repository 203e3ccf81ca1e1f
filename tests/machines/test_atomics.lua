-- Where atomics are performed in machines in which an address comes to several L2s, or to none.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local oracle = require "scripts.lib.resume_oracle"

--- A machine of four SMs with a cache of the class, if any, for each; behind the crossbar `slices` of an L2, or the two
-- controllers alone. Without a crossbar each SM has a controller of its own.
local function machine_with(name, own, crossbar, slices)
  local from = own and "sm[*].own.mem" or "sm[*].l1d.mem"
  local far = "{ latency = 8, depth = 32, back = { latency = 16, depth = 32 } }"
  local lines = {
    'local ww = require "warpwright"', ('return ww.machine("%s", function(m)'):format(name),
    '  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }', '  m:Dispatcher "dispatcher" { sms = 4 }',
    ('  m:AddressMap "map" { channels = %d }'):format(crossbar and 2 or 1), "  for i = 0, 3 do",
    '    local sm = m:SM ("sm", i) {}', '    m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }',
  }
  local function add(text) lines[#lines + 1] = text end
  if own then
    add '    m:L2 (sm, "own") { size = "16KiB", ways = 8, mshrs = 32 }'
    add '    m:wire(("sm[%d].l1d.mem"):format(i), ("sm[%d].own.cpu"):format(i))'
  end
  add "  end"
  add(('  for c = 0, %d do m:MemoryController ("mc", c) { clock = "dram" } end'):format(crossbar and 1 or 3))
  add '  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })'
  add '  m:wire("sm[*].lsu.mem", "sm[*].l1d.cpu")'
  if not crossbar then
    add(('  m:wire("%s", "mc[*].cpu[0]", %s)'):format(from, far))
  else
    add '  m:Crossbar "xbar" { up = 4, down = 2, clock = "icnt" }'
    add(('  m:wire("%s", "xbar.up[*]", %s)'):format(from, far))
    if slices then add '  for c = 0, 1 do m:L2 ("l3", c) { size = "64KiB", ways = 8, mshrs = 32 } end' end
    if slices then add '  m:wire("l3[*].mem", "mc[*].cpu[*]")' end
    add(('  m:wire("xbar.down[*]", "%s", %s)'):format(slices and "l3[*].cpu" or "mc[*].cpu[*]", far))
  end
  add "end)"
  return harness.write(name .. ".lua", table.concat(lines, "\n") .. "\n")
end

local function run(config, how)
  local r = ww.run { config = config, workload = "mst", size = "small", out = false, set = how.set, order = how.order,
    threads = how.threads, fast_forward = how.fast_forward }
  assert(r.checks > 0, "nothing was checked")
  local lines = {}
  for name, value in r:stats() do lines[#lines + 1] = name .. " " .. tostring(value) end
  return r, table.concat(lines, "\n")
end

local function is_right_in_any_way(config)
  local r, stats = run(config, {})
  for _, how in ipairs { { order = "reversed", threads = 2 }, { order = "shuffled:3" }, { order = "restless", threads = 3 } } do
    harness.same_text(select(2, run(config, how)), stats, how.order)
  end
  run(config, { set = { "quantum=1" } })
  run(config, { fast_forward = "launch=9,cta=0.5" })
  local problems = {}
  local case = oracle.case {
    folder = harness.folder(), jobs = 2, threaded = 30, seed = 1, config = config, workload = "mst", size = "small",
    report = function(line) problems[#problems + 1] = line end,
  }
  if not case.problem then case:resume_everywhere(2) end
  case:close()
  assert(case.unequal == 0, table.concat(problems, "\n"))
  harness.equal(case.resumes, 2, "resumes")
  return r
end

local function atomics_at(r, cache)
  return r[cache .. ".atomic_hits"] + r[cache .. ".atomic_misses"] + r[cache .. ".atomic_merges"]
end

harness.test("L2s of one SM each pass atomics on to the slices that all SMs share", function()
  local r = is_right_in_any_way(machine_with("own_l2s", true, true, true))
  harness.equal(atomics_at(r, "sm[*].own"), 0, "atomics performed in front of the crossbar")
  assert(atomics_at(r, "l3[*]") > 0, "no atomic came to the slices")
end)

harness.test("without slices behind the crossbar memory controllers perform the atomics of L2s before it", function()
  is_right_in_any_way(machine_with("own_l2s_alone", true, true, false))
  is_right_in_any_way "gallery/cluster_l2"
end)

harness.test("without an L2 memory controllers perform atomics", function()
  is_right_in_any_way(machine_with("no_l2", false, true, false))
end)

harness.test("an address that comes to no place alone is refused when the machine is built", function()
  harness.refused("warpwright: error: sm[0].own, sm[1].own: expected all requests for an address to pass one L2, or to come to "
    .. "one MemoryController, where atomics are performed, got none for slice 0 of the address map\n", "run",
    machine_with("parted", true, false), "vecadd", "--size", "small,n=1024", "--out", harness.folder() .. "/out")
  harness.refused("warpwright: error: mc[0], mc[1]: expected all requests", "run", machine_with("parted_controllers", false, false),
    "vecadd", "--size", "small,n=1024", "--out", harness.folder() .. "/out")
end)

harness.finish()
