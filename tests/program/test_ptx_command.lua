-- `warpwright ptx`: what kernels need, why some cannot run, and the table of several files.
local harness = require "tests.lib.harness"

local head = ".version 7.0\n.target sm_70\n.address_size 64\n"
local good = harness.write("good.ptx", head .. [[
.const .u32 c[3];
.entry k(.param .u64 p, .param .u32 n) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>; .shared .u32 s[8]; .local .u32 l[4];
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r1; ret;
}
]])
local bad = harness.write("bad.ptx", head .. ".entry a() { ret; }\n.entry b() { frobnicate.b32 1;\nsuldy 2; ret; }\n")
local broken = harness.write("broken.ptx", head .. ".entry a() {\n")

local function run(...)
  local pipe = assert(io.popen(("'%s' ptx '%s' 2>&1; echo status $?"):format(arg[-1], table.concat({ ... }, "' '"))))
  local text = pipe:read "a"
  pipe:close()
  return text
end

harness.test("a file's kernels are listed with what they need", function()
  local text = run(good)
  harness.contains(text, "good.ptx: 1 kernel\n", "k: can run", "32 shared, 16 local, 12 constant, 12 of parameters",
    "5 instructions: st 2, ld 1, mov 1, ret 1", "status 0")
end)

harness.test("kernels that cannot run say why", function()
  harness.contains(run(bad), "a: can run", "b: cannot run", "bad.ptx:5: frobnicate.b32 1: opcode 'frobnicate' is not supported",
    "bad.ptx:6: suldy 2", "status 1")
  harness.contains(run(broken), "expected a '}' that closes", "status 2")
  harness.contains(run(harness.folder() .. "/none.ptx"), "none.ptx", "status 2")
end)

harness.test("several files are summed up", function()
  local text = run(good, bad, broken, bad)
  harness.contains(text, "good.ptx: 1 of 1 kernel can run", "bad.ptx: 1 of 2 kernels can run", "broken.ptx: cannot be loaded",
    "modules that load:    3 of 4 (75.0%)", "kernels that can run: 3 of 5 (60.0%)", "     2  opcode 'frobnicate' is not supported",
    "     1  expected a '}' that closes", "status 1")
end)

harness.finish()
