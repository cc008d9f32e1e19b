// Cursors and pages that are wrong, through every client and through SSE (rows C of the catalogue of bad inputs).
import { createHash } from "node:crypto";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { drain, finishedRun, KNOWN, saveKnown } from "./known-workflow.ts";
import { framed, rawCall } from "./raw-call.ts";
import { expectRefusal, expectRefused, invalidField, type Refusal, sseRefusal } from "./refusal.ts";
import { useStage } from "./stage.ts";

const stage = useStage({}, (ready) => saveKnown(ready, "other", "third"));

test("C4: a cursor beyond any event id is refused, and one beyond this log is CURSOR_OUT_OF_RANGE", async () => {
  const { runId, length } = await finishedRun(stage());
  const beyond: Refusal = { code: "OutOfRange", reason: "CURSOR_OUT_OF_RANGE" };
  const never = invalidField("after_event_id", "BAD_CURSOR");
  await stage().unharmed(async () => {
    for (const { events } of stage().doors)
      for (const [afterEventId, refusal] of [
        [BigInt(length + 1), beyond],
        [2n ** 53n - 1n, beyond],
        [2n ** 53n, never],
        [2n ** 63n, never],
        [2n ** 64n - 1n, never],
      ] as const) {
        await expectRefused(events.listEvents({ runId, afterEventId }), refusal);
        await expectRefused(events.listTags({ runId, afterEventId }), refusal);
        await expectRefused(drain(events.watchRun({ runId, afterEventId })), refusal);
      }
  });
});

test.each(["-1", "1.5", "abc", "18446744073709551616", ""])(
  "C4: the cursor %j is refused in JSON",
  async (cursor) => {
    const { runId } = await finishedRun(stage());
    await stage().unharmed(async () => {
      const message = Buffer.from(JSON.stringify({ runId, afterEventId: cursor }));
      for (const [framing, call] of [
        ["Connect JSON", "ListEvents"],
        ["Connect JSON stream", "WatchRun"],
      ] as const) {
        const body = framed(framing, message);
        const method = `pawl.v1.EventService/${call}`;
        const { error } = await rawCall(stage().url, { framing, method, body });
        if (error === undefined) throw new Error(`${cursor} was taken`);
        expectRefusal(error, { code: "InvalidArgument", reason: "INPUT_INVALID" });
      }
    });
  },
);

test.each([
  "-1",
  "1.5",
  "abc",
  "18446744073709551616",
  "",
  "1e3",
  "0x1",
  "+1",
  "%201",
  "1%0d%0ax:y",
  "1%00",
])("C4, C10: the cursor %j is refused in the query of SSE", async (cursor) => {
  const { runId } = await finishedRun(stage());
  await stage().unharmed(async () => {
    const error = await sseRefusal(stage().url, `${runId}/events?afterEventId=${cursor}`);
    expectRefusal(error, invalidField("afterEventId", "BAD_CURSOR"));
  });
});

test.each([
  ["words", "abc"],
  ["less than nothing", "-1"],
  ["a fraction", "1.5"],
  ["two cursors", "1, 2"],
  ["more than any event id", "9007199254740992"],
  ["ten thousand digits", "9".repeat(10_000)],
  ["a tab", "1\t2"],
])("C10: a Last-Event-ID of %s is refused by SSE", async (_, cursor) => {
  const { runId } = await finishedRun(stage());
  await stage().unharmed(async () => {
    const error = await sseRefusal(stage().url, `${runId}/events`, { "Last-Event-ID": cursor });
    expectRefusal(error, invalidField("Last-Event-ID", "BAD_CURSOR"), cursor);
  });
});

test.each(["1\n2", "1\0", "1\u007f", "1\r2"])(
  "C10: a Last-Event-ID of %j is no header at all",
  async (cursor) => {
    const { runId } = await finishedRun(stage());
    await stage().unharmed(async () => {
      const path = `/execute/workflows/${runId}/events`;
      const asked = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: ${cursor}\r\n\r\n`;
      expect(await firstLine(asked)).toMatch(/^HTTP\/1\.1 400 /);
    });
  },
);

/** Sends bytes no HTTP client would, and gives the first line of the answer. */
async function firstLine(text: string): Promise<string> {
  const socket = connect(stage().port, "127.0.0.1");
  socket.write(text);
  let answer = "";
  for await (const chunk of socket) {
    answer += String(chunk);
    if (answer.includes("\r\n")) break;
  }
  socket.destroy();
  return answer.slice(0, answer.indexOf("\r\n"));
}

test("C4: two cursors in one query are refused, and only GET reads a stream", async () => {
  const { runId } = await finishedRun(stage());
  const twice = await sseRefusal(stage().url, `${runId}/events?afterEventId=1&afterEventId=2`);
  expectRefusal(twice, invalidField("afterEventId", "REPEATED"));
  const path = `${stage().url}/execute/workflows/${runId}/events`;
  for (const method of ["POST", "PUT", "DELETE"]) {
    const response = await fetch(path, { method });
    expect(await response.json()).toMatchObject({ code: "unimplemented" });
  }
  const head = await new Promise<number>((resolve, reject) => {
    httpRequest(path, { method: "HEAD" }, (response) => resolve(response.statusCode ?? 0))
      .on("error", reject)
      .end();
  });
  expect(head).toBe(501);
});

test("C7: a negative page is refused, none means the default, and too much is cut to the most", async () => {
  const { runId, length } = await finishedRun(stage());
  const refusal = invalidField("page_size", "OUT_OF_RANGE");
  for (const { workflows, runs, events } of stage().doors) {
    for (const pageSize of [-1, -(2 ** 31)]) {
      await expectRefused(workflows.listWorkflows({ pageSize }), refusal);
      await expectRefused(runs.listRuns({ pageSize }), refusal);
      await expectRefused(events.listEvents({ runId, pageSize }), refusal);
    }
    for (const pageSize of [0, 1_000_000_000, 2 ** 31 - 1]) {
      expect((await workflows.listWorkflows({ pageSize })).workflows).toHaveLength(3);
      expect((await runs.listRuns({ pageSize })).runs.length).toBeGreaterThan(0);
      expect((await events.listEvents({ runId, pageSize })).events).toHaveLength(length);
    }
    const ids: string[] = [];
    let pageToken = "";
    do {
      const page = await workflows.listWorkflows({ pageSize: 1, pageToken });
      ids.push(...page.workflows.map(({ workflowId }) => workflowId));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(ids).toEqual([KNOWN, "other", "third"]);
  }
});

test("C7: a page token of another list, of another filter or of no list is refused", async () => {
  await finishedRun(stage());
  await finishedRun(stage());
  const { workflows, runs } = stage().door("gRPC");
  const ofWorkflows = (await workflows.listWorkflows({ pageSize: 1 })).nextPageToken;
  const ofRuns = (await runs.listRuns({ pageSize: 1 })).nextPageToken;
  expect(ofWorkflows).not.toBe("");
  expect(ofRuns).not.toBe("");
  const refusal = invalidField("page_token", "BAD_PAGE_TOKEN");
  await stage().unharmed(async () => {
    for (const door of stage().doors) {
      for (const pageToken of [ofRuns, `${ofWorkflows}x`, "x", "\0", "x".repeat(100_000)])
        await expectRefused(door.workflows.listWorkflows({ pageToken }), refusal, pageToken);
      for (const pageToken of [ofWorkflows, "x"])
        await expectRefused(door.runs.listRuns({ pageToken }), refusal, pageToken);
      const otherFilter = door.runs.listRuns({ pageToken: ofRuns, workflowId: KNOWN });
      await expectRefused(otherFilter, refusal);
    }
  });
});

test("C7: a page token that a client forged by the rules of the store is refused, on every list and by every client", async () => {
  await finishedRun(stage());
  const { runId } = await finishedRun(stage());
  const refusal = invalidField("page_token", "BAD_PAGE_TOKEN");
  const forged = (bound: string, key: string): string => {
    const digest = createHash("sha256").update(bound).digest().subarray(0, 8);
    return Buffer.concat([digest, Buffer.from(key)]).toString("base64url");
  };
  const effects = forged(`effects ${JSON.stringify([runId, ""])}`, "a\nnot a number\nb");
  await stage().unharmed(async () => {
    for (const { runs } of stage().doors) {
      await expectRefused(runs.listEffects({ runId, pageToken: effects }), refusal);
    }
    const { nextPageToken } = await stage().door("gRPC").runs.listRuns({ pageSize: 1 });
    const bytes = Buffer.from(nextPageToken, "base64url");
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      const pageToken = changed.toString("base64url");
      await expectRefused(stage().door("gRPC").runs.listRuns({ pageToken }), refusal);
    }
  });
});

test("J13: a query that is not UTF-8 is refused by SSE, and not read as something else", async () => {
  const { runId } = await finishedRun(stage());
  for (const query of ["types=%ff", "types=run.completed%c3", "view=%zz", "types=%"]) {
    const error = await sseRefusal(stage().url, `${runId}/events?${query}`);
    expectRefusal(error, invalidField("query", "BAD_UNICODE"));
  }
});
