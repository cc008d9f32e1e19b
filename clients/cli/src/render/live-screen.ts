// Redraws a block of lines in place on a terminal. It moves only within its own lines, so the scrollback stays intact.

/** The terminal that it writes to. */
export interface Screen {
  write(text: string): void;
}

const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const CLEAR_LINE_END = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";
/** Synchronized output: terminals that support it show the frame at once, and others ignore it. */
const BEGIN_FRAME = "\u001b[?2026h";
const END_FRAME = "\u001b[?2026l";

export class LiveScreen {
  readonly #screen: Screen;
  #height = 0;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Replaces the block drawn before. */
  draw(lines: readonly string[]): void {
    const up = this.#height > 0 ? `\u001b[${this.#height}A\r` : HIDE_CURSOR;
    const body = lines.map((line) => `${line}${CLEAR_LINE_END}\n`).join("");
    this.#screen.write(`${BEGIN_FRAME}${up}${body}${CLEAR_BELOW}${END_FRAME}`);
    this.#height = lines.length;
  }

  /** Keeps the lines on the screen and shows the cursor again. */
  stop(): void {
    this.#screen.write(SHOW_CURSOR);
    this.#height = 0;
  }
}
