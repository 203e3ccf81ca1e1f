-- SHiP-PC: the counters of a PC move with first uses and with lines that leave unused, and say where lines enter; lines that are
-- used again stay beside a stream of another instruction.
local ww = require "warpwright"
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local load = require "warpwright.load"

local ship = load.get("policy", "ship").functions

--- An instance for itself, whose cache has a line of PC 9 everywhere, used so often.
local function instance(params)
  local counted, cache = {}, { uses = 1 }
  function cache.line_uses() return cache.uses end
  function cache.line_pc() return 9 end
  local self = setmetatable({ cache = cache, params = { entries = 16, bits = 2, sampled = 1, learn = true }, counted = counted }, { __index = ship })
  for name, value in pairs(params or {}) do self.params[name] = value end
  function self.only() end
  function self.count(_, name) counted[name] = (counted[name] or 0) + 1 end
  self:start()
  return self
end

local function hit(self, uses)
  self.cache.uses = uses
  self:on_hit(0, 0, 0, 5, 0, 0, 3, 1)
end

local function leaves(self) self:on_evict(0, 0, 0, 0, 3, 1, 0, 9, 0) end

local function enters(self, pc) return self:insertion(3, 3, 0, 0, 0, pc) end

harness.test("a line's first use raises the counter of the PC that brought it, once", function()
  local self = instance()
  hit(self, 1)
  harness.equal(self.state[9], 2, "counter")
  hit(self, 2)
  harness.equal(self.state[9], 2, "after the second use")
  hit(self, 1)
  hit(self, 1)
  harness.equal(self.state[9], 3, "at its most")
  harness.equal(self.counted.raised, 3, "raised")
  harness.equal(self.state[5], nil, "counter of the PC that hit")
end)

harness.test("lines that leave unused lower it; at 0 lines of the PC enter where they go first", function()
  local self = instance()
  harness.equal(enters(self, 9), nil, "enters as usual")
  leaves(self)
  harness.equal(self.state[9], 0, "counter")
  harness.equal(enters(self, 9), 3, "enters with the distant prediction")
  harness.equal(enters(self, 25), 3, "so does the PC that shares the counter")
  harness.equal(enters(self, 8), nil, "another PC")
  leaves(self)
  hit(self, 1)
  harness.equal(enters(self, 9), nil, "used again: as usual")
end)

harness.test("without learning no counter moves", function()
  local self = instance { learn = false }
  leaves(self)
  hit(self, 1)
  harness.equal(next(self.state), nil, "counters")
end)

-- In each round a warp reads one of 256 lines, and three lines that nobody reads again; the L2 has 512.
local ptx = harness.write("beside.ptx", [[
.version 4.2
.target sm_20
.address_size 64
.visible .entry beside(.param .u64 again, .param .u64 stream, .param .u32 rounds)
{
    .reg .u32 %r<8>;
    .reg .u64 %rd<8>;
    .reg .pred %p;
    ld.param.u64 %rd0, [again];
    ld.param.u64 %rd1, [stream];
    ld.param.u32 %r0, [rounds];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd0, %rd0, %rd2;
    add.u64 %rd1, %rd1, %rd2;
    mov.u32 %r2, 0;
LOOP:
    and.b32 %r3, %r2, 255;
    mul.wide.u32 %rd3, %r3, 128;
    add.u64 %rd3, %rd0, %rd3;
    ld.global.cg.u32 %r4, [%rd3];
    ld.global.cg.u32 %r5, [%rd1];
    ld.global.cg.u32 %r6, [%rd1+128];
    ld.global.cg.u32 %r7, [%rd1+256];
    add.u64 %rd1, %rd1, 384;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, %r0;
    @%p bra LOOP;
    ret;
}
]])

local rounds <const> = 4096

local function read_hits(policy)
  local set = { sms = 1, partitions = 1, ["l2[*].size"] = "64KiB", ["l2[*].replacement"] = "srrip" }
  local sim = ww.build("gtx480", { policy = policy, set = set })
  local gpu = sim:gpu()
  gpu:launch(gpu:load(ptx).beside, { grid = 1, block = 32, args = { gpu:alloc(256 * 128), gpu:alloc(384 * rounds), rounds } })
  local r = sim:result()
  return checks.sum(r, "l2.read_hits"), r
end

harness.test("lines that are used again stay beside a stream", function()
  local without = read_hits "gto"
  local with, r = read_hits "ship"
  assert(with > rounds // 2 and with > 10 * without, ("%d hits of %d, %d under srrip"):format(with, rounds, without))
  for _, name in ipairs { "raised", "lowered", "distant", "usual" } do assert(checks.sum(r, "l2.ship." .. name) > 0, name) end
end)

local small = { ["l2[*].size"] = "16KiB", ["l2[*].replacement"] = "srrip" }
checks.equals("ship:learn=false", "gto", "bfs", small)
checks.law("ship", "bfs", small)
checks.law("ship:cache=data", "spmv")
checks.resumes("ship:cache=data|last", "kmeans", 2)

harness.finish()
