// Reads the lines of an archived run, one after the other. It refuses the file at the first line that is not as the format says. That is a
// foreign version, an unknown field, a key that names a prototype, or a record in the wrong place. It is also a gap in the log, a wrong
// count or a missing end. The caller compares the digests, because this room computes none. check.ts compares the log with the record of the run.

import { faultOf } from "../data/json.ts";
import type { JsonLimits } from "../data/scan-json.ts";
import { EngineError } from "../fault/engine-error.ts";
import type { ArchiveRecord, Manifest, RecordName, RecordOf } from "./record.ts";
import { ARCHIVE_FORMAT, RECORD_NAMES, RECORDS, SINGLE } from "./record.ts";

const MIB = 1024 * 1024;
/** A line of a record, with escapes. The largest are a graph and a part of a stored value. */
export const ARCHIVE_LINE_BYTES = 16 * MIB;

const LINE_LIMITS: JsonLimits = {
  ...{ bytes: ARCHIVE_LINE_BYTES, depth: 3, keys: 100, keyBytes: 64 },
};
/**
 * JSON inside a record. Each value was checked when the run got it, so these limits only bound the work. PostgreSQL writes 1e20 of a user
 * with all its digits.
 */
const INNER_LIMITS: JsonLimits = {
  ...{ bytes: ARCHIVE_LINE_BYTES, depth: 128, keys: 1_000_000, keyBytes: 4_096 },
  ...{ references: true, anyNumber: true },
};
/** The fields that hold JSON as text. */
const JSON_FIELDS = ["metadata", "body", "result", "details", "response", "payload", "value"];

/** The refusal of a file, with the line at fault, from 1. */
export const archiveInvalid = (line: number, what: string, runId = ""): EngineError =>
  new EngineError("ARCHIVE_INVALID", `line ${line}: ${what}`, {
    metadata: { line: String(line), ...(runId === "" ? {} : { run_id: runId }) },
  });

export class ArchiveReader {
  readonly #runId: string;
  readonly #counts: Record<string, number> = {};
  #place = -1;
  #lines = 0;
  #seq = 0;
  #manifest: Manifest | undefined;

  /** `runId` is the run that the file must have. */
  constructor(runId: string) {
    this.#runId = runId;
  }

  /** How many lines were read. */
  get lines(): number {
    return this.#lines;
  }

  /** The record of the next line. @throws ARCHIVE_INVALID */
  read(line: string): ArchiveRecord {
    this.#lines += 1;
    if (this.#manifest !== undefined) throw this.#fault("follows the manifest");
    const record = this.#parse(line);
    this.#order(record.record);
    if (record.record === "manifest") this.#end(record);
    else this.#counts[record.record] = (this.#counts[record.record] ?? 0) + 1;
    if (record.record === "event") this.#follow(record);
    if ((record.record === "run" || record.record === "manifest") && record.run_id !== this.#runId)
      throw this.#fault(`is about the run ${record.run_id}`);
    return record;
  }

  /** The manifest, after the last line. @throws ARCHIVE_INVALID */
  end(): Manifest {
    if (this.#manifest !== undefined) return this.#manifest;
    this.#lines += 1;
    throw this.#fault("the file ends before its manifest");
  }

  #parse(line: string): ArchiveRecord {
    const fault = faultOf(line, LINE_LIMITS);
    if (fault !== undefined) throw this.#fault(`${fault.reason}: ${fault.message}`);
    const value: unknown = JSON.parse(line);
    const { record: name, format } = fieldsOf(value);
    if (this.#lines === 1 && typeof format === "number" && format !== ARCHIVE_FORMAT)
      throw this.#fault(`has the format ${format}; this version reads ${ARCHIVE_FORMAT}`);
    const known = RECORD_NAMES.find((each) => each === name);
    if (known === undefined) throw this.#fault("is no record of this format");
    const read = RECORDS[known].safeParse(value);
    if (!read.success) {
      const [issue] = read.error.issues;
      throw this.#fault(`${known} ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
    }
    this.#checkInner(read.data);
    return read.data;
  }

  /** JSON in a field must be such that PostgreSQL and every reader take it. */
  #checkInner(record: ArchiveRecord): void {
    const fields = fieldsOf(record);
    for (const name of JSON_FIELDS) {
      const text = fields[name];
      if (typeof text !== "string") continue;
      const fault = faultOf(text, INNER_LIMITS);
      if (fault !== undefined) throw this.#fault(`${name}: ${fault.reason}: ${fault.message}`);
    }
  }

  #order(name: RecordName): void {
    const place = RECORD_NAMES.indexOf(name);
    const isFirst = this.#lines === 1;
    if (isFirst !== (name === "run")) throw this.#fault("the first record must be the run");
    if (place < this.#place || (place === this.#place && SINGLE.has(name)))
      throw this.#fault(`a record ${name} is not possible here`);
    this.#place = place;
  }

  #follow({ seq }: RecordOf<"event">): void {
    if (seq !== this.#seq + 1)
      throw this.#fault(`event ${seq} follows event ${this.#seq}: the log has a gap or a repeat`);
    this.#seq = seq;
  }

  #end(manifest: Manifest): void {
    const names = new Set([...Object.keys(this.#counts), ...Object.keys(manifest.counts)]);
    for (const name of names) {
      const [found, named] = [this.#counts[name] ?? 0, manifest.counts[name] ?? 0];
      if (found !== named)
        throw this.#fault(`the file has ${found} records ${name}; the manifest counts ${named}`);
    }
    if (manifest.lines !== this.#lines - 1)
      throw this.#fault(`follows ${this.#lines - 1} lines; the manifest counts ${manifest.lines}`);
    this.#manifest = manifest;
  }

  #fault(what: string): EngineError {
    return archiveInvalid(this.#lines, what, this.#runId);
  }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};
