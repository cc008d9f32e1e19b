// Decides which node types of an executor the scheduler accepts, and writes their entries of the catalogue. A register that changes nothing
// costs one read.
//
// Several builds of one type may be connected. ADR 58 has the rule: the scheduler accepts another build if it may follow the build in the
// catalogue, or if no other connected executor serves the type. It also accepts a build that the catalogue's build has followed, and
// changes nothing. The process of such a build lost its connection during the rollout of a newer one.
//
// Races. Another scheduler saves the same type: the store refuses the older revision, and this scheduler reads and judges the types again.
// Two builds that do not fit register in the same instant: both may be accepted. The catalogue then has the later one, each handler still
// checks its own values, and the next register finds the conflict.

import { createHash } from "node:crypto";
import { checkJson, VALUE_LIMITS } from "@pawl/core/data/json";
import { LIMITS } from "@pawl/core/data/limits";
import { publishedFault } from "@pawl/core/definition/contract-rules";
import { schemasIn } from "@pawl/core/definition/known-types";
import { invalidField } from "@pawl/core/fault/engine-error";
import { type ExecutorId, executorId } from "@pawl/core/name/ids";
import { succession } from "@pawl/core/schema/succession";
import type { Executors } from "@pawl/platform/store/leases/leases";
import type {
  NewNodeType,
  NodeTypeRecord,
  NodeTypes,
  PublishedType,
} from "@pawl/platform/store/node-types/node-types";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { NodeTypeDescriptor, Register } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { BuiltIns } from "./check-register.ts";
import { cleanText } from "./wire-text.ts";

/** How often another scheduler may be faster. After that the last judgement counts. */
const TRIES = 3;
/** The most builds of one type that may be connected at once. */
const EARLIER_MAX = 32;

interface AdmitParts {
  readonly nodeTypes: NodeTypes;
  readonly executors: Executors;
  readonly builtIns: BuiltIns;
  readonly log: Logger;
}

export interface Refused {
  readonly type: string;
  readonly reason: "TYPE_CONFLICT" | "SCHEMA_INVALID";
  readonly message: string;
}

interface Admission {
  /** The node types that the executor serves. */
  readonly nodeTypes: readonly string[];
  readonly refused: readonly Refused[];
}

/** @throws INPUT_INVALID for descriptors that name no type of the executor, STORE_UNAVAILABLE */
export async function admitTypes(parts: AdmitParts, hello: Register): Promise<Admission> {
  checkDescriptors(hello);
  const { types: builtIn } = parts.builtIns;
  const own = [...new Set(hello.nodeTypes)].filter((type) => !builtIn.has(type));
  const published = new Map(
    hello.descriptors.flatMap((each) => (builtIn.has(each.type) ? [] : [[each.type, each]])),
  );
  const invalid = [...published.values()].flatMap((each) => invalidSchema(each) ?? []);
  const refused = new Map(invalid.map((each) => [each.type, each]));
  const open = new Set(own.filter((type) => !refused.has(type)));
  for (let tries = 0; open.size > 0 && tries < TRIES; tries++) {
    const known = new Map(
      (await parts.nodeTypes.find([...open])).map((entry) => [entry.nodeType, entry]),
    );
    const changes = [...open].flatMap((type) => changeOf(type, published.get(type), known) ?? []);
    const judged = await judge(parts, executorId(hello.executorId), changes);
    for (const each of judged.refused) refused.set(each.type, each);
    const saved = await parts.nodeTypes.save(judged.entries);
    open.clear();
    for (const { nodeType } of judged.entries) if (!saved.has(nodeType)) open.add(nodeType);
  }
  for (const each of refused.values())
    parts.log.warn({ executor_id: hello.executorId, ...each }, "refused a node type");
  const nodeTypes = hello.nodeTypes.filter((type) => !refused.has(type));
  return { nodeTypes, refused: [...refused.values()] };
}

function checkDescriptors({ descriptors, nodeTypes }: Register): void {
  if (descriptors.length > LIMITS.descriptors)
    throw invalidField(
      "register.descriptors",
      "OUT_OF_RANGE",
      `at most ${LIMITS.descriptors} types of a session have schemas`,
    );
  const types = new Set(nodeTypes);
  descriptors.forEach(({ type }, index) => {
    // A second entry of one type does not find its name any more.
    if (types.delete(type)) return;
    const path = `register.descriptors[${index}].type`;
    throw invalidField(path, "BAD_ID", "must be one of node_types, each at most once");
  });
}

/** Why the schemas of a type cannot be published. Undefined if they can. */
function invalidSchema(given: NodeTypeDescriptor): Refused | undefined {
  for (const key of ["inputSchema", "outputSchema", "configSchema"] as const) {
    const fault = given[key] === "" ? undefined : faultOf(given[key]);
    if (fault === undefined) continue;
    const field = key.replace("Schema", "_schema");
    const message = `${field} of ${given.type}: ${fault}. Publish a JSON Schema 2020-12 of at most ${LIMITS.contractBytes} bytes.`;
    return { type: given.type, reason: "SCHEMA_INVALID", message };
  }
  return undefined;
}

function faultOf(text: string): string | undefined {
  const checked = checkJson(text, { ...VALUE_LIMITS, bytes: LIMITS.contractBytes });
  return checked.ok ? publishedFault(checked.value) : checked.message;
}

interface Change {
  readonly given: PublishedType;
  readonly known: NodeTypeRecord | undefined;
}

/** The change that an executor brings to the catalogue. Undefined if there is none. A type without schemas adds only its name. */
function changeOf(
  nodeType: string,
  descriptor: NodeTypeDescriptor | undefined,
  entries: ReadonlyMap<string, NodeTypeRecord>,
): Change | undefined {
  const known = entries.get(nodeType);
  if (descriptor === undefined && known !== undefined) return undefined;
  const {
    description = "",
    inputSchema = "",
    outputSchema = "",
    configSchema = "",
    external = false,
  } = descriptor ?? {};
  const schemas = { inputSchema, outputSchema, configSchema };
  const given = { nodeType, description: cleanText(description), ...schemas, external };
  const isSame =
    known !== undefined &&
    (["description", "inputSchema", "outputSchema", "configSchema", "external"] as const).every(
      (key) => known[key] === given[key],
    );
  return isSame ? undefined : { given, known };
}

/** Judges all changes. It looks for other executors only if a type is known already. */
async function judge(
  { executors }: AdmitParts,
  self: ExecutorId,
  changes: readonly Change[],
): Promise<{ readonly entries: readonly NewNodeType[]; readonly refused: readonly Refused[] }> {
  const met = changes.flatMap(({ given, known }) => (known === undefined ? [] : [given.nodeType]));
  const served = met.length === 0 ? new Set() : await executors.servedByOthers(self, met);
  const entries: NewNodeType[] = [];
  const refused: Refused[] = [];
  for (const { given, known } of changes) {
    const isServed = known !== undefined && served.has(given.nodeType);
    if (!isServed) entries.push({ ...given, earlier: "", revision: (known?.revision ?? 0) + 1 });
    else if (!known.earlier.includes(digestOf(given))) {
      const step = succession(schemasIn(known), schemasIn(given));
      if (step.follows) entries.push(follower(known, given));
      else refused.push(conflict(given.nodeType, step.difference));
    }
  }
  return { entries, refused };
}

/** The entry of a build that replaces the known build. */
const follower = (known: NodeTypeRecord, given: PublishedType): NewNodeType => ({
  ...given,
  earlier: [...known.earlier.split(" "), digestOf(known)].slice(-EARLIER_MAX).join(" ").trim(),
  revision: known.revision + 1,
});

/** The digest of the schemas of a build. */
const digestOf = ({ inputSchema, outputSchema, configSchema }: PublishedType): string =>
  createHash("sha256")
    .update(JSON.stringify([inputSchema, outputSchema, configSchema]))
    .digest("hex");

function conflict(type: string, difference: string): Refused {
  const next = nextVersion(type);
  const message = `Another connected executor serves ${type} with other schemas: ${difference}. Name this type ${next}, or stop the other executors and start this one again.`;
  return { type, reason: "TYPE_CONFLICT", message };
}

function nextVersion(type: string): string {
  const [name = type, version = "1"] = type.split("@");
  return `${name}@${Number(version) + 1}`;
}
