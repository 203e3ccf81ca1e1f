-- --fast-forward: launches and CTAs without timing, and the machine that takes over.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local load = require "warpwright.load"
local ww = require "warpwright"

local home <const> = harness.folder()

local function run(name, options)
  local all = { config = "gtx480", workload = "spmv", size = "small", out = ("%s/%s"):format(home, name) }
  for key, value in pairs(options) do all[key] = value or nil end
  return ww.run(all), harness.read(all.out .. "/stats.txt")
end

harness.test("launches before the one in which timing begins cost nothing, and the others what they did", function()
  local whole, late = run("all", { workload = "lud" }), run("late", { workload = "lud", fast_forward = "launch=3" })
  assert(#whole.launches > 5)
  harness.equal(#late.launches, #whole.launches)
  for i, launch in ipairs(late.launches) do
    if i <= 3 then
      harness.equal(launch.cycles, 0, "launch " .. i - 1)
    else
      harness.equal(launch.warp_instructions, whole.launches[i].warp_instructions, "launch " .. i - 1)
      assert(launch.cycles > 0)
    end
  end
end)

harness.test("of a launch, the CTAs that had not ended have timing: half of them take about half of the time", function()
  local whole, half = run("whole", { workload = "sgemm" }), run("half", { workload = "sgemm", fast_forward = "cta=0.5" })
  assert(half.cycles > 0.35 * whole.cycles and half.cycles < 0.6 * whole.cycles, half.cycles .. " of " .. whole.cycles)
  local ctas, share = half.launches[1].ctas, half.warp_instructions / whole.warp_instructions
  assert(share > 0.3 and share <= 0.5, share)
  assert(half["sm[*].ctas_finished"] <= ctas // 2 + 1)
  harness.contains(harness.read(home .. "/half/provenance.txt"), "fast forward")
end)

harness.test("all policies take over, and every workload's results are right", function()
  for _, policy in ipairs { "gto", "ccws", "mascar", "medic", "two_level", "owl", "eaf" } do
    local r = run("policy", { policy = policy, fast_forward = "cta=0.5" })
    assert(r.checks > 0 and r.cycles > 0, policy)
  end
  local count = 0
  for _, name in ipairs(core.list_folder(core.home_path "workloads")) do
    local is_one, w = pcall(load.get, "workload", name)
    if is_one and w.sizes.small then
      local ok, r = pcall(run, "workload", { workload = name, fast_forward = "cta=0.4" })
      assert(ok, name .. ": " .. tostring(r))
      count = count + 1
    end
  end
  assert(count > 50, count)
end)

harness.test("the statistics are the same in any order, on any threads, and from checkpoints behind the hand-over", function()
  local how = { workload = "kmeans", policy = "ccws", fast_forward = "launch=1,cta=0.5" }
  local function with(name, more)
    local options = {}
    for key, value in pairs(how) do options[key] = value end
    for key, value in pairs(more) do options[key] = value end
    return select(2, run(name, options))
  end
  local plain = with("plain", { checkpoint_at = "1,4000" })
  for _, more in ipairs { { order = "reversed" }, { order = "shuffled:5" }, { threads = 2 } } do
    harness.equal(with("other", more), plain)
  end
  for _, file in ipairs(core.list_folder(home .. "/plain")) do
    if file:find "%.ckpt$" then
      ww.run { resume = home .. "/plain/" .. file, out = home .. "/resumed" }
      harness.equal(harness.read(home .. "/resumed/stats.txt"), plain, file)
    end
  end
end)

harness.test("what is wrong with it is said", function()
  for _, text in ipairs { "", "launch", "launch=-1", "launch=1.5", "cta=2", "cta=0.5,cta=0.5", "cycles=3", "launch=1;cta=0.5" } do
    local _, problem = pcall(ww.run, { config = "gtx480", workload = "vecadd", size = "small", out = false, fast_forward = text })
    harness.contains(tostring(problem), "fast_forward: expected launch=N, the launch from which on there is timing", text)
  end
end)

harness.test("a fault before there is timing is one of the launch, and the machine goes on", function()
  local sim = ww.build("gtx480", { memory = 1 << 20 })
  local gpu = sim:gpu()
  local kernels = gpu:load { name = "fault.ptx", text = [[
.version 6.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 bad)
{
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r1, [bad]; mov.u32 %r2, %ctaid.x;
  setp.eq.u32 %p1, %r1, %r2; @%p1 mov.u64 %d1, 16;
  st.global.u32 [%d1], %r2;
  ret;
}
]] }
  local out = gpu:alloc(256)
  local function launch(bad) return gpu:try_launch(kernels.k, { grid = 400, block = 32, args = { out, bad }, forward = 200 }) end
  local _, fault = launch(50)
  harness.equal(fault.kind, "out of bounds")
  harness.equal(table.concat(fault.cta, " "), "50 0 0")
  local result, none = launch(1000)
  harness.equal(none, nil)
  assert(result.cycles > 0)
  local _, late = launch(399)
  harness.equal(table.concat(late.cta, " "), "399 0 0")
end)

harness.finish()
