-- scripts/character.lua: rows of a table are measured anew.
local harness = require "tests.lib.harness"
local ww = require "warpwright"
local character = require "scripts.lib.character"

local folder = harness.folder()

local table_text <const> = [[
| workload | size | machine, policy | cycles | IPC | hits (merges) | instr/miss | MPKI | expected |
|---|---|---|---|---|---|---|---|---|
| vecadd, in short (V) | small,n=1024 | gtx480 gto | 1 | 2.0 | 3.0 (4.0) | 5.00 | 6.0 | 100 % |
| | | gtx480_mascar lrr | 1 | 2.0 | 3.0 (4.0) | 5.00 | 6.0 | |
| another table | 7 | 8 |
]]

local function figures(config, policy)
  return character.figures(ww.run { config = config, workload = "vecadd", size = "small,n=1024", policy = policy, out = false })
end

local function update(path, ...)
  local file <close> = assert(io.open(path, "wb"))
  file:write(table_text)
  file:close()
  local status, output = harness.run("scripts/character.lua", "--update", path, ...)
  harness.equal(status, 0, output)
  return harness.read(path)
end

harness.test("rows have the figures of their runs, and keep what else they say", function()
  local old <const> = "1 | 2.0 | 3.0 (4.0) | 5.00 | 6.0"
  local function with(first, second)
    local at = table_text:find(old, 1, true)
    local from = table_text:find(old, at + 1, true)
    return table_text:sub(1, at - 1) .. first .. table_text:sub(at + #old, from - 1) .. second .. table_text:sub(from + #old)
  end
  local path = folder .. "/rows.md"
  local lrr = figures("gtx480_mascar", "lrr")
  harness.equal(update(path), with(figures("gtx480", "gto"), lrr), "all")
  harness.equal(update(path, "--config", "gtx480_mascar"), with(old, lrr), "of one machine")
end)

harness.test("of a machine without an L1 the other figures are shown", function()
  local status, output = harness.run("scripts/character.lua", "--config", "gallery/no_l1", "--size", "small,n=1024", "vecadd")
  harness.equal(status, 0, output)
  assert(output:match "| no_l1 gto | %d+ | [%d.]+ | %- | %- | %- | [%d.]+ |\n", output)
end)

harness.test("a file that is not there is told", function()
  local status, output = harness.run("scripts/character.lua", "--update", folder .. "/none.md")
  harness.equal(status, 2, output)
  assert(output:find("--update: ", 1, true) and output:find("none.md", 1, true), output)
end)

harness.finish()
