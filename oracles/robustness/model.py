"""The cases of model.json: small graphs through the RUNG model."""
import numpy as np

from . import rung as R
from .cases import random_graph

TINY = dict(n=5, edges=[[0, 1], [0, 2], [1, 2], [2, 3], [3, 4]], flips=[[0, 4], [2, 3]], labels=[0, 0, 0, 1, 1],
            F0=[[1.0, 0.0], [0.8, 0.1], [0.9, -0.2], [-1.0, 1.5], [-1.2, 2.0]])
MODELS = [("l2", "exact", 1.0), ("l1", "exact", 1.0), ("l1", "fixed", 1.0), ("l1", "legacy", 1.0), ("mcp", "exact", 1.0), ("mcp", "fixed", 1.0),
          ("mcp", "legacy", 1.0), ("mcp", "legacy", 6.0), ("scad", "exact", 1.0), ("scad", "fixed", 1.0), ("scad", "legacy", 1.0),
          ("adaptive", "exact", 1.0), ("adaptive", "fixed", 2.0), ("adaptive", "legacy", 1.0)]


def model_cases():
    from mpmath import mp, mpf, tanh
    mp.dps = 60
    n, F0 = TINY["n"], [[mpf(v) for v in r] for r in TINY["F0"]]
    adj = lambda edges: {k: mpf(1) for i, j in edges for k in ((i, j), (j, i))}
    attacked = R.flip({tuple(e) for e in TINY["edges"]}, TINY["flips"])
    forward, gradients = [], []
    flt = lambda F: [[float(v) for v in r] for r in F]
    for penalty, variant, gamma in MODELS:
        c = R.forward_mp(n, adj(TINY["edges"]), F0, penalty, variant, gamma)
        a = R.forward_mp(n, adj(attacked), F0, penalty, variant, gamma)
        k1 = R.forward_mp(n, adj(TINY["edges"]), F0, penalty, variant, gamma, k=1)
        quick = R.Propagation(n, {tuple(e) for e in TINY["edges"]}, penalty=penalty, variant=variant, gamma=gamma).forward(np.array(TINY["F0"]))
        assert np.allclose(quick, np.array(flt(c)), rtol=1e-12, atol=1e-12)
        forward.append(dict(penalty=penalty, weights=variant, gamma=gamma, layer1_clean=flt(k1), clean=flt(c), attacked=flt(a),
                            bias_total=float(sum((x - y) ** 2 for r, s in zip(c, a) for x, y in zip(r, s)))))
    forward.append(dict(penalty="scad", weights="legacy", gamma=1.0, scad_scale="lambda",
                        clean=flt(R.forward_mp(n, adj(TINY["edges"]), F0, "scad", "legacy", 1.0, scale=mpf(1) / mpf("3.7")))))
    forward.append(dict(penalty="mcp", weights="exact", gamma=0.05, lambda_hat=0.5, k=3,
                        clean=flt(R.forward_mp(n, adj(TINY["edges"]), F0, "mcp", "exact", "0.05", "0.5", 3))))

    def loss(F):
        total = mpf(0)
        for i, y in enumerate(TINY["labels"]):
            total += tanh(F[i][y] - F[i][1 - y])
        return total / n
    edges = {tuple(e) for e in TINY["edges"]}
    for penalty, variant, gamma in [("l2", "exact", 1.0), ("l1", "legacy", 1.0), ("mcp", "legacy", 6.0), ("mcp", "exact", 3.0), ("scad", "fixed", 3.0),
                                    ("adaptive", "exact", 3.0)]:
        entry = dict(penalty=penalty, weights=variant, gamma=gamma, pairs=[[i, j] for i in range(n) for j in range(i + 1, n)])
        for mode in ("detached", "full"):
            layers = []
            R.forward_mp(n, adj(edges), F0, penalty, variant, gamma, collect=layers)
            out, h = [], mpf("1e-20")
            for i, j in entry["pairs"]:
                both_ = []
                for step in (h, -h):
                    A = adj(edges)
                    w = A.get((i, j), mpf(0))
                    w = w + step * (1 - 2 * w)
                    A[i, j] = A[j, i] = w
                    both_.append(loss(R.forward_mp(n, A, F0, penalty, variant, gamma, frozen=layers if mode == "detached" else None)))
                out.append(float((both_[0] - both_[1]) / (2 * h)))
            entry[mode] = out
        net = R.Propagation(n, edges, penalty=penalty, variant=variant, gamma=gamma)
        value, G = R.attack_loss(net.forward(np.array(TINY["F0"])), TINY["labels"], np.arange(n))
        d0, dA = net.backward(G, pairs=True)
        sign = [(1 - 2 * ((i, j) in edges)) for i, j in entry["pairs"]]
        mine = [(dA[i, j] + dA[j, i]) * s for (i, j), s in zip(entry["pairs"], sign)]
        assert np.allclose(mine, entry["detached"], rtol=1e-9, atol=1e-12), (penalty, mine, entry["detached"])
        entry["loss"] = float(loss(R.forward_mp(n, adj(edges), F0, penalty, variant, gamma)))
        entry["dF0_detached"] = d0.tolist()
        assert abs(value - entry["loss"]) < 1e-13
        gradients.append(entry)
    rng = dict(mix=[[str(v), str(R.mix(v))] for v in (0, 1, 2 ** 63, 2 ** 64 - 1)],
               draw=[[s, t, k, str(R.draw(s, t, k)), R.uniform(s, t, k)] for s, t, k in ((0, 0, 0), (0, 1, 0), (1, 1, 0), (7, 2, 123456789), (2 ** 64 - 1, 4, 2 ** 40))])
    labels = [int(R.draw(3, 9, i) % 4) for i in range(41)] + [4]
    splits = dict(labels=labels, seed=11, **R.stratified(labels, 11))
    split20 = dict(labels=labels, seed=12, train_share="0.48", val_share="0.32", **R.stratified(labels, 12, (48, 100), (32, 100)))
    r2 = np.random.default_rng(5)
    n2, D, C = 14, 6, 3
    X = (r2.random((n2, D)) < 0.4).astype(float)
    y = [int(v) for v in r2.integers(0, C, n2)]
    e2 = sorted(random_graph(r2, n2, 20))
    training = []
    for penalty, variant, gamma in (("l2", "exact", 1.0), ("mcp", "legacy", 6.0), ("adaptive", "exact", 3.0)):
        losses = []
        P = R.train(X, y, set(e2), np.arange(6), seed=4, epochs=5, hidden=4, classes=C, losses=losses, penalty=penalty, variant=variant, gamma=gamma)
        training.append(dict(penalty=penalty, weights=variant, gamma=gamma, seed=4, epochs=5, hidden=4, train=list(range(6)), losses=losses,
                             weights_after=[p.tolist() for p in P]))
    first = [p.tolist() for p in R.initial(D, 4, C, 4)]
    proj = []
    for p, b in (([0.2, 0.9, -0.5, 1.7, 0.4], 2), ([0.2, 0.3, 0.1], 2), ([3.0, 2.5, 0.7, 0.65, -1.0, 0.0], 1), ([0.5] * 8, 3)):
        proj.append(dict(p=p, budget=b, out=R.project(np.array(p), b).tolist()))
    P = [np.array(p) for p in training[1]["weights_after"]]
    attacks = []
    for penalty, variant, gamma, budget in (("l2", "exact", 1.0, 3), ("mcp", "legacy", 6.0, 4)):
        flips = R.pgd(R.mlp(X, P), y, set(e2), np.arange(6, 14), budget, seed=2, steps=20, samples=10, penalty=penalty, variant=variant, gamma=gamma)
        attacks.append(dict(penalty=penalty, weights=variant, gamma=gamma, budget=budget, seed=2, steps=20, samples=10, targets=list(range(6, 14)),
                            model="training[1].weights_after", flips=[list(f) for f in flips]))
    wf = [dict(penalty=p, weights=v, gamma=g, y=y_, W=float(R.weight(y_ * y_, p, v, g, h=0.25)), h=0.25)
          for p in ("l1", "l2", "mcp", "scad", "adaptive") for v in ("legacy", "fixed", "exact") for g in (3.0,) for y_ in (0.0, 0.5, 1.0, 2.5, 3.0, 8.0, 9.0, 20.0)]
    return {"format": 1, "tiny": TINY, "lambda_hat": 0.9, "k": 10, "scad_a": 3.7, "forward": forward, "gradients": gradients, "rng": rng,
            "splits": [splits, split20], "net": dict(X=X.tolist(), labels=y, edges=[list(e) for e in e2], classes=C, initial=first),
            "training": training, "projection": proj, "attacks": attacks, "weight_function": wf}
