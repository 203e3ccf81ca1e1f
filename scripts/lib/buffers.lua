-- The contents of a job's buffers, and buffers as files.
local ww = require "warpwright"
local core = require "warpwright.core"
local inputs = require "warpwright.inputs"

local buffers = {}

--- The generator that job files are defined by; its upper 32 bits are used.
local function next_state(state) return state * 6364136223846793005 + 1442695040888963407 end

local piece <const> = 1 << 16

--- Writes `count` elements to the device as copies from the host, each of an array that
-- `fill(array)` fills. By pieces: memory that the host touches once costs it more than what it
-- writes there.
local function write_by_pieces(gpu, address, element, bytes, count, fill)
  local array = ww.array(element, math.min(piece, count))
  for first = 0, count - 1, piece do
    local elements = math.min(piece, count - first)
    if elements < #array then array = ww.array(element, elements) end
    fill(array)
    gpu:write(address + bytes * first, array)
  end
end

--- Numbers uniform in [0, 1), with 24 bits.
function buffers.write_f32(gpu, address, count, seed)
  write_by_pieces(gpu, address, "f32", 4, count, function(array) seed = core.fill_congruential(array, seed) end)
end

--- Zeros that the host copies, as the programs that jobs stand for do: a machine may keep what is
-- copied in its L2.
function buffers.write_zeros(gpu, address, bytes)
  write_by_pieces(gpu, address, "u8", 1, bytes, function() end)
end

--- The order in which a chase visits its cells: 0 to cells - 1 for seed 0, else shuffled, cell 0
-- first.
local function chase_order(cells, seed)
  local order = {}
  for i = 0, cells - 1 do order[i] = i end
  if seed == 0 then return order end
  local state = seed
  for i = cells - 1, 2, -1 do
    state = next_state(state)
    local j = 1 + (state >> 32) % i
    order[i], order[j] = order[j], order[i]
  end
  return order
end

--- Cells of `stride` bytes, each of which begins with the 8-byte address of the next one; the last
-- points to the first.
function buffers.chase(base, bytes, stride, seed)
  local array, cells, words = ww.array("u64", bytes // 8), bytes // stride, stride // 8
  local order = chase_order(cells, seed)
  for k = 0, cells - 1 do array[order[k] * words] = base + stride * order[(k + 1) % cells] end
  return array
end

local function quoted(path) return "'" .. path:gsub("'", "'\\''") .. "'" end

--- What a file holds, or its compressed form PATH.xz; nil when there is neither.
function buffers.read_file(path)
  local file, problem
  if core.is_file(path) then
    file, problem = io.open(path, "rb")
  elseif core.is_file(path .. ".xz") then
    file, problem = io.popen("xz -d -c -- " .. quoted(path .. ".xz"), "r")
  else
    return nil
  end
  if not file then error(problem, 0) end
  local text = file:read "a"
  if not file:close() then error(path .. ".xz: xz cannot unpack it", 0) end
  return text
end

--- Writes `text` at `address` of the device as a copy from the host.
function buffers.upload(gpu, address, text) gpu:write(address, core.array_from("u8", text)) end

--- Writes `bytes` bytes of the device into a file.
function buffers.save(gpu, address, bytes, path)
  local text = gpu:download("u8", address, bytes):string()
  inputs.write_file(path, text)
end

return buffers
