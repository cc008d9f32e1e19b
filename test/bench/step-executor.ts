// The executor of the benches' steps: a process of its own that completes every `bench.step` at once. It speaks the public worker
// protocol with grpc-js and generated code, as an executor in any language would, so no shortcut of our own executor is measured.
//
//   node test/bench/step-executor.ts <host:port of the scheduler>
//
// It prints one line when the scheduler has registered it, and leaves on SIGTERM. A broken stream ends the process: a figure taken
// across a reconnection would be wrong.

import { randomUUID } from "node:crypto";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import {
  type Claim,
  type SchedulerItem,
  WorkRequestSchema,
  WorkResponseSchema,
  WorkerService,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { READY, SLOTS, STEP } from "./steps.ts";

type Item = NonNullable<MessageInitShape<typeof WorkRequestSchema>["items"]>[number];

const OUTPUT = Buffer.from("{}");

const client = new Client(process.argv[2] ?? "", credentials.createInsecure());
const stream = client.makeBidiStreamRequest(
  `/${WorkerService.typeName}/${WorkerService.method.work.name}`,
  (items: readonly Item[]) =>
    Buffer.from(toBinary(WorkRequestSchema, create(WorkRequestSchema, { items: [...items] }))),
  (bytes) => fromBinary(WorkResponseSchema, bytes),
);
/** Claims whose outcome the scheduler has not committed yet. */
const held = new Map<string, Claim>();
let isLeaving = false;

stream.on("data", ({ items }: { readonly items: readonly SchedulerItem[] }) => {
  const outcomes = items.flatMap(answer);
  if (outcomes.length > 0) stream.write(outcomes);
});
stream.on("error", (error) => {
  if (!isLeaving) console.error(`the stream broke: ${error.message}`);
  process.exit(isLeaving ? 0 : 1);
});
stream.on("end", () => process.exit(isLeaving ? 0 : 1));
process.once("SIGTERM", () => {
  isLeaving = true;
  stream.write([{ item: { case: "goodbye", value: {} } }]);
  stream.end();
});
const register = { executorId: randomUUID(), nodeTypes: [STEP], slots: SLOTS };
stream.write([{ item: { case: "register", value: register } }]);

/** Does what one item asks for; a step is over as soon as it comes. */
function answer({ item }: SchedulerItem): readonly Item[] {
  if (item.case === "registered") begin(Number(item.value.renewMs));
  if (item.case === "settled" || item.case === "claimLost") held.delete(keyOf(item.value.claim));
  if (item.case !== "assignment" || item.value.claim === undefined) return [];
  const { claim } = item.value;
  held.set(keyOf(claim), claim);
  const result = { case: "completed" as const, value: { outputJson: OUTPUT } };
  return [{ item: { case: "outcome", value: { claim, durationMs: 0n, result } } }];
}

function begin(renewMs: number): void {
  setInterval(() => {
    stream.write([{ item: { case: "renew", value: { held: [...held.values()] } } }]);
  }, renewMs);
  console.log(READY);
}

function keyOf(claim: Claim | undefined): string {
  return `${claim?.runId}/${claim?.nodeId}/${claim?.iteration}/${claim?.epoch}`;
}
