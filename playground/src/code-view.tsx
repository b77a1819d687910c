/** Shows the request as code. The key is read from an environment variable and never shown. */
import { useState } from 'preact/hooks';
import type { Call } from './call.ts';
import { CopyButton } from './copy-button.tsx';
import { Scrollable } from './scrollable.tsx';
import { LANGUAGES, type Language, snippet } from './snippets.ts';

interface CodeViewProps {
  readonly call: Call | undefined;
  /** The reason why no request can be built yet. */
  readonly draftError: string | undefined;
  readonly withKey: boolean;
}

export function CodeView({ call, draftError, withKey }: CodeViewProps) {
  const [wanted, setWanted] = useState<Language>('curl');
  if (!call) return <p class="invitation">{draftError}</p>;
  const written = LANGUAGES.flatMap((language) => {
    const code = snippet(language, call, withKey);
    return code === undefined ? [] : [{ language, code }];
  });
  const { language, code } = written.find((one) => one.language === wanted) ?? written[0]!;
  return (
    <div class="code">
      <header>
        <fieldset class="segments">
          <legend class="hidden">Language</legend>
          {written.map((one) => (
            <label key={one.language} class="pill">
              <input
                type="radio"
                name="language"
                checked={one.language === language}
                onChange={() => setWanted(one.language)}
              />
              {TITLES[one.language]}
            </label>
          ))}
        </fieldset>
        <CopyButton text={code} />
      </header>
      <Scrollable label={`The request as ${language}`}>
        <pre data-language={language}>{code}</pre>
      </Scrollable>
      {withKey && (
        <p class="meaning">
          The code reads the key from the environment variable <code>LECTERN_API_KEY</code>.
        </p>
      )}
    </div>
  );
}

const TITLES: Readonly<Record<Language, string>> = {
  curl: 'curl',
  TypeScript: 'TypeScript',
  Client: 'lectern/client',
  Python: 'Python',
};
