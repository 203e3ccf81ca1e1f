-- A kernel that fetches from textures, bound to a .texref and passed as a handle: right results on machines with and
-- without a texture cache, the same stats in any tick order and on two threads, and errors that say what is wrong.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local textures = require "tests.kernels.texture_kernel"

local elements <const>, side <const> = textures.sizes.small.elements, textures.sizes.small.side

local function run(config, order, threads)
  return ww.run {
    config = config, workload = textures, order = order, threads = threads, set = { sms = 2 },
    out = ("%s/%s-%s-%d"):format(harness.folder(), config, order, threads),
  }
end

for _, config in ipairs { "gtx480", "gtx480_gpgpusim4" } do
  harness.test("textures on " .. config, function()
    local r = run(config, "path", 1)
    local stats = harness.read(r.out .. "/stats.txt")
    harness.equal(r.checks, 2, "checks")
    harness.equal(r["sm[*].lsu.texture_loads"], (elements + 31) // 32 + (side * textures.zoom) ^ 2 // 32, "texture fetches")
    assert(r["sm[*].texture_cache.hits"] > 0 and r["sm[*].texture_cache.misses"] > 0, "the texture cache was not used")
    for _, other in ipairs { { "reversed", 1 }, { "shuffled:7", 1 }, { "path", 2 } } do
      local order, threads = table.unpack(other)
      assert(harness.read(run(config, order, threads).out .. "/stats.txt") == stats,
        ("stats.txt differs in order %s on %d threads"):format(order, threads))
    end
  end)
end

harness.test("without a texture cache, fetches go to the L1", function()
  local m = ww.machine("no_texture_cache", function(m)
    m:clocks { core = "700MHz", dram = "924MHz" }
    local dispatcher = m:Dispatcher "dispatcher" { sms = 1 }
    m:AddressMap "map" { channels = 1 }
    local sm = m:SM "sm" {}
    local l1 = m:L1(sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
    local l2 = m:L2 "l2" { size = "128KiB", ways = 16, mshrs = 32 }
    local mc = m:MemoryController "mc" { clock = "dram" }
    m:wire(dispatcher.sm[0], sm.dispatch)
    m:wire(sm.lsu.mem, l1.cpu)
    m:wire(l1.mem, l2.cpu)
    m:wire(l2.mem, mc.cpu[0])
  end)
  local r = ww.run { config = m, workload = textures, out = false }
  harness.equal(r.checks, 2, "checks")
  assert(r["sm.lsu.texture_loads"] > 0)
end)

-- Errors -------------------------------------------------------------------------------------------------------------

--- The message of the error in which `body(gpu, kernels)` ends.
local function failure(body)
  local sim = ww.build("gtx480", { set = { sms = 1 } })
  local gpu = sim:gpu()
  local ok, problem = pcall(body, gpu, gpu:load("tests/kernels/texture_kernel.ptx"))
  sim:close()
  assert(not ok, "there was no error")
  return tostring(problem)
end

local function fails(name, texts, body)
  harness.test(name, function() harness.contains(failure(body), table.unpack(texts)) end)
end

--- A texture of 64 texels in which `changes` replace what is legal.
local function make(gpu, changes)
  local texture = { buffer = gpu:alloc(4096), format = "f32", width = 64 }
  for key, value in pairs(changes) do texture[key] = value end
  return gpu:texture(texture)
end

local function refused(name, changes, texts)
  fails(name, texts, function(gpu) make(gpu, changes) end)
end

refused("a texture of no known key", { widht = 3 }, { "'widht'", "width" })
refused("a texture of no known format", { format = "f64" }, { "format: expected one of u8, ", "got 'f64'" })
refused("a texture of three channels", { channels = 3 }, { "channels: expected 1, 2 or 4, got 3" })
refused("a texture without width", { width = 0 }, { "got 0 x 1" })
refused("a texture larger than its buffer", { height = 17 }, { "4352 bytes", "expected bytes inside an allocation" })
refused("a pitch that is too small", { height = 2, pitch = 252 }, { "pitch: expected 256", "got 252" })
refused("linear filtering of integers", { format = "s32", filter = "linear" }, { "filter: expected point for format s32", "got linear" })
refused("sRGB of halfwords", { format = "u16", read = "srgb" }, { "got u16", "expected u8 with read = srgb" })
refused("normalized floats of words", { format = "u32", read = "normalized_float" }, { "got u32", "u8, s8, u16 or s16" })
refused("wrap without normalized coordinates", { address = "wrap" }, { "address: expected clamp or border", "got wrap" })
refused("a flag that is none", { normalized = 1 }, { "normalized: expected true or false, got 1" })
fails("a texture of nothing", { "buffer: expected a value, got nothing" }, function(gpu) gpu:texture { format = "u8", width = 1 } end)

fails("no texture of that name", { "texture_kernel.ptx", "'tabel'", "table, unused" }, function(gpu, kernels)
  gpu:bind_texture(kernels.gather, "tabel", make(gpu, {}))
end)
fails("a handle that is none", { "a handle from gpu:texture", "77" }, function(gpu, kernels)
  gpu:bind_texture(kernels, "table", 77)
end)
fails("kernels that are none", { "a kernel", "self.kernels" }, function(gpu)
  gpu:bind_texture("gather", "table", make(gpu, {}))
end)

local function launch_gather(gpu, kernels)
  local index = gpu:upload(ww.array("i32", 64):fill(1000))
  gpu:launch(kernels.gather, { grid = 1, block = 64, args = { gpu:alloc(256), index, 64 } })
end

fails("a fetch from a texture that nobody bound",
  { "kernel gather, PTX line 27", "no texture is bound to handle 0x1", "CTA (0, 0, 0)" }, launch_gather)
fails("a fetch from a buffer that is gone", { "kernel gather, PTX line 27", "out of bounds at address 0xc0000fa0" },
  function(gpu, kernels)
    local buffer = gpu:alloc(4096)
    gpu:bind_texture(kernels.gather, "table", gpu:texture { buffer = buffer, format = "s32", width = 1024 })
    gpu:free(buffer)
    launch_gather(gpu, kernels)
  end)
fails("a pointer where a handle is expected", { "kernel scale, PTX line 54", "no texture is bound to handle 0xc0000000" },
  function(gpu, kernels)
    local out = gpu:alloc(4096)
    gpu:launch(kernels.scale, { grid = 1, block = 32, args = { out, out, 32, 1.0, 0.0 } })
  end)

local function bad_ptx(name, statement, texts)
  fails(name, texts, function(gpu)
    gpu:load(harness.write("bad.ptx", [[
.version 7.0
.target sm_30
.address_size 64
.global .texref t;
.global .surfref s;
.visible .entry k() {
  .reg .b32 %r<9>; .reg .f32 %f<9>;
  ]] .. statement .. "\n  ret;\n}\n"))
  end)
end

bad_ptx("a multi-sample texture", "tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1, %r2, %r3, %r3}];",
  { "bad.ptx:8", "multi-sample textures are not supported" })
bad_ptx("an offset", "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}], {1, 2};",
  { "bad.ptx:8", "offsets and depth comparisons are not supported" })

refused("a volume of no depth", { depth = 0 }, { "expected a depth or layers of 1 to 16384, got 0" })
refused("a volume of too many slices", { depth = 16385 }, { "1 to 16384, got 16385" })
refused("a volume larger than its buffer", { depth = 17 }, { "4352 bytes", "expected bytes inside an allocation" })
refused("layers of no number", { layers = 0 }, { "expected a depth or layers of 1 to 16384, got 0" })
refused("layers and a depth", { layers = 2, depth = 2 }, { "depth: expected 1 or none with layers or cube, got 2" })
refused("slices that overlap", { depth = 2, slice = 252 }, { "slice: expected 256", "got 252" })
refused("a slice of half a texel", { depth = 2, slice = 258 }, { "slice: expected a multiple of the 4 bytes of a texel, got 258" })
refused("a cube that is none", { cube = true, width = 8, height = 4 }, { "cube: expected a width equal to the height, got 8 x 4" })
refused("an axis of no known address", { address = { "clamp", "wrapped" } }, { "address[2]: expected one of clamp, border", "got 'wrapped'" })
refused("an axis that wraps", { address = { "clamp", "wrap" } }, { "address: expected clamp or border", "got wrap" })

-- Shapes -------------------------------------------------------------------------------------------------------------

local shapes <const> = [[
.version 7.0
.target sm_30
.address_size 64
.visible .entry fetch(.param .u64 out, .param .u64 texture, .param .u32 layered) {
  .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<5>; .reg .pred %p;
  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [texture]; ld.param.u32 %r1, [layered];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y; mov.u32 %r4, %tid.z; cvta.to.global.u64 %d1, %d1;
  setp.ne.u32 %p, %r1, 0;
  @%p tex.a2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d2, {%r4, %r2, %r3, %r3}];
  @!%p tex.3d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d2, {%r2, %r3, %r4, %r4}];
  mad.lo.u32 %r5, %r4, 4, %r3; mad.lo.u32 %r5, %r5, 8, %r2; mul.wide.u32 %d3, %r5, 4; add.u64 %d1, %d1, %d3;
  st.global.f32 [%d1], %f1;
  ret;
}
]]

--- What 8 x 4 x 3 threads fetch from a texture of so many slices, on both kinds of machine.
local function fetched(config, keys, order)
  local sim = ww.build(config, { set = { sms = 1 }, order = order })
  local gpu = sim:gpu()
  local values = ww.array("f32", 8 * 4 * 3):random(5, -1, 1)
  local texture = { buffer = gpu:upload(values), format = "f32", width = 8, height = 4 }
  for key, value in pairs(keys) do texture[key] = value end
  local out = gpu:alloc(4 * #values)
  local result = gpu:launch(gpu:load { text = shapes, name = "shapes" }.fetch,
    { grid = 1, block = { 8, 4, 3 }, args = { out, gpu:texture(texture), keys.layers and 1 or 0 } })
  local back = gpu:download("f32", out, #values)
  sim:close()
  return values, back, result.cycles
end

for _, keys in ipairs { { depth = 3 }, { layers = 3 } } do
  harness.test("fetches from " .. (keys.depth and "slices" or "layers"), function()
    local values, back, cycles = fetched("gtx480", keys, "path")
    for i = 0, #values - 1 do harness.equal(back[i], values[i], "texel " .. i) end
    local _, _, others = fetched("gtx480", keys, "reversed")
    harness.equal(others, cycles, "cycles in reversed order")
  end)
end

harness.finish()
