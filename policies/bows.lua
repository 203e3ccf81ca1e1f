-- Back-off warp spinning (A. ElTantawy, T. Aamodt, "Warp Scheduling for Fine-Grained Synchronization", HPCA 2018): a warp that
-- spins issues only when no other of its scheduler can, and begins its next turn not before a delay has passed since it began
-- the last one. The delay follows, window by window, the share of turns among the instructions: longer while it is above a
-- bound; much shorter when fewer other instructions come to a turn than in the window before.
--
-- The paper finds the loops by a history of branches and of the values that are compared; here the SM knows the loops, and
-- the same values tell that a warp spins (core/gpu/sm/spinning.h). In the paper a warp has its old priority again from the
-- first instruction of a turn; here from the end of the turn in which it no longer spins. Where lanes of the warp itself can go
-- on, they do so in place of a delay. The defaults were compared with no table of the paper.
local policy = require "warpwright.policy"

local bows = policy "bows" {
  doc = "Back-off warp spinning: warps that spin go behind all others, and wait between their turns",
  order = "gto",
  params = {
    window = { 1000, min = 16, doc = "Cycles from one choice of the delay to the next" },
    step = { 250, min = 0, max = 1000000, doc = "By so many cycles the delay grows or shrinks; 0: it is `shortest` for ever" },
    shortest = { 0, min = 0, max = 1000000, doc = "Cycles of the delay at least, and at first" },
    longest = { 10000, min = 0, max = 1000000, doc = "At most" },
    share = { 0.1, min = 0, max = 1, doc = "Turns among the instructions of a window above which the delay grows" },
    fall = { 0.8, min = 0, max = 1, doc = "It shrinks by two more steps where other instructions per turn fall below so much of before" },
  },
  period = "window",
  counters = {
    turns = "Turns of warps that spin", delayed = "Of them, turns that had to wait",
    longer = "Windows after which the delay grew", shorter = "After which it shrank",
  },
}

function bows:start() self.state = { delay = self.params.shortest, begun = {}, turns = 0, issued = 0, useful = 0 } end

function bows:on_spin(warp)
  local state, now = self.state, self:cycle()
  local begins = (state.begun[warp] or now - state.delay) + state.delay
  if begins > now and self.sm:sleep(warp, begins - now) then
    self:count "delayed"
  else
    begins = now
  end
  state.begun[warp], state.turns = begins, state.turns + 1
  self:count "turns"
  self.sm.preferred = ~self.sm.spinning
end

function bows:on_spin_end() self.sm.preferred = ~self.sm.spinning end

function bows:on_period()
  local state, params, issued = self.state, self.params, self.sm.warp_instructions
  local all, turns = issued - state.issued, state.turns
  local useful = turns > 0 and (all - turns) / turns or 0
  local delay = state.delay + (turns > params.share * all and params.step or -params.step)
  if turns > 0 and useful < params.fall * state.useful then delay = delay - 2 * params.step end
  delay = math.max(params.shortest, math.min(delay, params.longest))
  if delay ~= state.delay then self:count(delay > state.delay and "longer" or "shorter") end
  state.delay, state.issued, state.turns, state.useful = delay, issued, 0, useful
end

return bows
