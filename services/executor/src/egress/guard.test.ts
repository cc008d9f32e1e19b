import { expect, test } from "vitest";
import { isPublicAddress, isWithin, parseCidrs } from "@pawl/platform/egress/address";
import {
  checkUrl,
  DEFAULT_EGRESS,
  isInternalName,
  type EgressPolicy,
} from "@pawl/platform/egress/url";
import { resolveAllowed } from "./guard.ts";

const loopback: EgressPolicy = {
  ...DEFAULT_EGRESS,
  allowed: parseCidrs("127.0.0.0/8, ::1/128") ?? [],
};

test.each([
  "http://127.0.0.1",
  "http://2130706433",
  "http://0x7f000001",
  "http://0177.0.0.1",
  "http://127.1",
  "http://①②⑦.⓪.⓪.①",
  "http://[::1]",
  "http://[::ffff:127.0.0.1]",
  "http://[::127.0.0.1]",
  "http://[64:ff9b::7f00:1]",
  "http://[2002:7f00:1::]",
  "http://[fe80::1]",
  "http://[fec0::1]",
  "http://[fc00::1]",
  "http://[2001:db8::1]",
  "http://[ff02::1]",
  "http://[::]",
  "http://10.0.0.1",
  "http://172.16.0.1",
  "http://192.168.1.1",
  "http://169.254.169.254/latest/meta-data",
  "http://100.64.0.1",
  "http://0.0.0.0",
  "http://198.18.0.1",
  "http://224.0.0.1",
  "http://255.255.255.255",
  "http://240.0.0.1",
  "http://localhost",
  "http://localhost.",
  "http://a.localhost",
  "http://metadata.google.internal",
  "http://scheduler",
  "http://postgres:443",
  "http://pawl-scheduler.default.svc",
  "http://printer.local",
  "file:///etc/passwd",
  "gopher://example.com",
  "data:text/plain,x",
  "unix:/var/run/docker.sock",
  "javascript:alert(1)",
  "ftp://example.com",
  "http://example.com:22",
  "http://example.com:25",
  "http://example.com:5432",
  "http://8.8.8.8:6379",
  "http://user:secret@example.com",
  "//example.com",
  "not a url",
  "",
  `http://example.com/${"x".repeat(9_000)}`,
])("%s may not be called (U1, U2, U4, U5, U8, U10)", (url) => {
  expect(checkUrl(url, DEFAULT_EGRESS).ok).toBe(false);
});

test.each([
  "https://example.com/a?b=c",
  "http://example.com:8443",
  "http://8.8.8.8",
  "https://[2606:4700::1111]/",
])("%s passes the first gate", (url) => {
  expect(checkUrl(url, DEFAULT_EGRESS).ok).toBe(true);
});

test("a refusal never repeats the URL", () => {
  const verdict = checkUrl("http://secret-host.internal/token", DEFAULT_EGRESS);
  expect(JSON.stringify(verdict)).not.toContain("secret");
});

test("plain http is refused where only https is allowed", () => {
  const policy = { ...DEFAULT_EGRESS, httpsOnly: true };
  expect(checkUrl("http://example.com", policy).ok).toBe(false);
  expect(checkUrl("https://example.com", policy).ok).toBe(true);
});

test("a name is refused when any of its addresses is private", async () => {
  const lookup = async () => [
    { address: "93.184.216.34", family: 4 },
    { address: "10.0.0.7", family: 4 },
  ];
  const target = { host: "example.com", port: 443 };
  expect(await resolveAllowed(target, DEFAULT_EGRESS, lookup)).toBeUndefined();
});

test("a name without addresses is refused", async () => {
  const target = { host: "example.com", port: 443 };
  expect(await resolveAllowed(target, DEFAULT_EGRESS, async () => [])).toBeUndefined();
});

test("opened ranges are reachable on any port, and nothing else is", async () => {
  expect(checkUrl("http://127.0.0.1:39999", loopback).ok).toBe(true);
  expect(checkUrl("http://[::1]:39999", loopback).ok).toBe(true);
  expect(checkUrl("http://10.0.0.1", loopback).ok).toBe(false);
  expect(checkUrl("http://8.8.8.8:22", loopback).ok).toBe(false);
  const local = async () => [{ address: "127.0.0.1", family: 4 }];
  const remote = async () => [{ address: "93.184.216.34", family: 4 }];
  expect(await resolveAllowed({ host: "localhost", port: 1234 }, loopback, local)).toHaveLength(1);
  expect(await resolveAllowed({ host: "localhost", port: 80 }, loopback, remote)).toBeUndefined();
  expect(await resolveAllowed({ host: "a.example", port: 22 }, loopback, remote)).toBeUndefined();
});

test("ranges match mapped addresses and malformed lists are refused", () => {
  const ranges = parseCidrs("10.0.0.0/8") ?? [];
  expect(isWithin("::ffff:10.1.2.3", ranges)).toBe(true);
  expect(isWithin("11.0.0.1", ranges)).toBe(false);
  expect(isWithin("nonsense", ranges)).toBe(false);
  expect(parseCidrs("10.0.0.0/8,nonsense")).toBeUndefined();
  expect(parseCidrs(" ")).toEqual([]);
  expect(isPublicAddress("nonsense")).toBe(false);
});

test("internal names are those without a dot or with a private suffix", () => {
  expect(["gateway", "x.internal.", "A.LOCAL"].every(isInternalName)).toBe(true);
  expect(["example.com", "internal.example.com"].some(isInternalName)).toBe(false);
});
