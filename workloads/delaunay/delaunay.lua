local ww = require "warpwright"
local mesh = require "workloads.lib.mesh"

local delaunay = ww.workload "delaunay" {
  doc = "Refinement of a Delaunay mesh: threads grow cavities in arrays of their own, and few lanes go together",
  ptx = "delaunay.ptx",
  sizes = { -- a mesh of 2 * side * side triangles; ctas: the grid, which stays
    small = { side = 10, jitter = 0.45, rounds = 1, ctas = 4, seed = 1 },
    medium = { side = 224, jitter = 0.45, rounds = 3, ctas = 120, seed = 1 },
    paper = { side = 224, jitter = 0.45, rounds = 4, ctas = 120, seed = 1 },
  },
  expected = { class = "divergent, in memory of each thread's own", hit_rate = { 0.8, 1 }, mpki = { 0, 6 } },
}

local threads <const>, bad_angle <const>, plan_bytes <const> = 64, 30, 24

--- An array of `capacity` elements that begins with those of a table from 0.
local function padded(type, values, count, capacity)
  return ww.array(type, capacity):put(0, ww.array_from(type, table.move(values, 0, count - 1, 1, {})))
end

function delaunay:run(gpu, size)
  local m = mesh.jittered(size.side, size.jitter, size.seed)
  m.complaint = mesh.complaint(m, {})
  self:check_that("the mesh before is a Delaunay mesh: " .. (m.complaint or ""), not m.complaint)
  local work, bad = {}, {}
  for t = 0, m.triangles - 1 do
    bad[t] = mesh.least_angle(m, t) < bad_angle and 1 or 0
    if bad[t] == 1 then work[#work + 1] = t end
  end
  local bad_before = #work

  -- In a round, a bad triangle adds a vertex, and a triangle for each edge of its cavity's rim;
  -- there is room for six each, on average, which is checked.
  local triangles, vertices = (1 + 6 * size.rounds) * m.triangles, (1 + size.rounds) * m.triangles
  local dev = {
    gpu:upload(padded("i32", m.vertices, 3 * m.triangles, 3 * triangles)),
    gpu:upload(padded("i32", m.neighbors, 3 * m.triangles, 3 * triangles)),
    gpu:upload(padded("f64", m.x, m.count, vertices)), gpu:upload(padded("f64", m.y, m.count, vertices)),
    gpu:upload(padded("u8", bad, m.triangles, triangles)), gpu:upload(ww.array("u8", triangles)),
    gpu:upload(ww.array("i32", triangles)), gpu:upload(padded("i32", { [0] = m.triangles, m.count, 0 }, 3, 3)),
  }
  local addresses = ww.array("u64", #dev)
  for i, address in ipairs(dev) do addresses[i - 1] = address end
  local counts, plans = dev[8], gpu:alloc(plan_bytes * triangles)
  local now, following = gpu:alloc(4 * triangles), gpu:alloc(4 * triangles)
  local list = ww.array("i32", #work)
  for i, t in ipairs(work) do list[i - 1] = t end
  gpu:write(now, list)

  local count = #work
  for _ = 1, size.rounds do
    local function launch(kernel, ...)
      gpu:launch(kernel, { grid = size.ctas, block = threads, args = { addresses, ... } })
    end
    gpu:fill(counts + 8, 0, 4)
    launch(self.kernels.delaunay_mark, now, count)
    launch(self.kernels.delaunay_lower, now, count)
    launch(self.kernels.delaunay_check, now, count, plans, following)
    launch(self.kernels.delaunay_fill, count, plans, following)
    now, following, count = following, now, gpu:read("i32", counts + 8)
  end

  local got_counts = gpu:download("i32", counts, 3)
  local got = { triangles = got_counts[0], count = got_counts[1] }
  self:check_that("the new triangles have room", got.triangles <= triangles and got.count <= vertices)
  got.vertices = gpu:download("i32", dev[1], 3 * got.triangles):table()
  got.neighbors = gpu:download("i32", dev[2], 3 * got.triangles):table()
  got.x, got.y = gpu:download("f64", dev[3], got.count):table(), gpu:download("f64", dev[4], got.count):table()
  local got_bad, gone = gpu:download("u8", dev[5], got.triangles), gpu:download("u8", dev[6], got.triangles):table()
  for t = 0, got.triangles - 1 do gone[t] = gone[t] ~= 0 end
  local complaint = mesh.complaint(got, gone)
  self:check_that("the mesh is a Delaunay mesh: " .. (complaint or ""), not complaint)

  local bad_after, live, want_bad = 0, 0, got_bad:copy()
  for t = 0, got.triangles - 1 do
    if not gone[t] then
      local angle = mesh.least_angle(got, t)
      -- Nearer than that, rounding may see it either way.
      if math.abs(angle - bad_angle) > 1e-6 then want_bad[t] = angle < bad_angle and 1 or 0 end
      bad_after, live = bad_after + want_bad[t], live + 1
    end
  end
  self:check("bad triangles", got_bad, want_bad)
  local parts = ("%d of %d, before %d of %d"):format(bad_after, live, bad_before, m.triangles)
  self:check_that("a smaller part is bad than before: " .. parts, bad_after / live < bad_before / m.triangles)
end

return delaunay
