-- scripts/reproduce: its values are those of the runs, its verdicts follow from the numbers, its pages have all of it.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local kit = require "scripts.lib.reproduce.kit"

harness.test("a verdict: the sign, and within a third of the size", function()
  local function gain(ours, paper) return kit.verdict { kind = "gain", ours = ours, paper = paper } end
  harness.equal(gain(1.30, 1.30), "reproduced", "as the paper")
  harness.equal(gain(1.201, 1.30), "reproduced", "two thirds")
  harness.equal(gain(1.199, 1.30), "partly", "less than two thirds")
  harness.equal(gain(1.399, 1.30), "reproduced", "a third more")
  harness.equal(gain(1.401, 1.30), "partly", "more than a third more")
  harness.equal(gain(0.99, 1.30), "not reproduced", "another sign")
  harness.equal(gain(0.90, 0.88), "reproduced", "a saving")
  harness.equal(gain(1.02, 0.88), "not reproduced", "a loss")
  harness.equal(gain(nil, 1.3), "not measured", "nothing")
  harness.equal(kit.verdict { kind = "share", ours = 0.15, paper = 0.20 }, "reproduced", "a share")
  harness.equal(kit.verdict { kind = "share", ours = 0.10, paper = 0.20 }, "partly", "half a share")
  harness.equal(kit.verdict { kind = "holds", ours = false }, "not reproduced", "what does not hold")
end)

harness.test("means are what they are called", function()
  harness.equal(kit.mean("harmonic", { 1, 2, 2 }), 1.5, "harmonic")
  assert(math.abs(kit.mean("geometric", { 1, 4 }) - 2) < 1e-12, "geometric")
  harness.equal(kit.mean("arithmetic", { 1, 4 }), 2.5, "arithmetic")
  assert(kit.mean("harmonic", {}) == nil)
end)

local folder = harness.folder()

local function reproduce(...)
  return harness.run("scripts/reproduce.lua", "--size", "small", "--jobs", "1", "--folder", folder .. "/runs", ...)
end

harness.test("values are those of the runs; the same command makes none again", function()
  local function cycles(policy)
    return ww.run { config = "gtx480_dwt_pric", workload = "gesummv", size = "small", policy = policy, out = false }.cycles
  end
  local status, output = reproduce("--kernels", "GESUMMV", "--page", folder .. "/page.md", "dwt-pric/8")
  harness.equal(status, 0, output)
  local all = output:match "\nGESUMMV%s+([%d.]+)\n"
  harness.equal(all, ("%.2f"):format(cycles "gto" / cycles "dwt_pric"), "DWT-PRIC")
  assert(output:find("GESUMMV: " .. all .. ", paper 16.8", 1, true), output)
  assert(output:find("\n  not measured: +22 kernels: %-, paper 1.54\n"), "a mean of one kernel is none of the paper's 22:\n" .. output)
  local again
  status, again = reproduce("--kernels", "GESUMMV", "dwt-pric/8")
  harness.equal(status, 0, again)
  assert(not again:find("left]", 1, true), again)
  assert(output:find(again, 1, true), "another output from stored runs")
end)

harness.test("--page refuses a file that it did not write", function()
  local notes = harness.write("notes.md", "# My notes\n")
  local status, output = reproduce("--kernels", "GESUMMV", "--page", notes, "dwt-pric/8")
  harness.equal(status, 2, output)
  harness.contains(output, "--page: expected a page that it wrote, or a new one, got " .. notes)
  harness.equal(harness.read(notes), "# My notes\n")
end)

harness.test("SIGTERM stops it with 75", function()
  local script = harness.write("stop.sh", ([[
'%s' scripts/reproduce.lua --size small --jobs 1 --folder '%s/stopped' --kernels GESUMMV dwt-pric/8 > '%s/said' 2>&1 &
until [ -n "$(cat /proc/$!/task/$!/children)" ]; do :; done
kill -TERM $!
wait $!
echo $?
]]):format(arg[-1], folder, folder))
  local pipe = assert(io.popen("sh " .. script))
  local status = tonumber(pipe:read "a")
  pipe:close()
  local said = harness.read(folder .. "/said")
  harness.equal(status, 75, said)
  harness.contains(said, "SIGTERM: stopped; the same command goes on")
end)

harness.test("a page has the values, the papers' numbers, and a drawing for each figure", function()
  local page = harness.read(folder .. "/page.md")
  assert(page:find("![dwt-pric/8](page/dwt-pric-8.svg)", 1, true) and page:find("(16.8)", 1, true), page)
  local drawing = harness.read(folder .. "/page/dwt-pric-8.svg")
  assert(drawing:find("^<svg ") and drawing:find("GESUMMV", 1, true) and drawing:find("</svg>\n$"), drawing)
end)

harness.test("a page keeps what it says of figures that were not asked for", function()
  local path = folder .. "/page.md"
  local before = harness.read(path)
  local status, output = reproduce("--kernels", "GESUMMV", "--page", path, "dwt-pric/12")
  harness.equal(status, 0, output)
  local after = harness.read(path)
  local kept = before:match "\n## dwt%-pric/8\n.*$"
  assert(kept and after:find(kept, 1, true), after)
  assert(after:find(kept .. "\n## dwt-pric/12\n", 1, true), "figures in their order")
  local function claims(text) return math.tointeger(tonumber(text:match "%*%*(%d+) claims: ")) end
  local more = math.tointeger(tonumber(output:match "\n(%d+) claims: "))
  harness.equal(claims(after), claims(before) + more, "the claims of both")
  assert(after:find("| dwt-pric/8 | GESUMMV | 16.8 |", 1, true) and after:find("| dwt-pric/12 | at least 97 %", 1, true), after)
end)

harness.test("what the papers lead with are claims of figures", function()
  local page = harness.read "docs/reproduction.md"
  for _, key in ipairs(require "scripts.lib.reproduce.leading") do
    local figure, what = key:match "^(%S+): (.*)$"
    assert(page:find("\n| " .. figure .. " | " .. what, 1, true), key)
  end
end)

-- Of its warps one in four hits with all requests, one with most, and two with hardly any, as long as they live.
harness.test("warps that stay as they are move less than they differ", function()
  local measured = require "scripts.lib.reproduce.persistence" {
    config = "medic", workload = "hetero", size = "small,rounds=200,cold_rounds=200", policy = "gto",
  }
  assert(measured.moves > 0 and measured.moves < 0.05, "moves by " .. measured.moves)
  assert(measured.differ > 0.25 and measured.differ < 0.4, "differ by " .. measured.differ)
end)

harness.test("names that do not exist are told", function()
  local status, output = reproduce "ccws/77"
  harness.equal(status, 2, output)
  assert(output:find("FIGURE: no figure matches 'ccws/77'", 1, true), output)
  status, output = reproduce("--kernels", "NoSuch", "ccws/9")
  harness.equal(status, 2, output)
  assert(output:find("--kernels: no kernel matches 'NoSuch'", 1, true), output)
end)

harness.test("every figure has runs of workloads that exist", function()
  local status, output = harness.run("scripts/reproduce.lua", "--list")
  harness.equal(status, 0, output)
  for _, id in ipairs { "mascar/9", "medic/7", "ccws/9", "d2ma/9", "dwt-pric/8", "dwt-pric/table-3", "matrix/gtx480" } do
    assert(output:find(id, 1, true), id)
  end
end)

harness.finish()
