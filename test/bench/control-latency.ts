// How long a control of a run takes to reach its running handler. The handlers are those of the conformance kit. They print a note on their
// standard output when their signal fires, so a time includes the way of the note back to this process.

import { type PawlClient, PawlError } from "@pawl/client";
import type { Program } from "../handler-kit/program.ts";
import { firstEvent, type Told } from "../flow/story.ts";

/** The controls that end a running handler. */
export const ENDINGS = ["cancel", "interrupt", "rollback"] as const;
type Ending = (typeof ENDINGS)[number];

interface Controlled {
  readonly client: PawlClient;
  readonly program: Program;
  /** Unlike any other of this program. */
  readonly name: string;
}

const START = { id: "start", type: "start" };

/** A handler that waits for its signal. */
const waiting = (name: string) => ({
  nodes: [START, { id: "work", type: "kit.wait@1", input: { name } }],
  edges: [{ source: "start", target: "work" }],
});

/** From the call to the note of the handler's signal, in milliseconds. */
export async function endingMs({ client, program, name }: Controlled, how: Ending) {
  const { run } = await client.runs.test(waiting(name));
  await firstEvent(client, run.runId, ({ type }) => type === "node.stream.delta");
  const begun = performance.now();
  const called = client.runs.cancel(run.runId, how === "cancel" ? {} : { mode: how });
  await program.note(`cancelled ${name} cancelled`);
  const took = performance.now() - begun;
  await called;
  await program.note(`returned ${name}`);
  return took;
}

/** How long the running handler takes at least. */
const HOLD_MS = 100;

const held = (name: string, ms: number) => ({
  nodes: [
    START,
    { id: "work", type: "kit.stubborn@1", input: { name, ms } },
    { id: "next", type: "kit.effect@1", input: { name, class: "idempotent" } },
  ],
  edges: [
    { source: "start", target: "work" },
    { source: "work", target: "next" },
  ],
});

const isEndOfWork = ({ type, nodeId }: Told) => type === "node.completed" && nodeId === "work";
const isPause = ({ type }: Told) => type === "run.status.changed";

function reasonOf(error: unknown): string {
  if (error instanceof PawlError) return error.reason;
  throw error;
}

/**
 * Pauses a run while a handler of it runs. `pause`: from the call to its answer, after which nothing starts. `resume`: from the call to the
 * next handler. A machine that is too busy pauses after the handler's end: such a sample says nothing, and a longer handler follows.
 * @throws if the next node starts before the resume.
 */
export async function pauseMs(controlled: Controlled, holdMs = HOLD_MS) {
  const { client, program } = controlled;
  const name = `${controlled.name}-${holdMs}`;
  const { run } = await client.runs.test(held(name, holdMs));
  await firstEvent(client, run.runId, ({ type }) => type === "node.stream.delta");
  const begun = performance.now();
  const refusal = await client.runs.pause(run.runId).then(() => undefined, reasonOf);
  const pause = performance.now() - begun;
  if (refusal === "RUN_ALREADY_FINISHED") return pauseMs(controlled, 2 * holdMs);
  const end = await firstEvent(client, run.runId, isEndOfWork);
  const paused = await firstEvent(client, run.runId, isPause);
  if (paused.eventId > end.eventId) {
    await client.runs.cancel(run.runId);
    return pauseMs(controlled, 2 * holdMs);
  }
  if (program.notes.things.includes(`made ${name}`))
    throw new Error(`run ${run.runId}: a node started while the run was paused`);
  const resumed = performance.now();
  const called = client.runs.resume(run.runId);
  await program.note(`made ${name}`);
  const resume = performance.now() - resumed;
  await called;
  await client.runs.wait(run.runId);
  return { pause, resume };
}
