-- Charts as SVG text: horizontal bars and curves, each in a box of its own.
local svg = {}

local ink <const>, faint <const>, grid <const> = "#222222", "#666666", "#e3e6ea"
local colours = { "#1f5fa8", "#d9822b", "#3a8f5c", "#a23b72", "#6b5b95", "#8a6d3b" } -- over again for more series
local allowed_colour <const> = "#c8d3e0" -- what parameters allow

local function escaped(text) return (text:gsub("[&<>]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" })) end

-- Shapes --------------------------------------------------------------------------------------------------------------

local Canvas = {}
Canvas.__index = Canvas

function svg.canvas() return setmetatable({ shapes = {} }, Canvas) end

function Canvas:add(form, ...) self.shapes[#self.shapes + 1] = form:format(...) end

--- anchor: start, middle, end; `turned` text reads from below.
function Canvas:text(x, y, text, options)
  options = options or {}
  local turn = options.turned and (' transform="rotate(-90 %.1f %.1f)"'):format(x, y) or ""
  self:add('<text x="%.1f" y="%.1f" font-size="%d" fill="%s" text-anchor="%s" font-weight="%s"%s>%s</text>', x, y,
    options.size or 11, options.colour or ink, options.anchor or "start", options.bold and "bold" or "normal", turn,
    escaped(text))
end

function Canvas:line(x1, y1, x2, y2, colour, dashes)
  self:add('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"%s/>', x1, y1, x2, y2, colour,
    dashes and ' stroke-dasharray="5 3"' or "")
end

function Canvas:rectangle(x, y, width, height, colour)
  self:add('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>', x, y, math.max(0, width), height, colour)
end

function Canvas:diamond(x, y)
  self:add('<path d="M%.1f %.1f l6 6 l-6 6 l-6 -6 z" fill="none" stroke="%s" stroke-width="1.3"/>', x, y - 6, ink)
end

function Canvas:document(width, height)
  local head = '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
    .. 'font-family="sans-serif">\n<rect width="%d" height="%d" fill="white"/>\n'
  return head:format(width, height, width, height, width, height) .. table.concat(self.shapes, "\n") .. "\n</svg>\n"
end

-- Scales --------------------------------------------------------------------------------------------------------------

--- A step of 1, 2 or 5 times a power of ten of which about `count` reach `span`.
local function nice_step(span, count)
  local raw = span / count
  local power = 10.0 ^ math.floor(math.log(raw, 10))
  for _, factor in ipairs { 1, 2, 5 } do
    if factor * power >= raw then return factor * power end
  end
  return 10 * power
end

--- { at = function of a value, ticks = values }: from 0, or from `low`, to at least `high` over pixels from..to.
local function linear(low, high, from, to, count)
  local step = nice_step(math.max(high - low, 1e-9), count)
  local first, last = math.floor(low / step), math.ceil(high / step - 1e-9)
  local scale, ticks = step * math.max(1, last - first), {}
  for i = first, math.max(last, first + 1) do ticks[#ticks + 1] = i * step end
  return { at = function(value) return from + (value - first * step) / scale * (to - from) end, ticks = ticks }
end

--- Powers of `base` from below `low` to above `high`.
local function logarithmic(base, low, high, from, to)
  local function exponent(value) return math.log(value, base) end
  local first, last = math.floor(exponent(low) + 1e-9), math.ceil(exponent(high) - 1e-9)
  last = math.max(last, first + 1)
  local ticks = {}
  for i = first, last do ticks[#ticks + 1] = base ^ i end
  local function at(value) return from + (exponent(value) - first) / (last - first) * (to - from) end
  return { at = at, ticks = ticks }
end

local function tick_text(value) return ("%.4g"):format(value) end

-- Bars ----------------------------------------------------------------------------------------------------------------

--- The axis under bars: from 0, or logarithmic from below the least value.
local function axis_of(chart, left, right)
  local high, low = 0, math.huge
  for _, bar in ipairs(chart.bars) do
    for _, value in ipairs { (bar.value or 0) + (bar.half_width or 0), bar.allowed or 0 } do
      high = math.max(high, value)
      if value > 0 then low = math.min(low, value) end
    end
  end
  if high == 0 then low, high = 1, 10 end
  return chart.log and logarithmic(10, low, high, left, right) or linear(0, high, left, right, 4)
end

--- One bar around the height y; its name ends at `left`.
function Canvas:bar(bar, axis, left, y, thick, is_log)
  self:text(left - 6, y + 4, bar.name, { anchor = "end" })
  if bar.allowed then self:rectangle(left, y - thick / 2, axis.at(bar.allowed) - left, thick, allowed_colour) end
  if not bar.value then
    self:text(left + 4, y + 4, "- " .. (bar.reason or ""), { colour = faint, size = 10 })
  elseif is_log then -- a bar's length means nothing on this axis
    self:line(left, y, axis.at(bar.value), y, allowed_colour)
    self:add('<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>', axis.at(bar.value), y, colours[1])
  else
    local inner = bar.allowed and 0.55 * thick or thick
    self:rectangle(left, y - inner / 2, axis.at(bar.value) - left, inner, colours[1])
  end
  if bar.half_width then
    local low, high = axis.at(math.max(0, bar.value - bar.half_width)), axis.at(bar.value + bar.half_width)
    self:line(low, y, high, y, ink)
    for _, x in ipairs { low, high } do self:line(x, y - thick / 4, x, y + thick / 4, ink) end
  end
  if bar.value then
    local right = math.max(axis.at(bar.value + (bar.half_width or 0)), bar.allowed and axis.at(bar.allowed) or left)
    self:text(right + 10, y + 4, bar.text or tick_text(bar.value))
  end
  for _, reference in ipairs(type(bar.reference) == "table" and bar.reference or { bar.reference }) do
    self:diamond(axis.at(reference), y)
  end
end

--- Horizontal bars in the box { x, y, width, height }. chart: title, unit, log = dots on a logarithmic axis, labels =
-- pixels for the names, bars = list of { name =, value = or nil, text = instead of its value, half_width = of its interval, reason =, allowed =,
-- reference = a number or { low, high } }.
function Canvas:bars(box, chart)
  local top, left, bottom = box.y + 40, box.x + chart.labels, box.y + box.height - 36
  local right = box.x + box.width - 62
  local axis = axis_of(chart, left, right)
  self:text(box.x, box.y + 20, chart.title, { size = 13, bold = true })
  for _, tick in ipairs(axis.ticks) do
    self:line(axis.at(tick), top, axis.at(tick), bottom, grid)
    self:text(axis.at(tick), bottom + 14, tick_text(tick), { colour = faint, anchor = "middle" })
  end
  self:text((left + right) / 2, bottom + 29, chart.unit, { colour = faint, anchor = "middle" })
  local pitch = (bottom - top) / math.max(1, #chart.bars)
  for i, bar in ipairs(chart.bars) do
    self:bar(bar, axis, left, top + (i - 0.5) * pitch, math.min(18, 0.66 * pitch), chart.log)
  end
  self:line(left, top, left, bottom, faint)
end

-- Curves --------------------------------------------------------------------------------------------------------------

local function extremes(series, index)
  local low, high = math.huge, -math.huge
  for _, one in ipairs(series) do
    for _, point in ipairs(one.points) do low, high = math.min(low, point[index]), math.max(high, point[index]) end
  end
  return low, high
end

function Canvas:series(one, horizontal, vertical, colour)
  local path = {}
  for i, point in ipairs(one.points) do
    local x, y = horizontal.at(point[1]), vertical.at(point[2])
    path[i] = ("%s%.1f %.1f"):format(i == 1 and "M" or "L", x, y)
    if not one.dashed then self:add('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>', x, y, colour) end
  end
  self:add('<path d="%s" fill="none" stroke="%s" stroke-width="1.6"%s/>', table.concat(path, " "), colour,
    one.dashed and ' stroke-dasharray="5 3"' or "")
end

--- Curves in the box. chart: title, x and y = names of the axes with units, powers = the horizontal axis is one of
-- powers of two, from_zero = false: it does not begin at 0; series = list of { name =, points = { { x, y } ... },
-- dashed = }.
function Canvas:curves(box, chart)
  local left, right, top, bottom = box.x + 56, box.x + box.width - 22, box.y + 52, box.y + box.height - 40
  local low, high = extremes(chart.series, 1)
  local _, highest = extremes(chart.series, 2)
  local horizontal = chart.powers and logarithmic(2, low, high, left, right)
    or linear(chart.from_zero == false and low or 0, high, left, right, 5)
  local vertical = linear(0, highest, bottom, top, 4)
  self:text(box.x + 6, box.y + 20, chart.title, { size = 13, bold = true })
  for _, tick in ipairs(vertical.ticks) do
    self:line(left, vertical.at(tick), right, vertical.at(tick), grid)
    self:text(left - 6, vertical.at(tick) + 4, tick_text(tick), { colour = faint, anchor = "end" })
  end
  for _, tick in ipairs(horizontal.ticks) do
    self:line(horizontal.at(tick), bottom, horizontal.at(tick), bottom + 4, faint)
    self:text(horizontal.at(tick), bottom + 16, tick_text(tick), { colour = faint, anchor = "middle" })
  end
  self:line(left, bottom, right, bottom, faint)
  self:text((left + right) / 2, bottom + 31, chart.x, { colour = faint, anchor = "middle" })
  self:text(box.x + 10, (top + bottom) / 2, chart.y, { colour = faint, anchor = "middle", turned = true })
  local at = left
  for i, one in ipairs(chart.series) do
    local colour = one.dashed and faint or colours[(i - 1) % #colours + 1]
    self:series(one, horizontal, vertical, colour)
    self:line(at, box.y + 33, at + 16, box.y + 33, colour, one.dashed)
    self:text(at + 20, box.y + 37, one.name, { colour = colour })
    at = at + 30 + 6.2 * #one.name
  end
end

return svg
