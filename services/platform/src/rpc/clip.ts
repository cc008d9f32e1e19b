// Cuts what an error may repeat of its caller's input: a message is for reading, and a megabyte of it is an attack.

/** The longest unbroken piece of input a message may repeat. */
export const ECHO_LENGTH = 64;
const MESSAGE_LENGTH = 1_000;

/** `text` in at most `length` characters, the last one an ellipsis where something was cut. */
export const clip = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;

const LONG_WORD = new RegExp(`[^\\s]{${ECHO_LENGTH + 1},}`, "g");
/** An opening quote stands at the start of a word; the apostrophe inside of one is none. It may be left open. */
const LONG_QUOTE = new RegExp(`(?<!\\w)(["'\`])((?:(?!\\1).){${ECHO_LENGTH + 1},})(\\1|$)`, "gs");

/** A message whose quoted parts and words are at most 64 characters long each, and which is not long as a whole. */
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
