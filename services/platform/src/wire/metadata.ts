// The metadata of a run, as callers send them.

import type { Value } from "@bufbuild/protobuf/wkt";
import { LIMITS } from "@pawl/core/data/limits";
import { isRecord } from "@pawl/core/data/path";
import { exceedsUtf8 } from "@pawl/core/data/utf8";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type { UpdateRunMetadataRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import { jsonOf, requestIdOf, runIdOf, valueOf } from "./fields.ts";

interface Given {
  readonly metadataJson: Uint8Array;
  readonly metadata?: Value | undefined;
}

/** The text of a JSON object. Undefined if there is none. @throws INPUT_INVALID, LIMIT_EXCEEDED */
export function metadataOf({ metadataJson, metadata }: Given): string | undefined {
  if (metadataJson.length === 0 && metadata === undefined) return undefined;
  const text =
    metadataJson.length > 0 || metadata === undefined
      ? jsonOf("metadata_json", metadataJson)
      : valueOf("metadata", metadata);
  if (exceedsUtf8(text, LIMITS.metadataBytes)) throw tooMany("metadataBytes", "bytes");
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw invalidField("metadata", "NOT_AN_OBJECT", "is not a JSON object");
  const keys = { count: 0 };
  checkValue(value, 1, keys);
  return text;
}

function checkValue(value: unknown, depth: number, keys: { count: number }): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > LIMITS.metadataDepth) throw tooMany("metadataDepth", "levels");
  for (const inner of Object.values(value)) {
    keys.count += 1;
    if (keys.count > LIMITS.metadataKeys) throw tooMany("metadataKeys", "keys and items");
    checkValue(inner, depth + 1, keys);
  }
}

const tooMany = (limit: "metadataBytes" | "metadataDepth" | "metadataKeys", what: string) =>
  new EngineError("LIMIT_EXCEEDED", `metadata: at most ${LIMITS[limit]} ${what}`, {
    metadata: { field: "metadata", limit },
  });

/** @throws INPUT_INVALID, LIMIT_EXCEEDED */
export function parseMetadata(request: UpdateRunMetadataRequest) {
  requestIdOf(request.requestId);
  const runId = runIdOf(request.runId);
  const patch = metadataOf(request);
  if (patch === undefined) throw invalidField("metadata", "REQUIRED", "is missing");
  return { runId, patch };
}
