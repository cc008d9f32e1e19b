// How long a control of a run takes to reach its running handler. The handlers are those of the conformance kit. They print a note on their
// standard output when their signal fires, so a time includes the way of the note back to this process.

import type { PawlClient } from "@pawl/client";
import type { Program } from "../handler-kit/program.ts";
import { firstEvent } from "../flow/story.ts";

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

/** How long the running handler still takes after the pause. */
const HOLD_MS = 100;

const held = (name: string) => ({
  nodes: [
    START,
    { id: "work", type: "kit.stubborn@1", input: { name, ms: HOLD_MS } },
    { id: "next", type: "kit.effect@1", input: { name, class: "idempotent" } },
  ],
  edges: [
    { source: "start", target: "work" },
    { source: "work", target: "next" },
  ],
});

/**
 * Pauses a run while a handler of it runs. `pause`: from the call to its answer, after which nothing starts. `resume`: from the call to the
 * next handler. @throws if the next node starts before the resume.
 */
export async function pauseMs({ client, program, name }: Controlled) {
  const { run } = await client.runs.test(held(name));
  await firstEvent(client, run.runId, ({ type }) => type === "node.stream.delta");
  const begun = performance.now();
  await client.runs.pause(run.runId);
  const pause = performance.now() - begun;
  await firstEvent(
    client,
    run.runId,
    ({ type, nodeId }) => type === "node.completed" && nodeId === "work",
  );
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
