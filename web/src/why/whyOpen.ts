import { useCallback, useState } from "react";

const NAME = "allears.why";

/** Whether the reasons are shown. Where there is room they are, until somebody folds them away; that is remembered. */
export function useWhyOpen(wide: boolean): [boolean, (open: boolean) => void] {
  const [kept, setKept] = useState(() => localStorage.getItem(NAME) !== "folded");
  const [sheet, setSheet] = useState(false);
  const keep = useCallback((open: boolean) => {
    localStorage.setItem(NAME, open ? "open" : "folded");
    setKept(open);
  }, []);
  return wide ? [kept, keep] : [sheet, setSheet];
}
