"""The RUNG model with the mcp penalty and legacy weights, dense in NumPy and sparse in SciPy."""

import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from worker import serve

CLASSES = 7
WORDS = 1433
HIDDEN = 64
STEPS = 10
GAMMA = 6.0
LAMBDA = 1 / 0.9 - 1


def weight(squares):
    """The weight of edges whose differences have these squares."""
    z = np.sqrt(np.sqrt(squares) + 0.01)
    return np.maximum(1 / (2 * z) - 1 / (2 * GAMMA), 0)


class Dense:
    """All pairs as an array, in single precision."""

    def __init__(self, adjacency, scores):
        self.adjacency = adjacency.astype(np.float32)
        self.scores = scores.astype(np.float32)
        self.degrees = 1 + self.adjacency.sum(1)
        self.roots = np.sqrt(self.degrees)

    def weights(self, features):
        scaled = features / self.roots[:, None]
        lengths = (scaled * scaled).sum(1)
        squares = np.maximum(lengths[:, None] + lengths - 2 * scaled @ scaled.T, 0)
        weights = weight(squares)
        np.fill_diagonal(weights, 0)
        return weights

    def forward(self):
        """Every step: what it began with, what came out, and the divisors."""
        tape, features = [], self.scores
        for _ in range(STEPS):
            joined = self.weights(features) * self.adjacency
            divisors = joined.sum(1) / self.degrees + np.float32(LAMBDA)
            moved = (joined / (self.roots[:, None] * self.roots)) @ features
            new = (moved + np.float32(LAMBDA) * self.scores) / divisors[:, None]
            tape.append((features, new, divisors))
            features = new
        return features, tape

    def attack_step(self, labels):
        """The derivative of the targets' margins by every pair, weights constant."""
        final, tape = self.forward()
        rows = np.arange(len(final))
        others = final.copy()
        others[rows, labels] = -np.inf
        rival = others.argmax(1)
        slope = (1 - np.tanh(final[rows, labels] - others[rows, rival]) ** 2) / len(final)
        gradient = np.zeros_like(final)
        gradient[rows, labels] += slope
        gradient[rows, rival] -= slope
        by_pair, by_degree = np.zeros_like(self.adjacency), np.zeros_like(self.degrees)
        for features, new, divisors in reversed(tape):
            pull = gradient / divisors[:, None]
            toll = -(gradient * new).sum(1) / divisors
            weights = self.weights(features)
            scaled = features / self.roots[:, None]
            by_pair += weights * ((pull / self.roots[:, None]) @ scaled.T + (toll / self.degrees)[:, None])
            moves = weights * self.adjacency / (self.roots[:, None] * self.roots)
            moved, back = moves @ features, moves @ pull
            by_degree -= toll * (divisors - np.float32(LAMBDA)) / self.degrees
            by_degree -= ((pull * moved).sum(1) + (back * features).sum(1)) / (2 * self.degrees)
            gradient = back
        by_pair += by_degree[:, None]
        return (by_pair + by_pair.T) * (1 - 2 * self.adjacency)


class Sparse:
    """Edges alone, in double precision."""

    def __init__(self, adjacency, scores):
        self.graph = sp.csr_array(adjacency)
        self.source = np.repeat(np.arange(len(scores)), np.diff(self.graph.indptr))
        self.target = self.graph.indices
        self.degrees = 1 + np.diff(self.graph.indptr).astype(float)
        self.roots = np.sqrt(self.degrees)

    def forward(self, scores):
        tape, features = [], scores
        for _ in range(STEPS):
            scaled = features / self.roots[:, None]
            difference = scaled[self.source] - scaled[self.target]
            weights = weight((difference * difference).sum(1))
            divisors = np.bincount(self.source, weights, len(scores)) / self.degrees + LAMBDA
            values = weights / (self.roots[self.source] * self.roots[self.target])
            moves = sp.csr_array((values, self.target, self.graph.indptr), shape=self.graph.shape)
            features = (moves @ features + LAMBDA * scores) / divisors[:, None]
            tape.append((moves, divisors))
        return features, tape


class Training:
    """One epoch of Adam."""

    def __init__(self, sparse, words, labels):
        self.sparse, self.words, self.labels = sparse, words, labels
        self.random = np.random.default_rng(0)
        shapes = [(HIDDEN, WORDS), (HIDDEN,), (CLASSES, HIDDEN), (CLASSES,)]
        self.weights = [self.random.uniform(-0.1, 0.1, shape) for shape in shapes]
        self.means = [np.zeros(shape) for shape in shapes]
        self.squares = [np.zeros(shape) for shape in shapes]
        self.seen = np.arange(len(labels) // 10)

    def epoch(self):
        first, first_bias, second, second_bias = self.weights
        below = self.words @ first.T + first_bias
        kept = (self.random.random(below.shape) >= 0.5) / 0.5
        hidden = np.maximum(below, 0) * kept
        final, tape = self.sparse.forward(hidden @ second.T + second_bias)
        powers = np.exp(final - final.max(1, keepdims=True))
        shares = powers / powers.sum(1, keepdims=True)
        gradient = np.zeros_like(final)
        gradient[self.seen] = shares[self.seen]
        gradient[self.seen, self.labels[self.seen]] -= 1
        gradient /= len(self.seen)
        by_scores = np.zeros_like(final)
        for moves, divisors in reversed(tape):
            pull = gradient / divisors[:, None]
            by_scores += LAMBDA * pull
            gradient = moves @ pull
        by_scores += gradient
        by_hidden = (by_scores @ second) * kept * (below > 0)
        gradients = [(self.words.T @ by_hidden).T, by_hidden.sum(0), by_scores.T @ hidden, by_scores.sum(0)]
        for k, gradient in enumerate(gradients):
            gradient = gradient + 5e-4 * self.weights[k]
            self.means[k] = 0.9 * self.means[k] + 0.1 * gradient
            self.squares[k] = 0.999 * self.squares[k] + 0.001 * gradient * gradient
            self.weights[k] = self.weights[k] - 0.05 * self.means[k] / (np.sqrt(self.squares[k]) + 1e-8)


def main() -> None:
    folder = Path(sys.argv[1])
    edges, starts, words, labels, scores = (
        np.load(folder / f"{name}.npy") for name in ("edges", "starts", "words", "labels", "scores")
    )
    nodes = len(labels)
    scores = scores.reshape(nodes, CLASSES)
    adjacency = np.zeros((nodes, nodes))
    adjacency[edges[0], edges[1]] = adjacency[edges[1], edges[0]] = 1
    dense, sparse = Dense(adjacency, scores), Sparse(adjacency, scores)
    features = sp.csr_array((np.ones(len(words)), words, starts), shape=(nodes, WORDS))
    training = Training(sparse, features, labels)
    serve(
        {
            "forward_dense": dense.forward,
            "forward_csr": lambda: sparse.forward(scores),
            "epoch": training.epoch,
            "attack_step": lambda: dense.attack_step(labels),
        }
    )


if __name__ == "__main__":
    main()
