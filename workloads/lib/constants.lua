-- Variables in constant memory. A host program cannot name them; a kernel that stores a variable's
-- address can tell it where the variable is, and constant memory is a part of device memory.
local constants = {}

--- Writes an array to a __constant__ variable. `where_is` is a kernel of one parameter, the place
-- to which it stores the variable's address. It runs once, with one thread.
function constants.write(gpu, where_is, array)
  local answer = gpu:alloc(8)
  gpu:launch(where_is, { grid = 1, block = 1, args = { answer } })
  gpu:write(gpu:read("u64", answer), array)
  gpu:free(answer)
end

return constants
