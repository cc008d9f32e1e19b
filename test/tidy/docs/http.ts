// The list of RPCs in docs/reference/http.md, from the contracts.
import { readProto, withoutName, type Declaration, type Member } from "./protos.ts";
import { code, table } from "./table.ts";

const SERVICES = [
  "workflow",
  "run",
  "event",
  "approval",
  "schedule",
  "queue",
  "node_type",
  "archive",
];

/** One section for every service: its methods, then the fields of their requests. */
export function rpcSections(): string {
  return SERVICES.flatMap((name) => {
    const declarations = readProto(`pawl/v1/${name}_service.proto`);
    const services = declarations.filter(({ kind }) => kind === "service");
    return services.map((service) => sectionOf(service, declarations));
  }).join("\n\n");
}

function sectionOf(service: Declaration, all: readonly Declaration[]): string {
  const methods = service.members.map((method) => {
    const request = all.find(({ name }) => name === method.type.replace(STREAM, ""));
    return [
      `#### ${method.name}`,
      `${code(`POST /pawl.v1.${service.name}/${method.name}`)}${kindOf(method)}`,
      withoutName(method),
      fieldTable(request?.members ?? []),
    ].join("\n\n");
  });
  return [`### ${service.name}`, withoutName(service), ...methods].join("\n\n");
}

const STREAM = /^stream /;

function kindOf({ type, answer }: Member): string {
  if (STREAM.test(type)) return ", a stream of messages in both directions";
  return STREAM.test(answer) ? ", answered by a stream of messages" : "";
}

function fieldTable(members: readonly Member[]): string {
  if (members.length === 0) return "The request has no fields.";
  const rows = members.map(({ name, type, comment }) => [
    code(jsonName(name)),
    code(type),
    comment,
  ]);
  return table(["field", "type", "meaning"], rows);
}

/** Connect and SSE write JSON, in which the fields of protobuf are in lowerCamelCase. */
const jsonName = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
