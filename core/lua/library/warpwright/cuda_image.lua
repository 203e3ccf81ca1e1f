-- What CUDA programs carry for the device: fat binaries, or plain PTX. They come from programs: any bytes do no harm.
local core = require "warpwright.core"

local cuda_image = {}

local magic <const> = 0xBA55ED50
local kind_ptx <const> = 1
local flag_lz4 <const>, flag_zstd <const> = 0x2000, 0x8000

--- The architecture, such as 80, that PTX text says it is made for.
function cuda_image.target(text) return math.tointeger(tonumber(text:match "%.target%s+sm_(%d+)")) end

local function is_ptx(text) return text:find "^[%s%z]*//" or text:find "%.version%s" and text:find "%.target%s" end

--- The text of an entry, or nil and why not.
local function unpacked(payload, flags, compressed, size)
  local kind = flags & flag_zstd ~= 0 and "zstd" or flags & flag_lz4 ~= 0 and "lz4"
  if not kind then return payload end
  if compressed > 0 and compressed <= #payload then payload = payload:sub(1, compressed) end
  local text = core.unpack(payload, kind, size)
  if not text then return nil, ("its %s compressed PTX is damaged"):format(kind) end
  return text
end

--- One container that begins at `at`: adds its PTX to `found`. Returns where it ends, or nil and what is wrong.
local function read_container(image, at, found)
  local header_bytes, body_bytes = string.unpack("<I2I8", image, at + 6)
  local entry = at + header_bytes
  if header_bytes < 16 or body_bytes < 0 or body_bytes > #image + 1 - entry then return nil, "it is cut off" end
  local last = entry + body_bytes
  while entry + 63 < last do
    local kind, _, entry_bytes, payload_bytes, compressed = string.unpack("<I2I2I4I8I4", image, entry)
    local architecture, _, _, flags, _, size = string.unpack("<I4I4I4I8I8I8", image, entry + 28)
    if entry_bytes < 64 or payload_bytes < 0 or payload_bytes > #image or entry + entry_bytes + payload_bytes > last then
      return nil, "it is cut off"
    end
    if kind == kind_ptx then
      local payload = image:sub(entry + entry_bytes, entry + entry_bytes + payload_bytes - 1)
      local text, problem = unpacked(payload, flags, compressed, size)
      if not text then return nil, problem end
      text = text:gsub("%z+$", "")
      found[#found + 1] = { architecture = cuda_image.target(text) or architecture, text = text }
    else
      found.machine_code = true
    end
    entry = entry + entry_bytes + payload_bytes
  end
  return last
end

--- The list of one image, as read() has it; or nil and what is wrong.
local function read_one(image)
  local found, at = {}, 1
  if #image >= 16 and string.unpack("<I4", image) == magic then
    while at + 15 <= #image and string.unpack("<I4", image, at) == magic do
      local behind, problem = read_container(image, at, found)
      if not behind then return nil, "the fat binary: " .. problem end
      at = behind
    end
    return found
  end
  if image:sub(1, 4) == "\127ELF" then return { machine_code = true } end
  local text = image:gsub("%z+$", "")
  if not is_ptx(text) then return nil, "it is neither a fat binary nor PTX" end
  return { { architecture = cuda_image.target(text) or 0, text = text } }
end

local linked_magic <const> = 0x4B4E494C

local function is_linked(image) return #image >= 16 and string.unpack("<I4", image) == linked_magic end

--- Images that belong together, each behind a word and its size; a word of 0 may stand behind the last.
local function read_linked(image)
  local parts, at = {}, 1
  while at <= #image do
    if at + 15 > #image then return nil, "it is cut off" end
    local word, bytes = string.unpack("<I8i8", image, at)
    if word == 0 and #parts > 0 then return parts end
    if word ~= linked_magic or bytes < 0 or bytes > #image - at - 15 then return nil, "it is cut off" end
    local one = image:sub(at + 16, at + 15 + bytes)
    if is_linked(one) then return nil, "it has linked images within linked images" end
    local part, problem = read_one(one)
    if not part then return nil, problem end
    parts[#parts + 1] = part
    at = at + 16 + bytes
  end
  return parts
end

--- All PTX of an image: a list of { architecture =, text = }, with machine_code = true where it has code for hardware, or with
-- linked = a list of such lists, of which one text each is linked; or nil and what is wrong.
function cuda_image.read(image)
  if not is_linked(image) then return read_one(image) end
  local parts, problem = read_linked(image)
  return parts and { linked = parts }, problem
end

--- Of several, the one for the highest architecture up to `capability`, such as 80; else the lowest.
function cuda_image.choose(list, capability)
  local best
  for _, ptx in ipairs(list) do
    local fits, best_fits = ptx.architecture <= capability, best and best.architecture <= capability
    if not best or fits and (not best_fits or ptx.architecture > best.architecture)
      or not fits and not best_fits and ptx.architecture < best.architecture then
      best = ptx
    end
  end
  return best
end

return cuda_image
