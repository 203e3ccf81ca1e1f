-- `warpwright explain`: what a request and a warp waited for, by a trace written here, line by line, and by one of a run.
local harness = require "tests.lib.harness"

local home <const> = harness.folder()

local heading <const> = "# trace of * from cycle 100 to 400\n# cycle object event warp pc text\n"

local function explain(...)
  local status, output = harness.run("explain", ...)
  harness.equal(status, 0, output)
  return output
end

--- Each step of a request at 0x4000: cycle, object, event, and what follows the address.
local function lines_of(id, steps)
  local lines, warp = {}, id:gsub("^(%d+)%.(%d+).*", "%1/%2")
  for step in steps:gmatch "[^\n]+" do
    local cycle, object, event, rest = step:match "^%s*(%d+) (%S+) (%w+)(.*)$"
    lines[#lines + 1] = ("%s %s %s %s 7 %s read 128 B at 0x4000%s\n"):format(cycle, object, event, warp, id, rest)
  end
  return lines
end

local first <const>, second <const>, third <const> = "0.1.110.80", "0.2.120.80", "0.3.112.90"

local function trace_file()
  local all = {}
  for _, request in ipairs {
    lines_of(first, [[
      110 sm[0].lsu send to mem
      111 sm[0].l1d receive from cpu
      112 sm[0].l1d miss
      113 sm[0].l1d send to mem
      200 mc[0] receive from cpu[0]
      205 mc[0] PRE bank 3 row 1
      215 mc[0] ACT bank 3 row 5
      230 mc[0] RD bank 3 row 5
      240 mc[0] send, answer to cpu[0]
      260 sm[0].l1d receive, answer from mem
      260 sm[0].l1d fill set 1 way 0
      260 sm[0].l1d send, answer to cpu
      261 sm[0].lsu receive, answer from mem]]),
    lines_of(second, [[
      120 sm[0].lsu send to mem
      121 sm[0].l1d receive from cpu
      150 sm[0].l1d merge behind 0.1.110.80
      262 sm[0].l1d send, answer to cpu
      263 sm[0].lsu receive, answer from mem]]),
    lines_of(third, [[
      122 sm[0].l1d stall a free MSHR
      142 sm[0].l1d hit
      201 mc[0] RD bank 4 row 1
      203 mc[0] RD bank 4 row 1
      208 mc[0] ACT bank 3 row 9]]),
    { "110 sm[0] state 0/1 8 memory\n", "119 sm[0] issue 0/2 7\n", "120 sm[0] state 0/2 8 memory\n", "142 sm[0].l1d stall - - over\n",
      "101 sm[0] cta_start - - slot=0 warps=0x6\n", "300 sm[0] state 0/1 9 barrier\n", "302 sm[0] state 0/2 9 ready\n",
      "302 sm[0] stall - - scheduler 0: the LSU takes nothing\n", "100 sm[0] begin 0/1 6 fetch\n", "264 sm[0] state 0/2 8 operands\n",
      "330 sm[0] issue 0/2 9\n" },
  } do
    table.move(request, 1, #request, #all + 1, all)
  end
  local function cycle(line) return tonumber(line:match "^%d+") end
  local placed = {}
  for i, line in ipairs(all) do placed[i] = { line, i } end
  table.sort(placed, function(a, b)
    if cycle(a[1]) ~= cycle(b[1]) then return cycle(a[1]) < cycle(b[1]) end
    return a[2] < b[2]
  end)
  for i, pair in ipairs(placed) do all[i] = pair[1] end
  return harness.write("trace.txt", heading .. table.concat(all))
end

local trace <const> = trace_file()

harness.test("each step of a request has its cycle and how long it took, and what was before it at the memory controller", function()
  harness.same_text(explain(trace, "--request", first), [[
request 0.1.110.80: read 128 B at 0x4000, warp 0/1, pc 7; cycles 110 to 261, 151 cycles
     110         sm[0].lsu sends it to mem
     111     +1  sm[0].l1d has it
     112     +1  sm[0].l1d miss
     113     +1  sm[0].l1d sends it to mem
     200    +87  mc[0] has it
                 the bus served 2 others, the last of them 0.3.112.90
     205     +5  mc[0] PRE, bank 3 row 1
                 bank 3 had commands for 1 other, the last of them 0.3.112.90
     215    +10  mc[0] ACT, bank 3 row 5
     230    +15  mc[0] RD, bank 3 row 5
     240    +10  mc[0] sends the answer
     260    +20  sm[0].l1d has the answer
     260         sm[0].l1d fill, set 1 way 0
     260         sm[0].l1d sends the answer
     261     +1  sm[0].lsu has the answer
]])
end)

harness.test("a merged one is followed by the one whose fetch it waited for; stalls of the tags say who held what", function()
  local output = explain(trace, "--request", second)
  harness.contains(output, [[
     121     +1  sm[0].l1d has it
                 for 20 cycles request 0.3.112.90 waited for a free MSHR; at first 1 miss was in flight, the oldest 0.1.110.80 since cycle 112
                 1 other looked up before it, the last of them 0.3.112.90
     150    +29  sm[0].l1d merge, behind 0.1.110.80
                 it waited for the line, which request 0.1.110.80 fetches
     262   +112  sm[0].l1d sends the answer
     263     +1  sm[0].lsu has the answer

request 0.1.110.80: read]])
end)

harness.test("a warp: its state, since when, until when, and the request that it waited for longest", function()
  local output = explain(trace, "--warp", "0/2", "--cycle", "130")
  harness.contains(output, [[
warp 0/2 in cycle 130: memory since cycle 120: its next instruction needs registers that loads are to write
it issued last in cycle 119, at pc 7
this ended in cycle 264: operands
it issued next in cycle 330, at pc 9
1 of its requests had not come back; this one did so last:

request 0.2.120.80: read]])
  harness.equal(explain(trace, "--warp", "0/2", "--cycle", "119"), "warp 0/2 issued in cycle 119, at pc 7\n")
end)

harness.test("a warp at a barrier: who has not arrived; one that is ready: what the schedulers did", function()
  harness.contains(explain(trace, "--warp", "0/1", "--cycle", "301"), "of its CTA these had not arrived: 0/2 (operands since cycle 264)\n")
  harness.contains(explain(trace, "--warp", "0/2", "--cycle", "310"), "ready since cycle 302: it could have issued\n",
    "\nscheduler 0: the LSU takes nothing, since cycle 302\n")
end)

harness.test("a warp that issues and waits in the same state again: each wait by itself, with its own requests", function()
  local again = harness.write("again.txt", heading .. table.concat {
    "110 sm[0] issue 0/5 7\n", "111 sm[0] state 0/5 8 memory\n", "112 sm[0].lsu send 0/5 7 0.5.112.80 read 128 B at 0x4000 to mem\n",
    "130 sm[0].lsu receive 0/5 7 0.5.112.80 read 128 B at 0x4000, answer from mem\n", "131 sm[0] issue 0/5 8\n",
    "133 sm[0].lsu send 0/5 8 0.5.133.90 read 128 B at 0x4800 to mem\n",
    "160 sm[0].lsu receive 0/5 8 0.5.133.90 read 128 B at 0x4800, answer from mem\n", "161 sm[0] state 0/5 9 operands\n" })
  local function told(cycle) return (explain(again, "--warp", "0/5", "--cycle", cycle)) end
  harness.contains(told "120", "memory since cycle 111:", "\nthis ended in cycle 131: it issued\nit issued next in cycle 131, at pc 8\n",
    "\n1 of its requests had not come back", "\nrequest 0.5.112.80: ")
  harness.contains(told "140", "memory since cycle 132:", "\nthis ended in cycle 161: operands\n", "\nrequest 0.5.133.90: ")
end)

harness.test("of a run: the warp's last request is answered in the cycle in which it goes on, or the one before", function()
  local folder = home .. "/run"
  local status, output = harness.run("run", "gtx480", "spmv", "--size", "small", "--set", "sms=2", "--out", folder, "--trace", "*", "--from",
    "1500", "--to", "4000")
  harness.equal(status, 0, output)
  local told = 0
  for warp = 0, 7, 2 do
    for cycle = 2000, 3500, 500 do
      local words = explain(folder, "--warp", "1/" .. warp, "--cycle", tostring(cycle))
      local next_issue = words:match "it issued next in cycle (%d+)"
      local ended, answered = words:match "this ended in cycle (%d+)", words:match "\nrequest [^\n]* cycles %d+ to (%d+)"
      if words:find " memory since" and ended and answered then
        assert(math.abs(tonumber(ended) - tonumber(answered)) <= 1, words)
        assert(not next_issue or tonumber(ended) <= tonumber(next_issue), words)
        told = told + 1
      end
    end
  end
  assert(told > 5, told)
end)

harness.test("what cannot be explained is an error that says what to do", function()
  local function refused(wanted, ...) harness.refused(wanted, "explain", ...) end
  refused("the trace has no request 0.2.121.80; of this warp it has 0.2.120.80", trace, "--request", "0.2.121.80")
  refused("the trace has no request 9.2.121.80, and none of this warp", trace, "--request", "9.2.121.80")
  refused("--request: expected SM.WARP.CYCLE.LINE as in the trace, got 'x'", trace, "--request", "x")
  refused("cycle: expected one of the trace, 100 to 400, got 99", trace, "--warp", "0/1", "--cycle", "99")
  refused("cycle: expected one of the trace, 100 to 400, got 401", trace, "--warp", "0/1", "--cycle", "401")
  local of_one = harness.write("one.txt", (harness.read(trace):gsub("trace of %*", "trace of sm[0]*")))
  refused("has no states of warps of SM 7; trace 'sm[7]*'", of_one, "--warp", "7/1", "--cycle", "200")
  refused("the trace, of *, has no states of warps of SM 7: the machine has no such SM, or it ran nothing in cycles 100 to 400", trace,
    "--warp", "7/1", "--cycle", "200")
  refused("warp 0/9 does not run in cycle 200", trace, "--warp", "0/9", "--cycle", "200")
  refused("--warp: expected SM/WARP, such as 3/5, got '3'", trace, "--warp", "3", "--cycle", "200")
  refused("--cycle: expected a core cycle, 0 or more, got 'x'", trace, "--warp", "3/1", "--cycle", "x")
  refused("expected --warp and --cycle together", trace, "--warp", "3/1")
  refused("expected --request or --warp, got both", trace, "--warp", "3/1", "--cycle", "4", "--request", first)
  refused("expected --request or --warp, got neither", trace)
  refused("expected a run with a trace, got no trace.txt; run it with --trace", "configs", "--request", first)
  refused("expected the folder of a run, got no such folder", home .. "/none", "--request", first)
  refused("expected a trace as text, which is not compressed, got another file", "README.md", "--request", first)
end)

harness.test("damaged lines and numbers are passed over", function()
  local damaged = harness.write("damaged.txt", heading .. "nonsense\n\n99999999999999999999999 sm[0] state 0/1\n5\n120 x\n"
    .. harness.read(trace):gsub("^#[^\n]*\n#[^\n]*\n", "") .. "\0\255 half a li")
  harness.same_text(explain(damaged, "--request", first), explain(trace, "--request", first))
  harness.contains(explain(damaged, "--warp", "0/2", "--cycle", "130"), "memory since cycle 120")
end)

harness.finish()
