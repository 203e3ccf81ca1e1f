-- VictimBuffer: between an L1 and what lies below it, the lines that the L1 has replaced last. A miss of the L1 that finds its
-- line here is answered from here, and nothing below is asked; the line leaves the buffer, as it is the L1's again. A write or
-- an atomic on its way below makes the line stale, and it leaves too.
--
-- Jouppi, Improving Direct-Mapped Cache Performance by the Addition of a Small Fully-Associative Cache and Prefetch Buffers,
-- ISCA 1990, section 3.2. His swaps lines with the cache in a cycle; this one answers after `latency` cycles. A line may come
-- before the miss that replaced it has looked for its own: until it has, there is room for one more, as they swap places.
--
-- L2VictimBuffer does the same behind an L2, which is never emptied. A dirty line leaves with its write-back, and so clean ones stay.
local class = require "warpwright.class"

--- `heard`: the events of the cache above.
local function definition(cache, heard)
  return {
    doc = ("Lines that the %s above it has replaced last"):format(cache),
    passes_on = true,
    ports = {
      up = { "responder", doc = "From the " .. cache },
      down = { "requester", doc = ("To what the %s misses into"):format(cache) },
    },
    hears = { up = heard },
    params = {
      lines = { 4, unit = "lines", min = 1, max = 64, doc = "Lines that it holds" },
      line = { "128B", unit = "bytes", min = 32, max = 128, power_of_two = true, doc = "Bytes of a line of the " .. cache },
      latency = { 2, unit = "cycles", min = 1, max = 1000, doc = "From a read to its answer" },
    },
    stats = {
      insertions = { unit = "lines", doc = ("Lines that the %s has replaced"):format(cache) },
      hits = { unit = "accesses", doc = ("Misses of the %s that were answered here"):format(cache) },
      misses = { unit = "accesses", doc = ("Misses of the %s that went on below"):format(cache) },
      drops = { unit = "lines", doc = "Lines that a write or an atomic made stale" },
    },
    state = { held = {}, answers = {} }, -- held: addresses of lines, the oldest first; answers: { message, cycle }, in order

    on_up_invalidated = function(self) self.state.held = {} end,

    place = function(self, address)
      local line = address - address % self.params.line
      for i, held in ipairs(self.state.held) do
        if held == line then return i end
      end
    end,

    on_up_evict = function(self, _, _, address)
      table.insert(self.state.held, address)
      self:keep(self.params.lines + 1)
      self:count "insertions"
    end,

    keep = function(self, lines)
      while #self.state.held > lines do table.remove(self.state.held, 1) end
    end,

    take = function(self, cycle)
      local m = self.up:peek()
      if not m then return end
      local place = self:place(m.address)
      if m.kind == "read" and place then
        if #self.state.answers == 16 then return end
        table.remove(self.state.held, place)
        table.insert(self.state.answers, { message = self.up:pop(), cycle = cycle + self.params.latency })
        self:count "hits"
      elseif self.up:forward(self.down) then
        if place then
          table.remove(self.state.held, place)
          self:count "drops"
        end
        if m.kind == "read" then self:count "misses" end
        self:keep(self.params.lines)
      end
    end,

    tick = function(self, cycle)
      local first = self.state.answers[1]
      if first and first.cycle <= cycle and self.up:can_send() then
        self:answer(table.remove(self.state.answers, 1).message)
      else
        self.down:forward()
      end
      self:take(cycle)
      return self.state.answers[1] ~= nil or nil
    end,
  }
end

class "VictimBuffer"(definition("L1", { "evict", "invalidated" }))
class "L2VictimBuffer"(definition("L2", { "evict" }))
