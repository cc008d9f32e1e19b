// The answers of the offline model: written answers to the questions of the examples, in several voices. To any other question it answers
// that it has none. The same voice and prompt give the same answer on every machine.

type Voices = Readonly<Record<string, string>>;

/** Answers by question, then by voice. An editor weighs the answers of the others. */
const ANSWERS: Readonly<Record<string, Voices>> = {
  "Why do ratchets only turn one way?": {
    scholar:
      "Each tooth of a ratchet has a gentle slope on one side and a steep face on the other. Turned forwards, the slope lifts the pawl over " +
      "the tooth. Turned backwards, the pawl drops against the steep face and stops the wheel. Source: The Feynman Lectures, volume I, chapter 46.",
    sceptic:
      "They do not always. A worn tooth, a tired spring or a hard shake lets the pawl slip, and a ratchet small enough is kicked backwards by " +
      "heat alone. What gives the direction is not the wheel but the force on the pawl.",
    editor:
      "Both agree that the pawl decides, not the wheel. The shape of the teeth makes forwards easy and backwards impossible, as long as " +
      "something presses the pawl down: that is the scholar's answer with the sceptic's condition. So a ratchet turns one way for as long as it is kept in order.",
  },
  "What holds a pawl in its place?": {
    scholar:
      "A spring or its own weight presses the pawl into the teeth, and a pin carries it. Under load the steep face of the tooth pushes the pawl " +
      "towards the pin, so the harder the wheel pulls, the firmer it sits. Source: any textbook on machine elements.",
    sceptic:
      "Only while the geometry is right. If the line of force passes on the wrong side of the pin, the same load throws the pawl out, and no " +
      "spring of reasonable size will hold it.",
    editor:
      "A spring seats the pawl and the load keeps it there, provided that the pin stands where the force pulls the pawl inwards. The scholar " +
      "names the parts, the sceptic the one mistake in drawing them.",
  },
  "Who invented the escapement?": {
    scholar:
      "Philo of Byzantium described one for a washstand in the third century BC. Su Song built one into his water clock in Kaifeng around " +
      "1090, and the verge escapement of mechanical clocks appeared in Europe before 1300; its inventor is unknown.",
    sceptic:
      "The question wants one name and there is none. These devices share a word, not a descent: nothing shows that the makers of the verge " +
      "had heard of Kaifeng.",
    editor:
      "No single inventor can be named. Escapements appeared at least three times, in Greece, in China and in medieval Europe, and the scholar's dates " +
      "stand beside the sceptic's warning not to draw a line through them.",
  },
};

interface Pattern {
  readonly asks: RegExp;
  readonly say: (match: RegExpExecArray) => string;
}

/** Prompts of the examples that hold figures or news. */
const PATTERNS: readonly Pattern[] = [
  {
    asks: /^(\S+) sold (\d+) pieces for (\d+) cents\./,
    say: ([, shop = "", pieces = "", cents = ""]) =>
      `${shop} took ${Math.round(Number(cents) / Math.max(1, Number(pieces)))} cents a piece.`,
  },
  {
    // The answer does not repeat the news, because moderation may hold those back.
    asks: /^A story about: /,
    say: () =>
      "It began with a sketch on the back of an invoice. Two of us believed in it, then five, then the whole floor. There were weeks " +
      "when nothing fitted and one night when everything did. In the morning we made coffee, opened the windows and agreed to tell the world.",
  },
  {
    asks: /^Tell the story of the run that would not be lost/,
    say: () =>
      "A run set out one morning with a single errand: to tell this story to its end. An executor took it by the hand, and behind them a " +
      "scheduler wrote down each step, in ink. Half-way through, the executor vanished. No goodbye, no last word; its lease simply stopped " +
      "being renewed. The scheduler looked at its log, crossed out nothing, and waited for another pair of hands. A new executor came, was " +
      "given the same errand under a new number, and began the story again. Had the first one returned with its half of the story, the " +
      "door would have been closed to it: its number was no longer the latest. So the story was told once, whole, and in order. " +
      "And the run was not lost, not doubled, and not stuck.",
  },
];

const QUOTE_LENGTH = 160;

/** The answer of a voice to a prompt. The question is the prompt's first line. */
export function answerOf(voice: string, prompt: string): string {
  const [question = ""] = prompt.trim().split("\n");
  const written = ANSWERS[question]?.[voice];
  if (written !== undefined) return written;
  for (const { asks, say } of PATTERNS) {
    const match = asks.exec(question);
    if (match !== null) return say(match);
  }
  const quoted = question.length > QUOTE_LENGTH ? `${question.slice(0, QUOTE_LENGTH)}…` : question;
  return `I am the offline model and know few answers. Set PAWL_LLM_PROVIDERS to ask a real one. You asked: ${quoted}`;
}

/** The words of a text with their spaces; joined they are the text. */
export const wordsOf = (text: string): string[] => text.match(/\s*\S+/g) ?? [];
