// The state of the run in handlers on the real trio: handlers in TypeScript, Python and Go that ask for it read it, with the part of the
// memory that their node reads.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { HANDLERS } from "../handler-kit/programs/sdks.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { graph, script } from "./graph.ts";
import { act, serveKit } from "./kit-program.ts";
import { storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let address: string;

beforeAll(async () => {
  const port = await freePort();
  address = `${LOOPBACK}:${port}`;
  cluster = await startCluster({ envOf: { executor: { PAWL_HANDLER_PORT: String(port) } } });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(() => cluster.stop());

test.for(Object.entries(HANDLERS))(
  "a handler in %s reads the state of its run: goal, current nodes and its part of the memory (S2.1, S2.5, S2.8, S2.24)",
  { timeout: 90_000 },
  async ([, find], context) => {
    const { leave } = await serveKit({ client, address }, find, context);
    const definition = graph(["start > note > read > end"], {
      note: script("ctx.remember('open', 1); ctx.remember('secret', 2); return 0"),
      read: act(["state"], { read_keys: ["open"] }),
    });
    const { run } = await client.runs.test(definition, { goal: "sell" });
    const story = await storyOf(client, run.runId);
    expect(story.outputOf("read")).toEqual({
      memory: { open: 1 },
      state: { goal: "sell", nodes: ["read"], retries: 0, memory: { open: 1 } },
    });
    await leave();
  },
);
