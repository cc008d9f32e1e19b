// A dead letter of a real node that killed three executors, in the hands of the Python client.
import { createPawlClient } from "@pawl/client";
import { runToEnd } from "@pawl/deploy/python.ts";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { failpoints, startExecutor } from "../crash/processes.ts";
import { startCluster } from "../support/cluster.ts";
import { pythonOrSkip } from "../support/python.ts";
import { sourceEnv } from "../support/python-source.ts";
import { graph } from "./graph.ts";
import { storyOf } from "./story.ts";

const PROGRAM = fileURLToPath(new URL("../python/letters.py", import.meta.url));
/** A lease runs out soon after the death of its executor. */
const IMPATIENT = { PAWL_LEASE_MS: "1500", PAWL_RENEW_MS: "300", PAWL_GRACE_MS: "500" };

test("a Python caller lists, previews and redrives a dead letter; a repeat under the request id doubles nothing", async (context) => {
  const python = await pythonOrSkip(context);
  await using cluster = await startCluster({ executors: 0, envOf: { scheduler: IMPATIENT } });
  const client = createPawlClient({ baseUrl: cluster.url });
  onTestFinished(() => client.close());
  await client.workflows.create({
    id: "py-poison",
    title: "Poisoned",
    ...graph(["poison > after"]),
  });
  const { runId } = await client.start("py-poison");
  for (let death = 1; death <= 3; death += 1) {
    const victim = await startExecutor(cluster, failpoints("handler.before-run@1=kill"));
    expect(await victim.exited()).toBe("SIGKILL");
  }
  expect((await storyOf(client, runId)).status).toBe("failed");
  const env = sourceEnv({ PAWL_ADDRESS: cluster.url });
  expect(await runToEnd(python, [PROGRAM, "py-poison"], { env })).toEqual({
    code: 0,
    output: "ok\n",
  });
}, 120_000);
