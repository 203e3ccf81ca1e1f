-- Traces for ui.perfetto.dev: read here as protobuf, byte for byte, and by protoc where it is installed.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

local home <const> = harness.folder()

local policy <const> = harness.write("setter.lua", [[
local policy = require "warpwright.policy"
local x = policy "setter" { period = 1000 }
function x:on_period()
  self.state.limit = (self.state.limit or 8) - 1
  self.sm.warp_limit = self.state.limit > 4 and self.state.limit or 4
end
return x]])

local function run(name, file, ...)
  local path = ("%s/%s"):format(home, file)
  local status, output = harness.run("run", "gtx480", "spmv", "--size", "small", "--set", "sms=3", "--policy", policy, "--out",
    home .. "/" .. name, "--perfetto", path, ...)
  harness.equal(status, 0, output)
  return path
end

-- Protobuf -------------------------------------------------------------------------------------------------------------------------

local function varint(bytes, at)
  local value, shift = 0, 0
  while true do
    local byte = bytes:byte(at)
    value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
    if byte < 128 then return value, at end
  end
end

--- Fields of a message by number: a number, or bytes; of several the last.
local function fields(bytes)
  local found, at = {}, 1
  while at <= #bytes do
    local tag, value
    tag, at = varint(bytes, at)
    local kind = tag & 7
    if kind == 0 then
      value, at = varint(bytes, at)
    elseif kind == 1 then
      value, at = ("<i8"):unpack(bytes, at)
    else
      assert(kind == 2, "kind of field")
      local length
      length, at = varint(bytes, at)
      value, at = bytes:sub(at, at + length - 1), at + length
      harness.equal(at <= #bytes + 1, true, "length of a field")
    end
    found[tag >> 3] = value
  end
  return found
end

local BEGIN <const>, END <const>, INSTANT <const>, COUNTER <const> = 1, 2, 3, 4

--- { tracks = by number: { name =, parent =, path =, counts = }, events = list of { time =, type =, track =, name =, flow =, value = } }
local function read(path)
  local bytes, at, time, names = harness.read(path), 1, 0, {}
  local trace = { tracks = {}, events = {}, bytes = #bytes }
  while at <= #bytes do
    harness.equal(bytes:byte(at), 1 << 3 | 2, "tag of a packet")
    local length
    length, at = varint(bytes, at + 1)
    local packet = fields(bytes:sub(at, at + length - 1))
    at = at + length
    harness.equal(packet[10], 1, "sequence")
    if packet[60] then
      local track = fields(packet[60])
      assert(not trace.tracks[track[1]], "a track is described once")
      local parent = track[5] and assert(trace.tracks[track[5]], "its parent is described before it")
      trace.tracks[track[1]] = { name = track[2], path = (parent and parent.path .. "/" or "") .. track[2], counts = track[8] ~= nil }
    elseif packet[12] then
      local entry = fields(fields(packet[12])[2])
      names[entry[1]] = entry[2]
    elseif packet[11] then
      local event = fields(packet[11])
      time = time + packet[8]
      local track = assert(trace.tracks[event[11]], "the track of an event is described before it")
      trace.events[#trace.events + 1] = { time = time, type = event[9], track = track, flow = event[47],
        name = event[10] and assert(names[event[10]], "a name is known"), value = event[30],
        annotation = event[4] and fields(event[4]) }
    end
  end
  return trace
end

local path <const> = run("all", "a.pftrace", "--from", "2000", "--to", "6000")
local trace <const> = read(path)

-- What is in it --------------------------------------------------------------------------------------------------------------------

harness.test("slices of a track nest, one at a time, and all of them end", function()
  local open, slices = {}, 0
  for _, event in ipairs(trace.events) do
    if event.type == BEGIN then
      assert(not open[event.track], event.track.path .. ": a slice begins within another")
      assert(event.name, "a slice has a name")
      open[event.track] = true
      slices = slices + 1
    elseif event.type == END then
      assert(open[event.track], event.track.path .. ": a slice ends that has not begun")
      open[event.track] = nil
    elseif event.type == COUNTER then
      assert(event.track.counts, event.track.path .. " counts")
    end
    harness.equal(event.type == COUNTER, event.value ~= nil, "value of " .. event.track.path)
  end
  assert(not next(open), "a slice does not end")
  assert(slices > 10000, slices)
end)

harness.test("the tracks are the machine's tree, with warps, banks, requests and counters", function()
  local paths = {}
  for _, track in pairs(trace.tracks) do paths[track.path] = track end
  for _, wanted in ipairs { "sm[0]", "sm[0]/warp 0", "sm[0]/lsu", "sm[0]/l1d", "sm[0]/l1d/requests 1", "sm[0]/l1d/mshrs", "sm[0]/warps",
    "sm[2]/instructions in 256 cycles", "xbar", "xbar/requests 1", "l2[0]", "l2[0]/mshrs", "mc[0]", "mc[0]/bank 0", "mc[0]/queue" } do
    assert(paths[wanted], wanted)
  end
end)

harness.test("a warp's track shows its state, and the instructions it issues", function()
  local seen = {}
  for _, event in ipairs(trace.events) do
    if event.track.path == "sm[1]/warp 3" and event.name then seen[event.name] = true end
  end
  for _, name in ipairs { "ready", "fetch", "operands", "memory", "issue" } do assert(seen[name], name) end
end)

--- "sm[0]/l1d/requests 3" as "l1d".
local function place(track)
  return (track.path:gsub("/requests %d+$", ""):gsub("/bank %d+$", ""):gsub("%[%d+%]", ""):gsub("^.*/", ""))
end

harness.test("a request is a flow through the objects on its way, in order of time", function()
  local flows = {}
  for _, event in ipairs(trace.events) do
    if event.flow then
      flows[event.flow] = flows[event.flow] or {}
      table.insert(flows[event.flow], event)
    end
  end
  local whole = 0
  for _, flow in pairs(flows) do
    local steps, last = {}, 0
    for _, event in ipairs(flow) do
      assert(event.time >= last)
      last = event.time
      if steps[#steps] ~= place(event.track) then steps[#steps + 1] = place(event.track) end
    end
    local way = table.concat(steps, " ")
    if way:find "^lsu l1d" and way:find "mc xbar mux" then
      harness.equal(way, "lsu l1d mux xbar l2 mc xbar mux", "way of a request")
      whole = whole + 1
    end
  end
  assert(whole > 100, whole)
end)

harness.test("counters agree with the text of the same window", function()
  run("text", "b.pftrace", "--from", "2000", "--to", "6000", "--trace", "*")
  local text, issues, activates = harness.read(home .. "/text/trace.txt"), 0, 0
  for _ in text:gmatch "\n%d+ sm%[%d%] issue " do issues = issues + 1 end
  for _ in text:gmatch "\n%d+ mc%[%d%] ACT " do activates = activates + 1 end
  local shown, activated = 0, 0
  for _, event in ipairs(trace.events) do
    if event.name == "issue" then shown = shown + 1 end
    if event.name == "ACT" then activated = activated + 1 end
  end
  harness.equal(shown, issues, "instructions")
  harness.equal(activated, activates, "activates")
  harness.same_text(harness.read(home .. "/b.pftrace"), harness.read(path), "with the text and without")
end)

harness.test("knobs that a policy sets are instants, with name and value", function()
  local values = {}
  for _, event in ipairs(trace.events) do
    if event.type == INSTANT and event.name == "policy sets a knob" and event.track.path == "sm[0]" then
      values[#values + 1] = event.annotation[10] .. "=" .. event.annotation[3]
    end
  end
  harness.equal(table.concat(values, " "), "warp_limit=5 warp_limit=4")
end)

harness.test("an event takes less than 20 bytes, and a fifth of that compressed", function()
  local bytes = trace.bytes / #trace.events
  assert(bytes < 20, bytes)
  local packed = harness.read(run("packed", "a.pftrace.gz", "--from", "2000", "--to", "6000"))
  assert(#packed / #trace.events < 5, #packed / #trace.events)
  local pipe = io.popen(("gzip -dc '%s/a.pftrace.gz'"):format(home))
  harness.equal(pipe:read "a" == harness.read(path), true, "unpacked")
  pipe:close()
end)

harness.test("protoc reads every packet", function()
  local pipe = io.popen(("command -v protoc >/dev/null && protoc --decode=warpwright.Trace --proto_path=%s perfetto.proto < '%s'"):format(
    core.home_path "tests/program", path))
  local text = pipe:read "a"
  if not pipe:close() and text == "" then harness.skip "protoc is not installed" end
  local events, unknown = 0, text:match "\n%s+%d+: [^\n]*"
  for _ in text:gmatch "\n  track_event {" do events = events + 1 end
  harness.equal(events, #trace.events, "events")
  harness.equal(unknown, nil, "fields that the description has not")
end)

harness.finish()
