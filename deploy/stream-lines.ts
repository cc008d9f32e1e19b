// Streamed text for output that cannot be redrawn. It prints each line when it is full, and the rest when its node ends.

const LINE_CHARS = 72;

/** Collects the deltas by node, because several nodes may stream at once. `add` and `flush` return the lines to print. */
export function streamLines(lineChars = LINE_CHARS) {
  const pending = new Map<string, string>();
  const line = (nodeId: string, text: string): string => `${nodeId} ▏ ${text.trim()}`;
  return {
    add(nodeId: string, text: string): readonly string[] {
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
    flush(nodeId: string): readonly string[] {
      const rest = pending.get(nodeId) ?? "";
      pending.delete(nodeId);
      return rest.trim() === "" ? [] : [line(nodeId, rest)];
    },
  };
}
