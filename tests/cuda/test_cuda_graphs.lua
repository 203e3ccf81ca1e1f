-- Graphs, capture of streams and pools of memory: programs of tests/cuda/programs that check themselves.
local cuda_programs = require "tests.lib.cuda_programs"
local harness = require "tests.lib.harness"

local function path(name) return harness.folder() .. "/" .. name end

--- Returns what was printed.
local function good(program, part)
  local file = cuda_programs.build(program)
  local status, output = cuda_programs.run("gtx480", "--out", path(part .. "_out"), "--", file, part)
  harness.equal(status, 0, output)
  harness.contains(output, part .. ": good")
  return output
end

for _, row in ipairs {
  { "capture", "capture", "what a stream is asked while it is captured runs when the graph is launched, three times" },
  { "capture", "fork_join", "a branch that events make goes through another stream, and comes back" },
  { "capture", "errors_of_use", "what a captured stream does not permit makes its capture invalid" },
  { "capture", "errors_of_forks", "branches that do not come back, two captures in one, events from outside" },
  { "capture", "modes", "what captures forbid other threads, by their mode" },
  { "capture", "events", "events as nodes tell simulated time" },
  { "capture", "nested", "a captured launch of a graph is a node, without what is disabled" },
  { "capture", "into_child", "a graph that is a node lives while a stream is captured into it" },
  { "capture", "cooperative", "a cooperative launch stays one when its parameters change" },
  { "capture", "arrays", "copies to and from arrays run when the graph is launched" },
  { "capture", "dependencies", "the program changes what the next captured node depends on" },
  { "capture", "per_thread", "the default stream of a thread can be captured" },
  { "graphs", "by_hand", "a graph made node by node; its parameters come back" },
  { "graphs", "destroyed", "an instance that is destroyed while it runs ends with its last node" },
  { "graphs", "changed", "an instance is launched with other parameters, and without a node" },
  { "graphs", "updates", "an instance takes another graph's work if that has the same structure" },
  { "graphs", "structure", "nodes run in the order of their dependencies and of their making; cycles, clones, children" },
  { "graph_memory", "pools", "pools tell what is used and the most that was" },
  { "graph_memory", "graph_memory", "memory of graphs: from launch to launch, freed by the program, freed at the next launch" },
  { "graph_memory", "memory_nodes", "memory by nodes" },
  { "graph_versions", "driver", "the driver API, and its functions by name and version" },
  { "graph_versions", "versions", "CUDA 12 and 13: other parameters under the same names" },
} do
  local program, part, name = table.unpack(row)
  harness.test(name, function() good(program, part) end)
end

harness.test("a kernel that fails ends the launch of its graph", function()
  harness.contains(good("capture", "fault"), "kernel stray", "access out of bounds")
end)

harness.test("launches of graphs have statistics like others", function()
  good("graphs", "changed")
  local stats = harness.read(path "changed_out/stats.txt")
  harness.contains(stats, "launch[3].cycles")
  assert(not stats:find("launch[4]", 1, true), "the disabled kernel ran")
end)

harness.test("a graph is written for Graphviz", function()
  local program = cuda_programs.build "graphs"
  local status, output = harness.run_with("GRAPH_DOT=" .. path "graph.dot", "cuda", "gtx480", "--out", path "dot_out", "--", program, "dot")
  harness.equal(status, 0, output)
end)

harness.test("--launches: graphs compute the same without timing", function()
  local program = cuda_programs.build "graphs"
  local status, output = cuda_programs.run("gtx480", "--launches", "3-4", "--out", path "some", "--", program, "steps")
  harness.equal(status, 0, output)
  harness.contains(output, good("graphs", "steps"):match "sum %d+, %d calls")
end)

harness.test("resumed in and between launches of graphs: the same statistics", function()
  local program = cuda_programs.build "graphs"
  local status, output = cuda_programs.run("gtx480", "--checkpoint-at", "300,1500,3300,4400", "--out", path "whole", "--", program, "steps")
  harness.equal(status, 0, output)
  local stats, sum = harness.read(path "whole/stats.txt"), output:match "sum %d+, %d calls"
  good("graphs", "steps")
  harness.same_text(harness.read(path "steps_out/stats.txt"), stats, "stats without checkpoints")
  local pipe, count = assert(io.popen("ls " .. path "whole" .. "/*.ckpt")), 0
  for file in pipe:lines() do
    count = count + 1
    local out = path("again" .. count)
    status, output = harness.run("cuda", "--resume", file, "--out", out)
    harness.equal(status, 0, output)
    harness.contains(output, sum, "steps: good")
    harness.same_text(harness.read(out .. "/stats.txt"), stats, "stats of " .. file)
  end
  pipe:close()
  harness.equal(count, 4, "checkpoints")
end)

harness.finish()
