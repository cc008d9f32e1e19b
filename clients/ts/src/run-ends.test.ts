import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import { StreamMode as Mode } from "@pawl/proto/pawl/v1/event_service_pb";
import { FailureClass, RunStatus, StopMode } from "@pawl/proto/pawl/v1/run_pb";
import { expect, onTestFinished, test } from "vitest";
import { createPawlClient, type PawlClient } from "./client.ts";
import { ScriptedGateway, scriptedLog } from "./scripted-gateway.fixture.ts";
import { RunFailed } from "./submit.ts";
import { fetchTransport } from "./transport.ts";

const EXCEPTION = { cause: "acme.sold_out", message: "no stock", nodeId: "pay" };

type Fact = MessageInitShape<typeof RunEventSchema>["fact"];

const done = {
  ...{ runId: "r1", eventId: 1n, mode: Mode.CONTROL },
  dataJson: new TextEncoder().encode('{"signal":"done"}'),
};

/** A gateway whose runs all end with this event. */
async function setup(type: string, fact: Fact) {
  const log = scriptedLog("r1", [{ type, ...(fact === undefined ? {} : { fact }) }]);
  const gateway = new ScriptedGateway({
    execute: () => [{ accept: "r1" }, { send: log }],
    runs: {
      startRun: () => ({ run: { runId: "r1" } }),
      waitRun: ({ runId, withResult }) => ({
        hasEnded: true,
        ...(withResult
          ? { result: { runId, status: RunStatus.FAILED, exception: EXCEPTION } }
          : {}),
      }),
    },
    watch: ({ modes }) => [modes.length > 0 ? { send: [], items: [done] } : { send: log }],
    submit: async function* (messages) {
      for await (const { submissions } of messages)
        yield {
          answers: submissions.map(({ start }) => ({
            ...{ requestId: start?.requestId ?? "", accepted: { runId: "r1" } },
          })),
        };
    },
  });
  const baseUrl = await gateway.start();
  onTestFinished(() => gateway.stop());
  return baseUrl;
}

const overFetch = (baseUrl: string) => createPawlClient({ transport: fetchTransport(baseUrl) });
const onCheckpoint = () => undefined;

/** The ways to a run's end that read its terminal event. */
const WAYS = {
  "as a call": (baseUrl: string) => ({ client: overFetch(baseUrl), options: {} }),
  "over fetch with callbacks": (baseUrl: string) => ({
    ...{ client: overFetch(baseUrl), options: { onCheckpoint } },
  }),
  "over the standing stream with callbacks": (baseUrl: string) => ({
    ...{ client: createPawlClient({ baseUrl }), options: { onCheckpoint } },
  }),
} satisfies Record<string, (baseUrl: string) => { client: PawlClient; options: object }>;

const ENDS: readonly (readonly [string, Fact, object])[] = [
  [
    "run.failed",
    {
      case: "runFailed",
      value: {
        ...{ message: "no stock", failedNodeId: "pay", cause: "acme.sold_out" },
        failureClass: FailureClass.PERMANENT,
      },
    },
    {
      ...{ status: "failed", error: "no stock", failedNodeId: "pay" },
      ...{ cause: "acme.sold_out", failureClass: "permanent" },
    },
  ],
  [
    "run.cancelled",
    { case: "runCancelled", value: { reason: "late", failureClass: FailureClass.CANCELLED } },
    { status: "cancelled", error: "late", cause: "cancelled", failureClass: "cancelled" },
  ],
  [
    "run.cancelled",
    {
      case: "runCancelled",
      value: { stop: StopMode.INTERRUPT, failureClass: FailureClass.INTERRUPT },
    },
    { status: "cancelled", cause: "interrupted", failureClass: "interrupt" },
  ],
  [
    "run.cancelled",
    {
      case: "runCancelled",
      value: { stop: StopMode.ROLLBACK, failureClass: FailureClass.ROLLBACK },
    },
    { status: "cancelled", cause: "rolled_back", failureClass: "rollback" },
  ],
  [
    "run.timed_out",
    { case: "runTimedOut", value: {} },
    { status: "timeout", cause: "deadline_passed", failureClass: "timeout" },
  ],
];

test("a run that did not complete names its cause and its class, however the client reads its end (S4.13, S4.18)", async () => {
  for (const [type, fact, expected] of ENDS) {
    const baseUrl = await setup(type, fact);
    for (const [name, way] of Object.entries(WAYS)) {
      const { client, options } = way(baseUrl);
      const thrown = await client.run("order", null, options).catch((error: unknown) => error);
      client.close();
      expect(thrown, name).toMatchObject({ name: "RunFailed", runId: "r1", ...expected });
    }
  }
});

test("with an option, run returns the record of the run however it ended, and RunFailed reads the same record (S4.18)", async () => {
  const baseUrl = await setup("run.failed", {
    ...{ case: "runFailed", value: { message: "no stock" } },
  });
  const expected = { runId: "r1", status: "failed", exception: EXCEPTION };
  for (const [name, way] of Object.entries(WAYS)) {
    const { client, options } = way(baseUrl);
    const record = await client.run<{ n: number }>("order", null, { ...options, withResult: true });
    const output: { n: number } | undefined = record.output;
    expect([record, output], name).toMatchObject([expected, undefined]);
    const thrown = await client.run("order", null, options).catch((error: unknown) => error);
    const failed = thrown instanceof RunFailed ? await thrown.result() : thrown;
    client.close();
    expect(failed, name).toMatchObject(expected);
  }
});
