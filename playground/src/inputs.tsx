/** Input fields of each tab. */
import { useId } from 'preact/hooks';
import type { ChosenFile } from './call.ts';
import type { Model } from './models.ts';
import type { Values } from './state.ts';
import type { TabName } from './tabs.ts';

interface InputsProps {
  readonly tab: TabName;
  readonly values: Values;
  readonly set: (name: string, value: string) => void;
  readonly file: ChosenFile | undefined;
  readonly chooseFile: (file: ChosenFile | undefined) => void;
  /** Models for this tab. */
  readonly models: readonly Model[];
  readonly invalidField: string | undefined;
}

export function Inputs(props: InputsProps) {
  switch (props.tab) {
    case 'read':
      return <ReadInputs {...props} />;
    case 'crawl':
      return (
        <Texts
          {...props}
          name="urls"
          label="Start URLs, one per line"
          rows={2}
          placeholder="https://example.com/docs/"
        />
      );
    case 'batch':
      return (
        <>
          <Texts {...props} name="texts" label="Texts, one per line" rows={8} />
          <ModelChoice {...props} />
        </>
      );
    case 'flow':
      return (
        <>
          <TextLine {...props} name="endpoint" label="Endpoint" placeholder="/search" />
          <Texts {...props} name="documents" label="Documents: texts or URLs, one per line" rows={4} />
        </>
      );
    case 'search':
      return <TextLine {...props} name="q" label="Query" inputMode="search" placeholder="how bees find home" />;
    case 'ask':
      return (
        <TextLine {...props} name="q" label="Question" inputMode="search" placeholder="What did I read about …?" />
      );
    case 'embed':
      return (
        <>
          <Texts
            {...props}
            name="texts"
            label="Texts, one per line"
            rows={6}
            placeholder={'The cat sleeps\nA dog barks'}
          />
          <ModelChoice {...props} />
        </>
      );
    case 'rerank':
      return (
        <>
          <TextLine {...props} name="query" label="Query" placeholder="What makes glaze crack?" />
          <Texts {...props} name="documents" label="Documents, one per line" rows={6} />
          <ModelChoice {...props} />
        </>
      );
    case 'ocr':
      return (
        <>
          <FileChoice {...props} accept="image/*,application/pdf" label="Image or PDF" />
          <TextLine {...props} name="prompt" label="Instruction, for models that accept one" placeholder="optional" />
          <ModelChoice {...props} />
        </>
      );
  }
}

const SOURCES = { url: 'URL', html: 'HTML', file: 'File' } as const;

function ReadInputs(props: InputsProps) {
  const { values, set } = props;
  const source = values.source ?? 'url';
  return (
    <>
      <fieldset class="segments">
        <legend class="hidden">What to read</legend>
        {Object.entries(SOURCES).map(([name, title]) => (
          <label key={name} class="pill">
            <input type="radio" name="source" checked={source === name} onChange={() => set('source', name)} />
            {title}
          </label>
        ))}
      </fieldset>
      {source === 'html' && <Texts {...props} name="html" label="HTML" rows={8} placeholder="<h1>Hello</h1>" />}
      {source === 'file' ? (
        <FileChoice {...props} accept="" label="File: PDF, Office, HTML, image, …" />
      ) : (
        <TextLine
          {...props}
          name="url"
          inputMode="url"
          label={source === 'html' ? 'Base URL' : 'URL'}
          placeholder="https://example.com/"
        />
      )}
    </>
  );
}

interface TextProps extends InputsProps {
  readonly name: string;
  readonly label: string;
  readonly placeholder?: string;
}

function TextLine({
  name,
  label,
  placeholder,
  values,
  set,
  invalidField,
  inputMode = 'text',
}: TextProps & { inputMode?: 'text' | 'search' | 'url' }) {
  const id = useId();
  return (
    <p class="input">
      <label for={id}>{label}</label>
      <input
        id={id}
        // Not `type="url"`, which rejects URLs without a scheme.
        type="text"
        inputMode={inputMode}
        name={name}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        placeholder={placeholder ?? ''}
        aria-invalid={invalidField === name}
        value={values[name] ?? ''}
        onInput={(event) => set(name, event.currentTarget.value)}
      />
    </p>
  );
}

function Texts({ name, label, placeholder, rows, values, set, invalidField }: TextProps & { rows: number }) {
  const id = useId();
  return (
    <p class="input">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        name={name}
        rows={rows}
        spellcheck={false}
        placeholder={placeholder ?? ''}
        aria-invalid={invalidField === name}
        value={values[name] ?? ''}
        onInput={(event) => set(name, event.currentTarget.value)}
      />
    </p>
  );
}

function FileChoice({
  label,
  accept,
  file,
  chooseFile,
  invalidField,
}: InputsProps & { label: string; accept: string }) {
  const id = useId();
  const take = (chosen: File | undefined) =>
    chooseFile(chosen && { name: chosen.name, type: chosen.type || 'application/octet-stream', blob: chosen });
  return (
    <p
      class="input drop"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        take(event.dataTransfer?.files[0]);
      }}
    >
      <label for={id}>{label}</label>
      <input
        id={id}
        type="file"
        accept={accept}
        aria-invalid={invalidField === 'file'}
        onChange={(event) => take(event.currentTarget.files?.[0])}
      />
      <span class="meaning">{file ? `${file.name}, ${size(file.blob.size)}` : 'or drop it here'}</span>
    </p>
  );
}

const size = (bytes: number) =>
  bytes < 10_000
    ? `${bytes} bytes`
    : bytes < 10_000_000
      ? `${Math.round(bytes / 1000)} kB`
      : `${Math.round(bytes / 1e6)} MB`;

function ModelChoice({ models, values, set, invalidField }: InputsProps) {
  const id = useId();
  if (models.length === 0) {
    return (
      <p class="input">
        <label for={id}>Model</label>
        <input
          id={id}
          name="model"
          spellcheck={false}
          aria-invalid={invalidField === 'model'}
          value={values.model ?? ''}
          onInput={(event) => set('model', event.currentTarget.value)}
        />
      </p>
    );
  }
  const chosen = models.find((model) => model.id === values.model) ?? models[0]!;
  return (
    <p class="input">
      <label for={id}>Model</label>
      <select id={id} name="model" value={chosen.id} onChange={(event) => set('model', event.currentTarget.value)}>
        {models.map((model) => (
          <option key={model.id} value={model.id}>
            {model.id}
            {model.isDownloaded ? '' : ' (downloaded on first use)'}
          </option>
        ))}
      </select>
      <span class="meaning">{chosen.description}</span>
    </p>
  );
}
