-- What a policy sees of loops: which lanes go round, how many accesses a load becomes, and which load a warp has lost lines of.
local ww = require "warpwright"
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local runs = require "tests.lib.policy_runs"

-- Lane i goes round i + 1 times, and reads a line of its own each time: instruction 5. The branch is instruction 8.
local ptx = harness.write("leaving.ptx", [[
.version 4.2
.target sm_20
.address_size 64
.visible .entry leaving(.param .u64 out)
{
    .reg .u32 %r<8>;
    .reg .u64 %rd<4>;
    .reg .pred %p;
    ld.param.u64 %rd0, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 128;
    add.u64 %rd2, %rd0, %rd1;
    mov.u32 %r2, 0;
LOOP:
    ld.global.u32 %r3, [%rd2];
    add.u32 %r2, %r2, 1;
    setp.le.u32 %p, %r2, %r1;
    @%p bra LOOP;
    bra END;
    mov.u32 %r2, 7;
END:
    st.global.u32 [%rd2], %r2;
    ret;
}
]])

local looker = runs.file("looker", [[
local p = policy "looker" { counters = { turns = "", lanes = "", others = "", ends = "", loads = "", accesses = "", stores = "" } }
function p:on_branch(warp, pc, lanes, others)
  assert(warp == 0 and lanes & others == 0)
  if pc ~= 8 then
    assert(pc == 9 and lanes == 0xffffffff and others == 0)
    return self:count "ends"
  end
  local turn = self.counters.turns
  assert(others == 1 << turn and lanes == 0xffffffff & (~0 << turn + 1), "in each turn a lane leaves")
  self:count "turns"
  self:count("lanes", bits.count(lanes))
  self:count("others", bits.count(others))
end
function p:on_lsu_coalesced(warp, pc, write, accesses, address)
  assert(warp == 0 and pc == (write == 1 and 11 or 5))
  self.state.first = self.state.first or address
  if write == 1 then
    assert(address == self.state.first)
    return self:count("stores", accesses)
  end
  assert(address == self.state.first + 128 * self.counters.loads, "the first is that of the lowest lane")
  self:count "loads"
  self:count("accesses", accesses)
end
return p
]])

harness.test("branches tell who jumps and who goes on, loads how many accesses they become", function()
  local sim = ww.build("gtx480", { policy = looker, set = { sms = 1 } })
  local gpu = sim:gpu()
  gpu:launch(gpu:load(ptx).leaving, { grid = 1, block = 32, args = { gpu:alloc(32 * 128) } })
  local counts = {}
  for name, value in sim:result():stats() do
    local counter = name:match "^sm%[0%]%.looker%.(.*)$"
    if counter then counts[counter] = value end
  end
  local want = { turns = 32, lanes = 31 * 32 // 2, others = 32, ends = 1, loads = 32, accesses = 32 * 33 // 2, stores = 32 }
  for name, value in pairs(want) do harness.equal(counts[name], value, name) end
end)

local loser = runs.file("loser", [[
local p = policy "loser" {
  order = "lrr", caches = "data", counters = { hits = "" },
  parts = { { class = "VictimTags", name = "vta", of = "SM", cache = policy.first_cache } },
}
function p:on_vta_hit(_, _, pc)
  assert(self.sm:instruction(pc) == "ld.global.u32" and pc == 10)
  self:count "hits"
end
return p
]])

harness.test("a hit in the victim tags says which instruction missed", function()
  local r = checks.run { workload = checks.thrashing, policy = loser, set = { sms = 1 } }
  assert(checks.sum(r, "sm.loser.hits") > 0)
  harness.equal(checks.sum(r, "sm.loser.hits"), checks.sum(r, "sm.vta.hits"), "hits")
end)


harness.finish()
