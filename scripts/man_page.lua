-- Writes docs/warpwright.1, the man page, from what --help knows: warpwright scripts/man_page.lua
-- [--check].
local core = require "warpwright.core"
local help = require "warpwright.help"

local path <const> = core.home_path "docs/warpwright.1"

local function escaped(text) return (text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("\n%.", "\n\\&.")) end

local lines = {}
local function add(text, ...) lines[#lines + 1] = select("#", ...) > 0 and text:format(...) or text end

--- A line that begins with a full stop or a quote would be a request.
local function paragraph(text) add((escaped(text):gsub("^([.'])", "\\&%1"))) end

local function tagged(name, value, text)
  add ".TP"
  add("\\fB%s\\fR%s", escaped(name), value and " \\fI" .. escaped(value) .. "\\fR" or "")
  paragraph(text)
end

add '.TH WARPWRIGHT 1 "" "Warpwright" "User Commands"'
add ".SH NAME"
add "warpwright \\- cycle\\-level GPU simulator for computer architects"
add ".SH SYNOPSIS"
add ".nf"
add "\\fBwarpwright\\fR \\fISCRIPT.lua\\fR [arguments]"
for _, command in ipairs(help.commands) do
  for _, usage in ipairs(command.usage) do add("\\fBwarpwright\\fR %s", escaped(usage)) end
end
add ".fi"
add ".SH DESCRIPTION"
paragraph("Machines, policies, workloads and experiments are Lua. A script that is run has its arguments in the table `arg`. " .. help.names)
for _, command in ipairs(help.commands) do
  add(".SH \"WARPWRIGHT %s\"", command.word:upper())
  paragraph("It " .. command.does .. ".")
  for _, o in ipairs(command.options) do tagged(o.name, o.value, o.text) end
  if command.notes then
    add ".PP"
    paragraph(command.notes)
  end
end
add ".SH \"OTHER OPTIONS\""
for _, o in ipairs(help.others) do tagged(o.name, o.value, o.text) end
add ".SH SIGNALS"
paragraph(help.signals)
add ".SH \"EXIT STATUS\""
for _, status in ipairs(help.statuses) do tagged(tostring(status[1]), nil, status[2]) end
local text = table.concat(lines, "\n") .. "\n"

if arg[1] == "--check" then
  local file = io.open(path, "rb")
  local there = file and file:read "a"
  if file then file:close() end
  if there ~= text then core.user_error(path .. ": expected the man page of today's options, got another; warpwright scripts/man_page.lua writes it") end
else
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end
