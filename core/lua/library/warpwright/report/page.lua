-- Pages of HTML that need nothing beside themselves: text, tables, bars, and data for the script that draws the rest.
local assets = require "warpwright.report.assets"
local json = require "warpwright.json"

local page = {}

function page.escape(text)
  return (tostring(text):gsub("[<>&\"']", { ["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;", ['"'] = "&quot;", ["'"] = "&#39;" }))
end

local escape <const> = page.escape

local Page = {}
Page.__index = Page

--- `title` is text, as are all arguments that are not called html.
function page.new(title) return setmetatable({ title = title, sections = {}, data = {} }, Page) end

--- A section with a heading; `html` is what stands below it.
function Page:section(id, heading, html)
  self.sections[#self.sections + 1] = { id = id, heading = heading, html = html }
end

-- Parts ----------------------------------------------------------------------------------------------------------------

--- { html = } instead of a text in a cell.
function page.link(address, text) return { html = ('<a href="%s">%s</a>'):format(escape(address), escape(text)) } end

--- A share from 0 to 1 as a number with a bar behind it.
function page.share(share, digits)
  if not share then return "-" end
  local percent = math.max(0, math.min(100, 100 * share))
  return { html = ('<span class=bar style="--share:%.2f%%">%.' .. (digits or 1) .. 'f %%</span>'):format(percent, 100 * share), number = share }
end

--- A number as a text, among texts.
function page.plain(value) return math.type(value) == "float" and ("%.6g"):format(value) or tostring(value) end

local function shown(value)
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if type(value) == "number" then return ("%.6g"):format(value) end
  return tostring(value)
end

local function cell(value)
  if type(value) == "table" then return ("<td>%s</td>"):format(value.html) end
  if type(value) == "number" then return ("<td class=number>%s</td>"):format(shown(value)) end
  return ("<td>%s</td>"):format(escape(value == nil and "" or value))
end

--- Names of statistics may be broken at their dots and underscores, on paper.
local function breakable(text) return (escape(text):gsub("[%._]", "%0<wbr>")) end

--- options: id, class, caption.
function page.table(columns, rows, options)
  options = options or {}
  local lines = { ("<table%s%s>"):format(options.id and (' id="%s"'):format(options.id) or "",
    options.class and (' class="%s"'):format(options.class) or "") }
  if options.caption then lines[#lines + 1] = ("<caption>%s</caption>"):format(escape(options.caption)) end
  lines[#lines + 1] = "<thead><tr>"
  for c, name in ipairs(columns) do
    local is_number = rows[1] and type(rows[1][c]) == "number"
    lines[#lines + 1] = ("<th scope=col%s>%s</th>"):format(is_number and " class=number" or "", breakable(name))
  end
  lines[#lines + 1] = "</tr></thead>\n<tbody>"
  for _, row in ipairs(rows) do
    local cells = {}
    for c = 1, #columns do cells[c] = cell(row[c]) end
    lines[#lines + 1] = "<tr>" .. table.concat(cells) .. "</tr>"
  end
  lines[#lines + 1] = "</tbody></table>\n"
  return table.concat(lines, "\n")
end

function page.paragraph(form, ...) return ("<p>%s</p>\n"):format(escape(form:format(...))) end

-- The whole -------------------------------------------------------------------------------------------------------------

--- Data as text that cannot end its element.
local function data_text(data) return (json.encode(data):gsub("<", "\\u003c"):gsub("\n%s*", "")) end

function Page:html()
  local parts = { "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n<meta name=viewport content=\"width=device-width\">\n",
    ("<title>%s</title>\n<style>\n%s</style>\n<h1>%s</h1>\n<nav><ul>"):format(escape(self.title), assets.style, escape(self.title)) }
  for _, section in ipairs(self.sections) do
    parts[#parts + 1] = ('<li><a href="#%s">%s</a></li>'):format(section.id, escape(section.heading))
  end
  parts[#parts + 1] = "</ul></nav>\n"
  for _, section in ipairs(self.sections) do
    parts[#parts + 1] = ('<section id="%s"><h2>%s</h2>\n%s</section>\n'):format(section.id, escape(section.heading), section.html)
  end
  parts[#parts + 1] = ("<script type=\"application/json\" id=data>%s</script>\n<script>\n%s</script>\n"):format(data_text(self.data), assets.script)
  return table.concat(parts)
end

return page
