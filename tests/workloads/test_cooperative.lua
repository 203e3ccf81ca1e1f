-- Cooperative launches: all CTAs run at once, and meet at a word of device memory whose address is in %envreg1 and 2.
local harness = require "tests.lib.harness"
local ww = require "warpwright"

-- The thread of each CTA adds 1 to the word and waits until all have; then it stores what it saw.
local text <const> = [[
.version 6.0
.target sm_60
.address_size 64
.visible .entry meet(.param .u64 out, .param .u32 count)
{
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
  mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %d1, {%r2, %r1};
  ld.param.u64 %d2, [out]; ld.param.u32 %r3, [count];
  mov.u32 %r4, %ctaid.x; mul.wide.u32 %d3, %r4, 4; add.u64 %d2, %d2, %d3;
  setp.eq.u64 %p1, %d1, 0; @%p1 bra done;
  atom.global.add.u32 %r5, [%d1+4], 1;
again:
  ld.volatile.global.u32 %r6, [%d1+4]; setp.lt.u32 %p2, %r6, %r3; @%p2 bra again;
  st.global.u32 [%d2], %r6;
done:
  ret;
}
]]

local function machine(order, source)
  local sim = ww.build("gtx480", { order = order, memory = 1 << 20 })
  local gpu = sim:gpu()
  local kernels = gpu:load { text = source or text, name = "meet.ptx" }
  return gpu, kernels.meet, gpu:alloc(4 * 200)
end

local function options(out, grid, cooperative)
  return { grid = grid, block = 1, args = { out, grid }, cooperative = cooperative }
end

harness.test("all CTAs of a cooperative launch meet, in any tick order", function()
  local cycles
  for _, order in ipairs { "path", "reversed" } do
    local gpu, meet, out = machine(order)
    local result = gpu:launch(meet, options(out, 120, true))
    for cta = 0, 119 do harness.equal(gpu:read("u32", out + 4 * cta), 120, "CTA " .. cta) end
    harness.equal(result.cycles, cycles or result.cycles, order)
    cycles = result.cycles
  end
end)

harness.test("without timing, too", function()
  local gpu, meet, out = machine()
  local how = options(out, 120, true)
  how.timed = false
  gpu:launch(meet, how)
  harness.equal(gpu:read("u32", out + 4 * 119), 120)
end)

harness.test("in a fast-forward, with more warps that wait in a loop than a load takes cycles", function()
  local gpu, meet, out = machine()
  local how = options(out, 120, true)
  how.forward, how.block = 60, 64
  how.args[2] = 64 * 120
  gpu:launch(meet, how)
  harness.equal(gpu:read("u32", out + 4 * 119), 64 * 120)
end)

harness.test("without timing, and with a barrier in the loop that waits, which is no reason to go on for ever", function()
  local gpu, meet, out = machine("path", (text:gsub("again:\n", "again:\n  bar.sync 0;\n")))
  local how = options(out, 120, true)
  how.timed, how.block = false, 64
  how.args[2] = 64 * 120
  gpu:launch(meet, how)
  harness.equal(gpu:read("u32", out + 4 * 119), 64 * 120)
end)

harness.test("more CTAs than run at once are refused, and nothing has happened", function()
  local gpu, meet, out = machine()
  local _, fault = gpu:try_launch(meet, options(out, 121, true))
  harness.equal(fault.message, "kernel meet: expected up to 120 CTAs in a cooperative launch (up to 8 on each of 15 SMs), got 121")
  gpu:launch(meet, options(out, 120, true))
end)

harness.test("other launches have no place to meet", function()
  local gpu, meet, out = machine()
  gpu:launch(meet, options(out, 200, false))
  harness.equal(gpu:read("u32", out), 0)
end)

-- Each CTA takes a while, and ends by itself.
local busy <const> = [[
.visible .entry busy(.param .u64 out, .param .u32 count)
{
  .reg .b32 %r<9>; .reg .pred %p<3>;
  ld.param.u32 %r1, [count];
again:
  div.u32 %r2, %r1, 3; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;
  ret;
}
]]

--- Of a machine with these parameters set: launches the kernels so that each joins those before it, { kernel, grid, block, count,
-- priority } each, and returns the ends of all.
local function in_flight(set, launches)
  local sim = ww.build("gtx480", { memory = 1 << 20, set = set })
  local gpu = sim:gpu()
  local kernels, results = gpu:load { text = text .. busy, name = "meet.ptx" }, {}
  local out = gpu:alloc(4 * 2000)
  gpu:set_cycle_limit(1000000)
  for i, of in ipairs(launches) do
    local is_meeting = of[1] == "meet"
    gpu:launch_async { { kernel = kernels[of[1]], grid = of[2], block = of[3], args = { out, of[4] }, priority = of[5],
      cooperative = is_meeting } }
    for number, result in pairs(gpu:wait(nil, 200)) do results[number + 1] = result end
    if i == #launches then
      for number, result in pairs(gpu:wait()) do results[number + 1] = result end
    end
  end
  return results, gpu, out
end

local function ends_of(result) return result.start_cycle + result.cycles end

local shares <const> = {
  {}, { "dispatcher.sharing=evenly" }, { "dispatcher.sharing=one_at_a_time" }, { "dispatcher.kernels_per_sm=4" },
  { "dispatcher.kernels_per_sm=4", "dispatcher.sharing=evenly" }, { "dispatcher.kernels_per_sm=2", "dispatcher.sharing=evenly" },
}

harness.test("a cooperative kernel runs beside others, which it lets in and which let it in, however SMs are shared", function()
  for _, set in ipairs(shares) do
    local results, gpu, out = in_flight(set, {
      { "busy", 40, 256, 40 }, { "meet", 120, 1, 120 }, { "busy", 60, 1024, 60 }, { "busy", 200, 64, 30, -1 },
    })
    for cta = 0, 119 do harness.equal(gpu:read("u32", out + 4 * cta), 120, table.concat(set, " ") .. ": CTA " .. cta) end
    harness.equal(#results, 4, "ends")
  end
end)

harness.test("cooperative kernels run one after the other, beside others", function()
  for _, set in ipairs(shares) do
    local results, gpu, out = in_flight(set, {
      { "busy", 40, 256, 40 }, { "meet", 100, 1, 100 }, { "busy", 60, 512, 20 }, { "meet", 110, 1, 210 }, { "busy", 400, 32, 9 },
      { "meet", 120, 1, 330, -1 },
    })
    harness.equal(gpu:read("u32", out + 4 * 119), 330, table.concat(set, " "))
    assert(results[4].start_cycle >= ends_of(results[2]) and results[6].start_cycle >= ends_of(results[4]), "they overlap")
  end
end)

harness.finish()
