// Whether the host takes a Hello. A fault of the message refuses the session; a fault of one handler refuses that handler only, so the
// others of the process still serve.

import { LIMITS } from "@pawl/core/data/limits";
import { isBuiltIn } from "@pawl/core/definition/node-types";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { isUuid } from "@pawl/core/name/ids";
import { isTypeName, TYPE_RULE } from "@pawl/core/name/type-name";
import {
  HandlerService,
  type Handler,
  type Hello,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { SLOTS_MAX } from "./limits.ts";

/** The version of the protocol that this host speaks. */
const PROTOCOL = 1;
const HANDLERS_MAX = 64;
const TEXT_LENGTH_MAX = 200;
const DESCRIPTION_LENGTH_MAX = 4_000;
const STALL_MS_MAX = 86_400_000n;

/** A node type that is not served, and why. */
export interface RefusedType {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** @throws INPUT_INVALID, PROTOCOL_UNSUPPORTED */
export function checkHello(hello: Hello): void {
  if (hello.protocol !== PROTOCOL)
    throw new EngineError(
      "PROTOCOL_UNSUPPORTED",
      `This host speaks version ${PROTOCOL} of the handler protocol, not ${hello.protocol}. Use an SDK of that version.`,
      { metadata: { supported: String(PROTOCOL), service: HandlerService.typeName } },
    );
  if (!isUuid(hello.sessionId))
    throw invalidField("hello.session_id", "BAD_ID", "must be a UUID in lower case");
  for (const field of ["name", "build", "sdk", "language"] as const)
    if (hello[field].length > TEXT_LENGTH_MAX)
      throw invalidField(`hello.${field}`, "TOO_LONG", `at most ${TEXT_LENGTH_MAX} characters`);
  checkSlots("hello.slots", hello.slots);
  const { handlers } = hello;
  if (handlers.length === 0 || handlers.length > HANDLERS_MAX)
    throw invalidField("hello.handlers", "OUT_OF_RANGE", `must have 1 to ${HANDLERS_MAX} handlers`);
  const types = new Set<string>();
  for (const [at, { type, stallMs }] of handlers.entries()) {
    const field = `hello.handlers[${at}]`;
    if (types.has(type))
      throw invalidField(`${field}.type`, "DUPLICATE", `another handler serves ${type} already`);
    if (stallMs > STALL_MS_MAX)
      throw invalidField(`${field}.stall_ms`, "OUT_OF_RANGE", "must be at most a day");
    types.add(type);
  }
}

/** @throws INPUT_INVALID */
export function checkSlots(field: string, slots: number): void {
  if (slots < 1 || slots > SLOTS_MAX)
    throw invalidField(field, "OUT_OF_RANGE", `must be 1 to ${SLOTS_MAX}`);
}

/** Why the host does not serve a handler; undefined if it does. */
export function refusalOf(handler: Handler): RefusedType | undefined {
  const { type, description } = handler;
  const because = (reason: string, message: string): RefusedType => ({ type, reason, message });
  if (!isTypeName(type)) return because("TYPE_INVALID", `a node type is ${TYPE_RULE}`);
  if (isBuiltIn(type))
    return because("TYPE_RESERVED", `${type} is built in; give the handler a name of your own`);
  if (description.length > DESCRIPTION_LENGTH_MAX)
    return because("SCHEMA_INVALID", `description: at most ${DESCRIPTION_LENGTH_MAX} characters`);
  for (const field of ["inputSchema", "outputSchema", "configSchema"] as const) {
    const fault = schemaFault(handler[field]);
    if (fault !== undefined) return because("SCHEMA_INVALID", `${SCHEMA_NAMES[field]}: ${fault}`);
  }
  return undefined;
}

const SCHEMA_NAMES = {
  inputSchema: "input_schema",
  outputSchema: "output_schema",
  configSchema: "config_schema",
} as const;

/** The scheduler reads the schema itself; the host only refuses a text that is none. */
function schemaFault(text: string): string | undefined {
  if (text === "") return undefined;
  if (Buffer.byteLength(text) > LIMITS.contractBytes)
    return `at most ${LIMITS.contractBytes} bytes`;
  try {
    const value: unknown = JSON.parse(text);
    const isSchema = typeof value === "boolean" || (typeof value === "object" && value !== null);
    return isSchema && !Array.isArray(value) ? undefined : "must be a JSON Schema: an object";
  } catch {
    return "must be JSON";
  }
}
