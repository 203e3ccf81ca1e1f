-- A machine as a picture, SVG text: boxes for groups of equal objects in layers below the SMs, lines for wires.
local core = require "warpwright.core"
local groups = require "warpwright.machine_groups"
local layers = require "warpwright.layers"

local drawing = {}

local ink <const>, faint <const> = "#222222", "#666666"
local tints = { "#e8f0fa", "#fdf0e1", "#e6f4ea", "#f5e6f0", "#eceaf6", "#f3efe4" } -- of clocks, over again for more
local margin <const>, inset <const>, title_height <const> = 24, 14, 24
local line_height <const>, small <const>, large <const> = 14, 11, 12

-- What a box says -------------------------------------------------------------------------------------------------------

--- The parameters that tell most of an object; of other classes the first three.
local shown = {
  SM = { "warps", "schedulers", "scheduler" }, LSU = {}, L1 = { "size", "ways", "sectors", "mshrs" },
  L2 = { "size", "ways", "sectors", "mshrs" }, Mux = {}, Crossbar = { "flit" }, MemoryController = { "scheduler", "banks" },
  Dispatcher = { "placement" }, AddressMap = { "channels", "slices_per_channel" }, DmaEngine = { "buffers" },
}

local function bytes_text(bytes)
  for _, unit in ipairs { { "GiB", 1 << 30 }, { "MiB", 1 << 20 }, { "KiB", 1 << 10 } } do
    if bytes >= unit[2] and bytes % unit[2] == 0 then return ("%d %s"):format(bytes // unit[2], unit[1]) end
  end
  return bytes .. " B"
end

local function value_text(row, value)
  if row.unit == "bytes" then value = bytes_text(value) end
  if math.type(value) == "float" then value = ("%.6g"):format(value) end
  return ("%s %s"):format(row.name, value)
end

local function parameter_lines(object)
  local rows, wanted, lines = {}, shown[object.class], {}
  for i, row in ipairs(core.parameter_rows(object.class)) do
    rows[row.name] = row
    if not shown[object.class] and i <= 3 then wanted = table.move({ row.name }, 1, 1, #(wanted or {}) + 1, wanted or {}) end
  end
  for _, parameter in ipairs(core.parameters(object)) do rows[parameter.name].value = parameter.value end
  for _, name in ipairs(wanted or {}) do
    local row = rows[name]
    local is_plain = not row or row.value == nil or name == "sectors" and row.value == 1 or name == "slices_per_channel" and row.value == 1
    if not is_plain then lines[#lines + 1] = value_text(row, row.value) end
  end
  return lines
end

local function text_width(text, size) return 0.6 * size * (utf8.len(text) or #text) end

--- A box of a group: its lines and how large it is. `name`: as it is called where it stands. `note_of(path)`: nil, or { text =,
-- share = from 0 to 1 } of what it did.
local function make_box(group, name, note_of)
  local lines = { { text = name, bold = true, size = large }, { text = group.object.class, colour = faint, size = small } }
  for _, text in ipairs(parameter_lines(group.object)) do lines[#lines + 1] = { text = text, size = small } end
  local width, note = 60, note_of and note_of(group.object.path)
  if note then lines[#lines + 1] = { text = note.text, size = small, bold = true } end
  for _, line in ipairs(lines) do width = math.max(width, text_width(line.text, line.bold and 1.08 * line.size or line.size) + 18) end
  return { group = group, lines = lines, width = width, height = 10 + line_height * #lines + (note and 6 or 0), clock = core.clock_of(group.object),
    share = note and note.share }
end

local function counted(name, count) return count > 1 and ("%s  ×%d"):format(name, count) or name end

-- Boxes within boxes ----------------------------------------------------------------------------------------------------

local function root_of(group)
  while group.parent do group = group.parent end
  return group
end

--- How a group is called in the picture: in a frame without the name of the frame.
local function name_within(group, frame)
  if #frame.groups == 1 then return counted(group.name, group.count) end
  if group == frame.root then return (group.name:gsub("%[[^%]]*%]$", ""):match "[^.]*$") end
  local name, root = group.name:sub(#frame.root.name + 2), frame.root.count
  return group.count > root and counted(name, group.count // root) or name
end

--- A frame for each object that belongs to no other: its box, and those of what belongs to it.
local function make_frames(found, note_of)
  local frames, of_root, box_of = {}, {}, {}
  for _, group in ipairs(found.groups) do
    local root = root_of(group)
    if not of_root[root] then
      of_root[root] = { root = root, groups = {}, boxes = {}, ways = {} }
      table.insert(frames, of_root[root])
    end
    table.insert(of_root[root].groups, group)
  end
  for _, frame in ipairs(frames) do
    for i, group in ipairs(frame.groups) do
      frame.boxes[i] = make_box(group, name_within(group, frame), note_of)
      frame.boxes[i].frame = frame
      box_of[group] = frame.boxes[i]
    end
  end
  return frames, box_of
end

--- A line's end at the upper or lower side of a frame.
local function add_way(frame, box, leads_out)
  if #frame.boxes == 1 then return nil end
  local way = { width = 10, height = 0, at_bottom = leads_out or nil, is_way = true }
  table.insert(frame.ways, leads_out and { from = box, to = way } or { from = way, to = box })
  return way
end

local function wire_text(wire)
  local text = tostring(wire.forward.latency)
  if wire.back and wire.back.latency ~= wire.forward.latency then text = ("%s / %d"):format(text, wire.back.latency) end
  if wire.forward.width > 1 then text = ("%s, width %d"):format(text, wire.forward.width) end
  return wire.count > 1 and ("%s  ×%d"):format(text, wire.count) or text
end

--- The wire of an SM and its LSU, which config.lua has and other configs leave to the program: the line of what is made together
-- stands for both.
local function is_implied(wire)
  return wire.to.made_with and wire.to.parent == wire.from and wire.forward.latency == 1 and (wire.back or wire.forward).latency == 1
end

--- Lines within frames, and lines between them.
local function sort_wires(found, box_of)
  local between = {}
  for _, wire in ipairs(found.wires) do
    local from, to = box_of[wire.from], box_of[wire.to]
    if from.frame ~= to.frame then
      between[#between + 1] = { from = from.frame, to = to.frame, text = wire_text(wire), out = add_way(from.frame, from, true),
        into = add_way(to.frame, to, false), first = from, last = to }
    elseif from ~= to and not is_implied(wire) then
      table.insert(from.frame.ways, { from = from, to = to, text = wire_text(wire) })
    end
  end
  for _, group in ipairs(found.groups) do
    if group.made_with then
      local box = box_of[group]
      table.insert(box.frame.ways, { from = box_of[group.parent], to = box, is_plain = true })
    end
  end
  return between
end

local function place_within(frame)
  if #frame.boxes == 1 then
    frame.width, frame.height = frame.boxes[1].width, frame.boxes[1].height
    return
  end
  local nodes, has_entry = {}, false
  for _, box in ipairs(frame.boxes) do nodes[#nodes + 1] = box end
  for _, edge in ipairs(frame.ways) do
    for _, node in ipairs { edge.from, edge.to } do
      if node.is_way then nodes[#nodes + 1] = node end
    end
    has_entry = has_entry or edge.from.is_way
  end
  for _, box in ipairs(frame.boxes) do box.least_level = has_entry and 1 or 0 end
  local width, height = layers.place(nodes, frame.ways)
  frame.title = counted(frame.root.name, frame.root.count)
  local least = text_width(frame.title, 1.08 * large) + 2 * inset
  frame.inner_left = inset + math.max(0, (least - width - 2 * inset) / 2)
  frame.width, frame.height = math.max(width + 2 * inset, least), height + title_height + inset
end

--- Everything to its place in the picture.
local function shift(frame)
  local left, top = frame.x - frame.width / 2, frame.y
  if not frame.title then
    frame.boxes[1].x, frame.boxes[1].y = frame.x, frame.y
    return
  end
  local moved = {}
  local function move(node)
    if not moved[node] then node.x, node.y = node.x + left + frame.inner_left, node.y + top + title_height end
    moved[node] = true
  end
  for _, box in ipairs(frame.boxes) do move(box) end
  for _, edge in ipairs(frame.ways) do
    for _, step in ipairs(edge.steps) do move(step) end
  end
end

-- Lines -----------------------------------------------------------------------------------------------------------------

local function bottom(node) return node.y + node.height end
local function top(node) return node.y end

--- The points that a line goes through, from above to below; of a way's end at a frame's side only that side.
local function points_of(edge)
  local points, steps = {}, edge.steps
  points[1] = { node = steps[1], side = "below", y = bottom(steps[1]) }
  for i = 2, #steps - 1 do
    points[#points + 1] = { x = steps[i].x, y = top(steps[i]) }
    if steps[i].height > 0 then points[#points + 1] = { x = steps[i].x, y = bottom(steps[i]) } end
  end
  points[#points + 1] = { node = steps[#steps], side = "above", y = top(steps[#steps]) }
  return points
end

--- Ends at one side of a box, beside each other in the order of where they lead.
local function spread_ends(lines)
  local at = { above = {}, below = {} }
  local order = {}
  local function note(point, other)
    if point.x then return end
    local ends = at[point.side][point.node]
    if not ends then
      ends = {}
      at[point.side][point.node] = ends
      order[#order + 1] = { point.node, ends }
    end
    ends[#ends + 1] = { point = point, to = other.x or other.node.x, rank = #ends }
  end
  for _, line in ipairs(lines) do
    note(line.points[1], line.points[2])
    note(line.points[#line.points], line.points[#line.points - 1])
  end
  for _, entry in ipairs(order) do
    local node, ends = entry[1], entry[2]
    table.sort(ends, function(a, b)
      if a.to ~= b.to then return a.to < b.to end
      return a.rank < b.rank
    end)
    for i, one in ipairs(ends) do one.point.x = node.x + node.width * ((i - 0.5) / #ends - 0.5) * 0.8 end
  end
end

local function collect_lines(frames, between)
  local lines = {}
  for _, frame in ipairs(frames) do
    for _, edge in ipairs(frame.title and frame.ways or {}) do
      local points = points_of(edge)
      if edge.from.is_way then points[1] = { x = edge.from.x, y = frame.y } end
      if edge.to.is_way then points[#points] = { x = edge.to.x, y = frame.y + frame.height } end
      lines[#lines + 1] = { points = points, text = edge.text, is_plain = edge.is_plain, turned = edge.turned,
        has_arrow = not edge.to.is_way }
    end
  end
  for _, edge in ipairs(between) do
    local points = points_of(edge)
    local upper, lower = edge.out, edge.into
    if edge.turned then upper, lower = nil, nil end -- it leads from a lower side to an upper one all the same
    if upper then points[1] = { x = upper.x, y = bottom(edge.steps[1]) } end
    if lower then points[#points] = { x = lower.x, y = top(edge.steps[#edge.steps]) } end
    lines[#lines + 1] = { points = points, text = edge.text, turned = edge.turned, has_arrow = not lower }
  end
  spread_ends(lines)
  return lines
end

-- SVG -------------------------------------------------------------------------------------------------------------------

local function escaped(text) return (text:gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" })) end

local Page = {}
Page.__index = Page

function Page:add(form, ...) self[#self + 1] = form:format(...) end

function Page:text(x, y, text, options)
  self:add('<text x="%.1f" y="%.1f" font-size="%d" fill="%s"%s%s%s>%s</text>', x, y, options.size or small, options.colour or ink,
    options.anchor and (' text-anchor="%s"'):format(options.anchor) or "", options.bold and ' font-weight="bold"' or "",
    options.halo and ' stroke="white" stroke-width="3" paint-order="stroke"' or "", escaped(text))
end

function Page:line(line, arrow)
  local path = {}
  for i, point in ipairs(line.points) do
    local before = line.points[i - 1]
    if before then
      local middle = (before.y + point.y) / 2
      path[i] = ("C%.1f %.1f %.1f %.1f %.1f %.1f"):format(before.x, middle, point.x, middle, point.x, point.y)
    else
      path[i] = ("M%.1f %.1f"):format(point.x, point.y)
    end
  end
  local marker = line.turned and ' marker-start="url(#arrow)"' or line.has_arrow and arrow or ""
  self:add('<path d="%s" fill="none" stroke="%s"%s%s/>', table.concat(path, " "), faint, line.is_plain and ' stroke-dasharray="3 3"' or "",
    line.is_plain and "" or marker)
end

--- Beside the middle of the first part, lines with neighbours not all at one height.
function Page:label(line, number)
  if not line.text then return end
  local a, b = line.points[1], line.points[2]
  local t = ({ 0.5, 0.36, 0.64 })[number % 3 + 1]
  local s = 1 - t
  local across = 3 * s * t * t + t * t * t
  local down = a.y * (s * s * s) + (a.y + b.y) / 2 * (3 * s * s * t + 3 * s * t * t) + b.y * (t * t * t)
  self:text(a.x + (b.x - a.x) * across + 3, down + 4, line.text, { size = 10, colour = ink, halo = true })
end

function Page:box(box, tint)
  local left = box.x - box.width / 2
  self:add('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="4" fill="%s" stroke="%s"/>', left, box.y, box.width, box.height, tint, ink)
  if box.share then
    self:add('<rect x="%.1f" y="%.1f" width="%.1f" height="5" fill="white" stroke="%s"/><rect x="%.1f" y="%.1f" width="%.1f" height="5" fill="%s"/>',
      left, box.y + box.height - 5, box.width, ink, left, box.y + box.height - 5, box.width * math.max(0, math.min(1, box.share)), ink)
  end
  for i, line in ipairs(box.lines) do
    self:text(box.x, box.y + 4 + line_height * i, line.text, { size = line.size, bold = line.bold, colour = line.colour, anchor = "middle" })
  end
end

function Page:frame(frame)
  if not frame.title then return end
  local left = frame.x - frame.width / 2
  self:add('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="6" fill="#fafafa" stroke="%s"/>', left, frame.y, frame.width,
    frame.height, faint)
  self:text(left + inset, frame.y + 16, frame.title, { size = large, bold = true })
end

local function frequency_text(hertz)
  if hertz % 1000000000 == 0 then return ("%d GHz"):format(hertz // 1000000000) end
  return ("%.10g MHz"):format(hertz / 1000000)
end

--- What tints and numbers mean. Returns the width.
function Page:legend(x, y, clocks, tint_of)
  local at = x
  for _, clock in ipairs(clocks) do
    local text = ("%s %s"):format(clock.name, frequency_text(clock.hertz))
    self:add('<rect x="%.1f" y="%.1f" width="12" height="12" fill="%s" stroke="%s"/>', at, y, tint_of[clock.name], faint)
    self:text(at + 17, y + 10, text, { colour = faint })
    at = at + 33 + text_width(text, small)
  end
  local meaning = "at wires: latency of requests / responses in cycles of their sender, ×wires"
  self:text(x, y + 28, meaning, { size = 10, colour = faint })
  return math.max(at - x, text_width(meaning, 9))
end

--- The picture of a machine that machine.build() has made; `note_of` as of make_box().
function drawing.svg(name, built, note_of)
  local found = groups.of(built)
  local frames, box_of = make_frames(found, note_of)
  local between = sort_wires(found, box_of)
  for _, frame in ipairs(frames) do place_within(frame) end
  local width, height = layers.place(frames, between)
  local page, tint_of, clocks = setmetatable({}, Page), {}, (built:clocks())
  for i, clock in ipairs(clocks) do tint_of[clock.name] = tints[(i - 1) % #tints + 1] end
  for _, edge in ipairs(between) do
    for i = 2, #edge.steps - 1 do edge.steps[i].x, edge.steps[i].y = edge.steps[i].x + margin, edge.steps[i].y + 2 * margin end
  end
  for _, frame in ipairs(frames) do
    frame.x, frame.y = frame.x + margin, frame.y + 2 * margin
    shift(frame)
    page:frame(frame)
  end
  local lines = collect_lines(frames, between)
  for _, line in ipairs(lines) do page:line(line, ' marker-end="url(#arrow)"') end
  for _, frame in ipairs(frames) do
    for _, box in ipairs(frame.boxes) do page:box(box, tint_of[box.clock]) end
  end
  for i, line in ipairs(lines) do page:label(line, i) end
  page:text(margin, 26, name, { size = 15, bold = true })
  width = math.max(width, page:legend(margin, height + 2 * margin + 22, clocks, tint_of)) + 2 * margin
  height = height + 2 * margin + 22 + 28 + 14
  local head = '<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="sans-serif">\n'
    .. '<title>%s</title>\n<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
    .. 'orient="auto-start-reverse"><path d="M0 0 L8 4 L0 8 z" fill="%s"/></marker></defs>\n'
    .. '<rect width="%.0f" height="%.0f" fill="white"/>\n'
  return head:format(width, height, width, height, escaped(name), faint, width, height) .. table.concat(page, "\n") .. "\n</svg>\n"
end

--- The arguments of `warpwright draw`: MACHINE and settings. Returns the picture.
function drawing.of(config, set)
  local machine, load = require "warpwright.machine", require "warpwright.load"
  local description = load.get("config", config)
  return drawing.svg(description.name, machine.build(description, { set = set }))
end

return drawing
