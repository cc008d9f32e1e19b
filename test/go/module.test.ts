// The Go module: its own tests, and an install into an empty folder from a module proxy.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { GO_MODULE } from "@pawl/deploy/pack-go.ts";
import { goOrSkip, packModule, run } from "../support/go.ts";
import { ROOT } from "../tidy/sources.ts";

const MODULE = join(ROOT, "clients", "go");

test("the Go module is formatted, vetted and passes its tests", async (context) => {
  const go = goOrSkip(context);
  const list = (await go(MODULE, ["list", "-f", "{{.Dir}}", "./..."])).trim().split("\n");
  const gofmt = join((await go(MODULE, ["env", "GOROOT"])).trim(), "bin", "gofmt");
  expect(await run(gofmt, ["-l", ...list], MODULE, process.env)).toBe("");
  await go(MODULE, ["vet", "./..."]);
  expect(await go(MODULE, ["test", "./..."])).toContain(`ok  \t${GO_MODULE}/pawl`);
}, 180_000);

/** Runs the handler of the page without network. */
const TRIAL = `package main

import (
	"testing"

	"pawl.dev/sdk/go/pawl"
)

func TestGreet(t *testing.T) {
	ran, err := pawl.RunHandler(t.Context(), pawl.Handle("acme.greet@1", greet), Person{"Ada"}, pawl.Trial{})
	if err != nil || ran.Output.Text != "Hello Ada" {
		t.Errorf("got %v, %v", ran, err)
	}
}
`;

test("the shortest path of the page is at most 12 lines, and runs in an empty folder from the packed module", async (context) => {
  const go = goOrSkip(context);
  const page = readFileSync(join(MODULE, "README.md"), "utf8");
  const program = /```go\n(package main\n[\s\S]*?)```/.exec(page)?.[1] ?? "";
  expect(program.trimEnd().split("\n").length).toBeLessThanOrEqual(12);
  const folder = temporaryFolder("go-module");
  context.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { version, env } = await packModule(go, folder);
  const cwd = join(folder, "app");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "main.go"), program);
  writeFileSync(join(cwd, "main_test.go"), TRIAL);
  await go(cwd, ["mod", "init", "example.com/app"], env);
  await go(cwd, ["get", `${GO_MODULE}@${version}`], env);
  await go(cwd, ["mod", "tidy"], env);
  expect(await go(cwd, ["test", "./..."], env)).toContain("ok  \texample.com/app");
  await go(cwd, ["build", "-o", "app", "."], env);
}, 180_000);
