-- Rows of a grid, one after the other, as Lua tables from 0: Lua reads a table several times as
-- fast as an array, and a few short tables stay in the processor's caches where one of all elements
-- does not.
local ww = require "warpwright"

local rows = {}

local most_kept <const> = 8

--- A function that returns a row by its number; rows beyond the first and the last are these.
-- `make(row, spare)` makes it, once while the numbers asked for ascend and lie less than 8 apart;
-- it may overwrite `spare`, an earlier row.
function rows.kept(count, make)
  local kept = {}
  return function(row)
    row = row < 0 and 0 or row >= count and count - 1 or row
    local values = kept[row]
    if not values then
      values = make(row, kept[row - most_kept] or {})
      kept[row], kept[row - most_kept] = values, nil
    end
    return values
  end
end

--- The rows of an array; the last one may be shorter.
function rows.of(array, columns)
  local count = (#array + columns - 1) // columns
  return rows.kept(count, function(row, spare)
    local first = row * columns
    local length = math.min(columns, #array - first)
    return array:table(first, length, length == columns and spare or {})
  end)
end

--- Writes a row to an array, from element `first` on: `count` values, or all.
function rows.put(array, first, values, count)
  local without_first = ww.array_from(array:type(), values) -- a list begins at 1
  array:set(first, values[0]):put(first + 1, without_first, 0, (count or #values + 1) - 1)
end

return rows
