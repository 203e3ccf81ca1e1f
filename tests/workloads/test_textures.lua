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

bad_ptx("a 3D texture", "tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6, %f7, %f7}];",
  { "bad.ptx:8", "3D textures are not supported" })
bad_ptx("a layered texture", "tex.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%r1, %f5, %f6, %f6}];",
  { "bad.ptx:8", "layered textures are not supported" })
bad_ptx("a cubemap", "tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6, %f7, %f7}];",
  { "bad.ptx:8", "cubemaps are not supported" })
bad_ptx("a mipmap", "tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}], %f7;",
  { "bad.ptx:8", "mipmaps are not supported" })
bad_ptx("a surface", "sust.b.1d.b32.trap [s, {%r1}], {%r2};", { "bad.ptx:8", "surfaces are not supported" })

harness.finish()
