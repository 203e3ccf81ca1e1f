-- Kernels that were recorded on a GPU as a workload: `warpwright run CONFIG FOLDER/kernelslist.g`, or one of them, kernel-1.traceg.
-- They run one after the other, in the order of the list. docs/sass_traces.md says what is made of them.
local core = require "warpwright.core"
local names = require "warpwright.names"
local note = require "warpwright.note"
local workload = require "warpwright.workload"

local recorded = {}

--- What a list says beside kernels: copies and allocations, "MemcpyHtoD,0x7fb50a800000,8000000".
local function is_passed_over(line) return line:find "^%a[%w_]*," or line == "" or line:find "^#" end

--- The path, or that of the same kernel packed (kernel-1.traceg.xz) or unpacked; nil where neither is there.
local function packed_or_not(path)
  if core.is_file(path) then return path end
  local other = path:match "^(.*%.traceg)%.xz$" or path:find "%.traceg$" and path .. ".xz"
  return other and core.is_file(other) and other or nil
end

--- The paths of the kernels of a list, which lie beside it.
local function kernels_of_list(path)
  local folder, list, number = path:match "^(.*/)" or "", {}, 0
  for line in io.lines(path) do
    line, number = line:gsub("%s+$", ""), number + 1
    local name, packed = line:match "^(.*%.traceg)(%.?%w*)$"
    if name and (packed == "" or packed == ".xz") then
      local kernel = (name:find "^/" and name or folder .. name) .. packed
      list[#list + 1] = packed_or_not(kernel) or core.user_error(("%s:%d: no file matches '%s'"):format(path, number, kernel))
    elseif not is_passed_over(line) then
      names.expected(("%s:%d"):format(path, number), "a kernel (kernel-1.traceg) or a copy (MemcpyHtoD,ADDRESS,BYTES)", line)
    end
  end
  if not list[1] then core.user_error(("%s: expected kernels (kernel-1.traceg), got none"):format(path)) end
  return list
end

local function run_kernel(gpu, path)
  local kernels, kernel_names = gpu:load(path)
  local kernel = kernels[kernel_names[1]]
  local info = kernel:info()
  if info.unknown then note("%s: opcodes that are not known take the time of a move: %s", path, info.unknown) end
  gpu:launch(kernel, { grid = info.grid, block = info.block, args = {} })
  kernel:release()
end

--- Of bfs/traces/kernelslist.g, as the tracer lays out what it records, "bfs".
local function name_of(path)
  return path:gsub("%.xz$", ""):match "([^/]*)%.traceg$" or path:match "([^/]+)/traces/[^/]*$" or path:match "([^/]*)/[^/]*$" or "kernelslist"
end

--- The workload of a list of kernels, or of one kernel.
function recorded.workload(path)
  if not core.is_file(path) then core.user_error(("workload: no file matches '%s'"):format(path)) end
  local list = path:find "%.g$" and kernels_of_list(path) or { path }
  local w = workload.of_recorded(path, name_of(path))
  function w:run(gpu)
    for _, kernel in ipairs(list) do run_kernel(gpu, kernel) end
  end
  return w
end

return recorded
