-- TrafficShaper: a token bucket. Requests pass down as long as there are tokens for their bytes; `rate` bytes of tokens come in
-- each cycle, and the bucket holds up to `burst`. Answers pass up freely.
local class = require "warpwright.class"

return class "TrafficShaper" {
  doc = "Lets so many bytes of requests pass in a cycle on the average",
  passes_on = true,
  ports = {
    up = { "responder", doc = "From who asks" },
    down = { "requester", doc = "Towards memory" },
  },
  params = {
    rate = { 16, unit = "bytes", min = 1, max = 1024, doc = "Tokens that come in a cycle" },
    burst = { "256B", unit = "bytes", min = 144, max = "1MiB", doc = "Tokens that the bucket holds" },
    answer_bytes = { true, doc = "A request is charged for the bytes of its answer as well" },
  },
  stats = {
    requests = { unit = "messages", doc = "Requests that have passed" },
    bytes = { unit = "bytes", doc = "Their bytes, those of answers included if they are charged" },
    delayed = { unit = "messages", doc = "Requests that had to wait for tokens" },
  },
  -- full: when the bucket will be full if nothing more passes, in bytes (cycles times rate). Before that it lacks as many tokens
  -- as bytes are left to it, so nothing has to be counted while nothing passes.
  state = { full = 0, waits = false },

  charge = function(self, m)
    local answer = not (self.params.answer_bytes and m.wants_answer) and 0 or m.kind == "write" and 8 or 8 + m.bytes
    return m.size + answer
  end,

  tick = function(self, cycle)
    while self.down:forward() do end
    local m = self.up:peek()
    if not m then return nil end
    local rate, state, charge = self.params.rate, self.state, self:charge(m)
    local full = math.max(state.full, cycle * rate)
    -- There are tokens for it from then on; for one that the bucket cannot hold (an atomic), when it is full.
    local enough = full + math.min(charge, self.params.burst) - self.params.burst
    if enough > cycle * rate then
      if not state.waits then self:count "delayed" end
      state.waits = true
      return (enough + rate - 1) // rate
    end
    if not self.up:forward(self.down) then return nil end
    state.full, state.waits = full + charge, false
    self:count "requests"
    self:count("bytes", charge)
    return true
  end,
}
