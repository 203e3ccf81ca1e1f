local ww = require "warpwright"
local side_by_side = require "workloads.lib.tenants"

local tenants = ww.workload "tenants" {
  doc = "Other workloads side by side, as tenants of one GPU",
  ptx = false,
  sizes = {
    small = { of = "kmeans+spmv", each = "small", again = 0, seed = 1 },
    medium = { of = "kmeans+spmv", each = "medium", again = 0, seed = 1 },
    large = { of = "kmeans+spmv", each = "large", again = 0, seed = 1 },
  },
}

function tenants:run(gpu, size)
  local list = {}
  for name in size.of:gmatch "[^+]+" do
    list[#list + 1] = { workload = name, size = size.each, seed = size.seed }
  end
  if not list[1] then error(("of: expected workloads, such as kmeans+spmv, got '%s'"):format(size.of), 0) end
  side_by_side.run(self, gpu, list, size.again ~= 0)
end

return tenants
