// Serves the console: the files of clients/web/dist, and its one page for every address that the page routes. A browser that opens an
// unknown address gets the same page with status 404, and the page reports it. Other callers get the gateway's JSON. The gateway reads the
// files at first use and looks paths up in that list, so no request path reaches the file system.

import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type EdgeHandler,
  type EdgeRequest,
  type EdgeResponse,
  pathOf,
} from "../request/exchange.ts";

const DIST = fileURLToPath(new URL("../../../../clients/web/dist/", import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

const HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "content-security-policy":
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'",
} as const;

const NOT_BUILT = `<!doctype html><meta charset="utf-8"><title>Pawl</title>
<body style="font-family:system-ui;max-width:40em;margin:4em auto">
<h1>Pawl</h1><p>The gateway is up. The console is not built yet: run <code>pnpm --filter @pawl/web build</code>
and reload this page.</p><p>The API needs no console: see <code>/readyz</code>, <code>/metrics</code> and
<code>buf curl --list-methods</code>.</p></body>
`;

/** Addresses that the page routes. */
const PAGE = /^\/(?:$|index\.html$|(?:runs|workflows|approvals)(?:\/|$))/;

interface ConsoleFile {
  readonly type: string;
  readonly body: Buffer;
  readonly isHashed: boolean;
}

/** Answers GET and HEAD for the console's files and pages. */
export function createConsole(folder: string = DIST): EdgeHandler {
  let files: ReadonlyMap<string, ConsoleFile> | undefined;
  return (request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    const path = pathOf(request);
    // The gateway reads a built console once, and finds a console that is built after its start.
    if (files === undefined || files.size === 0) files = readFolder(folder);
    const file = files.get(path);
    if (file !== undefined && path !== "/index.html") {
      send(request, response, file);
      return true;
    }
    const isRouted = PAGE.test(path);
    if (!isRouted && !opensPage(request)) return false;
    send(request, response, files.get("/index.html") ?? notBuilt, isRouted ? 200 : 404);
    return true;
  };
}

/** Whether a browser opens this address as a page. Scripts and API clients do not ask for HTML. */
const opensPage = ({ headers }: EdgeRequest): boolean =>
  headers.accept?.includes("text/html") === true;

const notBuilt: ConsoleFile = {
  type: TYPES[".html"] ?? "",
  body: Buffer.from(NOT_BUILT),
  isHashed: false,
};

function send(request: EdgeRequest, response: EdgeResponse, file: ConsoleFile, status = 200): void {
  response.writeHead(status, {
    ...HEADERS,
    "content-type": file.type,
    "content-length": file.body.length,
    "cache-control": file.isHashed ? "public, max-age=31536000, immutable" : "no-cache",
  });
  response.end(request.method === "HEAD" ? undefined : file.body);
}

function readFolder(folder: string): ReadonlyMap<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>();
  try {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const name = `/${relative(folder, path).split(sep).join("/")}`;
      files.set(name, {
        type: TYPES[extname(entry.name)] ?? "application/octet-stream",
        body: readFileSync(path),
        isHashed: name.startsWith("/assets/"),
      });
    }
  } catch {
    // The folder is missing: the console is not built.
  }
  return files;
}
