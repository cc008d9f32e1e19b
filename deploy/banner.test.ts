import { expect, test } from "vitest";
import { banner } from "./banner.ts";

const FACTS = {
  url: "http://127.0.0.1:57400",
  runId: "01a1eaeb-365f-7ade-907d-1cca41ab2964",
  status: "completed",
  handlerAddress: "127.0.0.1:57404",
  logDir: ".pawl/logs",
  summary: ["Both agree."],
  hasConsole: true,
  stays: true,
  isDefaultPort: false,
  isTerminal: false,
};

test("no line of the banner is wider than 80 columns, and the address to open comes after the text of the sample", () => {
  const lines = banner(FACTS).split("\n");
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.slice(1, 3)).toEqual(["  Both agree.", ""]);
  expect(lines[3]).toBe("Pawl is up. Open http://127.0.0.1:57400");
  expect(lines).toContain(`  RUN=${FACTS.runId}`);
});

test("another port comes with the variable that tells the command line", () => {
  const words = "export PAWL_ADDRESS=http://127.0.0.1:57400";
  expect(banner(FACTS)).toContain(words);
  expect(banner({ ...FACTS, isDefaultPort: true })).not.toContain(words);
});

test("a start that leaves names nothing that would not work any more", () => {
  const text = banner({ ...FACTS, stays: false });
  expect(text).toContain("Pawl was up at http://127.0.0.1:57400.");
  expect(text).not.toMatch(/curl|\.\/pawl|Ctrl-C/);
});
