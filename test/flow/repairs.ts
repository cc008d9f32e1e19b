// A trio with a sink for tests of repairs: the sink counts what ran again, and fails the calls that a test names.
import { createPawlClient, type PawlClient, repairActionName, type RepairPlan } from "@pawl/client";
import { expect } from "vitest";
import { startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { call, graph, type GraphText, type NodeText, script } from "./graph.ts";
import { SINK_EGRESS, startSink } from "./sink.ts";
import { type Story, storyOf } from "./story.ts";

export type RepairScene = Awaited<ReturnType<typeof repairScene>>;

/** Starts the trio and the sink. */
export async function repairScene() {
  /** Names whose calls the sink answers with 500 until a test mends them. */
  const failing = new Set<string>();
  const sink = await startSink({ respond: (name) => (failing.has(name) ? 500 : 200) });
  const cluster = await startCluster({ env: SINK_EGRESS });
  const client: PawlClient = createPawlClient({ baseUrl: cluster.url });
  const effect = (name: string, more: NodeText = {}): NodeText =>
    call(sink.url(name), { retry: { attempts: 1 }, ...more });
  return {
    ...{ failing, sink, cluster, client, effect },
    callsOf: (name: string): number => sink.calls.filter((each) => each.name === name).length,
    /** Waits for the end of a repaired run, and checks its log. */
    ended: async (runId: string): Promise<Story> => {
      const story = await storyOf(client, runId);
      expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
      return story;
    },
    /** A chain of effects around one that fails until it is mended. */
    chain: (name: string): GraphText => {
      failing.add(`${name}-b`);
      return graph(["start > a > b > c > end", "start > side > end"], {
        a: effect(`${name}-a`, { write_key: "a" }),
        b: effect(`${name}-b`),
        c: effect(`${name}-c`),
        side: script("return { side: ctx.input?.n ?? 0 }", { output_variable: "side" }),
        end: { type: "end", config: { output_parameters: { side: "{{ ctx.side.side }}" } } },
      });
    },
    stop: async (): Promise<void> => {
      await cluster.stop();
      await sink.stop();
    },
  };
}

/** What the plan does about each node. */
export const actionsOf = ({ nodes }: RepairPlan): Record<string, string> =>
  Object.fromEntries(nodes.map(({ nodeId, action }) => [nodeId, repairActionName(action)]));

/** The reason of a refused call. */
export const refused = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => "accepted",
    (error: { readonly reason?: string }) => error.reason,
  );
