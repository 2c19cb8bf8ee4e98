import { useCallback, useEffect, useRef, useState, type RefObject } from "react";

const NEAR = 80; // pixels from the end that still count as being there

interface Stick {
  scroller: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  atEnd: boolean;
  toEnd: () => void;
}

/** Keeps the end in view while somebody reads there, and leaves them alone while they read further up. */
export function useStickToEnd(): Stick {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sticks = useRef(true);
  const [atEnd, setAtEnd] = useState(true);

  const toEnd = useCallback(() => {
    sticks.current = true;
    const box = scroller.current;
    if (box) box.scrollTop = box.scrollHeight;
  }, []);

  useEffect(() => {
    const box = scroller.current!;
    let last = box.scrollTop;
    const onScroll = () => {
      const near = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
      // growing content fires no scroll upwards; only a person scrolls up
      if (near) sticks.current = true;
      else if (box.scrollTop < last - 2) sticks.current = false;
      last = box.scrollTop;
      setAtEnd(near || sticks.current);
    };
    const follow = new ResizeObserver(() => {
      if (sticks.current) box.scrollTop = box.scrollHeight;
    });
    box.addEventListener("scroll", onScroll, { passive: true });
    follow.observe(content.current!);
    follow.observe(box);
    return () => {
      box.removeEventListener("scroll", onScroll);
      follow.disconnect();
    };
  }, []);

  return { scroller, content, atEnd, toEnd };
}
