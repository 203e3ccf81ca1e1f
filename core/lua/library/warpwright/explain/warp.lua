-- Why a warp did not issue in a cycle, by the lines of a trace.
local core = require "warpwright.core"
local request = require "warpwright.explain.request"
local trace_lines = require "warpwright.explain.trace_lines"

local warp = {}

--- All that the trace says of an SM up to a cycle, and of one warp beyond it.
local function read(trace, name, cycle)
  local sm = name:match "^(%d+)/"
  local seen = { states = {}, issues = {}, loads = {}, stalls = {}, requests = {}, last = trace.from }
  trace_lines.each(trace, function(text, at)
    local object, event, who = text:match "^%d+ (%S+) (%S+) (%S+)"
    seen.last = at
    local of_sm = who:match "^(%d+)/" == sm
    if event == "state" or event == "begin" then
      if not of_sm then return end
      local line = trace_lines.parse(text)
      seen.object = object
      if at <= cycle then seen.states[who] = line end
      if at > cycle and who == name and not seen.ended then seen.ended = line end
    elseif event == "issue" and of_sm then
      local line = trace_lines.parse(text)
      if at == cycle then seen.issues[#seen.issues + 1] = line end
      if who == name and at <= cycle then seen.last_issue = line end
      if who == name and at > cycle and not seen.next_issue then
        seen.next_issue = line
        -- After this issue it may wait in the same state as before, of which the trace has no line.
        seen.ended = seen.ended or { cycle = at, text = "it issued" }
      end
    elseif event == "cta_start" and object == seen.object and at <= cycle then
      local mask = tonumber(text:match "warps=0x(%x+)" or "", 16)
      local number = tonumber(name:match "/(%d+)$")
      if mask and mask >> number & 1 == 1 then seen.cta = mask end
    elseif event == "stall" and object == seen.object and at <= cycle then
      local line = trace_lines.parse(text)
      seen.stalls[line.text:match "scheduler (%d+)" or ""] = line
    elseif who == name and (event == "send" or event == "receive") then
      local line = trace_lines.parse(text)
      if object:find "%.lsu$" and line.id then
        if event == "send" and not seen.ended then seen.requests[#seen.requests + 1] = line end
        if event == "receive" then for _, sent in ipairs(seen.requests) do if sent.id == line.id then sent.answered = at end end end
      end
    end
  end)
  return seen
end

local waits <const> = {
  fetch = "it had no instruction yet: the next one was being fetched and decoded",
  operands = "its next instruction reads or writes registers that earlier ones, which are not done, write",
  memory = "its next instruction needs registers that loads are to write",
  barrier = "it waited at a barrier",
  fence = "it waited at a fence for its earlier accesses",
  ready = "it could have issued",
  ended = "it had ended",
}

local function tell_barrier(seen, name, say)
  local sm, late = name:match "^(%d+)/", {}
  for number = 0, 63 do
    local state = seen.states[sm .. "/" .. number]
    if seen.cta and seen.cta >> number & 1 == 1 and state and state.text ~= "barrier" and state.text ~= "ended" then
      late[#late + 1] = ("%s/%d (%s since cycle %d)"):format(sm, number, state.text, state.cycle)
    end
  end
  if late[1] then say("of its CTA these had not arrived: " .. table.concat(late, ", ")) end
end

local function tell_schedulers(seen, say)
  for _, line in ipairs(seen.issues) do say(("in this cycle warp %s issued, at pc %s"):format(line.warp, line.pc)) end
  for scheduler = 0, 63 do
    local line = seen.stalls[tostring(scheduler)]
    if line then say(("%s, since cycle %d"):format(line.text, line.cycle)) end
  end
end

--- Of its requests without an answer in this cycle, the one that was answered last before it went on; and how many there are.
local function last_request(seen, cycle)
  local last, count, ended = nil, 0, seen.ended and seen.ended.cycle or math.huge
  for _, sent in ipairs(seen.requests) do
    local answered = sent.answered or math.huge
    if answered > cycle and answered <= ended then
      count = count + 1
      if not last or answered > (last.answered or math.huge) then last = sent end
    end
  end
  return last, count
end

local function check(trace, seen, name, cycle)
  local made = (trace.to and ("%d to %d"):format(trace.from, trace.to) or ("%d to %d"):format(trace.from, seen.last))
  if cycle < trace.from or cycle > (trace.to or seen.last) then
    core.user_error(("explain: cycle: expected one of the trace, %s, got %d; --from and --to of run choose them"):format(made, cycle))
  end
  if not seen.object then
    local sm = name:match "^%d+"
    local is_traced = not trace.events and core.trace_selects(trace.objects, ("sm[%s]"):format(sm))
    local advice = is_traced and ": the machine has no such SM, or it ran nothing in cycles " .. made
      or ("; trace 'sm[%s]*'%s"):format(sm, trace.events and " with all events" or "")
    core.user_error(("explain: the trace, of %s, has no states of warps of SM %s%s"):format(trace.objects, sm, advice))
  end
end

--- Tells, line by line to `say`.
function warp.explain(trace, name, cycle, say)
  local seen = read(trace, name, cycle)
  check(trace, seen, name, cycle)
  local state = seen.states[name]
  for _, line in ipairs(seen.issues) do
    if line.warp == name then return say(("warp %s issued in cycle %d, at pc %s"):format(name, cycle, line.pc)) end
  end
  if not state then core.user_error(("explain: warp: warp %s does not run in cycle %d"):format(name, cycle)) end
  local since = math.max(state.cycle, seen.last_issue and seen.last_issue.cycle + 1 or 0)
  say(("warp %s in cycle %d: %s since cycle %d: %s"):format(name, cycle, state.text, since, waits[state.text] or "unknown"))
  if seen.last_issue then say(("it issued last in cycle %d, at pc %s"):format(seen.last_issue.cycle, seen.last_issue.pc)) end
  if seen.ended then say(("this ended in cycle %d: %s"):format(seen.ended.cycle, seen.ended.text)) end
  if seen.next_issue then say(("it issued next in cycle %d, at pc %s"):format(seen.next_issue.cycle, seen.next_issue.pc)) end
  if state.text == "barrier" then tell_barrier(seen, name, say) end
  if state.text == "ready" then tell_schedulers(seen, say) end
  if state.text ~= "memory" and state.text ~= "fence" then return end
  local last, count = last_request(seen, cycle)
  if not last then return say "the trace has no request of it that came back then: it reads shared memory, or the window is too short" end
  say(("%d of its requests had not come back; this one did so last:"):format(count))
  say ""
  request.explain(trace, last.id, say)
end

return warp
