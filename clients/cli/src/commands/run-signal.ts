// pawl run signal: sends a run a signal.

import { plainRun, runStatusName } from "@pawl/client";
import { readJsonFlag } from "../run-input.ts";
import { print, type Session } from "../session.ts";

interface SignalFlags {
  readonly payload?: string;
  readonly requestId?: string;
}

/** Sends a signal, and shows whether a node took it or the run keeps it. */
export async function runSignal(
  session: Session,
  runId: string,
  name: string,
  { payload, requestId }: SignalFlags,
): Promise<void> {
  const { client, interrupted: signal } = session;
  // `-` alone is standard input, as `@-` is.
  const given = payload === "-" ? "@-" : payload;
  const payloadJson =
    given === undefined ? undefined : await readJsonFlag(session, "payload", given);
  const sent = await client.runs.signal(runId, name, { payloadJson, requestId, signal });
  const { run, isDuplicate, isKept } = sent;
  const taken = isKept ? "kept until a node waits for it" : "taken";
  const done = isDuplicate ? "sent before; nothing was changed" : taken;
  print(session, { run: plainRun(run), isDuplicate, isKept }, () => [
    `${name} ${done}; the run is ${runStatusName(run.status)}`,
  ]);
}
