// An executor is frozen past its lease while a process of a user works for it. Another executor with another process completes the run.
// After the thaw the first process is cancelled, and its late result changes nothing.
import { createPawlClient } from "@pawl/client";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { CancelReason } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { ScriptedProcess } from "../../services/executor/src/host/scripted-process.fixture.ts";
import { graph } from "../flow/graph.ts";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { startExecutor } from "./processes.ts";

/** A lease runs out soon after its executor stops. */
const IMPATIENT = { PAWL_LEASE_MS: "1500", PAWL_RENEW_MS: "300", PAWL_GRACE_MS: "500" };
const STEP = graph(["start > step > end"], { step: { type: "acme.step" } });

/** An executor with a process behind it. */
async function startPair(cluster: Cluster, name: string) {
  const port = await freePort();
  const executor = await startExecutor(cluster, { PAWL_HANDLER_PORT: String(port) });
  const process = new ScriptedProcess(`${LOOPBACK}:${port}`);
  onTestFinished(() => process.close());
  await process.hello({ name, handlers: [{ type: "acme.step" }] });
  return { executor, process };
}

test("an executor that is frozen while a handler works loses its claim; after the thaw the handler is cancelled and its result is late", async () => {
  await using cluster = await startCluster({
    executors: 0,
    envOf: { scheduler: { ...IMPATIENT, PAWL_SWEEP_MS: "100" } },
  });
  const client = createPawlClient({ baseUrl: cluster.url });
  onTestFinished(() => client.close());
  const frozen = await startPair(cluster, "frozen");
  const { run } = await client.runs.test(STEP, { input: {} });
  const { invocationId } = await frozen.process.received("invoke");
  await frozen.executor.kill("SIGSTOP");
  const heir = await startPair(cluster, "heir");
  const again = await heir.process.received("invoke");
  heir.process.send({
    case: "result",
    value: { invocationId: again.invocationId, outputJson: '"heir"' },
  });
  const story = await storyOf(client, run.runId);
  expect(story.outputOf("step")).toBe("heir");

  await frozen.executor.kill("SIGCONT");
  expect(await frozen.process.received("cancel")).toMatchObject({
    invocationId,
    reason: CancelReason.CLAIM_LOST,
  });
  frozen.process.send({ case: "result", value: { invocationId, outputJson: '"frozen"' } });
  const after = await storyOf(client, run.runId);
  expect(after.events).toEqual(story.events);
  expect(after.of("node.started", "step").map(({ attempt }) => attempt)).toEqual([1, 1]);
  await checkInvariants(cluster.databaseUrl);
}, 60_000);
