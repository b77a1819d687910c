/**
 * The options form: a searchable list of options, each with its default and description. Only changed options are sent.
 */
import { useId, useMemo, useState } from 'preact/hooks';
import type { FormField, PlaygroundSetup } from '../../src/api/pages/playground-types.ts';
import { Prose } from './prose.tsx';
import { type Values, withValue } from './state.ts';

interface OptionsFormProps {
  readonly fields: readonly FormField[];
  readonly presets: PlaygroundSetup['presets'];
  readonly values: Values;
  readonly change: (values: Values) => void;
  /** The option that caused the last request to fail. */
  readonly invalidField: string | undefined;
}

const SEARCH_FIELD = 'option-search';
/** The same breakpoint as in the style sheet. From this width on, the response is next to the request. */
export const WIDE_SCREEN = '(min-width: 960px)';

/** Expands the options and focuses their search field. */
export function focusOptionSearch(): void {
  const fold = document.querySelector<HTMLElement>('.options .fold');
  if (fold?.getAttribute('aria-expanded') === 'false') fold.click();
  requestAnimationFrame(() => document.getElementById(SEARCH_FIELD)?.focus());
}

export function OptionsForm({ fields, presets, values, change, invalidField }: OptionsFormProps) {
  const [query, setQuery] = useState('');
  const [onlyChanged, setOnlyChanged] = useState(false);
  // Expanded on wide screens. On narrow ones, the options would push the response down.
  const [isOpen, setOpen] = useState(() => matchMedia(WIDE_SCREEN).matches);
  const body = useId();
  const changed = fields.filter(({ name }) => values[name] !== undefined).length;
  const shown = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    return fields.filter(
      (field) =>
        // The preset has a separate control above the options, so it is listed only in search results.
        (field.name !== 'preset' || words.length > 0) &&
        words.every((word) => searchTextOf(field).includes(word)) &&
        (!onlyChanged || values[field.name] !== undefined),
    );
  }, [fields, query, onlyChanged, values]);
  const groups = [...new Set(shown.map(({ group }) => group))];
  const filled = presets[values.preset ?? ''];
  const set = (name: string, value: string | undefined) => change(withValue(values, name, value));
  const isFound = query !== '' || onlyChanged;

  return (
    <section class="options" aria-label="Options">
      <header>
        <h2>
          <button
            type="button"
            class="fold"
            aria-expanded={isOpen}
            aria-controls={body}
            onClick={() => setOpen(!isOpen)}
          >
            Options
          </button>
        </h2>
        <span class="count" aria-live="polite">
          {query ? `${shown.length} of ${fields.length}` : changed > 0 ? `${changed} changed` : `${fields.length}`}
        </span>
        {changed > 0 && (
          <>
            <label class="pill">
              <input
                type="checkbox"
                checked={onlyChanged}
                onChange={(event) => setOnlyChanged(event.currentTarget.checked)}
              />
              Changed only
            </label>
            <button type="button" class="quiet" onClick={() => change({})}>
              Reset all
            </button>
          </>
        )}
      </header>
      <div id={body} class="body" hidden={!isOpen}>
        <div class="search">
          <input
            id={SEARCH_FIELD}
            type="search"
            placeholder="Search by name or meaning"
            aria-label="Search options by name or meaning"
            value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
          <kbd title="Press / to search">/</kbd>
        </div>
        {fields.some(({ name }) => name === 'preset') && (
          <Presets presets={presets} chosen={values.preset} choose={(name) => set('preset', name)} />
        )}
        {groups.map((group, index) => (
          <Group
            key={`${group}${isFound}`}
            title={group}
            fields={shown.filter((field) => field.group === group)}
            open={
              isFound ||
              index === 0 ||
              shown.some((field) => field.group === group && isSet(field, values, invalidField))
            }
          >
            {(field) => (
              <Option
                key={field.name}
                field={field}
                value={values[field.name]}
                filled={filled?.[field.name]}
                isInvalid={invalidField === field.name}
                set={(value) => set(field.name, value)}
              />
            )}
          </Group>
        ))}
        {shown.length === 0 && <p class="nothing">No matching options.</p>}
      </div>
    </section>
  );
}

const isSet = ({ name }: FormField, values: Values, invalidField: string | undefined) =>
  values[name] !== undefined || invalidField === name;

const searchTextOf = ({ name, header, meaning, group, values }: FormField): string =>
  [name, header, meaning, group, ...(values ?? [])].join(' ').toLowerCase();

interface PresetsProps {
  readonly presets: PlaygroundSetup['presets'];
  readonly chosen: string | undefined;
  readonly choose: (name: string | undefined) => void;
}

function Presets({ presets, chosen, choose }: PresetsProps) {
  return (
    <fieldset class="presets">
      <legend>Preset</legend>
      {[undefined, ...Object.keys(presets)].map((name) => (
        <label key={name ?? ''} class="pill" title={name ? JSON.stringify(presets[name], null, 1) : 'No preset'}>
          <input type="radio" name="preset" checked={chosen === name} onChange={() => choose(name)} />
          {name ?? 'none'}
        </label>
      ))}
    </fieldset>
  );
}

interface GroupProps {
  readonly title: string;
  readonly fields: readonly FormField[];
  readonly open: boolean;
  readonly children: (field: FormField) => preact.ComponentChild;
}

function Group({ title, fields, open, children }: GroupProps) {
  const [wanted, setWanted] = useState<boolean | undefined>(undefined);
  const isOpen = wanted ?? open;
  return (
    <details open={isOpen} class="group" onToggle={(event) => setWanted(event.currentTarget.open)}>
      <summary>
        {title} <span class="count">{fields.length}</span>
      </summary>
      {isOpen && fields.map(children)}
    </details>
  );
}

interface OptionProps {
  readonly field: FormField;
  readonly value: string | undefined;
  /** The value that the chosen preset sets. */
  readonly filled: unknown;
  readonly isInvalid: boolean;
  readonly set: (value: string | undefined) => void;
}

function Option({ field, value, filled, isInvalid, set }: OptionProps) {
  const id = useId();
  const { name, header, unit, meaning } = field;
  const defaultText = filled === undefined ? field.default : `${JSON.stringify(filled)} by the preset`;
  return (
    <div class={`option ${value === undefined ? '' : 'changed'} ${isInvalid ? 'invalid' : ''}`} data-option={name}>
      <div class="line">
        <label for={id}>{name}</label>
        <Control id={id} field={field} value={value} defaultText={defaultText} set={set} isInvalid={isInvalid} />
        <button
          type="button"
          class="quiet reset"
          aria-label={`Reset ${name}`}
          title="Reset to default"
          hidden={value === undefined}
          onClick={() => set(undefined)}
        >
          ×
        </button>
      </div>
      <p id={`${id}-meaning`} class="meaning">
        <Prose text={meaning} />
        <span class="facts">
          {defaultText && <span>Default: {defaultText}</span>}
          {unit && <span>Unit: {unit}</span>}
          <span>{header ? <code>{header}</code> : 'body only'}</span>
        </span>
      </p>
    </div>
  );
}

interface ControlProps extends Omit<OptionProps, 'filled'> {
  readonly id: string;
  readonly defaultText: string | undefined;
}

function Control({ id, field: { kind, values }, value, defaultText, isInvalid, set }: ControlProps) {
  const shared = { id, 'aria-describedby': `${id}-meaning`, 'aria-invalid': isInvalid };
  const given = (event: { currentTarget: { value: string } }) => set(event.currentTarget.value || undefined);
  if (kind === 'flag' || kind === 'choice') {
    return (
      <select {...shared} value={value ?? ''} onChange={given}>
        <option value="">{defaultText ? `default: ${defaultText}` : 'not set'}</option>
        {values?.map((word) => (
          <option key={word} value={word}>
            {word}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'list' || kind === 'json') {
    const placeholder = kind === 'list' ? 'one per line' : '{ }';
    const rows = Math.min((value ?? '').split('\n').length, 8);
    return (
      <textarea
        {...shared}
        rows={rows}
        spellcheck={false}
        placeholder={placeholder}
        value={value ?? ''}
        onInput={given}
      />
    );
  }
  const list = values?.length ? `${id}-known` : undefined;
  return (
    <>
      <input
        {...shared}
        type="text"
        inputMode={kind === 'number' ? 'decimal' : 'text'}
        list={list}
        spellcheck={false}
        autocomplete="off"
        placeholder={defaultText ?? ''}
        value={value ?? ''}
        onInput={given}
      />
      {list && (
        <datalist id={list}>
          {values?.map((word) => (
            <option key={word} value={word} />
          ))}
        </datalist>
      )}
    </>
  );
}
