-- The runs whose checkpoints fuzz_resume forges: small machines of every kind, under policies of every kind, in the middle of
-- kernels that use all that a kernel can. Returns functions for the target.
local ww = require "warpwright"
local core = require "warpwright.core"

-- Host programs --------------------------------------------------------------------------------------------------------

local busy = [[
.version 6.0
.target sm_20
.address_size 64
.visible .entry busy(.param .u64 in, .param .u64 out, .param .u32 turns)
{
    .reg .b32 %r<24>;
    .reg .b64 %d<12>;
    .reg .pred %p<6>;
    .shared .align 4 .b8 tile[512];
    .local .align 8 .b8 depot[32];
    ld.param.u64 %d1, [in];
    ld.param.u64 %d2, [out];
    ld.param.u32 %r1, [turns];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mad.lo.u32 %r4, %r3, 96, %r2;
    and.b32 %r5, %r4, 1023;
    mul.wide.u32 %d3, %r5, 4;
    add.u64 %d4, %d1, %d3;
    mul.wide.u32 %d5, %r4, 4;
    add.u64 %d6, %d2, %d5;
    mov.u64 %d7, tile;
    mul.wide.u32 %d8, %r2, 4;
    add.u64 %d9, %d7, %d8;
    and.b32 %r6, %r2, 7;
    mov.u32 %r7, 0;
again:
    ld.global.u32 %r8, [%d4];
    add.u32 %r8, %r8, %r7;
    st.local.u32 [depot+8], %r8;
    st.shared.u32 [%d9], %r8;
    bar.sync 0;
    ld.shared.u32 %r9, [%d9];
    atom.shared.add.u32 %r10, [tile], 1;
    setp.lt.u32 %p1, %r6, %r7;
    @%p1 bra skip;
    mul.wide.u32 %d10, %r9, 4;
    and.b64 %d10, %d10, 4092;
    add.u64 %d10, %d1, %d10;
    ld.global.u32 %r11, [%d10];
    ld.local.u32 %r12, [depot+8];
    add.u32 %r11, %r11, %r12;
    st.global.u32 [%d6], %r11;
    atom.global.add.u32 %r13, [%d2], 1;
    red.global.add.u32 [%d2+8], 1;
skip:
    setp.gt.u32 %p2, %r8, 100;
    bar.red.popc.u32 %r14, 1, %p2;
    membar.gl;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p3, %r7, %r1;
    @%p3 bra again;
    cvt.rn.f32.u32 %r15, %r7;
    sqrt.approx.f32 %r16, %r15;
    st.global.u32 [%d6], %r16;
    ret;
}
]]

local ctas <const>, threads <const>, words <const> = 12, 96, 1024

local mixed = ww.workload "mixed" { ptx = busy, sizes = { small = { turns = 12 } } }
function mixed:run(gpu, size)
  local values = ww.array("u32", words):random(1, 0, 1000)
  local a, out = gpu:upload(values), gpu:alloc(4 * ctas * threads)
  gpu:fill(out, 0, 4 * ctas * threads)
  for _ = 1, 2 do
    gpu:launch(self.kernels.busy, { grid = ctas, block = threads, args = { a, out, size.turns } })
    gpu:download("u32", out, ctas * threads)
  end
end

--- A workload whose PTX lies with the end-to-end tests.
local function with_ptx(name, ptx, run)
  local path = core.real_path(core.home_path("tests/kernels/" .. ptx))
  local w = ww.workload(name) { ptx = path, sizes = { small = {} } }
  w.run = run
  return w
end

local textures = with_ptx("textures", "texture_kernel.ptx", function(self, gpu)
  local n, side = 2048, 32
  local index, out = ww.array("i32", n):random(2, 0, n - 1), gpu:alloc(4 * n)
  local texture = gpu:texture { buffer = gpu:upload(ww.array("i32", n):random(1, -1000, 1000)), format = "s32", width = n }
  gpu:bind_texture(self.kernels, "table", texture)
  gpu:launch(self.kernels.gather, { grid = n // 128, block = 128, args = { out, gpu:upload(index), n } })
  local image = gpu:texture { buffer = gpu:upload(ww.array("f32", side * side):random(3, -1, 1)), format = "f32", width = side,
    height = side, filter = "linear" }
  gpu:launch(self.kernels.scale, { grid = 8, block = 128, args = { out, image, side, 1.0, 0.1875 } })
end)

local transfers = with_ptx("transfers", "dma_kernel.ptx", function(self, gpu)
  local from, to = gpu:upload(ww.array("u8", 65536):random(1, 0, 255)), gpu:alloc(4 * 1024 * 24)
  for _, t in ipairs { { 2, 4, 16, 16, 40, 0, 0, 1, 1, 5, 7, 0 }, { 1, 4, 1, 100, 3, 8, 4, 0, 0, 0, 0, 0 } } do
    local struct = ww.array("u32", 12)
    for i, value in ipairs(t) do struct[i - 1] = value end
    gpu:launch(self.kernels.transfer, { grid = 6, block = 96, args = { from + 4096, to, 4, 320, struct } })
  end
end)

-- Machines and policies ------------------------------------------------------------------------------------------------

local small <const> = { sms = 2, partitions = 2 }

--- { config, policy or false, workload, overrides, cycle }
local runs = {
  { "gtx480", false, mixed, {}, 900 },
  { "gtx480", "lrr", mixed, { ["sm[*].l1d.mshrs"] = 4, ["l2[*].mshrs"] = 4 }, 2500 },
  { "gtx480_gpgpusim4", "two_level", mixed, {}, 3000 },
  { "gtx480_gpgpusim4", false, textures, {}, 1500 },
  { "gtx480_d2ma", false, transfers, {}, 1200 },
  { "gtx480_d2ma", false, transfers, {}, 2600 },
  { "gtx480_mascar", "mascar", mixed, { ["sm[*].l1d.mshrs"] = 4 }, 1500 },
  { "gtx480_mascar", "mascar+dwt_pric", mixed, { ["sm[*].l1d.mshrs"] = 4 }, 2500 },
  { "gtx480", "mrpb", mixed, {}, 1800 },
  { "gtx480", "ccws", mixed, { ["sm[*].l1d.size"] = 1024, ["sm[*].l1d.ways"] = 2 }, 2500 },
  { "gtx480", "pcal+locality", mixed, {}, 2200 },
  { "medic", "medic", mixed, { ["l2[*].size"] = 16384 }, 2600 },
  { "medic", "pc_byp+l2_delays", mixed, { ["l2[*].size"] = 16384 }, 1500 },
  { "gtx480", "eaf+rand_byp", mixed, { ["l2[*].size"] = 8192, ["l2[*].ways"] = 4 }, 2500 },
  { "gtx480", "owl+stream_bypass", mixed, {}, 2000 },
  { "gtx480", "dwt_cs", mixed, {}, 2000 },
  { "gtx480", "unbounded", mixed, {}, 1500 },
  { "fx5800_l1", "swl", mixed, {}, 3000 },
  { "gtx480", "perfect", mixed, {}, 1500 },
  { "gtx480", "gto_in_lua+fcfs_in_lua", mixed, {}, 1500 },
  { "gtx480_lua_classes", false, mixed, { ["sm[*].l1d.size"] = 1024, ["sm[*].l1d.ways"] = 2, ["sm[*].shaper.rate"] = 64 }, 900 },
  { "gtx480_lua_classes", "ccws", mixed, { ["sm[*].l1d.size"] = 1024, ["sm[*].l1d.ways"] = 2, ["sm[*].shaper.rate"] = 64 }, 2500 },
}

local function build(run)
  local set = {}
  for name, value in pairs(small) do set[name] = value end
  for name, value in pairs(run[4]) do set[name] = value end
  return ww.build(run[1], { policy = run[2] or nil, set = set, memory = "1MiB" })
end

local target = {}

--- How many there are.
function target.count() return #runs end

--- Makes the checkpoint of a run; returns the cycle.
function target.save(i, path)
  local sim = build(runs[i])
  sim:start(runs[i][3], "small")
  sim:run { until_cycle = runs[i][5] }
  sim:checkpoint(path)
  local cycle = sim:result().cycles
  sim:close()
  return cycle
end

--- A machine that is about to resume.
function target.prepare(i) return { sim = build(runs[i]), run = runs[i] } end

--- Goes on from a file for some cycles. Returns nil, or the error that it came to.
function target.resume(prepared, path, allow_changes)
  local sim = prepared.sim
  local ok, problem = pcall(function()
    sim:resume(path, { allow_changes = allow_changes })
    sim:start(prepared.run[3], "small")
    sim:run { until_cycle = prepared.run[5] + 4000 }
    sim:result()
  end)
  sim:close()
  return not ok and tostring(problem) or nil
end

--- What `warpwright inspect` reads.
function target.inspect(path)
  local ok, problem = pcall(core.inspect_checkpoint, path)
  return not ok and tostring(problem) or nil
end

return target
