"""Rates of nodes, warnings about slow ones, and about those that disagree."""

import numpy as np

from kaccess.access import Transitions
from kaccess.distribute.nodes import Tally
from kaccess.distribute.pool import split_evenly
from kaccess.distribute.tiles import Agreement, find_differences


def test_much_slower_node_is_named_once(caplog):
    tally = Tally("pairs")
    for _ in range(5):
        tally.add("a", "fast", 100, 1.0)
        tally.add("b", "also fast", 90, 1.0)
        tally.add("c", "slow", 100, 2.5)
    assert tally.find_slow().keys() == {"c"}
    assert [each for each in caplog.messages if "slow" in each] == [
        "Node slow is slow: a worker there has 42 % of the usual rate. Other work may "
        "run on it."
    ]


def test_nodes_of_half_the_rate_and_beginners_are_not_slow():
    tally = Tally("pairs")
    for _ in range(5):
        tally.add("a", "fast", 100, 1.0)
        tally.add("b", "half", 100, 2.0)
    tally.add("c", "new", 1, 10.0)
    assert tally.find_slow() == {}


def test_rates_count_only_the_time_at_work(monkeypatch):
    tally = Tally("pairs")
    now = iter([10.0, 11.0, 12.0, 112.0])
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    tally.add("a", "one", 100, 2.0)  # two workers side by side
    tally.add("a", "one", 100, 2.0)
    tally.add("a", "one", 100, 2.0)
    tally.add("a", "one", 100, 1.0)  # after a long pause
    assert tally.describe() == ["Node one: 400 pairs, 80/s."]  # 400 in 2 + 1 + 1 + 1 s


def test_rates_are_told_now_and_then(monkeypatch, caplog):
    caplog.set_level("INFO", "kaccess")
    tally, now = Tally("pairs"), 1e6
    for _ in range(7):
        now += 100.0
        monkeypatch.setattr("time.monotonic", lambda now=now: now)
        tally.add("a", "one", 100, 50.0)
    told = [each for each in caplog.messages if each.startswith("Node one: ")]
    assert told == ["Node one: 100 pairs, 2/s.", "Node one: 500 pairs, 2/s."]


class FakePool:
    """Nodes that answer at once: all agree with `truth` but those in `broken`."""

    def __init__(self, truth, broken):
        self.truth, self.broken, self.sent = truth, broken, []

    def send_to(self, node, pairs):
        self.sent.append(node)
        times = self.truth[pairs.source, pairs.goal].copy()
        if node in self.broken:
            times[0] += 0.001
        found = Transitions(times, np.ones(len(times), np.uint8))
        return (node, len(self.sent), found)

    def collect(self, refs, seconds):
        return [(ref, ref[2]) for ref in refs]

    def name(self, node):
        return node


class Hashable(tuple):
    __slots__ = ()

    def __hash__(self):
        return hash(self[:2])


def test_nodes_that_disagree_are_named(caplog):
    truth = np.random.default_rng(0).random((6, 6)).astype(np.float32)
    for broken in ((), ("b",)):
        caplog.clear()
        pool = FakePool(truth, broken)
        send = pool.send_to
        pool.send_to = lambda *args, send=send: Hashable(send(*args))
        agreement = Agreement(pool, exact=True)
        for start, node in ((0, "a"), (2, "b"), (4, "a")):
            rows = range(start, start + 2)
            tile = Transitions(truth[start : start + 2], np.ones((2, 6), np.uint8))
            agreement.add(node, rows, tile)
        agreement.finish()
        assert sorted(pool.sent) == ["a", "b"]  # each repeats pairs of the other
        said = [each for each in caplog.messages if "disagree" in each]
        assert len(said) == len(broken)
        assert all(each.startswith("Nodes a and b disagree on 1 of 5") for each in said)


def test_gpus_may_differ_in_times_and_a_few_outcomes():
    times, same = np.arange(10.0), np.ones(10, np.uint8)
    first = Transitions(times, same)
    assert len(find_differences(first, Transitions(times + 0.1, same), exact=True))
    assert not len(find_differences(first, Transitions(times + 1, same), exact=False))
    other = same.copy()
    other[:3] = 2
    assert len(find_differences(first, Transitions(times, other), exact=False)) == 3


def test_parts_are_of_equal_size_and_complete():
    for n, k in ((10, 3), (2, 5), (1, 1), (64, 8)):
        parts = split_evenly(n, k)
        sizes = [part.stop - part.start for part in parts]
        assert sum(sizes) == n and max(sizes) - min(sizes) <= 1 and min(sizes) >= 1
