"""A population that agrees with all answers: the public prior, tilted as little as they demand.

w(day) ∝ start(day) · exp(τ u·ψ(day)) with the least Σ (m̂ − Φᵀw)² / 2σ² + |u|² / 2. The answers decide on τ:
each half of them is fitted and held against the other, and "no tilt at all" is one of the choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg
from threadpoolctl import threadpool_limits

from elsewhere.arrays import Floats
from elsewhere.estimates.counts import HALVES, AnswerCounts, unbiased, variance
from elsewhere.estimates.support import Support, features, incidence
from elsewhere.progress import Progress, no_progress

TAUS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
_STEPS = 12
_SMALLEST = 0.02
# In the cost, which is a log-likelihood: less is nothing.
_ENOUGH = 0.5
_MOST_DENSE = 3000
_MOST_PRODUCTS = 300
# A larger τ must be better than a smaller one by so many standard deviations.
_SURE = 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Datum:
    """What is known of some things: how large each is, give or take."""

    told: sp.csr_array
    """Things × days: how much of each thing a day tells."""
    value: Floats
    variance: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Weights of the support's days, from all answers and from each half alone."""

    tau: float
    """0: the prior stands."""
    weights: Floats
    halves: tuple[Floats, Floats]


class Tilt:
    """A support, and the features by which its days may gain or lose weight."""

    def __init__(self, start: Floats, psi: sp.csr_array) -> None:
        self._log_start = np.log(start)
        self._psi = psi
        self._psi_t = sp.csr_array(psi.T)

    @property
    def features(self) -> int:
        return int(self._psi.shape[1])

    def weights(self, u: Floats, tau: float) -> Floats:
        """The population of a tilt."""
        eta = self._log_start + self._psi @ (tau * u)
        raised = np.exp(eta - eta.max())
        return np.asarray(raised / raised.sum())

    def solve(
        self, data: Sequence[Datum], tau: float, u: Floats, steps: int = _STEPS
    ) -> tuple[Floats, Floats]:
        """The tilt with the least cost, from ``u`` on: Gauss–Newton, halving steps that go too far."""
        told = sp.csr_array(sp.vstack([datum.told for datum in data]))
        value, noise = (
            np.concatenate([getattr(datum, name) for datum in data]) for name in ("value", "variance")
        )

        def cost(u: Floats, w: Floats) -> float:
            return float(u @ u / 2 + ((told @ w - value) ** 2 / noise).sum() / 2)

        w = self.weights(u, tau)
        now = cost(u, w)
        for _ in range(steps):
            step = self._step(told, value, noise, tau, u, w)
            size, before = 1.0, now
            while size > _SMALLEST:
                moved = self.weights(u + size * step, tau)
                now = cost(u + size * step, moved)
                if now < before:
                    break
                size /= 2
            else:
                break
            u, w = u + size * step, moved
            if before - now < _ENOUGH:
                break
        return u, w

    def _step(
        self, told: sp.csr_array, value: Floats, noise: Floats, tau: float, u: Floats, w: Floats
    ) -> Floats:
        """One step of Gauss–Newton: the least squares of what is linear in u, solved on the smaller side.

        With J the slope of Φᵀw by u and Σ the noise: u' = Jᵀ (J Jᵀ + Σ)⁻¹ r = (I + Jᵀ Σ⁻¹ J)⁻¹ Jᵀ Σ⁻¹ r with
        r = m̂ − Φᵀw + J u.
        """
        predicted, mean = told @ w, w @ self._psi
        if min(told.shape[0], self.features) > _MOST_DENSE:
            return self._step_by_products(told, value - predicted, noise, tau, u, w)
        weighted = sp.csr_array(told.multiply(w[None, :]))
        slope = tau * ((weighted @ self._psi).toarray() - np.outer(predicted, mean))
        left = value - predicted + slope @ u
        if len(value) <= self.features:
            return np.asarray(slope.T @ cho_solve(cho_factor(slope @ slope.T + np.diag(noise)), left) - u)
        scaled = slope / noise[:, None]
        system = scaled.T @ slope + np.eye(self.features)
        return np.asarray(cho_solve(cho_factor(system), scaled.T @ left) - u)

    def _step_by_products(
        self, told: sp.csr_array, left: Floats, noise: Floats, tau: float, u: Floats, w: Floats
    ) -> Floats:
        """The same where both sides are large: conjugate gradients, J never written out."""
        told_t = sp.csr_array(told.T)

        def slope(v: Floats) -> Floats:
            moved = self._psi @ v
            return np.asarray(tau * (told @ (w * (moved - w @ moved))))

        def slope_t(v: Floats) -> Floats:
            pulled = told_t @ v
            return np.asarray(tau * (self._psi_t @ (w * (pulled - w @ pulled))))

        system = LinearOperator(
            (self.features, self.features), matvec=lambda v: v + slope_t(slope(v) / noise), dtype=np.float64
        )
        found, _ = cg(system, slope_t((left + slope(u)) / noise), x0=u, rtol=1e-4, maxiter=_MOST_PRODUCTS)
        return np.asarray(found - u)


class Evidence:
    """Answers to all questions about one support, as the tilt takes them."""

    def __init__(self, support: Support, counts: Sequence[AnswerCounts]) -> None:
        self.support, self.counts = support, counts
        found = [(one.channel.things, one.channel.things.of(support.days)) for one in counts]
        self.things = [things for _, things in found]
        self.told = [
            sp.csr_array(incidence(things, one.channel.things.count, one.channel.kept).T)
            for one, (_, things) in zip(counts, found, strict=True)
        ]
        self.tilt = Tilt(support.start, features(found))

    @cached_property
    def whole(self) -> list[sp.csr_array]:
        """Things × days of each question, also what an answer could not tell of long days."""
        return [
            sp.csr_array(incidence(things, one.channel.things.count).T)
            for one, things in zip(self.counts, self.things, strict=True)
        ]

    def with_counts(self, counts: Sequence[AnswerCounts]) -> Evidence:
        """Other answers to the same questions: what days have is not looked up again."""
        other = copy(self)
        other.counts = counts
        return other

    def data(self, half: int | None, believed: Floats) -> list[Datum]:
        """Unbiased estimates of one half of the answers, or of all; variances if ``believed`` is true."""
        found = []
        for one, told in zip(self.counts, self.told, strict=True):
            pointed, asked = one.of(half)
            noise = variance(one.channel, told @ believed, asked)
            found.append(Datum(told=told, value=unbiased(one.channel, pointed, asked), variance=noise))
        return found

    def fit(self, progress: Progress = no_progress) -> Fit:
        """More tilt as long as the other half of the answers agrees that it is better."""
        # Systems are small. Threads that wait for each other cost far more than they bring.
        with threadpool_limits(limits=1, user_api="blas"):
            return self._fit(progress)

    def _fit(self, progress: Progress) -> Fit:
        prior, start = self.support.prior, self.support.start
        halves = [self.data(half, start) for half in range(HALVES)]
        us = [np.zeros(self.tilt.features)] * HALVES
        ws, best = [prior] * HALVES, 0.0
        for number, tau in enumerate(TAUS):
            progress(number, len(TAUS) + 1)
            # The same tilt as before, to start from: with a larger τ it takes a smaller u.
            new = [self.tilt.solve(halves[half], tau, us[half] * best / tau) for half in range(HALVES)]
            gain, spread = self._gain(halves, ws, [w for _, w in new])
            if gain < _SURE * np.sqrt(spread):
                break
            best, us, ws = tau, [u for u, _ in new], [w for _, w in new]
        progress(len(TAUS), len(TAUS) + 1)
        weights = prior
        if best:
            believed = (ws[0] + ws[1]) / 2
            _, weights = self.tilt.solve(self.data(None, believed), best, us[0])
        return Fit(tau=best, weights=weights, halves=(ws[0], ws[1]))

    def _gain(self, halves: list[list[Datum]], old: list[Floats], new: list[Floats]) -> tuple[float, float]:
        """By how much the answers of one half fit better with the tilt of the other; and its variance."""
        gain, spread = 0.0, 0.0
        for half in range(HALVES):
            for datum in halves[1 - half]:
                before, after = datum.told @ old[half], datum.told @ new[half]
                gain += float(
                    (((datum.value - before) ** 2 - (datum.value - after) ** 2) / datum.variance).sum()
                )
                spread += float((4 * (after - before) ** 2 / datum.variance).sum())
        return gain, spread
