// A run as its watcher saw it: every event in order, and the run as it ended.
import {
  type Json,
  type PawlClient,
  jsonOf,
  nodeStatusName,
  plainEvent,
  runStatusName,
} from "@pawl/client";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import type { GraphText } from "./graph.ts";

/** One event, as people read it. */
export type Told = {
  readonly eventId: number;
  readonly type: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly attempt: number;
  readonly epoch: number;
  /** Milliseconds since the epoch, by the database's clock. */
  readonly at: number;
  readonly payload: unknown;
};

/** A run from its first event to its last. */
export type Story = {
  readonly runId: string;
  readonly run: Run;
  /** completed, failed, cancelled or timeout. */
  readonly status: string;
  readonly output: Json | undefined;
  readonly events: readonly Told[];
  /** The status of each node at the end; an iteration is named "map#2". */
  readonly nodes: Readonly<Record<string, string>>;
  /** The events of a type, of one node if named. */
  of(type: string, nodeId?: string): readonly Told[];
  /** The output of a node. */
  outputOf(nodeId: string): Json | undefined;
};

/** A time in milliseconds; one that is not there compares false with every other. */
export const msOf = (time: Timestamp | undefined): number =>
  time === undefined ? Number.NaN : timestampMs(time);

/** Runs an unsaved graph to its end. */
export async function runGraph(
  client: PawlClient,
  definition: GraphText,
  input: Json = null,
): Promise<Story> {
  const { run } = await client.runs.test(definition, { input });
  return await storyOf(client, run.runId);
}

/** Watches a run to its end, from its first event. */
export async function storyOf(client: PawlClient, runId: string): Promise<Story> {
  const events: Told[] = [];
  for await (const event of client.watch(runId)) events.push(told(event));
  const { run } = await client.runs.get(runId);
  return {
    runId,
    run,
    status: runStatusName(run.status),
    output: jsonOf(run.outputJson),
    events,
    nodes: Object.fromEntries(
      run.nodes.map(({ nodeId, iteration, item, status }) => [
        item === 0 ? nodeId : `${nodeId}#${iteration}`,
        nodeStatusName(status),
      ]),
    ),
    of: (type, nodeId) =>
      events.filter(
        (event) => event.type === type && (nodeId === undefined || event.nodeId === nodeId),
      ),
    outputOf: (nodeId) => {
      const node = run.nodes.find((each) => each.nodeId === nodeId && each.item === 0);
      return node === undefined ? undefined : jsonOf(node.outputJson);
    },
  };
}

/** The first event that fits, as soon as it is committed. */
export async function firstEvent(
  client: PawlClient,
  runId: string,
  fits: (event: Told) => boolean,
): Promise<Told> {
  for await (const event of client.watch(runId)) if (fits(told(event))) return told(event);
  throw new Error(`the run ${runId} ended before such an event`);
}

function told(event: RunEvent): Told {
  const { type, nodeId, iteration, attempt } = event;
  const { payload } = plainEvent(event);
  const at = msOf(event.time);
  return {
    eventId: Number(event.eventId),
    type,
    nodeId,
    iteration,
    attempt,
    epoch: Number(event.epoch),
    at,
    payload,
  };
}
