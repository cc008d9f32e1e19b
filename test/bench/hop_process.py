"""A handler process in Python for the bench `hop`."""

from __future__ import annotations

from typing import Any

import pawl_sdk as pawl


@pawl.handler("hop.Python")
async def step(input: Any) -> dict[str, bool]:
    """Does nothing."""
    return {"ok": True}


if __name__ == "__main__":
    pawl.serve(step)
