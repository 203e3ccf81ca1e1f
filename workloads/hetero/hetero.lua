local ww = require "warpwright"

local hetero = ww.workload "hetero" {
  doc = "Persistent warps of four kinds: 0, 3, 32 and 32 of their lanes read lines that no cache holds, the others lines that L2 holds",
  ptx = "hetero.ptx",
  -- cold, hot: bytes, powers of two. Kinds of warps have all rounds, those whose lanes are all cold
  -- `cold_rounds`.
  sizes = {
    small = { ctas = 15, cold = 1 << 24, hot = 1 << 19, rounds = 20, cold_rounds = 20, seed = 1 },
    medium = { ctas = 120, cold = 1 << 24, hot = 1 << 19, rounds = 100, cold_rounds = 100, seed = 1 },
  },
}

local threads <const>, line <const> = 192, 128
local cold_lanes <const> = { 0, 3, 32, 32 }

local function log2_of(lines) return math.tointeger(math.log(lines, 2)) or error "hetero: cold, hot: expected powers of two" end

function hetero:run(gpu, size)
  local cold = ww.array("u32", size.cold // 4):random(size.seed, 0, 0xffffffff)
  local hot = ww.array("u32", size.hot // 4):random(size.seed + 1, 0, 0xffffffff)
  local cold_bits, hot_bits = log2_of(size.cold // line), log2_of(size.hot // line)
  local count = size.ctas * threads
  local sums, packed = gpu:alloc(4 * count), 0
  for kind, lanes in ipairs(cold_lanes) do packed = packed | lanes << 8 * (kind - 1) end
  gpu:launch(self.kernels.draw_lines, {
    grid = size.ctas,
    block = threads,
    args = { gpu:upload(cold), gpu:upload(hot), sums, packed, cold_bits, hot_bits, size.rounds, size.cold_rounds },
  })

  local want = {}
  for thread = 0, count - 1 do
    local lane, lanes = thread % 32, cold_lanes[thread // 32 % 4 + 1]
    local is_cold = lane < lanes
    local from, shift = is_cold and cold or hot, 32 - (is_cold and cold_bits or hot_bits)
    local places, draw = {}, thread * 2654435769 & 0xffffffff
    for round = 1, lanes == 32 and size.cold_rounds or size.rounds do
      draw = draw * 1664525 + 1013904223 & 0xffffffff
      places[round] = (draw >> shift) * 32 + lane
    end
    want[thread + 1] = from:gather(ww.i32(places)):sum() & 0xffffffff
  end
  self:check("sums", gpu:download("u32", sums, count), ww.array_from("u32", want))
end

return hetero
