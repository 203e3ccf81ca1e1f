-- Points in space for clustering, stored point by point: feature f of point p is features[p * feature_count + f].
local ww = require "warpwright"

local points = {}

--- The index of the nearest of `clusters` centroids for every point (i32), found in double precision.
-- `chosen` holds a kernel's choices, made in single precision. Where a point has two centroids at so nearly the same
-- distance that single precision cannot tell them apart, either is right, and the kernel's choice is the answer.
-- Features must lie in [0, 1).
function points.nearest(features, centroids, clusters, feature_count, chosen)
  local n, F = #features // feature_count, feature_count
  local half_square = {} -- |x - c|^2 = |x|^2 - 2 (x.c - |c|^2 / 2): nearest is where the bracket is largest
  for c = 0, clusters - 1 do half_square[c] = centroids:dot(centroids, c * F, c * F, F, 1, 1) / 2 end

  -- A squared distance is at most F and the kernel's sum of it off by less than F * (F + 2) * 2^-24. Two of them can thus
  -- trade places when they differ by twice that, which is this much in terms of the bracket.
  local indistinguishable = F * (F + 2) * 2.0 ^ -24
  local nearest, closeness = ww.array("i32", n), {}
  for p = 0, n - 1 do
    local best = 0
    for c = 0, clusters - 1 do
      closeness[c] = features:dot(centroids, p * F, c * F, F, 1, 1) - half_square[c]
      if closeness[c] > closeness[best] then best = c end
    end
    local theirs = closeness[chosen[p]]
    if theirs and closeness[best] - theirs <= indistinguishable then best = chosen[p] end
    nearest[p] = best
  end
  return nearest
end

--- The mean of each cluster's points (f32, clusters * feature_count); an empty cluster keeps its old centroid.
function points.means(features, membership, old, clusters, feature_count)
  local sums, counts = {}, {}
  for i = 0, clusters * feature_count - 1 do sums[i] = 0.0 end
  for c = 0, clusters - 1 do counts[c] = 0 end

  local i = 0
  for p = 0, #membership - 1 do
    local c = membership[p]
    counts[c] = counts[c] + 1
    for s = c * feature_count, (c + 1) * feature_count - 1 do
      sums[s] = sums[s] + features[i]
      i = i + 1
    end
  end

  local means = old:copy()
  for s = 0, clusters * feature_count - 1 do
    local count = counts[s // feature_count]
    if count > 0 then means[s] = sums[s] / count end
  end
  return means
end

return points
