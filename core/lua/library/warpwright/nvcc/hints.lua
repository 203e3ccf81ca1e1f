-- What helps after an error of the compiler, beside its own messages.
local core = require "warpwright.core"
local cuda_home = require "warpwright.cuda_home"
local options = require "warpwright.nvcc.options"

local hints = {}

--- Is there such a header beside the file, or in a folder of -I?
local function is_found(job, path, header)
  if core.is_file((path:match "^(.*/)" or "") .. header) then return true end
  for i, word in ipairs(job.both) do
    local folder = word:match "^%-I(.+)" or job.both[i - 1] == "-isystem" and word
    if folder and core.is_file(folder .. "/" .. header) then return true end
  end
  return false
end

--- After an error: which headers of the file belong to what is not here.
function hints.tell_foreign_headers(job, path)
  local file = io.open(path)
  for line in file and file:lines() or function() end do
    local header = line:match '^%s*#%s*include%s*[<"]([^>"]+)[>"]'
    local name = header and header:match "[^/]*$" or ""
    local is_ours = name ~= "curand.h" and core.is_file(cuda_home.path "include" .. "/" .. name) -- cuRAND's functions of kernels
    if options.foreign_libraries[name:match "^[^_.]+"] and not is_ours then
      io.stderr:write(("warpwright: nvcc: %s: %s: this library of NVIDIA's is not part of Warpwright\n"):format(path, header))
    elseif options.foreign_headers[name] and not is_found(job, path, header) then
      io.stderr:write(("warpwright: nvcc: %s: %s: %s\n"):format(path, header, options.foreign_headers[name]))
    end
  end
  if file then file:close() end
end

--- After an error: which variables are shared although they are initialised. clang names the place alone, and shows its line.
function hints.tell_shared_objects(messages)
  for place, column, line in messages:gmatch "([^\n]-:%d+):(%d+): error: initialization is not supported for __shared__ variables%.?\n([^\n]*)" do
    local name = line:sub(tonumber(column)):match "^[%w_]+"
    if name then
      io.stderr:write(("warpwright: nvcc: %s: '%s' is shared: expected no initializer; docs/nvcc.md says more\n"):format(
        place, name))
    end
  end
end

return hints
