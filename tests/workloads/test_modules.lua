-- What host programs learn of a PTX module: its variables, its kernels' parameters and needs; PTX from memory.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local text = [[
.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 counter = 7;
.const .align 16 .b8 table[48];
.global .align 8 .b8 buffer[24];
.visible .entry first(.param .u8 small, .param .f64 real, .param .align 16 .b8 shape[20])
.maxntid 64, 2, 1
{
    .reg .u64 %rd<3>;
    .shared .align 4 .b8 tile[256];
    mov.u64 %rd1, counter;
    mov.u64 %rd2, tile;
    ret;
}
.visible .entry count()
{
    .reg .u32 %r<2>;
    ld.global.u32 %r1, [counter];
    add.u32 %r1, %r1, 1;
    st.global.u32 [counter], %r1;
    ret;
}
]]

local function load(module)
  local gpu = ww.build("gtx480"):gpu()
  return gpu, gpu:load(module)
end

harness.test("variables have address, bytes, space and alignment", function()
  local gpu, kernels, _, _, variables = load { text = text, name = "two.ptx" }
  harness.equal(#variables, 3)
  harness.equal(variables[2], variables.table)
  local counter = variables.counter
  harness.equal(counter.bytes, 4)
  harness.equal(counter.space, "global")
  harness.equal(counter.align, 4)
  harness.equal(variables.table.space, "const")
  harness.equal(variables.table.bytes, 48)
  harness.equal(variables.table.align, 16)
  harness.equal(gpu:read("u32", counter.address), 7)
  gpu:launch(kernels.count, { grid = 1, block = 1 })
  harness.equal(gpu:read("u32", counter.address), 8)
end)

harness.test("kernels say what they take and need", function()
  local _, kernels = load { text = text, name = "two.ptx" }
  local info = kernels.first:info()
  harness.equal(info.name, "first")
  harness.equal(info.max_threads, 128)
  harness.equal(info.shared, 256)
  harness.equal(info["local"], 0)
  harness.equal(info.constant, 48)
  harness.equal(info.refusal, nil)
  harness.equal(info.param_bytes, 36)
  local params = {}
  for i, p in ipairs(info.params) do params[i] = ("%s:%d:%d:%d:%s"):format(p.name, p.offset, p.bytes, p.align, p.type) end
  harness.equal(table.concat(params, " "), "small:0:1:1:integer real:8:8:8:float shape:16:20:16:bits")
  harness.equal(#kernels.count:info().params, 0)
  assert(kernels.count:info().registers > 0, "no register")
end)

harness.test("PTX text is given its name, and NULs are told", function()
  local function fails(module, ...)
    local ok, problem = pcall(load, module)
    assert(not ok, "no error")
    harness.contains(tostring(problem), ...)
  end
  fails({ text = text .. "nonsense", name = "mine.ptx" }, "mine.ptx:24: expected a directive")
  fails({ text = text:gsub("ret", "r\0t", 1), name = "mine.ptx" }, "mine.ptx:14: ")
  fails({ text = 7 }, "load: text: expected PTX text, got 7")
  fails({ txt = text }, "load: no field matches 'txt'; available: text, name")
  fails(7, "load: expected the path of a PTX file, { text =, name = }, or a list of such texts, got 7")
  load { text = text .. "\0\0" } -- as in a fat binary
end)

harness.test("texts of a program are linked", function()
  local head = ".version 7.0\n.target sm_70\n.address_size 64\n"
  local caller = head .. [[
.extern .global .u32 total;
.extern .func add(.param .b32 n);
.visible .entry run() { .reg .b32 %r<3>; mov.u32 %r1, 5; { .param .b32 p; st.param.b32 [p], %r1; call add, (p); } ret; }
]]
  local callee = head .. [[
.visible .global .u32 total = 30;
.visible .func add(.param .b32 n) { .reg .b32 %r<4>; ld.param.b32 %r1, [n]; ld.global.u32 %r2, [total];
add.u32 %r3, %r1, %r2; st.global.u32 [total], %r3; ret; }
]]
  local gpu, kernels, _, _, variables = load { { text = caller, name = "a.ptx" }, { text = callee, name = "b.ptx" } }
  gpu:launch(kernels.run, { grid = 1, block = 1 })
  harness.equal(gpu:read("u32", variables.total.address), 35)
  local ok, problem = pcall(load, { { text = callee, name = "b.ptx" }, { text = callee .. "x", name = "c.ptx" } })
  assert(not ok)
  harness.contains(tostring(problem), "c.ptx:4: 'total' is already declared in b.ptx:4")
  ok, problem = pcall(load, { { text = callee }, 5 })
  assert(not ok)
  harness.contains(tostring(problem), "load: expected { text =, name = }, got 5")
end)

harness.finish()
