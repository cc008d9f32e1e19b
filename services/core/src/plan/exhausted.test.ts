import { expect, test } from "vitest";
import { failed, graphOf, sketch, startToyRun } from "../../test/toy-run.ts";

const one = (node: Readonly<Record<string, unknown>> = {}) => {
  const run = startToyRun(sketch([{ id: "a", ...node }], []));
  run.claim("a");
  return run;
};

test.each([
  [
    "timeout",
    "timeout",
    /^timed out after \d+ ms .*run .*, node a: attempt 2 of 2 .*raise attempts/,
  ],
  [
    "user_timeout",
    "user_timeout",
    /run .*, node a: attempt 2 of 2 failed with user_timeout; raise/,
  ],
  [
    "rate_limit",
    "retriable",
    /run .*, node a: attempt 2 of 2 failed with rate_limit; raise attempts/,
  ],
])(
  "exhausted attempts after %s name the run, the node, the limit and the setting to raise (S4.17, S4.13)",
  (cause, failureClass, message) => {
    const run = one({ retry: { attempts: 2 } });
    run.report("a", failed(cause));
    run.claim("a");
    run.report("a", failed(cause));
    const last = run.events.at(-1);
    expect(run.node("a").message).toMatch(message);
    expect(run.node("a").message).toContain(run.state.runId);
    expect(run.node("a").failure).toEqual({ cause, failureClass });
    expect(last).toMatchObject({ type: "run.failed", payload: { cause } });
  },
);

test("a failure that no further attempt could follow gives no advice about attempts (S4.17)", () => {
  for (const [node, cause, permanent] of [
    [{}, "rate_limit", false],
    [{ retry: { attempts: 2, retry_on: ["timeout"] } }, "rate_limit", false],
    [{ retry: { attempts: 2 } }, "acme.declined", true],
  ] as const) {
    const run = one(node);
    run.report("a", failed(cause, permanent));
    expect(run.node("a").message).toBe(`it broke: ${cause}`);
  }
});

test("the retries that the run allows are the limit that its error names (S4.17)", () => {
  const nodes = [{ id: "a", type: "task", retry: { attempts: 5 } }];
  const run = startToyRun(graphOf({ max_retries: 1, nodes }));
  run.fail("a");
  run.fail("a");
  expect(run.node("a")).toMatchObject({ status: "failed", attempt: 2 });
  expect(run.node("a").message).toContain("max_retries of the run is 1");
});
