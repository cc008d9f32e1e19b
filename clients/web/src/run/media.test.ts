import { expect, test } from "vitest";
import { showMedia } from "./node-stream.tsx";

const kindOf = (url: string): string => showMedia({ url, mime: "image/png" }).kind;

test("a bitmap in a data URL is drawn, and nothing that could run or ask elsewhere (S1.42)", () => {
  expect(kindOf("data:image/png;base64,iVBORw0KGgo=")).toBe("picture");
  expect(kindOf("data:image/svg+xml;base64,PHN2Zz4=")).toBe("named");
  expect(kindOf("data:text/html;base64,PHNjcmlwdD4=")).toBe("named");
  expect(kindOf('data:image/png;base64,AA"onerror="x')).toBe("named");
  expect(kindOf(`data:image/png;base64,${"A".repeat(5_000_000)}`)).toBe("named");
});

test("an https address is a link, any other address is named only", () => {
  expect(kindOf("https://example.com/a.png")).toBe("link");
  for (const url of ["javascript:alert(1)", "http://10.0.0.1/", "file:///etc/passwd", "nonsense"])
    expect(kindOf(url)).toBe("named");
});
