// A name and its value on as many lines as the value needs. The value is never cut. Pure.

import { type Canvas, type Span, padText, paintLine, safeText, wrapText } from "./spans.ts";

const NAME_WIDTH = 12;

/** Nothing for an empty value. */
export function factLines(name: string, value: Span, canvas: Canvas): readonly string[] {
  if (value.text === "") return [];
  const room = Math.max(20, canvas.width - NAME_WIDTH);
  return wrapText(safeText(value.text), room).map((text, at) =>
    paintLine(
      [
        { text: padText(at === 0 ? name : "", NAME_WIDTH), style: "dim" },
        { ...value, text },
      ],
      canvas,
    ),
  );
}
