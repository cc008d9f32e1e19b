import fc from "fast-check";
import { expect, test } from "vitest";
import type { ModerationGateway, Stretch } from "./moderation.ts";
import { ruleSetSchema } from "./rule-set.ts";
import { rulesGateway } from "./rules-gateway.ts";
import { StreamWindow } from "./stream-window.ts";

fc.configureGlobal({ seed: 1 });

const SUBJECT = { phase: "output", runId: "r", nodeId: "n" } as const;

function gatewayOf(...rules: readonly object[]): ModerationGateway {
  const set = ruleSetSchema.parse({ window_chars: 16, rules });
  if (set === undefined) throw new Error("no rules");
  return rulesGateway(set);
}

/** Streams pieces; returns the shown text and the broken rules. */
async function stream(gateway: ModerationGateway, pieces: readonly string[]) {
  const window = new StreamWindow(gateway, SUBJECT, new AbortController().signal);
  let shown = "";
  for (const piece of [...pieces, undefined]) {
    const passed = await (piece === undefined ? window.end() : window.push(piece));
    if (passed.kind === "clear") shown += passed.text;
    else if (passed.kind === "found") return { shown, rules: passed.findings.map((f) => f.rule) };
    else throw new Error(passed.message);
  }
  return { shown, rules: [] };
}

/** A text cut at arbitrary places. */
const piecesOf = (text: string): fc.Arbitrary<string[]> =>
  fc.array(fc.nat(text.length), { maxLength: 12 }).map((cuts) => {
    const ends = [...new Set([...cuts, text.length])].toSorted((one, other) => one - other);
    return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
  });

const SMALL = fc.stringMatching(/^[ab for]{0,40}$/);
const PHRASE = "forbidden fruit";

test("a phrase is not shown, however it is cut, nor the text behind it (S1.18)", async () => {
  const gateway = gatewayOf({ id: "fruit", literal: PHRASE });
  const texts = fc.tuple(SMALL, SMALL).chain(([before, after]) =>
    fc.record({
      before: fc.constant(before),
      pieces: piecesOf(`${before}FORBIDDEN Fruit${after}`),
    }),
  );
  await fc.assert(
    fc.asyncProperty(texts, async ({ before, pieces }) => {
      const { shown, rules } = await stream(gateway, pieces);
      expect(rules).toEqual(["fruit"]);
      expect(before.startsWith(shown)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("a text without the phrase arrives whole and in order, however it is cut (S1.20)", async () => {
  const gateway = gatewayOf({ id: "fruit", literal: PHRASE }, { id: "key", pattern: "sk-\\d{4,}" });
  const texts = fc
    .stringMatching(/^[ab for\u{1F600}]{0,60}$/u)
    .chain((text) => fc.record({ text: fc.constant(text), pieces: piecesOf(text) }));
  await fc.assert(
    fc.asyncProperty(texts, async ({ text, pieces }) => {
      expect(await stream(gateway, pieces)).toEqual({ shown: text, rules: [] });
    }),
    { numRuns: 300 },
  );
});

test("a pattern is found over any cuts, and a match within the window is not shown", async () => {
  const gateway = gatewayOf({ id: "key", pattern: "sk-\\d{4,8}" });
  await fc.assert(
    fc.asyncProperty(piecesOf("the key is sk-1234567, keep it"), async (pieces) => {
      const { shown, rules } = await stream(gateway, pieces);
      expect(rules).toEqual(["key"]);
      expect("the key is ".startsWith(shown)).toBe(true);
    }),
  );
});

test("a word is judged when its end is known", async () => {
  const gateway = gatewayOf({ id: "word", pattern: "\\bfoo\\b" });
  expect(await stream(gateway, ["a ", "foo", "d court"])).toEqual({
    shown: "a food court",
    rules: [],
  });
  expect(await stream(gateway, ["a ", "foo", " fighter"])).toMatchObject({ rules: ["word"] });
  expect(await stream(gateway, ["a ", "foo"])).toEqual({ shown: "", rules: ["word"] });
});

test.each(["ab$", "^ab", "^a+$", "\\bfoo\\b", "o+(?:[^r]|$)", "(?:^|b)o+(?:r|$)", "\\Bo"])(
  "%s is found in a stream, however it is cut, exactly where it is found in the whole text",
  async (pattern) => {
    const gateway = gatewayOf({ id: "one", pattern });
    const texts = fc
      .stringMatching(/^[abfor ]{0,15}$/)
      .chain((text) => fc.record({ text: fc.constant(text), pieces: piecesOf(text) }));
    await fc.assert(
      fc.asyncProperty(texts, async ({ text, pieces }) => {
        const { shown, rules } = await stream(gateway, pieces);
        const isFound = new RegExp(pattern, "i").test(text);
        expect(rules).toEqual(isFound ? ["one"] : []);
        if (!isFound) expect(shown).toBe(text);
      }),
      { numRuns: 300 },
    );
  },
);

test("$ is the end of the text, not of a piece, also for a match longer than the window", async () => {
  const gateway = gatewayOf({ id: "end", pattern: "a{4,}$" });
  const long = Array.from({ length: 24 }, () => "a");
  expect(await stream(gateway, [...long, "b"])).toEqual({
    shown: `${"a".repeat(24)}b`,
    rules: [],
  });
  expect(await stream(gateway, long)).toMatchObject({ rules: ["end"] });
});

test("a finding names only the rules that the text breaks, from its start to its end", async () => {
  const gateway = gatewayOf({ id: "word", pattern: "foo" }, { id: "all", pattern: "^foo$" });
  expect(await stream(gateway, ["a foo", " b"])).toMatchObject({ rules: ["word"] });
  expect(await stream(gateway, ["foo"])).toMatchObject({ rules: ["word"] });
});

test("a match longer than the window is found although its beginning was shown", async () => {
  const gateway = gatewayOf({ id: "long", pattern: "a{20,}b" });
  const { rules } = await stream(gateway, [
    "x",
    ...Array.from({ length: 24 }, () => "a"),
    "b",
    "c",
  ]);
  expect(rules).toEqual(["long"]);
});

test("a gateway that looks in steps is asked for stretches that overlap", async () => {
  const asked: Stretch[] = [];
  const gateway: ModerationGateway = {
    contextChars: 4,
    stepChars: 4,
    check: () => ({ ok: true, findings: [] }),
    checkStretch: (stretch) => {
      asked.push(stretch);
      const { length } = stretch.text;
      return { ok: true, findings: [], clear: stretch.isLast ? length : length - 4 };
    },
  };
  const { shown } = await stream(gateway, Array.from("0123456789abc"));
  expect(shown).toBe("0123456789abc");
  expect(asked.map(({ text }) => text)).toEqual(["0123", "01234567", "0123456789ab", "456789abc"]);
});

test("no text passes after a finding, or if moderation cannot check", async () => {
  const gateway = gatewayOf({ id: "x", literal: "xx" });
  const window = new StreamWindow(gateway, SUBJECT, new AbortController().signal);
  expect(await window.push("a xx b")).toMatchObject({ kind: "found" });
  expect(await window.push("more")).toEqual({ kind: "clear", text: "" });
  expect(await window.end()).toEqual({ kind: "clear", text: "" });
  const deaf = { ...gateway, checkStretch: () => ({ ok: false, message: "away" }) as const };
  const other = new StreamWindow(deaf, SUBJECT, new AbortController().signal);
  expect(await other.push("a")).toEqual({ kind: "unavailable", message: "away" });
});
