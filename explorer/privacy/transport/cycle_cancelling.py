"""From a nearly cheapest flow on a grid to the cheapest, with potentials that prove it; compiled.

Import inside functions only (numba). Layout and conventions as in
`explorer.privacy.transport.network_flow`.
"""

import numpy as np

from explorer.privacy.core.compiled import compiled
from explorer.privacy.transport.network_flow import Flags, Ints, leaving, neighbour, push


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
    head, size, changes, looked = 0, 0, 0, 0
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
        if changes - looked < 2 * n:
            continue
        if changes > budget:
            return False
        looked = changes
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
