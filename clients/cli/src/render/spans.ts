// Text for a terminal as styled pieces, cut to width before it is painted, so that colour never breaks a line and a line never
// wraps. What workflows said is made harmless here: a terminal acts on control characters.

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

/** Without control, format and line characters; tabs become spaces. */
export const safeText = (text: string): string =>
  text.replaceAll("\t", "  ").replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "");

const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

const characterWidth = (character: string): number => {
  if (/\p{M}/u.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
};

/** How many columns a text takes. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** The text cut to `width` columns, with … where something is missing. */
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

/** The text in pieces of at most `width` columns. */
export function wrapText(text: string, width: number): readonly string[] {
  const pieces: string[] = [];
  let piece = "";
  let used = 0;
  for (const character of text) {
    const columns = characterWidth(character);
    if (used + columns > width) {
      pieces.push(piece);
      piece = "";
      used = 0;
    }
    piece += character;
    used += columns;
  }
  return [...pieces, piece];
}

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
