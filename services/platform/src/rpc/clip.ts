// Cuts the caller's input where an error repeats it. People read messages, and a megabyte of input in one is an attack.

/** The longest unbroken piece of input that a message may repeat. */
const ECHO_LENGTH = 64;
const MESSAGE_LENGTH = 1_000;

/** `text` in at most `length` characters. If it was cut, the last character is an ellipsis. */
export const clip = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;

const LONG_WORD = new RegExp(`[^\\s]{${ECHO_LENGTH + 1},}`, "g");
/** An opening quote is at the start of a word. An apostrophe inside a word is not one. The closing quote may be missing. */
const LONG_QUOTE = new RegExp(`(?<!\\w)(["'\`])((?:(?!\\1).){${ECHO_LENGTH + 1},})(\\1|$)`, "gs");

/** A message whose quoted parts and words have at most 64 characters each, and whose whole length is bounded. */
export const clipMessage = (message: string): string => {
  const text = message
    .slice(0, 4 * MESSAGE_LENGTH)
    .replace(
      LONG_QUOTE,
      (_, quote: string, quoted: string) => quote + clip(quoted, ECHO_LENGTH) + quote,
    )
    .replace(LONG_WORD, (word) => clip(word, ECHO_LENGTH));
  return clip(text, MESSAGE_LENGTH).toWellFormed();
};
