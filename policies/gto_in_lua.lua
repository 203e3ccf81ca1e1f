-- Greedy-then-oldest once more, decided in Lua at every issue: the price of full freedom, and the proof that a policy can
-- do what the built-in order does. Its stats equal those of `gto` byte for byte.
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"

local gto = policy "gto_in_lua" { doc = "Greedy, then oldest, as a Lua function of each issue" }

--- Which of the ready warps shall this scheduler issue?
function gto:pick(scheduler, ready)
  local last = self.sm:last(scheduler)
  if ready >> last & 1 == 1 then return last end -- bits.has(ready, last), without a call
  return bits.lowest(self.sm:oldest(ready, 1))
end

return gto
