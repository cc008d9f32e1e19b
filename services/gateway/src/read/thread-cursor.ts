// The cursor of WatchThread: a sealed part that names a run of one thread, a dot, and the id of an event of that run. The seal covers the
// thread and the time of its creation. So no caller can use the cursor of another thread, or of a deleted one of the same id. The event id is
// not sealed: a client may continue after any event of a run that it has, as in WatchRun.

import { invalidField } from "@pawl/core/fault/engine-error";
import { runId } from "@pawl/core/name/ids";
import { cursorOfText } from "@pawl/platform/wire/fields";
import type { SameThread, ThreadCursors, ThreadMark } from "../watch/thread-cursors.ts";
import { type Seal, SEAL_BYTES } from "./seal.ts";

const ID_BYTES = 16;
const NUMBER_BYTES = 6;
const NUMBER_MAX = 2 ** (8 * NUMBER_BYTES) - 1;
const BODY_BYTES = ID_BYTES + 3 * NUMBER_BYTES;
const SEALED = /^([A-Za-z0-9_-]{67})\.(\d{1,16})$/;

export const createThreadCursors = (seal: Seal): ThreadCursors => ({
  textOf: async (thread, mark) => {
    const body = bodyOf(mark);
    return Buffer.concat([await seal.of(sealedBytes(thread, body)), body]).toString("base64url");
  },
  open: (field, text) => {
    if (text === "") return undefined;
    const foreign = (): Error =>
      invalidField(field, "BAD_CURSOR", "is not a cursor of this thread");
    const [, sealed = "", digits = ""] = SEALED.exec(text) ?? [];
    const bytes = Buffer.from(sealed, "base64url");
    if (sealed === "" || bytes.toString("base64url") !== sealed) throw foreign();
    const [proof, body] = [bytes.subarray(0, SEAL_BYTES), bytes.subarray(SEAL_BYTES)];
    const check = async (thread: SameThread): Promise<void> => {
      if (!(await seal.holds(proof, sealedBytes(thread, body)))) throw foreign();
    };
    return { mark: markOf(body), afterSeq: cursorOfText(field, digits), check };
  },
});

function bodyOf({ runId: id, turn, position, lastSeq }: ThreadMark): Buffer {
  const body = Buffer.alloc(BODY_BYTES);
  body.write(id.replaceAll("-", ""), "hex");
  [turn, position, lastSeq].forEach((number, index) =>
    body.writeUIntBE(Math.min(number, NUMBER_MAX), ID_BYTES + index * NUMBER_BYTES, NUMBER_BYTES),
  );
  return body;
}

function markOf(body: Buffer): ThreadMark {
  const hex = body.toString("hex", 0, ID_BYTES);
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  const numberAt = (index: number): number =>
    body.readUIntBE(ID_BYTES + index * NUMBER_BYTES, NUMBER_BYTES);
  return { runId: runId(id), turn: numberAt(0), position: numberAt(1), lastSeq: numberAt(2) };
}

const sealedBytes = ({ tenantId, threadId, createdAt }: SameThread, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`thread cursor\n${tenantId}\n${threadId}\n${createdAt}\n`), body]);
