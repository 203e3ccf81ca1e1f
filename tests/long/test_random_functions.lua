-- Random functions of integers: what clang makes of them for the device computes what g++'s code computes on the host.
local harness = require "tests.lib.harness"
local nvcc = require "tests.lib.nvcc"
local random_functions = require "tests.lib.random_functions"

local programs <const>, functions <const> = 16, 12

for seed = 1, programs do
  nvcc.test(("program %d: the device computes what the host computes"):format(seed), function()
    local name = "random_" .. seed
    harness.write(name .. ".cu", random_functions.program(seed, functions))
    nvcc.passes(("nvcc -w -O%d -arch=sm_%d -o %s %s.cu && cuda %s"):format(seed % 4 == 1 and 0 or seed % 4, seed % 2 == 0 and 70 or 60, name, name, name))
  end)
end

harness.finish()
