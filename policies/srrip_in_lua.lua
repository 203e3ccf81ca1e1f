-- Static re-reference interval prediction (Jaleel et al., ISCA 2010, section 4.1), decided in Lua at every replacement: the
-- price of full freedom there, and the proof that a policy can do what replacement = "srrip" does. Its stats equal that one's
-- byte for byte, in caches that take lines when requests miss and have no dirty ones: a policy is asked once there is room to
-- write back any line of the set.
-- Each line has a prediction of how soon it is needed again, from 0 to `distant`. One of the largest goes, and the others age
-- as far as that one had to; lines enter one below `distant`, and a hit sets it to 0.
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"

local srrip = policy "srrip_in_lua" {
  doc = "Static re-reference interval prediction, as a Lua function of each replacement",
  scope = "cache",
  caches = "data|last",
  params = { bits = { 2, min = 1, max = 7, doc = "Of a line's prediction" } },
}

function srrip:start()
  self.distant = (1 << self.params.bits) - 1
  self.state.prediction, self.state.address = {}, {} -- of each line
end

--- Where a line's prediction stands.
function srrip:index_of(set, way) return 1 + set * self.cache.ways + way end

--- The line was used, by a hit or by a request that waits for what is in flight.
function srrip:on_hit(_, _, _, _, _, _, set, way)
  self.state.prediction[self:index_of(set, way)] = 0
end

srrip.on_merge = srrip.on_hit

--- A request has taken the line, or wants a sector that its line has not got.
function srrip:on_miss(_, _, address, _, _, _, set, way)
  if way < 0 then return end
  local state, place, line = self.state, self:index_of(set, way), address & -self.cache.line
  state.prediction[place] = state.address[place] == line and self.cache:line_valid(set, way) and 0 or self.distant - 1
  state.address[place] = line
end

--- Which of these ways, all valid, goes? The first of those with the largest prediction.
function srrip:victim(set, ways)
  local prediction, largest, victim = self.state.prediction, -1, nil
  for way in bits.each(ways) do
    local of_way = prediction[self:index_of(set, way)] or 0
    if of_way > largest then largest, victim = of_way, way end
  end
  for way in bits.each(ways) do
    local place = self:index_of(set, way)
    prediction[place] = (prediction[place] or 0) + self.distant - largest
  end
  return victim
end

return srrip
