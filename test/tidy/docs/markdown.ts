// Reads a Markdown file for the checks: code fences, links, anchors, and the prose between them.

/** A fenced code block: its language, its text, and the line of its first line of text. */
interface Fence {
  readonly language: string;
  readonly text: string;
  readonly line: number;
}

/** A unit of prose: a paragraph, an item of a list, a cell of a table or a heading. */
interface Prose {
  readonly text: string;
  readonly line: number;
}

interface Line {
  readonly text: string;
  readonly line: number;
  /** The language of the fence that this line is in; undefined outside of fences. */
  readonly fence: string | undefined;
}

const FENCE = /^\s*(?:```|~~~)(\S*)/;

function linesOf(markdown: string): readonly Line[] {
  let fence: string | undefined;
  return markdown.split("\n").flatMap((text, at): Line[] => {
    const mark = FENCE.exec(text);
    if (mark === null) return [{ text, line: at + 1, fence }];
    fence = fence === undefined ? (mark[1] ?? "") : undefined;
    // The mark itself separates: it is neither code nor prose.
    return [{ text: "", line: at + 1, fence: undefined }];
  });
}

/** Every code fence of a page, in order. */
export function fencesOf(markdown: string): readonly Fence[] {
  const fences: { language: string; lines: string[]; line: number }[] = [];
  let isOpen = false;
  for (const { text, line, fence } of linesOf(markdown)) {
    if (fence === undefined) isOpen = false;
    else if (isOpen) fences.at(-1)?.lines.push(text);
    else {
      fences.push({ language: fence, lines: [text], line });
      isOpen = true;
    }
  }
  return fences.map(({ language, lines, line }) => ({ language, text: lines.join("\n"), line }));
}

/** The page with every fence blanked out, so that line numbers stay. */
function withoutFences(markdown: string): string {
  return linesOf(markdown)
    .map(({ text, fence }) => (fence === undefined ? text : ""))
    .join("\n");
}

/** The targets of all links and pictures outside of code. */
export function linksOf(markdown: string): readonly string[] {
  const plain = withoutFences(markdown).replace(/`[^`\n]*`/g, "");
  return [...plain.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
}

/** The anchors that a page's headings make, by the rules of GitHub. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const counts = new Map<string, number>();
  for (const [, heading = ""] of withoutFences(markdown).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = slugOf(heading);
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

function slugOf(heading: string): string {
  const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/`/g, "");
  return words
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
}

/** Words in backticks outside of fences, with their lines. */
export function inlineCodeOf(markdown: string): readonly Prose[] {
  return withoutFences(markdown)
    .split("\n")
    .flatMap((text, at) =>
      [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => ({ text: code, line: at + 1 })),
    );
}

const GENERATED = /<!-- generated: [\w-]+ -->[\s\S]*?<!-- end of generated -->/g;

/** The prose that people wrote: no fences, no generated blocks, no code, no comments, no targets of links. */
export function proseOf(markdown: string): readonly Prose[] {
  const blank = (text: string): string => text.replace(/[^\n]/g, "");
  const written = withoutFences(markdown.replace(GENERATED, blank))
    .replace(/<!--[\s\S]*?-->/g, blank)
    .replace(/`[^`\n]*`/g, "code")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1");
  const units: { text: string; line: number }[] = [];
  let isInside = false;
  for (const [at, text] of written.split("\n").entries()) {
    const isCell = /^\s*\|/.test(text);
    if (isCell) {
      const cells = text.split(/(?<!\\)\|/).map((cell) => cell.trim());
      units.push(...cells.map((cell) => ({ text: cell, line: at + 1 })));
    }
    const starts = /^\s*(#{1,6} |[-*] |\d+\. |> )/.test(text);
    if (text.trim() === "" || isCell) isInside = false;
    else if (isInside && !starts) {
      const last = units.at(-1);
      if (last !== undefined) last.text += ` ${text.trim()}`;
    } else {
      units.push({ text: text.replace(/^\s*(#{1,6} |[-*] |\d+\. |> )/, "").trim(), line: at + 1 });
      isInside = true;
    }
    if (/^#{1,6} /.test(text)) isInside = false;
  }
  return units.filter(({ text }) => /[A-Za-z]/.test(text));
}
