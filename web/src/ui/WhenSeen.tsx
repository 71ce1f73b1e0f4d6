/** Draws its content when it first comes near the window, and keeps it: two hundred charts at once would freeze the page. */
import { useEffect, useRef, useState, type ReactNode } from "react";

const NEAR = "300px";

export function WhenSeen({ height, children }: { height: number; children: ReactNode }): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (isSeen) return;
    const watch = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
      },
      { rootMargin: NEAR },
    );
    watch.observe(place.current!);
    return () => watch.disconnect();
  }, [isSeen]);
  return (
    <div ref={place} style={isSeen ? {} : { height }}>
      {isSeen && children}
    </div>
  );
}
