// WatchThread: all runs of a thread as one stream, through every client and through SSE, from any cursor, and with cursors that are wrong.
import { ConnectError } from "@connectrpc/connect";
import { errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { fromWireStreamMode } from "@pawl/platform/wire/stream-item";
import { StreamMode, type WatchThreadRequestSchema } from "@pawl/proto/pawl/v1/event_service_pb";
import { MultitaskStrategy } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { until } from "../support/until.ts";
import { DOORS } from "./doors.ts";
import { drain } from "./known-workflow.ts";
import { expectRefusal, failure, invalidField, type Refusal } from "./refusal.ts";
import { useStage } from "./stage.ts";

const WORKFLOW = "turn";

const stage = useStage(undefined, async ({ door }) => {
  const say = { type: "text_stream", config: { text: "abcd", chunk_chars: 1, interval_ms: 5 } };
  const { workflows } = door("grpc-js");
  const text = JSON.stringify(graph(["start > say > end"], { say }));
  await workflows.createWorkflow({ workflowId: WORKFLOW, definition: { text } });
  await workflows.createWorkflow({
    workflowId: "asks",
    definition: {
      text: JSON.stringify(
        graph(["start > ask > end"], { ask: { type: "approval", config: { message: "Go on?" } } }),
      ),
    },
  });
});

interface Started {
  readonly workflowId?: string;
  readonly strategy?: MultitaskStrategy;
}

/** Starts a run of a thread. */
async function start(
  threadId: string,
  { workflowId = WORKFLOW, strategy = MultitaskStrategy.ENQUEUE }: Started = {},
): Promise<string> {
  const asked = { workflowId, threadId, createThread: true, multitaskStrategy: strategy };
  return (await stage().door("gRPC").runs.startRun(asked)).run?.runId ?? "";
}

/** Every event of the runs, in order. */
async function logsOf(runIds: readonly string[]): Promise<string[]> {
  const { events } = stage().door("gRPC");
  const pages = runIds.map((runId) => events.listEvents({ runId, pageSize: 1_000 }));
  return (await Promise.all(pages)).flatMap((page) =>
    page.events.map(({ runId, eventId }) => `${runId} ${eventId}`),
  );
}

/** A thread with three runs that have ended. */
const ended = (threadId: string): Promise<readonly string[]> => {
  const known = threads.get(threadId) ?? startThree(threadId);
  threads.set(threadId, known);
  return known;
};
const threads = new Map<string, Promise<readonly string[]>>();
async function startThree(threadId: string): Promise<readonly string[]> {
  const runIds = [await start(threadId), await start(threadId), await start(threadId)];
  const { events } = stage().door("gRPC");
  await Promise.all(runIds.map((runId) => drain(events.watchRun({ runId }))));
  return runIds;
}

type Request = Omit<MessageInitShape<typeof WatchThreadRequestSchema>, "$typeName">;

/** An event or an item, with the cursor after it. */
interface Seen {
  readonly what: string;
  readonly cursor: string;
}
type Reader = (request: Request, signal?: AbortSignal) => AsyncIterable<Seen>;

const compiled = (name: string): Reader =>
  async function* (request, signal = new AbortController().signal) {
    const { events: rpc } = stage().door(name);
    for await (const { runId, events, items, cursor } of rpc.watchThread(request, { signal })) {
      const prefix = cursor.slice(0, cursor.lastIndexOf(".") + 1);
      for (const { eventId } of [...events, ...items])
        yield { what: `${runId} ${eventId}`, cursor: `${prefix}${eventId}` };
    }
  };

const pathOf = (request: Request) => {
  const { threadId, cursor, types = [], nodeIds = [], nodeTypes = [], modes = [] } = request;
  return `/execute/threads/${threadId}/events?${new URLSearchParams({
    ...(cursor === undefined ? {} : { cursor }),
    ...{ types: types.join(), nodes: nodeIds.join(), nodeTypes: nodeTypes.join() },
    modes: modes.map((mode) => fromWireStreamMode(mode) ?? "").join(),
    untilIdle: String(request.untilIdle ?? false),
    skipFinished: String(request.skipFinished ?? false),
  })}`;
};

/** Reads Server-Sent Events. The cursor goes as a parameter, or as the header of a browser. */
const sse = (isBrowser: boolean): Reader =>
  async function* ({ cursor, ...request }, signal = new AbortController().signal) {
    const headers = isBrowser && cursor !== undefined ? { "Last-Event-ID": cursor } : {};
    const path = pathOf(isBrowser || cursor === undefined ? request : { ...request, cursor });
    const response = await fetch(`${stage().url}${path}`, { headers, signal });
    if (!response.ok)
      throw errorFromJsonBytes(
        Buffer.from(await response.arrayBuffer()),
        undefined,
        new ConnectError("no error of ours"),
      );
    let left = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const frames = (left + chunk).split("\n\n");
      left = frames.pop() ?? "";
      for (const frame of frames) {
        if (frame.startsWith("event: stream.ended")) throw new Error(frame);
        const id = /^id: (.*)$/m.exec(frame)?.[1];
        const data = /^data: (.*)$/m.exec(frame)?.[1];
        if (id === undefined || data === undefined) continue;
        const { runId } = JSON.parse(data) as { readonly runId: string };
        yield { what: `${runId} ${id.slice(id.lastIndexOf(".") + 1)}`, cursor: id };
      }
    }
  };

const READERS = [...DOORS, "SSE", "EventSource"] as const;
const readerOf = (name: (typeof READERS)[number]): Reader =>
  name === "SSE" || name === "EventSource" ? sse(name === "EventSource") : compiled(name);

async function all(stream: AsyncIterable<Seen>): Promise<Seen[]> {
  const seen: Seen[] = [];
  for await (const one of stream) seen.push(one);
  return seen;
}
const whats = (seen: readonly Seen[]): string[] => seen.map(({ what }) => what);

test.each(READERS)(
  "%s reads the runs of a thread one after the other, from any cursor of any transport, and ends at idle (S4.41, S1.54)",
  async (name) => {
    const runIds = await ended("chat");
    const log = await logsOf(runIds);
    const read = readerOf(name);
    const request = { threadId: "chat", untilIdle: true };
    const whole = await all(read(request));
    expect(whats(whole)).toEqual(log);
    for (const at of [0, 5, log.length - 2, log.length - 1]) {
      const cursor = whole[at]?.cursor ?? "";
      expect(whats(await all(read({ ...request, cursor }))), String(at)).toEqual(log.slice(at + 1));
    }
    const types = ["node.completed"];
    const ends = await all(read({ ...request, types, nodeIds: ["say", "no-such-node"] }));
    expect(ends).toHaveLength(2 * runIds.length);
  },
);

test("a stream stays open between runs, and shows runs that wait, are interrupted or take the thread in the order of their turns (S4.41)", async () => {
  const left = new AbortController();
  const order = [await start("live", { workflowId: "asks" })];
  const seen = READERS.map(async (name, at) => {
    try {
      for await (const { what } of readerOf(name)({ threadId: "live" }, left.signal))
        read[at]?.push(what);
    } catch (error) {
      if (!left.signal.aborted) throw error;
    }
  });
  const read = READERS.map((): string[] => []);
  // The first run is stopped, and the second begins. The third waits, and is stopped with the second by the fourth.
  const { INTERRUPT, ENQUEUE } = MultitaskStrategy;
  order.push(await start("live", { workflowId: "asks", strategy: INTERRUPT }));
  order.push(await start("live", { strategy: ENQUEUE }));
  order.push(await start("live", { strategy: INTERRUPT }));
  await drain(
    stage()
      .door("gRPC")
      .events.watchRun({ runId: order[3] ?? "" }),
  );
  const log = await logsOf(order);
  await until(() => read.every(({ length }) => length >= log.length), { what: "every event" });
  left.abort();
  await Promise.all(seen);
  for (const events of read) expect(events).toEqual(log);
});

test.each(["gRPC", "Connect", "gRPC-web", "SSE"] as const)(
  "%s streams a thread in modes, ends each run with done, continues between its events, and filters by types of nodes (S4.38, S4.41)",
  async (name) => {
    const runIds = await ended("chat");
    const request = { threadId: "chat", untilIdle: true, modes: [StreamMode.DEBUG] };
    const read = readerOf(name);
    const whole = (await all(read(request))).map(({ what, cursor }) => ({ what, cursor }));
    const log = await logsOf(runIds);
    const isLast = (at: number) => log[at + 1]?.slice(0, 36) !== log[at]?.slice(0, 36);
    // The last event of each run also has the control item. Of several items of one event, only the last has the cursor over SSE.
    const items = log.flatMap((what, at) => (isLast(at) && name !== "SSE" ? [what, what] : what));
    expect(whats(whole)).toEqual(items);
    const { cursor = "" } = whole[3] ?? {};
    expect(whats(await all(read({ ...request, cursor })))).toEqual(items.slice(4));
    const ofType = await all(read({ ...request, nodeTypes: ["text_stream"] }));
    const { events } = stage().door("gRPC");
    const pages = await Promise.all(runIds.map((runId) => events.listEvents({ runId })));
    const shown = pages.flatMap((page) =>
      page.events.filter(({ nodeId }, at) => nodeId === "say" || at === page.events.length - 1),
    );
    expect(new Set(whats(ofType))).toEqual(
      new Set(shown.map(({ runId, eventId }) => `${runId} ${eventId}`)),
    );
  },
);

test("C4, C5: a cursor that was made up, changed, cut, or made for another thread or stream is refused by every client, and nothing changes", async () => {
  await ended("chat");
  const [runId = ""] = await ended("other");
  const first = async (threadId: string): Promise<string> =>
    (await all(compiled("gRPC")({ threadId, untilIdle: true })))[0]?.cursor ?? "";
  const [own, foreign] = [await first("chat"), await first("other")];
  const changed = `${own.startsWith("A") ? "B" : "A"}${own.slice(1)}`;
  const wrong = ["1", "x", runId, `${runId}.1`, foreign, changed, own.slice(1), `${own}.1`];
  const worse = [
    own.replace(/1$/, "-1"),
    own.replace(/1$/, "x"),
    own.replace(/1$/, "9".repeat(17)),
  ];
  await stage().unharmed(async () => {
    for (const name of READERS) {
      const field = { SSE: "cursor", EventSource: "Last-Event-ID" }[name as string] ?? "cursor";
      const refused = async (cursor: string, refusal: Refusal): Promise<void> =>
        expectRefusal(
          await failure(all(readerOf(name)({ threadId: "chat", cursor }))),
          refusal,
          cursor,
        );
      for (const cursor of [...wrong, ...worse])
        await refused(cursor, invalidField(field, "BAD_CURSOR"));
      const beyond = own.replace(/1$/, "100000");
      await refused(beyond, { code: "OutOfRange", reason: "CURSOR_OUT_OF_RANGE" });
    }
  });
});

test("C1: a thread that does not exist, and one whose id no thread can have, are refused by every client (S4.41)", async () => {
  await stage().unharmed(async () => {
    for (const name of READERS) {
      const read = (threadId: string) => failure(all(readerOf(name)({ threadId })));
      expectRefusal(await read("missing"), { code: "NotFound", reason: "THREAD_NOT_FOUND" });
      expectRefusal(await read("no%20name"), invalidField("thread_id", "BAD_ID"));
    }
  });
});

test("C5: a cursor of Watch is refused for other runs, in another order, or with another number of runs, by every client", async () => {
  const [a = "", b = ""] = await ended("chat");
  const [other = ""] = await ended("other");
  const runsOf = (...ids: readonly string[]) => ids.map((runId) => ({ runId }));
  const { events } = stage().door("gRPC");
  let cursor = "";
  for await (const message of events.watch({ runs: runsOf(a, b) })) cursor = message.cursor;
  await drain(events.watch({ runs: runsOf(a, b), cursor }));
  const refusal = invalidField("cursor", "BAD_CURSOR");
  await stage().unharmed(async () => {
    for (const door of stage().doors)
      for (const [runs, text] of [
        ...[[runsOf(a, other), cursor] as const, [runsOf(b, a), cursor] as const],
        ...[[runsOf(a), cursor] as const, [runsOf(a, b), "1.2"] as const],
        [runsOf(a, b), cursor.replace(/\d+$/, "x")] as const,
      ])
        expectRefusal(
          await failure(drain(door.events.watch({ runs, cursor: text }))),
          refusal,
          text,
        );
  });
});

test("a thread that is deleted ends its streams with THREAD_NOT_FOUND (S4.41)", async () => {
  for (const name of ["gRPC", "SSE"] as const) {
    const threadId = `gone-${name}`;
    const runId = await start(threadId);
    await drain(stage().door("gRPC").events.watchRun({ runId }));
    const log = await logsOf([runId]);
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const { what } of readerOf(name)({ threadId })) {
        seen.push(what);
        if (seen.length < log.length) continue;
        const response = await fetch(`${stage().url}/pawl.v1.ThreadService/DeleteThread`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ threadId }),
        });
        expect(response.status).toBe(200);
      }
    };
    await expect(read()).rejects.toThrow(/THREAD_NOT_FOUND|There is no thread/);
    expect(seen).toEqual(log);
  }
});
