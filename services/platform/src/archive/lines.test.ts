import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { EngineError } from "@pawl/core/fault/engine-error";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compressed, readRecords, readRunHead } from "./lines.ts";
import { archiveNameOf, runIdOfName } from "./store.ts";

const RUN_ID = "0198c0de-0000-7000-8000-000000000001";
const AT = "2026-06-10T08:00:00";

function fileText(): string {
  const run = {
    ...{ record: "run", format: 1, run_id: RUN_ID, tenant_id: "default", definition_id: RUN_ID },
    ...{ workflow_id: "w", workflow_version: 1, kind: "saved", status: "completed", version: 3 },
    ...{ last_seq: 3, has_failures: false, priority: 0, error_message: "é 😀", request_id: null },
    ...{
      traceparent: null,
      created_at: AT,
      ended_at: AT,
      deadline_at: AT,
      start_at: null,
      parent_run_id: null,
    },
    ...{ parent_node_id: null, parent_iteration: null, schedule_id: null, schedule_at: null },
    ...{ thread_id: null, assistant_id: null, stop: null },
  };
  const events = [1, 2, 3].map((seq) => ({
    ...{ record: "event", seq, type: "run.started", node_id: "", iteration: 0, attempt: 0 },
    ...{ epoch: 0, ordinal: 0, payload: '{"a": 1}', value: '"x"', at: AT },
  }));
  const records = [run, { record: "metadata", metadata: '{"team": "a"}' }, ...events];
  const lines = records.map((each) => `${JSON.stringify(each)}\n`).join("");
  const manifest = {
    ...{ record: "manifest", format: 1, run_id: RUN_ID, lines: records.length },
    ...{ counts: { run: 1, metadata: 1, event: 3 } },
    sha256: createHash("sha256").update(lines).digest("hex"),
  };
  return `${lines}${JSON.stringify(manifest)}\n`;
}

async function* bytes(data: Buffer, size = data.length): AsyncGenerator<Buffer> {
  for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size);
}

const textsOf = async (data: Buffer, size?: number): Promise<string> => {
  let text = "";
  for await (const record of readRecords(RUN_ID, bytes(data, size))) text += `${record.text}\n`;
  return text;
};

/** The reason for which a file is refused. */
const refusal = (data: Buffer): Promise<unknown> =>
  textsOf(data).then(
    () => "accepted",
    (error: unknown) => (error instanceof EngineError ? error.reason : error),
  );

test("a file comes back line by line, however its bytes are cut, and the same lines give the same bytes", async () => {
  const text = fileText();
  const pack = async (): Promise<Buffer> => {
    const pieces: Buffer[] = [];
    const lines = (async function* () {
      yield text.slice(0, 100);
      yield text.slice(100);
    })();
    for await (const piece of compressed(lines)) pieces.push(piece);
    return Buffer.concat(pieces);
  };
  const packed = await pack();
  expect(packed.equals(await pack())).toBe(true);
  expect(gunzipSync(packed).toString()).toBe(text);
  for (const size of [1, 7, packed.length]) expect(await textsOf(packed, size)).toBe(text);
});

test("a file of which a byte changed, or the end is missing, is refused", async () => {
  const text = Buffer.from(fileText());
  const packed = gzipSync(text);
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 255 }), async (place, by) => {
      const changed = Buffer.from(text);
      const at = place % text.length;
      changed[at] = (changed[at] ?? 0) ^ by;
      expect(await refusal(gzipSync(changed))).toBe("ARCHIVE_INVALID");
      const cut = packed.subarray(0, place % packed.length);
      expect(await refusal(cut)).toBe("ARCHIVE_INVALID");
    }),
    { seed: 41, numRuns: 60 },
  );
  const garbled = Buffer.from(packed);
  garbled.fill(0xff, 20, 40);
  expect(await refusal(garbled)).toBe("ARCHIVE_INVALID");
  expect(await refusal(Buffer.from("no gzip"))).toBe("ARCHIVE_INVALID");
});

test("a failure of the lines or of the object is the failure of the reader", async () => {
  const lines = (async function* () {
    yield "x";
    throw new Error("the database is away");
  })();
  const packing = (async () => {
    for await (const _ of compressed(lines));
  })();
  await expect(packing).rejects.toThrow("the database is away");
  const object = (async function* () {
    yield gzipSync(fileText()).subarray(0, 30);
    throw new Error("the bucket is away");
  })();
  const reading = (async () => {
    for await (const _ of readRecords(RUN_ID, object));
  })();
  await expect(reading).rejects.toThrow("the bucket is away");
});

test("the head of an object says what its run is, without the rest", async () => {
  const packed = gzipSync(fileText());
  const read = async (_: string, bytesMax = packed.length) => bytes(packed.subarray(0, bytesMax));
  const head = await readRunHead({ read }, RUN_ID);
  expect([head?.run.workflow_id, head?.metadata]).toEqual(["w", '{"team": "a"}']);
  expect(await readRunHead({ read: async () => undefined }, RUN_ID)).toBeUndefined();
});

test("the name of an object follows from the id of its run, and names of other things are not ours", () => {
  const name = archiveNameOf(RUN_ID);
  expect(name).toBe("2025-08/19/05/0198c0de-0000-7000-8000-000000000001.ndjson.gz");
  expect(runIdOfName(name)).toBe(RUN_ID);
  for (const other of [`x/${name}`, name.replace("2025-08", "2025-09"), "probe-1", `${name}.draft`])
    expect(runIdOfName(other)).toBeUndefined();
});
