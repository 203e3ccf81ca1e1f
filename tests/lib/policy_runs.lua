-- Policies written by tests, run by the program on a small machine: for the tests of what authors and users of policies meet.
local harness = require "tests.lib.harness"

local runs = {}

local count = 0

--- Writes policies/NAME.lua-like files into the test's folder; returns the path.
function runs.file(name, text)
  return harness.write(name .. ".lua", ([[
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"
%s
]]):format(text))
end

local function new_folder()
  count = count + 1
  return ("%s/run%d"):format(harness.folder(), count)
end

local small_machine = { "sms=2", "partitions=2" }

--- Runs the program on a small machine unless options say otherwise; returns exit status, output, and stats.txt or nil.
function runs.run(options)
  local out = options.out or new_folder()
  local words = { "run", options.config or "gtx480", options.workload or "spmv", "--size", "small", "--out", out }
  if options.resume then words = { "run", "--resume", options.resume, "--out", out } end
  for _, setting in ipairs(options.resume and {} or options.set or small_machine) do
    words[#words + 1] = "--set"
    words[#words + 1] = setting
  end
  for _, name in ipairs { "policy", "threads", "order", "checkpoint-at", "max-cycles" } do
    if options[name] then
      words[#words + 1] = "--" .. name
      words[#words + 1] = tostring(options[name])
    end
  end
  for _, word in ipairs(options.more or {}) do words[#words + 1] = word end
  local status, output = harness.run(table.unpack(words))
  local file = io.open(out .. "/stats.txt", "rb")
  local stats = file and file:read "a"
  if file then file:close() end
  return status, output, stats, out
end

--- The same, which must go well; returns stats.txt, output, folder.
function runs.good(options)
  local status, output, stats, out = runs.run(options)
  harness.equal(status, 0, "exit status, output " .. output)
  return stats, output, out
end

function runs.stat(stats, name)
  local value = ("\n" .. stats):match("\n" .. name:gsub("[%[%].]", "%%%0") .. " +(%S+)")
  return value and tonumber(value) or error("there is no stat " .. name, 2)
end

--- stats.txt with single blanks, and without the rows that contain one of the plain texts.
function runs.without(stats, ...)
  local lines = {}
  for line in stats:gmatch "[^\n]+" do
    local kept = true
    for _, text in ipairs { ... } do kept = kept and not line:find(text, 1, true) end
    if kept then lines[#lines + 1] = line:gsub(" +", " ") end
  end
  return table.concat(lines, "\n")
end

function runs.lacks(text, unwanted)
  if text:find(unwanted, 1, true) then error(("'%s' is in: %s"):format(unwanted, text), 2) end
end

--- A run that ends with exit status 2 and says all of `texts`, without crash and traceback.
function runs.fails(options, ...)
  local status, output, stats = runs.run(options)
  harness.equal(status, 2, "exit status, output " .. output)
  harness.contains(output, "warpwright: error: ", ...)
  runs.lacks(output, "stack traceback")
  return stats, output
end

--- The text of a policy `x` with this function, and settings.
function runs.with_function(name, body, settings)
  return ('local x = policy "x" { %s } function x:%s %s end return x'):format(settings or "", name, body)
end

--- Runs policy `x` with this function on line 3 of its file; its error must name everything. Returns stats.txt and output.
function runs.hook_fails(name, body, settings, ...)
  local path = runs.file("failing", runs.with_function(name, body, settings))
  return runs.fails({ policy = path, workload = "spmv" }, ...)
end

return runs
