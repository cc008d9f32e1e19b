// Reads SQL text: the named queries of a `.sql` file, the named parameters of a query, the statements of a migration. It is pure.
//
// A file holds sections. `-- name: page` begins a query. `-- part: columns` begins text that queries of the same file include as
// `{columns}`. A parameter is written `:run_ids`; PostgreSQL gets `$1`, `$2`, … in its place.

/** The search skips strings, quoted names, comments, dollar quotes, and casts, which look like parameters. */
const OPAQUE = String.raw`'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\$(\w*)\$[\s\S]*?\$\1\$|::`;
const PARAMETER = new RegExp(String.raw`(?:${OPAQUE})|:([a-z][a-z0-9_]*)`, "g");
const END = new RegExp(`(?:${OPAQUE})|(;)`, "g");
const SECTION = /^-- (name|part): ([a-z][a-z0-9_]*)$/gm;
const COMMENT_LINE = /^\s*--.*\n?/gm;
const INCLUDE = /\{([a-z_]+)\}/g;

/** The queries of a file by name, with their parts and without their comments. @throws for a faulty file */
export function namedQueries(file: string): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  const queries = new Map<string, string>();
  const heads = [...file.matchAll(SECTION)];
  for (const [index, head] of heads.entries()) {
    const [line, kind = "", name = ""] = head;
    const sections = kind === "part" ? parts : queries;
    if (sections.has(name)) throw new Error(`the ${kind} ${name} is there twice`);
    const body = file.slice(head.index + line.length, heads[index + 1]?.index);
    sections.set(name, included(body.replaceAll(COMMENT_LINE, "").trim(), parts));
  }
  return queries;
}

const included = (text: string, parts: ReadonlyMap<string, string>): string =>
  text.replaceAll(INCLUDE, (_, name: string) => {
    const part = parts.get(name);
    if (part === undefined) throw new Error(`the part ${name} is not in the file above its use`);
    return part;
  });

/** Replaces named parameters by numbers, in the order of their first use. The first is `$1`. */
export function compile(text: string) {
  const parameters: string[] = [];
  const compiled = text.replaceAll(PARAMETER, (found, _tag: unknown, name?: string) => {
    if (name === undefined) return found;
    if (!parameters.includes(name)) parameters.push(name);
    return `$${parameters.indexOf(name) + 1}`;
  });
  return { text: compiled, parameters };
}

/** The statements of a text, in order, each without its semicolon. */
export function statementsOf(text: string): string[] {
  const statements: string[] = [];
  let from = 0;
  for (const end of text.matchAll(END)) {
    if (end[2] === undefined) continue;
    statements.push(text.slice(from, end.index));
    from = end.index + 1;
  }
  statements.push(text.slice(from));
  return statements
    .map((statement) => statement.trim())
    .filter((statement) => statement.replaceAll(COMMENT_LINE, "").trim() !== "");
}
