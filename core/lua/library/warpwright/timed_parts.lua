-- Parts of a sampled launch that have timing: what workers do that have taken over where a launch without timing had come to. A
-- worker counts again, with longer warm-ups and windows, when it is asked to.
local core = require "warpwright.core"
local measures = require "warpwright.measures"

local timed_parts = {}

local ENDLESS <const> = 1 << 50 -- instructions

-- A machine that has taken over, measured at marks: numbers of instructions since then.
local Timeline = {}
Timeline.__index = Timeline

local function take_over(sampler)
  core.forward_end(sampler.gpu)
  core.begin_timing(sampler.gpu)
  local from = sampler.gpu:totals().warp_instructions
  return setmetatable({ sampler = sampler, from = from, measured = { [0] = measures.now(sampler) } }, Timeline)
end

--- Goes on to each of these marks in turn, but for those that it has been at.
function Timeline:visit(marks)
  table.sort(marks)
  for _, mark in ipairs(marks) do
    if not self.measured[mark] then
      core.run_instructions(self.sampler.gpu, self.from + mark)
      self.measured[mark] = measures.now(self.sampler)
    end
  end
end

function Timeline:between(first, last) return measures.difference(self.measured[last], self.measured[first]) end

--- A window, in two halves, after its warm-up; `is_early`: and one after half the warm-up. A warm-up twice as long ends behind the
-- window, or at a mark within that is visited now.
function timed_parts.window(sampler)
  local timeline
  return function(order)
    timeline = timeline or take_over(sampler)
    local first, length, early = order.warm_up, order.length, order.warm_up // 2
    local marks = { first, first + length // 2, first + length, math.min(2 * first, first + length) }
    if order.is_early then table.move({ early, early + length }, 1, 2, #marks + 1, marks) end
    timeline:visit(marks)
    return { all = timeline:between(first, first + length), second = timeline:between(first + length // 2, first + length),
      early = order.is_early and timeline:between(early, early + length) or nil }
  end
end

--- What is counted from the end of the warm-up to that of the launch; a list for warm-ups of so many doublings, from 0 on. Warm-ups
-- are `offset` longer than those of the tail that begins last, and end where there are `least` instructions to go, at the latest.
function timed_parts.tail(sampler)
  return function(order)
    local timeline, marks, tails = take_over(sampler), { ENDLESS }, {}
    local function mark(doubling) return order.offset + (order.warm_up << doubling) end
    for doubling = 0, order.doublings do marks[#marks + 1] = mark(doubling) end
    timeline:visit(marks)
    for doubling = 0, order.doublings do
      local tail = timeline:between(mark(doubling), ENDLESS)
      local _, instructions = measures.header(tail)
      tails[doubling + 1] = (doubling == 0 or instructions >= order.least) and tail or tails[doubling]
    end
    return tails
  end
end

--- From the beginning of the launch: the first wave, of which `lengths(life, rate)` says how long warm-ups and windows are. Asked again
-- with { at =, warm_up =, length = }, on to where the check ends: a window for which the machine takes over `at` so many instructions,
-- after its warm-up.
function timed_parts.head(sampler, offer, lengths)
  local timeline
  return function(order)
    if not timeline then
      core.forward_begin(sampler.gpu)
      timeline = take_over(sampler)
      core.run_instructions(sampler.gpu, timeline.from + ENDLESS, offer.resident)
      local cycles, instructions = measures.header(measures.difference(measures.now(sampler), timeline.measured[0]))
      local life = instructions / 1.5 -- those that have ended are a wave, and those that have not are in the middle of theirs
      local warm_up, length = lengths(life, instructions / cycles)
      return { warm_up = warm_up, length = length }
    end
    local first = order.at + order.warm_up
    local last = first + order.length
    timeline:visit { first, last, math.min(order.at + 2 * order.warm_up, last) }
    return { all = timeline:between(0, last), checked = timeline:between(first, last) }
  end
end

return timed_parts
