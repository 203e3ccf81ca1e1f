-- Every policy on machines that are not like the one that it was written for: it acts on their caches, or says in words what
-- it misses.
local core = require "warpwright.core"
local network = require "configs.lib.network"
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local checks = require "tests.lib.policy_checks"

-- The machines -------------------------------------------------------------------------------------------------------

--- Two SMs with caches for constants and textures, two L2 slices with a controller each. `middle(m, sm, i, mux)` wires the
-- load/store unit's data port, as a rule to port 2 of the SM's mux, which has so many; `below(m, l2, c)` what the slice is wired to.
local function machine(name, middle, below, options)
  options = options or {}
  return ww.machine(name, function(m)
    m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
    m:quantum(8)
    m:AddressMap "map" { channels = 2, interleave = "256B" }
    local dispatcher = m:Dispatcher "dispatcher" { sms = 2 }
    local xbar = m:Crossbar "xbar" { up = 2, down = 2, clock = "icnt" }
    for i = 0, 1 do
      local sm = m:SM ("sm", i) (options.sms and options.sms[i] or {})
      local constant = m:L1 (sm, "constant_cache") { size = "8KiB", ways = 2, line = "64B", mshrs = 2, merges = 32, allocate = "fill" }
      local texture = m:L1 (sm, "texture_cache") { size = "12KiB", ways = 24, mshrs = 128, merges = 4, allocate = "fill" }
      local mux = m:Mux (sm, "mux") { up = options.one_mux and i == 1 and 2 or 3 }
      m:wire(dispatcher.sm[i], sm.dispatch, { latency = 8 })
      m:wire(sm.lsu.constant, constant.cpu)
      m:wire(sm.lsu.texture, texture.cpu)
      m:wire(constant.mem, mux.up[0])
      m:wire(texture.mem, mux.up[1])
      m:wire(mux.down, xbar.up[i], { latency = 8, depth = 64, back = { latency = 16, depth = 64 } })
      middle(m, sm, i, mux)
    end
    for c = 0, 1 do
      local l2 = m:L2 ("l2", c) { size = "128KiB", ways = 16, mshrs = 32, merges = 4 }
      m:wire(xbar.down[c], l2.cpu, { latency = 16, depth = 64, back = { latency = 8, depth = 64 } })
      below(m, l2, c)
    end
  end)
end

local function to_memory(m, cache, c)
  m:wire(cache.mem, m:MemoryController ("mc", c) { clock = "dram" }.cpu[0], { latency = 30, depth = 64 })
end

local function l1(m, parent, name)
  return m:L1 (parent, name) { size = "16KiB", ways = 4, mshrs = 32, latency = 32 }
end

local function private_l1(m, sm, _, mux)
  local cache = l1(m, sm, "l1d")
  m:wire(sm.lsu.mem, cache.cpu)
  m:wire(cache.mem, mux.up[2])
end

--- A cache for both SMs, whose requests leave by the first SM's mux.
local function shared_by_two(name, port_of)
  local join
  return function(m, sm, i, mux)
    local port = port_of(m, sm)
    if i == 0 then
      local cache = l1(m, name, 0)
      join = m:Mux ("join", 0) { up = 2 }
      m:wire(join.down, cache.cpu)
      m:wire(cache.mem, mux.up[2])
    end
    m:wire(port, join.up[i])
  end
end

local machines = {
  shared_l1 = machine("shared_l1", shared_by_two("l1", function(_, sm) return sm.lsu.mem end), to_memory, { one_mux = true }),
  l15 = machine("l15", shared_by_two("l15", function(m, sm)
    local cache = l1(m, sm, "l1d")
    m:wire(sm.lsu.mem, cache.cpu)
    return cache.mem
  end), to_memory, { one_mux = true }),
  l3 = machine("l3", private_l1, function(m, l2, c)
    local l3 = m:L2 ("l3", c) { size = "256KiB", ways = 16, mshrs = 32, merges = 4 }
    m:wire(l2.mem, l3.cpu, { depth = 64 })
    to_memory(m, l3, c)
  end),
  no_l1 = machine("no_l1", function(m, sm, _, mux) m:wire(sm.lsu.mem, mux.up[2]) end, to_memory),
  two_kinds = machine("two_kinds", private_l1, to_memory,
    { sms = { [0] = { warps = 48, schedulers = 2 }, [1] = { warps = 24, schedulers = 1, ctas = 4, registers = 16384 } } }),
  passed_on = machine("passed_on", function(m, sm, _, mux)
    local pass, cache = m:Mux (sm, "pass") { up = 1 }, l1(m, sm, "l1d")
    m:wire(sm.lsu.mem, pass.up[0])
    m:wire(pass.down, cache.cpu)
    m:wire(cache.mem, mux.up[2])
  end, to_memory),
}

--- The SMs' requests cross routers on their way to the L2, and nothing else.
machines.meshed_no_l1 = ww.machine("meshed_no_l1", function(m)
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
  m:quantum(8)
  m:AddressMap "map" { channels = 2, interleave = "256B" }
  local dispatcher = m:Dispatcher "dispatcher" { sms = 2 }
  local mesh = network.mesh(m, "mesh", { columns = 2, rows = 1, up = 1, down = 1, clock = "icnt" })
  for i = 0, 1 do
    local sm = m:SM ("sm", i) {}
    local mux = m:Mux (sm, "mux") { up = 1 }
    m:wire(dispatcher.sm[i], sm.dispatch, { latency = 8 })
    m:wire(sm.lsu.mem, mux.up[0])
    m:wire(mux.down, mesh:up(i), { latency = 8, depth = 64, back = { latency = 16, depth = 64 } })
    local l2 = m:L2 ("l2", i) { size = "128KiB", ways = 16, mshrs = 32, merges = 4 }
    m:wire(mesh:down(i), l2.cpu, { latency = 16, depth = 64, back = { latency = 8, depth = 64 } })
    to_memory(m, l2, i)
  end
end)

-- What each policy does there ------------------------------------------------------------------------------------------

local matches_none = "got 'data', which matches none"
local own_l1 = "expected an L1 of its own, got l1[0], which sm[1] uses as well"
local between = ": cache: sm[0]: expected caches with an L1 between them and the load/store unit, got l2[0], which has none"

--- What those that refuse say, by policy and machine; the others run.
local refusals = {
  shared_l1 = { mascar = own_l1, ["pcal:level=l1"] = own_l1 },
  l15 = {}, l3 = {}, two_kinds = {}, passed_on = {},
  no_l1 = {
    adaptive_bypass = matches_none, next_line = matches_none, stride = matches_none, mt_hwp = matches_none, best_offset = matches_none, pollution = matches_none,
    bypass_all = matches_none, ccws = matches_none, daws = matches_none, dwt_cs = matches_none, dwt_pric = matches_none, global_throttle = matches_none, mrpb = matches_none,
    pric = matches_none, stream_bypass = matches_none, trace_l1 = matches_none, unbounded = matches_none,
    victim_cache = matches_none, mascar = "sm[0]: expected an L1 behind the load/store unit, got none",
    medic = between, pcal = between, ["pcal:level=l1"] = between, warp_types = between, warp_ratios = between, load_ratios = between,
    wbyp = between, wip = between, wms = between,
  },
}

local policies = { "pcal:level=l1" }
for _, name in ipairs(core.list_folder(core.home_path "policies")) do
  local policy = name:match "^(.*)%.lua$"
  if policy then policies[#policies + 1] = policy end
end
table.sort(policies)

local function run(name, policy, options)
  options = options or {}
  options.config, options.policy, options.workload = machines[name], policy, options.workload or "spmv"
  return checks.run(options)
end

for _, name in ipairs { "shared_l1", "l15", "l3", "no_l1", "two_kinds", "passed_on" } do
  harness.test(("every policy works on %s, or says what it misses"):format(name), function()
    for _, policy in ipairs(policies) do
      local refusal = refusals[name][policy]
      local with = policy == "trace_l1" and "trace_l1:folder=" .. harness.folder() or policy
      local ok, result = pcall(run, name, with, { size = "small,rows=2048" })
      if refusal then
        assert(not ok, policy .. " runs")
        harness.contains(tostring(result), refusal)
      elseif not ok then
        error(("%s: %s"):format(policy, tostring(result)), 0)
      end
    end
  end)
end

-- They act -----------------------------------------------------------------------------------------------------------

harness.test("mrpb, pric and unbounded reach an L1 that two SMs share", function()
  local gto = run("shared_l1", "gto")
  local mrpb, pric, unbounded = run("shared_l1", "mrpb"), run("shared_l1", "pric"), run("shared_l1", "unbounded")
  assert(mrpb["l1[0].line_fail_bypasses"] > 0, "no request passed the L1 by")
  assert(pric["l1[0].misses"] ~= gto["l1[0].misses"], "the set index is the same")
  harness.equal(unbounded["l1[0].evictions"], 0, "lines replaced")
  assert(gto["l1[0].evictions"] > 0, "nothing to be unbounded for")
end)

harness.test("a policy of L1s acts on an L1.5 when it is told to, and on nothing else", function()
  local gto, mrpb = run("l15", "gto"), run("l15", "mrpb:cache=l15[*]")
  assert(mrpb["l15[0].line_fail_bypasses"] > 0, "no request passed the L1.5 by")
  harness.equal(mrpb["sm[*].l1d.line_fail_bypasses"], 0, "passed the L1s by")
  local pric = run("l15", "pric:cache=l15")
  assert(pric["l15[0].misses"] ~= gto["l15[0].misses"], "the set index is the same")
  local victims = run("l15", "victim_cache:cache=l15[*]")
  assert(victims["l15[0].victims.exchanges"] > 0, "no line came back")
end)

harness.test("each SM's ccws on a shared L1 scores its own warps alone", function()
  local r = run("shared_l1", "ccws")
  for sm = 0, 1 do
    local vta = ("sm[%d].vta."):format(sm)
    assert(r[vta .. "hits"] > 0, "no warp lost a line")
    assert(r[vta .. "probes"] < r["l1[0].misses"], "it looked at misses of both")
  end
  harness.equal(r["sm[0].vta.probes"] + r["sm[1].vta.probes"], r["l1[0].misses"] - r["l1[0].write_misses"], "probes")
  local wide = run("l15", "ccws:cache=l15[0]")
  harness.equal(wide["sm[0].vta.probes"] + wide["sm[1].vta.probes"], wide["l15[0].misses"] - wide["l15[0].write_misses"], "probes")
end)

harness.test("mascar sees saturation behind a mux as it does without", function()
  local behind = run("passed_on", "mascar")
  assert(behind["sm[*].mascar.mp_modes"] > 0 and behind["sm[*].l1d.reexecution_pushes"] > 0, "never saturated")
end)

harness.test("medic counts answers at the caches before the L2, whichever they are", function()
  local r = run("l15", "warp_types:warm_up=10,interval=5000")
  for sm = 0, 1 do assert(r[("sm[%d].sampler.answers"):format(sm)] > 0, "no answer counted") end
  harness.equal(r["sm[*].sampler.answers"], r["l15[0].fills"] + r["l15[0].bypasses"] + r["l15[0].write_misses"] + r["l15[0].write_hits"]
    + r["sm[*].constant_cache.fills"] + r["sm[*].texture_cache.fills"], "answers")
end)

harness.test("pcal for an L1 says which level that is", function()
  local ok, problem = pcall(run, "l15", "pcal:cache=data")
  assert(not ok, "pcal runs")
  harness.contains(tostring(problem), "policy pcal: cache: sm[0]: expected caches with an L1 between them and the load/store unit, got sm[0].l1d",
    "level=l1 is for tokens of the L1")
end)

harness.test("L2s are found across routers: nothing stands between them and the load/store unit", function()
  local ok, problem = pcall(run, "meshed_no_l1", "warp_types")
  assert(not ok, "warp_types runs")
  harness.contains(tostring(problem), between)
end)

for _, policy in ipairs { "ccws", "mrpb", "warp_types", "stream_bypass:period=500" } do
  checks.law(policy, "spmv", nil, machines.shared_l1)
end

harness.test("a pattern that matches nothing is an error that lists the caches", function()
  local ok, problem = pcall(run, "l15", "mrpb:cache=l16[*]")
  assert(not ok)
  harness.contains(tostring(problem), "policy mrpb: cache: expected one of data, texture, constant, last, L1, L2 or a pattern",
    "machine l15 (sm[*].constant_cache, sm[*].texture_cache, sm[*].l1d, l15[*], l2[*]), got 'l16[*]', which matches none")
end)

harness.finish()
