// Text for a terminal as styled pieces, and the shape and colour of each status. A line is cut to the width before it gets colours, so colours
// never break it and it never wraps. This file also removes control characters from the texts of workflows, because a terminal would act
// on them.

export type Style =
  | "plain"
  | "bold"
  | "dim"
  | "red"
  | "green"
  | "yellow"
  | "blue"
  | "magenta"
  | "cyan";

export interface Span {
  readonly text: string;
  readonly style?: Style;
}

export type Line = readonly Span[];

export interface Canvas {
  readonly width: number;
  readonly hasColour: boolean;
}

const SGR: Readonly<Record<Style, string>> = {
  plain: "",
  bold: "1",
  dim: "2",
  red: "31",
  green: "32",
  yellow: "33",
  blue: "34",
  magenta: "35",
  cyan: "36",
};

/** The text without control, format and line characters. Tabs become spaces. */
export const safeText = (text: string): string =>
  text.replaceAll("\t", "  ").replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "");

const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

const characterWidth = (character: string): number => {
  if (/\p{M}/u.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
};

/** How many columns a text needs. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** The text cut to `width` columns, with … at a cut. */
export function cutText(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const character of text) {
    used += characterWidth(character);
    if (used > width - 1) break;
    kept += character;
  }
  return width > 0 ? `${kept}…` : "";
}

/** The text in lines of at most `width` columns, broken at spaces. Only a word longer than a line is broken inside. */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/(?<=\s)(?=\S)/)) {
    if (displayWidth(line + word.trimEnd()) <= width) {
      line += word;
      continue;
    }
    if (line !== "") lines.push(line.trimEnd());
    const parts = brokenText(word, width);
    lines.push(...parts.slice(0, -1));
    line = parts.at(-1) ?? "";
  }
  return [...lines, line.trimEnd()];
}

/** The text in pieces of at most `width` columns. */
function brokenText(text: string, width: number): readonly string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const character of text) {
    if (displayWidth(piece + character.trimEnd()) > width) {
      pieces.push(piece);
      piece = "";
    }
    piece += character;
  }
  return [...pieces, piece];
}

const SHORT_LENGTH = 8;

/** The end of an id: UUIDv7 begins with the time, which is equal for runs of one minute. The console shows the same characters. */
export const shortId = (id: string): string => id.slice(-SHORT_LENGTH);

/** The text filled with spaces to `width` columns. */
export const padText = (text: string, width: number): string =>
  text + " ".repeat(Math.max(0, width - displayWidth(text)));

/** One line, painted, at most `width` columns wide. */
export function paintLine(line: Line, canvas: Canvas): string {
  let left = canvas.width;
  let painted = "";
  for (const { text, style = "plain" } of line) {
    const piece = cutText(safeText(text), left);
    left -= displayWidth(piece);
    const code = SGR[style];
    painted +=
      canvas.hasColour && code !== "" && piece !== "" ? `\u001b[${code}m${piece}\u001b[0m` : piece;
    if (left <= 0) break;
  }
  return painted.trimEnd();
}

interface Look {
  readonly shape: string;
  readonly style: Style;
}

const LOOKS: Readonly<Record<string, Look>> = {
  pending: { shape: "○", style: "dim" },
  queued: { shape: "◌", style: "blue" },
  scheduled: { shape: "◌", style: "blue" },
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
