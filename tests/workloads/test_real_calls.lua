-- Functions that call themselves, indirectly too, with threads of a warp at different depths.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local head = ".version 7.0\n.target sm_70\n.address_size 64\n"

--- Runs `kernel` of the text with one thread for each of the numbers; returns what each has stored.
local function run(text, kernel, numbers, options)
  local gpu = ww.build("gtx480"):gpu()
  local kernels = gpu:load { text = head .. text, name = "calls.ptx" }
  local input = gpu:upload(ww.u32(numbers))
  local output = gpu:alloc(4 * #numbers)
  local launch = { grid = 1, block = #numbers, args = { input, output } }
  for name, value in pairs(options or {}) do launch[name] = value end
  gpu:launch(kernels[kernel], launch)
  local got = gpu:download("u32", output, #numbers)
  local list = {}
  for i = 1, #numbers do list[i] = got[i - 1] end
  return list, kernels
end

local function expect(text, kernel, numbers, reference, options)
  local got = run(text, kernel, numbers, options)
  for i, n in ipairs(numbers) do harness.equal(got[i], reference(n), ("thread %d of %s(%d)"):format(i - 1, kernel, n)) end
end

--- An entry that stores `call` of the thread's number: %r1 goes in, %r2 comes out.
local function entry(name, call)
  return ([[
.visible .entry %s(.param .u64 in, .param .u64 out) {
  .reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .pred %%p<3>;
  ld.param.u64 %%rd1, [in]; ld.param.u64 %%rd2, [out];
  mov.u32 %%r3, %%tid.x; mul.wide.u32 %%rd3, %%r3, 4;
  add.u64 %%rd1, %%rd1, %%rd3; add.u64 %%rd2, %%rd2, %%rd3;
  ld.global.u32 %%r1, [%%rd1];
  %s
  st.global.u32 [%%rd2], %%r2;
  ret;
}
]]):format(name, call)
end

local function call_of(name)
  return ("{ .param .b32 a; .param .b32 b; st.param.b32 [a], %%r1; call.uni (b), %s, (a); ld.param.b32 %%r2, [b]; }"):format(name)
end

local fib = [[
.func (.param .b32 r) fib(.param .b32 n) {
  .reg .b32 %r<9>; .reg .pred %p<3>;
  ld.param.b32 %r1, [n];
  setp.lt.u32 %p1, %r1, 2;
  mov.u32 %r2, %r1;
  @%p1 bra DONE;
  add.u32 %r3, %r1, -1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call (b), fib, (a); ld.param.b32 %r4, [b]; }
  add.u32 %r3, %r1, -2;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call (b), fib, (a); ld.param.b32 %r5, [b]; }
  add.u32 %r2, %r4, %r5;
DONE:
  st.param.b32 [r], %r2;
  ret;
}
]]

local function fibonacci(n)
  local a, b = 0, 1
  for _ = 1, n do a, b = b, a + b end
  return a
end

local function range(count, f)
  local list = {}
  for i = 1, count do list[i] = f(i) end
  return list
end

harness.test("threads of a warp recurse to different depths", function()
  expect(fib .. entry("k", call_of "fib"), "k", range(64, function(i) return (i * 7) % 11 end), fibonacci)
  expect(fib .. entry("k", "setp.gt.u32 %p1, %r1, 4; mov.u32 %r2, 99; @%p1 " .. "bra SKIP; " .. call_of "fib" .. " SKIP:"), "k",
    range(40, function(i) return i % 9 end), function(n) return n > 4 and 99 or fibonacci(n) end)
end)

-- even(n) = n == 0 or odd(n - 1); a predicate and a 64-bit value are needed behind the call.
local mutual = [[
.func (.param .b32 r) odd(.param .b32 n);
.func (.param .b32 r) even(.param .b32 n) {
  .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .b16 %h<3>; .reg .pred %p<3>;
  ld.param.b32 %r1, [n]; cvt.u64.u32 %rd1, %r1; mul.lo.u64 %rd1, %rd1, 0x100000000;
  cvt.u16.u32 %h1, %r1;
  setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 1;
  and.b32 %r4, %r1, 4; setp.ne.u32 %p2, %r4, 0;
  @%p1 bra DONE;
  add.u32 %r3, %r1, -1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call (b), odd, (a); ld.param.b32 %r2, [b]; }
  shr.u64 %rd1, %rd1, 32; cvt.u32.u64 %r5, %rd1; cvt.u32.u16 %r6, %h1;
  sub.u32 %r5, %r5, %r6; add.u32 %r2, %r2, %r5;
  @%p2 add.u32 %r2, %r2, 10;
DONE:
  st.param.b32 [r], %r2; ret;
}
.func (.param .b32 r) odd(.param .b32 n) {
  .reg .b32 %r<9>; .reg .pred %p<3>;
  ld.param.b32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 0;
  @%p1 bra DONE;
  add.u32 %r3, %r1, -1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call (b), even, (a); ld.param.b32 %r2, [b]; }
DONE:
  st.param.b32 [r], %r2; ret;
}
]]

harness.test("threads at different depths are together again behind the call, and so is every further call", function()
  local numbers, masks = {}, {}
  for i = 1, 64 do numbers[i] = (i - 1) * 5 % 12 end
  for k = 4, 5 do masks[k] = call_of "fib" .. (" activemask.b32 %%r%d;"):format(k) end
  local text = fib .. entry("masks", masks[4] .. masks[5] .. call_of "fib" .. "and.b32 %r2, %r4, %r5;")
  expect(text, "masks", numbers, function() return 0xffffffff end)
end)

harness.test("functions call each other; registers of every kind are kept", function()
  local even, odd
  function even(n) return n == 0 and 1 or odd(n - 1) + (n & 4 ~= 0 and 10 or 0) end
  function odd(n) return n == 0 and 0 or even(n - 1) end
  expect(mutual .. entry("k", call_of "even"), "k", range(32, function(i) return i % 13 end), even)
end)

-- An array in the frame, whose address goes to a function that is inlined; a structure as parameter.
local frames = [[
.func (.param .b32 r) sum(.param .b64 p, .param .b32 count) {
  .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<3>;
  ld.param.b64 %rd1, [p]; ld.param.b32 %r1, [count]; mov.u32 %r2, 0;
NEXT:
  ld.u32 %r3, [%rd1]; add.u32 %r2, %r2, %r3; add.u64 %rd1, %rd1, 4; add.u32 %r1, %r1, -1;
  setp.ne.u32 %p1, %r1, 0; @%p1 bra NEXT;
  st.param.b32 [r], %r2; ret;
}
.func (.param .b32 r) walk(.param .align 8 .b8 s[16]) {
  .local .align 8 .b8 depot[16]; .reg .b32 %r<12>; .reg .b64 %SP, %SPL, %rd<4>; .reg .pred %p<3>;
  mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL;
  ld.param.b32 %r1, [s]; ld.param.b64 %rd1, [s+8]; cvt.u32.u64 %r2, %rd1;
  st.local.u32 [%SPL], %r1; st.local.u32 [depot+4], %r2; add.u32 %r3, %r1, %r2; st.u32 [%SP+8], %r3;
  setp.eq.u32 %p1, %r1, 0; mov.u32 %r4, 0; @%p1 bra DONE;
  { .param .align 8 .b8 t[16]; .param .b32 b; add.u32 %r5, %r1, -1; add.u64 %rd2, %rd1, 3;
    st.param.b32 [t], %r5; st.param.b64 [t+8], %rd2; call (b), walk, (t); ld.param.b32 %r4, [b]; }
DONE:
  { .param .b64 p; .param .b32 c; .param .b32 b; st.param.b64 [p], %SP; st.param.b32 [c], 3;
    call (b), sum, (p, c); ld.param.b32 %r6, [b]; }
  ld.param.b32 %r7, [s];
  add.u32 %r4, %r4, %r6; add.u32 %r4, %r4, %r7;
  st.param.b32 [r], %r4; ret;
}
]]

harness.test("variables and parameters in memory are those of the activation", function()
  local function walk(n, m) return (n > 0 and walk(n - 1, m + 3) or 0) + 2 * (n + m) + n end
  local call = "{ .param .align 8 .b8 s[16]; .param .b32 b; .reg .b64 x; mov.u64 x, 5; st.param.b32 [s], %r1; " ..
    "st.param.b64 [s+8], x; call (b), walk, (s); ld.param.b32 %r2, [b]; }"
  expect(frames .. entry("k", call), "k", range(48, function(i) return i % 7 end), function(n) return walk(n, 5) end)
end)

-- Each of three functions calls the one that a table names, by a number that differs from thread to thread.
local indirect = [[
.func (.param .b32 r) f0(.param .b32 n) { .reg .b32 %r<3>; ld.param.b32 %r1, [n]; add.u32 %r1, %r1, 1000; st.param.b32 [r], %r1; ret; }
.func (.param .b32 r) f1(.param .b32 n);
.func (.param .b32 r) f2(.param .b32 n);
.global .u64 table[3] = { f0, f1, f2 };
]]
for i = 1, 2 do
  indirect = indirect .. ([[
.func (.param .b32 r) f%d(.param .b32 n) {
  .reg .b32 %%r<9>; .reg .b64 %%rd<4>;
  ld.param.b32 %%r1, [n]; shr.u32 %%r2, %%r1, 2; and.b32 %%r3, %%r2, 3; min.u32 %%r3, %%r3, 2;
  mul.wide.u32 %%rd1, %%r3, 8; mov.u64 %%rd2, table; add.u64 %%rd2, %%rd2, %%rd1; ld.global.u64 %%rd3, [%%rd2];
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %%r2;
    proto: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (b), %%rd3, (a), proto; ld.param.b32 %%r4, [b]; }
  add.u32 %%r4, %%r4, %%r1; mul.lo.u32 %%r4, %%r4, %d; st.param.b32 [r], %%r4; ret;
}
]]):format(i, i + 1)
end

harness.test("function pointers lead back to functions that are active", function()
  local function f(which, n)
    if which == 0 then return n + 1000 end
    local next = n >> 2
    return (f(math.min(next & 3, 2), next) + n) * (which + 1) & 0xffffffff
  end
  local call = "{ .param .b32 a; .param .b32 b; .reg .b64 t; .reg .b32 w; and.b32 w, %r1, 3; min.u32 w, w, 2; " ..
    "mul.wide.u32 t, w, 8; add.u64 t, t, table; ld.global.u64 t, [t]; st.param.b32 [a], %r1; " ..
    "proto: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), t, (a), proto; ld.param.b32 %r2, [b]; }"
  call = call:gsub("add.u64 t, t, table", "mov.u64 %%rd4, table; add.u64 t, t, %%rd4")
  expect(indirect .. entry("k", call), "k", range(96, function(i) return (i * 2654435761) & 0xffff end),
    function(n) return f(math.min(n & 3, 2), n) end)
end)

harness.test("a parameter in memory is passed to a register, and a result comes back", function()
  local text = ".func (.reg .b32 r) f(.reg .b32 n) { add.u32 r, n, 1; ret; }\n"
  expect(text .. entry("k", call_of "f"), "k", range(32, function(i) return 3 * i end), function(n) return n + 1 end)
end)

-- More than are inlined: --------------------------------------------------------------------------------------------

--- A call by the address at index %r7 of the table: %r1 goes in, %r2 comes out.
local call_by_table <const> = [[
{ .param .b32 a; .param .b32 b; .reg .b64 %%rd<3>;
mul.wide.u32 %%rd1, %%r7, 8; mov.u64 %%rd2, table; add.u64 %%rd1, %%rd1, %%rd2; ld.global.u64 %%rd1, [%%rd1];
st.param.b32 [a], %%r1; proto: .callprototype (.param .b32 _) _ (.param .b32 _);
%s call (b), %%rd1, (a), proto; %s ld.param.b32 %%r2, [b]; }
]]

local function table_of(functions)
  local names = {}
  for i = 0, functions - 1 do names[i + 1] = "f" .. i end
  return (".global .u64 table[%d] = { %s };\n"):format(functions, table.concat(names, ", "))
end

--- Functions that take and give a number, and their table.
local function plain_functions(functions)
  local parts = {}
  for i = 0, functions - 1 do
    parts[i + 1] = (".func (.param .b32 r) f%d(.param .b32 n) { .reg .b32 x; ld.param.b32 x, [n]; add.u32 x, x, %d; st.param.b32 [r], x; ret; }\n")
      :format(i, i + 1)
  end
  return table.concat(parts) .. table_of(functions)
end

harness.test("indirect calls beyond those that are inlined share one decision between the functions", function()
  local functions, calls = 60, 220
  local parts = { "mov.u32 %r2, 0; and.b32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, 0;" }
  for call = 1, calls do
    parts[#parts + 1] = ("add.u32 %%r7, %%r3, %d; rem.u32 %%r7, %%r7, %d;"):format(call, functions)
    parts[#parts + 1] = call % 2 == 0 and call_by_table:format("@%p1", "@%p1") or call_by_table:format("", "")
    parts[#parts + 1] = "mov.u32 %r1, %r2;"
  end
  local numbers = range(64, function(i) return i * 7 end)
  local got = run(plain_functions(functions) .. entry("k", table.concat(parts, "\n")), "k", numbers)
  for i, number in ipairs(numbers) do
    local value, result = number, 0
    for call = 1, calls do
      if call % 2 == 1 or number % 2 == 0 then result = value + (i - 1 + call) % functions + 1 end
      value = result
    end
    harness.equal(got[i], value, "thread " .. i - 1)
  end
end)

harness.test("functions that many indirect calls lead back to keep their values", function()
  local functions, calls = 24, 30
  local parts = {}
  for i = 0, functions - 1 do
    parts[#parts + 1] = (".func (.param .b32 r) f%d(.param .b32 n);\n"):format(i)
  end
  parts[#parts + 1] = table_of(functions)
  for i = 0, functions - 1 do
    parts[#parts + 1] = ([[
.func (.param .b32 r) f%d(.param .b32 n) {
  .reg .b32 %%r<9>; .reg .pred %%p<3>; .local .b32 kept;
  ld.param.b32 %%r6, [n]; st.local.b32 [kept], %%r6; add.u32 %%r2, %%r6, %d; setp.lt.u32 %%p1, %%r6, 3; @%%p1 bra DONE;
  shr.u32 %%r1, %%r6, 2; add.u32 %%r7, %%r6, %d; rem.u32 %%r7, %%r7, %d;
  %s
  ld.local.b32 %%r5, [kept]; mad.lo.u32 %%r2, %%r2, 3, %%r6; xor.b32 %%r2, %%r2, %%r5;
DONE: st.param.b32 [r], %%r2; ret;
}
]]):format(i, i, i, functions, call_by_table:format("", ""))
  end
  local body = { "mov.u32 %r5, 0;" }
  for call = 1, calls do
    body[#body + 1] = ("add.u32 %%r7, %%r3, %d; rem.u32 %%r7, %%r7, %d;\n%s\nadd.u32 %%r5, %%r5, %%r2;"):format(
      call, functions, call_by_table:format("", ""))
  end
  body[#body + 1] = "mov.u32 %r2, %r5;"
  local function f(i, n)
    return n < 3 and n + i or (f((n + i) % functions, n >> 2) * 3 + n ~ n) & 0xffffffff
  end
  local numbers = range(32, function(i) return (i * 2654435761) & 0x3ff end)
  local got = run(table.concat(parts) .. entry("k", table.concat(body, "\n")), "k", numbers, { stack = 4096 })
  for i, number in ipairs(numbers) do
    local sum = 0
    for call = 1, calls do sum = sum + f((i - 1 + call) % functions, number) end
    harness.equal(got[i], sum & 0xffffffff, "thread " .. i - 1)
  end
end)

harness.test("of many indirect calls, one by the address of no function is a fault at its own line", function()
  local parts = {}
  for call = 1, 200 do parts[call] = "mov.u32 %r7, " .. (call == 199 and 60 or call % 60) .. ";\n" .. call_by_table:format("", "") end
  local text = plain_functions(60) .. ".global .u64 behind = 1;\n" .. entry("k", table.concat(parts))
  local ok, problem = pcall(run, text, "k", { 1 })
  assert(not ok)
  local _, lines = (head .. text:match("^(.*mov%.u32 %%r7, 60;\n.-) call ")):gsub("\n", "")
  harness.contains(tostring(problem), ("PTX line %d"):format(lines + 1))
end)

harness.test("a stack that overflows is a fault that says so; the launch sets its size", function()
  local text = fib .. entry("k", call_of "fib")
  local ok, problem = pcall(run, text, "k", { 200 })
  assert(not ok)
  harness.contains(tostring(problem), "kernel k, PTX line", "the stack of 1024 bytes per thread overflows",
    "a larger `stack` of the launch (in CUDA: cudaLimitStackSize)", "thread (0, 0, 0)")
  local down = [[
.func (.param .b32 r) down(.param .b32 n) {
  .reg .b32 %r<9>; .reg .pred %p<3>;
  ld.param.b32 %r1, [n]; mov.u32 %r2, 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE;
  add.u32 %r3, %r1, -1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call (b), down, (a); ld.param.b32 %r2, [b]; }
  add.u32 %r2, %r2, %r1;
DONE: st.param.b32 [r], %r2; ret;
}
]]
  expect(down .. entry("k", call_of "down"), "k", range(32, function(i) return 30 * i end), function(n) return n * (n + 1) // 2 end,
    { stack = 65536 })
end)

harness.test("the largest stack leaves room for what the kernel has in local memory itself", function()
  local own = ".local .align 4 .b8 own[96]; st.local.u32 [own + 92], %r1; "
  expect(fib .. entry("k", own .. call_of "fib" .. " ld.local.u32 %r3, [own + 92]; add.u32 %r2, %r2, %r3; "), "k", { 1, 2, 6, 7 },
    function(n) return ({ 1, 1, 2, 3, 5, 8, 13 })[n] + n end, { stack = 512 * 1024 })
end)

harness.test("calls that would explode when inlined are real ones", function()
  local text = ".func (.param .b32 r) f0(.param .b32 n) { .reg .b32 %r<3>; ld.param.b32 %r1, [n]; add.u32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; }\n"
  for i = 1, 14 do
    text = text .. (".func (.param .b32 r) f%d(.param .b32 n) { .reg .b32 %%r<9>; ld.param.b32 %%r1, [n];\n"):format(i)
    for k = 1, 3 do
      text = text .. ("{ .param .b32 a; .param .b32 b; st.param.b32 [a], %%r%d; call (b), f%d, (a); ld.param.b32 %%r%d, [b]; }\n"):format(k, i - 1, k + 1)
    end
    text = text .. "st.param.b32 [r], %r4; ret; }\n"
  end
  expect(text .. entry("k", call_of "f9"), "k", { 1, 2, 3 }, function(n) return n + 3 ^ 9 end)
  local core = require "warpwright.core"
  local report = core.ptx_report { { text = head .. text .. entry("k", call_of "f14") } }
  harness.equal(report[1].refusal, nil)
  assert(report[1].instructions < 80000, report[1].instructions)
end)

harness.finish()
