// Starts, continues and stops bulks. The runs of a bulk are stored in the transaction that stores the bulk, so a run that starts later never
// joins it. The sweep of bulks (duties/bulks.ts) acts on the runs.
//
// Race: two sends of one request. The request id is unique in the store, so the second gets the bulk of the first. A step begins runs while
// a person stops the bulk: the stop waits for that statement, and no later step begins another run.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { BulkState } from "@pawl/core/bulk/bulk";
import type { Queryable } from "@pawl/platform/db/query";
import type { BulkKey, BulkRecord, Bulks } from "@pawl/platform/store/bulks/bulks";
import { getBulk } from "@pawl/platform/store/bulks/reads";
import { readKnownTypes } from "@pawl/platform/store/node-types/reads";
import { bulkNotFound, type parseStartBulk, toWireBulkPreview } from "@pawl/platform/wire/bulk";
import type { runFilterOf } from "@pawl/platform/wire/filter";
import { requestReused } from "../inputs/errors.ts";
import { uuidV7 } from "../run-id.ts";
import { readDefinition } from "./definition.ts";
import { sha256 } from "./digest.ts";
import type { AdmitParts } from "./parts.ts";

export interface BulkParts extends Pick<AdmitParts, "now" | "egress"> {
  readonly bulks: Bulks;
  /** A bulk needs a step. */
  readonly onBulk: () => void;
}

type Asked = ReturnType<typeof parseStartBulk>;
type Filter = ReturnType<typeof runFilterOf>;

interface Started {
  readonly bulk?: BulkRecord;
  readonly preview?: ReturnType<typeof toWireBulkPreview>;
  readonly duplicate: boolean;
}

/** @throws DEFINITION_INVALID, CYCLE_DETECTED, LIMIT_EXCEEDED, REQUEST_ID_REUSED, STORE_UNAVAILABLE */
export async function startBulk(
  parts: BulkParts,
  db: Queryable,
  tenantId: string,
  { dryRun, requestId, definition = "", ...asked }: Asked & { readonly filter: Filter },
): Promise<Started> {
  const { bulks, now, egress } = parts;
  const { action, options, filter } = asked;
  // A definition that no run could take is refused now, and not once for each run.
  if (definition !== "") {
    const types = await readKnownTypes(db, definition);
    readDefinition(definition, { tenantId, now: now(), types, egress });
  }
  if (dryRun) {
    const found = await bulks.preview(tenantId, filter.typed);
    return { preview: toWireBulkPreview(action, found), duplicate: false };
  }
  const started = await bulks.start({
    ...{ bulkId: uuidV7(now()), tenantId, requestId, action, filter, options },
    requestHash: sha256("bulk", action, filter.text, JSON.stringify(options), definition),
    definition: definition === "" ? null : definition,
  });
  if (started.kind === "request_reused") throw requestReused({ request_id: requestId ?? "" });
  parts.onBulk();
  return { bulk: started.bulk, duplicate: started.kind === "repeated" };
}

/** @throws BULK_NOT_FOUND, BULK_NOT_WAITING, STORE_UNAVAILABLE */
export async function continueBulk(
  parts: BulkParts,
  db: Queryable,
  key: BulkKey,
): Promise<BulkRecord> {
  const { bulkId } = key;
  const moved = { bulkId, from: "waiting", to: "running", reason: "" } as const;
  if (await parts.bulks.move(moved)) parts.onBulk();
  const bulk = await find(db, key);
  if (bulk.state === "running" || bulk.state === "completed") return bulk;
  throw new EngineError("BULK_NOT_WAITING", `Bulk ${bulkId} is ${bulk.state}; it does not wait.`, {
    metadata: { bulk_id: bulkId, state: bulk.state },
  });
}

const STOPPABLE: ReadonlySet<BulkState> = new Set(["canary", "waiting", "running"]);

/** Stops a bulk. One that has ended stays as it is. @throws BULK_NOT_FOUND, STORE_UNAVAILABLE */
export async function stopBulk(
  { bulks, onBulk }: BulkParts,
  db: Queryable,
  key: BulkKey,
  reason: string,
): Promise<BulkRecord> {
  const { bulkId } = key;
  for (;;) {
    const bulk = await find(db, key);
    if (!STOPPABLE.has(bulk.state)) return bulk;
    // A step may have moved it meanwhile; each bulk moves forward a few times only.
    if (await bulks.move({ bulkId, from: bulk.state, to: "stopped", reason })) onBulk();
  }
}

async function find(db: Queryable, key: BulkKey): Promise<BulkRecord> {
  const bulk = await getBulk(db, key);
  if (bulk === undefined) throw bulkNotFound(key.bulkId);
  return bulk;
}
