// The behaviours that must work, one line each in ids.txt: an id and its meaning.
import { readFileSync } from "node:fs";

/** One promised behaviour. */
export type Behaviour = { readonly id: string; readonly text: string };

/** All of them, in order. */
export function behaviours(): readonly Behaviour[] {
  const lines = readFileSync(new URL("ids.txt", import.meta.url), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => {
    const space = line.indexOf(" ");
    return { id: line.slice(0, space), text: line.slice(space + 1) };
  });
}

/** `S3.21` is of the seed S3. */
export const seedOf = (id: string): string => id.slice(0, id.indexOf("."));

/** The ids a text names, ranges such as S1.33-S1.37 spelled out. */
export function idsIn(text: string): readonly string[] {
  const found: string[] = [];
  for (const [, seed, first, last] of text.matchAll(
    /\b(S\d)\.(\d+)(?:\s?[-–]\s?(?:\1\.)?(\d+))?/g,
  )) {
    const from = Number(first);
    const to = last === undefined ? from : Number(last);
    for (let index = from; index <= to; index += 1) found.push(`${seed}.${index}`);
  }
  return found;
}
