// Words that look like an answer. They follow from a seed: the same seed gives the same words on every machine.

const WORDS = (
  "the order was placed on a quiet morning and every step of it went forwards never back while log kept " +
  "what happened in one long line that anyone can read again from its start to end so nothing is lost " +
  "doubled or stuck when machines fail another takes over where first left off"
).split(" ");

const SENTENCE_WORDS = 9;

/** `count` words with their spaces; joined they are the text. */
export function loremWords(seed: string, count: number): string[] {
  let state = hashOf(seed);
  return Array.from({ length: count }, (_, index) => {
    // A linear congruential step. The high bits are the random ones.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const word = WORDS[(state >>> 16) % WORDS.length] ?? "";
    const isFirst = index % SENTENCE_WORDS === 0;
    const isLast = (index + 1) % SENTENCE_WORDS === 0 || index === count - 1;
    const cased = isFirst ? word.charAt(0).toUpperCase() + word.slice(1) : word;
    return `${index === 0 ? "" : " "}${cased}${isLast ? "." : ""}`;
  });
}

/** FNV-1a over UTF-16 units. */
function hashOf(text: string): number {
  let hash = 2_166_136_261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  return hash >>> 0;
}
