-- Kernels that were recorded on a GPU as a workload: `warpwright run CONFIG FOLDER/kernelslist.g`, or one of them, kernel-1.traceg.
-- docs/sass_traces.md says what is made of them.
local core = require "warpwright.core"
local names = require "warpwright.names"
local note = require "warpwright.note"
local workload = require "warpwright.workload"

local recorded = {}

--- The path, or that of the same kernel packed (kernel-1.traceg.xz) or unpacked; nil where neither is there.
local function packed_or_not(path)
  if core.is_file(path) then return path end
  local other = path:match "^(.*%.traceg)%.xz$" or path:find "%.traceg$" and path .. ".xz"
  return other and core.is_file(other) and other or nil
end

--- What a line of a list stands for: { kernel = path }, { address =, bytes = } of a copy from the host, or nil of what has no effect
-- here.
local function entry_of(line, folder, where)
  local name, packing = line:match "^(.*%.traceg)(%.?%w*)$"
  if name and (packing == "" or packing == ".xz") then
    local path = (name:find "^/" and name or folder .. name) .. packing
    return { kernel = packed_or_not(path) or core.user_error(("%s: no file matches '%s'"):format(where, path)) }
  end
  local address, bytes = line:match "^MemcpyHtoD,(0[xX]%x+),(%d+)$"
  if address then return { address = tonumber(address), bytes = math.tointeger(bytes) } end
  if line == "" or line:find "^#" or line:find "^%a[%w_]*," and not line:find "^MemcpyHtoD" then return nil end
  names.expected(where, "a kernel (kernel-1.traceg) or a copy (MemcpyHtoD,ADDRESS,BYTES)", line)
end

--- What a list has, in its order: see entry_of().
local function entries_of_list(path)
  local folder, list, number, kernels = path:match "^(.*/)" or "", {}, 0, 0
  for line in io.lines(path) do
    number = number + 1
    local entry = entry_of(line:gsub("%s+$", ""), folder, ("%s:%d"):format(path, number))
    list[#list + 1] = entry
    if entry and entry.kernel then kernels = kernels + 1 end
  end
  if kernels == 0 then core.user_error(("%s: expected kernels (kernel-1.traceg), got none"):format(path)) end
  return list
end

--- The kernel of a trace, and how it was launched.
local function load_kernel(gpu, path)
  local kernels, kernel_names = gpu:load(path)
  local kernel = kernels[kernel_names[1]]
  local info = kernel:info()
  if info.unknown then note("%s: opcodes that are not known take the time of a move: %s", path, info.unknown) end
  return kernel, info
end

local function run_alone(gpu, path)
  local kernel, info = load_kernel(gpu, path)
  gpu:launch(kernel, { grid = info.grid, block = info.block, args = {} })
  kernel:release()
end

-- Several streams --------------------------------------------------------------------------------------------------

-- Kernels in flight: `kernel` by number of the launch, how many; the last one of each stream, and the last of any.
local Streams = {}
Streams.__index = Streams

local function new_streams() return setmetatable({ kernel = {}, count = 0, last_of = {} }, Streams) end

--- Waits until one of those in flight has ended, or all of them.
function Streams:wait(gpu, all)
  local numbers = {}
  for number in pairs(self.kernel) do numbers[#numbers + 1] = number end
  table.sort(numbers)
  for number in pairs((gpu:wait(not all and numbers or nil))) do
    self.kernel[number]:release()
    self.kernel[number], self.count = nil, self.count - 1
  end
end

--- What a kernel waits for: the one before in its stream. The default stream, 0, waits for all and all wait for it, as a program has
-- it that asks for nothing else.
function Streams:behind(stream)
  local behind = {}
  for other, number in pairs(self.last_of) do
    if stream == 0 or other == stream or other == 0 then behind[#behind + 1] = number end
  end
  table.sort(behind)
  return behind
end

function Streams:launch(gpu, path)
  local kernel, info = load_kernel(gpu, path)
  local number = gpu:launch_async { { kernel = kernel, grid = info.grid, block = info.block, args = {}, behind = self:behind(info.stream) } }
  self.kernel[number], self.count = kernel, self.count + 1
  if info.stream == 0 then self.last_of = {} end
  self.last_of[info.stream] = number
end

-- The workload -----------------------------------------------------------------------------------------------------

--- Of bfs/traces/kernelslist.g, as the tracer lays out what it records, "bfs".
local function name_of(path)
  return path:gsub("%.xz$", ""):match "([^/]*)%.traceg$" or path:match "([^/]+)/traces/[^/]*$" or path:match "([^/]*)/[^/]*$" or "kernelslist"
end

--- The workload of a list of kernels, or of one kernel. Up to `together` kernels are in flight.
function recorded.workload(path)
  if not core.is_file(path) then core.user_error(("workload: no file matches '%s'"):format(path)) end
  local list = path:find "%.g$" and entries_of_list(path) or { { kernel = path } }
  local w = workload.of_recorded(path, name_of(path), { together = 1 })
  function w:run(gpu, size)
    if size.together < 1 then names.expected("size of workload " .. self.name .. ": together", "1 kernel or more", size.together) end
    local streams = new_streams()
    for _, entry in ipairs(list) do
      if not entry.kernel then
        gpu:recorded_copy(entry.address, entry.bytes)
      elseif size.together == 1 then
        run_alone(gpu, entry.kernel)
      else
        if streams.count == size.together then streams:wait(gpu) end
        streams:launch(gpu, entry.kernel)
      end
    end
    if streams.count > 0 then streams:wait(gpu, true) end
  end
  return w
end

return recorded
