-- Lanes that come one after the other to an instruction that names them: `if (a || b)` is one place with two ways to it.
local ww = require "warpwright"
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

--- A kernel in which lanes below 16 come to S at once, and of the others those whose number plus 100 is below n.
local function kernel(target, body)
  return ([[
.version 7.0
.target sm_%d
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
    .reg .u64 %%rd<5>; .reg .u32 %%r<12>; .reg .pred %%p<4>;
    ld.param.u64 %%rd1, [p];
    ld.param.u32 %%r7, [n];
    mov.u32 %%r1, %%tid.x;
    mul.wide.u32 %%rd3, %%r1, 4;
    add.u64 %%rd4, %%rd1, %%rd3;
    mov.u32 %%r6, 7;
    setp.lt.u32 %%p1, %%r1, 16;
    selp.b32 %%r8, 0xffff, 0xffff0000, %%p1;
    @%%p1 bra S;
    add.u32 %%r1, %%r1, 100;
    setp.lt.u32 %%p2, %%r1, %%r7;
    @%%p2 bra S;
    bra.uni E;
S:
]]):format(target) .. body .. "\nE:  st.global.u32 [%rd4], %r6;\n    ret;\n}\n"
end

local function download(gpu, address, count)
  local array, words = gpu:download("u32", address, count), {}
  for i = 0, count - 1 do words[i + 1] = tostring(array[i]) end
  return words
end

--- The different values that lanes have stored, in the order of lanes, the same with timing and without: "131", "31 131"; and what
-- --memcheck found.
local function stored(target, body, n, options)
  options = options or {}
  local gpu = ww.build("gtx480", { memcheck = true, order = options.order, threads = options.threads }):gpu()
  local k = gpu:load({ text = kernel(target, body), name = "named.ptx" }).k
  local block, texts = options.block or 32, {}
  for i, timed in ipairs { true, false } do
    local p = gpu:alloc(4 * block)
    gpu:launch(k, { grid = 1, block = block, args = { p, n }, timed = timed })
    local list, last = {}, nil
    for _, word in ipairs(download(gpu, p, block)) do
      if word ~= last then list[#list + 1] = word end
      last = word
    end
    texts[i] = table.concat(list, " ")
  end
  harness.equal(texts[2], texts[1], "without timing")
  return texts[1], core.memcheck_sites(gpu)
end

local all <const> = 500 -- n, so that all lanes come to S
local shuffle <const> = "shfl.sync.idx.b32 %r6, %r1, 31, 31, -1;"

harness.test("a shuffle waits for all lanes that it names, by whichever way they come", function()
  harness.equal((stored(70, shuffle, all)), "131")
  for _, how in ipairs { { order = "reversed" }, { order = "restless" }, { threads = 2 } } do
    harness.equal((stored(80, shuffle, all, how)), "131")
  end
end)

harness.test("so do votes, matches, reductions and bar.warp.sync", function()
  harness.equal((stored(70, "vote.sync.ballot.b32 %r6, %p1, -1;", all)), tostring(0xffff))
  harness.equal((stored(80, "redux.sync.add.u32 %r6, 1, -1;", all)), "32")
  harness.equal((stored(70, "match.any.sync.b32 %r6, %r7, -1;", all)), tostring(0xffffffff))
  harness.equal((stored(70, "activemask.b32 %r6;", all)), ("%d %d"):format(0xffff, 0xffff0000))
  harness.equal((stored(70, "bar.warp.sync -1;\nactivemask.b32 %r6;", all)), tostring(0xffffffff))
end)

harness.test("it waits for no others: each half by itself, a mask of those that come, lanes that have ended", function()
  harness.equal((stored(70, "redux.sync.add.u32 %r6, 1, %r8;", all)), "16")
  harness.equal((stored(70, "shfl.sync.idx.b32 %r6, %r1, 3, 31, 0x00ffffff;", 124)), "3 7") -- lanes 24 to 31 do not come
  harness.equal((stored(70, "redux.sync.add.u32 %r6, 1, -1;", all, { block = 20 })), "20")
end)

harness.test("targets before 7.0 promise that lanes come together: each way is one for itself", function()
  harness.equal((stored(60, "vote.sync.ballot.b32 %r6, %p1, -1;", all)), ("%d 0"):format(0xffff))
end)

harness.test("lanes that are named and never come are not waited for for ever", function()
  harness.equal((stored(70, "redux.sync.add.u32 %r6, 1, -1;", 0)), "16 7")
end)

harness.finish()
