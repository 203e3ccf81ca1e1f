local ww = require "warpwright"
local constants = require "workloads.lib.constants"

local cutcp = ww.workload "cutcp" {
  doc = "Potential of charged atoms within a cutoff, bins of atoms in shared memory: computation, a launch per slab",
  ptx = "cutcp.ptx",
  sizes = { -- columns, rows, layers: points of the lattice, multiples of 8. cutoff: a bin is 4 wide
    small = { columns = 16, rows = 8, layers = 16, cutoff = 4.5, seed = 1 },
    medium = { columns = 128, rows = 64, layers = 16, cutoff = 8.0, seed = 1 },
    paper = { columns = 128, rows = 128, layers = 32, cutoff = 12.0, seed = 1 },
  },
  expected = { class = "compute-intensive", instructions_per_miss = { 30, 1e9 } },
}

local side <const>, places <const>, spacing <const>, bin_width <const>, most_neighbours <const> = 8, 8, 0.5, 4, 1024

--- Bins of atoms around a lattice of bins: the array for the device, and the list of atoms { x, y,
-- z, charge }. No atom is nearer to a point than a fifth of the spacing along any axis.
local function random_atoms(nx, ny, nz, margin, seed)
  local rng, list = ww.rng(seed), {}
  local bins = ww.array("f32", (nx + 2 * margin) * (ny + 2 * margin) * (nz + 2 * margin) * places * 4)
  local function place(bin)
    return bin * bin_width + spacing * (rng:int(0, side - 1) + 0.2 + 0.6 * rng:float())
  end
  local bin = 0
  for z = -margin, nz + margin - 1 do
    for y = -margin, ny + margin - 1 do
      for x = -margin, nx + margin - 1 do
        for i = 0, rng:int(2, places) - 1 do
          local at = 4 * (bin * places + i)
          bins[at], bins[at + 1], bins[at + 2] = place(x), place(y), place(z)
          bins[at + 3] = (rng:int(0, 1) * 2 - 1) * (0.1 + 0.9 * rng:float())
          list[#list + 1] = { bins[at], bins[at + 1], bins[at + 2], bins[at + 3] } -- as rounded
        end
        bin = bin + 1
      end
    end
  end
  return bins, list
end

--- Distances in memory of the bins that have places within the cutoff of some place in bin 0.
local function neighbours_of(bins_x, bins_y, margin, cutoff)
  local list = {}
  local function gap(bins) return bin_width * math.max(0, math.abs(bins) - 1) end
  for z = -margin, margin do
    for y = -margin, margin do
      for x = -margin, margin do
        if gap(x) ^ 2 + gap(y) ^ 2 + gap(z) ^ 2 < cutoff ^ 2 then list[#list + 1] = (z * bins_y + y) * bins_x + x end
      end
    end
  end
  local array = ww.array("i32", #list)
  for i, distance in ipairs(list) do array[i - 1] = distance end
  return array
end

--- All points in double precision, atom by atom: each adds to the points around it. Lengths are in
-- cutoffs.
local function reference(size, list)
  local columns, rows, layers, step = size.columns, size.rows, size.layers, spacing / size.cutoff
  local sums, sqrt, twice = {}, math.sqrt, 2 * step * step
  for point = 1, columns * rows * layers do sums[point] = 0.0 end
  --- The first and the last point along an axis that the cutoff reaches, `square` of which is along
  -- the other axes.
  local function points(middle, square, count)
    local radius = square < 1 and sqrt(1 - square) or 0
    local first, last = -((radius - middle) // step) | 0, (middle + radius) // step | 0
    return first > 0 and first or 0, last < count and last or count - 1
  end
  for _, atom in ipairs(list) do
    local ax, ay, az = atom[1] / size.cutoff, atom[2] / size.cutoff, atom[3] / size.cutoff
    local charge = atom[4] / size.cutoff
    local first_z, last_z = points(az, 0, layers)
    for z = first_z, last_z do
      local square_z = (z * step - az) ^ 2
      local first_y, last_y = points(ay, square_z, rows)
      for y = first_y, last_y do
        local square_yz = square_z + (y * step - ay) ^ 2
        local first_x, last_x = points(ax, square_yz, columns)
        local row = (z * rows + y) * columns + 1
        local d = first_x * step - ax
        local square, growth = square_yz + d * d, (2 * d + step) * step -- from each point to the next
        for point = row + first_x, row + last_x do
          local fade = square - 1
          sums[point] = sums[point] + charge * square ^ -0.5 * fade * fade
          square, growth = square + growth, growth + twice
        end
      end
    end
  end
  return ww.f32(sums)
end

function cutcp:run(gpu, size)
  local columns, rows, layers = size.columns, size.rows, size.layers
  for _, name in ipairs { "columns", "rows", "layers" } do
    if size[name] % side ~= 0 then
      error(("cutcp: %s: expected a multiple of %d, got %d"):format(name, side, size[name]), 0)
    end
  end
  local margin = math.ceil(size.cutoff / bin_width)
  local nx, ny, nz = columns // side, rows // side, layers // side
  local bins_x, bins_y = nx + 2 * margin, ny + 2 * margin
  local bins, list = random_atoms(nx, ny, nz, margin, size.seed)
  local neighbours = neighbours_of(bins_x, bins_y, margin, size.cutoff)
  if #neighbours > most_neighbours then
    error(("cutcp: cutoff: expected at most %d neighbours of a bin, got %d"):format(most_neighbours, #neighbours), 0)
  end
  constants.write(gpu, self.kernels.where_is_neighbours, neighbours)

  local dev_bins, potential = gpu:upload(bins), gpu:alloc(4 * columns * rows * layers)
  for slab = 0, nz - 1 do
    gpu:launch(self.kernels.cutcp, {
      grid = { nx, ny, 1 }, block = { side, 2, side },
      args = { dev_bins, potential, slab, #neighbours, bins_x, bins_y, margin, spacing, size.cutoff ^ 2 },
    })
  end
  local got = gpu:download("f32", potential, columns * rows * layers)
  self:check("potential", got, reference(size, list), { abs = 1e-4 })
end

return cutcp
