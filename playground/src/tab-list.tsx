/** An accessible tab list (WAI-ARIA Authoring Practices): one tab stop, arrow keys move between tabs. */
import { useRef } from 'preact/hooks';

interface TabListProps<Name extends string> {
  /** Prefix of element ids: `id-tab-name` for tabs, `id-panel` for the panel. */
  readonly id: string;
  readonly label: string;
  readonly tabs: readonly { readonly name: Name; readonly title: string; readonly note?: string | undefined }[];
  readonly chosen: Name;
  readonly choose: (name: Name) => void;
}

export function TabList<Name extends string>({ id, label, tabs, chosen, choose }: TabListProps<Name>) {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const at = tabs.findIndex(({ name }) => name === chosen);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const { name } = tabs[(next + tabs.length) % tabs.length]!;
    choose(name);
    list.current?.querySelector<HTMLElement>(`#${id}-tab-${name}`)?.focus();
  };
  return (
    <div class={`tabs ${id}-tabs`} role="tablist" aria-label={label} ref={list} onKeyDown={move}>
      {tabs.map(({ name, title, note }) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`${id}-tab-${name}`}
          aria-selected={name === chosen}
          aria-controls={`${id}-panel`}
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => choose(name)}
        >
          {title}
          {note && <span class="note">{note}</span>}
        </button>
      ))}
    </div>
  );
}
