-- What a memory request waited for on its way, by the lines of a trace.
local core = require "warpwright.core"
local trace_lines = require "warpwright.explain.trace_lines"

local request = {}

local results <const> = { hit = true, miss = true, merge = true, bypass = true }
local commands <const> = { ACT = true, PRE = true, RD = true, WR = true }

-- Reading ---------------------------------------------------------------------------------------------------------------

--- By identity, of those wanted: their lines.
local function lines_of(trace, wanted)
  local found = {}
  trace_lines.each(trace, function(text)
    local line = text:find(".", 1, true) and trace_lines.parse(text)
    if line and line.id and wanted[line.id] then
      found[line.id] = found[line.id] or {}
      table.insert(found[line.id], line)
    end
  end)
  return found
end

--- The lines of objects from the first cycle to the last; what caches were stalled by then, and which requests they had missed.
local function surroundings(trace, objects, first, last)
  local lines, stalls, missed = {}, {}, {}
  trace_lines.each(trace, function(text, cycle)
    local object = text:match "^%d+ (%S+)"
    if cycle > last then return true end
    if not objects[object] then return end
    local line = trace_lines.parse(text)
    lines[object], missed[object] = lines[object] or {}, missed[object] or {}
    if cycle >= first then table.insert(lines[object], line) elseif line.event == "stall" then stalls[object] = line end
    if line.id and (line.event == "miss" or line.event == "fill") then table.insert(missed[object], line) end
  end)
  for object, stall in pairs(stalls) do table.insert(lines[object], 1, stall) end
  return { lines = lines, missed = missed }
end

-- In words ---------------------------------------------------------------------------------------------------------------

local function plural(count, word) return ("%d %s%s"):format(count, word, count == 1 and "" or "s") end

--- The oldest of the misses of a cache that are not filled by a cycle, and how many there are.
local function in_flight(around, object, cycle)
  local open, order = {}, {}
  for _, line in ipairs(around.missed[object] or {}) do
    if line.cycle > cycle then break end
    if line.event == "miss" and not open[line.id] then order[#order + 1] = line.id end
    open[line.id] = line.event == "miss" and (open[line.id] or line) or nil
  end
  local count, oldest = 0, nil
  for _, id in ipairs(order) do
    if open[id] then
      count = count + 1
      oldest = oldest or open[id]
    end
  end
  return oldest, count
end

--- What held up the tags of a cache between two cycles, by reason, in the order in which they began.
local function stalls_between(around, object, from, to)
  local stalls, by_reason, current = {}, {}, nil
  local function close(at)
    local since = current and math.max(current.cycle, from)
    if not current or at <= since then return end
    local reason = current.text:match "at 0x%x+ (.*)$" or current.text
    local stall = by_reason[reason] or { reason = reason, cycles = 0, ids = {}, requests = 0, first = current.cycle }
    if not by_reason[reason] then stalls[#stalls + 1] = stall end
    by_reason[reason] = stall
    stall.cycles, stall.last = stall.cycles + at - since, current.id or stall.last
    if current.id and not stall.ids[current.id] then
      stall.ids[current.id] = true
      stall.requests = stall.requests + 1
    end
  end
  for _, line in ipairs(around.lines[object] or {}) do
    if line.event == "stall" then
      if line.cycle > to then break end
      close(math.min(line.cycle, to))
      current = line.text ~= "over" and line or nil
    end
  end
  close(to)
  return stalls
end

local function stall_words(around, object, from, to)
  local words = {}
  for i, stall in ipairs(stalls_between(around, object, from, to)) do
    local who = stall.requests == 0 and "the request at the tags" or stall.requests == 1 and "request " .. stall.last
      or ("%d requests, the last of them %s,"):format(stall.requests, stall.last)
    local oldest, count = in_flight(around, object, stall.first)
    local held = stall.reason:find("MSHR", 1, true) and oldest
      and ("; at first %d %s in flight, the oldest %s since cycle %d"):format(count, count == 1 and "miss was" or "misses were", oldest.id,
        oldest.cycle)
      or ""
    words[i] = ("for %s %s waited for %s%s"):format(plural(stall.cycles, "cycle"), who, stall.reason, held)
  end
  return words
end

--- Others of which an object did something between two cycles.
local function others(around, object, id, from, to, does)
  local count, last = 0, nil
  for _, line in ipairs(around.lines[object] or {}) do
    if line.cycle > from and line.cycle <= to and line.id ~= id and does(line) then count, last = count + 1, line end
  end
  return count, last
end

local function add_others(words, format, count, last)
  if count > 0 then words[#words + 1] = format:format(plural(count, "other")) .. (last.id and ", the last of them " .. last.id or "") end
end

--- What happened in an object between two lines of a request there.
local function inside(around, before, line)
  local object, from, to, words = line.object, before.cycle, line.cycle, {}
  if results[line.event] or line.event == "stall" then
    words = stall_words(around, object, from, to)
    add_others(words, "%s looked up before it", others(around, object, line.id, from, to, function(l) return results[l.event] end))
  elseif commands[line.event] then
    local bank = line.text:match "bank (%d+)" or "-"
    add_others(words, "the bus served %s", others(around, object, line.id, from, to, function(l) return l.event == "RD" or l.event == "WR" end))
    add_others(words, "bank " .. bank .. " had commands for %s", others(around, object, line.id, from, to, function(l)
      return commands[l.event] and l.text:match "bank (%d+)" == bank
    end))
  elseif line.event == "send" and before.event == "merge" then
    words[1] = ("it waited for the line, which request %s fetches"):format(before.text:match "behind (%S+)" or "of another")
  elseif line.event == "send" then
    add_others(words, "%s left to " .. tostring(line.port) .. " before it", others(around, object, line.id, from, to, function(l)
      return l.event == "send" and l.port == line.port
    end))
  end
  return words
end

local function on_the_way(around, before, line)
  local words = {}
  add_others(words, "%s came from " .. tostring(line.port) .. " before it", others(around, line.object, line.id, before.cycle, line.cycle,
    function(l) return l.event == "receive" and l.port == line.port end))
  return words
end

local function line_words(line)
  local detail = line.text:match "at 0x%x+ (.*)$" or ""
  if line.event == "send" then return line.answer and "sends the answer" or "sends it to " .. tostring(line.port) end
  if line.event == "receive" then return line.answer and "has the answer" or "has it" end
  return line.event .. (detail ~= "" and ", " .. detail or "")
end

local function tell(around, lines, say)
  local first, last = lines[1], lines[#lines]
  say(("request %s: %s, warp %s, pc %s; cycles %d to %d, %s"):format(first.id, first.text:match "^%S+ (.- at 0x%x+)" or first.text, first.warp, first.pc,
    first.cycle, last.cycle, plural(last.cycle - first.cycle, "cycle")))
  for i, line in ipairs(lines) do
    local before = lines[i - 1]
    local gap = before and line.cycle - before.cycle or 0
    if gap > 1 then
      for _, words in ipairs(before.object == line.object and inside(around, before, line) or on_the_way(around, before, line)) do
        say("                 " .. words)
      end
    end
    say(("%8d %6s  %s %s"):format(line.cycle, gap > 0 and "+" .. gap or "", line.object, line_words(line)))
  end
  if not (last.answer and last.event == "receive") and first.text:find " read " then
    say "                 the trace has no answer to it"
  end
end

-- Together ----------------------------------------------------------------------------------------------------------------

local DEPTH <const> = 3

--- Requests of the same warp that the trace has, nearest in time first, for a message.
local function near(trace, id)
  local warp, cycle = id:match "^(.-%..-)%.(%d+)"
  local found, seen = {}, {}
  trace_lines.each(trace, function(text)
    local line = text:find(" " .. warp .. ".", 1, true) and trace_lines.parse(text)
    if line and line.id and not seen[line.id] and line.id:sub(1, #warp + 1) == warp .. "." then
      seen[line.id] = true
      found[#found + 1] = { id = line.id, far = math.abs(tonumber(line.id:match "^.-%..-%.(%d+)") - tonumber(cycle)), at = #found }
    end
  end)
  table.sort(found, function(a, b) if a.far ~= b.far then return a.far < b.far end return a.at < b.at end)
  local ids = {}
  for i = 1, math.min(3, #found) do ids[i] = found[i].id end
  return ids
end

--- Tells, line by line to `say`, what the request waited for, and then those that it waited for.
function request.explain(trace, id, say)
  local done = {}
  for _ = 1, DEPTH do
    local lines = lines_of(trace, { [id] = true })[id]
    if not lines then
      if next(done) then return end
      local ids = near(trace, id)
      core.user_error(("explain: the trace has no request %s%s"):format(id,
        ids[1] and "; of this warp it has " .. table.concat(ids, ", ") or ", and none of this warp"))
    end
    done[id] = true
    local objects, behind = {}, nil
    for _, line in ipairs(lines) do
      objects[line.object] = true
      behind = line.event == "merge" and line.text:match "behind (%S+)" or behind
    end
    tell(surroundings(trace, objects, lines[1].cycle, lines[#lines].cycle), lines, say)
    if not behind or done[behind] then return end
    say ""
    id = behind
  end
end

return request
