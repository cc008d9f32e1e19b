// Every Go example of a document is formatted as gofmt does it. Examples that are whole files pass go vet, and examples of tests run.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GO_MODULE } from "@pawl/deploy/pack-go.ts";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../support/folder.ts";
import { goOrSkip } from "../../support/go.ts";
import { ROOT, trackedSources } from "../sources.ts";
import { fencesOf } from "./markdown.ts";

const snippets = trackedSources((path) => path.endsWith(".md")).flatMap(({ path, text }) =>
  fencesOf(text)
    .filter(({ language, text: code }) => language === "go" && code.startsWith("package "))
    .map(({ text: code, line }) => ({ at: `${path}:${line}`, code })),
);

test("every Go example that is a whole file is formatted, passes go vet, and its tests pass", async (context) => {
  const runGo = goOrSkip(context);
  const folder = temporaryFolder("snippets-go");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const sdk = join(ROOT, "clients", "go");
  const requires = /^require[^]*/m.exec(readFileSync(join(sdk, "go.mod"), "utf8"))?.[0] ?? "";
  const own = [
    "module snippets",
    "go 1.25.0",
    `require ${GO_MODULE} v0.0.0`,
    `replace ${GO_MODULE} => ${sdk}`,
  ];
  writeFileSync(join(folder, "go.mod"), `${own.join("\n\n")}\n\n${requires}`);
  writeFileSync(join(folder, "go.sum"), readFileSync(join(sdk, "go.sum")));
  const places = snippets.map(({ at, code }, index) => {
    const isTest = code.includes('"testing"');
    mkdirSync(join(folder, `snippet${index}`));
    writeFileSync(
      join(folder, `snippet${index}`, isTest ? "example_test.go" : "example.go"),
      `${code}\n`,
    );
    return `snippet${index} is ${at}`;
  });
  const said = async (...args: readonly string[]): Promise<string> =>
    await runGo(folder, args, { GOFLAGS: "-mod=mod" }).catch((error: unknown) => String(error));
  expect(await said("fmt", "./..."), places.join("\n")).toBe("");
  expect(await said("vet", "./..."), places.join("\n")).toBe("");
  expect(await said("test", "./..."), places.join("\n")).toMatch(/^ok\s+snippets\/snippet\d+/m);
  expect(snippets.length).toBeGreaterThan(2);
}, 300_000);
