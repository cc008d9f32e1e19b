// Jumps of handlers on the real trio: a handler in TypeScript, Python or Go names the node that runs next.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { HANDLERS } from "../handler-kit/programs/sdks.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { graph, script } from "./graph.ts";
import { act, serveKit } from "./kit-program.ts";
import { runGraph, type Story } from "./story.ts";

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

const WAYS = [
  ["goto", { nodeId: "next", kind: "goto", reason: "again" }],
  ["hand_off_node", { nodeId: "next", kind: "handoff", reason: "busy" }],
] as const;

/** `jump` leads past `between`, which no branch reaches then. */
const forward = (ask: string): Promise<Story> =>
  runGraph(
    client,
    graph(["start > jump > between > next > end"], {
      jump: act([ask]),
      next: script("return ctx.nodes.jump ?? null"),
    }),
  );

/** `next` counts its rounds in the memory, and lets `jump` lead back to it twice. */
const back = (ask: string): Promise<Story> =>
  runGraph(
    client,
    graph(["start > next > jump > end"], {
      next: script(
        `const rounds = (ctx.memory.rounds ?? 0) + 1;
         ctx.remember("asks", rounds < 3 ? ["${ask}"] : []);
         return rounds`,
        { write_key: "rounds" },
      ),
      jump: act("{{ ctx.memory.asks }}"),
      end: { type: "end", config: { output_parameters: { rounds: "{{ ctx.memory.rounds }}" } } },
    }),
  );

/** The graph has no node `next`. */
const nowhere = (ask: string): Promise<Story> =>
  runGraph(
    client,
    graph(["start > bad"], {
      bad: act(["remember", ask], { retry: { attempts: 3, backoff_ms: 1, jitter: false } }),
    }),
  );

test.for(Object.entries(HANDLERS))(
  "a handler in %s leads its run forward and back by goto_node and by handoff to a node, and to no node that is not there (S2.37, S2.38)",
  { timeout: 90_000 },
  async ([, find], context) => {
    const { leave } = await serveKit({ client, address }, find, context);
    for (const [ask, goto] of WAYS) {
      const [ahead, again, bad] = await Promise.all([forward(ask), back(ask), nowhere(ask)]);

      expect(ahead.status).toBe("completed");
      expect(ahead.of("node.completed", "jump")[0]?.payload).toMatchObject({ goto });
      expect(ahead.nodes).toMatchObject({ between: "skipped", next: "completed" });
      // The target reads the output of the node that named it.
      expect(ahead.outputOf("next")).toEqual({ memory: {} });

      expect(again).toMatchObject({ status: "completed", output: { rounds: 3 } });
      for (const nodeId of ["next", "jump"]) {
        const rounds = again.of("node.completed", nodeId).map(({ iteration }) => iteration);
        expect(rounds).toEqual([0, 1, 2]);
        expect(again.of("node.invalidated", nodeId)).toHaveLength(2);
      }

      expect(bad.events.map(({ type }) => type).slice(-4)).toEqual([
        ...["node.queued", "node.started", "node.failed", "run.failed"],
      ]);
      expect(bad.of("node.failed")[0]?.payload).toMatchObject({ cause: "action_invalid" });
      expect(JSON.stringify(bad.of("node.failed"))).toContain("there is no such node");
      const runIds = [ahead, again, bad].map(({ runId }) => runId);
      expect(await checkInvariants(cluster.databaseUrl, runIds)).toEqual([]);
    }
    await leave();
  },
);
