import { useEffect, useRef } from 'preact/hooks';

interface Shortcuts {
  /** Ctrl+Enter or Command+Enter, regardless of focus. */
  readonly send: () => void;
  /** Escape. */
  readonly stop: () => void;
  /** Slash, unless the user is typing. */
  readonly search: () => void;
}

export function useShortcuts(shortcuts: Shortcuts): void {
  const newest = useRef(shortcuts);
  newest.current = shortcuts;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) newest.current.send();
      else if (event.key === 'Escape') newest.current.stop();
      else if (event.key === '/' && !isTyping(event.target)) newest.current.search();
      else return;
      if (event.key !== 'Escape') event.preventDefault();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.matches('textarea, select, input:not([type=radio]):not([type=checkbox])') || target.isContentEditable);
