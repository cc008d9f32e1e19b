// The list of events in docs/reference/events.md: names and fields from the contract, which events end a log from core.
import { isStreamedType, isTerminalType } from "@pawl/core/log/event";
import { rowOf } from "@pawl/core/log/event-table";
import { readProto, withoutName, type Declaration } from "./protos.ts";
import { code, table } from "./table.ts";

const declarations = readProto("pawl/v1/event.proto");
const named = (name: string): Declaration | undefined =>
  declarations.find((declaration) => declaration.name === name);

/** The facts of the contract: the dotted name of each, which the comment of its field holds, and its message. */
export function facts(): readonly { readonly type: string; readonly message: string }[] {
  const members = named("RunEvent")?.members ?? [];
  return members
    .filter(({ type, comment }) => named(type) !== undefined && /^[a-z_.]+$/.test(comment))
    .map(({ type, comment }) => ({ type: comment, message: type }));
}

/** One row for every event. */
export function eventTable(): string {
  const rows = facts().map(({ type, message }) => {
    const declaration = named(message);
    const words = declaration === undefined ? "" : withoutName(declaration);
    return [`[${code(type)}](#${type.replaceAll(".", "")})`, kindOf(type), statusOf(type), words];
  });
  return table(["event", "kind", "status after it", "meaning"], rows);
}

/** The status that an event gives its run or its node. */
function statusOf(type: string): string {
  const row = rowOf(type);
  if (row?.runOf !== undefined) return "as its payload says";
  const status = row?.run ?? row?.node;
  if (status === undefined) return "";
  return `${row?.run === undefined ? "node" : "run"} ${code(status)}`;
}

function kindOf(type: string): string {
  if (isTerminalType(type)) return "ends the log";
  if (isStreamedType(type)) return "partial output";
  if (type === "heartbeat") return "not in the log";
  return type.startsWith("run.") ? "run" : "node";
}

/** One section for every event: the fields it carries. */
export function eventSections(): string {
  return facts()
    .map(({ type, message }) => {
      const fields = fieldTable(named(message)?.members ?? []);
      return `### ${code(type)}\n\n${fields === "" ? "It carries no fields of its own." : fields}`;
    })
    .join("\n\n");
}

/** The fields that every event has. */
export function envelopeTable(): string {
  const isFact = new Set(facts().map(({ message }) => message));
  const members = (named("RunEvent")?.members ?? []).filter(({ type }) => !isFact.has(type));
  return fieldTable(members);
}

function fieldTable(members: Declaration["members"]): string {
  if (members.length === 0) return "";
  const rows = members.map(({ name, type, comment }) => [code(name), code(type), comment]);
  return table(["field", "type", "meaning"], rows);
}
