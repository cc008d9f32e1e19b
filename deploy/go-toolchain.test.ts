// The Go that we fetch: our checksum is Go's own, and a toolchain with another one is not unpacked.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../test/support/folder.ts";
import { goOrSkip, packModule } from "../test/support/go.ts";
import { FETCHED_GO, FETCHED_VERSION } from "./go.ts";
import { moduleProxies, provideGo } from "./go-toolchain.ts";
import { filesOf, moduleSum, writeModule } from "./module-zip.ts";
import { GO_MODULE } from "./pack-go.ts";

function emptyFolder(): string {
  const folder = temporaryFolder("go-toolchain");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("the checksum of a module is the one that Go computes, and its files are unpacked", async (context) => {
  const go = goOrSkip(context);
  const folder = emptyFolder();
  const { version, env } = await packModule(go, folder);
  const module = `${GO_MODULE}@${version}`;
  const answer = await go(folder, ["mod", "download", "-json", module], env);
  const { Sum, Zip }: Record<string, string> = JSON.parse(answer);
  const files = filesOf(readFileSync(Zip ?? ""));
  expect(moduleSum(files)).toBe(Sum);
  const target = join(folder, "unpacked");
  writeModule(files, { folder: target, prefix: `${module}/` }, () => false);
  expect(readFileSync(join(target, "go.mod"), "utf8")).toContain(`module ${GO_MODULE}\n`);
  expect(() => writeModule(files, { folder: target, prefix: "other/" }, () => false)).toThrow(
    "outside of its module",
  );
});

test("a toolchain with another checksum is refused, and nothing is unpacked", async (context) => {
  const go = goOrSkip(context);
  const folder = emptyFolder();
  const { version } = await packModule(go, folder);
  const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const name = `golang.org/toolchain/@v/v0.0.1-go${FETCHED_VERSION}.${platform}.zip`;
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  cpSync(join(folder, "go", GO_MODULE, "@v", `${version}.zip`), join(folder, name));
  vi.stubEnv("GOPROXY", pathToFileURL(folder).href);
  onTestFinished(() => void vi.unstubAllEnvs());
  const wasThere = existsSync(FETCHED_GO);
  const provided = await provideGo({ kind: "missing", why: "the test hides it" });
  expect(provided).toMatchObject({
    kind: "missing",
    why: expect.stringContaining("the checksum is"),
  });
  expect(existsSync(FETCHED_GO)).toBe(wasThere);
});

test("proxies come from the environment, from the file of go env, or are Go's own", () => {
  const none = join(emptyFolder(), "none");
  expect(moduleProxies({}, none)).toEqual(["https://proxy.golang.org"]);
  const env = { GOPROXY: "https://one.example,direct|file:///two" };
  expect(moduleProxies(env, none)).toEqual(["https://one.example", "file:///two"]);
});
