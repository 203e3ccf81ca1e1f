-- For which of its events a hook is called: conditions on their arguments, { set = { every = 4 }, write = 0 }.
local core = require "warpwright.core"
local names = require "warpwright.names"

local event_filter = {}

local keys <const> = { "every", "at", "mask", "is", "from", "to" }
local some <const> = "one or more conditions, { ARGUMENT = condition }"
local legal <const> = "a whole number or { every =, at =, mask =, is =, from =, to = }"

local function refuse(hook, argument, what, got) names.expected(("only: %s: %s"):format(hook, argument), what, got) end

--- A condition on one argument, with all that it does not say.
local function complete(hook, argument, condition)
  if math.type(condition) == "integer" then return { every = 1, at = 0, mask = 0, is = 0, from = condition, to = condition } end
  if type(condition) ~= "table" or next(condition) == nil then refuse(hook, argument, legal, condition) end
  names.check_keys(("only: %s: %s"):format(hook, argument), condition, keys)
  for _, key in ipairs(names.sorted_keys(condition)) do
    if math.type(condition[key]) ~= "integer" then refuse(hook, argument .. "." .. key, "a whole number", condition[key]) end
  end
  local c = { every = condition.every or 1, at = condition.at or 0, mask = condition.mask or 0, is = condition.is or 0,
    from = condition.from or condition.every and 0 or math.mininteger, to = condition.to or math.maxinteger }
  if c.every < 1 then refuse(hook, argument .. ".every", "1 or more", c.every) end
  if c.at < 0 or c.at >= c.every then refuse(hook, argument .. ".at", ("0 to %d, below every"):format(c.every - 1), c.at) end
  if c.is & ~c.mask ~= 0 then refuse(hook, argument .. ".is", ("bits of mask, 0x%x"):format(c.mask), c.is) end
  if condition.every and c.from < 0 then refuse(hook, argument .. ".from", "0 or more beside every", c.from) end
  if c.to < c.from then refuse(hook, argument .. ".to", ("%d or more, as from"):format(c.from), c.to) end
  return c
end

local function number_of(arguments, name)
  for i, argument in ipairs(arguments) do
    if argument == name then return i - 1 end
  end
end

--- The conditions as native.only() takes them: for each the argument's number, from, to, mask, is, every, at, and 1 for the last of
-- an alternative.
function event_filter.numbers(hook, arguments, alternatives)
  local numbers = {}
  if #alternatives == 0 then names.expected(("only: %s"):format(hook), some, nil) end
  for _, alternative in ipairs(alternatives) do
    if type(alternative) ~= "table" or next(alternative) == nil then
      names.expected(("only: %s"):format(hook), some, alternative)
    end
    for _, argument in ipairs(names.sorted_keys(alternative)) do
      local number = number_of(arguments, argument)
      if not number then
        core.user_error(("only: no argument of %s matches '%s'%s"):format(hook, tostring(argument), names.available(argument, arguments)))
      end
      local c = complete(hook, argument, alternative[argument])
      for _, value in ipairs { number, c.from, c.to, c.mask, c.is, c.every, c.at, 0 } do numbers[#numbers + 1] = value end
    end
    numbers[#numbers] = 1
  end
  return numbers
end

return event_filter
