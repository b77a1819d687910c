import type { ComponentChildren, HTMLAttributes } from 'preact';

interface ScrollableProps extends HTMLAttributes<HTMLElement> {
  readonly label: string;
  readonly children: ComponentChildren;
}

/**
 * A region that may be wider than the page. It is focusable, because otherwise not every browser can scroll it by
 * keyboard (WCAG 2.1.1).
 */
export function Scrollable({ label, children, ...attributes }: ScrollableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section aria-label={label} tabIndex={0} {...attributes}>
      {children}
    </section>
  );
}
