// Reads the zip of a Go module as a module proxy serves it, and makes the checksum under which Go's checksum database lists it.
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { inflateRawSync } from "node:zlib";

const END_MARK = 0x06054b50;
const END_BYTES = 22;
const ENTRY_MARK = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;

/** One file of the zip, or a folder, whose name ends with a slash. */
interface ZipFile {
  readonly name: string;
  bytes(): Buffer;
}

/** The files of a zip. @throws Error if it is not a whole zip of at most 4 GiB */
export function filesOf(zip: Buffer): ZipFile[] {
  const end = endOf(zip);
  const files: ZipFile[] = [];
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (zip.readUInt32LE(at) !== ENTRY_MARK) throw new Error("the zip is damaged");
    const nameBytes = zip.readUInt16LE(at + 28);
    const name = zip.toString("utf8", at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    const entry = at;
    files.push({ name, bytes: () => contentOf(zip, entry) });
    at += ENTRY_BYTES + nameBytes + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return files;
}

/** The record at the end of a zip; a comment may follow it. */
function endOf(zip: Buffer): number {
  for (let at = zip.length - END_BYTES; at >= 0; at -= 1)
    if (zip.readUInt32LE(at) === END_MARK) return at;
  throw new Error("this is not a zip");
}

function contentOf(zip: Buffer, entry: number): Buffer {
  const method = zip.readUInt16LE(entry + 10);
  const packedBytes = zip.readUInt32LE(entry + 20);
  const local = zip.readUInt32LE(entry + 42);
  const start = local + LOCAL_BYTES + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const packed = zip.subarray(start, start + packedBytes);
  if (method === STORED) return packed;
  if (method === DEFLATED) return inflateRawSync(packed);
  throw new Error(`the zip uses the method ${method}`);
}

/** The checksum `h1:…` of a module's files, as in go.sum. */
export function moduleSum(files: readonly ZipFile[]): string {
  const sha256 = (bytes: Buffer | string) => createHash("sha256").update(bytes);
  const lines = files
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((file) => `${sha256(file.bytes()).digest("hex")}  ${file.name}\n`);
  return `h1:${sha256(lines.join("")).digest("base64")}`;
}

/** Writes the files below `folder`, without the `prefix` of the module. A zip of a module has no file modes, so `isProgram` decides. */
export function writeModule(
  files: readonly ZipFile[],
  { folder, prefix }: { readonly folder: string; readonly prefix: string },
  isProgram: (name: string) => boolean,
): void {
  for (const file of files) {
    const name = file.name.slice(prefix.length);
    if (!file.name.startsWith(prefix) || name.split("/").includes(".."))
      throw new Error(`the zip has a file outside of its module: ${file.name}`);
    if (name.endsWith("/") || name === "") continue;
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file.bytes());
    if (isProgram(name)) chmodSync(path, 0o755);
  }
}
