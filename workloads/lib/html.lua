-- Lines of HTML with links, for workloads that search texts.
local ww = require "warpwright"

local html = {}

local words = { "cache", "warp", "line", "miss", "page", "bank", "queue", "tag", "set", "way", "row", "lane", "core", "bus" }
-- What nearly begins as a link does.
local decoys = { '<a name="', "<b>", "<ab", "< a href=", "<a hre", "<a  href=", "</a>", '<A HREF="' }

--- `count` lines of `shortest` to `longest` bytes, all lengths equally likely; none has a line's end in it. About half of them
-- have a link. Returns a list of texts.
function html.lines(count, shortest, longest, seed)
  local rng, lines = ww.rng(seed), {}
  for i = 1, count do
    local length, parts, used = rng:int(shortest, longest), {}, 0
    local function put(text)
      if used + #text <= length then
        parts[#parts + 1], used = text, used + #text
      end
    end
    if rng:int(0, 3) == 0 then put(decoys[rng:int(1, #decoys)]) end
    for _ = 1, rng:int(0, 2) do put(words[rng:int(1, #words)] .. " ") end
    if rng:int(0, 1) == 0 then
      put(('<a href="%s/%s%d">'):format(words[rng:int(1, #words)], words[rng:int(1, #words)], rng:int(0, 999)))
    end
    while used < length do
      put(words[rng:int(1, #words)])
      put(" ")
    end
    lines[i] = table.concat(parts)
  end
  return lines
end

--- The lines one after the other, as bytes (u8), and where each begins, with the end of the last (i32).
function html.buffer(lines)
  local bytes = 0
  for _, line in ipairs(lines) do bytes = bytes + #line end
  local text, start, at = ww.array("u8", bytes), ww.array("i32", #lines + 1), 0
  for i, line in ipairs(lines) do
    for j = 1, #line do text[at + j - 1] = line:byte(j) end
    at = at + #line
    start[i] = at
  end
  return text, start
end

return html
