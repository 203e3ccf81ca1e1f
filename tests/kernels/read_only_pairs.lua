-- The workload of the tests of policies that watch the texture and the constant cache: warps that read, at once, more of a
-- texture, of constants, or of these and global memory, than an L1 has MSHRs; or global memory that nobody writes, in words
-- that are `stride` bytes apart.
local ww = require "warpwright"

local pairs_of_reads = ww.workload "read_only_pairs" {
  ptx = "read_only_pairs.ptx",
  sizes = {
    textures = { textures = true, warps = 8, rounds = 6, work = 2 },
    constants = { constants = true, warps = 24, rounds = 20, work = 2 },
    all = { all = true, warps = 20, rounds = 6, work = 5 },
    read_only = { read_only = true, warps = 8, rounds = 6, work = 2, stride = 4 },
    small = { textures = true, constants = true, all = true, read_only = true, warps = 8, rounds = 3, work = 2, stride = 4 },
  },
}

local line <const> = 32 -- words

--- What each warp adds up, for `lines` that a lane reads in each round.
function pairs_of_reads:launch(gpu, kernel, size, lines, extra)
  local threads = 32 * size.warps
  local sums = gpu:alloc(4 * threads)
  local args = { sums, size.rounds, size.work }
  for _, argument in ipairs(extra) do args[#args + 1] = argument end
  gpu:launch(kernel, { grid = 1, block = threads, args = args })
  local want = ww.array("u32", threads)
  for t = 0, threads - 1 do
    local sum = 0
    for round = 0, size.rounds - 1 do sum = sum + lines(round, t, threads) end
    want[t] = size.work * sum
  end
  self:check("sums", gpu:download("u32", sums, threads), want)
end

function pairs_of_reads:run(gpu, size)
  local words = 2 * 32 * size.warps * size.rounds * line
  local data = ww.array("u32", words):random(1, 0, 1000)
  local buffer = gpu:upload(data)
  gpu:bind_texture(self.kernels, "table", gpu:texture { buffer = buffer, format = "u32", width = words })
  if size.textures then
    self:launch(gpu, self.kernels.textures, size, function(round, t, threads)
      local first = (round * 2 * threads + t // 32 * 64 + t % 32) * line
      return data[first] + data[first + 32 * line]
    end, { line })
  end
  if size.constants then self:launch(gpu, self.kernels.constants, size, function() return 0 end, {}) end
  if size.all then
    self:launch(gpu, self.kernels.all, size, function(round, t, threads)
      return 2 * data[(round * threads + t) * line]
    end, { line, buffer })
  end
  if size.read_only then
    self:launch(gpu, self.kernels.read_only, size, function(round, t, threads)
      local first = (round * threads + t) * size.stride // 4
      return data[first] + (data[first] & 0xff) + data[first // 4 * 4 + 3]
    end, { size.stride, buffer })
  end
end

return pairs_of_reads
