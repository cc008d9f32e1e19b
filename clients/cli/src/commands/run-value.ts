// pawl run value: prints a value of a run that is too large for its log.

import { printLines, type Session, UsageError } from "../session.ts";

/** Prints the JSON text to the letter. The name is the digest, or the reference as the run shows it. */
export async function runValue(session: Session, runId: string, name: string): Promise<void> {
  const sha256 = /[0-9a-f]{64}/.exec(name)?.[0];
  if (sha256 === undefined)
    throw new UsageError(
      'the value is named by the 64 digits of sha256 in its reference, {"$pawl.value": …}',
    );
  const { client, interrupted: signal } = session;
  printLines(session, [await client.runs.valueText(runId, sha256, { signal })]);
}
