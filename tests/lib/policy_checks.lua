-- What every policy must keep, for the tests of policies: stats that no tick order and no thread changes, runs that resume,
-- and the baseline's stats where it has nothing to do. As `warpwright check` has it, but with workloads that tests make.
local difference = require "warpwright.check.difference"
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local oracle = require "scripts.lib.resume_oracle"

local checks = {}

--- Every warp adds up 32 words, `rounds` times: one of each of 32 lines of its own. CTAs are of four warps; the L1 of a
-- gtx480 has room for the lines of four warps. The load is instruction 10.
checks.thrashing = ww.workload "thrashing" {
  ptx = "../kernels/thrashing_kernel.ptx",
  sizes = { small = { ctas = 4, rounds = 100 }, many = { ctas = 120, rounds = 3 } },
}

function checks.thrashing:run(gpu, size)
  local threads = size.ctas * 128
  local data = gpu:upload(ww.array("u32", 32 * threads):random(1, 0, 1000))
  local sums = gpu:alloc(4 * threads)
  gpu:launch(self.kernels.thrash, { grid = size.ctas, block = 128, args = { data, sums, size.rounds } })
  local words, want = gpu:download("u32", data, 32 * threads), ww.array("u32", threads)
  for i = 0, threads - 1 do want[i] = size.rounds * words[32 * i] end
  self:check("sums", gpu:download("u32", sums, threads), want)
end

--- A workload of one launch: every thread adds up one word in each of `rounds` rounds; threads read `stride` bytes apart. From
-- a round to the next they move on by `step` bytes, `moves` times.
function checks.strided(launch)
  local threads, ctas, step, moves = launch.threads, launch.ctas or 1, launch.step or 0, launch.moves or 0
  local strided = ww.workload "strided" { ptx = "../kernels/strided_kernel.ptx", sizes = { small = {} } }
  function strided:run(gpu)
    local data = gpu:alloc(threads * ctas * launch.stride + step * moves + 4)
    local sums = gpu:alloc(4 * threads * ctas)
    gpu:launch(self.kernels.stride, {
      grid = ctas, block = threads, args = { data, sums, launch.stride, step, moves, launch.rounds },
    })
    self:check("sums", gpu:download("u32", sums, threads * ctas), ww.array("u32", threads * ctas))
  end
  return strided
end

--- Runs a workload at its small size; `options` as for ww.run.
function checks.run(options)
  options.config = options.config or "gtx480"
  options.size = options.size or "small"
  options.out = false
  return ww.run(options)
end

--- The set and the size of a run on a third of a gtx480, unless `set` or the config says how much there is: the same SMs for each
-- slice, and what holds of any machine is shown in less time. kmeans has half of its points: still more for each SM.
local function on_a_third(workload, set, config)
  if config and config ~= "gtx480" or set and next(set) and not set[1] then return set end
  local third = { "sms=5", "partitions=2" }
  for _, setting in ipairs(set or {}) do
    if setting:find "^sms=" or setting:find "^partitions=" or setting:find "%[%d" then return set end
    third[#third + 1] = setting
  end
  return third, workload == "kmeans" and "small,points=3072" or nil
end

--- As checks.run, on a third of a gtx480.
function checks.run_on_a_third(options)
  options.set, options.size = on_a_third(options.workload, options.set, options.config)
  return checks.run(options)
end

--- All rows as text, but for those whose names match one of the patterns.
function checks.text_of(result, left_out)
  local lines = {}
  for name, value in result:stats() do
    local left = false
    for _, pattern in ipairs(left_out or {}) do left = left or name:find(pattern) end
    if not left then lines[#lines + 1] = name .. " " .. tostring(value) end
  end
  return table.concat(lines, "\n")
end

local function rows_of(options) return difference.rows_of_result(checks.run(options)) end

--- An error that says what differs.
local function same_rows(got, want, has_own)
  local found = difference.of(got, want, has_own)
  if found then error(difference.text(found), 0) end
end

--- `policy`, which must have nothing to do, gives the stats of `baseline`; rows that it alone has are its own.
function checks.equals(policy, baseline, workload, set)
  harness.test(("%s on %s is %s"):format(policy, workload, baseline), function()
    same_rows(rows_of { workload = workload, policy = policy, set = set }, rows_of { workload = workload, policy = baseline, set = set }, true)
  end)
end

--- Tick order and threads change nothing.
function checks.law(policy, workload, set, config)
  local size
  set, size = on_a_third(workload, set, config)
  local want = rows_of { config = config, workload = workload, size = size, policy = policy, set = set }
  for _, how in ipairs { { order = "reversed" }, { order = "shuffled:1", threads = 3 } } do
    harness.test(("%s on %s, order %s, %d threads"):format(policy, workload, how.order or "path", how.threads or 1), function()
      same_rows(rows_of { config = config, workload = workload, size = size, policy = policy, set = set, order = how.order,
        threads = how.threads }, want)
    end)
  end
end

--- Saved at random cycles and resumed in other processes, a run ends as if it had not been stopped.
function checks.resumes(policy, workload, times, set)
  harness.test(("%s on %s resumes at %d random cycles"):format(policy, workload, times), function()
    local lines = {}
    local third, size = on_a_third(workload, set)
    local case = oracle.case {
      folder = harness.folder(), jobs = 2, threaded = 30, seed = 1, config = "gtx480", workload = workload,
      size = size or "small", policy = policy, set = third, report = function(line) lines[#lines + 1] = line end,
    }
    if not case.problem then case:resume_everywhere(times) end
    case:close()
    assert(case.unequal == 0, table.concat(lines, "\n"))
    harness.equal(case.resumes, times, "resumes")
  end)
end

--- A run goes over to `policy` in the midst of a kernel, from one under `before`, and comes to the right end.
function checks.takes_over(policy, before, workload, cycle)
  harness.test(("%s follows %s on %s in cycle %d"):format(policy, before, workload, cycle), function()
    local sim = ww.build("gtx480", { policy = before })
    sim:start(workload, "small")
    harness.equal(sim:run { until_cycle = cycle }, false, "ended")
    sim:change { policy = policy }
    local ended, verified = sim:run {}
    assert(ended and verified > 0)
    sim:close()
  end)
end

--- The sum of a counter over all objects.
function checks.sum(result, pattern)
  local sum = 0
  for name, value in result:stats() do
    if name:gsub("%[%d+%]", "") == pattern then sum = sum + value end
  end
  return sum
end

return checks
