"""Minimum-cost flow on a grid, compiled: the solver under `explorer.privacy.transport.grid`.

Importing this module imports numba, so it is imported inside functions only, and run in a worker
process: compiling holds the interpreter for tens of milliseconds at a time.

Layout. A grid of H × W cells is stored flat with a border of one cell, so that node u has the
neighbours u+1, u−1, u+stride, u−stride without a test for the edge. Directions are numbered in that
order. `flow[0, u]` is the net flow from u to u+1 and `flow[1, u]` that from u to u+stride.

Duality. Integer potentials π are feasible if π(v) ≤ π(u) + c for every move u → v of cost c. Flow
is kept on moves whose slack c − π(v) + π(u) is below `unit`. With unit = 1 and integer costs the
end is an exact optimum; with a larger unit the cost exceeds the optimum by less than unit · Σ|flow|
(ε-optimality; Goldberg and Tarjan, *Finding minimum-cost circulations by successive
approximation*, 1990).

**Cycle cancelling** turns a nearly cheapest flow into the cheapest, with potentials that prove it.
Import inside functions only (numba). Layout and conventions as in
`explorer.privacy.transport.network_flow`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.core.compiled import compiled

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_UNREACHED = 1 << 30
_BUCKETS = 256
_RELABELS = 0.25
"""Relabels in one blocking flow, as a share of the nodes, before labels are computed afresh.

Each saves a search of the whole grid if it leads on and is wasted if it does not; 0.25 was best on
smoothed check-ins and on white noise (0: 1.7 times as slow, 4: 1.6 times).
"""


@compiled
def neighbour(u: int, way: int, stride: int) -> int:
    """Return the neighbour of u in a direction."""
    if way == 0:
        return u + 1
    if way == 1:
        return u - 1
    return u + stride if way == 2 else u - stride


@compiled
def leaving(flow: Ints, u: int, way: int, stride: int) -> int:
    """Return the net flow out of u in a direction; negative if it comes in."""
    if way == 0:
        return flow[0, u]  # type: ignore[no-any-return]
    if way == 1:
        return -flow[0, u - 1]  # type: ignore[no-any-return]
    return flow[1, u] if way == 2 else -flow[1, u - stride]  # type: ignore[no-any-return]


@compiled
def push(flow: Ints, u: int, way: int, stride: int, amount: int) -> None:
    """Add to the net flow out of u in a direction."""
    if way == 0:
        flow[0, u] += amount
    elif way == 1:
        flow[0, u - 1] -= amount
    elif way == 2:
        flow[1, u] += amount
    else:
        flow[1, u - stride] -= amount


@compiled
def _label(
    excess: Ints,
    potential: Ints,
    flow: Ints,
    border: Flags,
    stride: int,
    cost: Ints,
    unit: int,
    level: Any,
    queue: Any,
) -> tuple[int, int]:
    """Label nodes by how many reversals of flow they need on the way to a deficit.

    Moves with slack below `unit` count 0 and undoing flow counts 1, so that forward moves, along
    which π rises, and undoing, along which labels fall, together have no cycle. (Counting every
    move as 1, as Dinic does, takes several times as many rounds.) Returns the number of labelled
    nodes, which stand in `queue` in order, and the highest label.
    """
    deficits, tail = 0, 0
    for u in range(excess.size):
        level[u] = -9 if border[u] else _UNREACHED
        if excess[u] < 0:
            level[u] = 0
            queue[tail] = u
            tail += 1
        elif excess[u] > 0:
            deficits += 1
    head, back, label = 0, 0, 0
    while True:
        while head < tail and deficits > 0:
            v = queue[head]
            head += 1
            for way in range(4):
                u = neighbour(v, way, stride)
                if level[u] == _UNREACHED and cost[way] - potential[v] + potential[u] < unit:
                    level[u] = label
                    queue[tail] = u
                    tail += 1
                    if excess[u] > 0:
                        deficits -= 1
        if deficits == 0 or back == head:
            return tail, label
        label += 1
        while back < head:
            v = queue[back]
            back += 1
            for way in range(4):
                u = neighbour(v, way, stride)
                if level[u] == _UNREACHED and leaving(flow, v, way, stride) > 0:
                    level[u] = label
                    queue[tail] = u
                    tail += 1
                    if excess[u] > 0:
                        deficits -= 1


@compiled
def _augment(
    excess: Ints,
    potential: Ints,
    flow: Ints,
    border: Flags,
    stride: int,
    cost: Ints,
    unit: int,
    level: Any,
    queue: Any,
    path: Any,
    arc: Any,
    count: Any,
) -> int:
    """Send excess along labels as far as possible; return the amount sent.

    A depth-first search with current arcs from every node with excess. A node whose arcs are used
    up gets the label it would have in a new search (shortest augmenting paths after Ahuja and
    Orlin), `_RELABELS` · n times; a label no node has any more cuts off everything above it.
    """
    tail, highest = _label(excess, potential, flow, border, stride, cost, unit, level, queue)
    count[: highest + 3] = 0
    for i in range(tail):
        count[level[queue[i]]] += 1
    counted = highest + 2
    limit = _UNREACHED
    left = int(_RELABELS * excess.size)
    arc[:] = 0
    sent = 0
    for start in range(excess.size):
        if excess[start] <= 0 or level[start] >= limit:
            continue
        path[0] = start
        k = 0
        while excess[start] > 0:
            u = path[k]
            if excess[u] < 0:
                amount = min(excess[start], -excess[u])
                for j in range(k):
                    there = -leaving(flow, path[j], arc[path[j]], stride)
                    if there > 0:  # undoing is limited; it is never mixed with forward flow
                        amount = min(amount, there)
                for j in range(k - 1, -1, -1):
                    push(flow, path[j], arc[path[j]], stride, amount)
                    if leaving(flow, path[j], arc[path[j]], stride) == 0:
                        k = j
                excess[start] -= amount
                excess[u] += amount
                sent += amount
                continue
            here = level[u]
            if here >= limit:
                if k == 0:
                    break
                k -= 1
                continue
            way = arc[u]
            while way < 4:
                v = neighbour(u, way, stride)
                if level[v] == here:
                    if cost[way] - potential[v] + potential[u] < unit:
                        break
                elif level[v] == here - 1 and leaving(flow, u, way, stride) < 0:
                    break
                way += 1
            arc[u] = way
            if way < 4:
                k += 1
                path[k] = v
                continue
            label = _UNREACHED
            for way in range(4):
                v = neighbour(u, way, stride)
                if level[v] >= 0:
                    if cost[way] - potential[v] + potential[u] < unit:
                        label = min(label, level[v])
                    elif leaving(flow, u, way, stride) < 0:
                        label = min(label, level[v] + 1)
            count[here] -= 1
            if count[here] == 0:
                limit = min(limit, here)
            left -= 1
            if label >= limit or left < 0:
                label = _UNREACHED
            else:
                while counted < label:
                    counted += 1
                    count[counted] = 0
                count[label] += 1
            level[u] = label
            arc[u] = 0
            if k > 0:
                k -= 1
            elif label == _UNREACHED:
                break
    return sent


@compiled
def _reprice(
    excess: Ints,
    potential: Ints,
    flow: Ints,
    border: Flags,
    stride: int,
    cost: Ints,
    unit: int,
    distance: Any,
    node: Any,
    link: Any,
    first: Any,
) -> None:
    """Change potentials so that excess gets slack-free ways to deficits (Dial's buckets).

    Distances to the nearest deficit are taken with ⌊slack / unit⌋ for a move and 0 for undoing
    flow; π falls by unit · min(distance, D), D the largest that mattered. Feasibility and "flow
    only where slack < unit" stay true.
    """
    first[:] = -1
    entries, deficits = 0, 0
    for u in range(excess.size):
        distance[u] = -1 if border[u] else _UNREACHED
        if excess[u] < 0:
            distance[u] = 0
            node[entries] = u
            link[entries] = first[0]
            first[0] = entries
            entries += 1
        elif excess[u] > 0:
            deficits += 1
    d = 0
    while d < _BUCKETS and deficits > 0:
        while first[d] >= 0:
            entry = first[d]
            first[d] = link[entry]
            v = node[entry]
            if distance[v] != d:  # reached on a shorter way meanwhile
                continue
            if excess[v] > 0:
                deficits -= 1
            for way in range(4):
                u = neighbour(v, way, stride)
                if distance[u] <= d:
                    continue
                reach = d
                if leaving(flow, v, way, stride) <= 0:
                    reach += (cost[way] - potential[v] + potential[u]) // unit
                if reach < distance[u] and reach < _BUCKETS:
                    distance[u] = reach
                    node[entries] = u
                    link[entries] = first[reach]
                    first[reach] = entries
                    entries += 1
        d += 1
    most = d - 1 if deficits == 0 else _BUCKETS
    for u in range(excess.size):
        if not border[u]:
            potential[u] -= unit * min(distance[u], most)


@compiled
def route(
    excess: Ints, potential: Ints, flow: Ints, border: Flags, stride: int, cost: Ints, unit: int
) -> None:
    """Send all excess to deficits along moves with slack below `unit`, changing π as needed.

    Parameters
    ----------
    excess : ndarray of int64, shape (n,)
        Supply not yet sent, negative for demand, sum 0; all 0 afterwards.
    potential, flow : ndarray of int64, shapes (n,) and (2, n)
        Feasible and within `unit` of complementary; changed in place.
    border : ndarray of bool, shape (n,)
        The cells around the grid.
    stride : int
        Cells in a row with its border.
    cost : ndarray of int64, shape (4,)
        Of a move in each direction.
    unit : int
        At least 1 and at most every cost.
    """
    n = excess.size
    level = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    path = np.empty(n, np.int32)
    arc = np.empty(n, np.int8)
    count = np.empty(2 * n + 8, np.int32)
    node = np.empty(5 * n, np.int32)
    link = np.empty(5 * n, np.int32)
    first = np.empty(_BUCKETS, np.int32)
    remaining = 0
    for u in range(n):
        if excess[u] > 0:
            remaining += excess[u]
    while remaining > 0:
        sent = _augment(
            excess, potential, flow, border, stride, cost, unit, level, queue, path, arc, count
        )
        remaining -= sent
        if sent == 0:
            _reprice(excess, potential, flow, border, stride, cost, unit, level, node, link, first)


@compiled
def drop_loose(
    excess: Ints, potential: Ints, flow: Ints, border: Flags, stride: int, cost: Ints, unit: int
) -> None:
    """Take back flow on moves whose slack is not below `unit`; its ends get excess and deficit."""
    for u in range(excess.size):
        if border[u]:
            continue
        for way in range(4):
            amount = leaving(flow, u, way, stride)
            v = neighbour(u, way, stride)
            if amount > 0 and cost[way] - potential[v] + potential[u] >= unit:
                excess[u] += amount
                excess[v] -= amount
                push(flow, u, way, stride, -amount)


@compiled
def polish(
    potential: Ints, flow: Ints, border: Flags, stride: int, cost: Ints, budget: int
) -> bool:
    """Make a nearly optimal flow optimal and find potentials that prove it.

    Bellman and Ford's labels over the residual moves, first in first out, from potentials nearly
    right; a cycle among the parents has negative cost and is cancelled by flow around it (Klein).
    True when no label can fall: then π is feasible and complementary without slack. False, with π
    meaningless and the flow still valid, if `budget` changes of labels did not suffice.
    """
    n = potential.size
    parent = np.full(n, -1, np.int8)
    waiting = np.zeros(n, np.bool_)
    queue = np.empty(n, np.int32)
    colour = np.empty(n, np.int32)
    head, size, changes, last_check = 0, 0, 0, 0
    for u in range(n):
        if not border[u]:
            queue[size] = u
            size += 1
            waiting[u] = True
    while size > 0:
        for _ in range(size):
            u = queue[head]
            head = head + 1 if head + 1 < n else 0
            size -= 1
            waiting[u] = False
            for way in range(4):
                v = neighbour(u, way, stride)
                if border[v]:
                    continue
                undo = leaving(flow, u, way, stride) < 0
                label = potential[u] - cost[way] if undo else potential[u] + cost[way]
                if label < potential[v]:
                    potential[v] = label
                    parent[v] = way
                    changes += 1
                    if not waiting[v]:
                        waiting[v] = True
                        queue[(head + size) % n] = v
                        size += 1
        # Looking for cycles costs n: only once there were as many changes.
        if changes - last_check < 2 * n:
            continue
        if changes > budget:
            return False
        last_check = changes
        colour[:] = -1
        for root in range(n):
            v = root
            while colour[v] < 0 and parent[v] >= 0:
                colour[v] = root
                v = neighbour(v, parent[v] ^ 1, stride)
            if parent[v] < 0 or colour[v] != root:
                continue
            amount = 1 << 62
            w = v
            while True:
                u = neighbour(w, parent[w] ^ 1, stride)
                there = -leaving(flow, u, parent[w], stride)
                if there > 0:
                    amount = min(amount, there)
                w = u
                if w == v:
                    break
            while parent[w] >= 0:
                u = neighbour(w, parent[w] ^ 1, stride)
                push(flow, u, parent[w], stride, amount)
                parent[w] = -1
                if not waiting[w]:
                    waiting[w] = True
                    queue[(head + size) % n] = w
                    size += 1
                w = u
    return True
