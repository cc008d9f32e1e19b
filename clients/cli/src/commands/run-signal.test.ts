import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const RUN = "019a8b3e-1111-7000-8000-000000000001";
const WAITING = { runId: RUN, status: RunStatus.WAITING };

test("a signal is sent with its payload to the letter, and the answer tells whether a node took it", async () => {
  const calls: unknown[] = [];
  let kept = false;
  const { gateway, printed, pawl } = await setup({
    runs: {
      signalRun({ name, payloadJson, requestId }) {
        calls.push([name, Buffer.from(payloadJson).toString(), requestId]);
        return { run: WAITING, kept, duplicate: requestId === "again" };
      },
    },
  });
  await using _ = gateway;
  const payload = '{"n": 1.50}';
  expect(await pawl("run", "signal", RUN, "paid", "--payload", payload, "--request-id", "r")).toBe(
    0,
  );
  expect(calls).toEqual([["paid", payload, "r"]]);
  expect(printed.out).toContain("paid taken; the run is waiting");
  kept = true;
  expect(await pawl("run", "signal", RUN, "paid")).toBe(0);
  expect(printed.out).toContain("paid kept until a node waits for it");
  expect(await pawl("run", "signal", RUN, "paid", "--request-id", "again")).toBe(0);
  expect(printed.out).toContain("paid sent before; nothing was changed");
  expect(await pawl("run", "signal", RUN, "paid", "--payload", "{oops")).toBe(2);
  expect(calls).toHaveLength(3);
});
