// Moderation by a service of the operator, through a real trio: the executor blocks what the service flags, and passes nothing while the
// service is away.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createPawlClient, type PawlClient } from "@pawl/client";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { graph, script } from "./graph.ts";
import { firstEvent, runGraph, storyOf } from "./story.ts";

const PHRASE = "forbidden fruit";

let server: Server;
let cluster: Cluster;
let client: PawlClient;
/** Whether the service is away: it answers 503. */
let isAway = false;

beforeAll(async () => {
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      response.statusCode = isAway ? 503 : 200;
      const flagged = Buffer.concat(parts).toString().includes(PHRASE);
      response.end(JSON.stringify({ flagged }));
    });
  });
  server.listen(0, LOOPBACK);
  await once(server, "listening");
  // A server listening on TCP always has such an address.
  const { port } = server.address() as AddressInfo;
  const PAWL_MODERATION_URL = `http://${LOOPBACK}:${port}/moderate`;
  cluster = await startCluster({ envOf: { executor: { PAWL_MODERATION_URL } } });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => {
  isAway = false;
  onTestFailed(() => console.error(cluster.logs()));
});
afterAll(async () => {
  await cluster.stop();
  server.closeAllConnections();
  server.close();
});

/** Says the run's input, with its output moderated. */
const said = (attempts: number) =>
  graph(["start > said"], {
    said: script("return { text: ctx.input }", {
      moderation: "output",
      retry: { attempts, backoff_ms: 1, retry_on: ["provider_error"] },
    }),
  });

test("a text that the service flags is blocked, a text that it clears passes (S1.8, S1.16)", async () => {
  const clean = await runGraph(client, said(1), "an ordinary fruit");
  expect(clean.outputOf("said")).toEqual({ text: "an ordinary fruit" });
  const flagged = await runGraph(client, said(3), `a ${PHRASE}`);
  expect(flagged.of("node.failed", "said")[0]?.payload).toMatchObject({
    cause: "moderation_blocked",
  });
  expect(flagged.of("node.retried")).toEqual([]);
});

test("while the service is away nothing passes, and the node is tried again as for any provider (S1.8, S1.47)", async () => {
  isAway = true;
  const { run } = await client.runs.test(said(20), { input: "an ordinary fruit" });
  const retried = await firstEvent(client, run.runId, ({ type }) => type === "node.retried");
  expect(retried.payload).toMatchObject({ cause: "moderation_unavailable" });
  isAway = false;
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.outputOf("said")).toEqual({ text: "an ordinary fruit" });
});

test("an outage that outlasts the attempts fails the node, and no client sees its output (S1.18)", async () => {
  isAway = true;
  const story = await runGraph(client, said(2), "an ordinary fruit");
  expect(story.status).toBe("failed");
  expect(story.of("node.retried").map(({ payload }) => payload)).toMatchObject([
    { cause: "moderation_unavailable" },
  ]);
  expect(story.of("node.failed", "said")[0]?.payload).toMatchObject({
    cause: "moderation_unavailable",
    failureClass: "retriable",
    message: expect.stringMatching(/^moderation answered 503 .*attempt 2 of 2/),
  });
  const ofNode = story.events.filter(({ nodeId }) => nodeId === "said");
  expect(JSON.stringify(ofNode)).not.toContain("an ordinary fruit");
});
