-- Classes in C: what the compiler refuses, and that the classes of docs/writing_a_class.md are right for it.
local harness = require "tests.lib.harness"

--- Whether a C file is right for the compiler, and what it said.
local function compiles(name, text)
  local file = harness.write(name, text)
  local pipe = assert(io.popen(("cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wconversion -Wno-unused -Werror -I. -fsyntax-only '%s' 2>&1"):format(file)))
  local printed = pipe:read "a"
  return pipe:close() == true, printed
end

local class <const> = [[
#include "core/sim/sim.h"
typedef struct { SimObject obj; uint32_t narrow; uint64_t wide, *list; Port *port; } Thing;
static const Protocol protocol = {.name = "p"};
const Field thing_fields[] = { BASE(Thing), %s, FIELDS_END };
const Protocol *const thing_protocol = &protocol;
]]

--- The first row must compile, and the second must not.
local function expect_rows(good, bad)
  local is_good, printed = compiles("good.c", class:format(good))
  assert(is_good, printed)
  local is_bad_good, complaint = compiles("bad.c", class:format(bad))
  assert(not is_bad_good, bad .. " compiles")
  harness.contains(complaint, "_Generic")
end

harness.test("a statistic is a uint64_t, and a count of elements a uint32_t, or the compiler refuses the row", function()
  expect_rows([[STAT(Thing, wide, "bytes", "x")]], [[STAT(Thing, narrow, "bytes", "x")]])
  expect_rows([[STAT_NAMED(Thing, wide, "w", "bytes", "x")]], [[STAT_NAMED(Thing, narrow, "w", "bytes", "x")]])
  expect_rows([[STATE_ARRAY(Thing, list, narrow, "x")]], [[STATE_ARRAY(Thing, list, wide, "x")]])
  expect_rows([[PORT_ARRAY(Thing, port, narrow, protocol, ROLE_RESPONDER, "x")]],
    [[PORT_ARRAY(Thing, port, wide, protocol, ROLE_RESPONDER, "x")]])
end)

harness.test("the classes of docs/writing_a_class.md compile", function()
  local file <close> = assert(io.open "docs/writing_a_class.md")
  local count = 0
  for text in file:read("a"):gmatch "```c\n(.-)```" do
    if text:find "#include" then
      count = count + 1
      local is_good, printed = compiles(("example%d.c"):format(count), text)
      assert(is_good, printed)
    end
  end
  harness.equal(count, 4)
end)

harness.test("so does the event of the page's Repeater", function()
  local page = harness.read "docs/writing_a_class.md"
  local repeater = assert(page:match "```c\n(/%* Repeater: .-)```")
  local rows, call = page:match "```c\n(enum { REPEATER_BLOCKED };.-)%.%.%.\n(.-)```"
  local text = '#include "core/sim/event.h"\n' .. repeater:gsub("/%* Moves one message", function(comment)
    return ("%s\nstatic void blocked(Repeater *r, const MemMessage *message) {\n%s}\n\n%s"):format(rows, call, comment)
  end)
  local is_good, printed = compiles("event.c", text)
  assert(is_good, printed)
end)

harness.finish()
