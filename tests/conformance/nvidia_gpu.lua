-- This computer's NVIDIA GPU, with the methods of a simulated one that the comparisons call.
local ww = require "warpwright"
local driver = require "conformance.nvidia_gpu"

local gpu = {}
gpu.__index = gpu

-- The newest version of PTX that is read by drivers from CUDA 13 on: some forms are younger than the 8.0 of the kernels' texts.
local VERSION <const> = "9.0"

--- The GPU, with `name` and `sms`; an error where there is none.
function gpu.open()
  local name, sms = driver.open()
  if not name then error("conformance: --gpu: expected a computer with an NVIDIA GPU and its driver, got: " .. sms, 0) end
  return setmetatable({ name = name, sms = sms }, gpu)
end

function gpu:alloc(bytes) return driver.alloc(math.max(bytes, 1)) end
function gpu:free(address) driver.free(address) end
function gpu:fill(address, byte, count) driver.fill(address, byte, count) end

function gpu:upload(array)
  local bytes = array:string()
  local address = driver.alloc(math.max(#bytes, 1))
  driver.write(address, bytes)
  return address
end

function gpu:download(kind, address, count)
  local size = tonumber(kind:match "%d+") // 8
  return ww.array_from(kind, driver.read(address, count * size))
end

function gpu:read(kind, address) return self:download(kind, address, 1)[0] end

--- The kernels by name, nil, and what the driver says against them: by any name, since it refuses the text as a whole.
function gpu:load(source)
  if self.loaded then driver.unload(self.loaded) end
  local text = source.text:gsub("^%s*%.version [%d.]+", ".version " .. VERSION)
  local module, refusal = driver.load(text)
  self.loaded = module
  local kernels = setmetatable({}, { __index = function(_, name) return module and { module = module, name = name } end })
  return kernels, nil, setmetatable({}, { __index = function() return refusal end })
end

local function three(size)
  if type(size) == "number" then return size, 1, 1 end
  return size[1], size[2] or 1, size[3] or 1
end

--- nil, and a fault where there is one.
function gpu:try_launch(kernel, options)
  local x, y, z = three(options.grid)
  local fault = driver.launch(kernel.module, kernel.name, { x, y, z, three(options.block) }, options.shared or 0, options.args)
  if not fault then return nil end
  self.loaded = nil
  return nil, { message = fault }
end

function gpu:launch(kernel, options)
  local _, fault = self:try_launch(kernel, options)
  if fault then error(fault.message, 0) end
end

return gpu
