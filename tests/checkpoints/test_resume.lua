-- A run that is saved at any cycle and resumed in a new process ends as the run that was never stopped: the same stats
-- byte for byte, the same device memory, verified. scripts/soak does the same with other random numbers.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local oracle = require "scripts.lib.resume_oracle"

local workloads = { "vecadd", "sgemm", "spmv", "kmeans", "bfs", "gesummv" }
local seed = 1

--- A case of the oracle whose differences are this test's failures.
local function test(config, workload, policy, what, body, set)
  harness.test(("%s on %s under %s %s"):format(workload, config, policy, what), function()
    local lines = {}
    local case = oracle.case {
      folder = harness.folder(), jobs = 2, threaded = 10, seed = seed, config = config, workload = workload,
      size = "small", policy = policy, set = set, report = function(line) lines[#lines + 1] = line end,
    }
    if not case.problem then body(case) end
    case:close()
    assert(case.unequal == 0, table.concat(lines, "\n"))
  end)
end

for i, workload in ipairs(workloads) do
  for j, config in ipairs { "gtx480", "gtx480_gpgpusim4" } do
    test(config, workload, (i + j) % 2 == 0 and "lrr" or "gto", "resumes at 2 random cycles", function(case)
      case:resume_everywhere(2)
      harness.equal(case.resumes, 2, "resumes")
    end)
  end
end

-- What a policy remembers, counts and sets goes on, too, and so does its period.
local wandering = harness.write("wandering.lua", [[
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"
local p = policy "wandering" { period = 100, counters = { turns = "how often it turned" } }
function p:start() self.state = { random = 12345, seen = {} } end
function p:on_period()
  local state = self.state
  state.random = state.random * 1103515245 + 12345 & 0x7fffffff
  state.seen[#state.seen % 50 + 1] = state.random
  self.sm.preferred = state.random ~ (state.seen[7] or 0)
  self.sm.may_load = bits.all ~ bits.of(state.random >> 8 & 31)
  self:count "turns"
end
return p
]])

--- Tests of policies, most of which resume their policy. tests/long resumes all of them.
local tests_of_policies = {}
for i, entry in ipairs(core.list_folder "tests/policies") do tests_of_policies[i] = harness.read("tests/policies/" .. entry) end
tests_of_policies = table.concat(tests_of_policies)

local function is_resumed_there(policy) return tests_of_policies:find(('checks%%.resumes%%("%s[":+]'):format(policy)) end

local others, in_folder = { wandering }, { trace_l1 = "trace_l1:folder=" .. harness.folder() .. "/trace" }
for _, entry in ipairs(core.list_folder(core.home_path "policies")) do
  local policy = entry:match "^(.*)%.lua$"
  if policy and policy ~= "lrr" and policy ~= "gto" and not is_resumed_there(policy) then
    others[#others + 1] = in_folder[policy] or policy
  end
end
for _, policy in ipairs(others) do -- a third of the machine saves sooner
  test("gtx480", "bfs", policy, "resumes at a random cycle", function(case)
    case:resume_everywhere(1)
    harness.equal(case.resumes, 1, "resumes")
  end, { "sms=5", "partitions=2" })
end

-- Host programs with more to repeat: textures; races and atomics; memory that is freed, allocated again, and written by
-- host and kernel in turn.
for _, name in ipairs { "racing_kernel.ptx", "texture_kernel.ptx", "in_flight_kernel.ptx" } do harness.write(name, harness.read("tests/kernels/" .. name)) end

local host_programs = {
  racing = { "racing_kernel.ptx", [[
  local data, counters = gpu:upload(ww.array("u32", 1024):random(1, 0, 0xffffffff)), gpu:upload(ww.array("u32", 64))
  gpu:launch(self.kernels.race, { grid = 60, block = 128, args = { data, counters, gpu:alloc(4 * 60 * 128), 1023 } })
  self:check("steps counted", gpu:download("u32", counters, 64):sum(), 16 * 60 * 128)]] },
  textures = { "texture_kernel.ptx", [[
  local n, side, width = 5000, 48, 96
  local values, index = ww.array("i32", n):random(1, 0, 1000), ww.array("i32", n):random(2, 0, n - 1)
  local out = gpu:alloc(4 * n)
  gpu:bind_texture(self.kernels, "table", gpu:texture { buffer = gpu:upload(values), format = "s32", width = n })
  gpu:launch(self.kernels.gather, { grid = (n + 127) // 128, block = 128, args = { out, gpu:upload(index), n } })
  self:check_that("gathered", gpu:read("i32", out + 40) == values[index[10] ])
  local image = gpu:texture {
    buffer = gpu:upload(ww.array("f32", side * side):random(3, -1, 1)), format = "f32", width = side, height = side,
    filter = "linear",
  }
  gpu:launch(self.kernels.scale, { grid = width * width // 128, block = 128,
    args = { gpu:alloc(4 * width * width), image, width, 0.5, 0.1875 } })]] },
  memory = { "texture_kernel.ptx", [[
  local n = 3000
  local index = gpu:upload(ww.array("i32", n):random(2, 0, n - 1))
  local values = ww.array("i32", n):random(1, 1, 1000)
  for i = 1, 4 do
    local table = gpu:upload(values)
    gpu:bind_texture(self.kernels, "table", gpu:texture { buffer = table, format = "s32", width = n })
    local out, spare = gpu:alloc(4 * n), gpu:alloc(100 * i)
    gpu:fill(out, 0xff, 4 * n)
    gpu:launch(self.kernels.gather, { grid = (n // i + 127) // 128, block = 128, args = { out, index, n // i } })
    gpu:write(out + 400, ww.array("i32", 100):fill(i)) -- into a page that the kernel wrote
    values = gpu:download("i32", out, n)
    gpu:free(table)
    if i % 2 == 0 then gpu:free(out) end
    gpu:free(spare)
  end
  self:check_that("the last hundred", values[150] == 4)]] },
}

host_programs.together = { "racing_kernel.ptx", [[
  local counters, list = gpu:upload(ww.array("u32", 64)), {}
  for i, grid in ipairs { 20, 45, 7, 60, 12 } do
    local data = gpu:upload(ww.array("u32", 1024):random(i, 0, 0xffffffff))
    list[i] = { kernel = self.kernels.race, grid = grid, block = 128, args = { data, counters, gpu:alloc(4 * grid * 128), 1023 },
      after = i == 3 and 1 or i == 5 and { 2, 3 } or nil }
  end
  local ctas = 0
  for _, launch in ipairs(gpu:launch_together(list)) do ctas = ctas + launch.ctas end
  self:check("CTAs", ctas, 144)
  self:check("steps counted", gpu:download("u32", counters, 64):sum(), 16 * ctas * 128)]] }

-- Kernels join others, behind waits for one and for some cycles, and one of them is in flight from the first to the last.
host_programs.in_flight = { "in_flight_kernel.ptx", [[
  local flag, before = gpu:upload(ww.array("u32", 2)), nil
  local function spin(grid, rounds, behind, priority)
    return { kernel = self.kernels.spin, grid = grid, block = 128, args = { gpu:alloc(4 * 128 * grid), rounds }, behind = behind,
      priority = priority }
  end
  gpu:launch_async { { kernel = self.kernels.wait, grid = 1, block = 32, args = { flag } } }
  for i = 1, 6 do
    local number = gpu:launch_async { spin(10 * i, 100, before), spin(3, 400 * i), spin(1, 20, before, -i % 3) }
    if i % 2 == 0 then gpu:wait(number) else gpu:wait({ number, number + 1 }, 400) end
    before = number
  end
  gpu:launch_async { { kernel = self.kernels.wide, grid = 30, block = 64, args = { gpu:alloc(4 * 64 * 30) } } }
  gpu:wait(0, 700)
  gpu:write(flag, ww.array("u32", 1):fill(5))
  gpu:wait()
  gpu:launch_async { spin(7, 50, before) }
  gpu:wait()
  self:check("the word that it waited for", gpu:download("u32", flag, 2)[1], 5)]] }

host_programs.several_per_sm = host_programs.together
host_programs.in_flight_per_sm = host_programs.in_flight
local several_per_sm = harness.write("several_per_sm_machine.lua", [[
return require "warpwright".variant("several_per_sm", "gtx480", {}, function(m)
  m:change("dispatcher", { kernels_per_sm = 3, sharing = "evenly" })
end)
]])

for _, name in ipairs { "racing", "textures", "memory", "together", "in_flight", "several_per_sm", "in_flight_per_sm" } do
  local ptx, body = table.unpack(host_programs[name])
  local config = name:find "per_sm" and several_per_sm or "gtx480"
  local path = harness.write(name .. ".lua", ([[
local ww = require "warpwright"
local w = ww.workload "%s" { ptx = "%s", sizes = { small = {} } }
function w:run(gpu)
%s
end
return w
]]):format(name, ptx, body))
  test(config, path, "gto", "resumes at 3 random cycles", function(case)
    case:resume_everywhere(3)
    harness.equal(case.resumes, 3, "resumes")
  end)
end

for _, workload in ipairs { "bfs", "kmeans" } do
  test("gtx480", workload, "gto", "resumes through a chain of 10 checkpoints", function(case)
    case:resume_in_a_chain(10)
    harness.equal(case.resumes, 10, "resumes")
  end)
end

harness.finish()
