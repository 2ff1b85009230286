"""The paper's formulas as slow loops, and matrices to test them on."""

import numpy as np

FLOOR = 1e-8


def run_algorithm_1(access, k, first):
    """Return `cIndex` and `assignment` of Algorithm 1, line by line.

    `min` and `max` return the first of equal candidates: the first centroid of the
    list, or the lowest pose. The assignment names the centroid of each pose. `first`
    is what line 2 draws, and line 8 has a value that no assignment equals.
    """
    c_index = [first]  # lines 1 and 2
    for _ in range(1, k):
        c_access = _sum_access(access, c_index)
        free = [j for j in range(len(access)) if j not in c_index]
        c_index.append(min(free, key=lambda j: c_access[j]))  # line 5
    assignment = _assign(access, c_index)
    earlier = []  # the paper's loop would not end if assignments came back
    while assignment not in earlier:
        earlier.append(assignment)
        c_index = [_recentre(access, assignment, c) for c in c_index]
        assignment = _assign(access, c_index)
    return c_index, assignment


def _sum_access(access, c_index):
    """Line 4: access from and to the centroids so far."""
    total = [0.0] * len(access)
    for c in c_index:
        for j in range(len(access)):
            total[j] += access[c][j] + access[j][c]
    return total


def _assign(access, c_index):
    """Lines 7 and 12; a centroid belongs to itself."""
    best = [max(c_index, key=lambda c: access[c][j]) for j in range(len(access))]
    return [j if j in c_index else c for j, c in enumerate(best)]


def _recentre(access, assignment, centroid):
    """Line 11: the member with the best worst access to the members."""
    members = [j for j, c in enumerate(assignment) if c == centroid]
    return max(members, key=lambda m: min(access[m][j] for j in members))


def compute_index_of_labels(access, centroids, labels, alpha=1.0):
    """Return the index I, intra, inter and the number of singletons."""
    k = len(centroids)
    members = [[j for j, c in enumerate(labels) if c == i] for i in range(k)]
    intra = [min(access[centroids[i]][j] for j in members[i]) for i in range(k)]
    inter = np.ones((k, k))
    for i in range(k):
        for j in range(k):
            if i != j:
                inter[i, j] = np.mean([access[m][centroids[j]] for m in members[i]])
    n_singletons = sum(len(m) == 1 for m in members)
    value = np.mean(np.log(intra)) - np.mean(np.log(inter)) - alpha * n_singletons
    return value, intra, inter, n_singletons


def compute_index(access, centroids, alpha=1.0):
    """Return the index I of the clusters around a list of centroids."""
    centroids = [int(c) for c in centroids]
    labels = [centroids.index(c) for c in _assign(access, centroids)]
    return compute_index_of_labels(access, centroids, labels, alpha)[0]


def compute_mean_access(access, centroids):
    return float(
        np.mean([max(access[c][j] for c in centroids) for j in range(len(access))])
    )


def make_islands(*sizes, inside=0.5):
    """Return groups that reach only their own members, and the group of each pose."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    access = np.where(group[:, None] == group, inside, FLOOR)
    np.fill_diagonal(access, 1.0)
    return access, group


def make_directed_blocks(n, *, seed=0, n_groups=8, share=0.26):
    """Return a directed matrix of noisy groups, with `share` of the pairs reached."""
    rng = np.random.default_rng(seed)
    group = rng.integers(n_groups, size=n)
    place = rng.normal(size=(n_groups, 3))[group] + 0.4 * rng.normal(size=(n, 3))
    climb = rng.normal(size=n_groups)[group]
    effort = np.linalg.norm(place[:, None] - place[None], axis=2) + climb[None, :]
    effort += 0.4 * rng.normal(size=(n, n))
    times = 0.3 + 1.7 * rng.random((n, n))
    reached = effort < np.quantile(effort, share)
    access = np.where(reached, np.exp(-times), FLOOR)
    np.fill_diagonal(access, 1.0)
    return access
