-- --memcheck: uninitialised reads, accesses beyond what was asked for, wrong frees, races in shared memory, warps that part at
-- barriers or where all are named; nothing of it in programs that are in order. And the bounds of hardware.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local core = require "warpwright.core"

--- A kernel k(p, q) around a body, whose first line is PTX line 19; %r1 is the thread, %rd4 the address of word %r1 of p,
-- %rd6 of q, %r5 of tile; %p1: of warp 0.
local function kernel(body)
  return [[
.version 7.0
.target sm_70
.address_size 64 .extern .func (.param .b64 r) malloc(.param .b64 n); .extern .func free(.param .b64 a);
.file 1 "tile.cu"
.visible .entry k(.param .u64 p, .param .u64 q)
{
    .reg .u64 %rd<9>; .reg .u32 %r<12>; .reg .pred %p<4>;
    .shared .align 4 .b8 tile[512];
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [q];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd6, %rd2, %rd3;
    mov.u32 %r4, tile;
    mad.lo.u32 %r5, %r1, 4, %r4;
    setp.lt.u32 %p1, %r1, 32;
    .loc 1 7 1
]] .. body .. "\n    ret;\n}\n"
end

local function lines(...)
  local list = { ... }
  for i, line in ipairs(list) do list[i] = "    " .. line end
  return table.concat(list, "\n")
end

--- The sites of a launch; `upload` says whether p and q are filled.
local function sites_of(body, options)
  options = options or {}
  local gpu = ww.build(options.config or "gtx480", { memcheck = true, order = options.order, threads = options.threads }):gpu()
  if options.heap then gpu:set_heap(options.heap) end
  local kernels = gpu:load { text = kernel(body), name = "tile.ptx" }
  local bytes = options.bytes or 512
  local p, q = gpu:alloc(bytes), gpu:alloc(512)
  if options.filled then gpu:fill(p, 0, options.filled) end
  gpu:launch(kernels.k, { grid = options.grid or 1, block = options.block or 64, shared = options.shared, args = { p, q } })
  for _ = 2, options.launches or 1 do gpu:launch(kernels.k, { grid = options.grid or 1, block = options.block or 64, args = { p, q } }) end
  return core.memcheck_sites(gpu), p
end

--- The kinds found, in order, with counts and lines.
local function shown(sites)
  local list = {}
  for i, s in ipairs(sites) do list[i] = ("%d x %s, line %d"):format(s.count, s.kind, s.ptx_line) end
  return table.concat(list, "; ")
end

local function finds(what, body, want, options)
  harness.test(what, function() harness.equal(shown((sites_of(body, options))), want) end)
end

local load_p <const> = "ld.global.u32 %r6, [%rd4];"
finds("a read of memory that nobody has written", load_p, "64 x read of uninitialised global memory, line 19")
finds("written by the host in part: byte by byte", load_p, "39 x read of uninitialised global memory, line 19", { filled = 102 })
finds("written by the host", load_p, "", { filled = 512 })
finds("written by the thread before", lines("st.global.u32 [%rd4], %r1;", load_p), "")
finds("written by the kernel before, and a new allocation is not", lines(load_p, "st.global.u32 [%rd4], %r1;"),
  "64 x read of uninitialised global memory, line 19", { launches = 2 })
finds("written by another CTA of the same launch, long before",
  lines("mov.u32 %r9, %ctaid.x;", "setp.eq.u32 %p2, %r9, 0;", "@%p2 st.global.u32 [%rd4], %r1;", "@%p2 bra E;", "mov.u32 %r8, 0;",
    "L: add.u32 %r8, %r8, 1;", "setp.lt.u32 %p3, %r8, 200;", "@%p3 bra L;", load_p, "E:"), "", { grid = 30 })
finds("half a word is written, and the word is read", lines("st.global.u16 [%rd4], %r1;", load_p),
  "64 x read of uninitialised global memory, line 20")
finds("an atomic reads, and writes", lines("atom.global.add.u32 %r6, [%rd1], 1;", "ld.global.u32 %r6, [%rd1];"),
  "1 x read of uninitialised global memory, line 19")
finds("beyond the bytes that were asked for, within their rounding", lines("st.global.u32 [%rd4], %r1;"),
  "14 x access beyond the end of an allocation, line 19", { bytes = 200 })

-- Each thread has 12 bytes of its own at %rd7; a pause lets a quantum pass.
local malloc <const> = "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 12; call.uni (r), malloc, (n); ld.param.b64 %rd7, [r]; }"
local free <const> = "{ .param .b64 a; st.param.b64 [a], %rd7; call.uni free, (a); }"
local pause <const> = "mov.u32 %r8, 0; L: add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, 20; @%p3 bra L;"
finds("what malloc returned is not written, and then it is", lines(malloc, "ld.global.u32 %r6, [%rd7+8];", "st.global.u32 [%rd7+8], %r1;",
  "ld.global.u32 %r6, [%rd7+8];", free), "64 x read of uninitialised global memory, line 20")
finds("beyond what malloc returned, and before it", lines(malloc, "st.global.u32 [%rd7+12], %r1;", "ld.global.u32 %r6, [%rd7+-4];", free),
  "64 x access beyond what malloc returned, line 20; 64 x access beyond what malloc returned, line 21")
finds("what malloc returned, after it was freed", lines(malloc, "st.global.u32 [%rd7], %r1;", free, pause, "ld.global.u32 %r6, [%rd7];"),
  "64 x use after free of what malloc returned, line 23")
finds("what malloc returns again is not freed, nor written", lines("mov.u64 %rd8, 0;", "A: " .. malloc, "ld.global.u32 %r6, [%rd7];",
  "st.global.u32 [%rd7], %r1;", free, "add.u64 %rd8, %rd8, 1;", "setp.lt.u64 %p2, %rd8, 10;", "@%p2 bra A;"),
  "640 x read of uninitialised global memory, line 21", { heap = 4096 }) -- of 127 blocks

finds("freed twice, in one quantum and later; null is free to be freed", lines(malloc, free, free, pause, free, "mov.u64 %rd7, 0;", free),
  "64 x free of what was freed before, line 21; 64 x free of what was freed before, line 23")
finds("freed again after it was given out again: nobody can tell", lines("mov.u64 %rd8, 0;", "A: " .. malloc, free, "add.u64 %rd8, %rd8, 1;",
  "setp.lt.u64 %p2, %rd8, 10;", "@%p2 bra A;"), "", { heap = 4096 })
finds("the middle of a block is freed, what is no block of the heap, and memory of the host's", lines(malloc, "mov.u64 %rd8, %rd7;",
  "add.u64 %rd7, %rd8, 4;", free, "add.u64 %rd7, %rd8, -8;", free, "mov.u64 %rd7, %rd1;", free, "st.global.u32 [%rd8], %r1;"),
  "64 x free of what malloc did not return, line 22; 64 x free of what malloc did not return, line 24; "
  .. "64 x free of what malloc did not return, line 26")

-- The upper half of each warp does not come to line 20.
local half <const> = lines("and.b32 %r7, %r1, 16;", "setp.eq.u32 %p2, %r7, 0;")
local differ <const> = "2 x threads of a warp at different barriers, line %d"
finds("half of a warp leaves out a barrier", lines(half, "@%p2 bar.sync 0;", "bar.sync 0;"), differ:format(22))
finds("both halves of a warp have a barrier of their own", lines(half, "@%p2 bra L;", "bar.sync 0;", "bra.uni E;", "L: bar.sync 0;", "E:"),
  differ:format(22))
finds("half of a warp is done when the other comes to a barrier", lines(half, "@%p2 ret;", "bar.sync 0;", "bar.sync 0;"), "")
finds("half of a warp is done behind another barrier of the other half", lines(half, "@!%p2 bra L;", "bar.sync 0;", "bar.sync 0;", "L:"), "")
finds("some are done in a branch before a barrier, and all others come to it", lines(half, "@%p2 bra M;", "and.b32 %r7, %r1, 8;",
  "setp.eq.u32 %p3, %r7, 0;", "@%p3 ret;", "M: bar.sync 0;", "bar.sync 0;"), "")
finds("barriers that are not .aligned", lines(half, "@%p2 bra L;", "barrier.sync 0;", "bra.uni E;", "L: barrier.sync 0;", "E: barrier.sync 0;"), "")
finds("whole warps may differ", lines("@%p1 bra L;", "bar.sync 0;", "bra.uni E;", "L: bar.sync 0;", "E: bar.sync 0;"), "")

local shuffle <const> = "shfl.sync.idx.b32 %r6, %r1, 0, 31, "
finds("both halves of a warp have a shuffle of all threads", lines(half, "@!%p2 bra F;", shuffle .. "-1;", "bra.uni E;", "F: " .. shuffle .. "-1;", "E:"),
  "32 x mask of threads that do not all come, line 24")
finds("half of a warp has one, and the other half goes on to a barrier", lines(half, "@!%p2 bra E;", shuffle .. "-1;", "E: bar.sync 0;"),
  differ:format(23))
finds("a guarded one is executed by some as well", lines(half, "@%p2 " .. shuffle .. "-1;"), "32 x mask of threads that do not all come, line 21")
finds("threads that are not in their mask", lines("vote.sync.ballot.b32 %r6, %p1, 0xff00;"), "48 x mask of threads without the thread itself, line 19")
finds("masks of those that come, halves of a warp, and threads that have ended", lines(half, "activemask.b32 %r9;", "selp.b32 %r9, 0xffff, 0xffff0000, %p2;",
  "redux.sync.add.u32 %r6, 1, %r9;", "@%p2 ret;", "bar.warp.sync -1;"), "", { config = "v100" })
finds("whichever way they come", lines(half, "@%p2 bra S;", "@!%p2 bra S;", "ret;", "S: " .. shuffle .. "-1;"), "")

finds("shared memory that the CTA has not written", lines("ld.shared.u32 %r6, [%r5];"),
  "64 x read of uninitialised shared memory, line 19")
finds("what a CTA before left in shared memory", lines("ld.shared.u32 %r6, [%r5];", "st.shared.u32 [%r5], %r1;"),
  "25600 x read of uninitialised shared memory, line 19", { grid = 400 })

local few <const> = lines(".shared .align 4 .b8 few[40];", "mov.u32 %r7, few;", "mad.lo.u32 %r8, %r1, 4, %r7;",
  "setp.lt.u32 %p2, %r1, 15;", "@%p2 st.shared.u32 [%r8], %r1;", "@%p2 ld.shared.u32 %r6, [%r8];")
local beyond_few <const> = "%d x access beyond the end of the CTA's shared memory, line 23; %d x access beyond the end of the CTA's shared memory, line 24"
finds("beyond the last byte of shared memory, within its rounding", few, beyond_few:format(5, 5))
finds("beyond the last byte of dynamic shared memory, behind the static one", few, beyond_few:format(2, 2), { shared = 12 })
finds("all of dynamic shared memory", few, "", { shared = 20 })

-- The word of the thread 32 on: of the other warp.
local crossed <const> = lines("xor.b32 %r7, %r1, 32;", "mad.lo.u32 %r8, %r7, 4, %r4;")
local read_crossed <const> = lines(crossed, "ld.shared.u32 %r6, [%r8];")
local write <const>, barrier <const> = "st.shared.u32 [%r5], %r1;", "bar.sync 0;"

--- Races of the body, as in { kind = count of accesses }, and nothing else but them.
local function races(what, body, want, options)
  harness.test(what, function()
    local sites = sites_of(body, options)
    local count = 0
    for _, site in ipairs(sites) do
      harness.contains(site.kind, "race in shared memory")
      count = count + site.count
    end
    harness.equal(count, want, shown(sites))
  end)
end

races("warps that write and, behind a barrier, read each other's words", lines(write, barrier, read_crossed), 0)
races("the same again and again, with barriers on both sides",
  lines(write, barrier, read_crossed, barrier, write, barrier, read_crossed), 0)
races("a word is written while another warp may still read it", lines(write, barrier, read_crossed, write), 64)
races("two warps write the same words", lines("and.b32 %r7, %r1, 31;", "mad.lo.u32 %r8, %r7, 4, %r4;", "st.shared.u32 [%r8], %r1;"), 32)
for what, store in pairs { words = "st.shared.u32 [tile], 7;", bytes = "st.shared.u8 [tile], 7;", vectors = "st.shared.v2.u32 [tile], {7, %r3};",
  ["generic addresses"] = "cvt.u64.u32 %rd7, %r4; cvta.shared.u64 %rd7, %rd7; mov.b64 %rd8, {%r3, 7}; st.u64 [%rd7], %rd8;",
  ["wide registers"] = "mov.b64 %rd8, {%r3, %r1}; st.shared.u32 [tile], %rd8;" } do
  races("two warps write the same value, " .. what, lines("mov.u32 %r3, 9;", store), 0)
end
races("two warps write vectors of which one element differs", lines("st.shared.v2.u32 [tile], {7, %r1};"), 1)
races("the same value is written that another warp may still read", lines(write, barrier, "ld.shared.u32 %r6, [tile+4];", "@%p1 st.shared.u32 [tile+4], 1;"), 32)
races("a warp reads what it writes itself", lines(write, "ld.shared.u32 %r6, [%r5];"), 0)
races("two warps write neighbouring bytes of a word",
  lines("and.b32 %r7, %r1, 31;", "shr.u32 %r8, %r1, 5;", "mad.lo.u32 %r9, %r7, 4, %r4;", "add.u32 %r9, %r9, %r8;", "st.shared.u8 [%r9], %r1;"), 0)
races("atomics of all warps", lines("@%p1 " .. write, barrier, "atom.shared.add.u32 %r6, [tile], 1;"), 0)
races("an atomic, and a read without a barrier",
  lines("@%p1 " .. write, barrier, "@%p1 atom.shared.add.u32 %r6, [tile], 1;", "@!%p1 ld.shared.u32 %r6, [tile];"), 32)
races("generic addresses, too", lines("cvt.u64.u32 %rd7, %r5;", "cvta.shared.u64 %rd7, %rd7;", "st.u32 [%rd7], %r1;", barrier,
  read_crossed, "st.u32 [%rd7], %r1;"), 64)
races("a producer that arrives, and a consumer that waits",
  lines("@%p1 " .. write, "@%p1 bra P;", "bar.sync 1, 64;", read_crossed, "bra E;", "P: bar.arrive 1, 64;", "E:"), 0)
races("a consumer that does not wait", lines("@%p1 " .. write, "@%p1 bra P;", "mov.u32 %r9, 0;", "L: add.u32 %r9, %r9, 1;",
  "setp.lt.u32 %p2, %r9, 100;", "@%p2 bra L;", read_crossed, "P:"), 32)

local copy <const> = "cp.async.ca.shared.global [%r5], [%rd4], 4;"
local copied <const> = lines(copy, "cp.async.wait_all;", barrier, read_crossed)
races("a copy to shared memory, and behind a barrier reads of other warps", copied, 0, { filled = 512 })
races("a copy into words that another warp may still read", lines(write, barrier, read_crossed, copy), 64, { filled = 512 })
races("a copy, and reads of another warp without a barrier", lines(copy, "cp.async.wait_all;", read_crossed), 64, { filled = 512 })
finds("a copy of memory that nobody has written", copied, "64 x read of uninitialised global memory, line 19")
finds("a copy that fills with zeros, and reads nothing", lines("cp.async.ca.shared.global [%r5], [%rd4], 4, 0;", "cp.async.wait_all;",
  "ld.shared.u32 %r6, [%r5];"), "")
finds("a copy that reads the first half of what it writes", lines("cp.async.ca.shared.global [%r5], [%rd4], 4, 2;"),
  "38 x read of uninitialised global memory, line 19", { filled = 102 })

-- Thread 0 copies 256 bytes; its mbarrier has parity 1 behind them.
local object <const> = lines("mov.u32 %r9, %tid.x;", "setp.eq.u32 %p2, %r9, 0;", "@%p2 mbarrier.init.shared.b64 [tile+256], 1;", barrier,
  "@%p2 mbarrier.arrive.expect_tx.shared.b64 _, [tile+256], 256;")
local bulk <const> = lines(object,
  "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [tile+256];")
local await <const> = lines("L: mbarrier.test_wait.parity.shared.b64 %p2, [tile+256], 0;", "@!%p2 bra L;")
races("a bulk copy, and reads of those who wait at its mbarrier", lines(bulk, await, read_crossed), 0, { filled = 512 })
races("a bulk copy, and reads of a warp that does not wait", lines(bulk, read_crossed), 32, { filled = 512 })
finds("a bulk copy of memory of which the end is not written", lines(bulk, await), "1 x read of uninitialised global memory, line 24",
  { filled = 240 })
finds("a bulk copy of memory that is written, and no more of it", lines(bulk, await), "", { filled = 256 })
local store <const> = "@%p2 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], "
local load_back <const> = "ld.global.u32 %r6, [%rd6];"
finds("a bulk copy to global memory", lines(write, barrier, object, store .. "256;", "cp.async.bulk.wait_group 0;", barrier, load_back), "")
finds("a bulk copy to global memory of less than is read", lines(write, barrier, object, store .. "240;", "cp.async.bulk.wait_group 0;",
  barrier, load_back), "4 x read of uninitialised global memory, line 29")
races("a bulk copy of what another warp writes", lines(object, write, store .. "256;"), 1)
finds("a prefetch of memory that nobody has written", "    cp.async.bulk.prefetch.L2.global [%rd1], 512;", "")

local made <const> = lines("mov.u32 %r9, %tid.x;", "setp.eq.u32 %p2, %r9, 0;", "@%p2 mbarrier.init.shared.b64 [tile+256], 64;", barrier)
races("an mbarrier that orders writes and reads", lines(made, write, "mbarrier.arrive.shared.b64 _, [tile+256];",
  "L: mbarrier.test_wait.parity.shared.b64 %p2, [tile+256], 0;", "@!%p2 bra L;", read_crossed), 0)
races("an mbarrier at which nobody waits", lines(made, write, "mbarrier.arrive.shared.b64 _, [tile+256];", read_crossed), 64)

-- A flag in word 64, zero before: warp 0 writes its words, then the flag; warp 1 waits for it, then reads them.
local flag <const> = lines("@%p1 st.shared.u32 [tile+256], 0;", barrier)
local function handed_over(raise, wait, before_reads)
  return lines(flag, "@!%p1 bra L;", write, raise, "bra E;", "L: " .. wait, "setp.ne.u32 %p2, %r9, 1;", "@%p2 bra L;",
    before_reads or "", read_crossed, "E:")
end
local acquire <const>, release <const> = "ld.acquire.cta.shared.u32 %r9, [tile+256];", "st.release.cta.shared.u32 [tile+256], 1;"
local volatile_read <const>, volatile_write <const> = "ld.volatile.shared.u32 %r9, [tile+256];", "st.volatile.shared.u32 [tile+256], 1;"
races("a flag that is released and acquired orders what was written before", handed_over(release, acquire), 0)
races("volatile accesses to a flag, with fences",
  handed_over(lines("membar.cta;", volatile_write), volatile_read, "membar.cta;"), 0)
races("atomics on a flag, with fences", handed_over(lines("fence.acq_rel.cta;", "atom.shared.exch.b32 %r6, [tile+256], 1;"),
  "atom.shared.cas.b32 %r9, [tile+256], 7, 7;", "fence.acq_rel.cta;"), 0)
races("a released flag by a generic address", handed_over(lines("cvt.u64.u32 %rd7, %r4;", "cvta.shared.u64 %rd7, %rd7;",
  "st.release.cta.u32 [%rd7+256], 1;"), acquire), 0)
races("a volatile flag without fences orders nothing else", handed_over(volatile_write, volatile_read), 32)
races("a flag without a fence where it is raised", handed_over(volatile_write, acquire), 32)
races("a flag without a fence where it is read", handed_over(release, volatile_read), 32)
races("a plain write of a flag that another warp acquires",
  handed_over("st.shared.u32 [tile+256], 1;", acquire), 64)
races("what is written behind the release", handed_over(lines(release, write), acquire), 32)
races("what is overwritten while the other warp may still read it",
  lines(flag, "@!%p1 bra L;", write, release, "mov.u32 %r8, 0;", "N: add.u32 %r8, %r8, 1;", "setp.lt.u32 %p2, %r8, 200;", "@%p2 bra N;", write, "bra E;", "L: " .. acquire,
    "setp.ne.u32 %p2, %r9, 1;", "@%p2 bra L;", read_crossed, "E:"), 32)
races("what is overwritten once the other warp has released it",
  lines("@%p1 st.shared.v2.u32 [tile+256], {0, 0};", barrier, "@!%p1 bra L;", write, release,
    "M: ld.acquire.cta.shared.u32 %r9, [tile+260];", "setp.ne.u32 %p2, %r9, 1;", "@%p2 bra M;", write, "bra E;", "L: " .. acquire,
    "setp.ne.u32 %p2, %r9, 1;", "@%p2 bra L;", read_crossed, "st.release.cta.shared.u32 [tile+260], 1;", "E:"), 0)
-- Warps 0 and 1 write and count; warp 2, which sees both, reads the words of warp 0 (32 of them) through the count of warp 1.
races("a count by atomics hands over what all have written that counted",
  lines("@%p1 st.shared.u32 [tile+508], 0;", barrier, "setp.ge.u32 %p3, %r1, 64;", "@%p3 bra L;", "mov.u32 %r9, 0;",
    "@%p1 bra C;", "W: ld.volatile.shared.u32 %r8, [tile+508];", "setp.lt.u32 %p2, %r8, 32;", "@%p2 bra W;",
    "C: st.shared.u32 [%r5], %r1;", "membar.cta;", "red.shared.add.u32 [tile+508], 1;", "bra E;",
    "L: ld.acquire.cta.shared.u32 %r9, [tile+508];", "setp.ne.u32 %p2, %r9, 64;", "@%p2 bra L;", "ld.shared.u32 %r6, [%r5+-256];", "E:"), 0,
  { block = 96 })

harness.test("what is found is the same in any order and on any threads, place by place", function()
  local body = lines("ld.global.u32 %r6, [%rd4];", write, barrier, read_crossed, write)
  local function text(options)
    options.grid = 40
    local report = {}
    for i, s in ipairs((sites_of(body, options))) do
      report[i] = ("%s|%s|%s|%s|%s|%s|%s|%d|%d"):format(s.kind, s.place, s.cta, s.thread, s.other_thread, s.other_place, s.ptx, s.cycle, s.count)
    end
    return table.concat(report, "\n")
  end
  local plain = text {}
  harness.contains(plain, "read of uninitialised global memory|PTX line 19, tile.cu:7|(0, 0, 0)|")
  harness.contains(plain, "|2560") -- 64 threads of 40 CTAs
  for _, options in ipairs { { order = "reversed" }, { order = "shuffled:3" }, { order = "restless" }, { threads = 3 } } do
    harness.equal(text(options), plain)
  end
end)

-- Runs -------------------------------------------------------------------------------------------------------------

local ptx = harness.write("tile.ptx", kernel(lines(write, crossed, "ld.shared.u32 %r6, [%r8];", "st.global.u32 [%rd4], %r6;")))
local launch = { "--grid", "2", "--block", "64", "--arg", "u32[64]", "--arg", "u32[64]" }

local function run(...)
  return harness.run("run", "gtx480", ptx, table.unpack(table.move({ ... }, 1, select("#", ...), #launch + 1, table.move(launch, 1, #launch, 1, {}))))
end

harness.test("a run says what was found, and ends with status 1; its statistics are those without", function()
  local with, without = harness.folder() .. "/with", harness.folder() .. "/without"
  local status, output = run("--memcheck", "--out", with)
  harness.equal(status, 1, output)
  harness.contains(output, "memcheck: kernel k, PTX line 22, tile.cu:7: race in shared memory: read after write, address 0x",
    "; before, by thread (", ") at PTX line 19, tile.cu:7, in st.shared.u32 [%r5], %r1;", "memcheck ")
  harness.contains(harness.read(with .. "/memcheck.txt"), "race in shared memory", "memcheck: ")
  status, output = run("--out", without)
  harness.equal(status, 0, output)
  harness.equal(harness.read(with .. "/stats.txt"), harness.read(without .. "/stats.txt"))
  assert(not io.open(without .. "/memcheck.txt"), "memcheck.txt of a run without it")
  status, output = harness.run("run", "gtx480", "vecadd", "--size", "small", "--memcheck", "--out", with)
  harness.equal(status, 0, output)
  harness.contains(output, "0 errors at 0 places")
end)

harness.test("frees and barriers have no accesses: frees are counted, and warps", function()
  local text = kernel(lines(half, "@%p2 bar.sync 0;", ".loc 1 8 1", "bar.sync 0;", malloc, free, free))
  local _, output = harness.run("run", "gtx480", harness.write("halves.ptx", text), "--memcheck", table.unpack(launch))
  harness.contains(output, "PTX line 23, tile.cu:8: threads of a warp at different barriers, CTA (0, 0, 0), thread (48, 0, 0), launch 0, cycle ",
    "; 4 warps; in bar.sync 0;; before, by thread (32, 0, 0) at PTX line 21, tile.cu:7, in @%p2 bar.sync 0;",
    "free of what was freed before, address 0x", "; 128 frees; in ", "132 errors at 2 places")
end)

harness.test("the results of a machine that a script drives say what was found, and so does its folder", function()
  local sim = ww.build("gtx480", { memcheck = true })
  local gpu = sim:gpu()
  local kernels = gpu:load { text = kernel(load_p), name = "tile.ptx" }
  gpu:launch(kernels.k, { grid = 1, block = 64, args = { gpu:alloc(512), gpu:alloc(512) } })
  local found = sim:result().memcheck
  harness.equal(found.errors, 64)
  harness.contains(found.lines[1], "kernel k, PTX line 19, tile.cu:7: read of uninitialised global memory")
  local out = harness.folder() .. "/driven"
  sim:write(out)
  harness.contains(harness.read(out .. "/memcheck.txt"), found.lines[1], "memcheck: 64 errors at 1 place")
  harness.equal(ww.build("gtx480"):result().memcheck, false)
end)

harness.test("checkpoints and memcheck exclude each other, and so do the bounds of hardware", function()
  local status, output = run("--memcheck", "--checkpoint-at", "100", "--out", harness.folder() .. "/no")
  harness.equal(status, 1, output)
  harness.contains(output, "expected a run without memcheck: no checkpoint holds what it knows")
  local saved = harness.folder() .. "/saved"
  run("--checkpoint-at", "100", "--out", saved)
  local pipe <close> = io.popen("ls " .. saved .. "/*.ckpt")
  status, output = harness.run("run", "--resume", assert(pipe:read "l"), "--memcheck", "--out", harness.folder() .. "/no")
  harness.equal(status, 2, output)
  harness.contains(output, "resume: expected a run without memcheck")
  status, output = run("--memcheck", "--bounds", "hardware")
  harness.equal(status, 2, output)
  harness.contains(output, 'bounds: expected "strict" with memcheck, got "hardware"')
end)

harness.test("with the bounds of hardware a kernel may leave its allocations, but not what is mapped around them", function()
  local beyond = harness.write("beyond.ptx", kernel(lines("ld.global.u32 %r6, [%rd4+4096];", "st.global.u32 [%rd6], %r6;")))
  local far = harness.write("far.ptx", kernel(lines("ld.global.u32 %r6, [%rd4+2097152];")))
  local function run_of(path, ...)
    return harness.run("run", "gtx480", path, "--grid", "1", "--block", "64", "--arg", "u32[64]=fill:7", "--arg", "u32[64]=fill:9",
      "--out", harness.folder() .. "/bounds", ...)
  end
  local status, output = run_of(beyond)
  harness.equal(status, 2, output)
  harness.contains(output, "access out of bounds at address 0xc00010")
  local zeros = harness.write("zeros.bin", ("\0"):rep(256))
  status, output = run_of(beyond, "--bounds", "hardware", "--expect", "q=" .. zeros)
  harness.equal(status, 0, output)
  status, output = run_of(far, "--bounds", "hardware")
  harness.equal(status, 2, output)
  harness.contains(output, "access out of bounds at address 0xc02000")
  -- a checkpoint keeps the choice, and what is between allocations
  local passing = harness.write("passing.ptx", kernel(lines("st.global.u32 [%rd4+4096], %r1;", "bar.sync 0;", "mov.u32 %r8, 0;",
    "L: add.u32 %r8, %r8, 1;", "setp.lt.u32 %p2, %r8, 500;", "@%p2 bra L;", "ld.global.u32 %r6, [%rd4+4096];", "st.global.u32 [%rd6], %r6;")))
  local numbers = ww.array("u32", 64)
  for i = 0, 63 do numbers[i] = i end
  numbers:write(harness.folder() .. "/numbers.bin")
  status, output = run_of(passing, "--bounds", "hardware", "--checkpoint-at", "1000", "--expect", "q=" .. harness.folder() .. "/numbers.bin")
  harness.equal(status, 0, output)
  local pipe <close> = io.popen("ls " .. harness.folder() .. "/bounds/*.ckpt")
  status, output = harness.run("run", "--resume", assert(pipe:read "l"), "--out", harness.folder() .. "/bounds_resumed")
  harness.equal(status, 0, output)
  harness.contains(output, "verified")
  status, output = run_of(far, "--bounds", "soft")
  harness.equal(status, 2, output)
  harness.contains(output, "bounds: expected \"strict\" or \"hardware\", got 'soft'")
end)

--- One warp and a tile of 16 x 16 halves in shared memory, or in global memory of which 256 of its 512 bytes are filled.
local function matrix_finds(what, body, want)
  finds(what, lines("mov.u32 %r9, 16;", table.unpack(body)), want, { block = 32, filled = 256 })
end

local stored <const> = "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r4], {%r1, %r1, %r1, %r1}, %r9;"
matrix_finds("a matrix that wmma.store wrote is written to its last row", { stored, "bar.sync 0;", "ld.shared.u32 %r6, [%r5+384];" }, "")
matrix_finds("a matrix of which wmma.load finds rows unwritten is told, element by element",
  { "st.shared.u32 [%r5], %r1;", "bar.sync 0;", "wmma.load.c.sync.aligned.row.m16n16k16.shared.f16 {%r6, %r7, %r8, %r10}, [%r4], %r9;" },
  "192 x read of uninitialised shared memory, line 22")
matrix_finds("a matrix in global memory is looked at to its last row",
  { "wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%r6, %r7, %r8, %r10}, [%rd1], %r9;" }, "128 x read of uninitialised global memory, line 20")
matrix_finds("of ldmatrix.x1 the addresses of the first eight lanes count",
  { "st.shared.u32 [%r5], %r1;", "bar.sync 0;", "shl.b32 %r8, %r1, 4;", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r8];" }, "")

harness.finish()
