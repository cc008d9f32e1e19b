// Large values of an attempt. Before the handler runs, the values that its context names take the place of their references. After it, what
// is too large for the log is stored, and references take its place. So a handler sees plain values only. An attempt without large values
// waits for nothing here.
//
// Race: the executor dies between storing a value and its outcome. The next attempt stores what it gives, and a sweep of the scheduler removes
// what no event names. A claim is lost meanwhile: the scheduler refuses to store for it.

import { create } from "@bufbuild/protobuf";
import { STORED_LIMITS, faultOf } from "@pawl/core/data/json";
import { LIMITS } from "@pawl/core/data/limits";
import {
  extractLarge,
  hasReference,
  type Reference,
  referencesIn,
  resolvedBytes,
  withValues,
} from "@pawl/core/data/reference";
import { exceedsUtf8 } from "@pawl/core/data/utf8";
import { EngineError } from "@pawl/core/fault/engine-error";
import { referenceOf } from "@pawl/platform/values/value-store";
import {
  type Action,
  type Claim,
  type Completed,
  CompletedSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { failed, type WireResult } from "./outcome.ts";
import { smallTurn } from "./small-turn.ts";

/** The scheduler's store of values, for one claim at a time. Both calls try again until the signal is aborted. */
export interface ValueDoor {
  /** The JSON text of a stored value. @throws STALE_CLAIM, VALUE_NOT_FOUND, VALUE_CORRUPT */
  read(claim: Claim, reference: Reference, signal: AbortSignal): Promise<string>;
  /** Stores a JSON text. @throws STALE_CLAIM, VALUE_CORRUPT */
  write(
    claim: Claim,
    value: { readonly reference: Reference; readonly json: string },
    signal: AbortSignal,
  ): Promise<void>;
}

export interface StoredValues {
  readonly door: ValueDoor;
  /** A JSON text with more bytes is stored outside of the log. */
  readonly inlineBytes: number;
}

interface At {
  readonly claim: Claim | undefined;
  readonly signal: AbortSignal;
}

/** Readers of these outputs need the members: a memory key each, or the text of an answer. */
const NEEDS_MEMBERS: ReadonlySet<string> = new Set(["remember", "llm", "agent", "supervisor"]);

/** The texts with every value in its place, or the failure of an attempt that cannot read them. */
export async function resolved<Name extends string>(
  values: StoredValues | undefined,
  { claim, signal }: At,
  texts: Readonly<Record<Name, string>>,
): Promise<Readonly<Record<Name, string>> | WireResult> {
  const names = Object.keys(texts) as Name[];
  const bytes = names.reduce((sum, name) => sum + resolvedBytes(texts[name]), 0);
  if (bytes > LIMITS.resolvedBytes)
    return failed(
      "context_too_large",
      `the node reads ${bytes} bytes with the stored values; at most ${LIMITS.resolvedBytes}. Let it read fewer values, for example with read_keys.`,
      { permanent: true },
    );
  if (values === undefined || claim === undefined)
    return failed("value_missing", "this executor has no value store", { permanent: true });
  const found = new Map<string, string>();
  try {
    for (const reference of referencesIn(names.map((name) => texts[name]).join(","))) {
      const json = await values.door.read(claim, reference, signal);
      if (referenceOf(json).sha256 !== reference.sha256 || faultOf(json, STORED_LIMITS))
        return failed("value_corrupt", `the value ${reference.sha256} is not what was stored`, {
          permanent: true,
        });
      found.set(reference.sha256, json);
    }
  } catch (error) {
    return failureOf(error);
  }
  const made = names.map((name) => [name, withValues(texts[name], found)]);
  // The result has the names of the texts.
  return Object.fromEntries(made) as Record<Name, string>;
}

/** Whether any of these texts names a stored value. */
export const namesValues = (...texts: readonly string[]): boolean => texts.some(hasReference);

/** The result with references in the place of large values, once these are stored. A small result comes back as it is, at once. */
export function stored(
  values: StoredValues | undefined,
  at: At & { readonly nodeType: string },
  result: WireResult,
): WireResult | Promise<WireResult> {
  const taken: Taken[] = [];
  const take = (json: string): Reference => {
    const reference = referenceOf(json);
    taken.push({ reference, json });
    return reference;
  };
  const inlineBytes = values?.inlineBytes ?? LIMITS.valueBytes;
  const mayStore = values !== undefined && at.claim !== undefined;
  // The first step of an agent expands into its opening.
  const isTurn = at.nodeType === "agent" && result.case !== "expanded";
  let excess = 0;
  const made = mapTexts(result, (json, mayBeWhole) => {
    // Most texts are small, and their length alone shows it.
    if (!exceedsUtf8(json, inlineBytes)) return json;
    const isWhole = mayBeWhole && !NEEDS_MEMBERS.has(at.nodeType);
    const small = !mayStore
      ? json
      : isTurn
        ? smallTurn(json, { inlineBytes, take })
        : extractLarge(json, { inlineBytes, mayBeWhole: isWhole, take });
    if (exceedsUtf8(small, LIMITS.valueBytes)) excess = Buffer.byteLength(json);
    return small;
  });
  if (excess > 0) return tooLarge(excess);
  return taken.length === 0 || values === undefined ? made : writeAll(values.door, at, taken, made);
}

interface Taken {
  readonly reference: Reference;
  readonly json: string;
}

async function writeAll(
  door: ValueDoor,
  { claim, signal }: At,
  taken: readonly Taken[],
  made: WireResult,
): Promise<WireResult> {
  try {
    if (claim !== undefined) for (const value of taken) await door.write(claim, value, signal);
    return made;
  } catch (error) {
    return failureOf(error);
  }
}

const tooLarge = (bytes: number): WireResult =>
  failed(
    "output_too_large",
    `${bytes} bytes do not fit into the log, which takes ${LIMITS.valueBytes}, and too few parts of them are large enough to be stored outside. Let the node give less.`,
    { permanent: true },
  );

function failureOf(error: unknown): WireResult {
  const message = error instanceof Error ? error.message : String(error);
  const reason = error instanceof EngineError ? error.reason : undefined;
  if (reason === "VALUE_NOT_FOUND") return failed("value_missing", message, { permanent: true });
  if (reason === "VALUE_CORRUPT") return failed("value_corrupt", message, { permanent: true });
  if (reason === "LIMIT_EXCEEDED") return failed("output_too_large", message, { permanent: true });
  // The attempt was aborted or has lost its claim, so the scheduler drops the outcome.
  if (reason === "STALE_CLAIM" || reason === "CALLER_CANCELLED")
    return failed("cancelled", message);
  return failed("provider_error", message);
}

type MapText = (json: string, mayBeWhole: boolean) => string;

/** The result with every text of the user's JSON mapped. */
function mapTexts(result: WireResult, map: MapText): WireResult {
  if (result.case === "completed") {
    const { outputJson, actions = [] } = result.value;
    if (actions.length === 0 && (outputJson?.length ?? 0) <= INLINE_BYTES_MIN) return result;
    return { case: "completed", value: mapCompleted(result.value, map) };
  }
  if (result.case === "held") {
    const { completed } = result.value;
    if (completed === undefined) return result;
    return { case: "held", value: { ...result.value, completed: mapCompleted(completed, map) } };
  }
  if (result.case === "expanded") {
    // The scheduler splits the list into items.
    const itemsJson = mapBytes(result.value.itemsJson, map, false);
    return { case: "expanded", value: { ...result.value, itemsJson } };
  }
  if (result.case !== "childRun") return result;
  const inputJson = mapBytes(result.value.inputJson, map, true);
  return { case: "childRun", value: { ...result.value, inputJson } };
}

type CompletedInit = Extract<WireResult, { case: "completed" }>["value"];

function mapCompleted(completed: CompletedInit, map: MapText): Completed {
  const made = create(CompletedSchema, completed);
  made.outputJson = mapBytes(made.outputJson, map, true);
  for (const { action } of made.actions) mapAction(action, map);
  return made;
}

function mapAction({ case: name, value }: Action["action"], map: MapText): void {
  // Each member is a key of the memory.
  if (name === "updateMemory") value.valuesJson = map(value.valuesJson, false);
  if (name === "handoff") value.inputJson = map(value.inputJson, true);
  if (name === "setStatus") value.outputJson = map(value.outputJson, true);
}

function mapBytes(json: Uint8Array | undefined, map: MapText, mayBeWhole: boolean): Uint8Array {
  if (json === undefined) return new Uint8Array();
  // A text of this size is small whatever its characters.
  if (json.length <= INLINE_BYTES_MIN) return json;
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString("utf8");
  const made = map(text, mayBeWhole);
  return made === text ? json : Buffer.from(made);
}

/** The smallest threshold that can be configured. */
const INLINE_BYTES_MIN = 1024;
