-- What a drawn machine runs: a workload at tiny size, and policies.
local core = require "warpwright.core"
local load = require "warpwright.load"
local machine = require "scripts.lib.torture.machine"
local names = require "warpwright.names"
local rows = require "scripts.lib.torture.rows"

local work = {}

-- Workloads ---------------------------------------------------------------------------------------

local function any(list) return function(rng) return rows.pick(rng, list) end end

local function from(low, high, step)
  return function(rng) return (step or 1) * rng:int(low, high) end
end

--- Versions of the kernels that copy tiles: `d2ma` needs engines, which the machine then gets.
local versions = any { "plain", "plain", "d2ma" }
local micro_operations = {}
for _, row in ipairs(load.get("workload", core.home_path "workloads/micro/operations.lua").rows) do
  micro_operations[#micro_operations + 1] = row.name
end

-- `plain` is the size that no setting changes, the smallest that makes sense, and `draw` what may
-- be set of it. `threads`: of a CTA; `registers` of a thread and `shared` of a CTA: as much as a
-- kernel may need, so that it fits. Those that make much traffic come more `often`.
local workloads = {
  { "vecadd", threads = 256, plain = { n = 64 }, draw = { n = from(1, 6000) } },
  { "sgemm", threads = 256, shared = true, plain = { m = 16, n = 16, k = 16 },
    draw = { m = from(1, 3, 16), n = from(1, 3, 16), k = from(1, 4, 16) } },
  { "spmv", often = true, threads = 256, plain = { rows = 64, shortest = 1, longest = 16 },
    draw = { rows = from(64, 1500), shortest = from(1, 4), longest = from(5, 64) } },
  { "kmeans", often = true, threads = 256, plain = { points = 64, features = 2, clusters = 2, iterations = 1 },
    draw = { points = from(16, 900), features = from(1, 16), clusters = from(1, 4), iterations = from(1, 2) } },
  { "bfs", often = true, threads = 256, plain = { nodes = 64, shortest = 1, longest = 4 },
    draw = { nodes = from(16, 700), shortest = from(1, 3), longest = from(4, 24) } },
  { "gesummv", often = true, threads = 128, plain = { rows = 32, columns = 8 },
    draw = { rows = from(1, 400), columns = from(1, 40) } },
  { "dct8x8", threads = 128, shared = true, registers = 20, plain = { width = 32, height = 32 },
    draw = { width = from(1, 3, 32), height = from(1, 3, 32), version = versions } },
  { "filter", threads = 256, shared = true, registers = 20, plain = { width = 32, height = 8 },
    draw = { width = from(1, 3, 32), height = from(1, 4, 8), filter = any { "gauss", "mean", "sobel" }, version = versions } },
  { "haar", threads = 256, shared = true, registers = 20, plain = { n = 512 },
    draw = { n = any { 64, 1024, 2048, 4096 }, version = versions } },
  { "lud", threads = 256, shared = true, registers = 20, plain = { n = 16 },
    draw = { n = from(1, 3, 16), kernel = any { "internal", "diagonal" }, version = versions } },
  { "matmul", threads = 256, shared = true, registers = 20, plain = { m = 16, n = 16, k = 16 },
    draw = { m = from(1, 3, 16), n = from(1, 3, 16), k = from(1, 2, 32), version = versions } },
  { "pathfinder", threads = 256, shared = true, registers = 20, plain = { columns = 216, rows = 3 },
    draw = { columns = from(1, 4, 216), rows = from(2, 45), version = versions } },
  { "saxpy", threads = 256, shared = true, registers = 20, plain = { n = 2048, tiles = 2 },
    draw = { n = from(1, 4, 2048), version = versions } },
  { "sgemv", threads = 160, shared = true, registers = 20, plain = { m = 128, n = 128 },
    draw = { m = from(1, 3, 128), n = from(1, 2, 128), version = any { "plain", "d2ma", "cudadma" } } },
  { "transpose", threads = 256, shared = true, registers = 20, plain = { n = 32 },
    draw = { n = from(1, 4, 32), order = any { "rows", "diagonal" }, version = versions } },
  { "walsh", threads = 256, shared = true, registers = 20, plain = { rows = 1 },
    draw = { rows = from(1, 4), version = versions } },
  -- Kernels of the tests: races, sleeps, launches of every kind, atomics, fences, votes, local
  -- memory, textures, constants, transfers of every mode.
  { "tests/kernels/racing_kernel.lua", often = true, threads = 128, plain = { ctas = 1, threads = 32, words = 64, kernels = 1 },
    draw = { ctas = from(1, 8), threads = any { 32, 96, 128 }, words = any { 16, 256, 1024 }, kernels = from(1, 5) } },
  { "tests/kernels/waiting_kernel.lua", often = true, threads = 256, shared = true,
    plain = { ctas = 1, threads = 32, rounds = 1, mode = "timed" },
    draw = { ctas = from(1, 40), threads = any { 32, 96, 160, 256 }, rounds = from(1, 4),
      mode = any { "timed", "forward", "untimed", "together" } } },
  { "tests/kernels/job_kernels.lua", often = true, threads = 256, shared = true, registers = 40,
    plain = { ctas = 1, kernel = "all" },
    draw = { ctas = from(1, 4), kernel = any { "all", "combine", "reduce", "radix_pass", "shuffle" } } },
  { "tests/kernels/texture_kernel.lua", threads = 128, plain = { elements = 64, side = 8 },
    draw = { elements = from(1, 1500), side = from(1, 3, 8) } },
  { "tests/kernels/read_only_pairs.lua", often = true, threads = 256, plain = { warps = 1, rounds = 1, work = 1, stride = 4 },
    draw = { warps = from(1, 8), rounds = from(1, 4), work = from(1, 3), stride = from(0, 35, 4) } },
  { "tests/kernels/dma_kernel.lua", often = true, threads = 96, shared = true, engine = true,
    plain = { transfers = 1, ctas = 1, rounds = 1, seed = 1 },
    draw = { transfers = from(1, 2), ctas = from(1, 3), rounds = from(1, 3), seed = from(1, 1000),
      kind = any { "flat", "strided", "2d", "padded", "padded 2d", "halo" } } },
  -- Each class of instructions, barriers, divergence, bank conflicts; clocks that a kernel reads.
  { "workloads/micro/operations.lua", base = "dependent", threads = 256, registers = 100, shared = true,
    plain = { warps = 1, turns = 1 },
    draw = { kind = any { "dependent", "independent" }, operation = any(micro_operations), warps = from(1, 8),
      turns = from(1, 4) } },
  { "workloads/micro/barrier.lua", threads = 256, plain = { warps = 1, turns = 1 },
    draw = { warps = from(1, 8), turns = from(1, 8) } },
  { "workloads/micro/divergence.lua", threads = 128, plain = { paths = 1, warps = 1, turns = 1 },
    draw = { paths = from(1, 32), warps = from(1, 4), turns = from(1, 3) } },
  { "workloads/micro/bank_conflicts.lua", threads = 256, shared = true, registers = 64,
    plain = { degree = 1, warps = 1, turns = 1 }, draw = { degree = from(1, 16), warps = from(1, 8), turns = from(1, 4) } },
  { "workloads/micro/coalescing.lua", threads = 256, registers = 64, plain = { stride = 1, warps = 1, turns = 1 },
    draw = { stride = from(1, 40), warps = from(1, 8), turns = from(1, 4) } },
  { "workloads/micro/occupancy.lua", threads = 256, registers = 64, plain = { ctas = 1, threads = 32 },
    draw = { ctas = from(1, 30), threads = any { 32, 64, 256 }, shared = any { 0, 1000, 8000 } }, shared = true },
  { "workloads/micro/chase.lua", base = "l1", threads = 32, shared = true, plain = { bytes = 1024, turns = 1 },
    draw = { load = any { "global", "past_l1", "atomic", "shared_atomic", "texture" }, bytes = any { 1024, 8192, 65536 },
      turns = from(1, 8) } },
  { "workloads/micro/bandwidth.lua", base = "l1", threads = 256, registers = 64, shared = true,
    plain = { ctas = 1, threads = 32, turns = 1 },
    draw = { kernel = any { "shared", "l1", "read_past_l1", "write", "read", "copy", "random" }, ctas = from(1, 8),
      footprint = any { 1024, 16384, 262144 }, threads = any { 32, 128, 256 }, turns = from(1, 2) } },
}

local by_name, drawn_from = {}, {}
for _, entry in ipairs(workloads) do
  by_name[entry[1]] = entry
  for _ = 1, entry.often and 3 or 1 do drawn_from[#drawn_from + 1] = entry end
end

local plain_workload <const> = "vecadd"
local shared_bytes <const>, least_registers <const> = 12288, 32

--- What `settings` run: { name, base size, size by key, policy = text or nil, needs of its kernels
-- }, or { traffic = so many cycles } of a machine without SMs.
function work.of(settings)
  local get = machine.reader(settings)
  if get("traffic", nil) then return { traffic = get("traffic", nil), name = "random requests" } end
  local entry = by_name[get("workload", plain_workload)]
  local size = {}
  for _, key in ipairs(names.sorted_keys(entry.plain)) do size[key] = get("size." .. key, entry.plain[key]) end
  for _, key in ipairs(names.sorted_keys(entry.draw)) do size[key] = get("size." .. key, size[key]) end
  return {
    name = entry[1], base = entry.base or "small", size = size, policy = work.policy_text(settings),
    needs = {
      warps = (entry.threads + 31) // 32, shared = entry.shared and shared_bytes or 0,
      registers = entry.registers or least_registers, engine = entry.engine or size.version == "d2ma",
    },
  }
end

--- For load.get(), from any folder.
function work.path(name) return name:find "/" and core.home_path(name) or name end

--- "small,m=16", as --size takes it.
function work.size_text(what)
  if what.traffic then return what.traffic .. " cycles" end
  local parts = { what.base }
  for _, key in ipairs(names.sorted_keys(what.size)) do parts[#parts + 1] = ("%s=%s"):format(key, tostring(what.size[key])) end
  return table.concat(parts, ",")
end

--- Adds the workload and its size to the settings; returns whether it needs engines.
function work.draw(rng, settings)
  local entry = rows.pick(rng, drawn_from)
  settings[#settings + 1] = { "workload", entry[1] }
  local engine = entry.engine
  for _, key in ipairs(names.sorted_keys(entry.draw)) do
    local value = entry.draw[key](rng)
    settings[#settings + 1] = { "size." .. key, value }
    engine = engine or value == "d2ma"
  end
  return engine
end

-- Policies ----------------------------------------------------------------------------------------

--- Texts that parameters of policies may be; of others no row tells what is legal.
local texts = {
  edge = { "bottom", "top" }, since = { "first", "last" }, level = { "l1", "l2" }, arbitration = { "gto", "lrr" },
}

--- The same of a parameter of one policy.
local texts_of = {
  ["locality.cache"] = { "L1", "L2", "data|L2" }, ["global_throttle.cache"] = { "L2", "L1|L2" }, ["mrpb.cache"] = { "L1", "data" },
  ["eaf.cache"] = { "last", "L2" }, ["l2_delays.cache"] = { "last", "L2" }, ["victim_cache.cache"] = { "L1", "data" },
  ["best_offset.priority"] = { "demand", "oldest", "own_port" }, ["best_offset.drop"] = { "newest", "oldest" },
}

--- Policies and parameters of theirs that are left out, and why.
work.left_out = {
  ["trace_l1"] = "writes files, as a resumed run does again",
  ["pric.polynomial"] = "needs an irreducible polynomial of the degree that the cache's sets give; 0 chooses one",
  ["perfect.clock"] = "the name of a clock",
  ["tenant_sms.strict"] = "kernels that are no tenant's get no SM",
  ["first_touch"] = "gives the address map pages, for which not all machines have the wires",
}

local function definition_of(name) return load.get("policy", name) end

--- Those of policies/, sorted.
function work.policies()
  local list = {}
  for _, entry in ipairs(core.list_folder(core.home_path "policies")) do
    local name = entry:match "^(.*)%.lua$"
    if name and not work.left_out[name] then list[#list + 1] = name end
  end
  return list
end

--- Rows of the parameters that a policy may be given, without those of the policies that it uses;
-- texts with a list of values.
function work.policy_rows(name)
  local list = rows.of_policy(definition_of(name).params)
  for _, row in ipairs(list) do
    local legal = texts_of[name .. "." .. row.name] or texts[row.name]
    if row.kind == "text" and legal then row.kind, row.values = "value", legal end
  end
  return list
end

--- Policies that refuse a machine without an L1 between SMs and L2, one whose SMs share it, one
-- without a DRAM clock, one without memory controllers (behind which the caches are that some act
-- on), one with objects that cannot follow a clock that changes.
local want_an_l1 = {
  "adaptive_bypass", "best_offset", "bypass_all",
  "ccws", "daws", "dwt_cs", "dwt_pric", "global_throttle", "load_ratios", "mascar", "medic", "mrpb", "mt_hwp", "next_line", "pcal",
  "pollution", "pric", "srrip_in_lua", "stream_bypass", "stride",
  "unbounded", "victim_cache", "warp_ratios", "warp_types", "wbyp", "wip", "wms",
}
local wants = { perfect = "dram", mascar = "own", fcfs_in_lua = "controller", atlas = "controller", bliss = "controller",
  parbs = "controller", warp_groups = "controller", row_cap = "controller", write_drain = "controller", dip = "controller", ta_dip = "controller",
  hawkeye = "controller", ship = "controller", ucp = "controller",
  equalizer = "clocks" }
for _, name in ipairs(want_an_l1) do wants[name] = wants[name] or "l1" end

local function is_at_home(name, get)
  local l1, want = get("l1", "own"), wants[name]
  if want == "controller" then return get("memory", "dram") ~= "sink" end
  if want == "clocks" then return get("network", "direct") == "crossbar" and get("memory", "dram") ~= "sink" and not get("squeeze", false) end
  if want == "dram" then return get("clock.dram", nil) ~= nil end
  return not want or l1 ~= "none" and not (want == "own" and l1 == "shared")
end

--- Of these a composition has one: they set the classes of warps, themselves or by a policy that they use.
local sets_classes = {
  warp_types = true, warp_ratios = true, wbyp = true, wip = true, wms = true, medic = true, tenant_classes = true, bliss = true,
}

local function go_together(first, second)
  return first ~= second and not (sets_classes[first] and sets_classes[second])
end

--- Parameters that are always drawn: machines with their defaults take long to build. Of the lines
-- of an unbounded cache there must be as many as a kernel touches. Some must be powers of two, or
-- divide others, or be less than others, or than the sets of a cache.
local always = {
  ["perfect.entries"] = from(0, 512), ["unbounded.l1_lines"] = any { 8192, 10000 },
  ["unbounded.l2_lines"] = any { 8192, 16384 },
  ["best_offset.recent"] = any { 1, 16, 256 }, ["best_offset.page"] = any { 128, 4096, 65536 },
  ["victim_cache.lines"] = any { 4, 16, 64, 96, 256 }, ["victim_cache.ways"] = any { 0, 0, 1, 2, 4 },
  ["ta_dip.sharers"] = any { 1, 2, 4 }, ["row_cap.cap"] = any { 1, 2, 8 }, ["write_drain.high"] = any { 4, 16, 64 }, ["write_drain.low"] = any { 0, 3 },
}

local function draw_parameters(rng, name, percent, settings)
  for _, row in ipairs(work.policy_rows(name)) do
    local key = name .. "." .. row.name
    if always[key] or rows.chance(rng, percent) and not work.left_out[key] then
      local value = (always[key] or rows.draw)(rng, row)
      if value ~= nil then settings[#settings + 1] = { ("policy.%s.%s"):format(name, row.name), value } end
    end
  end
end

--- Adds policies and their parameters to the settings.
function work.draw_policy(rng, settings, percent)
  local get, list = machine.reader(settings), {}
  for _, name in ipairs(work.policies()) do
    if is_at_home(name, get) then list[#list + 1] = name end
  end
  local chosen = { rows.pick(rng, list) }
  if rows.chance(rng, 30) then
    local second = rows.pick(rng, list)
    if go_together(chosen[1], second) then chosen[2] = second end
  end
  settings[#settings + 1] = { "policy", table.concat(chosen, "+") }
  for _, name in ipairs(chosen) do draw_parameters(rng, name, percent, settings) end
end

--- Rules between the parameters of a policy.
local rules = {
  ccws = function(p)
    local ways = math.min(p.vta_ways or 8, 4096)
    p.vta_entries = math.max(1, (p.vta_entries or 16) // ways) * ways
  end,
  pc_byp = function(p)
    if p.warm_up or p.window then p.warm_up = math.min(p.warm_up or 64, math.max(1, (p.window or 256) // 2)) end
    if p.entries then
      local power = 1
      while 2 * power <= p.entries do power = 2 * power end
      p.entries = power
    end
  end,
}

--- "owl:turn=100+mascar:entries=3", or nil.
function work.policy_text(settings)
  local get, words = machine.reader(settings), {}
  for name in (get("policy", "")):gmatch "[^+]+" do
    local params, given = {}, {}
    for _, row in ipairs(work.policy_rows(name)) do params[row.name] = get(("policy.%s.%s"):format(name, row.name), nil) end
    if rules[name] then rules[name](params) end
    for i, key in ipairs(names.sorted_keys(params)) do
      local value = params[key]
      given[i] = ("%s=%s"):format(key, math.type(value) == "float" and ("%.2f"):format(value) or tostring(value))
    end
    words[#words + 1] = name .. (#given > 0 and ":" .. table.concat(given, ",") or "")
  end
  return words[1] and table.concat(words, "+")
end

--- Parameters of classes that policies set from parameters of their own: { ["VictimTags.ways"] =
-- "ccws" ... }
function work.parameters_by_policies()
  local found = {}
  for _, name in ipairs(work.policies()) do
    for _, part in ipairs(definition_of(name).parts) do
      for _, row in ipairs(rows.of_class(part.class)) do
        if type(part[row.name]) == "function" then found[part.class .. "." .. row.name] = name end
      end
    end
  end
  return found
end

--- Is this a class that policies alone make?
function work.part_classes()
  local found = {}
  for _, name in ipairs(work.policies()) do
    for _, part in ipairs(definition_of(name).parts) do found[part.class] = name end
  end
  return found
end

return work
