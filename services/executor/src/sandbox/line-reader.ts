// Splits a byte stream into lines of bounded length. A peer that never ends its line cannot fill the memory.

/** Returns a sink for chunks. `onLine` gets each whole line. `onOverflow` is called once if a line is longer than `bytesMax`. */
export function lineReader(options: {
  readonly bytesMax: number;
  readonly onLine: (line: string) => void;
  readonly onOverflow: () => void;
}): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let size = 0;
  let overflowed = false;
  return (chunk) => {
    let rest = chunk;
    while (!overflowed) {
      const end = rest.indexOf(10);
      const piece = end === -1 ? rest : rest.subarray(0, end);
      size += piece.length;
      if (size > options.bytesMax) {
        overflowed = true;
        parts = [];
        options.onOverflow();
        return;
      }
      if (piece.length > 0) parts.push(piece);
      if (end === -1) return;
      const line = Buffer.concat(parts).toString("utf8");
      parts = [];
      size = 0;
      options.onLine(line);
      rest = rest.subarray(end + 1);
    }
  };
}
