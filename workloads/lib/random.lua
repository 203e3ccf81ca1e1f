-- Random texts, orders and choices; rng is of ww.rng.
local random = {}

--- Small letters, from `shortest` to `longest` of them.
function random.text(rng, shortest, longest) return rng:bytes(rng:int(shortest, longest), 97, 122) end

--- A shuffled list of the numbers from 1 to n.
function random.shuffled(rng, n)
  local list = {}
  for i = 1, n do list[i] = i end
  for i = n, 2, -1 do
    local j = rng:int(1, i)
    list[i], list[j] = list[j], list[i]
  end
  return list
end

--- A function that draws numbers from 1 to n, of which the i-th is the more likely the smaller i:
-- as i to the power of -skew.
function random.zipf(rng, n, skew)
  local sums, sum = {}, 0
  for i = 1, n do
    sum = sum + i ^ -skew
    sums[i] = sum
  end
  return function()
    local value, low, high = rng:float() * sum, 1, n
    while low < high do
      local middle = (low + high) // 2
      if sums[middle] > value then high = middle else low = middle + 1 end
    end
    return low
  end
end

return random
