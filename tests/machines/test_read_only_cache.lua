-- A cache for ld.global.nc beside the L1, at the port `texture` of the load/store units.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

--- A machine of two SMs with such a cache in each, of lines of `line` bytes.
local machine <const> = [[
local ww = require "warpwright"
return ww.machine("read_only", { line = 32, texture = true }, function(m, o)
  m:clocks { core = "700MHz", dram = "924MHz" }
  m:Dispatcher "dispatcher" { sms = 2 }
  m:AddressMap "map" { channels = 1 }
  local mux = m:Mux "mux" { up = 4 }
  local l2 = m:L2 "l2" { size = "64KiB", ways = 8, mshrs = 32 }
  local mc = m:MemoryController "mc" { clock = "dram" }
  for i = 0, 1 do
    local sm = m:SM ("sm", i) {}
    local l1 = m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
    local read_only = m:L1 (sm, "read_only") { size = "8KiB", ways = 4, line = o.line, mshrs = 32, write_policy = "none" }
    m:wire(sm.lsu.mem, l1.cpu)
    if o.texture then m:wire(sm.lsu.texture, read_only.cpu) else m:wire(sm.fetch, read_only.cpu) end
    m:wire(l1.mem, mux.up[2 * i], { latency = 8, depth = 16 })
    m:wire(read_only.mem, mux.up[2 * i + 1], { latency = 8, depth = 16 })
  end
  m:wire(mux.down, l2.cpu)
  m:wire(l2.mem, mc.cpu[0])
  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
end)
]]

--- Each lane loads the word `stride` bytes after that of the lane before it, twice.
local source <const> = [[
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 buffer)
{
  .reg .b32 %%lane, %%word, %%again;
  .reg .b64 %%at, %%buffer;
  ld.param.u64 %%buffer, [buffer];
  mov.u32 %%lane, %%laneid;
  mul.wide.u32 %%at, %%lane, %d;
  add.u64 %%at, %%at, %%buffer;
  %s.u32 %%word, [%%at];
  st.global.u32 [%%at], %%word;
  %s.u32 %%again, [%%at];
  st.global.u32 [%%at], %%again;
  ret;
}
]]

local path <const> = harness.write("read_only.lua", machine)

local function build(set, how)
  return ww.build(path, { set = set, order = how and how.order, threads = how and how.threads })
end

--- A CTA of a warp on each SM; returns the statistics.
local function run(set, load, stride, how)
  local sim = build(set, how)
  local gpu = sim:gpu()
  local kernel = gpu:load { text = source:format(stride or 4, load, load), name = "loads.ptx" }.k
  gpu:launch(kernel, { grid = 2, block = 32, args = { gpu:alloc(32 * 128) } })
  return sim:result()
end

--- { global loads, accesses of the L1s by loads, texture loads, accesses of the other caches, their misses } of both SMs.
local function counts(r)
  local function all(cache) return r[cache .. ".read_hits"] + r[cache .. ".read_misses"] + r[cache .. ".read_merges"] end
  return ("%d %d, %d %d %d"):format(r["sm[*].lsu.global_loads"], all "sm[*].l1d", r["sm[*].lsu.texture_loads"],
    all "sm[*].read_only", r["sm[*].read_only.read_misses"])
end

local function text_of(r)
  local lines = {}
  for name, value in r:stats() do lines[#lines + 1] = name .. " " .. tostring(value) end
  return table.concat(lines, "\n")
end

local function refuses(set, text)
  local ran, message = pcall(run, set, "ld.global.nc")
  harness.equal(ran, false, "whether it ran, for " .. text)
  harness.contains(tostring(message), text)
end

local segments <const> = "sm[*].lsu.read_only_segment"

harness.test("by default ld.global.nc goes where other loads do", function()
  harness.equal(counts(run({}, "ld.global.nc")), "4 4, 0 0 0")
end)

harness.test("with read_only_segment ld.global.nc goes to the cache at the port texture, other loads do not", function()
  harness.equal(counts(run({ [segments] = 32 }, "ld.global.nc")), "0 0, 4 16 8")
  harness.equal(counts(run({ [segments] = 32 }, "ld.global")), "4 4, 0 0 0")
end)

harness.test("what is to be coherent in the L2 passes by both caches", function()
  harness.equal(counts(run({ [segments] = 32 }, "ld.global.cg.nc")), "4 0, 0 0 0")
end)

harness.test("a line is as many accesses as its segments that lanes touch", function()
  for bytes, accesses in pairs { [32] = 16, [64] = 8, [128] = 4 } do
    local r = run({ line = 128, [segments] = bytes }, "ld.global.nc")
    local what = (" with segments of %d"):format(bytes)
    harness.equal(r["sm[*].read_only.read_hits"] + r["sm[*].read_only.read_misses"] + r["sm[*].read_only.read_merges"], accesses,
      "accesses" .. what)
    harness.equal(r["sm[*].read_only.fetches"], 2, "lines fetched" .. what)
  end
  harness.equal(counts(run({ [segments] = 32 }, "ld.global.nc", 128)), "0 0, 4 128 64")
end)

harness.test("the same in any order of ticks, without sleep, on threads", function()
  local want = text_of(run({ [segments] = 32 }, "ld.global.nc", 68))
  for _, how in ipairs { { order = "reversed" }, { order = "shuffled:1" }, { order = "restless" }, { threads = 2 } } do
    harness.same_text(text_of(run({ [segments] = 32 }, "ld.global.nc", 68, how)), want, how.order or "threads")
  end
end)

harness.test("legal are segments that caches have, no longer than lines, where there is a cache", function()
  refuses({ [segments] = 48 }, "lsu.read_only_segment: expected 0, 32, 64 or 128, got 48")
  refuses({ [segments] = 64 },
    "sm[0].read_only.line: expected 64 B or more for the requests of sm[0].lsu.texture, got 32 B")
  refuses({ texture = false, [segments] = 32, line = 128 },
    "sm[0].lsu.texture: expected a wire to a cache, for read_only_segment = 32, got none")
end)

harness.finish()
