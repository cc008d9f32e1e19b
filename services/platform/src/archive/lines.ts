// The lines of an archived run: made from the database, compressed, and read back from an object.
//
// The lines of a run that has ended do not change, so a run that is archived again gives the same bytes. A crash between the archive and
// the removal leaves the run in both, and the next sweep writes the same object again.

import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { constants, createGunzip, createGzip, type Gunzip, type Gzip } from "node:zlib";
import { ARCHIVE_LINE_BYTES, archiveInvalid, ArchiveReader } from "@pawl/core/archive/reader";
import {
  ARCHIVE_FORMAT,
  type ArchiveRecord,
  type Manifest,
  type RecordOf,
} from "@pawl/core/archive/record";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import type { Queryable } from "../db/query.ts";
import type { ArchiveHead } from "../store/archive/archive.ts";
import {
  readBeforeEvents,
  readBeforeValues,
  readEventLines,
  readNamedValues,
} from "../store/archive/reads.ts";
import type { Blobs } from "../values/blobs.ts";
import { readPart } from "../values/value-store.ts";
import { archiveNameOf, type ArchiveStore } from "./store.ts";

export interface LineSources {
  readonly db: Queryable;
  /** The bytes of stored values. */
  readonly blobs: Pick<Blobs, "read">;
}

/**
 * The lines of a run, each with its line break, in pieces. The log is that of the moment at which the head was read.
 * @throws EVENT_LOG_CORRUPTION if events are missing, RUN_NOT_FOUND if the run is removed meanwhile, VALUE_CORRUPT, STORE_UNAVAILABLE
 */
export async function* archiveLines(
  sources: LineSources,
  runId: RunId,
  head: ArchiveHead,
): AsyncGenerator<string> {
  const { db } = sources;
  const digest = createHash("sha256");
  const counts: Record<string, number> = {};
  let lines = 0;
  const piece = (some: readonly string[], name?: string): string => {
    for (const line of some) {
      const record = name ?? nameOf(line);
      counts[record] = (counts[record] ?? 0) + 1;
    }
    lines += some.length;
    const text = some.map((line) => `${line}\n`).join("");
    digest.update(text);
    return text;
  };
  yield piece([head.line, ...(await readBeforeValues(db, runId))]);
  for await (const line of valueLines(sources, runId)) yield piece([line], "value");
  yield piece(await readBeforeEvents(db, runId));
  let seq = 0;
  for await (const page of readEventLines(db, { runId, lastSeq: head.lastSeq })) {
    for (const event of page) {
      seq += 1;
      if (event.seq !== seq) throw gapAt(runId, seq);
    }
    yield piece(
      page.map(({ line }) => line),
      "event",
    );
  }
  if (seq !== head.lastSeq) throw gapAt(runId, seq + 1);
  const manifest: Manifest = {
    ...{ record: "manifest", format: ARCHIVE_FORMAT, run_id: runId, lines, counts },
    sha256: digest.digest("hex"),
  };
  yield `${JSON.stringify(manifest)}\n`;
}

/** Every line begins with the name of its record. */
const nameOf = (line: string): string => /^\{"record":"([a-z_]+)"/.exec(line)?.[1] ?? "";

const gapAt = (runId: RunId, seq: number): EngineError =>
  new EngineError("EVENT_LOG_CORRUPTION", `event ${seq} of the run ${runId} is missing`, {
    metadata: { run_id: runId, seq: String(seq) },
  });

/** The stored values that the run names, in parts that are checked against their digests. */
async function* valueLines({ db, blobs }: LineSources, runId: RunId): AsyncGenerator<string> {
  for (const value of await readNamedValues(db, runId)) {
    const { sha256, bytes, digests } = value;
    for (const part of digests.keys()) {
      const { data } = await readPart(async () => value, blobs, { runId, sha256, part });
      const record = { record: "value", sha256, bytes, part, data: data.toString("base64") };
      yield JSON.stringify(record);
    }
  }
}

/** The bytes of an object: compressed lines. The same lines give the same bytes. */
export const compressed = (lines: AsyncIterable<string>): AsyncIterable<Buffer> =>
  through(lines, createGzip());

/** Bytes behind a step of zlib. A failure of the source is a failure of the result. */
async function* through(
  source: AsyncIterable<string | Buffer>,
  step: Gzip | Gunzip,
): AsyncGenerator<Buffer> {
  const readable = Readable.from(source, { objectMode: false });
  readable.once("error", (error) => step.destroy(error));
  try {
    for await (const chunk of readable.pipe(step)) yield chunk as Buffer;
  } finally {
    readable.destroy();
  }
}

export interface ReadRecord {
  readonly record: ArchiveRecord;
  /** The text of the line without its line break. */
  readonly text: string;
  /** The number of the line, from 1. */
  readonly line: number;
}

/**
 * The records of an object, in order. The last one is the manifest, and its digest is that of the lines before it.
 * @throws ARCHIVE_INVALID with the line at fault
 */
export async function* readRecords(
  runId: string,
  object: AsyncIterable<Buffer>,
): AsyncGenerator<ReadRecord> {
  const reader = new ArchiveReader(runId);
  const digest = createHash("sha256");
  for await (const bytes of linesOf(runId, object)) {
    const text = decoded(runId, reader.lines + 1, bytes);
    const record = reader.read(text);
    if (record.record === "manifest") {
      const found = digest.digest("hex");
      if (found !== record.sha256)
        throw archiveInvalid(reader.lines, `the lines have the digest ${found}`, runId);
    } else digest.update(bytes).update("\n");
    yield { record, text, line: reader.lines };
  }
  reader.end();
}

/** Bytes of an object that hold the record of the run and its metadata. */
const HEAD_BYTES = 64 * 1024;

export interface RunHead {
  readonly run: RecordOf<"run">;
  /** A JSON object as text. */
  readonly metadata: string | undefined;
}

/** What the head of an object says about its run. Undefined if there is no object. @throws ARCHIVE_INVALID */
export async function readRunHead(
  archive: Pick<ArchiveStore, "read">,
  runId: string,
): Promise<RunHead | undefined> {
  const object = await archive.read(archiveNameOf(runId), HEAD_BYTES);
  if (object === undefined) return undefined;
  const reader = new ArchiveReader(runId);
  let run: RecordOf<"run"> | undefined;
  for await (const bytes of linesOf(runId, object, true)) {
    const record = reader.read(decoded(runId, reader.lines + 1, bytes));
    if (run !== undefined)
      return { run, metadata: record.record === "metadata" ? record.metadata : undefined };
    // The reader takes nothing else as the first line.
    if (record.record === "run") run = record;
  }
  if (run === undefined) throw archiveInvalid(1, "the file ends before its first record", runId);
  return { run, metadata: undefined };
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decoded(runId: string, line: number, bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw archiveInvalid(line, "is not UTF-8", runId);
  }
}

const BREAK = 0x0a;

/** The lines of an object as bytes without their line breaks. A line has a bound, so no object fills the memory. */
async function* linesOf(
  runId: string,
  object: AsyncIterable<Buffer>,
  isHead = false,
): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let size = 0;
  let line = 1;
  for await (const chunk of decompressed(runId, () => line, object, isHead)) {
    let from = 0;
    for (let at = chunk.indexOf(BREAK); at !== -1; at = chunk.indexOf(BREAK, from)) {
      yield Buffer.concat([...held, chunk.subarray(from, at)]);
      [held, size, from, line] = [[], 0, at + 1, line + 1];
    }
    held.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > ARCHIVE_LINE_BYTES) throw archiveInvalid(line, "is too long", runId);
  }
  if (size > 0 && !isHead) throw archiveInvalid(line, "the file ends inside of a line", runId);
}

async function* decompressed(
  runId: string,
  line: () => number,
  object: AsyncIterable<Buffer>,
  isHead: boolean,
): AsyncGenerator<Buffer> {
  try {
    // Without an end, the head of an object is decompressed as far as it reaches.
    yield* through(object, createGunzip(isHead ? { finishFlush: constants.Z_SYNC_FLUSH } : {}));
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw archiveInvalid(line(), `cannot be decompressed: ${error.message}`, runId);
  }
}

/** An error of zlib: the bytes are not those that were written. */
const isDamage = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
