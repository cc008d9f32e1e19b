// A plot of one number over time, with its newest and its largest value.

import type { ReactNode } from "react";
import { layoutPlot } from "./plot.ts";

interface Props {
  readonly name: string;
  readonly points: readonly { readonly atMs: number; readonly value: number }[];
  readonly stepMs: number;
  readonly rangeMs: number;
  readonly endMs: number;
  readonly textOf: (value: number) => string;
}

export function PlotCard({ name, points, textOf, ...scale }: Props): ReactNode {
  const plot = layoutPlot(points, scale);
  return (
    <figure className="panel plot" data-plot={name}>
      <figcaption>
        <span>{name}</span>
        {plot !== undefined && <strong>{textOf(plot.last)}</strong>}
      </figcaption>
      {plot === undefined ? (
        <p className="muted">No samples.</p>
      ) : (
        <svg
          viewBox="0 0 100 100"
          preserveAspectRatio="none"
          role="img"
          aria-label={`${name}: now ${textOf(plot.last)}, at most ${textOf(plot.peak)}`}
        >
          <path className="plot-area" d={plot.area} />
          <path className="plot-line" d={plot.line} />
        </svg>
      )}
      {plot !== undefined && <p className="plot-peak">at most {textOf(plot.peak)}</p>}
    </figure>
  );
}
