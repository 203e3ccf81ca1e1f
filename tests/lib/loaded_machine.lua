-- A gtx480 into which PTX is loaded, for tests that launch its kernels themselves.
local ww = require "warpwright"

--- The machine under gto, unless `options` of ww.build() say otherwise; its GPU; the kernels of the PTX file, by name.
return function(ptx, options)
  options = options or {}
  options.policy = options.policy or "gto"
  local sim = ww.build("gtx480", options)
  local gpu = sim:gpu()
  return sim, gpu, gpu:load(ptx)
end
