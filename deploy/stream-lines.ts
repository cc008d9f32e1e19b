// Streamed text where nothing can be redrawn: a line as soon as one is full, and what is left when its node moves on.

const LINE_CHARS = 72;

/** Gathers the pieces of each node; what it returns is ready to be printed. */
export type StreamLines = {
  add(nodeId: string, text: string): readonly string[];
  flush(nodeId: string): readonly string[];
};

/** Lines by node, since several may stream at once. */
export function streamLines(lineChars = LINE_CHARS): StreamLines {
  const pending = new Map<string, string>();
  const line = (nodeId: string, text: string): string => `${nodeId} ▏ ${text.trim()}`;
  return {
    add(nodeId, text) {
      const parts = `${pending.get(nodeId) ?? ""}${text}`.split("\n");
      let rest = parts.pop() ?? "";
      const ready = parts.filter((part) => part.trim() !== "");
      const end = rest.length > lineChars ? rest.lastIndexOf(" ") : -1;
      if (end > 0) {
        ready.push(rest.slice(0, end));
        rest = rest.slice(end);
      }
      pending.set(nodeId, rest);
      return ready.map((part) => line(nodeId, part));
    },
    flush(nodeId) {
      const rest = pending.get(nodeId) ?? "";
      pending.delete(nodeId);
      return rest.trim() === "" ? [] : [line(nodeId, rest)];
    },
  };
}
