// The addresses that an executor may call for a user: public unicast addresses, and ranges that the operator opened for development. The
// library ipaddr.js reports ::127.0.0.1 (IPv4-compatible) as plain "unicast", so this file refuses three ranges itself.

import ipaddr from "ipaddr.js";

/** A range of addresses, parsed once from text such as `10.0.0.0/8`. */
export type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number];

const REFUSED = ["::/96", "2001:db8::/32", "fec0::/10"].map((text) => ipaddr.parseCIDR(text));

/** Parses a comma-separated list of ranges. Undefined if one of them is malformed. */
export function parseCidrs(text: string): readonly Cidr[] | undefined {
  const parts = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  if (!parts.every((part) => ipaddr.isValidCIDR(part))) return undefined;
  return parts.map((part) => ipaddr.parseCIDR(part));
}

/** True for a literal IPv4 or IPv6 address, without brackets. */
export const isAddress = (text: string): boolean => ipaddr.isValid(text);

/** True for an address on the public internet. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || isWithin(text, REFUSED)) return false;
  return ipaddr.process(text).range() === "unicast";
}

/** True if the address, or the IPv4 address mapped into it, lies in one of the ranges. */
export function isWithin(text: string, ranges: readonly Cidr[]): boolean {
  if (!ipaddr.isValid(text)) return false;
  return [ipaddr.parse(text), ipaddr.process(text)].some(
    (form) => ipaddr.subnetMatch(form, { within: [...ranges] }, "outside") === "within",
  );
}
