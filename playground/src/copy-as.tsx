/** Copies the request as code, in one click. */
import type { Call } from './call.ts';
import { CopyButton } from './copy-button.tsx';
import { type Language, snippet } from './snippets.ts';

const OFFERED = ['curl', 'TypeScript', 'Python'] as const satisfies readonly Language[];

interface CopyAsProps {
  /** The current request; `undefined` while the form is incomplete. */
  readonly call: Call | undefined;
  readonly withKey: boolean;
}

export function CopyAs({ call, withKey }: CopyAsProps) {
  return (
    <fieldset class="copy-as" disabled={!call}>
      <legend class="hidden">Copy the request as code</legend>
      <span aria-hidden="true">Copy as</span>
      {OFFERED.map((language) => (
        <CopyButton
          key={language}
          label={language}
          prefix="Copy as"
          text={() => (call && snippet(language, call, withKey)) ?? ''}
        />
      ))}
    </fieldset>
  );
}
