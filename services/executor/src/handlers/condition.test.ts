import { expect, test } from "vitest";
import { conditionHandler } from "./condition.ts";
import { probeHandler } from "./handler-probe.fixture.ts";

const branches = [
  { id: "big", when: "ctx.input.n > 10" },
  { id: "small", when: "ctx.input.n > 0 && input.go" },
];
const decide = (n: unknown, input = { go: true }) =>
  probeHandler(
    conditionHandler,
    { branches },
    { context: { input: { n }, nodes: {}, vars: {} }, input },
  );

test("the first true branch is the handle (S3.28)", async () => {
  expect((await decide(11)).result).toEqual({ output: { branch: "big" }, handle: "big" });
  expect((await decide(5)).result).toMatchObject({ handle: "small" });
});

test("no true branch leaves by else", async () => {
  expect((await decide(0)).result).toMatchObject({ handle: "else" });
});

test("a missing value and a wrong type fail for good, by name (T7, T13)", async () => {
  const missing = await probeHandler(
    conditionHandler,
    { branches },
    { context: { input: {}, nodes: {}, vars: {} } },
  );
  expect(missing.result).toMatchObject({ failed: { cause: "missing_variable", permanent: true } });
  expect((await decide("text")).result).toMatchObject({ failed: { cause: "condition_type" } });
});

test.each(["((", "[1]", `${"(".repeat(1_000)}true${")".repeat(1_000)}`])(
  "a condition that is none is refused before it runs (T11, T13)",
  async (when) => {
    const { result } = await probeHandler(conditionHandler, { branches: [{ id: "a", when }] });
    expect(result).toHaveProperty("refused");
  },
);
