-- Points in space for clustering, stored point by point: feature f of point p is features[p *
-- feature_count + f].
local ww = require "warpwright"

local points = {}

--- The index of the nearest of `clusters` centroids for every point (i32), found in double
-- precision. `chosen` holds a kernel's choices, made in single precision. Where a point has two
-- centroids at so nearly the same distance that single precision cannot tell them apart, either is
-- right, and the kernel's choice is the answer. Features must lie in [0, 1).
function points.nearest(features, centroids, clusters, feature_count, chosen)
  local n, F = #features // feature_count, feature_count
  local half_square = {} -- |x - c|^2 = |x|^2 - 2 (x.c - |c|^2 / 2): nearest is where the bracket is largest
  for c = 0, clusters - 1 do half_square[c] = centroids:dot(centroids, c * F, c * F, F, 1, 1) / 2 end

  -- A squared distance is at most F and the kernel's sum of it off by less than F * (F + 2) *
  -- 2^-24. Two of them can thus trade places when they differ by twice that, which is this much in
  -- terms of the bracket.
  local indistinguishable = F * (F + 2) * 2.0 ^ -24
  local nearest, closeness, dot = {}, {}, features.dot
  chosen = chosen:table()
  for p = 0, n - 1 do
    local best, highest = 0, -math.huge
    for c = 0, clusters - 1 do
      local value = dot(features, centroids, p * F, c * F, F) - half_square[c]
      closeness[c] = value
      if value > highest then best, highest = c, value end
    end
    local theirs = closeness[chosen[p]]
    nearest[p + 1] = theirs and highest - theirs <= indistinguishable and chosen[p] or best
  end
  return ww.i32(nearest)
end

--- The mean of each cluster's points (f32, clusters * feature_count); an empty cluster keeps its
-- old centroid.
function points.means(features, membership, old, clusters, feature_count)
  local n, is_member, counts = #membership, {}, {}
  for c = 0, clusters - 1 do is_member[c], counts[c] = ww.array("f32", n), 0 end
  for p = 0, n - 1 do
    local c = membership[p]
    is_member[c][p] = 1
    counts[c] = counts[c] + 1
  end

  local means = old:copy()
  for s = 0, clusters * feature_count - 1 do
    local c, f = s // feature_count, s % feature_count
    if counts[c] > 0 then means[s] = features:dot(is_member[c], f, 0, n, feature_count, 1) / counts[c] end
  end
  return means
end

return points
