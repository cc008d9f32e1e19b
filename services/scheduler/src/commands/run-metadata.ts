// Changes the metadata of a run. The scheduler answers after the commit.

import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import { runNotFound } from "@pawl/platform/wire/run";
import { runFinished } from "../inputs/errors.ts";
import type { MetadataInput } from "../inputs/input.ts";
import type { AdmitParts } from "./parts.ts";

/** @throws RUN_NOT_FOUND, RUN_ALREADY_FINISHED, LIMIT_EXCEEDED */
export async function updateMetadata(
  { loop }: Pick<AdmitParts, "loop">,
  { runId, patch }: { readonly runId: RunId; readonly patch: string },
): Promise<RunId> {
  const answer = await loop.ask<Parameters<MetadataInput["answer"]["resolve"]>[0]>((settle) => ({
    ...{ kind: "metadata", runId, patch },
    answer: settle,
  }));
  const metadata = { run_id: runId };
  if (answer === "no_run") throw runNotFound(runId);
  if (answer === "finished") throw runFinished(metadata);
  if (answer !== "too_large") return runId;
  const message = `The metadata of the run would have more than ${LIMITS.metadataBytes} bytes.`;
  throw new EngineError("LIMIT_EXCEEDED", message, {
    metadata: { ...metadata, limit: "metadataBytes" },
  });
}
