-- Lines that are fetched in sectors: what a warp does not touch is neither fetched nor written back.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

--- Each lane of a warp loads the word `stride` bytes after that of the lane before it, and then does `last` with it.
local source <const> = [[
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 buffer)
{
  .reg .b32 %%lane, %%word;
  .reg .b64 %%at, %%buffer;
  ld.param.u64 %%buffer, [buffer];
  mov.u32 %%lane, %%laneid;
  mul.wide.u32 %%at, %%lane, %d;
  add.u64 %%at, %%at, %%buffer;
  ld.global.u32 %%word, [%%at];
  %s
  ret;
}
]]

local lines <const> = 64 -- that hold what lanes touch, or take its place
local params <const> = 64 -- bytes of the line in which the constant cache finds a kernel's parameters

--- A machine with one SM and one slice, of so few lines that a second kernel pushes out those of the first. Returns the
-- statistics after the first, and what the second adds to them.
local function run(config, stride, last, set)
  local of = config == "v100" and { channels = 1, ["l2[*].size"] = 16 * 128, ["l2[*].ways"] = 16 } or {}
  of.sms = 1
  for name, value in pairs(set or {}) do of[name] = value end
  local sim = ww.build(config, { set = of })
  local gpu = sim:gpu()
  local buffer, other = gpu:alloc(lines * 128, 8192), gpu:alloc(lines * 128, 8192)
  local function launch(step, action, at)
    gpu:launch(gpu:load { text = source:format(step, action), name = "strided.ptx" }.k, { grid = 1, block = 32, args = { at } })
    return sim:result()
  end
  local first = launch(stride, last, buffer)
  return first, launch(128, "", other):since(first)
end

--- Sectors of 32 B that 32 words `stride` bytes apart are in.
local sectors <const> = { [4] = 4, [16] = 16, [32] = 32, [64] = 32, [96] = 32, [128] = 32, [160] = 32 }

harness.test("a warp fetches the sectors that its lanes touch, whatever lies between them", function()
  for stride, count in pairs(sectors) do
    local r = run("v100", stride, "")
    harness.equal(r["sm[*].l1d.fetches"], count, ("fetches of the L1 at stride %d"):format(stride))
    harness.equal(r["mc[*].read_bytes"], 32 * count + params, ("bytes read at stride %d"):format(stride))
    harness.equal(r["mc[*].read_commands"], count + params // 32, ("bursts read at stride %d"):format(stride))
  end
end)

harness.test("what is written back is the sectors that lanes wrote or atomics changed", function()
  for _, last in ipairs { "st.global.u32 [%at], %word;", "red.global.add.u32 [%at], %word;" } do
    for stride, count in pairs(sectors) do
      local r, pushed_out = run("v100", stride, last)
      local written = r["mc[*].write_bytes"] + pushed_out["mc[*].write_bytes"]
      local commands = r["mc[*].write_commands"] + pushed_out["mc[*].write_commands"]
      harness.equal(written, 32 * count, ("bytes written at stride %d by %s"):format(stride, last))
      harness.equal(commands, count, ("bursts written at stride %d by %s"):format(stride, last))
    end
  end
end)

harness.test("a burst of 64 B serves both sectors in it", function()
  local set = { ["mc[*].burst_bytes"] = 64, ["mc[*].tCCD"] = 4 }
  for stride, bursts in pairs { [32] = 16, [64] = 32, [96] = 32 } do
    local r, pushed_out = run("v100", stride, "st.global.u32 [%at], %word;", set)
    harness.equal(r["mc[*].write_commands"] + pushed_out["mc[*].write_commands"], bursts, "bursts at stride " .. stride)
  end
end)

harness.test("on v100 and a100 a sector crosses the crossbar in one flit, with its header", function()
  for config, flits in pairs { v100 = 4, a100 = 2 } do
    local sim = ww.build(config, { set = { sms = 1 } })
    local gpu = sim:gpu()
    local kernel = gpu:load { text = source:format(4, "st.global.u32 [%at], %word;"), name = "strided.ptx" }.k
    local buffer = gpu:alloc(128, 128)
    gpu:launch(kernel, { grid = 1, block = 32, args = { buffer } })
    local r = sim:result()
    harness.equal(r["xbar.request_flits_out"], r["xbar.request_packets_out"] - 1 + flits, config .. ": a store of a line, and fetches")
    local answers = r["xbar.response_packets_out"] - 1 + params // 32 * flits // 4 -- of sectors, and of a line of parameters
    harness.equal(r["xbar.response_flits_out"], answers, config .. ": answers")
  end
end)

harness.test("without sectors a line is fetched and written as a whole", function()
  local r = run("gtx480", 64, "")
  harness.equal(r["sm[*].l1d.fetches"], 16, "lines")
  harness.equal(r["mc[*].read_bytes"] % 128, 0, "bytes read beyond whole lines")
end)

harness.finish()
