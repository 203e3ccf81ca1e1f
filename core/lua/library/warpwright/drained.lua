-- The time before what a kernel left in flight was let finish: { from = core cycle, to = core cycle at which it had, clocks =, simulated = as
-- of the former }; the last two where clocks may change. As text it is in checkpoints.
local drained = {}

function drained.text(time)
  local words = { time.from, time.to, ("%.17g"):format(time.simulated or 0) }
  for _, clock in ipairs(time.clocks or {}) do
    table.move({ clock.cycles, clock.changes, clock.frequency }, 1, 3, #words + 1, words)
  end
  return table.concat(words, " ")
end

--- `clocks` are those of the machine. The text may come from anybody: nil for one of another machine.
function drained.read(text, clocks)
  local numbers = {}
  for word in (text or ""):gmatch "%S+" do numbers[#numbers + 1] = math.tointeger(tonumber(word)) or #numbers == 2 and tonumber(word) or 0 end
  local has_clocks = #numbers == 3 + 3 * #clocks
  if #numbers ~= 3 and not has_clocks then return nil end
  for i, clock in ipairs(has_clocks and clocks or {}) do
    clock.cycles, clock.changes, clock.frequency = table.unpack(numbers, 3 * i + 1, 3 * i + 3)
  end
  return { from = numbers[1], to = numbers[2], simulated = numbers[3], clocks = clocks }
end

return drained
