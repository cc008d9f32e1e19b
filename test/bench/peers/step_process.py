"""A handler process with one step, for the bench."""

import os

import pawl_sdk as pawl


@pawl.handler(os.environ.get("STEP_TYPE", "bench.step"))
async def step(_input: object) -> dict[str, bool]:
    return {"ok": True}


if __name__ == "__main__":
    pawl.serve(step, slots=1024)
