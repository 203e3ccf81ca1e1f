-- What editors know of the Lua API: current, and as the objects are.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

local folder = core.home_path "core/lua/annotations/warpwright/"

harness.test("the annotations are those of today's rows", function()
  local status, output = harness.run(core.home_path "scripts/annotations.lua", "--check")
  assert(status == 0, output)
end)

harness.test("they have the knobs, values, methods, parameters and hooks of a class with their types", function()
  local objects, machine, policy = harness.read(folder .. "objects.lua"), harness.read(folder .. "machine.lua"),
    harness.read(folder .. "policy.lua")
  harness.contains(objects, "---@class warpwright.SM: warpwright.Handle, warpwright.SM.Values\n")
  harness.contains(objects, '---@field scheduler "lrr"|"gto"|"oldest"|"groups" Order of the warp schedulers: a knob\n')
  harness.contains(objects, "---@field may_issue integer Warps that may issue (warps): a knob\n")
  harness.contains(objects, "---@param scheduler integer 0 to schedulers - 1\n---@return integer warp\nfunction SM:last(scheduler) end\n")
  harness.contains(objects, "---@return integer? warp\nfunction L1:reexecution_head() end\n")
  harness.contains(objects, "---@param vta warpwright.VictimTags\n")
  harness.contains(machine, "---@field ways integer Lines per set (lines)\n", "---@field size integer|string Capacity (bytes)",
    "function Machine:L1(name, index) end\n", "---@field lsu warpwright.LSU.Object Load/store unit\n")
  harness.contains(policy, "---@field on_cta_start? fun(self: warpwright.Policy, slot: integer, warps: integer) SM: ")
  harness.contains(policy, "---@field pick? (fun(self: warpwright.Policy, scheduler: integer, ready: integer): integer?)|(fun(")
end)

harness.test("they have what the page says that a definition may hold, and what self has", function()
  local page, policy = harness.read(core.home_path "docs/policy_interface.md"), harness.read(folder .. "policy.lua")
  local settings, fields = policy:match "(%-%-%-@class %(exact%) warpwright.PolicySettings\n.-)\n\n(.*)"
  local keys, has = page:match "## The definition\n(.-)\n## ", page:match "## What `self` has\n(.-)\n## "
  for names in keys:gmatch "\n| (`[^|]*) |" do
    for name in names:gmatch "`([%w_]+)`" do harness.contains(settings, ("---@field %s? "):format(name)) end
  end
  for names in has:gmatch "\n| (`self[^|]*) |" do
    for name in names:gmatch "self[.:]([a-z_%d]+)%f[^%w_]" do harness.contains(fields, ("---@field %s "):format(name)) end
  end
end)

harness.finish()
