import { useId } from 'preact/hooks';

interface KeyFieldProps {
  readonly value: string;
  readonly change: (key: string) => void;
  /** Whether the open tab requires a key. */
  readonly isNeeded: boolean;
}

export function KeyField({ value, change, isNeeded }: KeyFieldProps) {
  const id = useId();
  return (
    <p class={`key ${isNeeded ? 'needed' : ''}`}>
      <label for={id}>API key</label>
      <input
        id={id}
        type="password"
        name="api-key"
        autocomplete="off"
        spellcheck={false}
        placeholder={isNeeded ? 'required' : 'none'}
        title="Stored in this browser tab until it is closed, never in the URL"
        value={value}
        onInput={(event) => change(event.currentTarget.value.trim())}
      />
    </p>
  );
}
