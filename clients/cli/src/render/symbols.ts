// How a status looks: a shape and a colour, so that a reader can tell statuses apart without colour too.

import type { Span, Style } from "./spans.ts";

interface Look {
  readonly shape: string;
  readonly style: Style;
}

const LOOKS: Readonly<Record<string, Look>> = {
  pending: { shape: "○", style: "dim" },
  queued: { shape: "◌", style: "blue" },
  running: { shape: "●", style: "cyan" },
  retrying: { shape: "↻", style: "yellow" },
  waiting: { shape: "◇", style: "magenta" },
  paused: { shape: "‖", style: "magenta" },
  completed: { shape: "✔", style: "green" },
  failed: { shape: "✖", style: "red" },
  timed_out: { shape: "⧖", style: "red" },
  timeout: { shape: "⧖", style: "red" },
  cancelled: { shape: "⊘", style: "yellow" },
  skipped: { shape: "⤼", style: "dim" },
};

const UNKNOWN: Look = { shape: "?", style: "plain" };

/** Shape and colour of a run's or node's status by its short name. */
export const lookOf = (status: string): Look => LOOKS[status] ?? UNKNOWN;

/** The status in words behind its shape. */
export function statusSpan(status: string): Span {
  const { shape, style } = lookOf(status);
  return { text: `${shape} ${status}`, style };
}
