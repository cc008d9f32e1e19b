// One turn of a thread: its run, and the text of its models. A completed run has its output instead; a stopped run only has this text.

import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import { isFinal } from "@pawl/core/log/event";
import { runStatusName } from "@pawl/client";
import { useEffect, useState } from "react";
import { reads, writes } from "../api/gateway.ts";
import { type Polled, usePoll } from "../api/poll.ts";
import { addPiece, type Draft, draftText, EMPTY_DRAFT, type Piece } from "./words.ts";

const EVERY_MS = 2_000;

/** The run with its input and its output. It is read again at its end. */
export function useTurn({ runId, status }: Run): { polled: Polled<Run>; draft: string } {
  const name = runStatusName(status);
  const isCompleted = name === "completed";
  const polled = usePoll(`turn ${runId}`, isFinal(name) ? 0 : EVERY_MS, async (signal) => {
    const { run } = await reads.runs.get(runId, { signal });
    return run;
  });
  const [draft, setDraft] = useState<Draft>(EMPTY_DRAFT);
  useEffect(() => {
    if (isCompleted) return undefined;
    setDraft(EMPTY_DRAFT);
    const stop = new AbortController();
    // A fault here leaves out text that is only a draft: the run's own status and error are shown anyway.
    void readPieces(runId, stop.signal, (piece) => setDraft((old) => addPiece(old, piece))).catch(
      () => {},
    );
    return () => stop.abort();
  }, [runId, isCompleted]);
  return { polled, draft: draftText(draft) };
}

async function readPieces(
  runId: string,
  signal: AbortSignal,
  onPiece: (piece: Piece) => void,
): Promise<void> {
  const options = { modes: ["messages"], signal, giveUpMs: Number.POSITIVE_INFINITY } as const;
  for await (const { mode, data } of writes.stream(runId, options)) {
    // The gateway makes items of this mode with these members.
    if (mode === "messages") onPiece(data as unknown as Piece);
  }
}
