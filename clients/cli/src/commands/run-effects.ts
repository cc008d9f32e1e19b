// pawl run effects: what a run did to the outside world, and what is known of it.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { plainEffect } from "@pawl/client";
import { EffectState } from "@pawl/proto/pawl/v1/effect_pb";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { tableLines } from "../render/table.ts";
import { canvasOf, printJson, printLines, type Session } from "../session.ts";

const HEADS = ["NODE", "EFFECT", "STATE", "CLASS", "ATTEMPT", "BEGUN", "KEY"];

/** A page of effects. */
export async function runEffects(
  session: Session,
  runId: string,
  flags: { readonly node?: string; readonly limit?: number; readonly pageToken?: string },
): Promise<ExitCode> {
  const { client, interrupted: signal } = session;
  const { node: nodeId, limit: pageSize, pageToken } = flags;
  const page = await client.runs.effects(runId, { nodeId, pageSize, pageToken, signal });
  const { effects, nextPageToken } = page;
  if (session.format === "json") {
    printJson(session, { runId, effects: effects.map(plainEffect), nextPageToken });
    return EXIT.ok;
  }
  if (effects.length === 0) {
    printLines(session, ["No effects."]);
    return EXIT.ok;
  }
  const rows = effects.map((effect) => [
    { text: effect.iteration === 0 ? effect.nodeId : `${effect.nodeId}[${effect.iteration}]` },
    { text: effect.name },
    { text: effect.state === EffectState.COMMITTED ? "committed" : "begun, result unknown" },
    { text: effect.effectClass },
    { text: String(effect.attempt) },
    { text: effect.beginTime === undefined ? "" : timestampDate(effect.beginTime).toISOString() },
    { text: effect.key },
  ]);
  printLines(session, tableLines(HEADS, rows, canvasOf(session)));
  if (nextPageToken !== "")
    printLines(session, [
      `More: ${session.self} run effects ${runId} --page-token ${nextPageToken}`,
    ]);
  return EXIT.ok;
}
