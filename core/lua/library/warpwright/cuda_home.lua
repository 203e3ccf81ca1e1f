-- Where what CUDA programs need lies: headers, tools, libraries.
local core = require "warpwright.core"

local cuda_home = {}

--- The path of `below` in the folder share/warpwright/cuda beside the program, or beside its own folder, where an installation
-- has it; a user error when it is not there.
function cuda_home.path(below)
  local folder = core.real_path("/proc/self/exe"):match "^(.*)/[^/]*$"
  local prefix = folder:match "^(.*)/[^/]*$"
  for _, place in ipairs { folder, prefix } do
    local path = core.real_path(("%s/share/warpwright/cuda/%s"):format(place, below))
    if path then return path end
  end
  local is_installed = core.real_path(prefix .. "/share/warpwright")
  core.user_error(("cuda: expected %s/share/warpwright/cuda/%s, got no such file; %s"):format(is_installed and prefix or folder, below,
    is_installed and ("scons cuda install --prefix='%s' in the sources makes it"):format(prefix) or "scons cuda builds it"))
end

return cuda_home
