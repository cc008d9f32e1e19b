// pawl run metadata: changes what a run is found by.

import { plainRun } from "@pawl/client";
import { readJsonFlag } from "../run-input.ts";
import { print, type Session, UsageError } from "../session.ts";

/** `key=value` pairs as an object. A value that is JSON is that value, and any other is a text. */
export function metadataOf(
  pairs: readonly string[] | undefined,
): Record<string, never> | undefined {
  if (pairs === undefined) return undefined;
  const entries = pairs.map((pair) => {
    const at = pair.indexOf("=");
    if (at < 1) throw new UsageError(`${pair}: write metadata as key=value`);
    return [pair.slice(0, at), valueOf(pair.slice(at + 1))] as const;
  });
  // The values are JSON.
  return Object.fromEntries(entries) as Record<string, never>;
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Merges a change into the metadata of a run, and shows the result. */
export async function runMetadata(session: Session, runId: string, change: string): Promise<void> {
  const { client, interrupted: signal } = session;
  const text = await readJsonFlag(session, "change", change);
  const run = await client.runs.updateMetadata(runId, JSON.parse(text) as never, { signal });
  const plain = plainRun(run);
  print(session, plain, () => [JSON.stringify(plain["metadata"] ?? {})]);
}
