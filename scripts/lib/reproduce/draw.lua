-- Figures as SVG: bars in groups, as the papers draw them, with the papers' values where their
-- texts give them; and heat maps.
local svg = require "warpwright.svg"

local draw = {}

local ink <const>, faint <const>, grid <const> = "#222222", "#666666", "#e3e6ea"
local colours <const> = { "#1f5fa8", "#d9822b", "#3a8f5c", "#a23b72", "#6b5b95", "#8a6d3b", "#4fa3a5", "#c0504d" }

local function colour_of(i) return colours[(i - 1) % #colours + 1] end

--- The largest value, the papers' included.
local function highest_of(t)
  local highest = 0
  for _, row in ipairs(t.rows) do
    for _, column in ipairs(t.columns) do
      highest = math.max(highest, row.values[column] or 0, row.paper and row.paper[column] or 0)
    end
  end
  return highest > 0 and highest or 1
end

--- Ticks of 1, 2 or 5 times a power of ten, at most eight.
local function step_of(highest)
  local step = 10.0 ^ math.floor(math.log(highest / 8, 10))
  for _, factor in ipairs { 1, 2, 5, 10 } do
    if highest / (step * factor) <= 8 then return step * factor end
  end
  return step * 10
end

local function bars_of(canvas, figure, t, x, bottom, height, scale_top, bar)
  for _, row in ipairs(t.rows) do
    for i, column in ipairs(t.columns) do
      local value, paper = row.values[column], row.paper and row.paper[column]
      local left = x + (i - 1) * bar
      if value then
        local tall = math.max(0, math.min(1, value / scale_top)) * height
        canvas:rectangle(left, bottom - tall, bar - 1, tall, colour_of(i))
      end
      if paper then canvas:diamond(left + bar / 2 - 0.5, bottom - paper / scale_top * height) end
    end
    local middle = x + #t.columns * bar / 2
    canvas:text(middle + 4, bottom + 8, row.name, { size = 10, anchor = "end", turned = true, bold = row.mean })
    x = x + #t.columns * bar + 10
  end
  if figure.base then canvas:line(52, bottom - height / scale_top, x, bottom - height / scale_top, ink, true) end
end

--- Bars in groups of a row each. Diamonds: the paper's values.
function draw.bars(figure, t)
  local canvas, bar = svg.canvas(), #t.columns > 6 and 7 or 10
  local width = 70 + #t.rows * (#t.columns * bar + 10)
  local names_width = 60
  for _, column in ipairs(t.columns) do names_width = names_width + 26 + 6.4 * #column end
  width = math.ceil(math.max(width, names_width, 420))
  local top, height = 58, 220
  local bottom, highest = top + height, highest_of(t)
  local step = step_of(highest)
  local scale_top = step * math.ceil(highest / step)
  canvas:text(10, 20, ("%s: %s"):format(figure.id, figure.title), { size = 13, bold = true })
  local at = 52
  for i, column in ipairs(t.columns) do
    canvas:rectangle(at, 32, 10, 10, colour_of(i))
    canvas:text(at + 14, 41, column)
    at = at + 26 + 6.4 * #column
  end
  for tick = 0, math.floor(scale_top / step + 0.5) do
    local y = bottom - tick * step / scale_top * height
    canvas:line(52, y, width - 10, y, grid)
    canvas:text(48, y + 4, ("%.4g"):format(tick * step), { colour = faint, anchor = "end" })
  end
  canvas:text(14, top + height / 2, figure.unit, { colour = faint, anchor = "middle", turned = true })
  bars_of(canvas, figure, t, 58, bottom, height, scale_top, bar)
  return canvas:document(width, bottom + 110)
end

--- Blue for slower, orange for faster; all of a factor of two on either side.
local function heat_colour(value)
  local strength = math.max(-1, math.min(1, math.log(value, 2)))
  local function mixed(channel, full) return math.floor(255 + math.abs(strength) * (full - channel) + 0.5) end
  local to = strength >= 0 and { 217, 100, 20 } or { 31, 95, 168 }
  return ("#%02x%02x%02x"):format(mixed(255, to[1]), mixed(255, to[2]), mixed(255, to[3]))
end

function draw.heat(figure, t)
  local canvas, cell_width, cell_height, left, top = svg.canvas(), 44, 15, 170, 110
  canvas:text(10, 20, ("%s: %s"):format(figure.id, figure.title), { size = 13, bold = true })
  for i, column in ipairs(t.columns) do
    canvas:text(left + (i - 0.5) * cell_width + 4, top - 6, column, { turned = true, size = 10 })
  end
  for i, row in ipairs(t.rows) do
    local y = top + (i - 1) * cell_height
    canvas:text(left - 6, y + 11, row.name, { anchor = "end", size = 10, bold = row.mean })
    for j, column in ipairs(t.columns) do
      local value, x = row.values[column], left + (j - 1) * cell_width
      if value then
        canvas:rectangle(x, y, cell_width - 1, cell_height - 1, heat_colour(value))
        canvas:text(x + cell_width / 2, y + 11, ("%.2f"):format(value), { anchor = "middle", size = 9 })
      end
    end
  end
  return canvas:document(left + #t.columns * cell_width + 20, top + #t.rows * cell_height + 20)
end

function draw.svg(figure, t) return (figure.heat and draw.heat or draw.bars)(figure, t) end

return draw
