-- Images that CUDA programs hand to the simulator: which PTX is in them, and what is said of damaged ones. Needs no CUDA.
local cuda_image = require "warpwright.cuda_image"
local harness = require "tests.lib.harness"

local ptx = "//\n.version 7.0\n.target sm_75\n.address_size 64\n"
local lz4 <const>, zstd <const> = 0x2000, 0x8000

--- A container of a fat binary; `of` has what its head says in place of what is right.
local function container(body, of)
  of = of or {}
  return string.pack("<I4I2I2I8", 0xBA55ED50, 1, of.header_bytes or 16, of.body_bytes or #body) .. body
end

--- An entry of one.
local function entry(of)
  local head = string.pack("<I2I2I4I8I4I4I4I4I4I4I8I8I8", of.kind or 1, 0x101, of.entry_bytes or 64, of.payload_bytes or #ptx,
    of.compressed or 0, 0, 0, 80, 0, 0, of.flags or 0, 0, of.size or 0)
  return head .. ptx
end

local function linked(...)
  local parts = {}
  for i, image in ipairs { ... } do parts[i] = string.pack("<I8s8", 0x4B4E494C, image) end
  return table.concat(parts)
end

harness.test("PTX is found as it is, in containers, one behind the other, and among linked images", function()
  local plain, packed = cuda_image.read(ptx .. "\0\0"), cuda_image.read(container(entry {}) .. container(entry {}))
  harness.equal(#plain, 1)
  harness.equal(plain[1].text, ptx)
  harness.equal(plain[1].architecture, 75)
  harness.equal(#packed, 2)
  harness.equal(packed[2].text, ptx)
  local parts = cuda_image.read(linked(ptx, container(entry {})) .. ("\0"):rep(16) .. "what lies behind").linked
  harness.equal(#parts, 2)
  harness.equal(parts[2][1].text, ptx)
  harness.equal(cuda_image.read(container(entry { kind = 2 })).machine_code, true)
  harness.equal(cuda_image.read("\127ELF").machine_code, true)
end)

local whole <const> = container(entry {})
local deep = ptx
for _ = 1, 20000 do deep = string.pack("<I8I8", 0x4B4E494C, #deep) .. deep end

for _, case in ipairs {
  { "nothing", "", "it is neither a fat binary nor PTX" },
  { "bytes", ("\255"):rep(100), "it is neither a fat binary nor PTX" },
  { "a container cut off", whole:sub(1, -2), "the fat binary: it is cut off" },
  { "a head of no bytes", container(entry {}, { header_bytes = 0 }), "the fat binary: it is cut off" },
  { "a body of less than nothing", container(entry {}, { body_bytes = -1 }), "the fat binary: it is cut off" },
  { "a body whose end is beyond 2^63", container(entry {}, { body_bytes = math.maxinteger }), "the fat binary: it is cut off" },
  { "an entry without a head", container(entry { entry_bytes = 0 }), "the fat binary: it is cut off" },
  { "an entry of 4 GiB", container(entry { entry_bytes = 0xffffffff }), "the fat binary: it is cut off" },
  { "a payload whose end is beyond 2^63", container(entry { payload_bytes = math.maxinteger }), "the fat binary: it is cut off" },
  { "a payload of less than nothing", container(entry { payload_bytes = -1 }), "the fat binary: it is cut off" },
  { "an lz4 block that is none", container(entry { flags = lz4, size = 100 }), "the fat binary: its lz4 compressed PTX is damaged" },
  { "an lz4 block of a TiB", container(entry { flags = lz4, size = 1 << 40 }), "the fat binary: its lz4 compressed PTX is damaged" },
  { "a zstd frame that is none", container(entry { flags = zstd, compressed = 0xffffffff, size = 100 }),
    "the fat binary: its zstd compressed PTX is damaged" },
  { "linked images of less than nothing", string.pack("<I8i8", 0x4B4E494C, -1), "it is cut off" },
  { "linked images cut off", linked(ptx):sub(1, -2), "it is cut off" },
  { "linked images that are none", linked "zz", "it is neither a fat binary nor PTX" },
  { "linked images within linked images", linked(linked(ptx)), "it has linked images within linked images" },
  { "20000 linked images, each within another", deep, "it has linked images within linked images" },
} do
  harness.test(case[1] .. ": refused", function()
    local list, problem = cuda_image.read(case[2])
    harness.equal(list, nil)
    harness.equal(problem, case[3])
  end)
end

harness.test("of containers changed at random each is read or refused", function()
  local rng, image = require("warpwright").rng(1), container(entry {}) .. container(entry { flags = zstd, size = 10 })
  for _ = 1, 20000 do
    local bytes = { image:byte(1, -1) }
    for _ = 1, rng:int(1, 4) do bytes[rng:int(1, 160)] = rng:int(0, 255) end
    local list, problem = cuda_image.read(string.char(table.unpack(bytes)))
    assert(type(list) == "table" or type(problem) == "string")
  end
end)

harness.finish()
