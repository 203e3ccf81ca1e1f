-- The workload of the tests of policies that tell warps apart by how often they hit in the L2: one CTA on one SM, on a
-- machine with one L2 slice of 64 KiB, 32 sets of 16 lines. A launch that only touches the lines that do not change goes before.
local ww = require "warpwright"
local checks = require "tests.lib.policy_checks"

local kernel = {}

--- Of eight warps: lanes that read a new line in each round. In all 80 lines are read each round, which is 2.5 of a set.
kernel.moving = { 0, 3, 16, 29, 32, 0, 3, 16 }

kernel.workload = ww.workload "warp_types_kernel" {
  ptx = "warp_types_kernel.ptx",
  sizes = { small = { moving = "0 3 16 29 32 0 3 16", rounds = "40 0 0 0", ctas = 1 } },
}

--- The numbers of a text, packed into fields of so many bits, the first lowest.
local function packed(text, bits)
  local value, at, list = 0, 0, {}
  for word in text:gmatch "%d+" do
    value, at = value | math.tointeger(word) << at, at + bits
    list[#list + 1] = math.tointeger(word)
  end
  return value, list
end

function kernel.workload:run(gpu, size)
  local pattern, moving = packed(size.moving, 8)
  local rounds, phases = packed(size.rounds, 16)
  local threads, total = 32 * #moving * size.ctas, 1
  for _, count in ipairs(phases) do total = total + count end
  local still = gpu:upload(ww.array("u32", 2 * 32 * threads):random(1, 0, 1000))
  local stream = gpu:upload(ww.array("u32", 32 * threads * total):random(2, 0, 1000))
  local sums = gpu:alloc(4 * threads)
  local shift = 128 * threads
  local launch = { grid = size.ctas, block = 32 * #moving }
  launch.args = { still, stream, shift, 0, 1, sums }
  gpu:launch(self.kernels.types, launch)
  launch.args = { still, stream, shift, pattern, rounds, sums }
  gpu:launch(self.kernels.types, launch)
  self:check("sums", gpu:download("u32", sums, threads), self:sums_of(gpu, still, stream, moving, phases, threads, total))
end

--- What each thread adds up.
function kernel.workload:sums_of(gpu, still, stream, moving, phases, threads, total)
  local words, news = gpu:download("u32", still, 2 * 32 * threads), gpu:download("u32", stream, 32 * threads * total)
  local want = ww.array("u32", threads)
  for thread = 0, threads - 1 do
    local lanes = moving[thread // 32 % #moving + 1]
    local sum, round = 0, 0
    for phase, count in ipairs(phases) do
      local shifted = phase > 1 and threads or 0
      for _ = 1, phase == 3 and lanes < 29 and 0 or count do
        sum = sum + (thread % 32 < lanes and news[32 * (round * threads + thread)] or words[32 * (shifted + thread)])
        round = round + 1
      end
    end
    want[thread] = sum & 0xffffffff
  end
  return want
end

--- One SM, one slice. `options`: moving and rounds as texts, set = more of the machine.
function kernel.run(policy, options)
  options = options or {}
  local set = { sms = 1, partitions = 1, ["l2[*].size"] = "64KiB" }
  for key, value in pairs(options.set or {}) do set[key] = value end
  return checks.run {
    workload = kernel.workload, policy = policy, set = set,
    size = { "small", moving = options.moving, rounds = options.rounds },
  }
end

return kernel
