"""The Python part of polyglot-order: it scores the risk of an order."""

from dataclasses import dataclass
from typing import Annotated

import pawl_sdk as pawl

HOME = {"GB", "DE", "FR"}
LARGE_CENTS = 100_000


@dataclass
class Order:
    email: str
    country: str
    cents: Annotated[int, pawl.Check(minimum=0)]


@dataclass
class Risk:
    score: Annotated[float, pawl.Check(minimum=0, maximum=1)]
    reasons: list[str]


@pawl.handler("shop.fraud@1")
def fraud(order: Order, ctx: pawl.Context) -> Risk:
    """Scores the risk of an order from 0 to 1."""
    reasons: list[str] = []
    if order.cents >= LARGE_CENTS:
        reasons.append("large amount")
    if order.country not in HOME:
        reasons.append("far country")
    if "@" not in order.email:
        reasons.append("no email address")
    ctx.log(f"{len(reasons)} reasons for doubt")
    return Risk(score=round(0.05 + 0.3 * len(reasons), 2), reasons=reasons)


if __name__ == "__main__":
    pawl.serve(fraud)
