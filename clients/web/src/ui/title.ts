// The title of the tab.

import { useEffect } from "react";

/** Names the tab after what it shows, most telling part first. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? "Pawl" : `${title} · Pawl`;
  }, [title]);
}
