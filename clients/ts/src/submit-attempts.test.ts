import { expect, onTestFinished, test } from "vitest";
import { SYSTEM_CLOCK } from "./backoff.ts";
import { createPawlClient } from "./client.ts";
import { ScriptedGateway } from "./scripted-gateway.fixture.ts";

test("a later call has all its attempts after an earlier one ran out of them", async () => {
  const gateway = new ScriptedGateway({});
  const baseUrl = await gateway.start();
  await gateway.stop();
  let pauses = 0;
  const pause = () => {
    pauses += 1;
    return Promise.resolve();
  };
  const client = createPawlClient({ baseUrl, clock: { ...SYSTEM_CLOCK, pause } });
  onTestFinished(() => client.close());
  for (const expected of [3, 6]) {
    await expect(client.run("x")).rejects.toMatchObject({ reason: "UNREACHABLE" });
    expect(pauses).toBe(expected);
  }
});
