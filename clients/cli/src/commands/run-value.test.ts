import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const RUN = "019a8b3e-1111-7000-8000-000000000001";
const SHA256 = "ab".repeat(32);

test("a value that is too large for the log is printed to the letter, by its digest or its reference (S2.34)", async () => {
  const asked: unknown[] = [];
  const { gateway, printed, pawl } = await setup({
    runs: {
      getValue({ runId, sha256, part }) {
        asked.push([runId, sha256, part]);
        return { data: Buffer.from(part === 0 ? '{"n": ' : "1.50}"), totalBytes: 11n };
      },
    },
  });
  await using _ = gateway;
  expect(await pawl("run", "value", RUN, SHA256)).toBe(0);
  expect(printed.out).toContain('{"n": 1.50}');
  expect(await pawl("run", "value", RUN, `{"$pawl.value":{"sha256":"${SHA256}"}}`)).toBe(0);
  expect(asked).toEqual([0, 1, 0, 1].map((part) => [RUN, SHA256, part]));
  expect(await pawl("run", "value", RUN, "abc")).toBe(2);
  expect(printed.error).toContain("64 digits of sha256");
});
