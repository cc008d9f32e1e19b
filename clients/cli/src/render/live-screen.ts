// Redraws a block of lines in place on a terminal. It moves only within its own lines, so the scrollback stays intact.

const FRAME_MS = 100;
const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const CLEAR_LINE_END = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";
/** Synchronized output. Terminals that support it show the frame at once, and others ignore it. */
const BEGIN_FRAME = "\u001b[?2026h";
const END_FRAME = "\u001b[?2026l";

/** Draws the present lines ten times a second. The function that it returns draws the last frame and shows the cursor again. */
export function startFrames(
  write: (text: string) => void,
  linesOf: () => readonly string[],
): () => void {
  let height = 0;
  const draw = (): void => {
    const lines = linesOf();
    const up = height > 0 ? `\u001b[${height}A\r` : HIDE_CURSOR;
    const body = lines.map((line) => `${line}${CLEAR_LINE_END}\n`).join("");
    write(`${BEGIN_FRAME}${up}${body}${CLEAR_BELOW}${END_FRAME}`);
    height = lines.length;
  };
  draw();
  const timer = setInterval(draw, FRAME_MS);
  return () => {
    clearInterval(timer);
    draw();
    write(SHOW_CURSOR);
  };
}
