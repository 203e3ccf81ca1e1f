-- `warpwright run CONFIG FILE.ptx --grid ... --arg ...`: one kernel as a workload made on the fly.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local ptx = harness.write("kernels.ptx", [[
.version 7.0
.target sm_70
.address_size 64
.visible .entry axpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{
    .reg .u64 %rd<6>;
    .reg .u32 %r<6>;
    .reg .f32 %f<5>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.f32 %f1, [a];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra OUT;
    mul.wide.u32 %rd3, %r5, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    ld.global.f32 %f3, [%rd5];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd5], %f4;
OUT:
    ret;
}
.visible .entry pair(.param .align 4 .b8 s[8], .param .u64 out)
{
    .reg .u64 %rd<2>;
    .reg .u32 %r<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [s];
    ld.param.u32 %r2, [s+4];
    add.u32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    ret;
}
]])

local count = 0

--- Runs it; returns status, output, stats.
local function run(...)
  count = count + 1
  local folder = ("%s/%d"):format(harness.folder(), count)
  local status, output = harness.run("run", "gtx480", ptx, "--out", folder, ...)
  local file = io.open(folder .. "/stats.txt", "rb")
  local stats = file and file:read "a"
  if file then file:close() end
  return status, output, stats, folder
end

local function fails(...)
  local texts = {}
  local words = { ... }
  while words[1] ~= "|" do texts[#texts + 1] = table.remove(words, 1) end
  local status, output = run(table.unpack(words, 2))
  harness.equal(status, 2, output)
  harness.contains(output, table.unpack(texts))
end

local axpy = { "--kernel", "axpy", "--grid", "4", "--block", "256" }
local function with(...) return table.unpack(table.move({ ... }, 1, select("#", ...), #axpy + 1, table.move(axpy, 1, #axpy, 1, {}))) end

harness.test("buffers are made, given, dumped and compared", function()
  local result = harness.folder() .. "/y.bin"
  local status, output = run(with("--arg", "f32[1000]=iota", "--arg", "f32[1000]=pattern:1,2", "--arg", "2.5", "--arg", "1000",
    "--dump", "y=" .. result, "--dump", "0=" .. result .. ".x"))
  harness.equal(status, 0, output)
  harness.contains(output, "nothing was checked")
  local want = ww.array("f32", 1000)
  for i = 0, 999 do want[i] = 2.5 * i + 1 + i % 2 end
  harness.equal(harness.read(result), want:string())
  harness.equal(ww.file_array(result .. ".x", "f32")[999], 999.0)
  harness.contains(output, "argument 1           y, f32[1000], digest ")
  -- by name, in another order, from a file, and compared
  local x = harness.write("x.bin", ww.file_array(result .. ".x", "f32"):string())
  local again = { with("--arg", "n=u32:1000", "--arg", "a=f32:2.5", "--arg", "y=f32[1000]=pattern:1,2", "--arg", "x=f32[]=file:" .. x) }
  table.move({ "--expect", "y=" .. result }, 1, 2, #again + 1, again)
  status, output = run(table.unpack(again))
  harness.equal(status, 0, output)
  harness.contains(output, "verified")
  -- with another factor: refused, and within a tolerance
  again[10] = "a=2.75"
  status, output = run(table.unpack(again))
  harness.equal(status, 1, output)
  harness.contains(output, "verification failed: kernels: y and ", "element 1: expected 4.5, got 4.75 (999 of 1000 differ)")
  again[#again] = again[#again] .. ",abs=1,rel=0.25"
  status, output = run(table.unpack(again))
  harness.equal(status, 0, output)
end)

harness.test("halves are given as numbers", function()
  local halves = harness.write("halves.ptx", [[
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 o, .param .f16 x, .param .b16 y, .param .bf16 z)
{
    .reg .b16 %h<5>;
    .reg .b64 %rd;
    ld.param.u64 %rd, [o];
    ld.param.b16 %h1, [x];
    ld.param.b16 %h2, [y];
    ld.param.b16 %h3, [z];
    st.global.b16 [%rd], %h1;
    st.global.b16 [%rd+2], %h2;
    st.global.b16 [%rd+4], %h3;
    ld.global.b16 %h4, [%rd+6];
    st.global.b16 [%rd+8], %h4;
    ret;
}
]])
  local dump = harness.folder() .. "/halves.bin"
  local status, output = harness.run("run", "gtx480", halves, "--out", harness.folder() .. "/halves", "--grid", "1", "--block", "1",
    "--arg", "f16[5]=pattern:0,0,0,0.1", "--arg", "1.5", "--arg", "bf16:-2.5", "--arg", "3", "--dump", "0=" .. dump)
  harness.equal(status, 0, output)
  harness.contains(output, "o, f16[5], digest ")
  harness.equal(harness.read(dump), ("<I2I2I2I2I2"):pack(0x3e00, 0xc020, 0x4040, 0x2e66, 0x2e66))
end)

harness.test("structs are given as bytes or files", function()
  local out, struct = harness.folder() .. "/sum.bin", harness.write("struct.bin", "\1\0\0\0\xff\0\0\0")
  for _, spec in ipairs { "bytes:01000000FF000000", "file:" .. struct } do
    local status, output = run("--kernel", "pair", "--grid", "1", "--block", "1", "--arg", spec, "--arg", "u32[1]", "--dump", "out=" .. out)
    harness.equal(status, 0, output)
    harness.equal(ww.file_array(out, "u32")[0], 256)
  end
end)

harness.test("random contents are those of their seed", function()
  local function digest(seed)
    local _, output = run(with("--arg", "f32[1000]=random:" .. seed .. ",-1,1", "--arg", "f32[1000]", "--arg", "1", "--arg", "1000"))
    return output:match "argument 0 .- digest (%x+)"
  end
  harness.equal(digest(7), digest(7))
  assert(digest(7) ~= digest(8), "the same contents")
end)

harness.test("mistakes are told before the kernel runs, with kernels and parameters", function()
  local ok = { "--arg", "f32[8]", "--arg", "f32[8]", "--arg", "1", "--arg", "8" }
  fails("--kernel: expected one of the 2 kernels of ", "available: axpy, pair", "|", "--grid", "1", "--block", "32")
  local mangled = harness.write("mangled.ptx", ".version 6.0\n.target sm_20\n.address_size 64\n.visible .entry _Z6streamPKfPfi() { ret; }\n"
    .. ".visible .entry _Z6gatherv() { ret; }\n")
  harness.refused("no kernel matches 'stream'; did you mean _Z6streamPKfPfi?", "run", "gtx480", mangled, "--kernel", "stream", "--grid", "1",
    "--block", "32")
  fails("no kernel matches 'axp'; did you mean axpy? Available: axpy, pair", "|", "--kernel", "axp", "--grid", "1", "--block", "32")
  fails("expected --grid and --block with a PTX file, got no --block", "|", "--grid", "1")
  fails("--grid: expected X, X,Y or X,Y,Z in whole numbers, got '1,q'", "|", "--grid", "1,q", "--block", "1")
  fails("--arg: expected 4 for kernel axpy: x (8 bytes, integer), y (8 bytes, integer), a (4 bytes, float), n (4 bytes, integer); got 1",
    "|", with("--arg", "1"))
  fails("kernel axpy has no parameter 'z'; available: x (8 bytes, integer)", "|", with("--arg", "z=1", table.unpack(ok)))
  fails("expected one argument for x, got two", "|", with("--arg", "x=1", "--arg", "x=2", "--arg", "1", "--arg", "1"))
  fails("--arg f8[8]: expected a type (i8, u8", "|", with("--arg", "f8[8]"))
  fails("expected TYPE[COUNT]=FILLING with one of zeros, fill:X", "|", with("--arg", "f32[8]=ones"))
  fails("expected TYPE[COUNT], got no count", "|", with("--arg", "f32[]=zeros"))
  fails("expected random:SEED,LO,HI, got random:1", "|", with("--arg", "f32[8]=random:1", "--arg", "1", "--arg", "1", "--arg", "1"))
  fails("expected numbers, got 'a,b'", "|", with("--arg", "f32[8]=pattern:a,b", "--arg", "1", "--arg", "1", "--arg", "1"))
  fails("expected bytes: and pairs of hexadecimal digits, got '123'", "|", with("--arg", "bytes:123"))
  fails("expected a number, TYPE:NUMBER, bytes:HEX", "got 'x'", "|", with("--arg", "x"))
  fails("expected a value of 4 bytes for parameter a, got a buffer", "|", with("--arg", "1", "--arg", "1", "--arg", "f32[8]", "--arg", "1"))
  fails("kernel axpy, argument n: expected 4 bytes, got 8", "|", with("--arg", "1", "--arg", "1", "--arg", "1", "--arg", "u64:8"))
  fails("--dump: no buffer matches 'z'; available: 0 (x), 1 (y)", "|", with("--dump", "z=f", table.unpack(ok)))
  fails("--shared: expected bytes (128, \"128B\", \"16KiB\"), got 'lots'", "|", with("--shared", "lots", table.unpack(ok)))
  fails("--dump: expected a file that can be written, got /none/x.bin: No such file", "|", with("--dump", "y=/none/x.bin", table.unpack(ok)))
  fails("--dump: expected a file that can be written, got " .. harness.folder(), "|", with("--dump", "y=" .. harness.folder(), table.unpack(ok)))
  fails("--expect: no file matches './none.bin'", "|", with("--expect", "y=./none.bin", table.unpack(ok)))
  fails("--arg f32[]=file:./none.bin: no file matches './none.bin'", "|", with("--arg", "f32[]=file:./none.bin", "--arg", "1", "--arg", "1", "--arg", "1"))
  fails("--expect: expected ARG=FILE, got 'z'", "|", with("--expect", "z", table.unpack(ok)))
  local status, output = harness.run("run", "gtx480", "vecadd", "--grid", "4")
  harness.equal(status, 2)
  harness.contains(output, "--grid: expected a PTX file to run, got vecadd")
  status, output = harness.run("run", "gtx480", "none.ptx", "--grid", "4")
  harness.equal(status, 2)
  harness.contains(output, "run: no PTX file matches 'none.ptx'")
end)

--- The checkpoint in a folder, named by its cycle: a boundary of quanta.
local function checkpoint_in(folder)
  local pipe <close> = assert(io.popen("ls " .. folder .. "/*.ckpt"))
  return assert(pipe:read "l", "no checkpoint was made")
end

harness.test("it goes on from a checkpoint, also of a run that was killed", function()
  local words = { with("--arg", "f32[100000]=iota", "--arg", "f32[100000]=fill:1", "--arg", "2.5", "--arg", "100000") }
  words[4] = "400"
  local _, plain_output, plain = run(table.unpack(words))
  table.move({ "--checkpoint-at", "1000", "--policy", "lrr" }, 1, 4, #words + 1, words)
  local _, _, with_policy, folder = run(table.unpack(words))
  assert(plain ~= with_policy, "the policy changed nothing")
  local out = harness.folder() .. "/resumed"
  local status, output = harness.run("run", "--resume", checkpoint_in(folder), "--out", out)
  harness.equal(status, 0, output)
  harness.equal(harness.read(out .. "/stats.txt"), with_policy)
  harness.equal(output:match "argument 1[^\n]*", plain_output:match "argument 1[^\n]*")
  -- killed: --max-cycles stops it behind its checkpoint
  local killed = harness.folder() .. "/killed"
  words = { "run", "gtx480", ptx, "--out", killed, "--max-cycles", "1500", table.unpack(words) }
  status = harness.run(table.unpack(words))
  harness.equal(status, 2)
  status, output = harness.run("run", "--resume", checkpoint_in(killed), "--out", out)
  harness.equal(status, 0, output)
  harness.equal(harness.read(out .. "/stats.txt"), with_policy)
end)

harness.finish()
