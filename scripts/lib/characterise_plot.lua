-- The plot of scripts/characterise: small multiples of what its rows say.
local svg = require "warpwright.svg"

local plot = {}

local width <const>, head <const> = 1640, 64
local bar_height <const>, curve_height <const> = 560, 280
local bars_across <const>, curves_across <const> = 4, 5

--- The rows whose id begins so and, for curves, that have both coordinates.
local function rows_of(rows, prefix, complete)
  local list = {}
  for _, row in ipairs(rows) do
    if row.id:sub(1, #prefix) == prefix and (not complete or row.value and row.x) then list[#list + 1] = row end
  end
  return list
end

--- Bars of rows, and what they are called.
local function bars_of(rows, name_of)
  local bars = {}
  for i, row in ipairs(rows) do
    bars[i] = { name = name_of(row), value = row.value, reason = row.reason, reference = row.reference }
  end
  return bars
end

local function operation_bars(rows, what)
  local wanted = {}
  for _, row in ipairs(rows_of(rows, "operations.")) do
    if row.id:sub(-#what) == what and not row.id:find("in" .. what, 1, true) then wanted[#wanted + 1] = row end
  end
  return bars_of(wanted, function(row) return row.x end), wanted
end

local bar_charts = {
  function(rows)
    local bars = bars_of(rows_of(rows, "latency."), function(row) return row.name end)
    return { title = "Latency of dependent loads", unit = "core cycles", labels = 172, bars = bars }
  end,
  function(rows)
    local wanted = rows_of(rows, "bandwidth.")
    local bars = bars_of(wanted, function(row) return row.name end)
    for i, row in ipairs(wanted) do bars[i].allowed = row.theoretical end
    return { title = "Bandwidth, and what the parameters allow", unit = "GB/s", labels = 166, bars = bars }
  end,
  function(rows)
    local bars = operation_bars(rows, "dependent")
    return { title = "Latency of dependent operations, one warp", unit = "core cycles", labels = 110, bars = bars,
      log = true }
  end,
  function(rows)
    local bars, wanted = operation_bars(rows, "many_warps")
    for i, row in ipairs(wanted) do bars[i].allowed = row.theoretical end
    return { title = "Throughput of an SM, and what it could do", unit = "thread operations per cycle", labels = 110,
      bars = bars }
  end,
}

--- A series of { x, y } from rows.
local function series(name, rows, prefix, y, dashed)
  local points = {}
  for _, row in ipairs(rows_of(rows, prefix, true)) do
    if row[y] then points[#points + 1] = { row.x, row[y] } end
  end
  return { name = name, points = points, dashed = dashed }
end

local function by_x(one)
  table.sort(one.points, function(a, b) return a[1] < b[1] end)
  return one
end

local function occupancy_chart(what, x, powers)
  return function(rows)
    local prefix = "occupancy." .. what .. "."
    return { title = "Occupancy: " .. what, x = x, y = "CTAs per SM", powers = powers, series = {
      series("measured", rows, prefix, "value"), series("computed", rows, prefix, "theoretical", true),
    } }
  end
end

local curve_charts = {
  function(rows)
    return { title = "Bank conflicts", x = "degree of conflict", y = "cycles per warp load", series = {
      series("measured", rows, "conflicts.", "value"), series("degree", rows, "conflicts.", "theoretical", true),
    } }
  end,
  function(rows)
    return { title = "Coalescing", x = "distance of lanes, words of 4 B", y = "per warp load", series = {
      series("cycles", rows, "coalescing.cycles.", "value"), series("accesses", rows, "coalescing.accesses.", "value"),
    } }
  end,
  function(rows)
    local x = "part of requests that hit an open row"
    return { title = "Row locality", x = x, y = "GB/s", from_zero = false, series = {
      by_x(series("measured", rows, "dram.visit.", "value")),
      by_x(series("bus, tRRD, tRC", rows, "dram.visit.", "theoretical", true)),
    } }
  end,
  function(rows)
    local measured = { name = "1 line a visit", points = {} }
    local bus = { name = "bus, tRRD, tRC", points = {}, dashed = true }
    for _, row in ipairs(rows_of(rows, "dram.banks.", true)) do
      local banks = tonumber(row.id:match "%d+$")
      measured.points[#measured.points + 1] = { banks, row.value }
      bus.points[#bus.points + 1] = { banks, row.theoretical }
    end
    local x = "banks of each channel"
    return { title = "Bank parallelism", x = x, y = "GB/s", powers = true, series = { measured, bus } }
  end,
  function(rows)
    return { title = "Divergence", x = "paths of a warp", y = "core cycles", series = {
      series("measured", rows, "divergence.", "value"),
    } }
  end,
  function(rows)
    return { title = "Barriers", x = "warps of the CTA", y = "core cycles per barrier", series = {
      series("measured", rows, "barriers.", "value"),
    } }
  end,
  occupancy_chart("threads", "threads per CTA"),
  occupancy_chart("registers", "registers per thread, 256 threads per CTA"),
  occupancy_chart("shared", "KiB of shared memory per CTA"),
}

--- FR-FCFS beside FCFS: two bars as small as a curve.
local function scheduler_chart(rows)
  local wanted = rows_of(rows, "dram.mixed.")
  local bars = bars_of(wanted, function(row) return row.id:match "[^.]+$" end)
  for i, row in ipairs(wanted) do bars[i].allowed = row.theoretical end
  return { title = "DRAM scheduler, mixed rows and lines", unit = "GB/s", labels = 60, bars = bars }
end

local function drawn(chart)
  return chart.bars and #chart.bars > 0 or chart.series and #chart.series[1].points > 1
end

local legend <const> = "dark: measured; light and dashed: what the machine's parameters allow; diamonds: the config's "
  .. "reference"

--- The plot as SVG text; charts without data are left out.
function plot.svg(title, rows)
  local canvas, y = svg.canvas(), head
  local function place(charts, across, height)
    local shown = 0
    for _, make in ipairs(charts) do
      local chart = make(rows)
      if drawn(chart) then
        local pitch = (width - 20) / across
        local box = {
          x = 20 + shown % across * pitch,
          y = y + shown // across * height,
          width = pitch - 14,
          height = height,
        }
        canvas[chart.bars and "bars" or "curves"](canvas, box, chart)
        shown = shown + 1
      end
    end
    y = y + (shown + across - 1) // across * height
  end
  canvas:text(20, 32, title, { size = 18, bold = true })
  canvas:text(20, 52, legend, { colour = "#666666" })
  place(bar_charts, bars_across, bar_height)
  place(table.move(curve_charts, 1, #curve_charts, 1, { [#curve_charts + 1] = scheduler_chart }), curves_across,
    curve_height)
  return canvas:document(width, y + 16)
end

return plot
