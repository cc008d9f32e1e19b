import { expect, test } from "vitest";
import { PageSeal } from "./page-seal.ts";
import { Seal } from "./seal.ts";

const KEY = Buffer.alloc(32, 7);
const REFUSED = {
  reason: "INPUT_INVALID",
  violations: [{ field: "page_token", reason: "BAD_PAGE_TOKEN" }],
};

/** A list of the numbers from 0 to 9 whose own tokens are the next number. */
const numbers = async ({ size, token }: { size: number; token: string }) => {
  const start = token === "" ? 0 : Number(token);
  const items = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].slice(start, start + size);
  const next = start + items.length;
  return { items, nextPageToken: next < 10 ? String(next) : "" };
};

const pagesOf = (seal: PageSeal) => (pageSize: number, pageToken: string) =>
  seal.page({ pageSize, pageToken }, numbers);
const sealed = (key = KEY) => pagesOf(new PageSeal(new Seal(async () => key)));

test("pages follow one another by their tokens, on any gateway with the same key", async () => {
  const first = await sealed()(4, "");
  const second = await sealed()(4, first.nextPageToken);
  const third = await sealed()(4, second.nextPageToken);
  expect([first.items, second.items, third.items]).toEqual([
    [0, 1, 2, 3],
    [4, 5, 6, 7],
    [8, 9],
  ]);
  expect(third.nextPageToken).toBe("");
});

test("a token that was made up, changed in any bit, cut, or made with another key is refused", async () => {
  const { nextPageToken } = await sealed()(4, "");
  const bytes = Buffer.from(nextPageToken, "base64url");
  const changed = Array.from({ length: bytes.length * 8 }, (_, bit) => {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(copy.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    return copy.toString("base64url");
  });
  const other = await sealed(Buffer.alloc(32, 8))(4, "");
  const foreign = [
    "5",
    "x",
    "=",
    "x".repeat(2_000),
    nextPageToken.slice(0, 22),
    `${nextPageToken}A`,
  ];
  for (const token of [...changed, ...foreign, other.nextPageToken])
    await expect(sealed()(4, token)).rejects.toMatchObject(REFUSED);
});

test("a list of one page needs no key, and a key that could not be read is asked for again", async () => {
  let asked = 0;
  const seal = pagesOf(
    new PageSeal(
      new Seal(async () => {
        asked += 1;
        if (asked === 1) throw new Error("the database is away");
        return KEY;
      }),
    ),
  );
  await seal(10, "");
  expect(asked).toBe(0);
  await expect(seal(4, "")).rejects.toThrow("the database is away");
  expect((await seal(4, "")).nextPageToken).not.toBe("");
  await seal(4, "");
  expect(asked).toBe(2);
});
