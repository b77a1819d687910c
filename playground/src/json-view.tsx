/** A collapsible JSON view. Renders only expanded nodes, and renders long lists and texts in parts. */
import { useState } from 'preact/hooks';
import { Scrollable } from './scrollable.tsx';

const PAGE_SIZE = 100;
const MAX_CHARACTERS = 500;
/** Nodes above this depth are expanded initially. */
const OPEN_DEPTH = 2;

export function JsonView({ value }: { value: unknown }) {
  return (
    <Scrollable class="json" label="JSON">
      <Node value={value} depth={0} />
    </Scrollable>
  );
}

interface NodeProps {
  readonly name?: string;
  readonly value: unknown;
  readonly depth: number;
}

function Node({ name, value, depth }: NodeProps) {
  if (typeof value !== 'object' || value === null) {
    return (
      <div class="leaf">
        <Name name={name} />
        {typeof value === 'string' ? <Text text={value} /> : <span class="plain">{String(value)}</span>}
      </div>
    );
  }
  return <Branch {...(name !== undefined && { name })} value={value} depth={depth} />;
}

const Name = ({ name }: { name: string | undefined }) =>
  name === undefined ? null : <span class="name">{name}: </span>;

function Branch({ name, value, depth }: NodeProps & { value: object }) {
  const isList = Array.isArray(value);
  const count = isList ? value.length : Object.keys(value).length;
  const [open, setOpen] = useState(depth < OPEN_DEPTH && (count <= PAGE_SIZE || depth === 0));
  const [shown, setShown] = useState(PAGE_SIZE);
  const [first, last] = isList ? ['[', ']'] : ['{', '}'];
  if (count === 0) {
    return (
      <div class="leaf">
        <Name name={name} />
        {first}
        {last}
      </div>
    );
  }
  const entries = open ? entriesOf(value, shown) : [];
  return (
    <div class="branch">
      <button type="button" class="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Name name={name} />
        {first}
        {!open && (
          <>
            <span class="count">{isList ? `${count} entries` : `${count} fields`}</span>
            {last}
          </>
        )}
      </button>
      {open && (
        <div class="inner">
          {entries.map(([key, item]) => (
            <Node key={key} name={key} value={item} depth={depth + 1} />
          ))}
          {shown < count && (
            <button type="button" class="quiet" onClick={() => setShown(shown * 4)}>
              {count - shown} more
            </button>
          )}
        </div>
      )}
      {open && <div>{last}</div>}
    </div>
  );
}

const entriesOf = (value: object, most: number): [string, unknown][] =>
  Array.isArray(value)
    ? value.slice(0, most).map((item, index) => [String(index), item])
    : Object.keys(value)
        .slice(0, most)
        .map((key) => [key, (value as Record<string, unknown>)[key]]);

function Text({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const shown = all ? text : text.slice(0, MAX_CHARACTERS);
  return (
    <span class="string">
      {JSON.stringify(shown)}
      {shown.length < text.length && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </button>
      )}
    </span>
  );
}
