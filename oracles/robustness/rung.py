"""Oracle of the RUNG model: forward, gradients, training, attack, splits.

Plain numpy in f64; the small cases also with mpmath at 60 digits. Written from the formulas; slow and obvious.
"""
import math

import numpy as np

GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1
SPLITS, INIT, DROPOUT, ATTACK, RANDOM = range(5)


# ------------------------------------------------------------------------------------------- random numbers by counter

def mix(z):
    z &= MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def draw(seed, stream, k):
    """The k-th 64-bit number of a stream."""
    return mix(mix(seed + GOLDEN * (stream + 1)) + GOLDEN * (k + 1))


def uniform(seed, stream, k):
    return (draw(seed, stream, k) >> 11) * 2.0 ** -53


def uniforms(seed, stream, k):
    """The same for an array of counters (uint64)."""
    with np.errstate(over="ignore"):
        z = np.uint64(mix(seed + GOLDEN * (stream + 1))) + np.uint64(GOLDEN) * (np.asarray(k, dtype=np.uint64) + np.uint64(1))
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0 ** -53


def stratified(labels, seed, train=(1, 10), val=(1, 10)):
    """Per class: nodes ordered by (draw, node); the first ones train, the next ones val, the rest test."""
    out = {"train": [], "val": [], "test": []}
    for c in sorted(set(int(v) for v in labels)):
        nodes = sorted((i for i in range(len(labels)) if labels[i] == c), key=lambda i: (draw(seed, SPLITS, i), i))
        n = len(nodes)
        half_up = lambda r: (2 * r[0] * n + r[1]) // (2 * r[1])
        a = max(half_up(train), 1) if n > 1 else 0
        b = min(a + half_up(val), n)
        out["train"] += nodes[:a]
        out["val"] += nodes[a:b]
        out["test"] += nodes[b:]
    return {k: sorted(v) for k, v in out.items()}


# ------------------------------------------------------------------------------------------- edge weights

def weight(y2, penalty, variant, gamma, a=3.7, h=0.0, scale=1.0, sqrt=math.sqrt):
    """W = d rho / d(y^2) at squared difference y2 >= 0; h is the heterophily of the pair (adaptive only)."""
    if penalty == "l2":
        return y2 * 0 + 1
    if variant == "legacy":
        z = sqrt(sqrt(y2) + 0.01)
    elif variant == "fixed":
        z = sqrt(y2 + 0.01)
    else:
        z = max(sqrt(y2), 1e-8)
    w = 1 / (2 * z)
    if penalty == "l1":
        return w
    if penalty == "mcp":
        return max(w - 1 / (2 * gamma), w * 0)
    if penalty == "scad":
        lam = gamma / a
        if z <= lam:
            return scale * w
        return scale * max((a * lam - z) / ((a - 1) * lam) * w, w * 0)
    if penalty == "adaptive":
        return (1 - h) * max(w - 1 / (2 * gamma), w * 0) + h * max(1 / (2 * gamma) - w, w * 0)
    raise ValueError(penalty)


def weights(y2, penalty, variant, gamma, a=3.7, h=None, scale=1.0):
    """The same on an array."""
    if penalty == "l2":
        return np.ones_like(y2)
    z = np.sqrt(np.sqrt(y2) + 0.01) if variant == "legacy" else np.sqrt(y2 + 0.01) if variant == "fixed" else np.maximum(np.sqrt(y2), 1e-8)
    w = 1 / (2 * z)
    if penalty == "l1":
        return w
    if penalty == "mcp":
        return np.maximum(w - 1 / (2 * gamma), 0)
    if penalty == "scad":
        lam = gamma / a
        return scale * np.where(z <= lam, w, np.maximum((a * lam - z) / ((a - 1) * lam) * w, 0))
    return (1 - h) * np.maximum(w - 1 / (2 * gamma), 0) + h * np.maximum(1 / (2 * gamma) - w, 0)


def cutoff(penalty, variant, gamma):
    """Smallest y whose weight is zero, or None."""
    if penalty not in ("mcp", "scad"):
        return None
    return {"legacy": gamma * gamma - 0.01, "fixed": math.sqrt(max(gamma * gamma - 0.01, 0.0)), "exact": gamma}[variant]


def softmax(F):
    e = np.exp(F - F.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


# ------------------------------------------------------------------------------------------- propagation

class Propagation:
    """K quasi-Newton IRLS steps on a weighted undirected graph given as i<j edges; nothing of size N x N."""

    def __init__(self, n, edges, values=None, penalty="mcp", variant="exact", gamma=3.0, lambda_hat=0.9, k=10, a=3.7, scale=1.0):
        e = np.asarray(sorted(edges) if values is None else edges, dtype=np.int64).reshape(-1, 2)
        v = np.ones(len(e)) if values is None else np.asarray(values, dtype=np.float64)
        self.n, self.i, self.j = n, np.concatenate([e[:, 0], e[:, 1]]), np.concatenate([e[:, 1], e[:, 0]])
        self.v = np.concatenate([v, v])
        order = np.lexsort((self.j, self.i))
        self.i, self.j, self.v = self.i[order], self.j[order], self.v[order]
        self.d = np.bincount(self.i, weights=self.v, minlength=n) + 1
        self.s = np.sqrt(self.d)
        self.lam, self.k = 1 / lambda_hat - 1, k
        self.args = dict(penalty=penalty, variant=variant, gamma=gamma, a=a, scale=scale)

    def _rows(self, x):
        """Sum of edge rows into their source node."""
        out = np.zeros((self.n, x.shape[1]))
        np.add.at(out, self.i, x)
        return out

    def forward(self, F0, every=False):
        F, self.F0, self.tape, seen = F0, F0, [], [F0]
        for _ in range(self.k):
            G = F / self.s[:, None]
            t = G[self.i] - G[self.j]
            h = None
            if self.args["penalty"] == "adaptive":
                p = softmax(F)
                h = 1 - np.clip((p[self.i] * p[self.j]).sum(1), 0, 1)
            W = weights((t * t).sum(1), h=h, **self.args)
            q = np.bincount(self.i, weights=W * self.v, minlength=self.n) / self.d + self.lam
            m = W * self.v / (self.s[self.i] * self.s[self.j])
            stuck = q == 0
            new = (self._rows(m[:, None] * F[self.j]) + self.lam * F0) / np.where(stuck, 1, q)[:, None]
            new[stuck] = F[stuck]
            self.tape.append((F, new, q, m))
            F = new
            seen.append(F)
        return seen if every else F

    def backward(self, G, pairs=False):
        """dL/dF0 with W constant; with pairs also dL/dA for every ordered pair (dense, for small graphs)."""
        n, dF0, dD = self.n, np.zeros_like(self.F0), np.zeros(self.n)
        dA = np.zeros((n, n)) if pairs else None
        for F, new, q, m in reversed(self.tape):
            g = G / q[:, None]
            dF0 += self.lam * g
            back = self._rows(m[:, None] * g[self.j])                     # M is symmetric
            if pairs:
                r = -(G * new).sum(1) / q
                H = F / self.s[:, None]
                y2 = ((H[:, None] - H[None]) ** 2).sum(-1)
                h = None
                if self.args["penalty"] == "adaptive":
                    p = softmax(F)
                    h = 1 - np.clip(p @ p.T, 0, 1)
                W = weights(y2, h=h, **self.args)
                np.fill_diagonal(W, 0)
                dA += W * ((g / self.s[:, None]) @ H.T + (r / self.d)[:, None])
                mf = self._rows(m[:, None] * F[self.j])
                dD += -r * (q - self.lam) / self.d - ((g * mf).sum(1) + (back * F).sum(1)) / (2 * self.d)
            G = back
        dF0 += G
        if pairs:
            dA += dD[:, None]
            np.fill_diagonal(dA, 0)
        return dF0, dA


def forward_mp(n, A, F0, penalty, variant, gamma, lambda_hat="0.9", k=10, a="3.7", frozen=None, collect=None, scale=1):
    """The same with mpmath on a dense dict of weights A[(i,j)], i != j; frozen: list of W per layer to use instead."""
    from mpmath import exp, mp, mpf, sqrt
    mp.dps = 60
    lam, a, gamma = 1 / mpf(lambda_hat) - 1, mpf(a), mpf(gamma)
    d = [1 + sum(A.get((i, j), mpf(0)) for j in range(n)) for i in range(n)]
    s = [sqrt(x) for x in d]
    F, C = [row[:] for row in F0], len(F0[0])
    eps, floor = mpf("0.01"), mpf("1e-8")
    for layer in range(k):
        p = []
        for row in F:
            e = [exp(v - max(row)) for v in row]
            p.append([v / sum(e) for v in e])
        W = {}
        for i in range(n):
            for j in range(n):
                if i == j:
                    continue
                y2 = sum((F[i][c] / s[i] - F[j][c] / s[j]) ** 2 for c in range(C))
                z = sqrt(sqrt(y2) + eps) if variant == "legacy" else sqrt(y2 + eps) if variant == "fixed" else max(sqrt(y2), floor)
                w = 1 / (2 * z)
                h = 1 - sum(x * y for x, y in zip(p[i], p[j]))
                lam_s = gamma / a
                W[i, j] = {"l2": lambda: mpf(1), "l1": lambda: w, "mcp": lambda: max(w - 1 / (2 * gamma), mpf(0)),
                           "scad": lambda: scale * (w if z <= lam_s else max((gamma - z) / ((a - 1) * lam_s) * w, mpf(0))),
                           "adaptive": lambda: (1 - h) * max(w - 1 / (2 * gamma), mpf(0)) + h * max(1 / (2 * gamma) - w, mpf(0))}[penalty]()
        if frozen is not None:
            W = frozen[layer]
        if collect is not None:
            collect.append(W)
        new = []
        for i in range(n):
            q = sum(W[i, j] * A.get((i, j), mpf(0)) for j in range(n) if j != i) / d[i] + lam
            new.append([(sum(W[i, j] * A.get((i, j), mpf(0)) / (s[i] * s[j]) * F[j][c] for j in range(n) if j != i) + lam * F0[i][c]) / q
                        for c in range(C)])
        F = new
    return F


# ------------------------------------------------------------------------------------------- network, training, attack

def mlp(X, P):
    return np.maximum(np.asarray(X @ P[0].T) + P[1], 0) @ P[2].T + P[3]


def initial(D, H, C, seed):
    """Uniform in +-1/sqrt(fan in), one counter through W1, b1, W2, b2 in row-major order."""
    sizes = [((H, D), D), ((H,), D), ((C, H), H), ((C,), H)]
    k, out = 0, []
    for shape, fan in sizes:
        m = int(np.prod(shape))
        u = uniforms(seed, INIT, np.arange(k, k + m))
        out.append(((2 * u - 1) * (1 / math.sqrt(fan))).reshape(shape))
        k += m
    return out


def train(X, y, edges, idx, seed=0, epochs=300, hidden=64, dropout=0.5, lr=0.05, decay=5e-4, classes=None, losses=None, **model):
    """Adam with L2 in the gradient; last weights, rounded to f32 once."""
    n, D = X.shape
    C = classes or int(max(y)) + 1
    P = initial(D, hidden, C, seed)
    m, v = [np.zeros_like(p) for p in P], [np.zeros_like(p) for p in P]
    net, Y = Propagation(n, edges, **model), np.eye(C)[np.asarray(y)]
    for t in range(1, epochs + 1):
        pre = np.asarray(X @ P[0].T) + P[1]
        keep = uniforms(seed, DROPOUT, np.arange(n * hidden, dtype=np.uint64) + np.uint64((t - 1) * n * hidden)).reshape(n, hidden) >= dropout
        scale = keep / (1 - dropout)
        hid = np.maximum(pre, 0) * scale
        F = net.forward(hid @ P[2].T + P[3])
        prob = softmax(F)
        if losses is not None:
            losses.append(float(-np.log(prob[idx, np.asarray(y)[idx]]).mean()))
        G = np.zeros_like(F)
        G[idx] = (prob[idx] - Y[idx]) / len(idx)
        d0, _ = net.backward(G)
        dh = (d0 @ P[2]) * scale * (pre > 0)
        for k, g in enumerate([np.asarray(X.T @ dh).T, dh.sum(0), d0.T @ hid, d0.sum(0)]):
            g = g + decay * P[k]
            m[k] = 0.9 * m[k] + 0.1 * g
            v[k] = 0.999 * v[k] + 0.001 * g * g
            P[k] = P[k] - lr * (m[k] / (1 - 0.9 ** t)) / (np.sqrt(v[k] / (1 - 0.999 ** t)) + 1e-8)
    return [p.astype(np.float32).astype(np.float64) for p in P]


def attack_loss(F, y, nodes):
    """Mean tanh of the margin over the attacked nodes, and its gradient."""
    t = F[nodes].copy()
    own, rows = np.asarray(y)[nodes], np.arange(len(nodes))
    s = t[rows, own].copy()
    t[rows, own] = -np.inf
    other = t.argmax(1)
    th = np.tanh(s - t.max(1))
    G = np.zeros_like(F)
    dth = (1 - th * th) / len(nodes)
    G[nodes, own] += dth
    np.add.at(G, (nodes, other), -dth)
    return float(th.mean()), G


def project(p, budget, xi=1e-5):
    """Onto 0 <= p <= 1, sum <= budget, by the published bisection."""
    if np.clip(p, 0, 1).sum() <= budget:
        return np.clip(p, 0, 1)
    top, bot = float(p.max()), max(float(p.min()) - 1, 0.0)
    mu = (top + bot) / 2
    while (top - bot) / 2 > xi:
        used = np.clip(p - mu, 0, 1).sum()
        if used == budget:
            break
        if used > budget:
            bot = mu
        else:
            top = mu
        mu = (top + bot) / 2
    return np.clip(p - mu, 0, 1)


def pgd(F0, y, edges, nodes, budget, seed=0, steps=200, samples=100, base_lr=0.1, **model):
    """Global evasion PGD on small graphs: flips as sorted i<j pairs."""
    n = len(F0)
    A = np.zeros((n, n))
    for i, j in edges:
        A[i, j] = A[j, i] = 1
    iu = np.triu_indices(n, 1)
    sign, p = (1 - 2 * A)[iu], np.zeros(len(iu[0]))
    a = A[iu]
    for t in range(steps):
        w = a + p * sign
        on = np.nonzero(w)[0]
        net = Propagation(n, np.stack([iu[0][on], iu[1][on]], 1), w[on], **model)
        _, G = attack_loss(net.forward(F0), y, nodes)
        _, dA = net.backward(G, pairs=True)
        g = (dA[iu] + dA.T[iu]) * sign
        norm = math.sqrt(float((g * g).sum()))
        if norm > 1:
            g = g / norm
        p = project(p - base_lr * budget / math.sqrt(t + 1) * g, budget)
    best, valid = None, 0
    support = np.nonzero(p > 0)[0]
    key = iu[0][support].astype(np.uint64) * np.uint64(n) + iu[1][support].astype(np.uint64)
    for s in range(20 * samples):
        take = support[uniforms(seed, ATTACK, np.uint64(s * n * n) + key) < p[support]]
        if len(take) > budget:
            continue
        valid += 1
        w = a.copy()
        w[take] = 1 - a[take]
        on = np.nonzero(w)[0]
        loss, _ = attack_loss(Propagation(n, np.stack([iu[0][on], iu[1][on]], 1), w[on], **model).forward(F0), y, nodes)
        if best is None or loss < best[0]:
            best = (loss, take)
        if valid == samples:
            break
    if best is None:                                                      # no sample kept the budget: the largest entries
        best = (None, np.sort(np.lexsort((np.arange(len(p)), -p))[:budget]))
    return sorted((int(iu[0][t]), int(iu[1][t])) for t in best[1])


def flip(edges, flips):
    return edges ^ {(min(int(a), int(b)), max(int(a), int(b))) for a, b in flips}
