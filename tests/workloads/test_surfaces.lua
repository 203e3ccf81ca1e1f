-- Surfaces: bytes of textures by coordinates, loaded, stored and reduced in each shape, width and mode.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local width <const>, height <const>, slices <const> = 8, 4, 3
local head <const> = [[
.version 7.0
.target sm_30
.address_size 64
.global .surfref bound;
.visible .entry k(.param .u64 out, .param .u64 surface) {
  .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %d<9>;
  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [surface]; cvta.to.global.u64 %d1, %d1;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; shl.b32 %r4, %r1, 2;
  mad.lo.u32 %r5, %r3, 4, %r2; mad.lo.u32 %r5, %r5, 8, %r1; mul.wide.u32 %d3, %r5, 16; add.u64 %d1, %d1, %d3;
]]

--- Runs `body` with a thread for each of `block`; the surface has words i. Returns what is in `out` (16 bytes a thread) and
--- in the surface, as words, and the launch's result.
local function run(body, block, keys, order)
  keys = keys or {}
  local sim = ww.build("gtx480", { set = { sms = 1 }, order = order or "path" })
  local gpu = sim:gpu()
  local count = width * height * slices
  local words = ww.array("u32", count)
  for i = 0, count - 1 do words:set(i, i) end
  local buffer, out = gpu:upload(words), gpu:alloc(16 * count)
  local texture = { buffer = buffer, format = "u32", width = width, height = height, depth = slices }
  for key, value in pairs(keys) do texture[key] = value end
  if texture.layers then texture.depth = nil end
  local handle = gpu:texture(texture)
  gpu:fill(out, 0xee, 16 * count)
  local ok, result = pcall(function()
    local kernels = gpu:load { text = head .. body .. "\n ret;\n}\n", name = "surface" }
    gpu:bind_texture(kernels, "bound", handle)
    return gpu:launch(kernels.k, { grid = 1, block = block, args = { out, handle } })
  end)
  local stored, surface
  if ok then stored, surface = gpu:download("u32", out, 4 * count), gpu:download("u32", buffer, count) end
  sim:close()
  return stored, surface, ok and result or tostring(result)
end

local function equal(array, first, want, name)
  for i, value in ipairs(want) do harness.equal(array[first + i - 1], value, ("%s, word %d"):format(name, first + i - 1)) end
end

harness.test("loads of every shape", function()
  for _, case in ipairs {
    { "suld.b.1d.b32.trap {%r6}, [%d2, {%r4}];", function(x) return x end },
    { "suld.b.2d.b32.trap {%r6}, [bound, {%r4, %r2}];", function(x, y) return y * 8 + x end },
    { "suld.b.3d.b32.trap {%r6}, [bound, {%r4, %r2, %r3, %r3}];", function(x, y, z) return z * 32 + y * 8 + x end },
    { "suld.b.a2d.cg.b32.trap %r6, [%d2, {%r3, %r4, %r2, %r2}];", function(x, y, z) return z * 32 + y * 8 + x end, { layers = 3 } },
    { "suld.b.a1d.b32.trap {%r6}, [bound, {%r3, %r4}];", function(x, _, z) return z * 32 + x end, { layers = 3 } },
  } do
    local stored = run(case[1] .. " st.global.u32 [%d1], %r6;", { 8, 4, 3 }, case[3])
    for i = 0, 95 do harness.equal(stored[4 * i], case[2](i % 8, i // 8 % 4, i // 32), case[1] .. i) end
  end
end)

harness.test("loads and stores of every width", function()
  local stored = run([[
    suld.b.2d.v4.b32.trap {%r6, %r7, %r8, %r9}, [%d2, {16, 1}]; st.global.v4.u32 [%d1], {%r6, %r7, %r8, %r9};]], 1)
  equal(stored, 0, { 12, 13, 14, 15 }, "v4.b32")
  stored = run([[
    suld.b.2d.v2.b64.trap {%d4, %d5}, [%d2, {16, 1}]; st.global.v2.u64 [%d1], {%d4, %d5};]], 1)
  equal(stored, 0, { 12, 13, 14, 15 }, "v2.b64")
  stored = run([[
    suld.b.2d.v4.b8.trap {%h1, %h2, %h3, %h4}, [%d2, {4, 1}]; st.global.v4.u16 [%d1], {%h1, %h2, %h3, %h4};
    suld.b.2d.v2.b16.trap {%h1, _}, [%d2, {4, 1}]; st.global.u16 [%d1+8], %h1;]], 1)
  equal(stored, 0, { 9, 0, 0xeeee0009 }, "b8, b16")
  local _, surface = run([[
    mov.u32 %r6, 0x01020304; mov.u32 %r7, 7; mov.u64 %d4, 0x1122334455667788; mov.u16 %h1, 0xabcd;
    sust.b.3d.v4.b32.trap [%d2, {16, 1, 2, 2}], {%r6, %r7, %r6, %r7};
    sust.b.3d.cs.b64.trap [%d2, {0, 1, 2, 2}], %d4;
    sust.b.2d.b8.trap [bound, {1, 0}], %h1; sust.b.2d.v2.b16.trap [bound, {4, 0}], {%h1, %h1};]], 1)
  equal(surface, 76, { 0x01020304, 7, 0x01020304, 7 }, "v4.b32")
  equal(surface, 72, { 0x55667788, 0x11223344, 74 }, "b64")
  equal(surface, 0, { 0xcd00, 0xabcdabcd, 2 }, "b8, b16")
end)

harness.test("coordinates beyond the edges", function()
  local body = [[
    mov.u32 %r6, 77; sub.s32 %r7, %r4, 8;
    suld.b.1d.b32.MODE {%r6}, [%d2, {%r7}]; st.global.u32 [%d1], %r6; sust.b.2d.b32.MODE [%d2, {%r7, 1}], 99;]]
  local stored, surface = run((body:gsub("MODE", "zero")), 12)
  for i = 0, 11 do harness.equal(stored[4 * i], (i >= 2 and i < 10) and i - 2 or 0, "zero, load " .. i) end
  equal(surface, 7, { 7, 99, 99, 99, 99, 99, 99, 99, 99, 16 }, "zero, store")
  stored, surface = run((body:gsub("MODE", "clamp")), 12)
  for i = 0, 11 do harness.equal(stored[4 * i], math.max(0, math.min(7, i - 2)), "clamp, load " .. i) end
  equal(surface, 7, { 7, 99, 99, 99, 99, 99, 99, 99, 99, 16 }, "clamp, store")
  stored = run("suld.b.2d.v4.b32.clamp {%r6, %r7, %r8, %r9}, [%d2, {24, -3}]; st.global.u32 [%d1], %r6;", 1, { width = 7 })
  harness.equal(stored[0], 0, "the last aligned place of a row")
  local _, _, problem = run((body:gsub("MODE", "trap")), 12)
  harness.contains(problem, "kernel k", "a coordinate beyond the edges of the surface of handle 0x", "thread (0, 0, 0)")
  for _, statement in ipairs { "suld.b.a1d.b32.trap {%r6}, [%d2, {3, 0}];", "suld.b.2d.b32.trap {%r6}, [%d2, {0, 4}];",
    "suld.b.3d.b32.trap {%r6}, [%d2, {0, 0, -1, 0}];", "suld.b.1d.b32.trap {%r6}, [%d2, {29}];" } do
    _, _, problem = run(statement, 1)
    harness.contains(problem, "beyond the edges")
  end
  _, _, problem = run("suld.b.1d.v2.b32.trap {%r6, %r7}, [%d2, {4}];", 1)
  harness.contains(problem, "misaligned access to address 0x")
  _, _, problem = run("suld.b.1d.b32.trap {%r6}, [%d2, {2}];", 1)
  harness.contains(problem, "misaligned access to address 0x")
  _, _, problem = run("suld.b.1d.b32.trap {%r6}, [%d1, {0}];", 1)
  harness.contains(problem, "no texture is bound to handle 0x")
end)

harness.test("reductions, and what a thread loads behind them", function()
  for _, order in ipairs { "path", "reversed" } do
    local stored, surface = run([[
      sured.b.add.2d.u32.trap [%d2, {4, 1}], %r1; sured.b.max.2d.s32.trap [bound, {8, 1}], %r1;
      sured.b.min.1d.u64.zero [%d2, {24}], 5; sured.b.or.3d.b32.clamp [%d2, {12, 1, 0, 0}], 0x100;
      sured.b.add.1d.u32.zero [%d2, {32}], 1;
      suld.b.2d.b32.trap {%r6}, [%d2, {12, 1}]; st.global.u32 [%d1], %r6;]], 32, nil, order)
    equal(surface, 8, { 8, 9 + 31 * 16, 31, 11 + 0x100 }, "u32, s32, b32")
    equal(surface, 6, { 5, 0 }, "u64")
    for i = 0, 31 do harness.equal(stored[4 * i], 11 + 0x100, "thread " .. i) end
  end
end)

harness.test("a later launch's texture sees what a surface stored", function()
  local sim = ww.build("gtx480", { set = { sms = 2 } })
  local gpu = sim:gpu()
  local image, out = gpu:alloc(4 * 8 * 4), gpu:alloc(4 * 8 * 4)
  gpu:fill(image, 0, 4 * 8 * 4)
  local handle = gpu:texture { buffer = image, format = "u32", width = 8, height = 4 }
  local kernels = gpu:load { text = head .. [[
    tex.2d.v4.u32.s32 {%r6, %r7, %r8, %r9}, [%d2, {%r1, %r2}];
    mul.wide.u32 %d3, %r5, 4; ld.param.u64 %d1, [out]; add.u64 %d1, %d1, %d3; st.global.u32 [%d1], %r6;
    add.u32 %r6, %r5, 1000; sust.b.2d.b32.trap [%d2, {%r4, %r2}], %r6;
    ret;
}]], name = "both" }
  local launch = { grid = 1, block = { 8, 4 }, args = { out, handle } }
  gpu:launch(kernels.k, launch)
  local first = gpu:download("u32", out, 32)
  gpu:launch(kernels.k, launch)
  local second = gpu:download("u32", out, 32)
  sim:close()
  for i = 0, 31 do
    harness.equal(first[i], 0, "first launch, texel " .. i)
    harness.equal(second[i], 1000 + i, "second launch, texel " .. i)
  end
end)

for _, case in ipairs {
  { "sust.p.1d.b32.trap [%d2, {%r1}], {%r2};", "formatted accesses are not supported" },
  { "suld.b.cube.b32.trap {%r1}, [%d2, {%r1}];", "expected .1d, .2d, .3d, .a1d or .a2d" },
  { "suld.b.1d.v4.b64.trap {%d1, %d2, %d3, %d4}, [%d2, {%r1}];", "of 16 bytes at most" },
  { "suld.b.1d.b32 {%r1}, [%d2, {%r1}];", "expected .trap, .clamp or .zero" },
  { "suld.b.2d.b32.trap {%r1}, [%d2, {%r1}];", "expected a coordinate for each dimension" },
  { "suld.b.1d.b64.trap {%r1}, [%d2, {%r1}];", "registers of the width of its values" },
  { "sust.b.1d.v2.b32.trap [%d2, {%r1}], {%r1};", "expected a value for each element" },
  { "suld.b.1d.b32.trap {%r1}, [%r2, {%r1}];", "expected a handle of 64 bits" },
  { "suld.b.1d.b32.trap {%r1}, [%d2+8, {%r1}];", "expected a handle without an offset" },
  { "sured.b.add.1d.s64.trap [%d2, {%r1}], %d1;", "expected .add, .min or .max" },
  { "sured.b.and.1d.u32.trap [%d2, {%r1}], %r1;", "expected .add, .min or .max" },
  { "suld.b.1d.b32.trap.ca {%r1}, [%d2, {%r1}];", "expected .trap, .clamp or .zero behind the type" },
} do
  local statement, reason = table.unpack(case)
  harness.test("refused: " .. statement, function()
    local _, _, problem = run(statement, 1)
    harness.contains(problem, reason)
  end)
end

harness.finish()
