// Values that are too large for the log. A run shows a reference in the place of each.

import type { Client } from "@connectrpc/connect";
import type { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import type { Caller, PawlCallOptions } from "./caller.ts";
import type { Json } from "./json.ts";

export interface StoredValues {
  /** The JSON text of a stored value, by the digest in its reference. @throws PawlError VALUE_NOT_FOUND, VALUE_CORRUPT */
  valueText(runId: string, sha256: string, options?: PawlCallOptions): Promise<string>;
  /** A value of the run, such as its output, with every stored value in the place of its reference. @throws PawlError VALUE_NOT_FOUND */
  whole(runId: string, value: Json, options?: PawlCallOptions): Promise<Json>;
}

export function createStoredValues(rpc: Client<typeof RunService>, call: Caller): StoredValues {
  const valueText: StoredValues["valueText"] = async (runId, sha256, options) => {
    const decoder = new TextDecoder();
    let text = "";
    let bytes = 0;
    for (let part = 0; ; part += 1) {
      const { data, totalBytes } = await call(rpc.getValue, { ...options, runId, sha256, part });
      bytes += data.length;
      const isLast = bytes >= Number(totalBytes);
      text += decoder.decode(data, { stream: !isLast });
      if (isLast) return text;
    }
  };
  const whole: StoredValues["whole"] = async (runId, value, options) => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const made: Json[] = [];
      for (const each of value) made.push(await whole(runId, each, options));
      return made;
    }
    const sha256 = digestOf(value);
    // The store has JSON texts only.
    if (sha256 !== undefined) return JSON.parse(await valueText(runId, sha256, options)) as Json;
    const made: [string, Json][] = [];
    for (const [key, each] of Object.entries(value))
      made.push([key, await whole(runId, each, options)]);
    return Object.fromEntries(made);
  };
  return { valueText, whole };
}

/** The digest in a reference, or undefined for any other value. Users cannot write this key. */
function digestOf(value: object): string | undefined {
  if (!(REFERENCE_KEY in value)) return undefined;
  const named = value[REFERENCE_KEY];
  const isNamed = typeof named === "object" && named !== null && "sha256" in named;
  return isNamed && typeof named.sha256 === "string" ? named.sha256 : undefined;
}

const REFERENCE_KEY = "$pawl.value";
