local ww = require "warpwright"
local random = require "workloads.lib.random"

local keyvalue = ww.workload "keyvalue" {
  doc = "Look-ups in a hash table of keys and values: each lane comes back to lines of its own, byte by byte",
  ptx = "keyvalue.ptx",
  sizes = { -- absent: of a hundred requests, those for keys that are not there; skew: of the Zipf distribution of requests
    small = { requests = 1024, items = 1024, absent = 5, skew = 0.99, seed = 1 },
    medium = { requests = 64 * 1024, items = 64 * 1024, absent = 5, skew = 0.99, seed = 1 },
    paper = { requests = 64 * 1024, items = 64 * 1024, absent = 5, skew = 0.99, seed = 1 },
  },
  expected = { class = "cache-sensitive", size = "small,requests=8192,items=8192", hit_rate = { 0.15, 0.9 }, mpki = { 10, 150 } },
}

local threads <const>, request_bytes <const>, response_bytes <const>, header_bytes <const> = 128, 128, 256, 16

local function hash_of(key)
  local hash, bytes = 5381, { key:byte(1, -1) }
  for i = 1, #bytes do hash = hash * 33 + bytes[i] end
  return hash & 0xffffffff
end

--- Items { key, value } by number, no key twice, and a table of values by key.
local function make_items(count, rng)
  local items, values = {}, {}
  while #items < count do
    local key = random.text(rng, 16, 52)
    if not values[key] then
      values[key] = random.text(rng, 32, 128)
      items[#items + 1] = { key = key, value = values[key] }
    end
  end
  return items, values
end

local function aligned(bytes, to) return (bytes + to - 1) // to * to end

--- The items' memory, in random order, and where each bucket's chain begins. New items are put in
-- front of their chain.
local function make_table(items, rng)
  local buckets_count = 1
  while 3 * buckets_count < 2 * #items do buckets_count = 2 * buckets_count end -- a load of at most 1.5
  local buckets, bytes = ww.array("i32", buckets_count):fill(-1), 0
  for _, item in ipairs(items) do
    bytes = bytes + aligned(header_bytes + aligned(#item.key, 4) + #item.value, 16)
  end
  local words = ww.array("u32", bytes // 4)
  local function put(at, text) words:put(at // 4, text .. ("\0"):rep(-#text % 4)) end
  local at = 0
  for _, i in ipairs(random.shuffled(rng, #items)) do
    local item = items[i]
    local hash = hash_of(item.key)
    local bucket = hash & buckets_count - 1
    words[at // 4], words[at // 4 + 1] = buckets[bucket] & 0xffffffff, hash
    words[at // 4 + 2], words[at // 4 + 3] = #item.key, #item.value
    put(at + header_bytes, item.key)
    put(at + header_bytes + aligned(#item.key, 4), item.value)
    buckets[bucket] = at
    at = at + aligned(header_bytes + aligned(#item.key, 4) + #item.value, 16)
  end
  return words, buckets
end

function keyvalue:run(gpu, size)
  local rng = ww.rng(size.seed)
  local items, values = make_items(size.items, rng)
  local words, buckets = make_table(items, rng)
  local draw = random.zipf(rng, size.items, size.skew)
  local n = size.requests
  local keys, requests = {}, ww.array("u8", n * request_bytes)
  for r = 0, n - 1 do
    local key = rng:int(1, 100) <= size.absent and random.text(rng, 16, 52) .. "!" or items[draw()].key
    keys[r] = key
    requests[r * request_bytes] = #key
    requests:put(r * request_bytes + 4, key)
  end

  local responses = gpu:alloc(n * response_bytes)
  gpu:fill(responses, 0, n * response_bytes)
  gpu:launch(self.kernels.keyvalue_get, {
    grid = (n + threads - 1) // threads,
    block = threads,
    args = { gpu:upload(requests), gpu:upload(buckets), gpu:upload(words), responses, n, #buckets - 1 },
  })

  local want = ww.array("u8", n * response_bytes)
  for r = 0, n - 1 do
    local at, value = r * response_bytes, values[keys[r]]
    if value then
      want[at] = #value
      want:put(at + 4, value)
    else
      for i = 0, 3 do want[at + i] = 255 end
    end
  end
  self:check("responses", gpu:download("u8", responses, n * response_bytes), want)
end

return keyvalue
