-- Launches bitonic sorts of the kernels that workloads/bitonic.h makes.
local bitonic = {}

--- Sorts a power of two of items on the GPU. kernels.step takes `args`, distance and run;
-- kernels.block, if there is one, takes `args`, first run and last run, and does the steps among
-- the 2 * block items of a CTA in shared memory.
function bitonic.sort(gpu, kernels, count, block, args)
  block = math.min(block, count // 2)
  local grid = count // 2 // block
  local function launch(kernel, a, b)
    local all = table.move(args, 1, #args, 1, {})
    all[#all + 1], all[#all + 2] = a, b
    gpu:launch(kernel, { grid = grid, block = block, args = all })
  end
  local run, nearest = 2, 1
  if kernels.block then
    launch(kernels.block, 2, 2 * block)
    run, nearest = 4 * block, 2 * block
  end
  while run <= count do
    local distance = run // 2
    while distance >= nearest do
      launch(kernels.step, distance, run)
      distance = distance // 2
    end
    if kernels.block then launch(kernels.block, run, run) end
    run = 2 * run
  end
end

--- The least power of two from 2 on that is not less than n.
function bitonic.capacity(n)
  local capacity = 2
  while capacity < n do capacity = 2 * capacity end
  return capacity
end

return bitonic
