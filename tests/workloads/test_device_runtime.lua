-- What kernels print, the heap of malloc, and failed assertions.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local head = [[
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.extern .func __assertfail(.param .b64 t, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c) .noreturn;
]]

local function bytes_of(text)
  local list = { text:byte(1, -1) }
  list[#list + 1] = 0
  return table.concat(list, ",")
end

local function load(text, threads)
  local gpu = ww.build("gtx480", { threads = threads }):gpu()
  return gpu, gpu:load { text = head .. text, name = "runtime.ptx" }
end

-- Every form: the local buffer holds the arguments as a C structure would.
local forms = "%d|%5d|%-5d|%05d|%+d|%x|%#X|%o|%u|%c|%s|%.2s|%8s|%-8s|%lld|%llx|%hhd|%hu|%f|%.3e|%g|%10.2f|%p|%*d|%.*f|%%|%zu|%q\n"
local printing = [[
.global .align 1 .b8 form[] = {]] .. bytes_of(forms) .. [[};
.global .align 1 .b8 word[] = {]] .. bytes_of "warp" .. [[};
.entry forms(.param .u64 out) {
  .local .align 8 .b8 depot[256]; .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .b64 %SP, %SPL;
  mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL;
  mov.u64 %rd1, word; cvta.global.u64 %rd1, %rd1;
  st.u32 [%SP], -42; st.u32 [%SP+4], 42; st.u32 [%SP+8], 42; st.u32 [%SP+12], 42; st.u32 [%SP+16], 42;
  st.u32 [%SP+20], 255; st.u32 [%SP+24], 255; st.u32 [%SP+28], 8; st.u32 [%SP+32], -1; st.u32 [%SP+36], 65;
  st.u64 [%SP+40], %rd1; st.u64 [%SP+48], %rd1; st.u64 [%SP+56], %rd1; st.u64 [%SP+64], %rd1;
  mov.u64 %rd2, -5000000000; st.u64 [%SP+72], %rd2; st.u64 [%SP+80], %rd2; st.u32 [%SP+88], 300; st.u32 [%SP+92], 65537;
  mov.b64 %rd3, 0d3FF8000000000000; st.u64 [%SP+96], %rd3; st.u64 [%SP+104], %rd3; st.u64 [%SP+112], %rd3;
  st.u64 [%SP+120], %rd3; mov.u64 %rd4, 0xc0000100; st.u64 [%SP+128], %rd4; st.u32 [%SP+136], 4; st.u32 [%SP+140], 7;
  st.u32 [%SP+144], 1; st.u64 [%SP+152], %rd3; mov.u64 %rd5, 99; st.u64 [%SP+160], %rd5;
  mov.u64 %rd6, form; cvta.global.u64 %rd6, %rd6; ld.param.u64 %rd7, [out];
  { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd6; st.param.b64 [a], %SP;
    call.uni (r), vprintf, (f, a); ld.param.b32 %r1, [r]; }
  st.global.u32 [%rd7], %r1;
  ret;
}
]]

harness.test("every format of printf", function()
  local gpu, kernels = load(printing)
  local out = gpu:alloc(4)
  local result = gpu:launch(kernels.forms, { grid = 1, block = 1, args = { out } })
  harness.equal(result.printed, "-42|   42|42   |00042|+42|ff|0XFF|10|4294967295|A|warp|wa|    warp|warp    |" ..
    "-5000000000|fffffffed5fa0e00|44|1|1.500000|1.500e+00|1.5|      1.50|0xc0000100|   7|1.5|%|99|%q\n")
  harness.equal(gpu:read("u32", out), 28)
end)

local strings = [[
.global .align 1 .b8 form[] = {]] .. bytes_of "<%s>\n" .. [[};
.entry print(.param .u64 form_or_0, .param .u64 text) {
  .local .align 8 .b8 depot[8]; .reg .b64 %rd<9>; .reg .pred %p; .reg .b64 %SP, %SPL;
  mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL; ld.param.u64 %rd1, [form_or_0]; ld.param.u64 %rd2, [text];
  mov.u64 %rd3, form; cvta.global.u64 %rd3, %rd3; setp.eq.u64 %p, %rd1, 0; selp.b64 %rd1, %rd3, %rd1, %p;
  st.u64 [%SP], %rd2;
  { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd1; st.param.b64 [a], %SP;
    call (r), vprintf, (f, a); }
  ret;
}
]]

harness.test("a format or a text of the host is a fault; a null pointer is none", function()
  local host <const> = 0x7ffd12345678
  for _, args in ipairs { { 0, host }, { host, 0 } } do
    local gpu, kernels = load(strings)
    local ok, problem = pcall(gpu.launch, gpu, kernels.print, { grid = 1, block = 2, args = args })
    assert(not ok, "no fault")
    harness.contains(tostring(problem), "kernel print, PTX line ", "access out of bounds at address 0x7ffd12345678", "thread (0, 0, 0)",
      ": maybe a pointer of the host; in call (r), vprintf, (f, a);")
  end
  local gpu, kernels = load(strings)
  harness.equal(gpu:launch(kernels.print, { grid = 1, block = 1, args = { 0, 0 } }).printed, "<(null)>\n")
end)

-- Two messages a thread: its block and thread, and every odd thread another.
local order = [[
.global .align 1 .b8 form[] = {]] .. bytes_of "%d.%d\n" .. [[};
.entry many(.param .u32 rounds) {
  .local .align 8 .b8 depot[8]; .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .b64 %SP, %SPL; .reg .pred %p<3>;
  mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL; mov.u64 %rd6, form; cvta.global.u64 %rd6, %rd6;
  ld.param.u32 %r5, [rounds];
NEXT:
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; st.local.v2.u32 [depot], {%r1, %r2};
  and.b32 %r3, %r2, 1; setp.ne.u32 %p1, %r3, 0;
  { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd6; st.param.b64 [a], %SP;
    @%p1 call (r), vprintf, (f, a); ld.param.b32 %r4, [r]; }
  add.u32 %r5, %r5, -1; setp.ne.u32 %p2, %r5, 0; @%p2 bra NEXT;
  ret;
}
]]

harness.test("messages come by quantum, SM, instruction and lane, with any number of threads", function()
  local gpu, kernels = load(order)
  local printed = gpu:launch(kernels.many, { grid = 1, block = 8, args = { 1 } }).printed
  harness.equal(printed, "0.1\n0.3\n0.5\n0.7\n")
  local texts = {}
  for i, threads in ipairs { 1, 2, 4 } do
    gpu, kernels = load(order, threads)
    texts[i] = gpu:launch(kernels.many, { grid = 40, block = 64, args = { 3 } }).printed
  end
  local lines = {}
  for line in texts[1]:gmatch "[^\n]+" do lines[line] = (lines[line] or 0) + 1 end
  for block = 0, 39 do
    for thread = 0, 63 do harness.equal(lines[block .. "." .. thread], thread % 2 == 1 and 3 or nil) end
  end
  harness.equal(texts[2], texts[1])
  harness.equal(texts[3], texts[1])
end)

harness.test("what does not fit is dropped, and counted", function()
  local gpu, kernels = load(order)
  gpu:set_print_limit(10)
  local result = gpu:launch(kernels.many, { grid = 1, block = 8, args = { 2 } })
  harness.equal(result.printed, "0.1\n0.3\n")
  harness.equal(result.printed_dropped, 6)
  result = gpu:launch(kernels.many, { grid = 1, block = 2, args = { 1 } })
  harness.equal(result.printed, "0.1\n")
  harness.equal(result.printed_dropped, nil)
end)

-- Each thread builds a list of `count` blocks, writes them, frees every second one, and allocates these anew.
local heap = [[
.entry lists(.param .u64 out, .param .u64 bytes, .param .u32 frees) {
  .reg .b64 %rd<12>; .reg .b32 %r<12>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [bytes]; ld.param.u32 %r9, [frees];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
  { .param .b64 n; .param .b64 r; st.param.b64 [n], %rd2; call (r), malloc, (n); ld.param.b64 %rd3, [r]; }
  { .param .b64 n; .param .b64 r; st.param.b64 [n], %rd2; call (r), malloc, (n); ld.param.b64 %rd4, [r]; }
  setp.eq.u64 %p1, %rd3, 0; @%p1 bra STORE;
  st.u32 [%rd3], %r4;
  setp.eq.u64 %p2, %rd4, 0; @%p2 bra STORE;
  st.u32 [%rd4], %r4;
  ld.u32 %r5, [%rd3]; setp.ne.u32 %p3, %r5, %r4; @%p3 trap;
STORE:
  mul.wide.u32 %rd5, %r4, 16; add.u64 %rd5, %rd1, %rd5; st.global.v2.u64 [%rd5], {%rd3, %rd4};
  setp.eq.u32 %p1, %r9, 0; @%p1 ret;
  { .param .b64 n; st.param.b64 [n], %rd3; call free, (n); }
  { .param .b64 n; st.param.b64 [n], %rd4; call free, (n); }
  ret;
}
]]

local function addresses(gpu, kernels, grid, block, bytes, frees)
  local out = gpu:alloc(16 * grid * block)
  gpu:launch(kernels.lists, { grid = grid, block = block, args = { out, bytes, frees } })
  return gpu:download("u64", out, 2 * grid * block), 2 * grid * block
end

harness.test("blocks of the heap are apart, and the same with any number of threads", function()
  local before
  for _, threads in ipairs { 1, 3 } do
    local gpu, kernels = load(heap, threads)
    local got, count = addresses(gpu, kernels, 30, 96, 20, 0)
    local list = {}
    for i = 0, count - 1 do list[i + 1] = got[i] end
    if before then harness.equal(table.concat(list, " "), before) end
    before = table.concat(list, " ")
    table.sort(list)
    assert(list[1] > 0)
    for i = 2, count do assert(list[i] - list[i - 1] >= 32 and list[i] % 16 == 0, list[i]) end
  end
end)

harness.test("what is freed is allocated again; a full heap answers 0", function()
  local gpu, kernels = load(heap)
  for _ = 1, 20 do
    local got, count = addresses(gpu, kernels, 4, 32, 8192, 1)
    for i = 0, count - 1 do assert(got[i] ~= 0, i) end
  end
  gpu, kernels = load(heap)
  local got, count = addresses(gpu, kernels, 16, 32, 20000, 0)
  local zeros = 0
  for i = 0, count - 1 do zeros = zeros + (got[i] == 0 and 1 or 0) end
  harness.equal(count - zeros, 8388608 // 20016)
  gpu = ww.build("gtx480"):gpu()
  gpu:set_heap(4096)
  kernels = gpu:load { text = head .. heap }
  got = addresses(gpu, kernels, 1, 1, 2000, 1)
  assert(got[0] ~= 0 and got[1] ~= 0)
  got = addresses(gpu, kernels, 1, 1, 3000, 0)
  assert(got[0] ~= 0)
  harness.equal(got[1], 0)
  local ok, problem = pcall(gpu.set_heap, gpu, 8192)
  assert(not ok)
  harness.contains(tostring(problem), "set_heap: expected a size before the first module with malloc")
end)

harness.test("a failed assertion names file, line, function, block and thread", function()
  local text = [[
.global .align 1 .b8 what[] = {]] .. bytes_of "n > 3" .. [[};
.global .align 1 .b8 file[] = {]] .. bytes_of "list.cu" .. [[};
.global .align 1 .b8 name[] = {]] .. bytes_of "void k(int)" .. [[};
.entry k(.param .u32 n) {
  .reg .b64 %rd<9>; .reg .b32 %r<4>; .reg .pred %p<2>;
  mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 5; @%p1 ret;
  mov.u64 %rd1, what; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, file; cvta.global.u64 %rd2, %rd2;
  mov.u64 %rd3, name; cvta.global.u64 %rd3, %rd3; mov.u64 %rd4, 1;
  { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
    st.param.b64 [a], %rd1; st.param.b64 [b], %rd2; st.param.b32 [c], 17; st.param.b64 [d], %rd3; st.param.b64 [e], %rd4;
    call.uni __assertfail, (a, b, c, d, e); }
  ret;
}
]]
  local gpu, kernels = load(text)
  local ok, problem = pcall(gpu.launch, gpu, kernels.k, { grid = 3, block = 32, args = { 1 } })
  assert(not ok)
  harness.contains(tostring(problem), "kernel k, PTX line 18: list.cu:17: void k(int): assertion failed: n > 3, CTA (0, 0, 0), " ..
    "thread (5, 0, 0)")
end)

harness.test("a resumed run has what was printed before, and the same addresses", function()
  local path = harness.write("prints.lua", ([==[
local ww = require "warpwright"
local w = ww.workload "prints" { sizes = { small = { rounds = 20 } }, ptx = [[%s]] }
function w:run(gpu, size)
  local kernels, out = self.kernels, gpu:alloc(16 * 512)
  gpu:launch(kernels.lists, { grid = 8, block = 64, args = { out, 40, 1 } })
  gpu:launch(kernels.many, { grid = 2, block = 4, args = { 1 } })
  gpu:launch(kernels.many, { grid = 8, block = 64, args = { size.rounds } })
  gpu:launch(kernels.lists, { grid = 8, block = 64, args = { out, 40, 0 } })
  local addresses, sum = gpu:download("u64", out, 1024), 0
  for i = 0, 1023 do sum = (sum * 31 + addresses[i]) & 0xffffffffffff end
  gpu:alloc(sum %% 1000 + 1)
  self:check_that("there are addresses", sum > 0)
end
return w
]==]):format(head .. order .. heap))
  local options = { config = "gtx480", workload = path, size = "small", set = { "sms=3", "partitions=2" } }
  local function run(more)
    local all = {}
    for _, from in ipairs { options, more } do
      for name, value in pairs(from) do all[name] = value end
    end
    return ww.run(all)
  end
  local whole = run { out = false }
  local first, second, third = whole.launches[1], whole.launches[2], whole.launches[3]
  harness.equal(#third.printed:gsub("[^\n]", ""), 8 * 32 * 20)
  local middle = third.start_cycle + third.cycles // 2
  local folder = harness.folder() .. "/prints"
  run { out = folder, checkpoint_at = ("%d,%d"):format(first.cycles // 2, middle), threads = 2 }
  harness.contains(io.open(folder .. "/printed.txt"):read "a", second.printed .. third.printed)
  for _, cycle in ipairs { first.cycles // 2, middle } do
    local resumed = ww.run { resume = folder .. "/" .. cycle .. ".ckpt", out = false }
    harness.equal(resumed.launches[2].printed, second.printed)
    harness.equal(resumed.launches[3].printed, third.printed)
    harness.equal(resumed.rows:text(), whole.rows:text())
  end
end)

harness.finish()
