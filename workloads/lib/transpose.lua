-- Matrices stored by rows, stored by columns.
local ww = require "warpwright"

local transpose = {}

--- The elements of a matrix of rows x columns, an array row by row, column by column: a new array.
-- A part of the rows is put in order at once, the last part so that it ends with the last row.
function transpose.by_columns(matrix, rows, columns)
  local result, part, places = ww.array(matrix:type(), rows * columns), math.min(rows, 1024), {}
  for column = 0, columns - 1 do
    for row = 0, part - 1 do places[#places + 1] = row * columns + column end
  end
  places = ww.i32(places)
  for row = 0, rows - 1, part do
    local first = math.min(row, rows - part)
    local by_columns = matrix:slice(first * columns, part * columns):gather(places)
    for column = 0, columns - 1 do result:put(column * rows + first, by_columns, column * part, part) end
  end
  return result
end

return transpose
