"""The paper's formulas as slow loops, and matrices to test them on."""

import numpy as np

FLOOR = 1e-8


def run_algorithm_1(access, k, first):
    """Return centroids and assignment of Algorithm 1; ties go to the lowest index."""
    n = len(access)
    chosen = [first]
    for _ in range(1, k):
        ties = [sum(access[c][j] + access[j][c] for c in chosen) for j in range(n)]
        free = [j for j in range(n) if j not in chosen]
        chosen.append(min(free, key=lambda j: (ties[j], j)))
    assignment, previous = _assign(access, chosen), None
    seen = []
    while assignment != previous and assignment not in seen:
        seen.append(assignment)
        previous = assignment
        chosen = [_recentre(access, assignment, c) for c in chosen]
        assignment = _assign(access, chosen)
    return sorted(chosen), assignment


def _assign(access, chosen):
    best = [min(chosen, key=lambda c: (-access[c][j], c)) for j in range(len(access))]
    return [j if j in chosen else c for j, c in enumerate(best)]


def _recentre(access, assignment, centroid):
    members = [j for j, c in enumerate(assignment) if c == centroid]
    return min(members, key=lambda m: (-min(access[m][j] for j in members), m))


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
    """Return the index I of the clusters around a set of centroids."""
    centroids = sorted(int(c) for c in centroids)
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
