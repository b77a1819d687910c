/** The options as a form: found by name and meaning, each with its default and what it does; only changed ones are sent. */
import { useId, useMemo, useState } from 'preact/hooks';
import type { FormField, PlaygroundSetup } from '../../src/api/pages/playground-types.ts';
import { Prose } from './prose.tsx';
import { type Values, withValue } from './state.ts';

interface OptionsFormProps {
  readonly fields: readonly FormField[];
  readonly presets: PlaygroundSetup['presets'];
  readonly values: Values;
  readonly change: (values: Values) => void;
  /** The option that the last request was refused for. */
  readonly faulty: string | undefined;
}

const SEARCH_FIELD = 'option-search';
/** As in the style sheet: from here on the answer stands beside the request. */
export const WIDE = '(min-width: 960px)';

/** Puts the cursor into the search of options, which is opened for it. */
export function searchOptions(): void {
  const fold = document.querySelector<HTMLElement>('.options .fold');
  if (fold?.getAttribute('aria-expanded') === 'false') fold.click();
  requestAnimationFrame(() => document.getElementById(SEARCH_FIELD)?.focus());
}

export function OptionsForm({ fields, presets, values, change, faulty }: OptionsFormProps) {
  const [query, setQuery] = useState('');
  const [onlyChanged, setOnlyChanged] = useState(false);
  // Beside the answer there is room for them; above it they would be in its way.
  const [isOpen, setOpen] = useState(() => matchMedia(WIDE).matches);
  const body = useId();
  const changed = fields.filter(({ name }) => values[name] !== undefined).length;
  const shown = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    return fields.filter(
      (field) =>
        // Without a search it stands above them all.
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
              only changed
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
          <kbd title="Press / to come here">/</kbd>
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
              isFound || index === 0 || shown.some((field) => field.group === group && isSet(field, values, faulty))
            }
          >
            {(field) => (
              <Option
                key={field.name}
                field={field}
                value={values[field.name]}
                filled={filled?.[field.name]}
                isFaulty={faulty === field.name}
                set={(value) => set(field.name, value)}
              />
            )}
          </Group>
        ))}
        {shown.length === 0 && <p class="nothing">No option is called so or says so.</p>}
      </div>
    </section>
  );
}

const isSet = ({ name }: FormField, values: Values, faulty: string | undefined) =>
  values[name] !== undefined || faulty === name;

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
  /** What the chosen preset makes of it. */
  readonly filled: unknown;
  readonly isFaulty: boolean;
  readonly set: (value: string | undefined) => void;
}

function Option({ field, value, filled, isFaulty, set }: OptionProps) {
  const id = useId();
  const { name, header, unit, meaning } = field;
  const standard = filled === undefined ? field.default : `${JSON.stringify(filled)} by the preset`;
  return (
    <div class={`option ${value === undefined ? '' : 'changed'} ${isFaulty ? 'faulty' : ''}`} data-option={name}>
      <div class="line">
        <label for={id}>{name}</label>
        <Control id={id} field={field} value={value} standard={standard} set={set} isFaulty={isFaulty} />
        <button
          type="button"
          class="quiet reset"
          aria-label={`Reset ${name}`}
          title="Back to the default"
          hidden={value === undefined}
          onClick={() => set(undefined)}
        >
          ×
        </button>
      </div>
      <p id={`${id}-meaning`} class="meaning">
        <Prose text={meaning} />
        <span class="facts">
          {standard && <span>Default: {standard}</span>}
          {unit && <span>Unit: {unit}</span>}
          <span>{header ? <code>{header}</code> : 'in the body'}</span>
        </span>
      </p>
    </div>
  );
}

interface ControlProps extends Omit<OptionProps, 'filled'> {
  readonly id: string;
  readonly standard: string | undefined;
}

function Control({ id, field: { kind, values }, value, standard, isFaulty, set }: ControlProps) {
  const shared = { id, 'aria-describedby': `${id}-meaning`, 'aria-invalid': isFaulty };
  const given = (event: { currentTarget: { value: string } }) => set(event.currentTarget.value || undefined);
  if (kind === 'flag' || kind === 'choice') {
    return (
      <select {...shared} value={value ?? ''} onChange={given}>
        <option value="">{standard ? `default: ${standard}` : 'not set'}</option>
        {values?.map((word) => (
          <option key={word} value={word}>
            {word}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'list' || kind === 'json') {
    const placeholder = kind === 'list' ? 'one a line' : '{ }';
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
        placeholder={standard ?? ''}
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
