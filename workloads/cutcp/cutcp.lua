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

--- Bins of atoms around a lattice of bins: the array for the device, and the list of atoms { x, y, z, charge }. No
-- atom is nearer to a point than a fifth of the spacing along any axis.
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

--- All points in double precision, atom by atom: each adds to the points around it.
local function reference(size, list)
  local columns, rows, layers, cutoff = size.columns, size.rows, size.layers, size.cutoff
  local square, sums, ceil, floor, max, min, sqrt = cutoff ^ 2, {}, math.ceil, math.floor, math.max, math.min, math.sqrt
  for i = 0, columns * rows * layers - 1 do sums[i] = 0.0 end
  local function points(middle, radius, count)
    return max(0, ceil((middle - radius) / spacing)), min(count - 1, floor((middle + radius) / spacing))
  end
  for _, atom in ipairs(list) do
    local ax, ay, az, charge = atom[1], atom[2], atom[3], atom[4]
    local first_z, last_z = points(az, cutoff, layers)
    for z = first_z, last_z do
      local square_yz = square - (z * spacing - az) ^ 2
      local first_y, last_y = points(ay, sqrt(max(0, square_yz)), rows)
      for y = first_y, last_y do
        local square_x = square_yz - (y * spacing - ay) ^ 2
        local first_x, last_x = points(ax, sqrt(max(0, square_x)), columns)
        local row = (z * rows + y) * columns
        for x = first_x, last_x do
          local d = x * spacing - ax
          local distance = square - square_x + d * d
          local fade = 1 - distance / square
          sums[row + x] = sums[row + x] + charge / sqrt(distance) * fade * fade
        end
      end
    end
  end
  local want = ww.array("f32", columns * rows * layers)
  for i = 0, #want - 1 do want[i] = sums[i] end
  return want
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
