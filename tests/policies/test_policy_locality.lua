-- Locality accounting: where the hits come from, of kernels of which that is known.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local ww = require "warpwright"

local unbounded = "gto+unbounded:l1_lines=8192,l2_lines=8192+locality"
local kinds = { "intra_thread", "inter_thread", "intra_cta", "intra_core", "inter_core", "inter_kernel", "other" }

local function expect(r, cache, wanted)
  for _, kind in ipairs(kinds) do
    local got = checks.sum(r, ("%s.reuse.%s_hits"):format(cache, kind)) + checks.sum(r, ("%s.reuse.%s_merges"):format(cache, kind))
    harness.equal(got, wanted[kind] or 0, ("%s, %s"):format(cache, kind))
  end
end

-- Each thread reads its line again and again; nobody else does. A store of a warp is all of a line that nobody has read.
harness.test("lines of one thread each are intra-thread", function()
  local r = checks.run { workload = checks.thrashing, policy = unbounded, set = { sms = 1 } }
  expect(r, "sm.l1d", { intra_thread = 16 * 32 * 99 })
end)

-- Kernel `reader`: word [tid xor flip] of the data is added into out[tid]. What a warp reads is one line.
local reader = harness.write("reader.ptx", [[
.version 6.4
.target sm_30
.address_size 64
.visible .entry reader(.param .u64 data, .param .u64 out, .param .u32 flip, .param .u32 span)
{
  .reg .u32 %r<10>;
  .reg .u64 %rd<10>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [flip];
  ld.param.u32 %r7, [span];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  xor.b32 %r6, %r5, %r1;
  and.b32 %r6, %r6, %r7;
  mul.wide.u32 %rd3, %r6, 4;
  add.u64 %rd4, %rd1, %rd3;
  ld.global.u32 %r8, [%rd4];
  mul.wide.u32 %rd5, %r5, 4;
  add.u64 %rd6, %rd2, %rd5;
  st.global.u32 [%rd6], %r8;
  ret;
}
]])

--- `flips`: one launch each. `span` + 1 words are read, by all.
local function readers(grid, block, span, flips)
  local workload = ww.workload "readers" { ptx = reader, sizes = { small = {} } }
  function workload:run(gpu)
    local words = ww.array("u32", grid * block):random(1, 0, 1000)
    local data, out = gpu:upload(words), gpu:alloc(4 * grid * block)
    for _, flip in ipairs(flips) do
      gpu:launch(self.kernels.reader, { grid = grid, block = block, args = { data, out, flip, span } })
    end
    local want, last = ww.array("u32", grid * block), flips[#flips]
    for i = 0, grid * block - 1 do want[i] = words[(i ~ last) & span] end
    self:check("out", gpu:download("u32", out, grid * block), want)
  end
  return workload
end

local function run(workload, sms)
  return checks.run { workload = workload, policy = unbounded, set = { sms = sms, ["l2[*].host_copies"] = "false" } }
end

harness.test("warps of a CTA that read one line", function()
  expect(run(readers(1, 128, 31, { 0 }), 1), "sm.l1d", { intra_cta = 3 })
end)

harness.test("CTAs of an SM that read one line", function()
  expect(run(readers(4, 32, 31, { 0 }), 1), "sm.l1d", { intra_core = 3 })
end)

-- The loads reach L2 by different ports; each stores a line of its own.
harness.test("SMs that read one line meet in L2", function()
  local r = run(readers(4, 32, 31, { 0 }), 4)
  expect(r, "sm.l1d", {})
  local l2 = checks.sum(r, "l2.reuse.inter_core_hits") + checks.sum(r, "l2.reuse.inter_core_merges")
  assert(l2 >= 3, ("%d inter-core"):format(l2))
end)

-- The second kernel finds in L2 what the first has read and stored, and nothing in L1.
harness.test("a kernel finds what the one before has left", function()
  local once, twice = run(readers(4, 32, 127, { 0 }), 1), run(readers(4, 32, 127, { 0, 32 }), 1)
  expect(twice, "sm.l1d", {})
  harness.equal(checks.sum(once, "l2.reuse.inter_kernel_hits"), 0, "first kernel")
  assert(checks.sum(twice, "l2.reuse.inter_kernel_hits") >= 8, "four lines read and four stored")
end)

harness.test("a bounded L1 keeps less of it", function()
  local bounded = checks.run { workload = "kmeans", policy = "gto+locality" }
  local all = checks.run { workload = "kmeans", policy = unbounded }
  local function intra(r) return checks.sum(r, "sm.l1d.reuse.intra_thread_hits") end
  assert(intra(bounded) < 0.7 * intra(all), ("%d of %d"):format(intra(bounded), intra(all)))
end)

for _, workload in ipairs { "kmeans", "bfs" } do checks.equals("gto+locality", "gto", workload) end
checks.equals("gto+locality:since=first", "gto", "spmv")
checks.law("gto+locality", "bfs")
checks.resumes("gto+locality", "kmeans", 3)
checks.takes_over("gto+locality", "gto", "kmeans", 20000)

harness.finish()
