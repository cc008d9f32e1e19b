// The smallest possible workflow, for tests that need any run.
import { Code, ConnectError } from "@connectrpc/connect";
import type { Stage } from "./stage.ts";

/** Its id. */
export const KNOWN = "known";
/** Its definition. */
export const GRAPH = '{"nodes":[{"id":"start","type":"start"}]}';

/** Saves it, and the same under other ids. A file before this one may have saved them in the shared cluster. */
export async function saveKnown({ door }: Stage, ...others: readonly string[]): Promise<void> {
  const { workflows } = door("grpc-js");
  for (const workflowId of [KNOWN, ...others])
    await workflows
      .createWorkflow({ workflowId, definition: { text: GRAPH } })
      .catch((error: unknown) => {
        if (ConnectError.from(error).code !== Code.AlreadyExists) throw error;
      });
}

/** Runs it to its end; gives the run and how long its log is. */
export async function finishedRun({ door }: Stage): Promise<{ runId: string; length: number }> {
  const { runs, events } = door("grpc-js");
  const { run } = await runs.startRun({ workflowId: KNOWN });
  const runId = run?.runId ?? "";
  await drain(events.watchRun({ runId }));
  return { runId, length: (await events.listEvents({ runId })).events.length };
}

/** Reads a stream to its end. */
export async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}
