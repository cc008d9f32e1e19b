// The caller under test for the TypeScript client: it watches runs as PROGRAM.md describes.

import { createInterface } from "node:readline";
import { createPawlClient, PawlError } from "@pawl/client";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { z } from "zod";

const COMMAND = z.object({
  watch: z.string(),
  after: z.int(),
  silence_ms: z.int(),
  give_up_ms: z.int(),
  leave_after: z.int(),
});

const client = createPawlClient({ baseUrl: process.env["PAWL_ADDRESS"] ?? "" });

const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const lineOf = ({ eventId, type, nodeId, iteration, fact }: RunEvent): object => ({
  event_id: Number(eventId),
  type,
  node_id: nodeId,
  iteration,
  ...(fact.case === "nodeStreamDelta"
    ? { delta_index: fact.value.deltaIndex, text: fact.value.text }
    : {}),
});

async function watch(command: z.infer<typeof COMMAND>): Promise<void> {
  let count = 0;
  const events = client.watch(command.watch, {
    afterEventId: command.after,
    silenceMs: command.silence_ms,
    giveUpMs: command.give_up_ms,
  });
  for await (const event of events) {
    print(lineOf(event));
    count += 1;
    if (count === command.leave_after) break;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    await watch(COMMAND.parse(JSON.parse(line)));
    print({ end: true });
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    print({ error: { reason: error.reason } });
  }
}
client.close();
