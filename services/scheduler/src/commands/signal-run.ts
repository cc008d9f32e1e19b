// Sends a signal to a run. The scheduler answers after the commit: the log has the signal, and the node that waited for it has ended. A
// repeat with the same request id is found in the fold of the run, also after the run has ended.

import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { LIMITS } from "@pawl/core/data/limits";
import { unreachable } from "@pawl/core/fault/invariant";
import { nearestName } from "@pawl/core/name/nearest";
import type { RunId } from "@pawl/core/name/ids";
import type { SignalRequest } from "@pawl/platform/wire/signal";
import { runNotFound } from "@pawl/platform/wire/run";
import { requestReused, runFinished } from "../inputs/errors.ts";
import type { SignalAnswer } from "../inputs/input.ts";
import { sha256 } from "./digest.ts";
import type { AdmitParts } from "./parts.ts";

/** Long enough to tell two bodies of one request id apart. The fold keeps one for each signal. */
const DIGEST_LENGTH = 16;

interface SignalledRun {
  readonly runId: RunId;
  readonly isDuplicate: boolean;
  /** No node waits for the signal yet, so the run keeps it. */
  readonly isKept: boolean;
}

/** @throws RUN_NOT_FOUND, RUN_ALREADY_FINISHED, SIGNAL_NOT_AWAITED, TOO_MANY_SIGNALS, REQUEST_ID_REUSED, INPUT_INVALID */
export async function signalRun(
  { loop }: Pick<AdmitParts, "loop">,
  request: SignalRequest,
): Promise<SignalledRun> {
  const { runId, name, payloadJson, requestId = crypto.randomUUID() } = request;
  const digest = sha256(name, payloadJson).slice(0, DIGEST_LENGTH);
  const said = { runId, name, payloadJson, requestId, digest };
  const made = await loop.ask<SignalAnswer>((answer) => ({ kind: "signal", ...said, answer }));
  if (made.kind === "accepted") return { runId, isDuplicate: false, isKept: made.isKept };
  if (made.kind === "repeated") return { runId, isDuplicate: true, isKept: false };
  throw refusalOf(made, said);
}

type Refused = Exclude<SignalAnswer, { readonly kind: "accepted" | "repeated" }>;

function refusalOf(
  refused: Refused,
  { runId, name, requestId }: { runId: RunId; name: string; requestId: string },
): EngineError {
  const metadata = { run_id: runId, signal: name };
  switch (refused.kind) {
    case "no_run":
      return runNotFound(runId);
    case "finished":
      return runFinished({ run_id: runId });
    case "undoing":
      return new EngineError("RUN_ALREADY_FINISHED", UNDOING, { metadata });
    case "reused":
      return requestReused({ run_id: runId, request_id: requestId });
    case "misfit":
      return invalidField("payload_json", "CONTRACT_VIOLATION", refused.fault);
    case "full":
      return new EngineError("TOO_MANY_SIGNALS", fullText(refused.limit), {
        metadata: { ...metadata, limit: refused.limit },
      });
    case "not_awaited":
      return new EngineError("SIGNAL_NOT_AWAITED", unawaitedText(name, refused.names), {
        metadata,
      });
    default:
      return unreachable(refused, "answer");
  }
}

const UNDOING = "The run undoes its nodes and takes no more signals; nothing was changed.";

const FULL = {
  signals: `A run takes at most ${LIMITS.signals} signals.`,
  signalsKept: `The run keeps ${LIMITS.signalsKept} signals that no node has taken yet; it keeps no more.`,
  signalsKeptBytes: `The signals that the run keeps would have more than ${LIMITS.signalsKeptBytes} bytes.`,
} as const;

const fullText = (limit: keyof typeof FULL): string => FULL[limit];

/** At most so many names are in a message. */
const NAMED_MAX = 20;

function unawaitedText(name: string, names: readonly string[]): string {
  if (names.length === 0) return "The workflow of the run has no await_signal node.";
  const close = nearestName(name, names);
  const more = names.length > NAMED_MAX ? `, and ${names.length - NAMED_MAX} more` : "";
  const meant = close === undefined ? "" : ` Did you mean ${close}?`;
  return `No node of the run waits for signal ${name}; it waits for ${names.slice(0, NAMED_MAX).join(", ")}${more}.${meant}`;
}
