local ww = require "warpwright"
local bitonic = require "workloads.lib.bitonic"
local random = require "workloads.lib.random"

local page_view_rank = ww.workload "page_view_rank" {
  doc = "Sorts pages by their views: a bitonic sort of a directory, whose keys are gathered from anywhere",
  ptx = "page_view_rank.ptx",
  sizes = { -- pages: a power of two; skew: of the Zipf distribution of views, the most of which a page has
    small = { pages = 1024, views = 100000, skew = 0.8, seed = 1 },
    medium = { pages = 64 * 1024, views = 100000, skew = 0.8, seed = 1 },
    paper = { pages = 128 * 1024, views = 100000, skew = 0.8, seed = 1 },
  },
  expected = { class = "gathers of keys", size = "small,pages=4096", hit_rate = { 0.6, 0.9 }, mpki = { 4, 14 } },
}

local threads <const>, sort_threads <const>, record_words <const> = 256, 128, 4

function page_view_rank:run(gpu, size)
  local n, rng = size.pages, ww.rng(size.seed)
  if n ~= bitonic.capacity(n) then error(("page_view_rank: pages: expected a power of two, got %d"):format(n), 0) end
  local pages, place, page_at, views = ww.array("i32", 2 * n), ww.array("i32", n), {}, {}
  local places = random.shuffled(rng, n)
  for i, rank in ipairs(random.shuffled(rng, n)) do
    local page = i - 1
    views[i] = math.ceil(size.views * rank ^ -size.skew)
    pages[2 * page], pages[2 * page + 1] = views[i], rng:int(0, (1 << 24) - 1)
    place[page] = places[i] - 1
    page_at[4 * place[page]] = page
  end

  local keys, values, directory = gpu:alloc(4 * n), gpu:alloc(4 * n), gpu:alloc(4 * record_words * n)
  gpu:launch(self.kernels.rank_map, {
    grid = (n + threads - 1) // threads,
    block = threads,
    args = { gpu:upload(pages), gpu:upload(place), keys, values, directory, n },
  })
  bitonic.sort(gpu, { step = self.kernels.rank_sort_step, block = self.kernels.rank_sort_block }, n, sort_threads,
    { keys, directory })

  -- Pages with as many views as each other may stand in any order, each once.
  local records, got_keys = gpu:download("i32", directory, record_words * n), gpu:download("i32", keys, n)
  local got_values, got, want = gpu:download("i32", values, n), ww.array("i32", n), ww.array("i32", n)
  local urls, want_urls, lengths = ww.array("i32", n), ww.array("i32", n), ww.array("i32", 2 * n)
  table.sort(views, function(a, b) return a > b end)
  for r = 0, n - 1 do
    local key, value = records[record_words * r], records[record_words * r + 2]
    local page = page_at[key]
    page_at[key] = nil -- a second time is wrong
    got[r], want[r] = page and got_keys[key // 4] or -1, views[r + 1]
    urls[r], want_urls[r] = page and value == key and got_values[value // 4] or -1, page and pages[2 * page + 1] or 0
    lengths[2 * r], lengths[2 * r + 1] = records[record_words * r + 1], records[record_words * r + 3]
  end
  self:check("views by rank", got, want)
  self:check("urls by rank", urls, want_urls)
  self:check("lengths of keys and values", lengths, ww.array("i32", 2 * n):fill(4))
end

return page_view_rank
