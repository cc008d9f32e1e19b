// PostgreSQL stores no U+0000. A text or a key with it is refused at the entrance, with its field, whatever the noun is (row J14 of the
// catalogue of bad inputs).
import { fromJson } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { BadRequestSchema, ErrorInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { AssistantService } from "@pawl/proto/pawl/v1/assistant_service_pb";
import { BulkAction, BulkService } from "@pawl/proto/pawl/v1/bulk_service_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { ScheduleService } from "@pawl/proto/pawl/v1/schedule_service_pb";
import { ThreadService } from "@pawl/proto/pawl/v1/thread_service_pb";
import { WebhookService } from "@pawl/proto/pawl/v1/webhook_service_pb";
import { expect, test } from "vitest";
import { KNOWN, saveKnown } from "./known-workflow.ts";
import { expectRefusal, failure, invalidField, type Refusal } from "./refusal.ts";
import { useStage } from "./stage.ts";

const stage = useStage({}, saveKnown);

const NUL = "a\0b";
const workflowId = KNOWN;
const RUN = "019a8b3e-1111-7000-8000-00008918bc96";
const bytesOf = (value: unknown) => new Uint8Array(Buffer.from(JSON.stringify(value)));
/** A text, a key, and both inside of other values. */
const METADATA = [{ a: NUL }, { [NUL]: 1 }, { a: [{ b: NUL }] }, { a: { [NUL]: 1 } }];

function clients() {
  const transport = createConnectTransport({ baseUrl: stage().url, httpVersion: "1.1" });
  return {
    runs: createClient(RunService, transport),
    threads: createClient(ThreadService, transport),
    assistants: createClient(AssistantService, transport),
    bulks: createClient(BulkService, transport),
    schedules: createClient(ScheduleService, transport),
    webhooks: createClient(WebhookService, transport),
  };
}
type Clients = ReturnType<typeof clients>;

/** Metadata as a client sends them: exact, or as a Value. */
type Given = { readonly metadataJson: Uint8Array } | { readonly metadata: Value };

const OF_METADATA: Readonly<
  Record<string, readonly [(with_: Clients, given: Given) => Promise<unknown>, outer?: string]>
> = {
  "a run": [({ runs }, given) => runs.startRun({ workflowId, ...given })],
  "a change of a run": [({ runs }, given) => runs.updateRunMetadata({ runId: RUN, ...given })],
  "a thread": [({ threads }, given) => threads.createThread({ threadId: "t", ...given })],
  "a change of a thread": [
    ({ threads }, given) => threads.updateThread({ threadId: "t", ...given }),
  ],
  "a fork of a thread": [
    ({ threads }, given) => threads.forkThread({ threadId: "t", newThreadId: "u", ...given }),
  ],
  "a list of threads": [({ threads }, given) => threads.listThreads({ ...given })],
  "an assistant": [
    ({ assistants }, given) =>
      assistants.createAssistant({ assistantId: "a", spec: { workflowId, ...given } }),
    "spec.",
  ],
  "a list of assistants": [({ assistants }, given) => assistants.listAssistants({ ...given })],
};

test.each(Object.entries(OF_METADATA))(
  "J14: metadata of %s with U+0000 in a key or a text are refused with their field (S4.23)",
  async (_, [call, outer = ""]) => {
    await stage().unharmed(async () => {
      for (const json of METADATA) {
        const exact = call(clients(), { metadataJson: bytesOf(json) });
        await expectOnly(exact, `${outer}metadata_json`, "NUL_CHARACTER");
        const value = call(clients(), { metadata: fromJson(ValueSchema, json) });
        await expectOnly(value, `${outer}metadata`, "NUL_CHARACTER");
      }
    });
  },
);

/** The call is refused for this field, and for no other. */
async function expectOnly(call: Promise<unknown>, field: string, rule: string): Promise<void> {
  const error = await failure(call);
  expectRefusal(error, invalidField(field, rule));
  const fields = error.findDetails(BadRequestSchema).flatMap((bad) => bad.fieldViolations);
  expect(fields.map((one) => one.field)).toEqual([field]);
}

const OF_TEXT: Readonly<
  Record<string, readonly [(with_: Clients) => Promise<unknown>, field: string, rule: string]>
> = {
  "the id of a thread": [
    ({ threads }) => threads.createThread({ threadId: NUL }),
    "thread_id",
    "BAD_ID",
  ],
  "the id of an assistant": [
    ({ assistants }) => assistants.createAssistant({ assistantId: NUL, spec: { workflowId } }),
    "assistant_id",
    "BAD_ID",
  ],
  "a goal": [({ runs }) => runs.startRun({ workflowId, goal: NUL }), "goal", "NUL_CHARACTER"],
  "a constraint": [
    ({ runs }) => runs.startRun({ workflowId, constraints: ["fine", NUL] }),
    "constraints[1]",
    "NUL_CHARACTER",
  ],
  "the name of a signal": [
    ({ runs }) => runs.signalRun({ runId: RUN, name: NUL }),
    "name",
    "BAD_ID",
  ],
  "the payload of a signal": [
    ({ runs }) => runs.signalRun({ runId: RUN, name: "go", payloadJson: bytesOf({ a: NUL }) }),
    "payload_json",
    "NUL_CHARACTER",
  ],
  "the name of a kept filter": [
    ({ runs }) => runs.saveRunFilter({ name: NUL, filter: "status = failed" }),
    "name",
    "BAD_ID",
  ],
  "the reason of a bulk": [
    ({ bulks }) =>
      bulks.startBulk({
        filter: "status = failed",
        action: BulkAction.CANCEL,
        options: { reason: NUL },
      }),
    "options.reason",
    "NOT_PRINTABLE",
  ],
  "the words of a search": [({ runs }) => runs.listRuns({ query: NUL }), "query", "NOT_PRINTABLE"],
  "the id of a schedule": [
    ({ schedules }) => schedules.getSchedule({ scheduleId: NUL }),
    "schedule_id",
    "BAD_ID",
  ],
  "the id of a webhook": [
    ({ webhooks }) => webhooks.getEndpoint({ endpointId: NUL }),
    "endpoint_id",
    "BAD_ID",
  ],
};

test.each(Object.entries(OF_TEXT))(
  "J14: %s with U+0000 is refused with its field",
  async (_, [call, field, rule]) => {
    await stage().unharmed(() => expectOnly(call(clients()), field, rule));
  },
);

test.each([
  [`error = "${NUL}"`, 11],
  [`metadata.a = "${NUL}"`, 16],
  [`metadata."${NUL}" = 7`, 12],
  [`workflow = *${NUL}`, 14],
])("J14: a filter with U+0000 is refused with its place: %j", async (filter, column) => {
  const refusal: Refusal = {
    code: "InvalidArgument",
    reason: "FILTER_INVALID",
    field: ["filter", "FILTER_SYNTAX"],
  };
  await stage().unharmed(async () => {
    const { runs } = clients();
    for (const call of [
      () => runs.listRuns({ filter }),
      () => runs.saveRunFilter({ name: "nul", filter }),
    ]) {
      const error = await failure(call());
      expectRefusal(error, refusal);
      const place = { field: "filter", line: "1", column: String(column) };
      expect(error.findDetails(ErrorInfoSchema)[0]?.metadata).toMatchObject(place);
    }
  });
});
