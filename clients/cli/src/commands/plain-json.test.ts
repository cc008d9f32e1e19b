// The JSON of every command has the words of the log, and never the name of an enum as the contract spells it. A gateway answers each call
// with a message that has every enum set, so an enum that is new in the contract is in the test at once.

import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { createPawlClient, plainEvent } from "@pawl/client";
import * as approvals from "@pawl/proto/pawl/v1/approval_service_pb";
import * as archive from "@pawl/proto/pawl/v1/archive_service_pb";
import * as assistants from "@pawl/proto/pawl/v1/assistant_service_pb";
import * as bulks from "@pawl/proto/pawl/v1/bulk_service_pb";
import { RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import * as nodeTypes from "@pawl/proto/pawl/v1/node_type_service_pb";
import * as queues from "@pawl/proto/pawl/v1/queue_service_pb";
import * as runs from "@pawl/proto/pawl/v1/run_service_pb";
import * as schedules from "@pawl/proto/pawl/v1/schedule_service_pb";
import * as threads from "@pawl/proto/pawl/v1/thread_service_pb";
import * as webhooks from "@pawl/proto/pawl/v1/webhook_service_pb";
import * as workflows from "@pawl/proto/pawl/v1/workflow_service_pb";
import type { Command } from "commander";
import { afterAll, beforeAll, expect, test } from "vitest";
import { grammar, runProgram } from "../program.ts";
import type { Host } from "../session.ts";

const SERVICES = [
  approvals.ApprovalService,
  archive.ArchiveService,
  assistants.AssistantService,
  bulks.BulkService,
  nodeTypes.NodeTypeService,
  queues.QueueService,
  runs.RunService,
  schedules.ScheduleService,
  threads.ThreadService,
  webhooks.WebhookService,
  workflows.WorkflowService,
];
const ID = "019a8b3e-1111-7000-8000-00008918bc96";
/** Messages inside of messages. */
const DEPTH = 5;

const WELL_KNOWN: Readonly<Record<string, JsonValue>> = {
  "google.protobuf.Timestamp": "2026-11-18T20:00:00Z",
  "google.protobuf.Duration": "1s",
  "google.protobuf.Value": {},
  "google.protobuf.Struct": {},
};

/** JSON of a message with every field set. A oneof has its first member. There is no next page. */
function filled(schema: DescMessage, depth = DEPTH): JsonValue {
  const known = WELL_KNOWN[schema.typeName];
  if (known !== undefined) return known;
  const members = schema.fields.filter(
    (field) =>
      field.name !== "next_page_token" &&
      (field.oneof === undefined || field.oneof.fields[0] === field) &&
      (field.message === undefined || depth > 0),
  );
  return Object.fromEntries(members.map((field) => [field.jsonName, valueOf(field, depth)]));
}

function valueOf(field: DescField, depth: number): JsonValue {
  const one = oneOf(field, depth);
  if (field.fieldKind === "map") return { [field.mapKey === ScalarType.STRING ? "k" : "1"]: one };
  return field.fieldKind === "list" ? [one] : one;
}

function oneOf(field: DescField, depth: number): JsonValue {
  // The last value is the newest.
  if (field.enum !== undefined) return field.enum.values.at(-1)?.name ?? "";
  if (field.message !== undefined) return filled(field.message, depth - 1);
  if (field.scalar === ScalarType.BOOL) return true;
  if (field.scalar === ScalarType.BYTES) return Buffer.from("{}").toString("base64");
  return field.scalar === ScalarType.STRING ? ID : 1;
}

/** The names of the enums of the contract. */
function namesBelow(schema: DescMessage, seen = new Set<DescMessage>()): string[] {
  if (seen.has(schema) || schema.typeName.startsWith("google.")) return [];
  seen.add(schema);
  return schema.fields.flatMap((field) => [
    ...(field.enum?.values.map(({ name }) => name) ?? []),
    ...(field.message === undefined ? [] : namesBelow(field.message, seen)),
  ]);
}

const METHODS = SERVICES.flatMap(({ methods }) => methods).filter(
  ({ methodKind }) => methodKind === "unary",
);
const RAW = new Set(
  [RunEventSchema, ...METHODS.map(({ output }) => output)].flatMap((schema) => namesBelow(schema)),
);
const rawIn = (text: string): string[] =>
  (text.match(/\b[A-Z][A-Z0-9_]*\b/g) ?? []).filter((name) => RAW.has(name));

function answerAll(router: ConnectRouter): void {
  for (const { methods, ...service } of SERVICES) {
    const unary = methods.filter(({ methodKind }) => methodKind === "unary");
    const answers = unary.map(({ localName, output }) => [
      localName,
      () => fromJson(output, filled(output)),
    ]);
    router.service({ ...service, methods }, Object.fromEntries(answers));
  }
}

let address = "";
let close: () => void;
beforeAll(async () => {
  const server = createServer(connectNodeAdapter({ routes: answerAll }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () => void server.close();
});
afterAll(() => close());

let printed = "";
let notes = "";
const hostOf = (): Host => ({
  terminal: {
    write: (text) => void (printed += text),
    writeError: (text) => void (notes += text),
    isTty: false,
    hasColour: false,
    width: () => 100,
    height: () => 30,
  },
  version: "1.2.3",
  defaultAddress: address,
  self: "pawl",
  connect: (baseUrl) => createPawlClient({ baseUrl, attempts: 1 }),
  readText: async () => "{}",
  runTool: async () => 0,
  now: () => 0,
  interrupted: new AbortController().signal,
});

function leaves(command: Command, path: readonly string[] = []): [string, Command][] {
  const below = command.commands.filter((one) => one.name() !== "help");
  if (below.length === 0) return [[path.join(" "), command]];
  return below.flatMap((one) => leaves(one, [...path, one.name()]));
}

/** What a command needs besides ids. */
const GIVEN: Readonly<Record<string, readonly string[]>> = {
  "run start": ["w"],
  "run test": ["-f", "w.json"],
  "run diff": [ID, "--from", "1", "--to", "2"],
  "run value": [ID, "a".repeat(64)],
  "run metadata": [ID, "{}"],
  "run decide": [ID, "node", "approve"],
  "run top-up": [ID, "--tokens", "7"],
  "workflow apply": ["-f", "w.json"],
  "workflow validate": ["-f", "w.json"],
  "schedule create": [ID, "--workflow", "w", "--cron", "* * * * *"],
  "schedule preview": ["--cron", "* * * * *"],
  "webhook create": [ID, "--url", "https://example.com"],
  "assistant create": [ID, "--workflow", "w"],
  "thread update": [ID, "--metadata", '{"a":1}'],
  "command resume": [ID, "node", "approve", "--workflow", "w"],
  "command redrive": [ID],
  "command discard": [ID],
  "dead-letter redrive": [ID],
  "dead-letter discard": [ID],
  "archive restore": [ID],
  "bulk start": ["cancel", "--filter", "status = failed"],
};

/** Commands that print no message as JSON, or read a stream: `plainEvent` prints its events. */
const APART = new Set([
  ...["run watch", "thread watch", "run export"],
  ...["config check", "config print", "handler replay", "handler doctor", "init", "dev"],
  // It prints the schema of the type, which is JSON of the type's author.
  "node-type get",
]);

const COMMANDS = leaves(grammar(hostOf(), () => async () => {})).filter(
  ([path]) => !APART.has(path),
);

test("the program has the commands that are set apart or have arguments here", () => {
  const known = new Set(leaves(grammar(hostOf(), () => async () => {})).map(([path]) => path));
  expect([...APART, ...Object.keys(GIVEN)].filter((path) => !known.has(path))).toEqual([]);
  expect(COMMANDS.length).toBeGreaterThan(80);
});

test.each(COMMANDS)("`pawl %s` names no enum as the contract spells it", async (path, command) => {
  printed = "";
  notes = "";
  const ids = command.registeredArguments.filter(({ required }) => required).map(() => ID);
  const args = GIVEN[path] ?? ids;
  const code = await runProgram(hostOf(), [...path.split(" "), ...args, "-o", "json"]);
  // Some messages say that the work failed. Then the exit code is 1.
  expect([0, 1], notes).toContain(code);
  expect(JSON.parse(printed), notes).toBeTypeOf("object");
  expect(rawIn(printed + notes)).toEqual([]);
});

test("events of every type name no enum as the contract spells it", () => {
  const facts = RunEventSchema.oneofs.find(({ name }) => name === "fact")?.fields ?? [];
  expect(facts.length).toBeGreaterThan(20);
  for (const { jsonName, message } of facts) {
    const event = {
      eventId: "1",
      type: "x",
      [jsonName]: message === undefined ? {} : filled(message),
    };
    expect(rawIn(JSON.stringify(plainEvent(fromJson(RunEventSchema, event)))), jsonName).toEqual(
      [],
    );
  }
});
