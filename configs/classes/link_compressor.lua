-- LinkCompressor: a narrow link, to memory say, with a compressor at each end: what a message occupies of the link is its
-- header and its data as compressed.
--
-- The model. Values do not travel with messages here, so whether a line compresses is drawn from a hash of its address and the
-- parameter `seed`: of `share` parts in 1,000 of all lines the data shrink to 1 / `ratio` of their bytes, for good, those of
-- the others not at all. Each direction moves `width` bytes in a cycle; a message that is compressed or expanded takes `latency`
-- cycles more. It shows what a given compressibility would be worth, not how compressible a workload is.
local class = require "warpwright.class"

return class "LinkCompressor" {
  doc = "A narrow link whose data travel compressed",
  passes_on = true,
  ports = {
    up = { "responder", doc = "From the L2" },
    down = { "requester", doc = "To the memory controller" },
  },
  params = {
    width = { 16, unit = "bytes", min = 1, max = 256, doc = "Bytes that the link moves in a cycle, in each direction" },
    share = { 500, unit = "per mille", min = 0, max = 1000, doc = "Lines that compress" },
    ratio = { 2.0, unit = "ratio", min = 1, max = 128, doc = "Bytes before over bytes after, of a line that compresses" },
    latency = { 4, unit = "cycles", min = 0, max = 1000, doc = "For compressing and expanding a line" },
    seed = { 1, unit = "number", doc = "Which lines compress" },
  },
  stats = {
    messages = { unit = "messages", doc = "Messages that have passed, both ways" },
    bytes_before = { unit = "bytes", doc = "Their bytes as they came" },
    bytes_after = { unit = "bytes", doc = "Their bytes on the link" },
    compressed = { unit = "messages", doc = "Messages whose data were compressed" },
  },
  state = { free = { up = 0, down = 0 }, moving = { up = {}, down = {} } }, -- moving: { message, cycle of arrival }, in order

  compresses = function(self, m)
    local hash = (m.address // 128 + self.params.seed * 0x632be5ab) * 0x9e3779b97f4a7c15
    return m.size > 8 and ((hash >> 33) ~ (hash >> 49)) % 1000 < self.params.share
  end,

  -- The message that has come by port `from` begins to cross the link towards `to` as soon as the one before is through.
  begin = function(self, from, to, cycle)
    local moving, free = self.state.moving[to], self.state.free
    if free[to] > cycle or #moving == 16 then return end
    local m = self[from]:pop()
    if not m then return end
    local after, latency = m.size, 0
    if self:compresses(m) then
      after, latency = 8 + math.ceil((m.size - 8) / self.params.ratio), self.params.latency
      self:count "compressed"
    end
    free[to] = cycle + math.ceil(after / self.params.width)
    local last = moving[#moving]
    moving[#moving + 1] = { message = m, cycle = math.max(free[to] + latency, last and last.cycle or 0) }
    self:count "messages"
    self:count("bytes_before", m.size)
    self:count("bytes_after", after)
  end,

  finish = function(self, to, cycle)
    local first = self.state.moving[to][1]
    if first and first.cycle <= cycle and self[to]:can_send() then
      self[to]:send(table.remove(self.state.moving[to], 1).message)
    end
  end,

  tick = function(self, cycle)
    local next
    for _, way in ipairs { "down", "up" } do
      self:finish(way, cycle)
      self:begin(way == "down" and "up" or "down", way, cycle)
      local first, free = self.state.moving[way][1], self.state.free[way]
      if first then next = math.min(next or math.maxinteger, math.max(first.cycle, cycle + 1)) end
      if free > cycle then next = math.min(next or math.maxinteger, free) end
    end
    return next
  end,
}
