-- The include floors: a file includes only its own folder or lower ones,
-- core/sim < core/ptx < core/sass < mem < core/gpu < core/lua < core/main.c.
-- Inside mem and core/gpu: a part knows no other part, a level of the hierarchy no other level, and the SM not the device.
-- Plain data in an inner room (core/sim/base, core/gpu/sm/structures, mem/cache/structures) knows nothing of what uses it.

local floors = { "core/sim/", "core/ptx/", "core/sass/", "mem/", "core/gpu/", "core/lua/", "core/main.c" }

local function floor_of(path)
  for floor, folder in ipairs(floors) do
    if path:sub(1, #folder) == folder then return floor end
  end
end

-- Rooms of mem, the lowest first. Those of one pattern stand beside each other.
local mem_rooms = { "^mem/protocol/", "^mem/cache/", "^mem/parts/[%w_]+/", "^mem/%w+/" }

local function mem_room_of(path)
  for level, pattern in ipairs(mem_rooms) do
    local room = path:match(pattern)
    if room then return room, level end
  end
end

local inner_rooms = { "core/sim/base/", "core/gpu/sm/structures/", "mem/cache/structures/" }

-- Does a file of an inner room include one of the room around it?
local function looks_out(path, included)
  for _, room in ipairs(inner_rooms) do
    local around = room:match "^(.*/)[^/]+/$"
    if path:sub(1, #room) == room then return included:match "^(.*/)" == around end
  end
end

-- Is `included` in a room that a file in the room of `path` does not know?
local function in_unknown_room(path, included)
  local room, level = mem_room_of(path)
  local other, other_level = mem_room_of(included)
  if room and other and room ~= other then return other_level >= level end
  local part, other_part = path:match "^core/gpu/parts/([%w_]+)/", included:match "^core/gpu/parts/([%w_]+)/"
  if part and other_part then return part ~= other_part end
  return path:find "^core/gpu/" and included:find "^core/gpu/device/" and not path:find "^core/gpu/device/"
end

-- What runs in CUDA programs is no part of the program: it knows nothing of the floors, and they know what is said between the
-- two alone.
local protocol = "core/cuda/runtime/protocol.h"

-- What is wrong with `path` including `included` (quoted includes only), or nil.
local function complaint(path, included)
  local from, to = floor_of(path), floor_of(included)
  if path:find "^core/cuda/" then
    return to and ("%s includes \"%s\", which runs elsewhere"):format(path, included) or nil
  end
  if included == protocol then return end
  if not from then return path .. " stands on no floor" end
  if not to then return ("%s includes \"%s\", which is no path from the root"):format(path, included) end
  if to > from then return ("%s includes \"%s\", which is above it"):format(path, included) end
  if in_unknown_room(path, included) or looks_out(path, included) then
    return ("%s includes \"%s\", of a room that it must not know"):format(path, included)
  end
end

local passed, failures = 0, {}
local function expect(condition, message)
  if condition then passed = passed + 1 else failures[#failures + 1] = message end
end

-- The rule itself.
expect(not complaint("mem/cache/cache.c", "core/sim/sim.h"), "downward is legal")
expect(not complaint("core/gpu/sm/sm.c", "mem/protocol/memory_protocol.h"), "core/gpu may use mem's protocol")
expect(not complaint("core/ptx/front_end/lexer.c", "core/ptx/front_end/lexer.h"), "the own folder is legal")
expect(complaint("core/sim/sim.c", "core/ptx/instructions/inst.h"), "upward must be refused")
expect(complaint("mem/cache/cache.c", "core/gpu/device/gpu.h"), "mem must not know core/gpu")
expect(complaint("core/lua/bind.c", "core/main.c"), "nothing includes the main program")
expect(complaint("mem/cache/cache.c", "cache.h"), "includes are paths from the root")
expect(not complaint("mem/l1/l1_cache.c", "mem/parts/saturation/saturation.h"), "an L1 may have a part")
expect(complaint("mem/parts/saturation/saturation.c", "mem/parts/ownership/ownership.h"), "a part knows no other")
expect(complaint("mem/l2/l2_slice.c", "mem/l1/l1_cache.h"), "a level knows no other")
expect(complaint("mem/cache/cache.c", "mem/l1/l1_cache.h"), "what caches share knows no class")
expect(complaint("mem/cache/structures/mshr.c", "mem/cache/cache.h"), "plain data does not know who uses it")
expect(complaint("core/gpu/sm/sm.c", "core/gpu/device/gpu.h"), "an SM does not know the device")

expect(not complaint("core/lua/cuda/channel.c", protocol), "what is said to CUDA programs is known")
expect(complaint("core/lua/cuda/channel.c", "core/cuda/runtime/client.h"), "their library is not")
expect(complaint("core/cuda/runtime/client.c", "core/sim/sim.h"), "CUDA programs have no simulator")

local list = assert(io.popen("find core mem -name '*.[ch]' | LC_ALL=C sort"))
local files = 0
for path in list:lines() do
  local before = #failures
  local number = 0
  for line in io.lines(path) do
    number = number + 1
    local included = line:match('^%s*#%s*include%s*"([^"]+)"')
    local wrong = included and complaint(path, included)
    if wrong then failures[#failures + 1] = ("%s:%d: %s"):format(path, number, wrong) end
  end
  files = files + 1
  if #failures == before then passed = passed + 1 end
end
list:close()
expect(files > 10, "only " .. files .. " source files found: run this from the root of the repository")

for _, message in ipairs(failures) do print(message) end
print(("%d passed, %d failed"):format(passed, #failures))
os.exit(#failures == 0)
