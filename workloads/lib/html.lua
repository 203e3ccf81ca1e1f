-- Lines of HTML with links, for workloads that search texts.
local ww = require "warpwright"

local html = {}

local words = { "cache", "warp", "line", "miss", "page", "bank", "queue", "tag", "set", "way", "row", "lane", "core", "bus" }
-- What nearly begins as a link does.
local decoys = { '<a name="', "<b>", "<ab", "< a href=", "<a hre", "<a  href=", "</a>", '<A HREF="' }

--- `count` lines of `shortest` to `longest` bytes, all lengths equally likely; none has a line's
-- end in it. About half of them have a link. Returns a list of texts.
function html.lines(count, shortest, longest, seed)
  local rng, lines, parts, used, room = ww.rng(seed), {}, {}, 0, 0
  local function put(text)
    if #text <= room then
      used, room = used + 1, room - #text
      parts[used] = text
    end
  end
  for i = 1, count do
    room, used = rng:int(shortest, longest), 0
    if rng:int(0, 3) == 0 then put(decoys[rng:int(1, #decoys)]) end
    for _ = 1, rng:int(0, 2) do put(words[rng:int(1, #words)] .. " ") end
    if rng:int(0, 1) == 0 then
      put(('<a href="%s/%s%d">'):format(words[rng:int(1, #words)], words[rng:int(1, #words)], rng:int(0, 999)))
    end
    while room > 0 do
      put(words[rng:int(1, #words)])
      put(" ")
    end
    lines[i] = table.concat(parts, "", 1, used)
  end
  return lines
end

--- The lines one after the other, as bytes (u8), and where each begins, with the end of the last
-- (i32).
function html.buffer(lines)
  local start, at = { 0 }, 0
  for i = 1, #lines do
    at = at + #lines[i]
    start[i + 1] = at
  end
  return ww.array_from("u8", table.concat(lines)), ww.i32(start)
end

return html
