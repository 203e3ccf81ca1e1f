-- What `require "warpwright"` gives: machines, workloads, runs, and the typed arrays of host programs.
local class = require "warpwright.class"
local core = require "warpwright.core"
local energy = require "warpwright.energy"
local machine = require "warpwright.machine"
local run = require "warpwright.run"
local variant = require "warpwright.variant"
local simulation = require "warpwright.simulation"
local workload = require "warpwright.workload"

local ww = {
  version = core.version,
  machine = machine.describe,
  class = class,
  variant = variant.describe,
  workload = workload.define,
  technology = energy.technology,
  build = simulation.build,
  run = run.run,
  array = core.array,
  array_from = core.array_from,
  file_array = core.file_array,
  rng = core.rng,
  float32 = core.float32,
}

-- ww.i32(x), ww.i32 { x, y ... } and their kin: values with their type, for kernel arguments and uploads.
for _, element in ipairs { "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64", "f16", "bf16" } do
  ww[element] = function(value)
    return type(value) == "table" and core.array_from(element, value) or core.array(element, 1):set(0, value)
  end
end

--- ww.sweep { ... }: many runs side by side; the modules are read when it is first called.
function ww.sweep(description) return require("warpwright.sweep.sweep").each(description) end

return setmetatable(ww, {
  __index = function(_, name) core.user_error(("warpwright: no function matches '%s'"):format(tostring(name))) end,
})
