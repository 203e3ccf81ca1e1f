-- Where what CUDA programs need lies: headers, tools, libraries.
local core = require "warpwright.core"

local cuda_home = {}

--- The path of `below` in the folder share/warpwright/cuda beside the program, or beside its own folder; a user error when it
-- is not there.
function cuda_home.path(below)
  local folder = core.real_path("/proc/self/exe"):match "^(.*)/[^/]*$"
  for _, place in ipairs { folder .. "/share/warpwright/cuda", folder .. "/../share/warpwright/cuda" } do
    local path = core.real_path(place .. "/" .. below)
    if path then return path end
  end
  core.user_error(("cuda: expected '%s' in %s/share/warpwright/cuda, got no such file; scons cuda builds it"):format(below, folder))
end

return cuda_home
