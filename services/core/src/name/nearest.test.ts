import { expect, test } from "vitest";
import { nearestName } from "./nearest.ts";

const TYPES = ["javascript", "http", "llm", "dataQuery", "delay", "map"];

test.each([
  ["javascrpt", "javascript"],
  ["javasrcipt", "javascript"],
  ["JavaScript", "javascript"],
  ["htttp", "http"],
  ["dataquery", "dataQuery"],
  ["dealy", "delay"],
])("%s was meant to be %s", (name, meant) => {
  expect(nearestName(name, TYPES)).toBe(meant);
});

test.each(["resize_image", "x", "ma", "llama", ""])("%s is like none of them", (name) => {
  expect(nearestName(name, TYPES)).toBeUndefined();
});
